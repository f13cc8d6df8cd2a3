/* What a checkpoint is called decides what its tensors cannot: known names, names of other models, unknown ones. */
#include "tests/core_models/tensor_set.h"

#include "core/models/checkpoint.h"

static void put_config(const char *dir, const char *text)
{
    put_file(dir, "config.json", text, strlen(text));
}

static void drop_file(const char *dir, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
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

enum { D = 32, LAYERS = 2 }; /* of the recorded model */

/* A weight of D numbers, or of rows of them; %d in its name is each block. */
static void add(Set *s, const char *name, size_t rows, float value)
{
    for (int i = 0; i < (strchr(name, '%') ? LAYERS : 1); i++) {
        char full[160];
        const char *mark = strchr(name, '%');
        float *x = calloc(rows * D, sizeof *x);
        for (size_t k = 0; k < rows * D; k++)
            x[k] = value;
        snprintf(full, sizeof full, "%.*s%.*d%s", mark ? (int)(mark - name) : (int)strlen(name), name, mark ? 1 : 0,
                 mark ? i : 0, mark ? mark + 2 : "");
        set_add(s, full, rows > 1 ? 3 : 1, rows > 1 ? (size_t[]){1, rows, D} : (size_t[]){D}, x);
    }
}

/* The tensors get the parts that models of that name have. */
static void as_named(const char *dir, const char *architecture)
{
    Set s;
    set_read(&s, ORACLE "tiny/model_timm.safetensors");
    if (strstr(architecture, "_clip_") && strncmp(architecture, "vit_", 4) == 0) {
        add(&s, "norm_pre.weight", 1, 1);
        add(&s, "norm_pre.bias", 1, 0);
    }
    if (strstr(architecture, "deit3") || strstr(architecture, "dinov2")) {
        add(&s, "blocks.%d.ls1.gamma", 1, 1);
        add(&s, "blocks.%d.ls2.gamma", 1, 1);
    }
    if (strstr(architecture, "_reg4_"))
        add(&s, "reg_token", 4, 0.1f);
    set_write(&s, dir);
    set_free(&s);
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
        as_named(dir, cases[i].name);
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

/* CLIP's projection kept as a classifier is an embedding; one trained further, or with a bias, names classes. */
static void timm_projection(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float bias;
        int embedding;
    } cases[] = {{"vit_base_patch16_clip_quickgelu_224.openai", 0, 5}, {"vit_base_patch16_clip_224.laion2b", 0, 5},
                 {"vit_base_patch16_clip_224.laion2b_ft_in1k", 0, 0},  {"eva_giant_patch14_clip_224.laion400m", 0, 5},
                 {"vit_base_patch16_clip_224.laion2b", 0.1f, 0},       {"vit_base_patch16_224", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256];
        Model m;
        Set s;
        Err err = {""};
        char path[300];
        timm_folder(dir, sizeof dir, cases[i].name);
        as_named(dir, cases[i].name);
        snprintf(path, sizeof path, "%s/model.safetensors", dir);
        set_read(&s, path);
        float *bias = calloc(5, sizeof *bias);
        bias[4] = cases[i].bias;
        set_drop(&s, "head.bias");
        set_add(&s, "head.bias", 1, (size_t[]){5}, bias);
        set_write(&s, dir);
        set_free(&s);
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.vit.project, cases[i].embedding);
        assert_int_equal(m.vit.classes, 5 - cases[i].embedding);
        assert_int_equal(m.vit.embeds, cases[i].embedding > 0);
        model_free(&m);
        remove_dir(dir);
    }
}

/* The same tensors under names of models that compute something else. */
static void timm_others(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"vit_small_patch16_18x2_224", "side by side"},
        {"vit_giant_patch14_dinov2", "gated MLP"},
        {"vit_base_patch16_siglip_384.webli", "attention pooling"},
        {"vit_base_patch16_rope_mixed_224", "learned rotations"},
        {"eva02_base_patch16_clip_224", "gated MLP"},
        {"beit3_base_patch16_224", "a norm inside attention"},
        {"aimv2_large_patch14_224", "gated MLP"},
        {"vit_base_patch16_rope_ape_reg1_gap_256", "rotated"},
        {"beit_base_patch16_224", "relative positions"},
        {"beit3_base_patch16_224", "norm inside attention"},
        {"vit_base_patch16_224_sam", "not known here"},
        {"vit_Base_patch16_224", "--assume"},
        {"vit__patch16_224", "--assume"},
        {"eva02_base_patch14_224", "gated MLP"},
        {"eva02_nobodys_224", "where its LayerNorms stand"},
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
    static const char *const refused_types[] = {"ijepa", "yolos", "somebodys_vit"};
    Set s;
    char dir[256], text[200];
    Model m;
    Err err = {""};
    start(&s, dir, sizeof dir, "hf", ORACLE "tiny");
    set_write(&s, dir);
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
    REFUSED(dir, "\"model_type\" (dinov2)", "has LayerScale");
    add(&s, "vit.encoder.layer.%d.layer_scale1.lambda1", 1, 1);
    add(&s, "vit.encoder.layer.%d.layer_scale2.lambda1", 1, 1);
    set_write(&s, dir);
    set_free(&s);
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(m.vit.eps > 0.9e-6f && m.vit.eps < 1.1e-6f);
    model_free(&m);
    put_file(dir, "preprocessor_config.json", "{\"size\": 24}",
             12); /* its program fits the table: so do we, and say so */
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(m.vit.image_h, 24);
    assert_int_equal(m.vit.table_h, 4);
    assert_int_equal(m.guesses, 2); /* the activation, the epsilon */
    assert_non_null(strstr(m.assumptions[2], "fitted to 3 × 3"));
    model_free(&m);
    put_file(dir, "preprocessor_config.json", "{\"size\": 25}", 12); /* its convolution drops the last row and column */
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(m.vit.image_h, 24);
    assert_int_equal(m.preprocess.beyond_h, 1);
    assert_non_null(strstr(m.assumptions[3], "of the 25 × 25 pixels 24 × 24 fill patches of 8 × 8"));
    model_free(&m);
    put_file(dir, "preprocessor_config.json", "{\"size\": 5}", 11);
    REFUSED(dir, "preprocessor_config.json", "whole number of patches");
    remove_dir(dir);
}

/* Hugging Face's masked autoencoder: the encoder is the recorded model without its head, bit for bit. */
static void masked_autoencoder(void **state)
{
    (void)state;
    static const char *const decoder[] = {"decoder.mask_token", "decoder.decoder_embed.weight",
                                          "decoder.decoder_layers.0.attention.attention.query.weight",
                                          "decoder.decoder_pred.bias"};
    size_t shape[] = {7};
    char dir[256];
    Set s;
    start(&s, dir, sizeof dir, "mae", ORACLE "tiny");
    HEADLESS(dir);
    set_drop(&s, "classifier.weight");
    set_drop(&s, "classifier.bias");
    set_write(&s, dir);
    uint64_t alone = hash_of(dir);
    for (size_t i = 0; i < sizeof decoder / sizeof *decoder; i++)
        set_add(&s, decoder[i], 1, shape, calloc(7, sizeof(float)));
    set_write(&s, dir);
    set_free(&s);
    REFUSED(dir, "no place for", "decoder.mask_token");
    put_config(dir, "{\"model_type\": \"vit_mae\", \"num_attention_heads\": 4, \"image_size\": 32, \"hidden_act\": "
                    "\"gelu\", \"layer_norm_eps\": 1e-12}");
    assert_true(hash_of(dir) == alone);
    Model m;
    Err err = {""};
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.assumption_count, 1);
    assert_non_null(strstr(m.assumptions[0], "decoder is left out (4 tensors)"));
    assert_int_equal(m.guesses, 0);
    model_free(&m);
    remove_dir(dir);
}

/* --- a model in several files --- */

/* The recorded model in two files by turns, and the index of both. */
static void write_shards(const Set *s, const char *dir, Buf *index)
{
    TensorOut part[2][256];
    size_t count[2] = {0, 0};
    buf_puts(index, "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {");
    for (size_t i = 0; i < s->count; i++) {
        part[i % 2][count[i % 2]++] = s->t[i];
        buf_printf(index, "%s\"%s\": \"part-%zu.safetensors\"", i ? ", " : "", s->name[i], i % 2);
    }
    buf_puts(index, "}}");
    for (size_t i = 0; i < 2; i++) {
        char path[300];
        Err err = {""};
        snprintf(path, sizeof path, "%s/part-%zu.safetensors", dir, i);
        if (!tensors_write(path, TF_SAFETENSORS, part[i], count[i], NULL, &err))
            fail_msg("%s", err.text);
    }
}

static void put_index(const char *dir, const Buf *b)
{
    put_file(dir, "model.safetensors.index.json", b->data, b->len);
}

/* The index with the first `from` made `to`: what each must be refused with. */
static void refused_index(const char *dir, const Buf *index, const char *from, const char *to, const char *word)
{
    const char *at = strstr(buf_str((Buf *)(uintptr_t)index), from);
    Buf b = {0};
    assert_non_null(at);
    buf_add(&b, index->data, (size_t)(at - index->data));
    buf_puts(&b, to);
    buf_puts(&b, at + strlen(from));
    put_index(dir, &b);
    buf_free(&b);
    REFUSED(dir, word);
}

static void shards(void **state)
{
    (void)state;
    static const char *const names[] = {"part-0.safetensors", "part-1.safetensors", "model.safetensors.index.json"};
    Set s;
    char dir[256], path[400];
    Buf index = {0};
    start(&s, dir, sizeof dir, "shards", ORACLE "tiny");
    write_shards(&s, dir, &index);
    put_index(dir, &index);
    assert_true(hash_of(dir) == hash_of(ORACLE "tiny"));
    refused_index(dir, &index, "part-0.safetensors", "../part-0.safetensors", "in no file of this folder");
    refused_index(dir, &index, "part-0.safetensors", "part-9.safetensors", "part-9.safetensors: there is no such file");
    refused_index(dir, &index, "part-0.safetensors", "part-1.safetensors", "not in the file that the index names");
    refused_index(dir, &index, s.name[3], "vit.nobody", "not in the file that the index names");
    refused_index(dir, &index, "weight_map", "weight_maps", "no \"weight_map\"");
    refused_index(dir, &index, "\"part-0.safetensors\"", "7", "in no file of this folder");
    refused_index(dir, &index, "{\"metadata\"", "[\"metadata\"", "model.safetensors.index.json");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    put_file(dir, "pytorch_model.bin.index.json", "{}", 2);
    REFUSED(dir, "PyTorch pickles", "pytorch_model-*.bin");
    snprintf(path, sizeof path, "%s/pytorch_model.bin.index.json", dir);
    unlink(path);
    buf_free(&index);
    set_free(&s);
    remove_dir(dir);
}

/* One tensor that the index does not know must not pass for part of a whole. */
static void shard_with_more(void **state)
{
    (void)state;
    Set s;
    char dir[256], path[400];
    Buf index = {0};
    size_t one[] = {1};
    start(&s, dir, sizeof dir, "more", ORACLE "tiny");
    write_shards(&s, dir, &index);
    put_index(dir, &index);
    buf_clear(&index);
    set_add(&s, "stranger", 1, one, calloc(1, sizeof(float)));
    write_shards(&s, dir, &index);
    REFUSED(dir, "'stranger'", "than the index says");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/part-%d.safetensors", dir, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", dir);
    unlink(path);
    buf_free(&index);
    set_free(&s);
    remove_dir(dir);
}

/* --- AIMv2 and norms that a name must announce --- */

static void drop_beginning(Set *s, const char *begin)
{
    for (size_t i = s->count; i-- > 0;)
        if (strncmp(s->name[i], begin, strlen(begin)) == 0)
            set_drop(s, s->name[i]);
}

#define AIMV2                                                                                                          \
    "{\"model_type\": \"%s\", \"hidden_size\": 16, \"intermediate_size\": 24, \"num_attention_heads\": 2, "            \
    "\"num_hidden_layers\": 2, \"image_size\": 12, \"patch_size\": 4%s}"

/* A folder of a family's tensors, but for those that begin so, with a configuration of its own; NULL: none. */
static void family_folder(char *dir, size_t n, const char *family, const char *without, const char *config)
{
    Set s;
    char path[200];
    scratch_dir(dir, n, "norms");
    snprintf(path, sizeof path, "tests/data/families/%s/model.safetensors", family);
    set_read(&s, path);
    if (without)
        drop_beginning(&s, without);
    set_write(&s, dir);
    set_free(&s);
    if (config)
        put_config(dir, config);
}

static void aimv2_members(void **state)
{
    (void)state;
    static const struct {
        const char *without, *type, *more, *says;
    } cases[] = {
        {"head.", "aimv2_vision_model", ", \"use_head\": true", "\"use_head\" is true, but there is no"},
        {NULL, "aimv2_vision_model", ", \"use_head\": false", "two models"},
        {NULL, "aimv2_vision_model", ", \"is_native\": true", "native resolution"},
        {"embeddings.position", "aimv2_vision_model", "", "native resolution"},
        {NULL, "aimv2_text_model", "", "it reads text"},
    };
    char dir[256], text[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, AIMV2, cases[i].type, cases[i].more);
        family_folder(dir, sizeof dir, "aimv2", cases[i].without, text);
        REFUSED(dir, cases[i].says, dir);
        remove_dir(dir);
    }
}

/* Without its head Hugging Face's tower ends with its tokens. */
static void aimv2_without_head(void **state)
{
    (void)state;
    char dir[256], text[400];
    Model m;
    Err err = {""};
    snprintf(text, sizeof text, AIMV2, "aimv2_vision_model", ", \"use_head\": false, \"rms_norm_eps\": 1e-6");
    family_folder(dir, sizeof dir, "aimv2", "head.", text);
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(m.vit.rms_norm && m.vit.patch_norm && m.vit.gated && !m.vit.embeds && !m.vit.bare_probe);
    assert_int_equal(m.vit.pool, VIT_POOL_NONE);
    assert_true(m.vit.eps > 0.9e-6f && m.vit.eps < 1.1e-6f);
    assert_int_equal(m.guesses, 2); /* the activation, how pictures are made ready */
    model_free(&m);
    remove_dir(dir);
}

/* Tensors whose norms nobody has named: what is missing is said, not that a download is broken. */
static void unnamed_norms(void **state)
{
    (void)state;
    char dir[256];
    Model m;
    Err err = {""};
    family_folder(dir, sizeof dir, "timm_aimv2", NULL, NULL);
    REFUSED(dir, "its norms have no bias", "config.json");
    remove_dir(dir);
    family_folder(dir, sizeof dir, "timm_eva02_clip", NULL, "{\"num_heads\": 2}");
    REFUSED(dir, "a norm inside its attention", "config.json");
    remove_dir(dir);
    family_folder(dir, sizeof dir, "timm_beit3", NULL, "{\"num_attention_heads\": 2}");
    REFUSED(dir, "a norm inside its attention", "config.json");
    if (!model_load_assuming(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(m.vit.merged_norm && m.vit.hidden_norm);
    assert_true(m.guesses > 0);
    model_free(&m);
    remove_dir(dir);
    family_folder(dir, sizeof dir, "timm_rpn", NULL,
                  "{\"architecture\": \"vit_base_patch16_rpn_224\", \"model_args\": {\"num_heads\": 2}}");
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_true(m.vit.branch_norm && !m.vit.post_norm);
    model_free(&m);
    remove_dir(dir);
}

static bool noted(const Model *m, const char *words, bool guess)
{
    for (int i = 0; i < (guess ? m->guesses : m->assumption_count); i++)
        if (strstr(m->assumptions[i], words))
            return true;
    return false;
}

/* What a config.json leaves out is assumed aloud, for the width of the tensors; what is mistyped is asked for. */
static void left_out(void **state)
{
    (void)state;
    static const struct {
        int width;
        const char *config, *says[2]; /* NULL: opens */
        int heads;
        const char *assumed[3];
    } cases[] = {
        {192,
         "{\"model_type\": \"vit\"}",
         {NULL},
         3,
         {"3 heads of 64", "layer_norm_eps is 1e-12", "hidden_act is GELU"}},
        {192, "{\"num_attention_heads\": 3}", {NULL}, 3, {"ε is", "activation", "mean 0.5"}},
        {192,
         "{\"model_type\": \"vit\", \"num_atention_heads\": 3}",
         {"did you mean \"num_attention_heads\""},
         0,
         {NULL}},
        {192, "{\"model_type\": \"vit\", \"layernorm_eps\": 1e-6}", {"did you mean \"layer_norm_eps\""}, 0, {NULL}},
        {192, "{\"model_type\": \"vitt\", \"num_attention_heads\": 3}", {"did you mean \"vit\""}, 0, {NULL}},
        {192, "{\"model_type\": \"bert\", \"num_attention_heads\": 3}", {"reads words, not pictures"}, 0, {NULL}},
        {64,
         "{\"model_type\": \"vit\"}",
         {"no \"num_attention_heads\" says it", "put {\"num_attention_heads\": …}"},
         0,
         {NULL}},
        {64, "{\"num_attention_heads\": 0}", {"a whole number from 1 to 64"}, 0, {NULL}},
        {64,
         "{\"num_attention_heads\": 4, \"vision_config\": {\"num_attention_heads\": 2, \"hiden_act\": \"relu\"}}",
         {"did you mean \"hidden_act\""},
         0,
         {NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[256];
        Model m;
        Err err = {""};
        VitConfig c = vit_config_base();
        c.image_h = c.image_w = 32;
        c.width = cases[i].width;
        c.heads = c.width / 64;
        c.layers = c.mlp = c.classes = 2;
        scratch_dir(dir, sizeof dir, "left-out");
        model_seeded(&m, &c, 3);
        assert_true(model_save(&m, dir, &err));
        model_free(&m);
        drop_file(dir, "preprocessor_config.json");
        put_config(dir, cases[i].config);
        if (!cases[i].heads) {
            REFUSED(dir, cases[i].says[0], cases[i].says[1]);
            continue;
        }
        if (!model_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(m.vit.heads, cases[i].heads);
        for (int a = 0; a < 3; a++)
            if (!noted(&m, cases[i].assumed[a], true))
                fail_msg("%s: nothing is said of '%s'", cases[i].config, cases[i].assumed[a]);
        model_free(&m);
        remove_dir(dir);
    }
}

/* Keys that nobody reads are listed; those that every file has are not. */
static void keys_not_read(void **state)
{
    (void)state;
    char dir[256];
    Model m;
    Err err = {""};
    scratch_dir(dir, sizeof dir, "keys");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    put_config(dir, "{\"model_type\": \"vit\", \"num_attention_heads\": 4, \"image_size\": 32, \"frobnicate\": 3, "
                    "\"torch_dtype\": \"float32\", \"_name_or_path\": \"x\", \"label2id\": {}, "
                    "\"transformers_version\": \"4.40\", \"attention_probs_dropout_prob\": 0}");
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(noted(&m, "\"frobnicate\" of config.json is not read", false));
    assert_false(noted(&m, "frobnicate", true)); /* no guess */
    for (int i = 0; i < m.assumption_count; i++)
        if (strstr(m.assumptions[i], "is not read") && !strstr(m.assumptions[i], "frobnicate"))
            fail_msg("%s", m.assumptions[i]);
    model_free(&m);
    remove_dir(dir);
}

/* An RMSNorm is written down and read back. */
static void rms_saved(void **state)
{
    (void)state;
    VitConfig c;
    Model m, back;
    Err err = {""};
    char dir[256];
    assert_true(model_size("tiny", &c));
    c.rms_norm = true;
    model_seeded(&m, &c, 9);
    scratch_dir(dir, sizeof dir, "rms");
    assert_true(model_save(&m, dir, &err));
    if (!model_load(&back, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(back.vit.rms_norm);
    assert_int_equal(vit_params(&back.vit), vit_params(&c));
    assert_memory_equal(vit_weight(&back.weights, VIT_LN2_GAMMA, 1)->data,
                        vit_weight(&m.weights, VIT_LN2_GAMMA, 1)->data, (size_t)c.width * sizeof(float));
    model_free(&back);
    c.patch_norm = true;
    m.vit.patch_norm = true;
    assert_false(model_save(&m, dir, &err));
    assert_non_null(strstr(err.text, "cannot be written"));
    model_free(&m);
    remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timm_names),
        cmocka_unit_test(timm_projection),
        cmocka_unit_test(timm_others),
        cmocka_unit_test(arguments),
        cmocka_unit_test(heads),
        cmocka_unit_test(hugging_face),
        cmocka_unit_test(masked_autoencoder),
        cmocka_unit_test(shards),
        cmocka_unit_test(shard_with_more),
        cmocka_unit_test(aimv2_members),
        cmocka_unit_test(aimv2_without_head),
        cmocka_unit_test(unnamed_norms),
        cmocka_unit_test(left_out),
        cmocka_unit_test(keys_not_read),
        cmocka_unit_test(rms_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
