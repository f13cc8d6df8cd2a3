#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/kernels/kernels.h"
#include "core/train/descent.h"

enum { ROWS = 40, COLUMNS = 300, CELLS = ROWS * COLUMNS };

static void fill(float *x, int n, uint64_t seed)
{
    Rng r = rng_seed(seed, 1);
    for (int i = 0; i < n; i++)
        x[i] = rng_normal(&r);
}

/* What five rounds make of one singular value, the matrix's norm being `norm`: the polynomial itself, in double. */
static double followed(double s, double norm)
{
    s /= norm;
    for (int i = 0; i < 5; i++)
        s = 3.4445 * s - 4.7750 * s * s * s + 2.0315 * pow(s, 5);
    return s;
}

/* A diagonal matrix has its singular values on the diagonal: each goes its own way, and 0 beside them stays 0. Tall and
 * wide. */
static void each_singular_value_follows_the_polynomial(void **state)
{
    (void)state;
    static const double values[] = {3, 1, 0.5, 0.04};
    enum { N = 4, LONG = 9 };
    for (int tall = 0; tall < 2; tall++) {
        float x[N * LONG] = {0};
        size_t rows = tall ? LONG : N, columns = tall ? N : LONG;
        double norm = 0;
        for (size_t i = 0; i < N; i++) {
            x[i * columns + i] = (float)values[i];
            norm += values[i] * values[i];
        }
        muon_polar(x, rows, columns);
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++) {
                double want = r == c ? followed(values[r], sqrt(norm)) : 0;
                if (fabs((double)x[r * columns + c] - want) > 1e-4)
                    fail_msg("%zu,%zu of %zu x %zu: %g, not %g", r, c, rows, columns, (double)x[r * columns + c], want);
            }
    }
}

/* Of any matrix: xxᵀ is near the identity (singular values 0.7 to 1.2: squares 0.4 to 1.5), and x keeps its side. */
static void rows_become_nearly_orthogonal(void **state)
{
    (void)state;
    static float x[CELLS], before[CELLS];
    fill(x, CELLS, 5);
    memcpy(before, x, sizeof x);
    muon_polar(x, ROWS, COLUMNS);
    for (int r = 0; r < ROWS; r++) {
        double along = 0;
        for (int s = 0; s < ROWS; s++) {
            double dot = 0;
            for (int c = 0; c < COLUMNS; c++)
                dot += (double)x[r * COLUMNS + c] * (double)x[s * COLUMNS + c];
            assert_true(r == s ? dot > 0.4 && dot < 1.5 : fabs(dot) < 0.35);
        }
        for (int c = 0; c < COLUMNS; c++)
            along += (double)x[r * COLUMNS + c] * (double)before[r * COLUMNS + c];
        assert_true(along > 0);
    }
    float zero[6] = {0};
    muon_polar(zero, 2, 3);
    for (int i = 0; i < 6; i++)
        assert_true(zero[i] == 0);
}

/* A rank of one is a single direction: the step is known by hand. */
static void a_step_has_the_length_that_was_said(void **state)
{
    (void)state;
    float w[6] = {1, 1, 1, 1, 1, 1}, g[6] = {0, 4, 0, 0, 0, 0}, m[6] = {0};
    muon_update(w, g, 0.5f, m, 2, 3, 0.75, 0.1, 0.5);
    double length = 0.1 * 0.2 * sqrt(3) * followed(1, 1);
    for (int i = 0; i < 6; i++)
        assert_true(fabs((double)w[i] - (1 - 0.05 - (i == 1 ? length : 0))) < 1e-5);
    assert_true(m[1] == 0.5f && m[0] == 0);
}

static void every_kernel_gives_the_same_bits(void **state)
{
    (void)state;
    static float x[CELLS], first[CELLS];
    const char *isa = kernels()->isa;
    Err err = {""};
    for (int i = 0; kernels_variant(i); i++) {
        assert_true(kernels_select(kernels_variant(i)->isa, &err));
        fill(x, CELLS, 7);
        muon_polar(x, COLUMNS, ROWS);
        if (i == 0)
            memcpy(first, x, sizeof x);
        assert_memory_equal(x, first, sizeof x);
    }
    assert_true(kernels_select(isa, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_singular_value_follows_the_polynomial),
        cmocka_unit_test(rows_become_nearly_orthogonal),
        cmocka_unit_test(a_step_has_the_length_that_was_said),
        cmocka_unit_test(every_kernel_gives_the_same_bits),
    };
    return cmocka_run_group_tests_name("muon", tests, NULL, NULL);
}
