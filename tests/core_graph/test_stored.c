/* Leaves that are stored in 16 bits, or not at all: every operation gives the bits that it gives with floats, through
 * runs, plans and explanations; floats are made only for those that must have them, and may be forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/edit.h"
#include "core/graph/explain.h"
#include "core/graph/plan.h"
#include "core/graph/run.h"

enum { TOKENS = 9, WORDS = 37, WIDTH = 300, WINDOW = 4, FIRST = 2 };

typedef struct Both {
    Graph g[2]; /* with floats, with leaves stored otherwise */
    NodeId last;
    float *words, *mask, *x;
    uint16_t *half;
} Both;

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

/* Words looked up, met by all words, some of the scores hidden; and what reads a table in other ways. */
static void build(Both *b, Graph *g, LeafForm form)
{
    const int rows[TOKENS] = {3, 0, 36, 5, 5, 17, 8, 1, 2}, some[4] = {7, 7, 0, 299};
    graph_init(g);
    int v = axis(g, "v", WORDS), d = axis(g, "d", WIDTH), t = axis(g, "t", TOKENS), u = axis(g, "u", TOKENS + FIRST);
    int e = axis(g, "e", 4), w = axis(g, "w", TOKENS), two = axis(g, "z", TOKENS + WORDS);
    NodeId table = form ? graph_leaf_stored(g, "table", DIMS(v, d), (Leaf){LEAF_TENSOR, NULL, "file"},
                                            (LeafStore){.form = form, .half = b->half})
                        : graph_leaf(g, "table", DIMS(v, d), (Leaf){LEAF_TENSOR, b->words, "file"});
    NodeId mask = form ? graph_leaf_stored(g, "mask", DIMS(t, u), (Leaf){LEAF_CONST, NULL, "rule"},
                                           (LeafStore){.form = LEAF_BAND, .first = FIRST, .window = WINDOW})
                       : graph_leaf(g, "mask", DIMS(t, u), (Leaf){LEAF_CONST, b->mask, "rule"});
    NodeId scores = graph_leaf(g, "scores", DIMS(v, t, u), (Leaf){LEAF_INPUT, b->x, "input"});
    NodeId words = graph_take(g, "words", table, v, rows, t);
    NodeId logits = graph_contract(g, "logits", words, table, DIMS(t, v));
    NodeId back = graph_contract(g, "back", logits, table, DIMS(t, d)); /* over the other axis */
    NodeId first = graph_contract(g, "as_first", table, words, DIMS(v, t));
    graph_where(g, "masked", mask, scores, graph_const(g, "never", DIMS_SCALAR, -1));
    graph_zip(g, "times_mask", OP_MUL, graph_slice(g, "some_scores", scores, v, 5, AXIS_NONE), mask);
    graph_slice(g, "nine", table, v, 20, w);
    graph_slice(g, "one", table, d, 299, AXIS_NONE);
    graph_take(g, "columns", table, d, some, e);
    graph_concat(g, "behind", back, t, graph_view(g, "seen", table, DIMS(v, d)), v, two);
    graph_reduce(g, "sum", OP_SUM, table, DIMS(v));
    graph_map(g, "exp", MAP_EXP, table);
    b->last = graph_zip(g, "last", OP_ADD, graph_reduce(g, "total", OP_SUM, first, DIMS(t)),
                        graph_reduce(g, "most", OP_MAX, graph_view(g, "mask_seen", mask, DIMS(t, u)), DIMS(t)));
}

static void both_new(Both *b, LeafForm form)
{
    Rng r = rng_seed(3, (uint64_t)form);
    const size_t cells = WORDS * WIDTH, keys = TOKENS + FIRST;
    b->words = xfloats(cells);
    b->half = xmalloc(cells * sizeof *b->half);
    b->mask = xfloats(TOKENS * keys);
    b->x = xfloats(WORDS * TOKENS * keys);
    for (size_t i = 0; i < cells; i++)
        b->half[i] = (uint16_t)(i == 1234 ? 1 : (rng_u32(&r) & 0x81ff) | 0x3800);
    kernels_reference()->widen[form == LEAF_F16 ? HALF_F16 : HALF_BF16](b->words, b->half, cells);
    for (size_t t = 0; t < TOKENS; t++)
        for (size_t u = 0; u < keys; u++)
            b->mask[t * keys + u] = u <= t + FIRST && t + FIRST < u + WINDOW;
    for (size_t i = 0; i < WORDS * TOKENS * keys; i++)
        b->x[i] = rng_normal(&r);
    build(b, &b->g[0], LEAF_FLOATS);
    build(b, &b->g[1], form);
}

static void both_free(Both *b)
{
    graph_free(&b->g[0]);
    graph_free(&b->g[1]);
    free(b->words);
    free(b->half);
    free(b->mask);
    free(b->x);
}

static const float *peek(const void *run, NodeId n)
{
    return run_peek(run, n);
}

static void check_node(const Both *b, Run *r[2], NodeId n, const char *what)
{
    const float *want = run_need(r[0], n), *got = run_need(r[1], n);
    for (size_t i = 0; i < graph_cells(&b->g[0], n); i++)
        if (memcmp(&want[i], &got[i], sizeof *want) != 0)
            fail_msg("%s: %s[%zu] is %a, not %a", what, graph_node(&b->g[1], n)->path, i, (double)got[i],
                     (double)want[i]);
}

static void the_same_bits_as_with_floats(void **state)
{
    (void)state;
    for (LeafForm form = LEAF_BF16; form <= LEAF_F16; form = (LeafForm)(form + 1))
        for (int threads = 1; threads <= 2; threads++) {
            Both b;
            both_new(&b, form);
            Pool *pool = pool_new(threads);
            Run *r[2] = {run_new(&b.g[0], NULL, pool), run_new(&b.g[1], NULL, pool)};
            uint64_t hash[2];
            for (int k = 0; k < 2; k++) {
                while (!run_step_all(r[k], clock_ns())) /* as often interrupted as can be */
                    continue;
                assert_true(run_hash(r[k], &hash[k]));
            }
            assert_true(hash[0] == hash[1]);
            for (NodeId n = 0; n < b.g[0].count; n++)
                check_node(&b, r, n, "run");
            run_free(r[0]);
            run_free(r[1]);
            pool_free(pool);
            both_free(&b);
        }
}

static void plans_too(void **state)
{
    (void)state;
    for (LeafForm form = LEAF_BF16; form <= LEAF_F16; form = (LeafForm)(form + 1)) {
        Both b;
        both_new(&b, form);
        Run *r = run_new(&b.g[0], NULL, NULL);
        NodeId all[40];
        int count = 0;
        for (NodeId n = 0; n < b.g[1].count; n++) /* each alone, then all, the leaves with them */
            all[count++] = n;
        for (int i = 0; i <= count; i++) {
            Plan *p = plan_new(&b.g[1], i < count ? &all[i] : all, i < count ? 1 : count);
            plan_compute(p);
            for (int k = i < count ? i : 0; k < (i < count ? i + 1 : count); k++)
                assert_memory_equal(plan_values(p, all[k]), run_need(r, all[k]),
                                    graph_cells(&b.g[0], all[k]) * sizeof(float));
            plan_free(p);
        }
        run_free(r);
        both_free(&b);
    }
}

/* Explained from the file's own numbers: nobody made floats of them. */
static void explained_as_they_are_stored(void **state)
{
    (void)state;
    Both b;
    both_new(&b, LEAF_BF16);
    Run *r = run_new(&b.g[1], NULL, NULL);
    static const char *const PATHS[] = {"words", "logits", "back", "masked", "nine", "one", "columns", "behind"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        NodeId n = graph_find(&b.g[1], PATHS[i]);
        const float *x = run_need(r, n);
        for (size_t c = 0; c < graph_cells(&b.g[1], n); c++) {
            Explain e = explain_open(&b.g[1], n, c);
            float folded = explain_fold(&e, peek, r);
            assert_memory_equal(&folded, &x[c], sizeof folded);
            assert_true(explain_fold_double(&e, peek, r) - (double)x[c] < 1e-3);
        }
    }
    assert_null(run_peek(r, graph_find(&b.g[1], "table")));
    assert_null(run_peek(r, graph_find(&b.g[1], "mask")));
    for (NodeId n = 0; n < b.g[1].count; n++) { /* and the leaves themselves */
        const size_t last = graph_cells(&b.g[1], n) - 1;
        Explain e = explain_open(&b.g[1], n, last);
        if (graph_node(&b.g[1], n)->op == OP_LEAF)
            assert_true(explain_fold(&e, peek, r) == run_need(r, n)[last]);
    }
    run_free(r);
    both_free(&b);
}

/* Floats that somebody asked for are there until the next trim, and count as memory; they are no computed node. */
static void floats_are_made_and_forgotten(void **state)
{
    (void)state;
    Both b;
    both_new(&b, LEAF_BF16);
    Run *r = run_new(&b.g[1], NULL, NULL);
    NodeId table = graph_find(&b.g[1], "table"), exp = graph_find(&b.g[1], "exp");
    while (!run_step_all(r, CLOCK_NEVER)) /* from here on nothing is to come that reads it */
        continue;
    run_trim(r);
    assert_null(run_peek(r, table));
    const size_t bytes = run_bytes(r), computed = run_computed(r);
    assert_non_null(run_need(r, table));
    assert_int_equal(run_bytes(r) - bytes, WORDS * WIDTH * sizeof(float));
    assert_int_equal(run_computed(r), computed);
    run_trim(r); /* asked for since the last one: it stays */
    assert_non_null(run_peek(r, table));
    run_trim(r);
    assert_null(run_peek(r, table));
    assert_int_equal(run_bytes(r), bytes);
    run_free(r);
    r = run_new(&b.g[1], NULL, NULL);
    run_need(r, exp); /* cannot read them as they are */
    assert_non_null(run_peek(r, table));
    run_free(r);
    r = run_new(&b.g[1], NULL, NULL);
    Edit edit = {.kind = EDIT_MAP, .path = "table", .map = MAP_RELU};
    Graph g = {0};
    Err err;
    assert_true(graph_edit(&g, &b.g[1], &edit, 1, &err));
    Run *edited = run_new(&g, r, NULL), *plain = run_new(&b.g[0], NULL, NULL);
    const float *got = run_need(edited, graph_find(&g, "table")), *was = run_need(plain, table);
    for (size_t i = 0; i < WORDS * WIDTH; i++)
        assert_true(got[i] == (was[i] > 0 ? was[i] : 0));
    run_free(edited);
    run_free(plain);
    run_free(r);
    graph_free(&g);
    both_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_as_with_floats),
        cmocka_unit_test(plans_too),
        cmocka_unit_test(explained_as_they_are_stored),
        cmocka_unit_test(floats_are_made_and_forgotten),
    };
    return cmocka_run_group_tests_name("stored leaves", tests, NULL, NULL);
}
