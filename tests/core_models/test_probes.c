/* Analyses behind the forward pass: right numbers, no influence on the pass, and they explain themselves. */
#include "tests/core_models/probe_test.h"

#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "core/models/names.h"

static void test_row_statistics(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    NodeId n;
    size_t heads = (size_t)c.heads, tokens = (size_t)vit_tokens(&c);
    const float *pattern = value(&b, "blocks.1.attn.pattern", &n),
                *scores = value(&b, "blocks.1.attn.scores_scaled", &n);
    const float *entropy = value(&b, "blocks.1.attn.probe.entropy", &n),
                *largest = value(&b, "blocks.1.attn.probe.largest", &n);
    const float *sum = value(&b, "blocks.1.attn.probe.row_sum", &n),
                *variance = value(&b, "blocks.1.attn.probe.score_variance", &n);
    const float *mean = value(&b, "blocks.1.attn.probe.mean_pattern", &n);
    for (size_t row = 0; row < heads * tokens; row++) {
        double h = 0, total = 0, top = 0, m = 0, v = 0;
        for (size_t u = 0; u < tokens; u++) {
            double p = (double)pattern[row * tokens + u];
            h -= p > 0 ? p * log(p) : 0;
            total += p;
            top = p > top ? p : top;
            m += (double)scores[row * tokens + u] / (double)tokens;
        }
        for (size_t u = 0; u < tokens; u++)
            v += pow((double)scores[row * tokens + u] - m, 2) / (double)tokens;
        near((double)entropy[row], h, "entropy");
        near((double)sum[row], total, "row sum");
        near((double)variance[row], v, "variance");
        assert_true((double)largest[row] == top);
        assert_true(v > 0);
    }
    for (size_t i = 0; i < tokens * tokens; i++) {
        double m = 0;
        for (size_t h = 0; h < heads; h++)
            m += (double)pattern[h * tokens * tokens + i] / (double)heads;
        near((double)mean[i], m, "mean pattern");
    }
    bench_free(&b);
}

static void mask_row_and_columns(Edit e[2], int t, int u)
{
    e[0] = (Edit){.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .cells = {.n = 1, .range = {{u, 1, 3}}}};
    e[1] = (Edit){.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .cells = {.n = 1, .range = {{t, 4, 5}}}};
}

static void test_masked_scores_are_left_out(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    Graph edited = {0};
    Edit e[2];
    Err err;
    mask_row_and_columns(e, graph_axis_find(&b.graph, "t"), graph_axis_find(&b.graph, "u"));
    assert_true(graph_edit(&edited, &b.graph, e, 2, &err));
    Run *r = run_new(&edited, b.run, NULL);
    size_t tokens = (size_t)vit_tokens(&c);
    const float *scores = run_need(r, graph_find(&edited, "blocks.0.attn.scores_masked"));
    const float *variance = run_need(r, graph_find(&edited, "blocks.0.attn.probe.score_variance"));
    const float *sum = run_need(r, graph_find(&edited, "blocks.0.attn.probe.row_sum"));
    const float *entropy = run_need(r, graph_find(&edited, "blocks.0.attn.probe.entropy"));
    for (size_t row = 0; row < (size_t)c.heads * tokens; row++) {
        if (row % tokens == 4) {
            assert_true(isnan(variance[row])); /* no score is left: there is no variance */
            assert_true(sum[row] == 0.0f && entropy[row] == 0.0f);
            continue;
        }
        double m = 0, v = 0;
        for (size_t u = 0; u < tokens; u++)
            m += u == 1 || u == 2 ? 0 : (double)scores[row * tokens + u] / (double)(tokens - 2);
        for (size_t u = 0; u < tokens; u++)
            v += u == 1 || u == 2 ? 0 : pow((double)scores[row * tokens + u] - m, 2) / (double)(tokens - 2);
        near((double)variance[row], v, "variance of what is left");
        near((double)sum[row], 1, "row sum");
    }
    run_free(r);
    graph_free(&edited);
    bench_free(&b);
}

static void check_cosines(Bench *b, const char *path, bool centred)
{
    NodeId n, m;
    const float *x = value(b, "pos.probe.patches", &m), *cosine = value(b, path, &n);
    size_t patches = (size_t)vit_patches(&b->model.vit), width = (size_t)b->model.vit.width;
    double *y = malloc(patches * width * sizeof *y);
    for (size_t d = 0; d < width; d++) {
        double mean = 0;
        for (size_t p = 0; p < patches; p++)
            mean += centred ? (double)x[p * width + d] / (double)patches : 0;
        for (size_t p = 0; p < patches; p++)
            y[p * width + d] = (double)x[p * width + d] - mean;
    }
    for (size_t p = 0; p < patches; p++)
        for (size_t q = 0; q < patches; q++) {
            double dot = 0, a = 0, c = 0;
            for (size_t d = 0; d < width; d++) {
                dot += y[p * width + d] * y[q * width + d];
                a += y[p * width + d] * y[p * width + d];
                c += y[q * width + d] * y[q * width + d];
            }
            near((double)cosine[p * patches + q], dot / sqrt(a * c), path);
        }
    free(y);
    assert_string_equal(b->graph.axes[graph_node(&b->graph, n)->dims.axis[1]].sym, "p0");
    assert_int_equal(b->graph.axes[graph_node(&b->graph, n)->dims.axis[1]].kind, AXIS_PATCH);
}

static void test_positions(void **state)
{
    (void)state;
    static const VitPos KINDS[] = {VIT_POS_ALL, VIT_POS_BEFORE_REGISTERS, VIT_POS_PATCHES};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        Bench b = {0};
        VitConfig c = small();
        c.pos = KINDS[i];
        c.registers = 2;
        with_probes(&b, &c);
        NodeId table, patches;
        const float *all = value(&b, "pos_embed", &table), *x = value(&b, "pos.probe.patches", &patches);
        size_t rows = graph_cells(&b.graph, table), cells = graph_cells(&b.graph, patches);
        assert_memory_equal(x, all + (rows - cells), cells * sizeof *x); /* patches stand last */
        check_cosines(&b, "pos.probe.cosine", false);
        check_cosines(&b, "pos.probe.cosine_centred", true);
        bench_free(&b);
    }
    Bench b = {0};
    VitConfig c = small();
    c.pos = VIT_POS_NONE;
    with_probes(&b, &c);
    assert_int_equal(graph_find(&b.graph, "pos.probe.cosine"), NO_NODE);
    bench_free(&b);
}

/* Nothing of the pass changes: neither the values nor their hash. */
static void test_hash_is_the_same(void **state)
{
    (void)state;
    Bench plain = {0}, probed = {0};
    VitConfig c = small();
    uint64_t a = 0, b = 0;
    bench_seeded(&plain, &c, 7);
    with_probes(&probed, &c);
    assert_true(run_step_all(plain.run, CLOCK_NEVER) && run_step_all(probed.run, CLOCK_NEVER));
    NodeId n;
    value(&probed, "blocks.0.attn.probe.entropy", &n);
    assert_true(run_hash(plain.run, &a) && run_hash(probed.run, &b));
    assert_true(a == b);
    for (NodeId i = plain.graph.count; i < probed.graph.count; i++)
        assert_true(graph_node(&probed.graph, i)->flags & NODE_PROBE);
    bench_free(&plain);
    bench_free(&probed);
}

static const float *peek(const void *run, NodeId n)
{
    return run_peek(run, n);
}

/* Every kind of model that can be opened, in one table: what differs from the small one. */
typedef struct Kind {
    const char *what;
    bool guesses, no_cls, dist, post_norm, no_final, fc_norm, no_bias;
    int registers, classes;
    VitPos pos;
    VitPool pool;
} Kind;
static const Kind KINDS[] = {
    {.what = "cls", .classes = 5, .pos = VIT_POS_ALL},
    {.what = "hidden patches are guessed", .guesses = true, .classes = 5, .pos = VIT_POS_ALL},
    {.what = "registers", .classes = 5, .registers = 2, .pos = VIT_POS_BEFORE_REGISTERS},
    {.what = "mean of patches with cls",
     .classes = 5,
     .pos = VIT_POS_ALL,
     .pool = VIT_POOL_MEAN,
     .no_final = true,
     .fc_norm = true},
    {.what = "mean of patches, nothing in front",
     .no_cls = true,
     .classes = 5,
     .pos = VIT_POS_PATCHES,
     .pool = VIT_POOL_MEAN},
    {.what = "two heads", .dist = true, .registers = 1, .classes = 3, .pos = VIT_POS_ALL, .pool = VIT_POOL_CLS_DIST},
    {.what = "post-norm without biases",
     .post_norm = true,
     .no_bias = true,
     .no_final = true,
     .classes = 1,
     .pos = VIT_POS_NONE},
    {.what = "no head", .classes = 0, .pos = VIT_POS_ALL},
    {.what = "nothing read out", .no_cls = true, .classes = 0, .pos = VIT_POS_ALL, .pool = VIT_POOL_NONE},
};

static VitConfig of_kind(const Kind *k)
{
    VitConfig c = small();
    c.image_h = 16; /* not square: rows and columns must not be mixed up */
    c.patch_h = 4;
    c.layers = 2;
    c.mask_token = c.reconstruct = k->guesses;
    c.cls = !k->no_cls;
    c.dist = k->dist;
    c.registers = k->registers;
    c.classes = k->classes;
    c.pos = k->pos;
    c.pool = k->pool;
    c.post_norm = k->post_norm;
    c.final_norm = !k->no_final;
    c.fc_norm = k->fc_norm;
    if (k->no_bias)
        c.patch_bias = c.qkv_bias = c.out_bias = c.mlp_bias = c.head_bias = false;
    return c;
}

static void check_text(const Node *node)
{
    const NodeText *t = node_text(node->path);
    if (!t || utf8_cells(t->sentence) > NODE_SENTENCE_CELLS || utf8_cells(t->label) > NODE_LABEL_CELLS ||
        !*t->sentence || strstr(t->pattern, "**"))
        fail_msg("%s has no fitting text of its own", node->path);
}

static void check_explained(Bench *b, const char *what)
{
    const Graph *g = &b->graph;
    int probes = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!(node->flags & NODE_PROBE))
            continue;
        probes++;
        check_text(node);
        assert_int_equal(graph_find(g, node->path), n); /* no name twice */
        const float *x = run_need(b->run, n);
        for (int k = 0; k < op_inputs(node->op); k++)
            run_need(b->run, node->in[k]);                        /* what is derived is there only when asked for */
        size_t cells = graph_cells(g, n), step = cells / 997 + 1; /* all cells, or some everywhere */
        for (size_t cell = 0; cell < cells; cell += step) {
            Explain e = explain_open(g, n, cell);
            float folded = explain_fold(&e, peek, b->run);
            if (memcmp(&folded, &x[cell], sizeof folded) != 0)
                fail_msg("%s: %s[%zu]: %.9g, folded %.9g", what, node->path, cell, (double)x[cell], (double)folded);
        }
    }
    assert_true(probes > 150);
}

static void test_every_probe_is_explained_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        Bench b = {0};
        VitConfig c = of_kind(&KINDS[i]);
        with_probes(&b, &c);
        check_explained(&b, KINDS[i].what);
        bench_free(&b);
    }
}

static void has(Bench *b, const char *what, const char *path, bool wanted)
{
    if ((graph_find(&b->graph, path) != NO_NODE) != wanted)
        fail_msg("%s: %s is %s", what, path, wanted ? "missing" : "there but makes no sense");
}

static void test_absent_where_it_makes_no_sense(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const Kind *k = &KINDS[i];
        Bench b = {0};
        VitConfig c = of_kind(k);
        with_probes(&b, &c);
        has(&b, k->what, "blocks.1.lens.probs", k->classes > 0);
        has(&b, k->what, "embed.lens.probs", k->classes > 0);
        has(&b, k->what, "readout_mean.probs", k->classes > 0 && k->pool != VIT_POOL_MEAN);
        has(&b, k->what, "readout_cls.probs", k->classes > 0 && k->pool == VIT_POOL_MEAN && !k->no_cls);
        has(&b, k->what, "pos.probe.rank_correlation", k->pos != VIT_POS_NONE);
        has(&b, k->what, "rollout.patches", true);
        has(&b, k->what, "blocks.0.attn.probe.distance", true);
        bench_free(&b);
    }
}

/* The smallest picture there is: one patch, one token, one number per token. */
static void test_one_of_everything(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    c.image_h = c.image_w = c.patch_h = c.patch_w = c.channels = c.width = c.heads = c.head_dim = c.mlp = c.classes =
        c.layers = 1;
    c.cls = false;
    c.pool = VIT_POOL_MEAN;
    with_probes(&b, &c);
    NodeId n;
    for (NodeId i = 0; i < b.graph.count; i++)
        assert_non_null(run_need(b.run, i));
    assert_true(value(&b, "rollout.patches", &n)[0] == 1.0f);
    assert_true(value(&b, "blocks.0.attn.probe.distance", &n)[0] == 0.0f);
    assert_true(value(&b, "blocks.0.attn.probe.jacobian", &n)[0] == 0.0f);
    has(&b, "one token", "blocks.0.attn.probe.entropy_share", false);
    has(&b, "one place", "pos.probe.share4", false);
    has(&b, "one filter", "patch_embed.probe.components", false);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_statistics),
        cmocka_unit_test(test_masked_scores_are_left_out),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_hash_is_the_same),
        cmocka_unit_test(test_every_probe_is_explained_and_named),
        cmocka_unit_test(test_absent_where_it_makes_no_sense),
        cmocka_unit_test(test_one_of_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
