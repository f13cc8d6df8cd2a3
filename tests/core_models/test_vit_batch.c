/* Several pictures at once give the bits of each alone; hidden patches; the head that guesses pixels. */
#include "tests/core_models/variants.h"

#include "core/models/names.h"

enum { PICTURES = 3 };

/* Three different pictures, the second of them flat: its own deviation is 0. */
static float *pictures(const VitConfig *c)
{
    size_t n = bench_pixels(c);
    float *out = malloc(PICTURES * n * sizeof *out);
    uint32_t x = 99;
    for (size_t i = 0; i < PICTURES * n; i++) {
        x = x * 1664525u + 1013904223u;
        out[i] = i / n == 1 ? 40.0f : (float)(x >> 24) * (i / n ? 0.25f : 1.0f);
    }
    return out;
}

/* A batch of the pictures; its model and run end with bench_free. */
static void batch_start(Bench *b, const VitConfig *c, const float *input, const float *hidden)
{
    *b = (Bench){0};
    model_seeded(&b->model, c, 7);
    graph_init(&b->graph);
    vit_build_batch(&b->graph, c, &b->model.weights, NULL, input, (VitBatch){PICTURES, hidden}, &b->nodes);
    b->run = run_new(&b->graph, NULL, NULL);
}

static void single_start(Bench *b, const VitConfig *c, const float *input)
{
    *b = (Bench){0};
    model_seeded(&b->model, c, 7);
    size_t n = bench_pixels(c) * sizeof *input;
    b->pixels = malloc(n);
    memcpy(b->pixels, input, n);
    bench_start(b);
}

static bool has_batch_axis(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    return d.n && strcmp(g->axes[d.axis[0]].sym, "b") == 0;
}

/* Every node of the single graph is in the batch under its name, with picture k's values. Returns how many have the
 * axis b. */
static int compare(const char *what, Bench *batch, Bench *one, int k)
{
    int with_b = 0;
    for (NodeId n = 0; n < one->graph.count; n++) {
        const Node *node = graph_node(&one->graph, n);
        NodeId m = graph_find(&batch->graph, node->path);
        if (m == NO_NODE)
            fail_msg("%s: the batch has no '%s'", what, node->path);
        assert_int_equal(graph_node(&batch->graph, m)->flags, node->flags);
        size_t cells = graph_cells(&one->graph, n);
        bool b = has_batch_axis(&batch->graph, m);
        assert_int_equal(graph_cells(&batch->graph, m), cells * (b ? PICTURES : 1));
        const float *values = run_need(batch->run, m) + (b ? cells * (size_t)k : 0);
        if (memcmp(values, run_need(one->run, n), cells * sizeof *values) != 0)
            fail_msg("%s: '%s' of picture %d differs", what, node->path, k);
        with_b += b;
    }
    return with_b;
}

static void batch_is_each_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        for (int more = 0; more < 2; more++) {
            VitConfig c = variant(i);
            if (more && i % 3) /* with the other two knobs: every third */
                continue;
            c.mask_token = c.reconstruct = more;
            float *input = pictures(&c);
            Bench batch, one;
            batch_start(&batch, &c, input, NULL);
            for (int k = 0; k < PICTURES; k++) {
                single_start(&one, &c, input + (size_t)k * bench_pixels(&c));
                int with_b = compare(VARIANTS[i].what, &batch, &one, k);
                assert_true(with_b > one.graph.count / 2);
                assert_int_equal(has_batch_axis(&batch.graph, batch.nodes.tokens_out), true);
                bench_free(&one);
            }
            bench_free(&batch);
            free(input);
        }
}

/* What every picture has in common is there once for each, and everything has a text. */
static void tokens_for_each(void **state)
{
    (void)state;
    VitConfig c = variant(0);
    c.dist = true, c.registers = 2, c.pos = VIT_POS_BEFORE_REGISTERS, c.mask_token = c.reconstruct = true;
    float *input = pictures(&c), hidden[PICTURES * 16] = {0};
    Bench b;
    batch_start(&b, &c, input, hidden);
    const float *all = bench_values(&b, "registers_each"), *regs = bench_values(&b, "registers");
    for (int k = 0; k < PICTURES; k++)
        assert_memory_equal(all + k * 2 * c.width, regs, 2 * (size_t)c.width * sizeof *regs);
    all = bench_values(&b, "front_each"), regs = bench_values(&b, "prefix_pair");
    for (int k = 0; k < PICTURES; k++)
        assert_memory_equal(all + k * 2 * c.width, regs, 2 * (size_t)c.width * sizeof *regs);
    for (NodeId n = 0; n < b.graph.count; n++)
        if (!node_text(graph_node(&b.graph, n)->path))
            fail_msg("'%s' has no sentence", graph_node(&b.graph, n)->path);
    bench_free(&b);
    free(input);
}

/* −0, infinities and NaN in a learned token come through the copy for each picture. */
static void odd_tokens(void **state)
{
    (void)state;
    VitConfig c = variant(0);
    float *input = pictures(&c);
    Bench b;
    batch_start(&b, &c, input, NULL);
    float *cls = b.model.block + (vit_weight(&b.model.weights, VIT_CLS, 0)->data - b.model.block);
    cls[0] = -0.0f, cls[1] = 0.0f, cls[2] = INFINITY, cls[3] = 1e-44f, cls[4] = kernel_canonical(NAN);
    const float *each = bench_values(&b, "prefix_each");
    for (int k = 0; k < PICTURES; k++)
        assert_memory_equal(each + k * c.width, cls, (size_t)c.width * sizeof *cls);
    bench_free(&b);
    free(input);
}

static void hidden_patches(void **state)
{
    (void)state;
    VitConfig c = variant(0);
    c.mask_token = true;
    float *input = pictures(&c), hidden[PICTURES * 16] = {0};
    hidden[3] = hidden[5] = hidden[2 * 16] = 1; /* two of the first picture, none of the second, one of the third */
    Bench b, plain;
    batch_start(&b, &c, input, hidden);
    batch_start(&plain, &c, input, NULL);
    assert_int_equal(plain.nodes.hidden, NO_NODE);
    assert_int_equal(graph_node(&b.graph, b.nodes.hidden)->leaf.kind, LEAF_INPUT);
    size_t w = (size_t)c.width, t = (size_t)vit_tokens(&c) * w;
    const float *mask = vit_weight(&b.model.weights, VIT_MASK_TOKEN, 0)->data;
    const float *from = run_need(plain.run, plain.nodes.patch_embed), *to = bench_values(&b, "patch_hidden");
    assert_memory_equal(from, run_need(b.run, b.nodes.patch_embed), PICTURES * 16 * w * sizeof *from);
    for (size_t p = 0; p < PICTURES * 16; p++)
        assert_memory_equal(to + p * w, hidden[p] != 0 ? mask : from + p * w, w * sizeof *to);
    const float *out = run_need(b.run, b.nodes.tokens_out), *other = run_need(plain.run, plain.nodes.tokens_out);
    assert_memory_not_equal(out, other, t * sizeof *out);
    assert_memory_equal(out + t, other + t, t * sizeof *out); /* nothing hidden: nothing changed */
    assert_memory_not_equal(out + 2 * t, other + 2 * t, t * sizeof *out);

    /* What is under a hidden patch does not matter: patch 3 is the last of the first row. */
    size_t row = (size_t)c.image_w;
    for (int i = 0; i < c.patch_h; i++)
        for (int j = 0; j < c.patch_w; j++)
            input[(size_t)i * row + (size_t)(3 * c.patch_w + j)] = 255.0f -
                                                                   input[(size_t)i * row + (size_t)(3 * c.patch_w + j)];
    Bench changed;
    batch_start(&changed, &c, input, hidden);
    assert_memory_not_equal(run_need(changed.run, changed.nodes.patch_embed), from, 16 * w * sizeof *from);
    assert_memory_equal(run_need(changed.run, changed.nodes.tokens_out), out, PICTURES * t * sizeof *out);
    bench_free(&changed);

    float none[PICTURES * 16] = {0}; /* the same graph with other patches hidden */
    batch_start(&changed, &c, input, hidden);
    changed.graph.nodes[changed.nodes.hidden].leaf.data = none;
    run_free(changed.run);
    changed.run = run_new(&changed.graph, NULL, NULL);
    bench_free(&plain);
    batch_start(&plain, &c, input, NULL);
    assert_memory_equal(run_need(changed.run, changed.nodes.tokens_out), run_need(plain.run, plain.nodes.tokens_out),
                        PICTURES * t * sizeof *out);
    bench_free(&changed);
    bench_free(&plain);
    bench_free(&b);
    free(input);
}

/* An edit that puts the mask token in patches' places gives what a batch with those hidden gives. */
static void hidden_by_an_edit(void **state)
{
    (void)state;
    VitConfig c = variant(0);
    c.mask_token = c.reconstruct = true;
    float *input = pictures(&c), hidden[PICTURES * 16] = {0};
    int chosen[16] = {0};
    chosen[0] = chosen[7] = chosen[15] = 1;
    for (int i = 0; i < 16; i++)
        hidden[i] = (float)chosen[i];
    Bench batch, one;
    batch_start(&batch, &c, input, hidden);
    single_start(&one, &c, input);
    int p = graph_node(&one.graph, one.nodes.patch_embed)->dims.axis[0];
    const Edit e = {.kind = EDIT_OTHER, .path = "patch_embed", .axis = p, .index = chosen, .other = "mask_token"};
    Graph edited = {0};
    Err err = {""};
    if (!graph_edit(&edited, &one.graph, &e, 1, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&edited, one.run, NULL);
    static const char *const paths[] = {"full_embed", "blocks.1.attn.pattern", "ln_final.out", "logits", "guess"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        NodeId n = graph_find(&edited, paths[i]), m = graph_find(&batch.graph, paths[i]);
        assert_memory_equal(run_need(run, n), run_need(batch.run, m), graph_cells(&edited, n) * sizeof(float));
    }
    run_free(run);
    graph_free(&edited);
    const Edit bad[] = {
        {.kind = EDIT_OTHER, .path = "patch_embed", .axis = p, .index = chosen, .other = "nothing"},
        {.kind = EDIT_OTHER, .path = "patch_embed", .axis = p, .index = chosen, .other = "full_embed"}, /* later */
        {.kind = EDIT_OTHER,
         .path = "patch_embed",
         .axis = p,
         .index = chosen,
         .other = "patch_embed.rows_nobias"},                                                          /* has p */
        {.kind = EDIT_OTHER, .path = "full_embed", .axis = p, .index = chosen, .other = "mask_token"}, /* has no p */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(graph_edit(&edited, &one.graph, &bad[i], 1, &err));
    bench_free(&one);
    bench_free(&batch);
    free(input);
}

/* guess[c,y,i,x,j] = Σ_d tokens[p,d] · W[c,i,j,d] + b[c,i,j], checked in double, for a rectangular grid of rectangular
 * patches. */
static void guess_is_the_head(void **state)
{
    (void)state;
    for (int prefix = 0; prefix < 2; prefix++) {
        VitConfig c = variant(1);
        c.patch_w = 5, c.cls = prefix, c.registers = prefix ? 2 : 0, c.reconstruct = true;
        c.pool = prefix ? VIT_POOL_CLS : VIT_POOL_MEAN;
        Bench b;
        bench_seeded(&b, &c, 3);
        const float *x = run_need(b.run, b.nodes.tokens_out), *got = run_need(b.run, b.nodes.guess);
        const float *w = vit_weight(&b.model.weights, VIT_GUESS_W, 0)->data,
                    *bias = vit_weight(&b.model.weights, VIT_GUESS_B, 0)->data;
        int rows = c.image_h / c.patch_h, cols = c.image_w / c.patch_w, ph = c.patch_h, pw = c.patch_w;
        assert_int_equal(graph_cells(&b.graph, b.nodes.guess), bench_pixels(&c));
        for (int ch = 0; ch < c.channels; ch++)
            for (int py = 0; py < c.image_h; py++)
                for (int px = 0; px < c.image_w; px++) {
                    int q = (ch * ph + py % ph) * pw + px % pw, token = vit_prefix(&c) + py / ph * cols + px / pw;
                    double sum = (double)bias[q];
                    for (int d = 0; d < c.width; d++)
                        sum += (double)x[token * c.width + d] * (double)w[q * c.width + d];
                    double is = (double)got[(ch * c.image_h + py) * c.image_w + px];
                    if (!(fabs(is - sum) < 1e-5))
                        fail_msg("channel %d, row %d, column %d: %g, expected %g", ch, py, px, is, sum);
                }
        assert_true(rows * cols == vit_patches(&c) && rows != cols && ph != pw);
        bench_free(&b);
    }
}

/* Mask token and head are weights of the model, but no part of its pass. */
static void no_part_of_the_pass(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config(), more = c;
    Bench a, b;
    c.mask_token = c.reconstruct = false;
    more.mask_token = more.reconstruct = true;
    bench_seeded(&a, &c, 48);
    bench_seeded(&b, &more, 48);
    assert_true(bench_hash(&a) == bench_hash(&b));
    assert_int_equal(vit_params(&more), vit_params(&c) + 64 + 108 * 64 + 108);
    assert_int_equal((size_t)graph_scope_cost(&b.graph, "").params, vit_params(&more));
    assert_true(graph_scope_cost(&b.graph, "").flops - graph_scope_cost(&a.graph, "").flops < 0.5);
    assert_int_equal(a.nodes.guess, NO_NODE);
    assert_true(graph_node(&b.graph, b.nodes.guess)->flags & NODE_PROBE);
    assert_null(run_peek(b.run, b.nodes.guess));
    size_t before = run_computed(b.run);
    assert_non_null(run_need(b.run, b.nodes.guess));
    assert_true(run_computed(b.run) > before);
    assert_true(graph_find(&b.graph, "mask_token") < b.nodes.patch_embed); /* an edit of patch_embed may read it */
    bench_free(&a);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_is_each_alone), cmocka_unit_test(tokens_for_each), cmocka_unit_test(odd_tokens),
        cmocka_unit_test(hidden_by_an_edit),   cmocka_unit_test(hidden_patches),  cmocka_unit_test(guess_is_the_head),
        cmocka_unit_test(no_part_of_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
