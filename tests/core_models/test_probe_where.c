/* Where it looked and what it guessed: maps over the patches against plain sums in double, the object's share, hidden
 * patches found from the tokens, the guess turned back into colours, and gradient × input along the difference it
 * predicts. */
#include "tests/core_models/probe_test.h"

#include "core/graph/grad.h"

static VitConfig guessing(void)
{
    VitConfig c = small();
    c.image_h = 16; /* not square */
    c.patch_h = 4;
    c.layers = 2;
    c.mask_token = c.reconstruct = true;
    return c;
}

/* Mean over i and j of a patch of x[c,y,i,x,j]², or of (x − y)² where y is given. */
static double patch_mean_square(const VitConfig *c, const float *x, const float *y, int patch)
{
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w;
    double sum = 0;
    for (int ch = 0; ch < c->channels; ch++)
        for (int i = 0; i < c->patch_h; i++)
            for (int j = 0; j < c->patch_w; j++) {
                size_t k = ((((size_t)ch * (size_t)rows + (size_t)(patch / cols)) * (size_t)c->patch_h + (size_t)i) *
                                (size_t)cols +
                            (size_t)(patch % cols)) *
                               (size_t)c->patch_w +
                           (size_t)j;
                double d = (double)x[k] - (y ? (double)y[k] : 0);
                sum += d * d;
            }
    return sum / (c->channels * c->patch_h * c->patch_w);
}

static void test_errors_of_the_guess(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = guessing();
    NodeId n;
    with_probes(&b, &c);
    has_shape(&b, "guess.error", "[p]");
    has_shape(&b, "guess.hidden", "[p]");
    has_shape(&b, "guess.hidden_error_mean", "[]");
    const float *guess = value(&b, "guess", &n), *image = value(&b, "image", &n), *error = value(&b, "guess.error", &n),
                *flat = value(&b, "guess.flat", &n);
    for (int p = 0; p < vit_patches(&c); p++) {
        near((double)error[p], patch_mean_square(&c, guess, image, p), "error");
        near((double)flat[p], patch_mean_square(&c, image, NULL, p), "flat");
    }
    const float *hidden = value(&b, "guess.hidden", &n);
    for (int p = 0; p < vit_patches(&c); p++)
        assert_true(hidden[p] == 0.0f);
    assert_true(*value(&b, "guess.hidden_count", &n) == 0.0f);
    assert_true(isnan(*value(&b, "guess.hidden_error_mean", &n))); /* the mean of nothing */
    bench_free(&b);
}

/* A picture whose guess is the picture itself comes back as its own pixels. */
static void check_pixels(VitInput input)
{
    Bench b = {0};
    VitConfig c = guessing();
    NodeId n;
    Err err = {""};
    Graph g = {0};
    c.input = input;
    c.mean[0] = 0.3f, c.mean[1] = 0.5f, c.mean[2] = 0.1f;
    c.std[0] = 0.2f, c.std[1] = 0.25f, c.std[2] = 0.4f;
    with_probes(&b, &c);
    if (input == VIT_INPUT_READY) {
        assert_int_equal(graph_find(&b.graph, "guess.pixels"), NO_NODE);
        bench_free(&b);
        return;
    }
    Edit e = {.kind = EDIT_VALUES, .path = "guess", .data = value(&b, "image", &n)};
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    const float *back = run_need(r, graph_find(&g, "guess.pixels"));
    for (size_t i = 0; i < bench_pixels(&c); i++)
        if (!(fabs((double)back[i] - (double)b.pixels[i]) < 1e-3))
            fail_msg("pixel %zu: %.9g, was %.9g", i, (double)back[i], (double)b.pixels[i]);
    const float *error = run_need(r, graph_find(&g, "guess.error"));
    for (int p = 0; p < vit_patches(&c); p++)
        assert_true(error[p] == 0.0f);
    run_free(r);
    graph_free(&g);
    bench_free(&b);
}

static void test_guess_as_colours(void **state)
{
    (void)state;
    check_pixels(VIT_INPUT_STANDARD);
    check_pixels(VIT_INPUT_PER_IMAGE);
    check_pixels(VIT_INPUT_READY);
}

static void test_hidden_patches_are_found(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = guessing();
    NodeId n;
    Err err = {""};
    Graph g = {0};
    with_probes(&b, &c);
    int patches = vit_patches(&c), *hide = calloc((size_t)patches, sizeof *hide);
    hide[1] = hide[4] = hide[patches - 1] = 1;
    NodeId embed = graph_find(&b.graph, "patch_embed");
    Edit e = {.kind = EDIT_OTHER,
              .path = "patch_embed",
              .axis = graph_node(&b.graph, embed)->dims.axis[0],
              .other = "mask_token",
              .index = hide};
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    const float *hidden = run_need(r, graph_find(&g, "guess.hidden")),
                *error = run_need(r, graph_find(&g, "guess.error"));
    double sum = 0;
    for (int p = 0; p < patches; p++) {
        assert_true(hidden[p] == (hide[p] ? 1.0f : 0.0f));
        sum += hide[p] ? (double)error[p] : 0;
    }
    near((double)*run_need(r, graph_find(&g, "guess.hidden_error_mean")), sum / 3, "mean over hidden patches");
    near((double)*run_need(r, graph_find(&g, "guess.hidden_count")), 3, "count");
    assert_true(memcmp(error, value(&b, "guess.error", &n), (size_t)patches * sizeof *error) != 0);
    run_free(r);
    graph_free(&g);
    free(hide);
    bench_free(&b);
}

static void test_attention_over_the_picture(void **state)
{
    (void)state;
    for (int mean = 0; mean < 2; mean++) {
        Bench b = {0};
        VitConfig c = guessing();
        NodeId n;
        c.pool = mean ? VIT_POOL_MEAN : VIT_POOL_CLS;
        c.registers = 2;
        with_probes(&b, &c);
        has_shape(&b, "where.attention", "[h,p]");
        has_shape(&b, "where.attention_mean", "[p]");
        const float *pattern = value(&b, "blocks.1.attn.pattern", &n), *got = value(&b, "where.attention", &n),
                    *all = value(&b, "where.attention_mean", &n);
        int tokens = vit_tokens(&c), prefix = vit_prefix(&c), patches = vit_patches(&c);
        for (int p = 0; p < patches; p++) {
            double heads = 0;
            for (int h = 0; h < c.heads; h++) {
                double want = 0;
                for (int t = mean ? prefix : 0; t < (mean ? tokens : 1); t++)
                    want += (double)pattern[(h * tokens + t) * tokens + prefix + p] / (mean ? patches : 1);
                near((double)got[h * patches + p], want, "attention");
                heads += want / c.heads;
            }
            near((double)all[p], heads, "mean of heads");
        }
        bench_free(&b);
    }
}

static void near_share(Bench *b, const char *path, const float *map, const float *object, int patches)
{
    NodeId n;
    double on = 0, all = 0;
    for (int p = 0; p < patches; p++) {
        on += (double)map[p] * (double)object[p];
        all += (double)map[p];
    }
    near((double)*value(b, path, &n), on / all, path);
}

static void test_shares_on_the_object(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = guessing();
    NodeId n;
    bench_seeded(&b, &c, 7);
    probes_add(&b.graph, &c, &b.nodes);
    int patches = vit_patches(&c);
    float *object = calloc((size_t)patches, sizeof *object);
    object[2] = object[3] = object[7] = 1;
    NodeId before = b.graph.count;
    probes_object_add(&b.graph, object);
    for (NodeId i = before; i < b.graph.count; i++)
        assert_true(graph_node(&b.graph, i)->flags & NODE_PROBE);
    run_extend(b.run);
    has_shape(&b, "where.head_mass", "[h]");
    near((double)*value(&b, "where.object_share", &n), 3.0 / patches, "the object's share");
    near_share(&b, "where.rollout_mass", value(&b, "rollout.patches", &n), object, patches);
    near_share(&b, "where.mean_mass", value(&b, "where.attention_mean", &n), object, patches);
    near_share(&b, "where.head_mass", value(&b, "where.attention", &n), object, patches); /* of head 0 */
    free(object);
    bench_free(&b);
}

/* Gradient × input adds up to the derivative along the picture: (f((1 + ε) x) − f((1 − ε) x)) / 2ε, patch by patch and
 * together. */
static void test_gradient_times_input(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = guessing();
    NodeId n;
    bench_seeded(&b, &c, 7);
    probes_add(&b.graph, &c, &b.nodes);
    int patches = vit_patches(&c);
    float *object = calloc((size_t)patches, sizeof *object);
    object[1] = 1;
    probes_object_add(&b.graph, object);
    NodeId before = b.graph.count;
    probes_gradient_add(&b.graph); /* no gradients yet: nothing to add */
    assert_int_equal(b.graph.count, before);
    NodeId answer = graph_find(&b.graph, "where.answer");
    grad_add(&b.graph, answer, grad_seed(&b.graph, answer, 0, "grad."), &b.nodes.input, 1, "grad.");
    probes_gradient_add(&b.graph);
    run_extend(b.run);
    has_shape(&b, "where.gradient", "[p]");
    const float *image = value(&b, "image", &n), *map = value(&b, "where.gradient", &n);
    size_t cells = bench_pixels(&c);
    float *moved = malloc(cells * sizeof *moved);
    double total = 0, f[2];
    for (int p = 0; p < patches; p++)
        total += (double)map[p];
    for (int k = 0; k < 2; k++) {
        const float step = 1.0f / 256;
        Graph g = {0};
        Err err = {""};
        for (size_t i = 0; i < cells; i++)
            moved[i] = image[i] * (k ? 1 + step : 1 - step);
        Edit e = {.kind = EDIT_VALUES, .path = "image", .data = moved};
        assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
        Run *r = run_new(&g, b.run, NULL);
        f[k] = (double)*run_need(r, graph_find(&g, "where.answer"));
        run_free(r);
        graph_free(&g);
    }
    double want = (f[1] - f[0]) * 128;
    if (!(fabs(total - want) <= 0.01 * fmax(1, fabs(want))))
        fail_msg("gradient × input adds up to %.6g, the logit moves by %.6g", total, want);
    double on = map[1] > 0 ? (double)map[1] : 0, all = 0;
    for (int p = 0; p < patches; p++)
        all += map[p] > 0 ? (double)map[p] : 0;
    near((double)*value(&b, "where.gradient_mass", &n), on / all, "what speaks for it on the object");
    free(moved);
    free(object);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_of_the_guess),      cmocka_unit_test(test_guess_as_colours),
        cmocka_unit_test(test_hidden_patches_are_found), cmocka_unit_test(test_attention_over_the_picture),
        cmocka_unit_test(test_shares_on_the_object),     cmocka_unit_test(test_gradient_times_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
