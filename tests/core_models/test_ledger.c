/* The ledger: its entries are nodes that explain themselves, and they add up to the number. */
#include "tests/core_models/probe_test.h"
#include "tests/core_models/variants.h"

#include "core/graph/explain.h"
#include "core/models/drawn.h"
#include "core/models/ledger.h"

static float scalar(Run *r, NodeId n)
{
    return run_need(r, n)[0];
}

/* The largest single entry: of heads by token, of rows by row. */
static float largest_entry(const Graph *g, Run *r, const Ledger *l)
{
    float most = 0;
    for (int i = 0; i < l->count; i++) {
        const LedgerEntry *e = &l->entry[i];
        NodeId n = e->tokens != NO_NODE ? e->tokens : e->rows != NO_NODE ? e->rows : e->total;
        const float *x = run_need(r, n);
        for (size_t k = 0; k < graph_cells(g, n); k++)
            most = fmaxf(most, fabsf(x[k]));
    }
    return most;
}

static double checked_remainder(const Graph *g, Run *r, const Ledger *l, const char *what)
{
    float most = largest_entry(g, r, l), rest = scalar(r, l->remainder);
    if (!(fabsf(rest) <= 1e-5f * most) || most == 0)
        fail_msg("%s: remainder %g of %g, largest entry %g", what, (double)rest, (double)scalar(r, l->value),
                 (double)most);
    return (double)(fabsf(rest) / most);
}

static const float *values_of(const void *run, NodeId n)
{
    return run_need((Run *)(uintptr_t)run, n);
}

/* Every cell of every node that the ledger appended is the fold of its terms. */
static void explains_itself(const Graph *g, Run *r, NodeId first)
{
    size_t cells = 0;
    for (NodeId n = first; n < g->count; n++) {
        const float *stored = run_need(r, n);
        if (graph_node(g, n)->op == OP_LEAF)
            continue;
        Explain e = explain_open(g, n, 0);
        for (size_t c = 0; c < graph_cells(g, n); c++, cells++) {
            explain_move(&e, c);
            float x = explain_fold(&e, values_of, r);
            if (memcmp(&x, &stored[c], sizeof x) != 0)
                fail_msg("%s[%zu]: %g, folded %g", graph_node(g, n)->path, c, (double)stored[c], (double)x);
        }
    }
    assert_true(cells > 100);
}

static Ledger ledger_of(Bench *b, NodeId y, size_t cell, size_t against)
{
    Ledger l;
    Err err = {""};
    if (!ledger_add(&b->graph, y, cell, against, &l, &err))
        fail_msg("%s", err.text);
    run_extend(b->run);
    return l;
}

static void test_every_kind_of_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        VitConfig c = variant(i);
        Bench b;
        bench_seeded(&b, &c, 3);
        NodeId y = b.nodes.logits != NO_NODE ? b.nodes.logits : b.nodes.tokens_out, first = b.graph.count;
        if (c.pool == VIT_POOL_ATTENTION) { /* its MLP stands between the stream and the logits: no sum of parts */
            Ledger none;
            Err err = {""};
            assert_int_equal(ledger_add(&b.graph, y, 1, LEDGER_ALONE, &none, &err), b.nodes.logits == NO_NODE);
            bench_free(&b);
            continue;
        }
        Ledger l = ledger_of(&b, y, 1, LEDGER_ALONE);
        checked_remainder(&b.graph, b.run, &l, VARIANTS[i].what);
        assert_true(scalar(b.run, l.value) == run_need(b.run, y)[1]);
        explains_itself(&b.graph, b.run, first);
        int heads = 0, mlps = 0;
        for (int k = 0; k < l.count; k++) {
            heads += l.entry[k].kind == LEDGER_HEADS;
            mlps += l.entry[k].kind == LEDGER_MLP;
            assert_true(l.entry[k].kind != LEDGER_PUT_IN);
        }
        assert_int_equal(heads, c.layers);
        assert_int_equal(mlps, c.layers);
        bench_free(&b);
    }
}

/* What head h of the last block wrote into a logit by looking at token u, here in double from the definition. */
static double by_hand(Bench *b, int h, int u, int o)
{
    const VitConfig *c = &b->model.vit;
    char path[64];
    int last = c->layers - 1, d_k = c->head_dim, t = vit_tokens(c);
    const float *w = bench_values(b, "head.weight"), *gamma = bench_values(b, "ln_final.gamma");
    double rstd = (double)bench_values(b, "ln_final.rstd")[0], mean = 0, sum = 0;
    Dims hd = graph_node(&b->graph, graph_find(&b->graph, "head.weight"))->dims;
    bool class_first = strcmp(b->graph.axes[hd.axis[0]].sym, "o") == 0;
    snprintf(path, sizeof path, "blocks.%d.attn.pattern", last);
    double weight = (double)bench_values(b, path)[((size_t)h * (size_t)t) * (size_t)t + (size_t)u];
    snprintf(path, sizeof path, "blocks.%d.attn.v", last);
    const float *v = bench_values(b, path) + ((size_t)u * (size_t)c->heads + (size_t)h) * (size_t)d_k;
    snprintf(path, sizeof path, "blocks.%d.attn.w_o", last);
    const float *w_o = bench_values(b, path);
    Dims wd = graph_node(&b->graph, graph_find(&b->graph, path))->dims;
    bool d_first = strcmp(b->graph.axes[wd.axis[0]].sym, "d") == 0;
    double toward[1024];
    for (int d = 0; d < c->width; d++) {
        toward[d] = (double)gamma[d] * (double)w[class_first ? o * c->width + d : d * c->classes + o] * rstd;
        mean += toward[d] / c->width;
    }
    for (int d = 0; d < c->width; d++)
        for (int e = 0; e < d_k; e++)
            sum += (toward[d] - mean) * (double)v[e] *
                   (double)w_o[d_first ? (d * c->heads + h) * d_k + e : (h * d_k + e) * c->width + d];
    return weight * sum;
}

static void test_an_entry_by_hand(void **state)
{
    (void)state;
    VitConfig c = small();
    Bench b;
    c.layers = 2;
    bench_seeded(&b, &c, 11);
    Ledger l = ledger_of(&b, b.nodes.logits, 2, LEDGER_ALONE);
    assert_int_equal(l.token, 0);
    NodeId n = graph_find(&b.graph, "ledger.blocks.1.attn.z.tokens");
    assert_true(n != NO_NODE &&
                dims_equal(graph_node(&b.graph, n)->dims,
                           graph_node(&b.graph, graph_find(&b.graph, "ledger.blocks.1.attn.z.row"))->dims));
    const float *got = run_need(b.run, n);
    for (int h = 0; h < c.heads; h++)
        for (int u = 0; u < vit_tokens(&c); u++) {
            double want = by_hand(&b, h, u, 2), x = (double)got[h * vit_tokens(&c) + u];
            if (!(fabs(x - want) <= 1e-5 * fmax(fabs(want), 0.01)))
                fail_msg("head %d, token %d: %.9g, by hand %.9g", h, u, x, want);
        }
    bench_free(&b);
}

/* The model in the binary, from its checkpoint, at one of the pictures it was made for. */
static void bundled_bench(Bench *b)
{
    Err err = {""};
    uint8_t rgb[DRAWN_SIDE * DRAWN_SIDE * 3];
    *b = (Bench){0};
    if (!model_load(&b->model, "assets/trained", NULL, NULL, &err))
        fail_msg("%s", err.text);
    size_t n = bench_pixels(&b->model.vit);
    assert_int_equal(n, sizeof rgb);
    drawn_picture(17, rgb, NULL);
    b->pixels = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        b->pixels[i] = (float)rgb[i % (n / 3) * 3 + i / (n / 3)];
    bench_start(b);
}

/* One class against another: the difference of their ledgers. */
static void test_one_class_against_another(void **state)
{
    (void)state;
    Bench b;
    bundled_bench(&b);
    NodeId start = b.graph.count;
    Ledger l = ledger_of(&b, b.nodes.logits, 3, LEDGER_ALONE);
    NodeId n = graph_find(&b.graph, "ledger.blocks.2.attn.z.heads");
    float one[4], other[4];
    memcpy(one, run_need(b.run, n), sizeof one);
    checked_remainder(&b.graph, b.run, &l, "bundled");
    run_shrink(b.run, start);
    graph_truncate(&b.graph, start);
    l = ledger_of(&b, b.nodes.logits, 5, LEDGER_ALONE);
    memcpy(other, run_need(b.run, graph_find(&b.graph, "ledger.blocks.2.attn.z.heads")), sizeof other);
    run_shrink(b.run, start);
    graph_truncate(&b.graph, start);
    l = ledger_of(&b, b.nodes.logits, 3, 5);
    checked_remainder(&b.graph, b.run, &l, "bundled, against another");
    const float *logits = run_need(b.run, b.nodes.logits),
                *both = run_need(b.run, graph_find(&b.graph, "ledger.blocks.2.attn.z.heads"));
    assert_true(fabsf(scalar(b.run, l.value) - (logits[3] - logits[5])) <= 1e-6f * fabsf(logits[3]));
    for (int h = 0; h < 4; h++)
        if (!(fabsf(both[h] - (one[h] - other[h])) <= 1e-5f))
            fail_msg("head %d: %g, %g − %g", h, (double)both[h], (double)one[h], (double)other[h]);
    bench_free(&b);
}

/* A cell of the stream in the middle, of a token that is no class token. */
static void test_a_cell_of_the_stream(void **state)
{
    (void)state;
    Bench b;
    bundled_bench(&b);
    NodeId y = graph_find(&b.graph, "blocks.2.resid_mid");
    size_t width = (size_t)b.model.vit.width;
    Ledger l = ledger_of(&b, y, 7 * width + 13, LEDGER_ALONE);
    assert_int_equal(l.token, 7);
    checked_remainder(&b.graph, b.run, &l, "a cell of the stream");
    for (int i = 0; i < l.count; i++)
        assert_true(l.entry[i].layer < 2 || (l.entry[i].layer == 2 && l.entry[i].kind != LEDGER_MLP));
    const float *rows = run_need(b.run, graph_find(&b.graph, "ledger.patch_embed.out_nobias.rows"));
    for (int p = 0; p < vit_patches(&b.model.vit); p++)
        assert_true((rows[p] != 0) == (p == 6)); /* token 7 is patch 6 */
    bench_free(&b);
}

static void edited(Bench *b, const Edit *edits, int count, const char *what)
{
    Graph g = {0};
    Err err = {""};
    Ledger l;
    if (!graph_edit(&g, &b->graph, edits, count, &err))
        fail_msg("%s: %s", what, err.text);
    NodeId y = graph_find(&g, "logits"), first = g.count;
    if (!ledger_add(&g, y, 4, 2, &l, &err))
        fail_msg("%s: %s", what, err.text);
    Run *r = run_new(&g, b->run, NULL);
    checked_remainder(&g, r, &l, what);
    explains_itself(&g, r, first);
    assert_true(run_need(r, y)[4] != bench_values(b, "logits")[4]);
    run_free(r);
    graph_free(&g);
}

static int axis_named(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    fail_msg("no axis %s", sym);
    return AXIS_NONE;
}

static void test_edited_runs(void **state)
{
    (void)state;
    Bench b;
    bundled_bench(&b);
    const Graph *g = &b.graph;
    Selection head = {1, {{axis_named(g, "h"), 1, 2}}}, token = {1, {{axis_named(g, "t"), 0, 5}}};
    size_t cells = graph_cells(g, graph_find(g, "blocks.1.mlp.out"));
    float *other = malloc(cells * sizeof *other);
    for (size_t i = 0; i < cells; i++)
        other[i] = (float)(i % 17) * 0.1f;
    int order[65];
    for (int i = 0; i < 65; i++)
        order[i] = (i * 3 + 1) % 65;
    const struct {
        const char *what;
        Edit edit;
    } cases[] = {
        {"head off", {.kind = EDIT_ZERO, .path = "blocks.0.attn.z", .cells = head}},
        {"head's mean", {.kind = EDIT_MEAN, .path = "blocks.1.attn.z", .cells = head, .axis = axis_named(g, "t")}},
        {"value", {.kind = EDIT_SET, .path = "blocks.1.resid_post", .cells = token, .value = 0.5f}},
        {"scale", {.kind = EDIT_SCALE, .path = "blocks.2.attn.out", .cells = token, .factor = 3}},
        {"scale off", {.kind = EDIT_SCALE, .path = "blocks.0.attn.scale", .factor = 4}},
        {"mask", {.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .cells = token}},
        {"skip", {.kind = EDIT_REDIRECT, .path = "blocks.1.resid_mid", .other = "blocks.1.resid_pre"}},
        {"shuffle", {.kind = EDIT_GATHER, .path = "full_embed", .axis = axis_named(g, "t"), .index = order}},
        {"patched", {.kind = EDIT_VALUES, .path = "blocks.1.mlp.out", .data = other}},
        {"no positions", {.kind = EDIT_ZERO, .path = "pos_embed"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Edit e = cases[i].edit;
        e.axis = e.kind == EDIT_MEAN || e.kind == EDIT_GATHER ? e.axis : AXIS_NONE;
        edited(&b, &e, 1, cases[i].what);
    }
    Edit two[] = {cases[0].edit, cases[8].edit};
    edited(&b, two, 2, "two edits");
    free(other);
    bench_free(&b);
}

/* The entries of a head that is off are 0, and are called what they were called. */
static void test_a_head_that_is_off_writes_nothing(void **state)
{
    (void)state;
    Bench b;
    Graph g = {0};
    Err err = {""};
    Ledger l;
    bundled_bench(&b);
    Edit e = {.kind = EDIT_ZERO, .path = "blocks.0.attn.z", .cells = {1, {{axis_named(&b.graph, "h"), 1, 2}}}};
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err) &&
                ledger_add(&g, graph_find(&g, "logits"), 0, LEDGER_ALONE, &l, &err));
    Run *r = run_new(&g, b.run, NULL);
    NodeId n = graph_find(&g, "ledger.blocks.0.attn.z.heads");
    assert_true(n != NO_NODE);
    const float *x = run_need(r, n);
    assert_true(x[1] == 0 && x[0] != 0 && x[2] != 0);
    run_free(r);
    graph_free(&g);
    bench_free(&b);
}

static void refused(Graph *g, const char *path, const char *says)
{
    Err err = {""};
    Ledger l;
    if (ledger_add(g, graph_find(g, path), 0, LEDGER_ALONE, &l, &err) || !strstr(err.text, says))
        fail_msg("%s: '%s'", path, err.text);
}

static void test_what_is_no_sum_is_refused(void **state)
{
    (void)state;
    Bench b;
    Err err = {""};
    bundled_bench(&b);
    refused(&b.graph, "probs", "not a sum of what the blocks wrote");
    refused(&b.graph, "blocks.1.attn.pattern", "not a sum of what the blocks wrote");
    refused(&b.graph, "blocks.1.mlp.post", "not a sum of what the blocks wrote");
    refused(&b.graph, "ln_final.var", "not a sum of what the blocks wrote");
    refused(&b.graph, "blocks.1.attn.scores_raw", "not a sum of what the blocks wrote");
    Graph g = {0};
    Edit e = {.kind = EDIT_MAP, .path = "blocks.1.resid_mid", .map = MAP_ROUND_BF16};
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
    refused(&g, "logits", "precision f32");
    graph_free(&g);
    Ledger l;
    assert_true(ledger_add(&b.graph, graph_find(&b.graph, "readout"), 0, LEDGER_ALONE, &l, &err));
    bench_free(&b);
}

/* A model as large as ViT-B/16 at 224 × 224, of two of its read-outs. */
static void test_a_large_model(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Bench b;
    bench_seeded(&b, &c, 5);
    Ledger l = ledger_of(&b, b.nodes.logits, 281, 282);
    print_message("ViT-B: remainder %.2g of the largest entry\n", checked_remainder(&b.graph, b.run, &l, "ViT-B"));
    bench_free(&b);
    c.pool = VIT_POOL_MEAN;
    c.layers = 3;
    bench_seeded(&b, &c, 5);
    l = ledger_of(&b, b.nodes.logits, 281, LEDGER_ALONE);
    assert_int_equal(l.token, -1);
    print_message("mean of patches: %.2g\n", checked_remainder(&b.graph, b.run, &l, "ViT-B/3, mean of the patches"));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_model),
        cmocka_unit_test(test_an_entry_by_hand),
        cmocka_unit_test(test_one_class_against_another),
        cmocka_unit_test(test_a_cell_of_the_stream),
        cmocka_unit_test(test_edited_runs),
        cmocka_unit_test(test_a_head_that_is_off_writes_nothing),
        cmocka_unit_test(test_what_is_no_sum_is_refused),
        cmocka_unit_test(test_a_large_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
