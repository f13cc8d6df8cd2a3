/* Two models: what their files say otherwise, which weights differ, and where the difference begins when both look at
 * one picture. */
#include "tests/core_diff/diffing.h"

#include "core/diff/diff.h"

static void load(Model *m, const char *path)
{
    Err err = {""};
    if (!model_load(m, path, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static const DiffSetting *setting(const DiffSetting *s, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(s[i].name, name) == 0)
            return &s[i];
    fail_msg("'%s' is not among the settings that differ", name);
    return NULL;
}

/* The same numbers under Hugging Face's names and timm's. */
static void one_model_in_two_layouts(void **state)
{
    (void)state;
    Model hf, timm;
    DiffSetting s[DIFF_SETTINGS];
    load(&hf, TINY);
    load(&timm, TINY "/model_timm.safetensors");
    assert_int_equal(diff_settings(&hf, &timm, s), 0);
    DiffWeights w = diff_weights(&hf, &timm, DIFF_TOLERANCE, 10, NULL);
    assert_int_equal(w.different, 0);
    assert_int_equal(w.compared, 2 * 16 + 8); /* of a block, of the whole model */
    assert_false(w.rounded);
    model_free(&hf);
    model_free(&timm);
}

static void settings_in_words(void **state)
{
    (void)state;
    Model a, b;
    DiffSetting s[DIFF_SETTINGS];
    load(&a, TINY);
    load(&b, TINY);
    b.vit.eps = 1e-6f;
    b.vit.act = MAP_QUICK_GELU;
    b.vit.scale = 1;
    b.vit.mean[1] = 0.25f;
    b.vit.std[2] = 0.75f;
    b.preprocess.filter = FILTER_BICUBIC;
    b.preprocess.mode = RESIZE_COVER;
    int n = diff_settings(&a, &b, s);
    assert_int_equal(n, 6);
    assert_string_equal(setting(s, n, "activation")->theirs, "quick_gelu");
    assert_string_equal(setting(s, n, "activation")->ours, "gelu");
    assert_string_equal(setting(s, n, "ε of LayerNorm")->ours, "1e-12");
    assert_string_equal(setting(s, n, "ε of LayerNorm")->theirs, "1e-06");
    assert_string_equal(setting(s, n, "factor on the scores")->theirs, "1");
    assert_string_equal(setting(s, n, "pixel mean")->theirs, "0.5 0.25 0.5");
    assert_string_equal(setting(s, n, "pixel standard deviation")->theirs, "0.5 0.5 0.75");
    assert_non_null(strstr(setting(s, n, "picture")->theirs, "bicubic"));
    model_free(&a);
    model_free(&b);
}

static void weights_that_differ(void **state)
{
    (void)state;
    Model a, b, half;
    Buf lines = {0};
    load(&a, TINY);
    load(&b, TINY);
    load(&half, TINY "/model_bf16.safetensors");
    DiffWeights w = diff_weights(&a, &half, DIFF_TOLERANCE, 3, &lines);
    assert_true(w.different > 20 && w.different <= w.compared && w.rounded);
    assert_string_equal(w.first, "patch_embed.weight");
    int count = 0;
    for (const char *p = buf_str(&lines); (p = strchr(p, '\n')); p++)
        count++;
    assert_int_equal(count, 3);
    assert_non_null(strstr(buf_str(&lines), "(rounding)"));
    buf_clear(&lines);
    const float *x = vit_weight(&b.weights, VIT_W_UP, 1)->data;
    b.block[(x - b.block) + 5] += 0.25f;
    w = diff_weights(&a, &b, DIFF_TOLERANCE, 3, &lines);
    assert_true(w.different == 1 && !w.rounded);
    assert_string_equal(w.first, "blocks.1.mlp.w_up");
    assert_non_null(strstr(buf_str(&lines), "largest error"));
    buf_clear(&lines);
    b.vit.layers = 1; /* a block less */
    w = diff_weights(&a, &b, DIFF_TOLERANCE, 100, &lines);
    assert_int_equal(w.different, 16);
    assert_non_null(strstr(buf_str(&lines), "only here"));
    buf_free(&lines);
    model_free(&a);
    model_free(&b);
    model_free(&half);
}

/* A run as a reference: what was given otherwise is where it begins, and nothing that follows is blamed. */
static void a_run_as_reference(void **state)
{
    (void)state;
    Side ours, theirs;
    Err err = {""};
    DiffReference r;
    DiffReport d;
    DiffOptions o = {.tolerance = DIFF_TOLERANCE};
    side_open(&ours, TINY, TINY "/image.ppm");
    side_open(&theirs, TINY "/model_timm.safetensors", TINY "/image.ppm");
    assert_true(diff_reference_of_run(&r, "theirs", theirs.bench.run, ours.subject.graph, &err));
    assert_true(diff_compare(&d, &ours.subject, &r, &o, &err));
    assert_true(d.same && d.count > 150);
    diff_report_free(&d);
    diff_reference_free(&r);
    run_free(theirs.bench.run);
    graph_free(&theirs.bench.graph);
    theirs.bench.model.vit.eps = 1e-3f;
    const float *b = vit_weight(&theirs.bench.model.weights, VIT_B_O, 1)->data;
    theirs.bench.model.block[b - theirs.bench.model.block] += 1;
    bench_start(&theirs.bench);
    assert_true(diff_reference_of_run(&r, "theirs", theirs.bench.run, ours.subject.graph, &err));
    assert_true(diff_compare(&d, &ours.subject, &r, &o, &err));
    assert_false(d.same);
    int eps = 0, others = 0;
    for (int i = 0; i < d.count; i++) {
        const char *path = graph_node(ours.subject.graph, d.row[i].tensor->node)->path;
        if (d.row[i].state != DIFF_BEGINS)
            continue;
        eps += strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".eps") == 0;
        others += strcmp(path, "blocks.1.attn.b_o") == 0;
    }
    assert_int_equal(eps, 5); /* two in each block, one at the end */
    assert_int_equal(others, 1);
    assert_int_equal(d.begins, 6);
    assert_non_null(strstr(d.cause[0].text, "ε = 0.001"));
    diff_report_free(&d);
    diff_reference_free(&r);
    side_close(&ours);
    side_close(&theirs);
}

static void model_or_trace(void **state)
{
    (void)state;
    assert_true(diff_is_model(TINY));
    assert_true(diff_is_model(TINY "/model.safetensors"));
    assert_true(diff_is_model(TINY "/model_timm.safetensors"));
    assert_false(diff_is_model(TINY "/expected.safetensors"));
    assert_false(diff_is_model(TINY "/config.json"));
    assert_false(diff_is_model("tests/data"));
    assert_false(diff_is_model("no/such/thing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_model_in_two_layouts), cmocka_unit_test(settings_in_words),
        cmocka_unit_test(weights_that_differ),      cmocka_unit_test(a_run_as_reference),
        cmocka_unit_test(model_or_trace),
    };
    return cmocka_run_group_tests_name("diff models", tests, NULL, NULL);
}
