/* Analyses behind the forward pass: right numbers, no influence on the pass, and they explain themselves. */
#include "tests/core_models/oracle.h"

#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "core/models/names.h"
#include "core/models/probes.h"

static const float *value(Bench *b, const char *path, NodeId *n)
{
    *n = graph_find(&b->graph, path);
    if (*n == NO_NODE)
        fail_msg("no node %s", path);
    return run_need(b->run, *n);
}

static void near(double x, double want, const char *what)
{
    if (!(fabs(x - want) <= 1e-5 * (fabs(want) > 1 ? fabs(want) : 1)))
        fail_msg("%s: %.9g, expected %.9g", what, x, want);
}

static VitConfig small(void)
{
    VitConfig c;
    bool found = model_size("tiny", &c);
    assert_true(found);
    return c;
}

static void with_probes(Bench *b, const VitConfig *c)
{
    bench_seeded(b, c, 7);
    probes_add(&b->graph, &b->model.vit, &b->nodes);
    run_extend(b->run);
}

static void test_row_statistics(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    NodeId n;
    size_t heads = (size_t)c.heads, tokens = (size_t)vit_tokens(&c);
    const float *pattern = value(&b, "blocks.1.attn.pattern", &n), *scores = value(&b, "blocks.1.attn.scores_scaled", &n);
    const float *entropy = value(&b, "blocks.1.attn.probe.entropy", &n), *largest = value(&b, "blocks.1.attn.probe.largest", &n);
    const float *sum = value(&b, "blocks.1.attn.probe.row_sum", &n), *variance = value(&b, "blocks.1.attn.probe.score_variance", &n);
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

static int axis(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
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
    mask_row_and_columns(e, axis(&b.graph, "t"), axis(&b.graph, "u"));
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

static void test_every_probe_is_explained_and_named(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    c.registers = 1;
    with_probes(&b, &c);
    const Graph *g = &b.graph;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!(node->flags & NODE_PROBE))
            continue;
        const NodeText *t = node_text(node->path);
        if (!t || utf8_cells(t->sentence) > NODE_SENTENCE_CELLS || utf8_cells(t->label) > NODE_LABEL_CELLS || !*t->sentence || strstr(t->pattern, "**"))
            fail_msg("%s has no fitting text of its own", node->path);
        for (int k = 0; k < op_inputs(node->op); k++)
            run_need(b.run, node->in[k]); /* what is derived is there only when asked for */
        const float *x = run_need(b.run, n);
        for (size_t cell = 0; cell < graph_cells(g, n); cell++) {
            Explain e = explain_open(g, n, cell);
            float folded = explain_fold(&e, peek, b.run);
            if (memcmp(&folded, &x[cell], sizeof folded) != 0)
                fail_msg("%s[%zu]: %.9g, folded %.9g", node->path, cell, (double)x[cell], (double)folded);
        }
    }
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
