/* What stands beside a model's weights: what a configuration promises they must have, whose processor counts,
 * open_clip's file. */
#include "tests/core_models/tensor_set.h"

#define FAMILIES "tests/data/families/"
#define TIMM "{\"architecture\": \"%s\", \"model_args\": {\"img_size\": 32, \"num_heads\": 4%s}%s}"

/* The recorded model under timm's names or Hugging Face's, with more tensors of D numbers ("name", %d each block), or
 * without some ("-what their names begin with"). */
static void folder(char *dir, size_t n, const char *model, const char *more, const char *config)
{
    Set s;
    char path[300];
    scratch_dir(dir, n, "beside");
    snprintf(path, sizeof path, "%s.safetensors", model);
    set_read(&s, path);
    for (size_t i = s.count; more && *more == '-' && i-- > 0;)
        if (strncmp(s.name[i], more + 1, strlen(more + 1)) == 0)
            set_drop(&s, s.name[i]);
    for (int layer = 0; more && *more != '-' && layer < (strchr(more, '%') ? 2 : 1); layer++) {
        char name[160];
        const char *mark = strchr(more, '%');
        float *x = calloc(32, sizeof *x);
        snprintf(name, sizeof name, "%.*s%.*d%s", mark ? (int)(mark - more) : (int)strlen(more), more, mark ? 1 : 0,
                 mark ? layer : 0, mark ? mark + 2 : "");
        set_add(&s, name, 1, (size_t[]){32}, x);
    }
    set_write(&s, dir);
    set_free(&s);
    put_file(dir, "config.json", config, strlen(config));
}

/* Each contradicts the tensors in one point; without the key, or with the other value, the model opens. */
static void timm_promises(void **state)
{
    (void)state;
    static const struct {
        const char *name, *args, *config, *more, *says; /* says NULL: it opens */
    } cases[] = {
        {"vit_base_patch16_224", "", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"init_values\": 1e-5", "", NULL,
         "\"init_values\" is 1e-05, but there is no tensor"},
        {"vit_base_patch16_224", ", \"init_values\": null", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"init_values\": \"x\"", "", NULL, "\"init_values\" must be a number"},
        {"vit_base_patch16_224", "", "", "blocks.%d.ls1.gamma", "lacks LayerScale"},
        {"vit_base_patch16_224", ", \"pre_norm\": true", "", NULL, "\"pre_norm\" is true, but there is no tensor"},
        {"vit_base_patch16_224", ", \"pre_norm\": false", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"pre_norm\": 7", "", NULL, "\"pre_norm\" must be true or false"},
        {"vit_base_patch16_clip_224", "", "", NULL, "has a norm before the blocks"},
        {"vit_base_patch16_clip_224", ", \"pre_norm\": false", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"reg_tokens\": 4", "", NULL, "\"reg_tokens\" is 4, but there is no tensor"},
        {"vit_base_patch16_224", ", \"reg_tokens\": 0", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"class_token\": false", "", NULL,
         "\"class_token\" is false, but there is a tensor"},
        {"vit_base_patch16_224", ", \"class_token\": true", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"no_embed_class\": true", "", NULL, "\"no_embed_class\" is true, but"},
        {"vit_base_patch16_224", ", \"no_embed_class\": false", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"mlp_ratio\": \"2\"", "", NULL, "\"mlp_ratio\" must be a number"},
        {"vit_base_patch16_224", ", \"mlp_ratio\": 1e300", "", NULL, "\"mlp_ratio\" is 1e+300, but the tensors have"},
        {"vit_base_patch16_224", ", \"mlp_ratio\": 4", "", NULL, "makes an MLP of 128, but the tensors have 64"},
        {"vit_base_patch16_224", ", \"mlp_ratio\": 2", "", NULL, NULL},
        {"vit_base_patch16_224", ", \"fc_norm\": true", "", NULL, "\"fc_norm\" is true, but there is no tensor"},
        {"vit_base_patch16_224", "", ", \"global_pool\": \"avg\"", NULL, "\"global_pool\" is \"avg\", but there is no"},
        {"vit_base_patch16_224", ", \"fc_norm\": false", ", \"global_pool\": \"avg\"", NULL, NULL},
        {"vit_base_patch16_224", "", ", \"global_pool\": \"token\"", NULL, NULL},
        {"vit_base_patch16_gap_224", "", ", \"global_pool\": \"avg\"", NULL, NULL},
        {"vit_base_patch16_224", ", \"fc_norm\": true", "", "-head.", "\"fc_norm\" is true, but there is no tensor"},
        {"vit_base_patch16_224", ", \"fc_norm\": true, \"final_norm\": false", "", "-norm.", NULL},
        {"vit_base_patch16_224", "", ", \"num_classes\": 5", NULL, NULL},
        {"vit_base_patch16_224", "", ", \"num_classes\": 0", NULL, "\"num_classes\" is 0, but the tensors have 5"},
        {"vit_base_patch16_224", ", \"num_classes\": 4", "", NULL, "\"num_classes\" is 4, but the tensors have 5"},
        {"vit_base_patch16_224", "", ", \"num_classes\": 5", "-head.", "\"num_classes\" names 5 classes, but"},
        {"vit_base_patch16_224", "", ", \"num_classes\": 0", "-head.", NULL},
        {"vit_base_patch16_224", "", ", \"pretrained_cfg\": {\"num_classes\": 5}", "-head.", "names 5 classes"},
        {"vit_base_patch16_224", "", ", \"pretrained_cfg\": {\"input_size\": [1, 32, 32]}", NULL,
         "\"input_size\" is 1, but the tensors have 3"},
        {"vit_base_patch16_224", "", ", \"num_features\": 64", NULL, "\"num_features\" is 64, but the tensors have 32"},
        {"vit_base_patch16_224", "", ", \"num_features\": 32", NULL, NULL},
        {"vit_base_patch16_224", "", ", \"id2label\": {\"0\": \"a\"}", NULL,
         "\"id2label\" has 1 classes, but the classifier has 5"},
        {"vit_base_patch16_dinov3", "", "", NULL, "but the tensors say otherwise"},
        {"vit_base_patch14_dinov2", "", "", NULL, "has LayerScale"},
        {"vit_base_patch16_reg4_gap_256", "", "", NULL, "has register tokens"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256], config[600];
        Model m;
        Err err = {""};
        snprintf(config, sizeof config, TIMM, cases[i].name, cases[i].args, cases[i].config);
        folder(dir, sizeof dir, ORACLE "tiny/model_timm", cases[i].more, config);
        if (cases[i].says)
            REFUSED(dir, "config.json", cases[i].says);
        else if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s: %s", config, err.text);
        else
            model_free(&m);
        remove_dir(dir);
    }
}

#define TOWERS ", \"vision_config\": {\"num_attention_heads\": 2}"

static void hugging_face_promises(void **state)
{
    (void)state;
    static const struct {
        const char *model, *type, *more, *keys, *says;
    } cases[] = {
        {ORACLE "tiny/model", "vit", NULL, "", NULL},
        {ORACLE "tiny/model", "vit", "vit.encoder.layer.%d.layer_scale1.lambda1", "",
         "(vit) this model lacks LayerScale"},
        {ORACLE "tiny/model", "vit", NULL, ", \"num_register_tokens\": 4",
         "\"num_register_tokens\" is 4, but there is no"},
        {ORACLE "tiny/model", "vit", NULL, ", \"num_register_tokens\": 0, \"mlp_ratio\": 9, \"intermediate_size\": 64",
         NULL},
        {ORACLE "tiny/model", "vit", NULL, ", \"use_swiglu_ffn\": true", "\"use_swiglu_ffn\" is true, but there is no"},
        {ORACLE "tiny/model", "vit", NULL, ", \"mlp_ratio\": 4", "makes an MLP of 128"},
        {FAMILIES "beit/model", "beit", NULL, "", NULL},
        {FAMILIES "beit/model", "beit", NULL, ", \"use_mean_pooling\": false",
         "\"use_mean_pooling\" is false, but there is a"},
        {FAMILIES "beit/model", "beit", NULL, ", \"use_mean_pooling\": true", NULL},
        {FAMILIES "beit/model", "beit", NULL, ", \"layer_scale_init_value\": 0",
         "\"layer_scale_init_value\" is 0, but"},
        {FAMILIES "beit/model", "beit", NULL, ", \"use_absolute_position_embeddings\": true", "position_embeddings"},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"num_register_tokens\": 2", NULL},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"num_register_tokens\": 4",
         "\"num_register_tokens\" is 4, but tensor"},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"num_register_tokens\": 0",
         "\"num_register_tokens\" is 0, but there is a"},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"use_gated_mlp\": true", "\"use_gated_mlp\" is true, but"},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"key_bias\": true", "\"key_bias\" is true, but there is no"},
        {FAMILIES "dinov3_gated/model", "dinov3_vit", NULL, ", \"use_gated_mlp\": false",
         "\"use_gated_mlp\" is false, but"},
        {FAMILIES "dinov3/model", "dinov3_vit", NULL, ", \"rope_theta\": 0",
         "config.json: \"rope_theta\" is 0; the base"},
        {ORACLE "tiny/model", "vit", NULL, ", \"num_labels\": 0", "\"num_labels\" is 0, but the tensors have 5"},
        {ORACLE "tiny/model", "vit", "-classifier", ", \"num_labels\": 5", "\"num_labels\" names 5 classes, but"},
        {ORACLE "tiny/model", "vit", "-classifier", ", \"num_labels\": 5, \"architectures\": [\"ViTModel\"]", NULL},
        {FAMILIES "dinov2/model", "dinov2", NULL, ", \"image_size\": 20, \"id2label\": {\"0\": \"a\", \"1\": \"b\"}",
         "\"id2label\" has 2 classes, but the classifier has 3"},
        {FAMILIES "siglip/model", "siglip_vision_model", NULL, ", \"vision_use_head\": true", NULL},
        {FAMILIES "siglip/model", "siglip_vision_model", NULL, ", \"vision_use_head\": false",
         "\"vision_use_head\" is false, but there is a"},
        {FAMILIES "siglip/model", "siglip_vision_model", "-vision_model.head.", "", "has attention pooling"},
        {FAMILIES "siglip/model", "siglip_vision_model", "-vision_model.head.", ", \"vision_use_head\": true",
         "has attention pooling"},
        {FAMILIES "siglip/model", "siglip_vision_model", "-vision_model.head.", ", \"vision_use_head\": false", NULL},
        {FAMILIES "siglip_classifier/model", "siglip", NULL, ", \"num_labels\": 3" TOWERS, NULL},
        {FAMILIES "siglip_classifier/model", "siglip", NULL, ", \"num_labels\": 4" TOWERS,
         "\"num_labels\" is 4, but the tensors have 3"},
        {FAMILIES "siglip_classifier/model", "siglip", "-vision_model.head.", ", \"vision_use_head\": true", NULL},
        {FAMILIES "clip_classifier/model", "clip", NULL, ", \"projection_dim\": 512" TOWERS, NULL},
        {FAMILIES "clip_classifier/model", "clip", NULL, ", \"id2label\": {\"0\": \"a\"}" TOWERS,
         "\"id2label\" has 1 classes, but the classifier has 3"},
        {FAMILIES "clip/model", "clip", NULL, ", \"projection_dim\": 12" TOWERS, NULL},
        {FAMILIES "clip/model", "clip", NULL, ", \"projection_dim\": 13" TOWERS,
         "\"projection_dim\" is 13, but the tensors have 12"},
        {FAMILIES "clip/model", "clip", "-visual_projection", ", \"projection_dim\": 12" TOWERS,
         "\"projection_dim\" is 12, but the tensors have 0"},
        {FAMILIES "clip/model", "clip_vision_model", "-visual_projection", ", \"projection_dim\": 512", NULL},
        {FAMILIES "clip/model", "clip_vision_model", "-visual_projection",
         ", \"projection_dim\": 512, \"architectures\": [\"CLIPVisionModelWithProjection\"]",
         "\"projection_dim\" is 512, but the tensors have 0"},
        {FAMILIES "dinov2/model", "vit", NULL, "", "lacks LayerScale"},
        {FAMILIES "dinov2_registers/model", "dinov2", NULL, ", \"image_size\": 20", "lacks register tokens"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256], config[600];
        Model m;
        Err err = {""};
        bool tiny = strstr(cases[i].model, "tiny") != NULL, d3 = strstr(cases[i].model, "dinov3") != NULL;
        snprintf(config, sizeof config, "{\"model_type\": \"%s\", \"num_attention_heads\": %d%s%s}", cases[i].type,
                 tiny ? 4 : 2, d3 ? ", \"image_size\": 24" : "", cases[i].keys);
        folder(dir, sizeof dir, cases[i].model, cases[i].more, config);
        if (cases[i].says)
            REFUSED(dir, "config.json", cases[i].says);
        else if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s: %s", config, err.text);
        else
            model_free(&m);
        remove_dir(dir);
    }
}

/* SigLIP without its head ends with its tokens, as AIMv2 does. What is wrong in the configuration is not said of the
 * preparation beside it. */
static void ends_and_blame(void **state)
{
    (void)state;
    char dir[256];
    Model m;
    Err err = {""};
    folder(dir, sizeof dir, FAMILIES "siglip/model", "-vision_model.head.",
           "{\"model_type\": \"siglip_vision_model\", \"num_attention_heads\": 2, \"vision_use_head\": false}");
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(m.vit.pool == VIT_POOL_NONE && !m.vit.embeds);
    model_free(&m);
    remove_dir(dir);
    folder(dir, sizeof dir, FAMILIES "dinov3/model", NULL,
           "{\"model_type\": \"dinov3_vit\", \"num_attention_heads\": 8, \"image_size\": 24}");
    put_file(dir, "preprocessor_config.json", "{\"size\": 12}", 12);
    REFUSED(dir, "/config.json: heads of width 2");
    remove_dir(dir);
}

/* Written by ourselves as a "vit", with parts that no such model has: what we write says so, and is read again. */
static void own_promises(void **state)
{
    (void)state;
    VitConfig c;
    Model m, back;
    Err err = {""};
    char dir[256];
    assert_true(model_size("tiny", &c));
    c.registers = 3;
    c.pos = VIT_POS_BEFORE_REGISTERS;
    c.layer_scale = true;
    model_seeded(&m, &c, 4);
    m.preprocess.exact = true;
    scratch_dir(dir, sizeof dir, "own");
    assert_true(model_save(&m, dir, &err));
    if (!model_load(&back, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(back.vit.registers, 3);
    assert_true(back.vit.layer_scale && back.preprocess.exact);
    model_free(&back);
    m.preprocess.mode = RESIZE_KEEP;
    assert_true(model_save(&m, dir, &err));
    assert_true(model_load(&back, dir, NULL, NULL, &err));
    assert_int_equal(back.preprocess.mode, RESIZE_KEEP);
    model_free(&back);
    model_free(&m);
    remove_dir(dir);
}

static void put_text(const char *dir, const char *name, const char *text)
{
    put_file(dir, name, text, strlen(text));
}

static void drop(const char *dir, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(unlink(path), 0);
}

/* transformers 5 nests the image processor in processor_config.json, where it counts before the other file. A key that
 * is not known is refused, or left out and said with --assume. */
static void processors(void **state)
{
    (void)state;
    static const char config[] = "{\"model_type\": \"vit\", \"num_attention_heads\": 4, \"image_size\": 32}";
    char dir[256];
    Model m;
    Err err = {""};
    folder(dir, sizeof dir, ORACLE "tiny/model", NULL, config);
    put_text(dir, "preprocessor_config.json", "{\"image_mean\": 0.25, \"size\": 32}");
    put_text(dir, "processor_config.json", "{\"processor_class\": \"CLIPProcessor\"}"); /* as older ones are */
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(m.vit.mean[0] == 0.25f);
    model_free(&m);
    put_text(dir, "processor_config.json", "{\"image_processor\": {\"image_mean\": 0.75, \"size\": 32}}");
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(m.vit.mean[0] == 0.75f);
    model_free(&m);
    put_text(dir, "processor_config.json", "{\"image_processor\": [1]}");
    REFUSED(dir, "processor_config.json", "must be an object");
    put_text(dir, "processor_config.json", "{\"image_processor\": {\"do_pad\": true}}");
    REFUSED(dir, "processor_config.json", "\"do_pad\" changes pixels");
    drop(dir, "processor_config.json");
    put_text(dir, "preprocessor_config.json", "{\"size\": 32, \"do_thumbnail\": true}");
    REFUSED(dir, "preprocessor_config.json", "do_thumbnail", "--assume");
    assert_true(model_load_assuming(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.guesses, 3); /* the activation and the epsilon too */
    assert_non_null(strstr(m.assumptions[2], "\"do_thumbnail\" in"));
    model_free(&m);
    put_text(dir, "preprocessor_config.json",
             "{\"do_resize\": false, \"size\": 40, \"do_center_crop\": true, "
             "\"crop_size\": 32}");
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.preprocess.mode, RESIZE_KEEP);
    assert_int_equal(m.assumption_count, 2); /* the activation, the epsilon */
    model_free(&m);
    remove_dir(dir);
}

/* DINOv3 of Hugging Face is resized as floats, whether its processor is named or not; a bytewise one that is named
 * counts, and so does timm's. */
static void dinov3_pictures(void **state)
{
    (void)state;
    static const struct {
        const char *family, *processor;
        bool exact;
    } cases[] = {{"dinov3", NULL, true},
                 {"dinov3", "{\"size\": 12}", true},
                 {"dinov3", "{\"size\": 12, \"image_processor_type\": \"DINOv3ViTImageProcessor\"}", true},
                 {"dinov3", "{\"size\": 12, \"image_processor_type\": \"ViTImageProcessor\"}", false},
                 {"timm_dinov3", NULL, false},
                 {"timm_dinov3", "{\"size\": 24, \"image_processor_type\": \"TimmWrapperImageProcessor\"}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256], path[300];
        Model m;
        Err err = {""};
        scratch_dir(dir, sizeof dir, "dinov3");
        snprintf(path, sizeof path, FAMILIES "%s/model.safetensors", cases[i].family);
        copy_file(path, dir, "model.safetensors");
        snprintf(path, sizeof path, FAMILIES "%s/config.json", cases[i].family);
        copy_file(path, dir, "config.json");
        if (cases[i].processor)
            put_text(dir, "preprocessor_config.json", cases[i].processor);
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.preprocess.exact, cases[i].exact);
        assert_true(cases[i].processor == NULL || m.vit.image_h == 12); /* timm's wrapper reads config.json */
        model_free(&m);
        remove_dir(dir);
    }
}

#define TOWER "\"image_size\": 12, \"patch_size\": 4, \"width\": 16, \"layers\": 2, \"head_width\": 8"

static void open_clip_folder(char *dir, size_t n, const char *model, const char *config)
{
    scratch_dir(dir, n, "open");
    copy_file(FAMILIES "clip_openai/model.safetensors", dir, model);
    if (config)
        put_text(dir, "open_clip_config.json", config);
}

static void drop_open_clip(const char *dir)
{
    char path[400];
    snprintf(path, sizeof path, "%s/open_clip_config.json", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/open_clip_model.safetensors", dir);
    unlink(path);
    remove_dir(dir);
}

static void open_clip(void **state)
{
    (void)state;
    static const struct {
        const char *model, *config;
        MapFn act;
        int guesses;
        float mean;
    } cases[] = {
        {"open_clip_model.safetensors",
         "{\"model_cfg\": {\"embed_dim\": 12, \"vision_cfg\": {" TOWER "}}, \"preprocess_cfg\": {\"mean\": [0.5, 0.25, "
         "0.125], \"std\": [0.5, 0.5, 0.5]}}",
         MAP_GELU, 0, 0.5f},
        {"open_clip_model.safetensors",
         "{\"model_cfg\": {\"quick_gelu\": true, \"vision_cfg\": {" TOWER "}}, \"preprocess_cfg\": {}}", MAP_QUICK_GELU,
         0, 0.48145466f},
        {"model.safetensors",
         "{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"act_kwargs\": {\"approximate\": \"tanh\"}, \"norm_kwargs\": "
         "{\"eps\": 1e-6}}}, \"preprocess_cfg\": {}}",
         MAP_GELU_TANH, 0, 0.48145466f},
        {"open_clip_model.safetensors", "{\"model_cfg\": {\"vision_cfg\": {" TOWER "}}}", MAP_GELU, 1, 0.48145466f},
    };
    char dir[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Model m;
        Err err = {""};
        open_clip_folder(dir, sizeof dir, cases[i].model, cases[i].config);
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.vit.act, cases[i].act);
        assert_int_equal(m.guesses, cases[i].guesses);
        assert_int_equal(m.vit.heads, 2);
        assert_true(m.vit.mean[0] == cases[i].mean);
        assert_true(m.vit.eps == (i == 2 ? 1e-6f : 1e-5f));
        model_free(&m);
        drop_open_clip(dir);
    }
}

/* Its file without the configuration: the default is guessed, and said. The recorded answers are those of quick GELU.
 */
static void open_clip_alone(void **state)
{
    (void)state;
    char dir[256], path[400];
    Model m;
    Err err = {""};
    bool said = false;
    open_clip_folder(dir, sizeof dir, "open_clip_model.safetensors", NULL);
    put_text(dir, "config.json", "{\"num_attention_heads\": 2}");
    snprintf(path, sizeof path, "%s/open_clip_model.safetensors", dir);
    assert_true(model_load(&m, path, NULL, NULL, &err));
    assert_int_equal(m.vit.act, MAP_GELU);
    for (int i = 0; i < m.assumption_count; i++)
        said = said || strstr(m.assumptions[i], "GELU, the form with erf (usual for open_clip");
    assert_true(said);
    model_free(&m);
    put_text(dir, "open_clip_config.json",
             "{\"model_cfg\": {\"quick_gelu\": true, \"vision_cfg\": {" TOWER "}}, "
             "\"preprocess_cfg\": {}}");
    assert_true(hash_of(dir) == hash_of(FAMILIES "clip_openai"));
    drop_open_clip(dir);
}

static void open_clip_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"attentional_pool\": true}}}",
         "\"attentional_pool\" is not read"},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"pool_type\": \"avg\"}}}", "\"pool_type\" is \"avg\""},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"act_kwargs\": {\"approximate\": \"x\"}}}}",
         "may be none or tanh"},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"ls_init_value\": 0.1}}}", "has LayerScale"},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER ", \"mlp_ratio\": 4}}}", "makes an MLP of 64"},
        {"{\"model_cfg\": {\"vision_cfg\": {\"width\": 32}}}", "\"width\" is 32"},
        {"{\"model_cfg\": {}}", "no \"vision_cfg\""},
        {"{\"model_cfg\": {\"embed_dim\": 13, \"vision_cfg\": {" TOWER "}}}",
         "\"embed_dim\" is 13, but the tensors have 12"},
        {"{\"model_cfg\": {\"vision_cfg\": {\"width\": 16}}}", "put {\"head_width\": …} into \"vision_cfg\" of"},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER "}}, \"preprocess_cfg\": {\"mode\": \"L\"}}", "\"mode\" is \"L\""},
        {"{\"model_cfg\": {\"vision_cfg\": {" TOWER "}}, \"preprocess_cfg\": {\"nobodys\": 3}}", "nobodys"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256];
        open_clip_folder(dir, sizeof dir, "open_clip_model.safetensors", cases[i][0]);
        REFUSED(dir, "open_clip_config.json", cases[i][1]);
        drop_open_clip(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timm_promises),     cmocka_unit_test(hugging_face_promises),
        cmocka_unit_test(own_promises),      cmocka_unit_test(ends_and_blame),
        cmocka_unit_test(processors),        cmocka_unit_test(dinov3_pictures),
        cmocka_unit_test(open_clip),         cmocka_unit_test(open_clip_alone),
        cmocka_unit_test(open_clip_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
