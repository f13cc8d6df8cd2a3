/* A run under a memory budget: what it forgets comes back with the same bits, the hash does not change, and no more is
 * held than the budget and what is needed at once. */
#include <math.h>
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
#include "core/graph/run.h"

enum { LAYERS = 8, TOKENS = 24, WIDTH = 16, HIDDEN = 48 };

static float *random_values(Graph *g, Dims d, uint64_t seed)
{
    size_t n = graph_dims_cells(g, d);
    float *v = arena_alloc(&g->arena, n * sizeof *v);
    Rng r = rng_seed(seed, 1);
    for (size_t i = 0; i < n; i++)
        v[i] = 0.3f * rng_normal(&r);
    return v;
}

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

/* Layers of tokens that look at each other, and a residual stream of checkpoints. */
static void layers(Graph *g)
{
    graph_init(g);
    int t = axis(g, "t", TOKENS), u = axis(g, "u", TOKENS), d = axis(g, "d", WIDTH), m = axis(g, "m", HIDDEN);
    NodeId x = graph_leaf(g, "x", DIMS(t, d), (Leaf){LEAF_INPUT, random_values(g, DIMS(t, d), 1), "x"});
    for (int l = 0; l < LAYERS; l++) {
        graph_scope(g, "%d", l);
        NodeId up = graph_leaf(g, "w_up", DIMS(m, d),
                               (Leaf){LEAF_TENSOR, random_values(g, DIMS(m, d), 10 + (uint64_t)l), "up"});
        NodeId down = graph_leaf(g, "w_down", DIMS(d, m),
                                 (Leaf){LEAF_TENSOR, random_values(g, DIMS(d, m), 30 + (uint64_t)l), "down"});
        NodeId seen = graph_view(g, "seen", x, DIMS(u, d));
        NodeId scores = graph_contract(g, "scores", x, seen, DIMS(t, u));
        NodeId max = graph_reduce(g, "max", OP_MAX, scores, DIMS(t));
        NodeId shifted = graph_zip(g, "shifted", OP_SUB, scores, max);
        graph_flag(g, shifted, NODE_DERIVED);
        NodeId e = graph_map(g, "exp", MAP_EXP, shifted);
        NodeId pattern = graph_zip(g, "pattern", OP_DIV, e, graph_reduce(g, "sum", OP_SUM, e, DIMS(t)));
        NodeId z = graph_contract(g, "z", pattern, seen, DIMS(t, d));
        NodeId hidden = graph_contract(g, "hidden_raw", z, up, DIMS(t, m));
        graph_flag(g, hidden, NODE_DERIVED);
        NodeId post = graph_map(g, "post", MAP_TANH, hidden);
        NodeId out = graph_contract(g, "out", post, down, DIMS(t, d));
        x = graph_zip(g, "stream", OP_ADD, x, out);
        graph_flag(g, x, NODE_CHECKPOINT);
    }
    graph_scope(g, "%s", "");
    NodeId spread = graph_reduce(g, "probe", OP_MAX, graph_find(g, "3.pattern"), DIMS(t));
    graph_flag(g, spread, NODE_PROBE);
}

static size_t bytes_of(const Graph *g, NodeId n)
{
    return graph_cells(g, n) * sizeof(float);
}

/* All that one layer makes, derived values too. */
static size_t layer_bytes(const Graph *g)
{
    size_t bytes = 0;
    for (NodeId n = graph_find(g, "0.scores"); n <= graph_find(g, "0.stream"); n++)
        bytes += bytes_of(g, n);
    return bytes;
}

static size_t checkpoint_bytes(const Graph *g)
{
    size_t bytes = 0;
    for (NodeId n = 0; n < g->count; n++)
        bytes += graph_node(g, n)->flags & NODE_CHECKPOINT ? bytes_of(g, n) : 0;
    return bytes;
}

static uint64_t complete(Run *r)
{
    uint64_t h = 0;
    while (!run_step_all(r, CLOCK_NEVER))
        continue;
    assert_true(run_hash(r, &h));
    return h;
}

static bool is_value(const Graph *g, NodeId n)
{
    return graph_node(g, n)->op != OP_LEAF && graph_node(g, n)->op != OP_VIEW;
}

/* Every node of r has the bits that it has in a run without a budget; trimmed after every so many. */
static void check_all(Run *r, Run *whole, int trim_every, bool backwards)
{
    const Graph *g = run_graph(r);
    for (NodeId i = 0; i < g->count; i++) {
        NodeId n = backwards ? g->count - 1 - i : i;
        const float *x = run_need(r, n);
        assert_memory_equal(x, run_need(whole, n), bytes_of(g, n));
        if (i % trim_every == 0)
            run_trim(r);
    }
}

static void same_hash(void **state)
{
    (void)state;
    Graph g;
    layers(&g);
    Run *whole = run_new(&g, NULL, NULL);
    uint64_t want = complete(whole);
    assert_int_equal(run_peak_bytes(whole), run_bytes(whole));
    const size_t budgets[] = {1,
                              1000,
                              checkpoint_bytes(&g) + 1,
                              checkpoint_bytes(&g) + layer_bytes(&g),
                              run_bytes(whole) - 1,
                              run_bytes(whole)};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        Pool *pool = i % 2 ? pool_new(2) : NULL;
        Run *r = run_new(&g, NULL, pool);
        run_budget(r, budgets[i]);
        assert_int_equal(complete(r), want);
        size_t least = checkpoint_bytes(&g) + layer_bytes(&g), most = budgets[i] > least ? budgets[i] : least;
        assert_true(run_peak_bytes(r) <= most);
        assert_true(run_peak_bytes(r) >= run_bytes(r));
        run_trim(r);
        assert_true(run_bytes(r) <= (budgets[i] > checkpoint_bytes(&g) ? budgets[i] : checkpoint_bytes(&g)));
        for (NodeId n = 0; n < g.count; n++)
            assert_true(!(graph_node(&g, n)->flags & NODE_CHECKPOINT) || run_peek(r, n));
        if (i < 3)
            assert_null(run_peek(r, graph_find(&g, "2.pattern")));
        check_all(r, whole, 1, false);
        check_all(r, whole, 3, true);
        assert_int_equal(complete(r), want);
        assert_true(run_peak_bytes(r) <= most + layer_bytes(&g));
        run_free(r);
        pool_free(pool);
    }
    run_free(whole);
    graph_free(&g);
}

/* A node deep in a forgotten layer costs that layer and no other. */
static void one_layer_again(void **state)
{
    (void)state;
    Graph g;
    layers(&g);
    Run *r = run_new(&g, NULL, NULL);
    run_budget(r, checkpoint_bytes(&g));
    complete(r);
    run_trim(r);
    NodeId post = graph_find(&g, "5.post");
    assert_null(run_peek(r, post));
    size_t before = run_computed(r);
    run_need(r, post);
    size_t made = 0;
    for (NodeId n = graph_find(&g, "4.stream") + 1; n <= post; n++)
        made += is_value(&g, n);
    assert_int_equal(run_computed(r) - before, made);
    before = run_computed(r);
    assert_true(run_step_all(r, 0)); /* nothing of the pass is missing: what was there once is not made again */
    assert_int_equal(run_computed(r), before);
    run_free(r);
    graph_free(&g);
}

/* What was asked for stays until the next trim, whatever else is computed; what is asked for in every frame stays for
 * good. */
static void asked_for_stays(void **state)
{
    (void)state;
    Graph g;
    layers(&g);
    Run *r = run_new(&g, NULL, NULL);
    run_budget(r, 1);
    complete(r);
    NodeId kept = graph_find(&g, "1.pattern");
    const float *x = run_need(r, kept);
    size_t computed = 0;
    for (int frame = 0; frame < 6; frame++) {
        for (int l = 2; l < LAYERS; l++)
            run_need(r, graph_find(&g, arena_printf(&g.arena, "%d.post", l)));
        assert_ptr_equal(run_peek(r, kept), x);
        assert_true(run_step(r, kept, 0));
        assert_true(frame == 0 || run_computed(r) == computed);
        computed = run_computed(r);
        run_trim(r);
        assert_ptr_equal(run_peek(r, kept), x);
    }
    run_trim(r);
    assert_null(run_peek(r, kept));
    run_free(r);
    graph_free(&g);
}

/* Frames with no time at all: each gets a little further, nothing made for what the screen waits for is lost on the
 * way. */
static void frames_without_time(void **state)
{
    (void)state;
    Graph g;
    layers(&g);
    Run *whole = run_new(&g, NULL, NULL), *r = run_new(&g, NULL, NULL);
    uint64_t want = complete(whole), got;
    run_budget(r, 1);
    NodeId first = graph_find(&g, "6.post"), second = graph_find(&g, "probe");
    int frames = 0;
    for (; !run_peek(r, first) || !run_peek(r, second) || !run_complete(r); frames++) {
        assert_true(frames < 10000);
        double share = run_share(r);
        bool there = run_step(r, first, 0);
        assert_true(share >= 0 && share <= 1 && (there || run_share(r) < 1));
        if (there && run_step(r, second, 0))
            run_step_all(r, 0);
        run_trim(r);
    }
    assert_true(frames > 20);
    assert_true(run_share(r) >= 1);
    assert_memory_equal(run_peek(r, first), run_need(whole, first), bytes_of(&g, first));
    assert_memory_equal(run_peek(r, second), run_need(whole, second), bytes_of(&g, second));
    assert_true(run_hash(r, &got) && got == want);
    run_trim(r);
    run_trim(r);
    frames = 0;
    double share = 0;
    for (; !run_step(r, first, 0); frames++) { /* again, from the layer's checkpoint: the share only grows */
        assert_true(frames < 1000 && run_share(r) >= share && run_share(r) < 1);
        share = run_share(r);
        run_trim(r);
    }
    assert_true(frames > 3 && share > 0.3);
    run_free(r);
    run_free(whole);
    graph_free(&g);
}

/* An edited run and its base share one budget, forget and come back in any order, also with work half done in both. */
static void edited_runs_share_it(void **state)
{
    (void)state;
    Graph g, edited = {0};
    Err err = {""};
    layers(&g);
    const Edit edits[] = {{.kind = EDIT_ZERO, .path = "2.pattern", .cells = {1, {{1, 3, 9}}}},
                          {.kind = EDIT_SET, .path = "5.z", .value = 0.25f}};
    assert_true(graph_edit(&edited, &g, edits, 2, &err));
    Run *whole = run_new(&g, NULL, NULL), *other = run_new(&edited, whole, NULL);
    Run *base = run_new(&g, NULL, NULL), *r = run_new(&edited, base, NULL);
    uint64_t want_base = complete(whole), want = complete(other);
    assert_true(want != want_base);
    run_budget(r, 2000);
    assert_int_equal(complete(r), want);
    assert_int_equal(complete(base), want_base);
    assert_true(run_peak_bytes(base) == run_peak_bytes(r) &&
                run_peak_bytes(r) <= 2 * checkpoint_bytes(&g) + 2 * layer_bytes(&g));
    check_all(r, other, 1, true);
    check_all(base, whole, 2, true);
    Rng rng = rng_seed(7, 7);
    for (int i = 0; i < 3000; i++) {
        bool of_base = rng_u32(&rng) % 2;
        NodeId n = (NodeId)(rng_u32(&rng) % (uint32_t)(of_base ? g.count : edited.count));
        if (run_step(of_base ? base : r, n, rng_u32(&rng) % 4 ? 0 : CLOCK_NEVER)) {
            const float *x = run_peek(of_base ? base : r, n), *y = run_need(of_base ? whole : other, n);
            assert_memory_equal(x, y, bytes_of(of_base ? &g : &edited, n));
        }
        if (rng_u32(&rng) % 8 == 0)
            run_trim(of_base ? base : r);
    }
    assert_int_equal(complete(r), want);
    assert_int_equal(complete(base), want_base);
    run_free(r);
    run_trim(base);
    check_all(base, whole, 5, false);
    run_free(base);
    run_free(other);
    run_free(whole);
    graph_free(&edited);
    graph_free(&g);
}

/* The pass of an edited run is computed before anyone completed its base, with no room: the base's values wait for it.
 */
static void edited_first(void **state)
{
    (void)state;
    Graph g, edited = {0};
    Err err = {""};
    layers(&g);
    const Edit edit = {.kind = EDIT_ZERO, .path = "6.z", .cells = {0}};
    assert_true(graph_edit(&edited, &g, &edit, 1, &err));
    Run *base = run_new(&g, NULL, NULL), *r = run_new(&edited, base, NULL);
    run_budget(base, 1);
    complete(r);
    size_t values = 0;
    for (NodeId n = 0; n < g.count; n++)
        values += is_value(&g, n) && !(graph_node(&g, n)->flags & NODE_PROBE);
    assert_int_equal(run_computed(base), values); /* nothing twice */
    run_free(r);
    run_free(base);
    graph_free(&edited);
    graph_free(&g);
}

/* Attention of several heads under a band, an answer over words, and a probe of each: large against what is left. */
enum { HEADS = 3, KEYS = 150, PART = 8, WORDS = 400 };

static NodeId softmax(Graph *g, NodeId x, Dims rows)
{
    NodeId max = graph_reduce(g, "row_max", OP_MAX, x, rows), shifted = graph_zip(g, "shifted", OP_SUB, x, max);
    graph_flag(g, max, NODE_SHIFT);
    graph_flag(g, shifted, NODE_DERIVED);
    NodeId e = graph_map(g, "exp", MAP_EXP, shifted);
    return graph_zip(g, "pattern", OP_DIV, e, graph_reduce(g, "row_sum", OP_SUM, e, rows));
}

static NodeId given(Graph *g, const char *name, Dims d, uint64_t seed)
{
    return graph_leaf(g, name, d, (Leaf){LEAF_TENSOR, random_values(g, d, seed), name});
}

static void long_text(Graph *g)
{
    graph_init(g);
    int t = axis(g, "t", KEYS), u = axis(g, "u", KEYS), h = axis(g, "h", HEADS), e = axis(g, "e", PART),
        d = axis(g, "d", WIDTH), o = axis(g, "o", WORDS);
    NodeId x = graph_leaf(g, "x", DIMS(t, d), (Leaf){LEAF_INPUT, random_values(g, DIMS(t, d), 1), "x"});
    NodeId mask = graph_leaf_stored(g, "mask", DIMS(t, u), (Leaf){LEAF_CONST, NULL, "the order"},
                                    (LeafStore){LEAF_BAND, NULL, 0, 40});
    NodeId never = graph_const(g, "never", DIMS_SCALAR, -INFINITY), bias = given(g, "bias", DIMS(h, t, u), 2);
    for (int l = 0; l < 2; l++) {
        graph_scope(g, "%d", l);
        NodeId q = graph_contract(g, "q", x, given(g, "w_q", DIMS(h, e, d), 3), DIMS(t, h, e));
        NodeId seen = graph_view(g, "seen", x, DIMS(u, d));
        NodeId k = graph_contract(g, "k", seen, given(g, "w_k", DIMS(h, e, d), 4), DIMS(u, h, e));
        NodeId raw = graph_contract(g, "scores_raw", q, k, DIMS(h, t, u));
        NodeId scaled = graph_zip(g, "scaled", OP_MUL, raw, given(g, "scale", DIMS(h), 5));
        graph_flag(g, scaled, NODE_DERIVED);
        NodeId masked = graph_where(g, "masked", mask, graph_zip(g, "biased", OP_ADD, scaled, bias), never);
        NodeId z = graph_contract(g, "z", softmax(g, masked, DIMS(h, t)), k, DIMS(t, h, e));
        x = graph_zip(g, "stream", OP_ADD, x,
                      graph_contract(g, "out", z, given(g, "w_o", DIMS(d, h, e), 6), DIMS(t, d)));
        graph_flag(g, x, NODE_CHECKPOINT);
    }
    graph_scope(g, "%s", "");
    NodeId probs = softmax(g, graph_contract(g, "logits", x, given(g, "words", DIMS(o, d), 7), DIMS(t, o)), DIMS(t));
    graph_flag(g, graph_reduce(g, "surest", OP_MAX, probs, DIMS(t)), NODE_PROBE);
}

/* What cannot be held is computed a few rows at a time, to the same bits, and its hash is taken on the way; what is
 * asked for of it is there alone. */
static void few_rows(void **state)
{
    (void)state;
    Graph g;
    long_text(&g);
    Run *whole = run_new(&g, NULL, NULL);
    const uint64_t want = complete(whole);
    const NodeId pattern = graph_find(&g, "1.pattern"), surest = graph_find(&g, "surest");
    const size_t one = bytes_of(&g, pattern), budgets[] = {one / 4, one / 2, one, 2 * one, 3 * one};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        Pool *pool = i % 2 ? pool_new(2) : NULL;
        Run *r = run_new(&g, NULL, pool);
        run_budget(r, budgets[i]);
        if (i % 2)
            assert_int_equal(complete(r), want);
        uint64_t got = 0;
        int frames = 0;
        for (; !run_step_all(r, 0); frames++)
            assert_true(frames < 10000 && run_progress(r) <= 1);
        assert_true(run_hash(r, &got) && got == want);
        assert_true(i % 2 || frames > 10);
        assert_true(run_peak_bytes(r) <= budgets[i] + (i ? 0 : one / 4));
        assert_memory_equal(run_need(r, surest), run_need(whole, surest), bytes_of(&g, surest));
        assert_true(run_peak_bytes(r) <= budgets[i] + (i ? 0 : one / 4));
        run_trim(r);
        assert_memory_equal(run_need(r, pattern), run_need(whole, pattern), one);
        assert_true(run_peak_bytes(r) <= (budgets[i] > 2 * one ? budgets[i] : 2 * one));
        for (NodeId n = 0; n < g.count; n++, run_trim(r))
            if (graph_node(&g, n)->op != OP_LEAF)
                assert_memory_equal(run_need(r, n), run_need(whole, n), bytes_of(&g, n));
        run_free(r);
        pool_free(pool);
    }
    run_free(whole);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_hash),
                                       cmocka_unit_test(one_layer_again),
                                       cmocka_unit_test(asked_for_stays),
                                       cmocka_unit_test(frames_without_time),
                                       cmocka_unit_test(edited_runs_share_it),
                                       cmocka_unit_test(edited_first),
                                       cmocka_unit_test(few_rows)};
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
