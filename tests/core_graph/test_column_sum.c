/* Sums down columns have the bits of the kernel's sum over the gathered column: odd shapes, nasty values, every kernel
 * table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/graph/explain.h"
#include "core/graph/plan.h"
#include "core/graph/run.h"

static float nasty(Rng *r)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00001, 0x7f800001, 1,          0x80000001, 0x7f7fffff};
    uint32_t bits = rng_below(r, 3) ? rng_u32(r) : special[rng_below(r, sizeof special / sizeof *special)];
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float *random_values(Rng *r, size_t n, bool wild)
{
    float *v = xfloats(n);
    for (size_t i = 0; i < n; i++)
        v[i] = wild && rng_below(r, 4) == 0 ? nasty(r) : rng_normal(r);
    return v;
}

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static float gathered_sum(const float *x, size_t rows, size_t step, size_t column)
{
    float *line = xfloats(rows);
    for (size_t i = 0; i < rows; i++)
        line[i] = x[i * step + column];
    float y = kernel_sum(kernels_reference(), line, rows);
    free(line);
    return y;
}

static void check_columns(int b, int t, int d, bool wild, Pool *pool)
{
    Graph g;
    Rng r = rng_seed((uint64_t)(b * 1000 + t * 7 + d), wild);
    graph_init(&g);
    int ab = axis(&g, "b", b), at = axis(&g, "t", t), ad = axis(&g, "d", d);
    const size_t cells = (size_t)b * (size_t)t * (size_t)d, width = (size_t)d;
    float *x = random_values(&r, cells, wild);
    NodeId a = graph_leaf(&g, "a", DIMS(ab, at, ad), (Leaf){LEAF_TENSOR, x, "a"});
    NodeId sums = graph_reduce(&g, "sums", OP_SUM, a, DIMS(ad)),
           part = graph_reduce(&g, "part", OP_SUM, a, DIMS(ab, ad));
    Run *run = run_new(&g, NULL, pool);
    const float *all = run_need(run, sums), *each = run_need(run, part);
    for (size_t j = 0; j < width; j++) {
        float want = gathered_sum(x, (size_t)b * (size_t)t, width, j);
        if (memcmp(&want, &all[j], sizeof want) != 0)
            fail_msg("%d × %d × %d, column %zu: %a, expected %a", b, t, d, j, (double)all[j], (double)want);
        for (size_t i = 0; i < (size_t)b; i++) {
            want = gathered_sum(x + i * (size_t)t * width, (size_t)t, width, j);
            if (memcmp(&want, &each[i * width + j], sizeof want) != 0)
                fail_msg("%d × %d × %d, row %zu, column %zu: %a, expected %a", b, t, d, i, j,
                         (double)each[i * width + j], (double)want);
        }
    }
    run_free(run);
    graph_free(&g);
    free(x);
}

static void columns_have_the_bits_of_rows(void **state)
{
    (void)state;
    static const int rows[] = {1, 2, 3, 15, 16, 17, 33, 100}, columns[] = {1, 2, 15, 31, 64, 65, 127, 128, 129, 300};
    Pool *pool = pool_new(2);
    for (int v = 0; kernels_variant(v); v++) {
        assert_true(kernels_select(kernels_variant(v)->isa, NULL));
        for (size_t t = 0; t < sizeof rows / sizeof *rows; t++)
            for (size_t d = 0; d < sizeof columns / sizeof *columns; d++)
                for (int b = 1; b <= 3; b += 2)
                    check_columns(b, rows[t], columns[d], (t + d) % 2, d % 2 ? pool : NULL);
    }
    assert_true(kernels_select("auto", NULL));
    pool_free(pool);
}

/* All zeros negative: a sum starts at +0. One NaN of any kind: canonical in its column alone. */
static void columns_of_zeros_and_nan(void **state)
{
    (void)state;
    enum { ROWS = 3, COLUMNS = 20 };
    Graph g;
    float x[ROWS * COLUMNS], want = 0.0f;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = -0.0f;
    const uint32_t signalling = 0xff800123, canonical = 0x7fc00000;
    memcpy(&x[COLUMNS + 7], &signalling, sizeof signalling);
    graph_init(&g);
    int t = axis(&g, "t", ROWS), d = axis(&g, "d", COLUMNS);
    NodeId a = graph_leaf(&g, "a", DIMS(t, d), (Leaf){LEAF_TENSOR, x, "a"}),
           s = graph_reduce(&g, "s", OP_SUM, a, DIMS(d));
    Plan *p = plan_new(&g, &s, 1);
    plan_compute(p);
    for (int j = 0; j < COLUMNS; j++)
        assert_memory_equal(&plan_values(p, s)[j], j == 7 ? (const void *)&canonical : &want, sizeof want);
    plan_free(p);
    graph_free(&g);
}

static const float *values_of(const void *run, NodeId n)
{
    return run_peek(run, n);
}

/* A long sum is one of blocks: in a row and down a column, explained and not, the same bits, and nearer to the truth
 * than one chain a lane would be; up to KERNEL_SUM cells nothing but that chain. */
static void long_sums(void **state)
{
    (void)state;
    static const int lengths[] = {KERNEL_SUM - 1, KERNEL_SUM,           KERNEL_SUM + 1,
                                  2 * KERNEL_SUM, 3 * KERNEL_SUM + 777, 3 * KERNEL_SUM + 1024};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k];
        Graph g;
        Rng r = rng_seed(77, k);
        float *x = xfloats((size_t)n * 2);
        double exact = 0;
        for (int i = 0; i < n; i++) {
            x[2 * i] = k % 2 ? 0.7371f : 1 + 0.5f * rng_normal(&r); /* equal ones round one way */
            x[2 * i + 1] = -x[2 * i];
            exact += (double)x[2 * i];
        }
        graph_init(&g);
        int t = axis(&g, "t", n), d = axis(&g, "d", 2);
        NodeId a = graph_leaf(&g, "a", DIMS(t, d), (Leaf){LEAF_TENSOR, x, "a"}),
               columns = graph_reduce(&g, "columns", OP_SUM, a, DIMS(d)),
               row = graph_reduce(&g, "row", OP_SUM, graph_slice(&g, "first", a, d, 0, AXIS_NONE), DIMS_SCALAR);
        Run *run = run_new(&g, NULL, NULL);
        const float *c = run_need(run, columns), *s = run_need(run, row);
        assert_memory_equal(c, s, sizeof *s);
        assert_true(c[1] == -c[0]);
        Explain e = explain_open(&g, columns, 0);
        float fold = explain_fold(&e, values_of, run), *steps = xfloats(e.terms);
        assert_memory_equal(&fold, s, sizeof fold);
        explain_running(&e, values_of, run, steps);
        assert_memory_equal(&steps[e.terms - 1], s, sizeof fold);
        free(steps);
        float *line = xfloats((size_t)n);
        for (int i = 0; i < n; i++)
            line[i] = x[2 * i];
        float chain = kernels_reference()->sum(line, (size_t)n);
        assert_true(n > KERNEL_SUM || chain == *s);
        double all = fabs((double)chain - exact) / exact;
        double error = fabs((double)*s - exact) / exact;
        printf("%d cells: off by %.1e, as one chain a lane %.1e\n", n, error, all);
        assert_true(n <= KERNEL_SUM || (error < 1e-6 && (k % 2 == 0 || error < all / 4)));
        free(line);
        run_free(run);
        graph_free(&g);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_have_the_bits_of_rows),
                                       cmocka_unit_test(columns_of_zeros_and_nan), cmocka_unit_test(long_sums)};
    return cmocka_run_group_tests_name("core/graph column", tests, NULL, NULL);
}
