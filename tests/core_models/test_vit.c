/* Every knob of the Vision Transformer builds, runs and has the right shapes; the map and the texts cover every node.
 */
#include "tests/core_models/variants.h"

#include "core/base/utf8.h"
#include "core/models/names.h"
#include "core/models/stages.h"

static void shape_is(const Graph *g, const char *path, const char *shape)
{
    Buf b = {0};
    NodeId n = graph_find(g, path);
    if (n == NO_NODE)
        fail_msg("no node '%s'", path);
    graph_shape_text(g, graph_node(g, n)->dims, &b);
    if (strcmp(buf_str(&b), shape) != 0)
        fail_msg("%s is %s, expected %s", path, buf_str(&b), shape);
    buf_free(&b);
}

static void every_knob_runs(void **state)
{
    (void)state;
    uint64_t hashes[VARIANT_COUNT];
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        Bench b;
        VitConfig c = variant(i);
        char shape[64];
        bench_seeded(&b, &c, 7);
        hashes[i] = bench_hash(&b);
        snprintf(shape, sizeof shape, "[h=%d,t=%d,u=%d]", c.heads, vit_tokens(&c), vit_tokens(&c));
        shape_is(&b.graph, "blocks.0.attn.pattern", shape);
        snprintf(shape, sizeof shape, "[t=%d,d=%d]", vit_tokens(&c), c.width);
        shape_is(&b.graph, "full_embed", shape);
        shape_is(&b.graph, c.post_norm ? c.rms_norm ? "blocks.1.rms2.out" : "blocks.1.ln2.out" : "blocks.1.resid_post",
                 shape);
        NodeId end = b.nodes.probs != NO_NODE     ? b.nodes.probs
                     : b.nodes.readout != NO_NODE ? b.nodes.readout
                                                  : b.nodes.tokens_out;
        const float *out = run_need(b.run, end);
        for (size_t k = 0; k < graph_cells(&b.graph, end); k++)
            if (!isfinite(out[k]))
                fail_msg("%s: not finite", VARIANTS[i].what);
        assert_int_equal(b.nodes.probs != NO_NODE, c.classes > 0);
        assert_int_equal((size_t)graph_scope_cost(&b.graph, "").params, vit_params(&c));
        bench_free(&b);
        for (size_t k = 0; k < i; k++)
            if (hashes[k] == hashes[i])
                fail_msg("'%s' and '%s' give the same trace", VARIANTS[k].what, VARIANTS[i].what);
    }
}

static void names_and_axes(void **state)
{
    (void)state;
    Bench b;
    VitConfig c = variant(0);
    bench_seeded(&b, &c, 1);
    shape_is(&b.graph, "pixels", "[c=3,y=4,i=8,x=4,j=8]");
    shape_is(&b.graph, "patch_embed.out_nobias", "[y=4,x=4,d=32]");
    shape_is(&b.graph, "patch_embed", "[p=16,d=32]");
    shape_is(&b.graph, "cls", "[n=1,d=32]");
    shape_is(&b.graph, "pos_embed", "[t=17,d=32]");
    shape_is(&b.graph, "blocks.1.attn.in", "[u=17,d=32]");
    shape_is(&b.graph, "blocks.1.attn.w_q", "[h=4,e=8,d=32]");
    shape_is(&b.graph, "blocks.1.attn.q", "[t=17,h=4,e=8]");
    shape_is(&b.graph, "blocks.1.attn.k", "[u=17,h=4,e=8]");
    shape_is(&b.graph, "blocks.1.attn.scale", "[h=4]");
    shape_is(&b.graph, "blocks.1.attn.scores_raw", "[h=4,t=17,u=17]");
    shape_is(&b.graph, "blocks.1.attn.row_sum", "[h=4,t=17]");
    shape_is(&b.graph, "blocks.1.attn.z", "[t=17,h=4,e=8]");
    shape_is(&b.graph, "blocks.1.attn.w_o", "[d=32,h=4,e=8]");
    shape_is(&b.graph, "blocks.1.mlp.w_up", "[m=64,d=32]");
    shape_is(&b.graph, "blocks.1.mlp.post", "[t=17,m=64]");
    shape_is(&b.graph, "readout", "[d=32]");
    shape_is(&b.graph, "probs", "[o=5]");
    static const char *const derived[] = {"blocks.0.resid_pre",     "blocks.0.ln1.sq",
                                          "blocks.0.ln1.scaled",    "blocks.0.attn.q_nobias",
                                          "blocks.0.attn.shifted",  "blocks.0.attn.scores_scaled",
                                          "blocks.0.mlp.out_nobias"};
    static const char *const stored[] = {"blocks.0.attn.q",
                                         "blocks.0.attn.scores_raw",
                                         "blocks.0.attn.exp",
                                         "blocks.0.attn.pattern",
                                         "blocks.0.ln1.out",
                                         "blocks.0.resid_mid",
                                         "logits",
                                         "image",
                                         "patch_embed"};
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        assert_true(graph_node(&b.graph, graph_find(&b.graph, derived[i]))->flags & NODE_DERIVED);
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++)
        assert_false(graph_node(&b.graph, graph_find(&b.graph, stored[i]))->flags & NODE_DERIVED);
    char label[32];
    const Node *t = graph_node(&b.graph, graph_find(&b.graph, "full_embed"));
    assert_string_equal(axis_label(&b.graph.axes[t->dims.axis[0]], 0, label, sizeof label), "cls");
    assert_string_equal(axis_label(&b.graph.axes[t->dims.axis[0]], 8, label, sizeof label), "r1c3");
    bench_free(&b);
}

static void parameters_of_published_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        size_t params;
    } known[] = {{"b16", 86567656}, {"l16", 304326632}, {"h14", 632045800}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        VitConfig c;
        Err err = {""};
        assert_true(model_size(known[i].size, &c));
        assert_true(vit_check(&c, &err));
        assert_int_equal(vit_params(&c), known[i].params);
    }
}

static void impossible_configurations(void **state)
{
    (void)state;
    const VitConfig good = variant(0);
    VitConfig bad[16];
    size_t n = 0;
    Err err;
#define BAD(change) (bad[n] = good, bad[n].change, n++)
    BAD(width = 0);
    BAD(heads = -1);
    BAD(image_h = 33);
    BAD(patch_w = 0);
    BAD(channels = VIT_CHANNELS_MAX + 1);
    BAD(cls = false);
    BAD(pool = VIT_POOL_CLS_DIST);
    BAD(pool = VIT_POOL_NONE);
    BAD(pos = VIT_POS_BEFORE_REGISTERS);
    BAD(eps = -1);
    BAD(eps = NAN);
    BAD(scale = INFINITY);
    BAD(std[1] = 0);
    BAD(range = 0);
    BAD(layers = 1 << 30);
    BAD(registers = 1 << 20);
#undef BAD
    assert_int_equal(n, 16);
    for (size_t i = 0; i < n; i++) {
        err.text[0] = '\0';
        if (vit_check(&bad[i], &err))
            fail_msg("configuration %zu was accepted", i);
        assert_true(err.text[0] != '\0');
    }
    VitConfig huge = good;
    huge.image_h = huge.image_w = 1 << 14;
    huge.patch_h = huge.patch_w = 1;
    assert_false(vit_check(&huge, &err));
    VitConfig relative = good; /* 64 × 64 patches and no more; a class token in front and nothing else */
    relative.bias = VIT_BIAS_BLOCKS;
    relative.pos = VIT_POS_NONE;
    relative.image_h = relative.image_w = 64 * relative.patch_h;
    assert_true(vit_check(&relative, &err));
    relative.image_w += relative.patch_w;
    assert_false(vit_check(&relative, &err));
    assert_non_null(strstr(err.text, "at most 4096 patches"));
    relative.image_w = 64;
    relative.registers = 1;
    assert_false(vit_check(&relative, &err));
}

/* Without positions a permutation of the patches permutes the patch tokens and leaves the answer (up to the order of
 * sums). */
static void permutation_equivariance(void **state)
{
    (void)state;
    Bench a;
    VitConfig c = variant(0);
    c.pos = VIT_POS_NONE;
    bench_seeded(&a, &c, 5);
    Graph shuffled = {0};
    Err err = {""};
    int order[16];
    for (int i = 0; i < 16; i++)
        order[i] = i * 7 % 16; /* 7 and 16 have no common divisor: a permutation */
    const Node *p = graph_node(&a.graph, a.nodes.patch_embed);
    Edit e = {.kind = EDIT_GATHER, .path = "patch_embed", .axis = p->dims.axis[0], .index = order};
    assert_true(graph_edit(&shuffled, &a.graph, &e, 1, &err));
    Run *run = run_new(&shuffled, NULL, NULL);
    const float *one = run_need(a.run, a.nodes.tokens_out),
                *other = run_need(run, graph_find(&shuffled, "ln_final.out"));
    double moved = 0;
    for (int t = 0; t < 17; t++)
        for (int d = 0; d < 32; d++) {
            int from = t ? 1 + order[t - 1] : 0;
            assert_true(fabs((double)(other[t * 32 + d] - one[from * 32 + d])) < 1e-4);
            moved = fmax(moved, fabs((double)(other[t * 32 + d] - one[t * 32 + d])));
        }
    assert_true(moved > 0.1); /* the tokens did move */
    run_free(run);
    graph_free(&shuffled);
    bench_free(&a);

    c.pos = VIT_POS_ALL; /* with positions the answer changes */
    bench_seeded(&a, &c, 5);
    assert_true(graph_edit(&shuffled, &a.graph, &e, 1, &err));
    run = run_new(&shuffled, NULL, NULL);
    const float *l1 = run_need(a.run, a.nodes.logits), *l2 = run_need(run, graph_find(&shuffled, "logits"));
    double change = 0;
    for (int o = 0; o < 5; o++)
        change = fmax(change, fabs((double)(l1[o] - l2[o])));
    assert_true(change > 1e-3);
    run_free(run);
    graph_free(&shuffled);
    bench_free(&a);
}

/* An untrained model must still show what attention is: rows that prefer some tokens, and differ from each other. */
static void seeded_rows_differ(void **state)
{
    (void)state;
    Bench b;
    VitConfig c = model_bundled_config();
    bench_seeded(&b, &c, 48);
    for (int l = 0; l < c.layers; l++) {
        char path[64];
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", l);
        const float *p = bench_values(&b, path);
        int t = vit_tokens(&c);
        double largest = 0, different = 0;
        for (int r = 0; r < c.heads * t; r++) {
            double sum = 0, top = 0;
            for (int u = 0; u < t; u++) {
                sum += (double)p[r * t + u];
                top = fmax(top, (double)p[r * t + u]);
                different += r ? fabs((double)(p[r * t + u] - p[(r - 1) * t + u])) : 0;
            }
            assert_true(fabs(sum - 1) < 1e-5);
            largest += top;
        }
        largest /= c.heads * t;
        different /= c.heads * t;
        if (largest < 4.0 / t || different < 0.3)
            fail_msg("block %d: mean largest weight %.3f, mean difference of neighbouring rows %.3f", l, largest,
                     different);
    }
    bench_free(&b);
}

static void seeds(void **state)
{
    (void)state;
    Bench a, b, other;
    VitConfig c = variant(0);
    bench_seeded(&a, &c, 1);
    bench_seeded(&b, &c, 1);
    bench_seeded(&other, &c, 2);
    assert_true(bench_hash(&a) == bench_hash(&b));
    assert_true(bench_hash(&a) != bench_hash(&other));
    WeightPlace w;
    assert_true(vit_weight_place(&c, 2 * VIT_ROLES + VIT_W_DOWN, &w));
    float *one = malloc(w.cells * sizeof *one);
    weight_seeded(&w, 1, one);
    assert_memory_equal(one, vit_weight(&a.model.weights, VIT_W_DOWN, 1)->data, w.cells * sizeof *one);
    free(one);
    bench_free(&a);
    bench_free(&b);
    bench_free(&other);
}

static void bundled_size(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config();
    Model m;
    Err err = {""};
    size_t n = vit_params(&c);
    float *w = malloc(n * sizeof *w);
    for (size_t i = 0; i < n; i++)
        w[i] = (float)i;
    assert_false(model_bundled(&m, w, n * sizeof *w - 4, &err));
    assert_true(model_bundled(&m, w, n * sizeof *w, &err));
    assert_true(m.drawn_shapes && m.trained);
    assert_string_equal(m.class_names[5], "star");
    assert_true(vit_weight(&m.weights, VIT_PATCH_W, 0)->data[0] == 0.0f);
    assert_true(vit_weight(&m.weights, VIT_MLP_LS, 0)->data == NULL);
    assert_true(vit_weight(&m.weights, VIT_B_DOWN, c.layers - 1)->data[c.width - 1] == (float)(n - 1));
    model_free(&m);
    free(w);
}

/* --- texts and map --- */

static void check_texts(const Graph *g, const char *what)
{
    for (NodeId n = 0; n < g->count; n++) {
        const char *path = graph_node(g, n)->path;
        const NodeText *t = node_text(path);
        if (!t)
            fail_msg("%s: '%s' has no sentence", what, path);
        if (!*t->label || utf8_cells(t->label) > NODE_LABEL_CELLS)
            fail_msg("'%s': label '%s' is empty or too long", t->pattern, t->label);
        if (!*t->sentence || utf8_cells(t->sentence) > NODE_SENTENCE_CELLS)
            fail_msg("'%s': sentence of %d cells", t->pattern, utf8_cells(t->sentence));
        if (strncmp(t->pattern, "**.edit", 7) == 0 && !(graph_node(g, n)->flags & NODE_EDITED) &&
            graph_node(g, n)->op != OP_LEAF)
            fail_msg("'%s' is taken for an edit's node", path);
    }
}

/* Boxes form a tree in node order; every node of the pass has a box of its own inside its stage's span. */
static void check_map(const Graph *g, const char *what)
{
    Stages s;
    stages_make(&s, g);
    size_t leaves = 0;
    for (int i = 0; i < s.count; i++) {
        const Box *b = &s.boxes[i];
        if (!b->label || !*b->label || !b->sentence || !*b->sentence || utf8_cells(b->sentence) > NODE_SENTENCE_CELLS)
            fail_msg("%s: box %s lacks a text or has too long a one", what, b->path);
        assert_true(b->first <= b->show && b->show <= b->last);
        if (b->next != NO_BOX) {
            assert_true(b->next > i && s.boxes[b->next].parent == b->parent);
            if (s.boxes[b->next].show <= b->show)
                fail_msg("%s: %s stands before %s", what, b->path, s.boxes[b->next].path);
        }
        if (b->child != NO_BOX) {
            double flops = 0;
            for (int k = b->child; k != NO_BOX; k = s.boxes[k].next) {
                assert_int_equal(s.boxes[k].parent, i);
                assert_int_equal(s.boxes[k].depth, b->depth + 1);
                assert_true(s.boxes[k].first >= b->first && s.boxes[k].last <= b->last);
                flops += s.boxes[k].cost.flops;
            }
            assert_true(fabs(flops - b->cost.flops) < 0.5);
        } else {
            leaves++;
            assert_int_equal(stages_of_node(&s, b->show), i);
        }
    }
    size_t of_pass = 0;
    for (NodeId n = 0; n < g->count; n++) {
        bool aside = graph_node(g, n)->flags & NODE_PROBE; /* a guess of hidden patches: no part of the answer */
        of_pass += !aside;
        if (aside != (stages_of_node(&s, n) == NO_BOX))
            fail_msg("%s: '%s' has %s box", what, graph_node(g, n)->path, aside ? "a" : "no");
    }
    assert_int_equal(leaves, of_pass);
    bool *open = malloc((size_t)s.count);
    for (int mode = 0; mode < 3;
         mode++) { /* all closed, all open, every other one open: forth and back are each other's reverse */
        int seen = 0, last = 0;
        for (int i = 0; i < s.count; i++)
            open[i] = mode == 1 || (mode == 2 && i % 2);
        for (int i = 0; i != NO_BOX; i = stages_after(&s, open, i)) {
            assert_int_equal(stages_before(&s, open, i), seen ? last : NO_BOX);
            last = i;
            seen++;
        }
        assert_true(mode != 1 || seen == s.count);
    }
    free(open);
    stages_free(&s);
}

static void every_node_has_text_and_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        Bench b;
        VitConfig c = variant(i);
        bench_seeded(&b, &c, 7);
        check_texts(&b.graph, VARIANTS[i].what);
        check_map(&b.graph, VARIANTS[i].what);
        bench_free(&b);
    }
    assert_null(node_text("blocks.0.attn.nonsense"));
    assert_null(node_text(""));
}

static void edited_graphs_have_text_and_place(void **state)
{
    (void)state;
    for (int post = 0; post < 2; post++) {
        Bench b;
        VitConfig c = variant(0);
        Err err = {""};
        c.post_norm = post;
        bench_seeded(&b, &c, 7);
        int t = graph_node(&b.graph, graph_find(&b.graph, "blocks.0.attn.z"))->dims.axis[0];
        int p = graph_node(&b.graph, b.nodes.patch_embed)->dims.axis[0], order[16];
        for (int i = 0; i < 16; i++)
            order[i] = 15 - i;
        float values[32 * 17] = {0};
        const Edit edits[] = {
            {.kind = EDIT_SCALE, .path = "blocks.0.attn.scale", .factor = 2},
            {.kind = EDIT_ZERO, .path = "blocks.1.attn.z"},
            {.kind = EDIT_MEAN, .path = "blocks.0.attn.z", .axis = t},
            {.kind = EDIT_SET, .path = "blocks.0.mlp.pre", .value = 3},
            {.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled"},
            {.kind = EDIT_GATHER, .path = "patch_embed", .axis = p, .index = order},
            {.kind = EDIT_REDIRECT, .path = "full_embed", .other = "tokens"},
            {.kind = EDIT_VALUES, .path = "blocks.1.resid_mid", .data = values},
        };
        Graph edited = {0};
        if (!graph_edit(&edited, &b.graph, edits, sizeof edits / sizeof *edits, &err))
            fail_msg("%s", err.text);
        check_texts(&edited, "edited");
        check_map(&edited, "edited");
        Stages s;
        stages_make(&s, &edited);
        assert_true(stages_find(&s, "blocks.0.masked") != NO_BOX);
        assert_true(stages_find(&s, "blocks.1.masked") == NO_BOX);
        stages_free(&s);
        graph_free(&edited);
        bench_free(&b);
    }
}

/* The walk a newcomer takes: block 0 open, the others closed. */
static void steps_of_the_bundled_model(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "image",      "patches",    "+ class token", "+ position", "block 0", "ln1",     "q k v",
        "raw scores", "scaled",     "softmax",       "weighted v", "W_O",     "+",       "ln2",
        "up",         "activation", "down",          "+",          "block 1", "block 2", "block 3",
        "final norm", "read-out",   "logits",        "probs"};
    Bench b;
    Stages s;
    VitConfig c = model_bundled_config();
    bench_seeded(&b, &c, 48);
    stages_make(&s, &b.graph);
    bool *open = calloc((size_t)s.count, 1);
    open[stages_find(&s, "blocks.0")] = true;
    size_t n = 0;
    for (int i = 0; i != NO_BOX; i = stages_after(&s, open, i), n++) {
        assert_true(n < sizeof expected / sizeof *expected);
        assert_string_equal(s.boxes[i].label, expected[n]);
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
    assert_string_equal(graph_node(&b.graph, s.boxes[stages_find(&s, "blocks.0.softmax")].show)->path,
                        "blocks.0.attn.pattern");
    assert_string_equal(graph_node(&b.graph, s.boxes[stages_find(&s, "blocks.3")].show)->path, "blocks.3.resid_post");
    free(open);
    stages_free(&s);
    bench_free(&b);
}

static void post_norm_order(void **state)
{
    (void)state;
    static const char *const expected[] = {"q k v", "raw scores", "scaled",     "softmax", "weighted v", "W_O", "+",
                                           "ln1",   "up",         "activation", "down",    "+",          "ln2"};
    Bench b;
    Stages s;
    VitConfig c = variant(0);
    c.post_norm = true;
    bench_seeded(&b, &c, 48);
    stages_make(&s, &b.graph);
    size_t n = 0;
    for (int i = s.boxes[stages_find(&s, "blocks.0")].child; i != NO_BOX; i = s.boxes[i].next)
        assert_string_equal(s.boxes[i].label, expected[n++]);
    assert_int_equal(n, sizeof expected / sizeof *expected);
    stages_free(&s);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_knob_runs),
        cmocka_unit_test(names_and_axes),
        cmocka_unit_test(parameters_of_published_sizes),
        cmocka_unit_test(impossible_configurations),
        cmocka_unit_test(permutation_equivariance),
        cmocka_unit_test(seeded_rows_differ),
        cmocka_unit_test(seeds),
        cmocka_unit_test(bundled_size),
        cmocka_unit_test(every_node_has_text_and_place),
        cmocka_unit_test(edited_graphs_have_text_and_place),
        cmocka_unit_test(steps_of_the_bundled_model),
        cmocka_unit_test(post_norm_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
