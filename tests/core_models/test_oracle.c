/* Every intermediate of the recorded models, in float64 from an independent implementation, against the graph's node of
 * that name. */
#include "tests/core_models/oracle.h"

static const double TOLERANCE = 1e-5; /* of the largest absolute value of the tensor */
/* With scores that are not scaled down (up to 16 here) float32 itself ends at that limit: exp makes a score's absolute
 * error a relative one. A plain float32 program gives 6.5e-6 to 1.5e-5 for the exponentials of layer 1, depending on
 * the order in which it adds. */
static const double TOLERANCE_EXP_UNSCALED = 2e-5;

/* Recorded name → node. Where order is set the recorded cells stand in another order. */
typedef enum Order { AS_IS, HEADS_FIRST, IM2COL } Order;
static const struct {
    const char *recorded, *node;
    Order order;
} NAMES[] = {
    {"pixel_values", "image", AS_IS},
    {"embed.im2col", "image", IM2COL},
    {"embed.patches", "patch_embed", AS_IS},
    {"embed.with_cls", "tokens", AS_IS},
    {"embed.out", "full_embed", AS_IS},
    {"layer.#.input", "blocks.#.resid_pre", AS_IS},
    {"layer.#.ln1.mean", "blocks.#.ln1.mean", AS_IS},
    {"layer.#.ln1.var", "blocks.#.ln1.var", AS_IS},
    {"layer.#.ln1.rstd", "blocks.#.ln1.rstd", AS_IS},
    {"layer.#.ln1.xhat", "blocks.#.ln1.normalized", AS_IS},
    {"layer.#.ln1.out", "blocks.#.ln1.out", AS_IS},
    {"layer.#.q", "blocks.#.attn.q", AS_IS},
    {"layer.#.k", "blocks.#.attn.k", AS_IS},
    {"layer.#.v", "blocks.#.attn.v", AS_IS},
    {"layer.#.scores_raw", "blocks.#.attn.scores_raw", AS_IS},
    {"layer.#.scores", "blocks.#.attn.scores_scaled", AS_IS},
    {"layer.#.scores_max", "blocks.#.attn.row_max", AS_IS},
    {"layer.#.scores_exp", "blocks.#.attn.exp", AS_IS},
    {"layer.#.scores_expsum", "blocks.#.attn.row_sum", AS_IS},
    {"layer.#.probs", "blocks.#.attn.pattern", AS_IS},
    {"layer.#.head_out", "blocks.#.attn.z", HEADS_FIRST},
    {"layer.#.concat", "blocks.#.attn.z", AS_IS},
    {"layer.#.attn_out", "blocks.#.attn.out", AS_IS},
    {"layer.#.res1", "blocks.#.resid_mid", AS_IS},
    {"layer.#.ln2.mean", "blocks.#.ln2.mean", AS_IS},
    {"layer.#.ln2.var", "blocks.#.ln2.var", AS_IS},
    {"layer.#.ln2.rstd", "blocks.#.ln2.rstd", AS_IS},
    {"layer.#.ln2.xhat", "blocks.#.ln2.normalized", AS_IS},
    {"layer.#.ln2.out", "blocks.#.ln2.out", AS_IS},
    {"layer.#.mlp_pre", "blocks.#.mlp.pre", AS_IS},
    {"layer.#.mlp_act", "blocks.#.mlp.post", AS_IS},
    {"layer.#.mlp_out", "blocks.#.mlp.out", AS_IS},
    {"layer.#.output", "blocks.#.resid_post", AS_IS},
    {"final_ln.mean", "ln_final.mean", AS_IS},
    {"final_ln.var", "ln_final.var", AS_IS},
    {"final_ln.rstd", "ln_final.rstd", AS_IS},
    {"final_ln.xhat", "ln_final.normalized", AS_IS},
    {"final_ln.out", "ln_final.out", AS_IS},
    {"cls", "readout", AS_IS},
    {"logits", "logits", AS_IS},
    {"probs", "probs", AS_IS},
};
/* Analyses that are no part of the forward pass, and the answer's index. */
static const char *const OTHERS[] = {"layer.#.rollout", "layer.#.lens_logits", "argmax"};

/* Fills the first digit for #; false when the name is not of that form. */
static bool matches(const char *pattern, const char *name, int *layer)
{
    *layer = -1;
    for (; *pattern; pattern++, name++) {
        if (*pattern == '#' && *name >= '0' && *name <= '9')
            *layer = *name - '0';
        else if (*pattern != *name)
            return false;
    }
    return !*name;
}

static void fill_layer(char *out, size_t n, const char *pattern, int layer)
{
    const char *mark = strchr(pattern, '#');
    if (mark)
        snprintf(out, n, "%.*s%d%s", (int)(mark - pattern), pattern, layer, mark + 1);
    else
        snprintf(out, n, "%s", pattern);
}

/* Our cell that recorded cell i of that order stands for. */
static size_t our_cell(const VitConfig *c, Order order, size_t i)
{
    size_t t = (size_t)vit_tokens(c), h = (size_t)c->heads, e = (size_t)c->head_dim;
    if (order == HEADS_FIRST) {
        size_t head = i / (t * e), token = i / e % t;
        return (token * h + head) * e + i % e;
    }
    if (order == IM2COL) {
        size_t ph = (size_t)c->patch_h, pw = (size_t)c->patch_w, cols = (size_t)(c->image_w / c->patch_w);
        size_t in_patch = (size_t)c->channels * ph * pw, patch = i / in_patch, k = i % in_patch;
        size_t channel = k / (ph * pw), row = patch / cols * ph + k / pw % ph, col = patch % cols * pw + k % pw;
        return (channel * (size_t)c->image_h + row) * (size_t)c->image_w + col;
    }
    return i;
}

static double worst_error; /* over the tests of this program, for the report */

static void compare(const char *file, const TensorInfo *t, const double *want, const float *got, size_t cells,
                    const VitConfig *c, Order order)
{
    double largest = 0;
    bool exponentials = strstr(t->name, "scores_exp") != NULL, unscaled = strstr(file, "whatif_scale_") != NULL;
    double tolerance = exponentials && unscaled ? TOLERANCE_EXP_UNSCALED : TOLERANCE;
    assert_int_equal(t->cells, cells);
    for (size_t i = 0; i < t->cells; i++)
        largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < t->cells; i++) {
        double have = (double)got[our_cell(c, order, i)], error = fabs(have - want[i]);
        if (!(error <= tolerance * largest))
            fail_msg("%s: %s[%zu] is %.9g, recorded %.9g (largest %.3g)", file, t->name, i, have, want[i], largest);
        if (largest > 0)
            worst_error = fmax(worst_error, error / largest);
    }
}

static void check_argmax(const TensorFile *f, const TensorInfo *t, const float *logits, int classes)
{
    double want;
    Err err = {""};
    int best = 0;
    for (int i = 1; i < classes; i++)
        best = logits[i] > logits[best] ? i : best;
    assert_true(tensors_read_f64(f, t, &want, &err));
    assert_int_equal((int)want, best);
}

/* Every recorded tensor is compared, and every row of NAMES is met once per layer. */
static void compare_all(const char *file, Run *run, const VitConfig *c)
{
    TensorFile f;
    Err err = {""};
    const Graph *g = run_graph(run);
    size_t compared = 0, expected = 0;
    if (!tensors_open(&f, file, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < f.count; i++) {
        const TensorInfo *t = &f.tensors[i];
        bool known = false;
        int layer;
        for (size_t k = 0; k < sizeof OTHERS / sizeof *OTHERS; k++)
            known |= matches(OTHERS[k], t->name, &layer);
        if (strcmp(t->name, "argmax") == 0)
            check_argmax(&f, t, run_need(run, graph_find(g, "logits")), c->classes);
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
            char path[96];
            if (!matches(NAMES[k].recorded, t->name, &layer))
                continue;
            fill_layer(path, sizeof path, NAMES[k].node, layer);
            NodeId n = graph_find(g, path);
            if (n == NO_NODE)
                fail_msg("%s: no node '%s'", file, path);
            double *want = malloc(t->cells * sizeof *want);
            assert_true(tensors_read_f64(&f, t, want, &err));
            compare(file, t, want, run_need(run, n), graph_cells(g, n), c, NAMES[k].order);
            free(want);
            known = true;
            compared++;
        }
        if (!known)
            fail_msg("%s: recorded '%s' has no node", file, t->name);
    }
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        expected += strchr(NAMES[k].recorded, '#') ? (size_t)c->layers : 1;
    assert_int_equal(compared, expected);
    tensors_close(&f);
}

static void check_model(const char *model, const char *picture, const char *expected)
{
    Bench b;
    bench_load(&b, model, picture);
    compare_all(expected, b.run, &b.model.vit);
    bench_free(&b);
}

static void hugging_face_folder(void **state)
{
    (void)state;
    check_model(ORACLE "tiny", ORACLE "tiny/image.ppm", ORACLE "tiny/expected.safetensors");
    check_model(ORACLE "nobias", ORACLE "nobias/image.ppm", ORACLE "nobias/expected.safetensors");
}

static void hugging_face_file(void **state)
{
    (void)state;
    check_model(ORACLE "tiny/model.safetensors", ORACLE "tiny/image.ppm", ORACLE "tiny/expected.safetensors");
}

/* The timm weights with Hugging Face's config.json beside them. */
static void timm_file(void **state)
{
    (void)state;
    check_model(ORACLE "tiny/model_timm.safetensors", ORACLE "tiny/image.ppm", ORACLE "tiny/expected.safetensors");
    check_model(ORACLE "nobias/model_timm.safetensors", ORACLE "nobias/image.ppm",
                ORACLE "nobias/expected.safetensors");
}

/* As timm itself ships them: its own config.json, no preprocessor_config.json. */
static void timm_folder(void **state)
{
    (void)state;
    static const char *const models[] = {"tiny", "nobias"};
    for (size_t i = 0; i < 2; i++) {
        char dir[256], from[256], picture[256], expected[256];
        scratch_dir(dir, sizeof dir, "timm");
        snprintf(from, sizeof from, ORACLE "%s/model_timm.safetensors", models[i]);
        copy_file(from, dir, "model.safetensors");
        snprintf(from, sizeof from, ORACLE "%s/config_timm.json", models[i]);
        copy_file(from, dir, "config.json");
        snprintf(picture, sizeof picture, ORACLE "%s/image.ppm", models[i]);
        snprintf(expected, sizeof expected, ORACLE "%s/expected.safetensors", models[i]);
        check_model(dir, picture, expected);
        remove_dir(dir);
    }
}

static void half_precision_weights(void **state)
{
    (void)state;
    check_model(ORACLE "tiny/model_f16.safetensors", ORACLE "tiny/image.ppm", ORACLE "tiny/expected_f16.safetensors");
    check_model(ORACLE "tiny/model_bf16.safetensors", ORACLE "tiny/image.ppm", ORACLE "tiny/expected_bf16.safetensors");
}

static void replace_text(Buf *b, const char *from, const char *to)
{
    char *at = strstr(b->data, from);
    assert_non_null(at);
    Buf out = {0};
    buf_add(&out, b->data, (size_t)(at - b->data));
    buf_puts(&out, to);
    buf_puts(&out, at + strlen(from));
    buf_free(b);
    *b = out;
}

static void gelu_tanh(void **state)
{
    (void)state;
    char dir[256];
    Buf config = {0};
    Err err = {""};
    scratch_dir(dir, sizeof dir, "tanh");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    copy_file(ORACLE "tiny/preprocessor_config.json", dir, "preprocessor_config.json");
    assert_true(file_read(ORACLE "tiny/config.json", 1 << 20, &config, &err));
    replace_text(&config, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"gelu_pytorch_tanh\"");
    put_file(dir, "config.json", config.data, config.len);
    buf_free(&config);
    check_model(dir, ORACLE "tiny/image.ppm", ORACLE "tiny/expected_gelu_tanh.safetensors");
    remove_dir(dir);
}

/* The recorded input instead of the picture. */
static void recorded_input(void **state)
{
    (void)state;
    static const char *const names[] = {"tiny", "nobias"};
    for (size_t i = 0; i < 2; i++) {
        char path[256], expected[256];
        Err err = {""};
        TensorFile f;
        Bench b = {0};
        snprintf(path, sizeof path, ORACLE "%s", names[i]);
        assert_true(model_load(&b.model, path, NULL, NULL, &err));
        b.model.vit.input = VIT_INPUT_READY;
        b.pixels = malloc(bench_pixels(&b.model.vit) * sizeof(float));
        snprintf(path, sizeof path, ORACLE "%s/input.safetensors", names[i]);
        assert_true(tensors_open(&f, path, &err));
        assert_true(tensors_read_f32(&f, tensors_find(&f, "pixel_values"), b.pixels, &err));
        tensors_close(&f);
        bench_start(&b);
        assert_int_equal(b.nodes.input, b.nodes.image);
        snprintf(expected, sizeof expected, ORACLE "%s/expected.safetensors", names[i]);
        compare_all(expected, b.run, &b.model.vit);
        bench_free(&b);
    }
}

static void check_edits(const Edit *edits, int count, const char *expected)
{
    Bench b;
    Graph edited = {0};
    Err err = {""};
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    if (!graph_edit(&edited, &b.graph, edits, count, &err))
        fail_msg("%s: %s", expected, err.text);
    Run *run = run_new(&edited, b.run, NULL);
    compare_all(expected, run, &b.model.vit);
    run_free(run);
    graph_free(&edited);
    bench_free(&b);
}

static Selection one_head(const Graph *g, int head)
{
    const Node *z = graph_node(g, graph_find(g, "blocks.0.attn.z"));
    Selection s = {.n = 1};
    s.range[0].axis = z->dims.axis[1];
    s.range[0].from = head;
    s.range[0].to = head + 1;
    return s;
}

static void what_if(void **state)
{
    (void)state;
    Bench b;
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    Selection h1 = one_head(&b.graph, 1), h2 = one_head(&b.graph, 2);
    int token = graph_node(&b.graph, graph_find(&b.graph, "blocks.0.attn.z"))->dims.axis[0];
    bench_free(&b);
    Edit off[] = {{.kind = EDIT_SET, .path = "blocks.0.attn.scale", .value = 1},
                  {.kind = EDIT_SET, .path = "blocks.1.attn.scale", .value = 1}};
    Edit more[] = {{.kind = EDIT_SCALE, .path = "blocks.0.attn.scale", .factor = 4},
                   {.kind = EDIT_SCALE, .path = "blocks.1.attn.scale", .factor = 4}};
    Edit zero = {.kind = EDIT_ZERO, .path = "blocks.1.attn.z", .cells = h2};
    Edit mean = {.kind = EDIT_MEAN, .path = "blocks.0.attn.z", .cells = h1, .axis = token};
    Edit no_mlp = {.kind = EDIT_ZERO, .path = "blocks.0.mlp.out"};
    Edit no_pos = {.kind = EDIT_REDIRECT, .path = "full_embed", .other = "tokens"};
    check_edits(off, 2, ORACLE "tiny/whatif_scale_off.safetensors");
    check_edits(more, 2, ORACLE "tiny/whatif_scale_x4.safetensors");
    check_edits(&zero, 1, ORACLE "tiny/whatif_ablate_1_2_zero.safetensors");
    check_edits(&mean, 1, ORACLE "tiny/whatif_ablate_0_1_mean.safetensors");
    check_edits(&no_mlp, 1, ORACLE "tiny/whatif_no_mlp_0.safetensors");
    check_edits(&no_pos, 1, ORACLE "tiny/whatif_no_positions.safetensors");
}

/* The layout a checkpoint is stored in leaves no trace in the numbers. */
static void layouts_have_one_hash(void **state)
{
    (void)state;
    static const char *const names[] = {"tiny", "nobias"};
    for (size_t i = 0; i < 2; i++) {
        char hf[128], timm[128], picture[128];
        Bench a, b;
        snprintf(hf, sizeof hf, ORACLE "%s", names[i]);
        snprintf(timm, sizeof timm, ORACLE "%s/model_timm.safetensors", names[i]);
        snprintf(picture, sizeof picture, ORACLE "%s/image.ppm", names[i]);
        bench_load(&a, hf, picture);
        bench_load(&b, timm, picture);
        assert_string_equal(b.model.layout, "timm");
        assert_true(bench_hash(&a) == bench_hash(&b));
        bench_free(&a);
        bench_free(&b);
    }
}

static int report(void **state)
{
    (void)state;
    print_message("largest error, relative to each tensor's largest value: %.2g\n", worst_error);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hugging_face_folder),
        cmocka_unit_test(hugging_face_file),
        cmocka_unit_test(timm_file),
        cmocka_unit_test(timm_folder),
        cmocka_unit_test(half_precision_weights),
        cmocka_unit_test(gelu_tanh),
        cmocka_unit_test(recorded_input),
        cmocka_unit_test(what_if),
        cmocka_unit_test(layouts_have_one_hash),
    };
    return cmocka_run_group_tests(tests, NULL, report);
}
