/* Checkpoints with a mask token and a reconstruction head, as masked image modelling leaves them. */
#include "tests/core_models/tensor_set.h"

enum { D = 32, PIXELS = 3 * 8 * 8 }; /* of the tiny model: 32 × 32 pictures in patches of 8 × 8 */

static float *ramp(size_t n, float step)
{
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i % 101) * step - 50 * step;
    return x;
}

/* The tiny oracle model as ViTForMaskedImageModeling stores it. */
static void start_masked(Set *s, char *dir, size_t n, const char *name)
{
    start(s, dir, n, name, ORACLE "tiny");
    HEADLESS(dir);
    set_drop(s, "classifier.weight");
    set_drop(s, "classifier.bias");
    set_add(s, "vit.embeddings.mask_token", 3, (size_t[]){1, 1, D}, ramp(D, 0.01f));
    set_add(s, "decoder.0.weight", 4, (size_t[]){PIXELS, D, 1, 1}, ramp((size_t)PIXELS * D, 0.002f));
    set_add(s, "decoder.0.bias", 1, (size_t[]){PIXELS}, ramp(PIXELS, 0.1f));
}

static void put_config(const char *dir, const char *more)
{
    char text[512];
    snprintf(text, sizeof text, "{\"num_attention_heads\": 4, \"image_size\": 32%s%s}", *more ? ", " : "", more);
    put_file(dir, "config.json", text, strlen(text));
}

static void masked_image_modelling(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    start_masked(&s, dir, sizeof dir, "mim");
    set_write(&s, dir);
    Bench b;
    bench_load(&b, dir, ORACLE "tiny/image.ppm");
    assert_true(b.model.vit.mask_token && b.model.vit.reconstruct);
    assert_int_equal(b.model.vit.classes, 0);
    assert_int_equal(b.nodes.logits, NO_NODE);
    assert_string_equal(graph_node(&b.graph, graph_find(&b.graph, "mask_token"))->leaf.origin,
                        "vit.embeddings.mask_token");
    assert_string_equal(graph_node(&b.graph, graph_find(&b.graph, "guess.weight"))->leaf.origin, "decoder.0.weight");
    const float *w = s.t[set_find(&s, "decoder.0.weight")].data, *bias = s.t[set_find(&s, "decoder.0.bias")].data;
    const float *x = run_need(b.run, b.nodes.tokens_out), *got = run_need(b.run, b.nodes.guess);
    for (int y = 0; y < 32; y++) /* channel 2 of every pixel, as PixelShuffle puts the outputs of the convolution */
        for (int col = 0; col < 32; col++) {
            int q = 2 * 64 + y % 8 * 8 + col % 8, token = 1 + y / 8 * 4 + col / 8;
            double sum = (double)bias[q];
            for (int d = 0; d < D; d++)
                sum += (double)w[q * D + d] * (double)x[token * D + d];
            assert_true(fabs(sum - (double)got[(2 * 32 + y) * 32 + col]) < 1e-4);
        }
    bench_free(&b);
    set_free(&s);
    remove_dir(dir);
}

static void what_the_config_says(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    Model m;
    Err err = {""};
    start_masked(&s, dir, sizeof dir, "says");
    set_write(&s, dir);
    put_config(dir, "\"use_mask_token\": false, \"vitrine_reconstruct\": true");
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(!m.vit.mask_token && m.vit.reconstruct);
    bool said = false;
    for (int i = 0; i < m.assumption_count; i++)
        said |= strstr(m.assumptions[i], "mask_token") != NULL;
    assert_true(said);
    model_free(&m);
    put_config(dir, "\"use_mask_token\": 3");
    REFUSED(dir, "config.json", "use_mask_token", "true or false");
    put_config(dir, "\"vitrine_reconstruct\": false");
    REFUSED(dir, "config.json", "vitrine_reconstruct", "decoder.0.weight");
    set_drop(&s, "vit.embeddings.mask_token");
    set_write(&s, dir);
    put_config(dir, "\"use_mask_token\": true"); /* a model opens without: nothing of its answer is missing */
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(!m.vit.mask_token && m.vit.reconstruct);
    model_free(&m);
    set_drop(&s, "decoder.0.weight");
    set_drop(&s, "decoder.0.bias");
    set_write(&s, dir);
    put_config(dir, "\"vitrine_reconstruct\": true");
    REFUSED(dir, "decoder.0.weight", "missing");
    set_free(&s);
    remove_dir(dir);
}

static void wrong_shapes(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    Model m;
    Err err = {""};
    start_masked(&s, dir, sizeof dir, "shapes");
    put_config(dir, "");
    s.t[set_find(&s, "decoder.0.weight")].shape[0] = PIXELS / 4;
    set_write(&s, dir);
    REFUSED(dir, "decoder.0.weight", "[48, 32, 1, 1]", "[192, 32, 1, 1]");
    s.t[set_find(&s, "decoder.0.weight")].shape[0] = PIXELS;
    s.t[set_find(&s, "decoder.0.bias")].shape[0] = PIXELS - 1;
    set_write(&s, dir);
    REFUSED(dir, "decoder.0.bias", "[191]", "[192]");
    set_drop(&s, "decoder.0.bias");
    set_write(&s, dir);
    REFUSED(dir, "decoder.0.bias", "missing");
    set_drop(&s, "decoder.0.weight");
    s.t[set_find(&s, "vit.embeddings.mask_token")].shape[2] = 16; /* of some other network */
    set_write(&s, dir);
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(!m.vit.mask_token && !m.vit.reconstruct);
    model_free(&m);
    set_free(&s);
    remove_dir(dir);
}

static void timm_mask_token(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    Model m;
    Err err = {""};
    start(&s, dir, sizeof dir, "timm-mask", ORACLE "tiny");
    set_free(&s);
    set_read(&s, ORACLE "tiny/model_timm.safetensors");
    set_add(&s, "mask_token", 2, (size_t[]){1, D}, ramp(D, 0.5f));
    set_write(&s, dir);
    put_config(dir, "");
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(m.vit.mask_token);
    assert_memory_equal(vit_weight(&m.weights, VIT_MASK_TOKEN, 0)->data, s.t[s.count - 1].data, D * sizeof(float));
    model_free(&m);
    set_free(&s);
    remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masked_image_modelling),
        cmocka_unit_test(what_the_config_says),
        cmocka_unit_test(wrong_shapes),
        cmocka_unit_test(timm_mask_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
