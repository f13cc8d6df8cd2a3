/* The graph engine: shapes, every operation against its own explanation and against a naive definition, stopping and
 * going on, forgetting and recomputing, edits, costs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/graph/edit.h"
#include "core/graph/explain.h"
#include "core/graph/run.h"

typedef struct Small {
    Graph g;
    int t, u, h, e, d, m, n, p, y, x, c, i, j;
    NodeId input;
} Small;

static float *random_values(Graph *g, Dims d, uint64_t seed)
{
    size_t n = graph_dims_cells(g, d);
    float *v = arena_alloc(&g->arena, n * sizeof *v);
    Rng r = rng_seed(seed, 1);
    for (size_t i = 0; i < n; i++)
        v[i] = rng_normal(&r);
    return v;
}

static NodeId weight(Small *s, const char *name, Dims d, uint64_t seed)
{
    return graph_leaf(&s->g, name, d, (Leaf){LEAF_TENSOR, random_values(&s->g, d, seed), name});
}

static int axis(Small *s, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(&s->g, a);
}

/* What a builder notes of a block's attention, so that masks know their names. */
static void note_attention(Graph *g, int block)
{
    if (!g->anatomy)
        anatomy_add(g, (Part){.kind = PART_MODEL, .block = NO_BLOCK, .parent = NO_PART});
    char scope[32];
    snprintf(scope, sizeof scope, "blocks.%d", block);
    int around = anatomy_add(g, (Part){.kind = PART_BLOCK, .scope = scope, .block = block});
    snprintf(scope, sizeof scope, "blocks.%d.attn", block);
    int part = anatomy_add(g, (Part){.kind = PART_ATTENTION, .scope = scope, .block = block, .parent = around});
    anatomy_note_name(g, part, SITE_SCORES_MASKED, "scores_masked");
    anatomy_note_name(g, part, SITE_PATTERN, "pattern");
}

/* One attention layer over patches of a picture, with every operation in it. */
static void small_model(Small *s)
{
    graph_init(&s->g);
    Graph *g = &s->g;
    s->c = axis(s, "c", 3);
    s->y = axis(s, "y", 2);
    s->x = axis(s, "x", 3);
    s->i = axis(s, "i", 2);
    s->j = axis(s, "j", 2);
    s->p = axis(s, "p", 6);
    s->n = axis(s, "n", 1);
    s->t = axis(s, "t", 7);
    s->u = axis(s, "u", 7);
    s->h = axis(s, "h", 2);
    s->e = axis(s, "e", 5);
    s->d = axis(s, "d", 300); /* more than one k block */
    s->m = axis(s, "m", 9);
    Dims picture = DIMS(s->c, s->y, s->i, s->x, s->j), td = DIMS(s->t, s->d), the = DIMS(s->t, s->h, s->e),
         uhe = DIMS(s->u, s->h, s->e);
    s->input = graph_leaf(g, "image", picture, (Leaf){LEAF_INPUT, random_values(g, picture, 99), "picture"});
    NodeId patches = graph_contract(g, "patches", s->input, weight(s, "w_patch", DIMS(s->d, s->c, s->i, s->j), 1),
                                    DIMS(s->y, s->x, s->d));
    NodeId embed = graph_view(g, "embed", patches, DIMS(s->p, s->d));
    int order[] = {5, 4, 3, 2, 1, 0};
    NodeId moved = graph_gather(g, "moved", embed, s->p, order);
    NodeId cls = weight(s, "cls", DIMS(s->n, s->d), 2);
    NodeId x = graph_concat(g, "tokens", cls, s->n, moved, s->p, s->t);
    graph_scope(g, "blocks.%d.ln", 0);
    NodeId sum = graph_reduce(g, "sum", OP_SUM, x, DIMS(s->t));
    NodeId mean = graph_zip(g, "mean", OP_MUL, sum, graph_const(g, "inverse", DIMS_SCALAR, 1.0f / 300));
    NodeId centred = graph_zip(g, "centered", OP_SUB, x, mean);
    NodeId sq = graph_zip(g, "sq", OP_MUL, centred, centred);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId var = graph_reduce(g, "sumsq", OP_SUM, sq, DIMS(s->t));
    NodeId rstd = graph_map(g, "rstd", MAP_RSQRT, var);
    x = graph_zip(g, "normalized", OP_MUL, centred, rstd);
    graph_scope(g, "blocks.%d.attn", 0);
    NodeId in = graph_view(g, "in", x, DIMS(s->u, s->d));
    NodeId q = graph_contract(g, "q", x, weight(s, "w_q", DIMS(s->h, s->e, s->d), 3), the);
    NodeId k = graph_contract(g, "k", in, weight(s, "w_k", DIMS(s->h, s->e, s->d), 4), uhe);
    NodeId v = graph_contract(g, "v", in, weight(s, "w_v", DIMS(s->h, s->e, s->d), 5), uhe);
    NodeId raw = graph_contract(g, "scores_raw", q, k, DIMS(s->h, s->t, s->u));
    NodeId scaled = graph_zip(g, "scores_scaled", OP_MUL, raw, graph_const(g, "scale", DIMS(s->h), 0.5f));
    NodeId max = graph_reduce(g, "row_max", OP_MAX, scaled, DIMS(s->h, s->t));
    NodeId e = graph_map(g, "exp", MAP_EXP, graph_zip(g, "shifted", OP_SUB, scaled, max));
    NodeId pattern = graph_zip(g, "pattern", OP_DIV, e, graph_reduce(g, "row_sum", OP_SUM, e, DIMS(s->h, s->t)));
    NodeId z = graph_contract(g, "z", pattern, v, the);
    NodeId out = graph_contract(g, "out", z, weight(s, "w_o", DIMS(s->d, s->h, s->e), 6), td);
    note_attention(g, 0);
    graph_scope(g, "%s", "");
    NodeId mid = graph_zip(g, "mid", OP_ADD, x, out);
    NodeId up = graph_map(g, "up", MAP_GELU,
                          graph_contract(g, "pre", mid, weight(s, "w_up", DIMS(s->m, s->d), 7), DIMS(s->t, s->m)));
    NodeId first = graph_slice(g, "first", up, s->t, 0, AXIS_NONE);
    NodeId rest = graph_slice(g, "rest", up, s->t, 1, s->p);
    NodeId over_tokens = graph_reduce(g, "over_tokens", OP_SUM, rest, DIMS(s->m)); /* scattered cells */
    NodeId mask = graph_leaf(g, "mask", DIMS(s->m), (Leaf){LEAF_HOST, random_values(g, DIMS(s->m), 8), "test"});
    NodeId positive = graph_map(g, "positive", MAP_RELU, mask);
    graph_where(g, "chosen", positive, first, over_tokens);
}

static const float *values_of(const void *context, NodeId n)
{
    const float *v = run_peek(context, n);
    assert_non_null(v);
    return v;
}

static size_t check_explained(Run *r)
{
    const Graph *g = run_graph(r);
    size_t cells = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const float *v = run_need(r, n);
        for (int k = 0; k < op_inputs(graph_node(g, n)->op); k++)
            run_need(r, graph_node(g, n)->in[k]);
        v = run_peek(r, n);
        for (size_t c = 0; c < graph_cells(g, n); c++) {
            Explain e = explain_open(g, n, c);
            float f = explain_fold(&e, values_of, r);
            if (memcmp(&f, &v[c], sizeof f) != 0)
                fail_msg("%s cell %zu: stored %a, explained %a", graph_node(g, n)->path, c, (double)v[c], (double)f);
            cells++;
        }
    }
    return cells;
}

static void every_cell_explains_itself(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *r = run_new(&s.g, NULL, NULL);
    assert_true(check_explained(r) > 10000);
    run_free(r);
    graph_free(&s.g);
}

static void contraction_matches_its_definition(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *r = run_new(&s.g, NULL, NULL);
    NodeId q = graph_find(&s.g, "blocks.0.attn.q"), x = graph_find(&s.g, "blocks.0.ln.normalized"),
           w = graph_find(&s.g, "blocks.0.attn.w_q");
    const float *vq = run_need(r, q), *vx = run_need(r, x), *vw = run_need(r, w);
    for (int t = 0; t < 7; t++)
        for (int he = 0; he < 10; he++) {
            float total = 0;
            for (int block = 0; block < 300; block += 256) {
                float chain = 0;
                for (int d = block; d < 300 && d < block + 256; d++)
                    chain = fmaf(vx[t * 300 + d], vw[he * 300 + d], chain);
                total += chain;
            }
            assert_memory_equal(&total, &vq[t * 10 + he], sizeof total);
        }
    /* the picture's patches: rows y, columns x, features c, i, j */
    const float *vp = run_need(r, graph_find(&s.g, "patches")), *vi = run_need(r, s.input),
                *vwp = run_need(r, graph_find(&s.g, "w_patch"));
    for (int y = 0; y < 2; y++)
        for (int xx = 0; xx < 3; xx++)
            for (int d = 0; d < 300; d++) {
                float chain = 0;
                for (int c = 0; c < 3; c++)
                    for (int i = 0; i < 2; i++)
                        for (int j = 0; j < 2; j++)
                            chain = fmaf(vi[(c * 4 + y * 2 + i) * 6 + xx * 2 + j], vwp[((d * 3 + c) * 2 + i) * 2 + j],
                                         chain);
                assert_memory_equal(&chain, &vp[(y * 3 + xx) * 300 + d], sizeof chain);
            }
    run_free(r);
    graph_free(&s.g);
}

static uint64_t hash_of(Run *r)
{
    uint64_t h = 0;
    while (!run_step_all(r, CLOCK_NEVER))
        ;
    assert_true(run_hash(r, &h));
    return h;
}

static void the_hash_does_not_depend_on_how(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *once = run_new(&s.g, NULL, NULL);
    uint64_t h, want = hash_of(once);
    assert_true(run_complete(once));
    run_free(once);
    Pool *pool = pool_new(3);
    Run *threads = run_new(&s.g, NULL, pool);
    assert_true(hash_of(threads) == want);
    run_free(threads);
    pool_free(pool);
    Run *slices = run_new(&s.g, NULL,
                          NULL); /* a deadline that has always passed: one item at a time, trimmed in between */
    assert_false(run_hash(slices, &h));
    double last = -1;
    for (int i = 0; !run_complete(slices); i++) {
        run_step_all(slices, 0);
        assert_true(run_progress(slices) >= last);
        last = run_progress(slices);
        if (i % 3 == 0)
            run_trim(slices);
        assert_true(i < 100000);
    }
    assert_true(run_hash(slices, &h) && h == want);
    run_free(slices);
    for (int v = 0; kernels_variant(v); v++) {
        Err err;
        assert_true(kernels_select(kernels_variant(v)->isa, &err));
        Run *r = run_new(&s.g, NULL, NULL);
        assert_true(hash_of(r) == want);
        run_free(r);
    }
    assert_true(kernels_select("auto", NULL));
    graph_free(&s.g);
}

static void forgotten_values_come_back_identical(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *r = run_new(&s.g, NULL, NULL);
    NodeId sq = graph_find(&s.g, "blocks.0.ln.sq");
    hash_of(r);
    float before[16], after[16];
    memcpy(before, run_need(r, sq), sizeof before);
    size_t held = run_bytes(r);
    run_trim(r); /* asked since the last trim: stays */
    assert_non_null(run_peek(r, sq));
    run_trim(r);
    assert_null(run_peek(r, sq));
    assert_true(run_bytes(r) < held);
    memcpy(after, run_need(r, sq), sizeof after);
    assert_memory_equal(before, after, sizeof before);
    run_free(r);
    graph_free(&s.g);
}

/* Every node alone, each on a run of its own, has the bits that it has in a pass in which nodes are computed together;
 * and a node that is derived comes back with the bits its consumers saw. */
static void together_or_alone(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Pool *pool = pool_new(2);
    Run *whole = run_new(&s.g, NULL, pool), *alone = run_new(&s.g, NULL, NULL);
    assert_true(run_step_all(whole, CLOCK_NEVER));
    size_t absent = 0;
    for (NodeId n = 0; n < s.g.count; n++) {
        bool derived = graph_node(&s.g, n)->flags & NODE_DERIVED;
        assert_true(derived || run_peek(whole, n));
        absent += !run_peek(whole, n);
        const float *x = run_need(alone, n); /* node order: its inputs were each asked for */
        assert_memory_equal(x, run_need(whole, n), graph_cells(&s.g, n) * sizeof *x);
    }
    assert_true(absent > 0); /* the pass did not hold what nobody asked for */
    run_free(whole);
    run_free(alone);
    pool_free(pool);
    graph_free(&s.g);
}

/* More rows than one item takes, two k blocks, a part panel, a bias, and an output whose columns are not neighbours. */
static void large_contractions_match_their_definition(void **state)
{
    (void)state;
    enum { T = 1030, D = 300, O = 37 };
    for (int turned = 0; turned < 2; turned++) {
        Small s = {0};
        graph_init(&s.g);
        int t = axis(&s, "t", T), d = axis(&s, "d", D), o = axis(&s, "o", O);
        NodeId x = weight(&s, "x", DIMS(t, d), 1), w = weight(&s, "w", DIMS(o, d), 2), b = weight(&s, "b", DIMS(o), 3);
        NodeId sum = graph_contract(&s.g, "y_nobias", x, w, turned ? DIMS(o, t) : DIMS(t, o));
        graph_flag(&s.g, sum, NODE_DERIVED);
        NodeId y = graph_zip(&s.g, "y", OP_ADD, sum, b);
        Run *r = run_new(&s.g, NULL, NULL);
        const float *vx = run_peek(r, x), *vw = run_peek(r, w), *vb = run_peek(r, b), *vy = run_need(r, y);
        assert_null(run_peek(r, sum));
        for (int i = 0; i < T; i += 7)
            for (int j = 0; j < O; j++) {
                float total = 0;
                for (int k0 = 0; k0 < D; k0 += KERNEL_K) {
                    float chain = 0;
                    for (int k = k0; k < D && k < k0 + KERNEL_K; k++)
                        chain = kernel_fma(vx[i * D + k], vw[j * D + k], chain);
                    total += chain;
                }
                total += vb[j];
                assert_memory_equal(&total, &vy[turned ? j * T + i : i * O + j], sizeof total);
            }
        run_free(r);
        graph_free(&s.g);
    }
}

static void edits_share_what_they_do_not_touch(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *base = run_new(&s.g, NULL, NULL);
    uint64_t plain = hash_of(base), changed;
    Edit edits[] = {
        {.kind = EDIT_ZERO, .path = "blocks.0.attn.z", .cells = {.n = 1, .range = {{s.h, 1, 2}}}, .origin = "test"},
        {.kind = EDIT_MEAN, .path = "blocks.0.attn.z", .cells = {.n = 1, .range = {{s.h, 0, 1}}}, .axis = s.t}};
    Graph g = {0};
    Err err;
    assert_true(graph_edit(&g, &s.g, edits, 2, &err));
    Run *r = run_new(&g, base, NULL);
    changed = hash_of(r);
    assert_true(changed != plain);
    check_explained(r);
    NodeId pattern = graph_find(&g, "blocks.0.attn.pattern"), z = graph_find(&g, "blocks.0.attn.z"),
           old = graph_find(&g, "blocks.0.attn.z.unedited");
    assert_true(graph_node(&g, pattern)->origin == graph_find(&s.g, "blocks.0.attn.pattern"));
    assert_ptr_equal(run_peek(r, pattern), run_peek(base, graph_find(&s.g, "blocks.0.attn.pattern")));
    assert_true(old != NO_NODE && graph_find(&g, "blocks.0.attn.z.unedited2") != NO_NODE);
    const float *v = run_need(r, z), *was = run_need(r, old);
    for (int t = 0; t < 7; t++)
        for (int e = 0; e < 5; e++) {
            assert_true(v[(t * 2 + 1) * 5 + e] == 0.0f);
            assert_true(v[(t * 2 + 0) * 5 + e] == v[e]); /* the same mean for every token */
        }
    assert_true(was[6] != v[6]);
    assert_true(run_computed(r) < run_computed(base));
    int made = 0; /* what an edit puts between the nodes is known to be of it */
    for (NodeId n = 0; n < g.count; n++)
        if (strstr(graph_node(&g, n)->path, ".edit_")) {
            assert_true(graph_node(&g, n)->flags & NODE_EDITED);
            made++;
        }
    assert_true(made >= 5);
    run_free(r);
    graph_free(&g);
    assert_true(hash_of(base) == plain);
    Edit wrong = {.kind = EDIT_ZERO, .path = "nowhere"};
    assert_false(graph_edit(&g, &s.g, &wrong, 1, &err));
    assert_non_null(strstr(err.text, "nowhere"));
    run_free(base);
    graph_free(&s.g);
}

static bool later(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0];
}

static void masks_forbid_and_dead_rows_are_zero(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *base = run_new(&s.g, NULL, NULL);
    Edit edits[] = {{.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .choose = later},
                    {.kind = EDIT_MASK,
                     .path = "blocks.0.attn.scores_scaled",
                     .cells = {.n = 1, .range = {{s.t, 2, 3}}}}};
    Graph g = {0};
    Err err;
    assert_true(graph_edit(&g, &s.g, edits, 2, &err));
    Run *r = run_new(&g, base, NULL);
    check_explained(r);
    const float *pattern = run_need(r, graph_find(&g, "blocks.0.attn.pattern"));
    for (int h = 0; h < 2; h++)
        for (int t = 0; t < 7; t++) {
            float sum = 0;
            for (int u = 0; u < 7; u++) {
                float w = pattern[(h * 7 + t) * 7 + u];
                assert_true(u <= t || w == 0.0f);
                sum += w;
            }
            assert_true(t == 2 ? sum == 0.0f : fabsf(sum - 1) < 1e-6f);
        }
    assert_true(graph_find(&g, "blocks.0.attn.scores_masked") != NO_NODE);
    run_free(r);
    graph_free(&g);
    run_free(base);
    graph_free(&s.g);
}

/* However deep the model: a row without anything to look at is zeros, not 0/0; and what the reader then sets there
 * stays. */
static void dead_rows_in_many_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 20 };
    Small s;
    graph_init(&s.g);
    Graph *g = &s.g;
    int t = axis(&s, "t", 3), u = axis(&s, "u", 3);
    Edit edits[BLOCKS + 1];
    for (int b = 0; b < BLOCKS; b++) {
        graph_scope(g, "blocks.%d.attn", b);
        NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, weight(&s, "scores_raw", DIMS(t, u), 7),
                                  graph_const(g, "scale", DIMS_SCALAR, 0.5f));
        NodeId shifted = graph_zip(g, "shifted", OP_SUB, scores, graph_reduce(g, "row_max", OP_MAX, scores, DIMS(t)));
        NodeId e = graph_map(g, "exp", MAP_EXP, shifted);
        graph_zip(g, "pattern", OP_DIV, e, graph_reduce(g, "row_sum", OP_SUM, e, DIMS(t)));
        note_attention(g, b);
        edits[b] = (Edit){.kind = EDIT_MASK, .path = arena_printf(&g->arena, "blocks.%d.attn.scores_scaled", b)};
    }
    edits[BLOCKS] = (Edit){.kind = EDIT_SET,
                           .path = "blocks.19.attn.pattern",
                           .value = 0.25f,
                           .cells = {.n = 1, .range = {{t, 1, 2}}}};
    Graph edited = {0};
    Err err;
    assert_true(graph_edit(&edited, g, edits, BLOCKS + 1, &err));
    Run *base = run_new(g, NULL, NULL), *r = run_new(&edited, base, NULL);
    for (int b = 0; b < BLOCKS; b++) {
        const float *pattern = run_need(r, graph_find(&edited, arena_printf(&g->arena, "blocks.%d.attn.pattern", b)));
        for (int i = 0; i < 9; i++)
            assert_true(pattern[i] == (b == 19 && i / 3 == 1 ? 0.25f : 0.0f));
    }
    check_explained(r);
    run_free(r);
    graph_free(&edited);
    run_free(base);
    graph_free(g);
}

/* An analysis that was changed is still none of the forward pass, and no part of the hash. */
static void edited_analyses_stay_out_of_the_hash(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    NodeId last = s.g.count - 1;
    NodeId probe = graph_reduce(&s.g, "probe", OP_SUM, last, DIMS_SCALAR);
    graph_flag(&s.g, probe, NODE_PROBE);
    Run *base = run_new(&s.g, NULL, NULL);
    Edit edit = {.kind = EDIT_SET, .path = s.g.nodes[probe].path, .value = 5};
    Graph g = {0};
    Err err;
    assert_true(graph_edit(&g, &s.g, &edit, 1, &err));
    Run *r = run_new(&g, base, NULL);
    uint64_t before = 0, after = 0;
    assert_true(run_step_all(r, CLOCK_NEVER) && run_hash(base, &before) && run_hash(r, &after));
    assert_true(before == after);
    assert_true(*run_need(r, graph_find(&g, s.g.nodes[probe].path)) == 5);
    run_free(r);
    graph_free(&g);
    run_free(base);
    graph_free(&s.g);
}

static void redirect_gather_scale_and_values(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Run *base = run_new(&s.g, NULL, NULL);
    float *ones = arena_alloc(&s.g.arena, 4 * 300 * 7);
    int order[] = {1, 0, 2, 3, 4, 5};
    for (int i = 0; i < 7 * 300; i++)
        ones[i] = 1;
    Edit edits[] = {
        {.kind = EDIT_REDIRECT, .path = "mid", .other = "tokens"},
        {.kind = EDIT_GATHER, .path = "moved", .axis = s.p, .index = order},
        {.kind = EDIT_SCALE, .path = "blocks.0.attn.scale", .factor = 2, .cells = {.n = 1, .range = {{s.h, 1, 2}}}},
        {.kind = EDIT_VALUES, .path = "blocks.0.ln.centered", .data = ones}};
    Graph g = {0};
    Err err;
    assert_true(graph_edit(&g, &s.g, edits, 4, &err));
    Run *r = run_new(&g, base, NULL);
    check_explained(r);
    const float *scale = run_need(r, graph_find(&g, "blocks.0.attn.scale"));
    assert_true(scale[0] == 0.5f && scale[1] == 1.0f);
    assert_true(run_need(r, graph_find(&g, "blocks.0.ln.centered"))[5] == 1.0f);
    const float *moved = run_need(r, graph_find(&g, "moved")), *old = run_need(r, graph_find(&g, "moved.unedited"));
    assert_memory_equal(moved, old + 300, 300 * sizeof(float));
    assert_memory_equal(run_need(r, graph_find(&g, "mid")), run_need(r, graph_find(&g, "tokens")),
                        7 * 300 * sizeof(float));
    run_free(r);
    graph_free(&g);
    run_free(base);
    graph_free(&s.g);
}

static void formulas_and_costs(void **state)
{
    (void)state;
    Small s;
    small_model(&s);
    Buf b = {0};
    graph_formula(&s.g, graph_find(&s.g, "blocks.0.attn.scores_raw"), &b);
    assert_string_equal(buf_str(&b), "scores_raw[h,t,u] = Σ_e q[t,h,e] · k[u,h,e]");
    buf_clear(&b);
    graph_formula(&s.g, graph_find(&s.g, "blocks.0.attn.q"), &b);
    assert_string_equal(buf_str(&b), "q[t,h,e] = Σ_d ln.normalized[t,d] · w_q[h,e,d]");
    buf_clear(&b);
    graph_formula(&s.g, graph_find(&s.g, "blocks.0.attn.row_max"), &b);
    assert_string_equal(buf_str(&b), "row_max[h,t] = max_u scores_scaled[h,t,u]");
    buf_free(&b);
    Cost c = graph_cost(&s.g, graph_find(&s.g, "blocks.0.attn.q"));
    assert_true(c.flops == 2.0 * 7 * 10 * 300 && c.bytes == 4.0 * 70 && c.params == 0);
    assert_true(graph_scope_cost(&s.g, "").params == 300 * 12 + 300 + 3 * 10 * 300 + 300 * 10 + 9 * 300);
    assert_true(graph_scope_cost(&s.g, "blocks.0.attn").params == 4 * 3000);
    graph_free(&s.g);
}

/* A word typed without the mark is the piece that a text goes on with; of a text's tokens the one that is spelt so. */
static void words_without_their_mark(void **state)
{
    (void)state;
    const char *const pieces[] = {"it", "Ġit", "Ġthe", "s", "as", "▁as"};
    Axis v = {.sym = "v", .n = 6, .kind = AXIS_CLASS, .labels = pieces},
         t = {.sym = "t", .n = 6, .kind = AXIS_TOKEN, .prefix = 6};
    int i;
    t.labels = pieces;
    assert_true(axis_parse(&v, "it", &i) && i == 1);
    assert_true(axis_parse(&v, "as", &i) && i == 5);
    assert_true(axis_parse(&v, "the", &i) && i == 2);
    assert_true(axis_parse(&v, "Ġit", &i) && i == 1);
    assert_true(axis_parse(&v, "s", &i) && i == 3);
    assert_true(axis_parse(&v, "0", &i) && i == 0);
    assert_true(axis_parse(&t, "it", &i) && i == 0);
    assert_true(axis_parse(&t, "the", &i) && i == 2);
    assert_false(axis_parse(&v, "them", &i));
}

static void labels_and_parsing(void **state)
{
    (void)state;
    const char *const prefix[] = {"cls", "reg0"};
    Axis t = {.sym = "t", .n = 14, .kind = AXIS_TOKEN, .prefix = 2, .cols = 4, .labels = prefix};
    char out[32];
    int i, row, col;
    assert_string_equal(axis_label(&t, 1, out, sizeof out), "reg0");
    assert_string_equal(axis_label(&t, 7, out, sizeof out), "r1c1");
    assert_true(axis_parse(&t, "r2c3", &i) && i == 13);
    assert_true(axis_parse(&t, "cls", &i) && i == 0);
    assert_true(axis_parse(&t, "13", &i) && i == 13);
    assert_false(axis_parse(&t, "14", &i));
    assert_false(axis_parse(&t, "r3c0", &i));
    assert_false(axis_parse(&t, "r0c4", &i));
    assert_false(axis_parse(&t, "r1c1x", &i));
    assert_false(axis_parse(&t, "-1", &i));
    assert_false(axis_parse(&t, "", &i));
    assert_false(axis_parse(&t, "r 1c1", &i));
    assert_false(axis_parse(&t, "r-1c0", &i));
    assert_false(axis_parse(&t, "r99999999999999999999c0", &i));
    Axis c = {.sym = "c", .n = 2, .kind = AXIS_COLOUR};
    assert_string_equal(axis_label(&c, 1, out, sizeof out), "1"); /* two channels are no red and green */
    c.n = 3;
    assert_string_equal(axis_label(&c, 1, out, sizeof out), "G");
    const char *const pieces[] = {"▁the", "▁", "ĠLily", "▁on", "Ġon", "off", "▁off"};
    Axis v = {.sym = "v", .n = 7, .kind = AXIS_CLASS, .labels = pieces};
    assert_true(axis_parse(&v, "the", &i) && i == 0); /* as it is typed, without the tokeniser's blank */
    assert_true(axis_parse(&v, "Lily", &i) && i == 2);
    assert_true(axis_parse(&v, "off", &i) && i == 6); /* of both, as a text goes on */
    assert_false(axis_parse(&v, "on", &i));           /* of two neither */
    assert_false(axis_parse(&v, "", &i));
    const char *const texts[] = {"日", "<0xE6>", "Ġoù", "<0xE6>#2"};
    Axis b = {.sym = "u", .n = 4, .kind = AXIS_CLASS, .labels = texts};
    static const char *const STORED[] = {"æĹ¥", "æ", "oÃ¹", "æ#2"};
    for (int k = 0; k < 4; k++) {
        b.bytes = true;
        assert_true(axis_parse(&b, texts[k], &i) && i == k);
        assert_true(axis_parse(&b, STORED[k], &i) && i == k); /* as a byte-level tokeniser has it */
        b.bytes = false;
        assert_false(axis_parse(&b, STORED[k], &i));
    }
    assert_true(axis_patch(&t, 7, &row, &col) && row == 1 && col == 1);
    assert_false(axis_patch(&t, 1, &row, &col));
}

/* The class token's row is the same for every picture until it is mixed with others; what was found is remembered. */
static void cells_depend_on_the_input_one_by_one(void **state)
{
    (void)state;
    enum { TOKENS = 600 };
    Small s = {0};
    Vary v;
    graph_init(&s.g);
    s.t = axis(&s, "t", TOKENS);
    s.n = axis(&s, "n", 1);
    s.p = axis(&s, "p", TOKENS - 1);
    s.d = axis(&s, "d", 2);
    Dims patches = DIMS(s.p, s.d);
    NodeId cls = weight(&s, "cls", DIMS(s.n, s.d), 1),
           input = graph_leaf(&s.g, "input", patches, (Leaf){LEAF_INPUT, random_values(&s.g, patches, 2), "test"}),
           all = graph_concat(&s.g, "all", cls, s.n, input, s.p, s.t),
           sums = graph_reduce(&s.g, "sums", OP_SUM, all, DIMS(s.t)),
           total = graph_reduce(&s.g, "total", OP_SUM, sums, DIMS_SCALAR);
    vary_init(&v, &s.g);
    for (int again = 0; again < 2; again++)
        for (size_t t = 0; t < TOKENS; t++)
            assert_int_equal(vary_cell(&v, sums, t), t > 0);
    assert_true(vary_cell(&v, total, 0) && vary_cell(&v, input, 0) && !vary_cell(&v, cls, 0));
    vary_free(&v);
    graph_free(&s.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_explains_itself),
        cmocka_unit_test(contraction_matches_its_definition),
        cmocka_unit_test(the_hash_does_not_depend_on_how),
        cmocka_unit_test(forgotten_values_come_back_identical),
        cmocka_unit_test(together_or_alone),
        cmocka_unit_test(large_contractions_match_their_definition),
        cmocka_unit_test(edits_share_what_they_do_not_touch),
        cmocka_unit_test(masks_forbid_and_dead_rows_are_zero),
        cmocka_unit_test(redirect_gather_scale_and_values),
        cmocka_unit_test(formulas_and_costs),
        cmocka_unit_test(labels_and_parsing),
        cmocka_unit_test(words_without_their_mark),
        cmocka_unit_test(dead_rows_in_many_blocks),
        cmocka_unit_test(edited_analyses_stay_out_of_the_hash),
        cmocka_unit_test(cells_depend_on_the_input_one_by_one),
    };
    return cmocka_run_group_tests_name("core/graph", tests, NULL, NULL);
}
