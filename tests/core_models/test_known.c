/* What a checkpoint is called decides what its tensors cannot: known names, names of other models, unknown ones. */
#include "tests/core_models/tensor_set.h"

#include "core/models/checkpoint.h"

static void put_config(const char *dir, const char *text)
{
    put_file(dir, "config.json", text, strlen(text));
}

static void timm_folder(char *dir, size_t n, const char *architecture)
{
    char text[600];
    scratch_dir(dir, n, "known");
    copy_file(ORACLE "tiny/model_timm.safetensors", dir, "model.safetensors");
    snprintf(text, sizeof text,
             "{\"architecture\": \"%s\", \"model_args\": {\"img_size\": 32, \"num_heads\": 4}, \"pretrained_cfg\": "
             "{\"input_size\": [3, 32, 32]}}",
             architecture);
    put_config(dir, text);
}

static void timm_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        MapFn act;
        float eps;
    } cases[] = {
        {"vit_base_patch16_224.augreg_in21k", MAP_GELU, 1e-6f},
        {"vit_base_patch32_clip_224", MAP_GELU, 1e-5f},
        {"vit_base_patch16_clip_quickgelu_224.openai", MAP_QUICK_GELU, 1e-5f},
        {"vit_so400m_patch16_siglip_gap_256", MAP_GELU_TANH, 1e-6f},
        {"vit_large_patch16_siglip_gap_512", MAP_GELU_TANH, 1e-6f},
        {"vit_large_patch16_siglip_gap_384", MAP_GELU, 1e-6f},
        {"vit_base_patch14_reg4_dinov2", MAP_GELU, 1e-6f},
        {"deit_small_distilled_patch16_224", MAP_GELU, 1e-6f},
        {"deit3_base_patch16_384", MAP_GELU, 1e-6f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256];
        Model m;
        Err err = {""};
        timm_folder(dir, sizeof dir, cases[i].name);
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.vit.act, cases[i].act);
        assert_memory_equal(&m.vit.eps, &cases[i].eps, sizeof m.vit.eps);
        assert_int_equal(m.guesses, 0);
        assert_null(m.guess_note);
        model_free(&m);
        remove_dir(dir);
    }
}

/* The same tensors under names of models that compute something else. */
static void timm_others(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"vit_base_patch16_rpn_224", "on the branches"},
        {"vit_small_patch16_18x2_224", "side by side"},
        {"vit_giant_patch14_dinov2", "SwiGLU"},
        {"vit_base_patch16_siglip_384.webli", "attention pooling"},
        {"vit_base_patch16_rope_ape_reg1_gap_256", "rotated"},
        {"vit_base_patch16_224_sam", "not known here"},
        {"vit_Base_patch16_224", "--assume"},
        {"vit__patch16_224", "--assume"},
        {"eva02_base_patch14_224", "where its LayerNorms stand"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256];
        timm_folder(dir, sizeof dir, cases[i][0]);
        REFUSED(dir, "config.json", "\"architecture\"", cases[i][1]);
        remove_dir(dir);
    }
}

static void arguments(void **state)
{
    (void)state;
    static const char *const cases[] = {"norm_layer", "block_fn", "qk_norm", "mlp_layer", "attn_layer"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256], text[300];
        timm_folder(dir, sizeof dir, "vit_base_patch16_224");
        snprintf(text, sizeof text,
                 "{\"architecture\": \"vit_base_patch16_224\", \"model_args\": {\"img_size\": 32, \"num_heads\": 4, "
                 "\"%s\": \"x\"}}",
                 cases[i]);
        put_config(dir, text);
        REFUSED(dir, cases[i], "--assume");
        remove_dir(dir);
    }
}

/* Head widths that the width does not tell: 16 heads of 48 where 12 of 64 are usual. */
static void heads(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int heads;
    } cases[] = {{"vit_base_patch16_gap_224", 16}, {"vit_base_patch16_224", 12}};
    VitConfig c = vit_config_base();
    c.image_h = c.image_w = 32;
    c.layers = 1;
    c.mlp = 8;
    c.classes = 2;
    Model m;
    char dir[256], path[300], text[200];
    Err err = {""};
    scratch_dir(dir, sizeof dir, "heads");
    model_seeded(&m, &c, 3);
    assert_true(model_save(&m, dir, &err));
    model_free(&m);
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{\"architecture\": \"%s\", \"img_size\": 32}", cases[i].name);
        put_config(dir, text);
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.vit.heads, cases[i].heads);
        model_free(&m);
    }
    remove_dir(dir);
}

static void hugging_face(void **state)
{
    (void)state;
    static const char *const refused_types[] = {"ijepa", "beit", "yolos", "somebodys_vit"};
    Set s;
    char dir[256], text[200];
    Model m;
    Err err = {""};
    start(&s, dir, sizeof dir, "hf", ORACLE "tiny");
    set_write(&s, dir);
    set_free(&s);
    for (size_t i = 0; i < sizeof refused_types / sizeof *refused_types; i++) {
        snprintf(text, sizeof text, "{\"model_type\": \"%s\", \"num_attention_heads\": 4, \"image_size\": 32}",
                 refused_types[i]);
        put_config(dir, text);
        REFUSED(dir, "config.json", "\"model_type\"", refused_types[i]);
    }
    assert_true(model_load_assuming(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.guesses, 3); /* the type, the activation, the epsilon */
    assert_non_null(strstr(m.guess_note, "3 things are assumed"));
    assert_non_null(strstr(m.assumptions[0], "somebodys_vit"));
    model_free(&m);
    put_config(dir, "{\"model_type\": \"dinov2\", \"num_attention_heads\": 4, \"image_size\": 32}");
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(m.vit.eps > 0.9e-6f && m.vit.eps < 1.1e-6f);
    model_free(&m);
    put_file(dir, "preprocessor_config.json", "{\"size\": 24}", 12);
    REFUSED(dir, "preprocessor_config.json", "24 × 24", "32 × 32", "interpolates");
    assert_true(model_load_assuming(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.guesses, 1);
    model_free(&m);
    remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timm_names), cmocka_unit_test(timm_others),  cmocka_unit_test(arguments),
        cmocka_unit_test(heads),      cmocka_unit_test(hugging_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
