/* Checkpoints in every layout that is read, and broken ones: each of them one line that names the file and the problem.
 */
#include "core/base/machine.h"
#include "core/models/text_model.h"
#include "tests/core_models/tensor_set.h"

/* --- layouts --- */

static void new_hugging_face_names(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    start(&s, dir, sizeof dir, "hf5", ORACLE "tiny");
    set_rename(&s, "encoder.layer.", "layers.");
    set_rename(&s, "attention.attention.query", "attention.q_proj");
    set_rename(&s, "attention.attention.key", "attention.k_proj");
    set_rename(&s, "attention.attention.value", "attention.v_proj");
    set_rename(&s, "attention.output.dense", "attention.o_proj");
    set_rename(&s, "intermediate.dense", "mlp.fc1");
    set_rename(&s, "output.dense", "mlp.fc2");
    set_write(&s, dir);
    assert_true(hash_of(dir) == hash_of(ORACLE "tiny"));
    set_free(&s);
    remove_dir(dir);
}

static void torchvision_names(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    start(&s, dir, sizeof dir, "tv", ORACLE "tiny");
    set_free(&s);
    set_read(&s, ORACLE "tiny/model_timm.safetensors");
    set_rename(&s, "cls_token", "class_token");
    set_rename(&s, "pos_embed", "encoder.pos_embedding");
    set_rename(&s, "patch_embed.proj", "conv_proj");
    set_rename(&s, "blocks.", "encoder.layers.encoder_layer_");
    set_rename(&s, "norm1", "ln_1");
    set_rename(&s, "norm2", "ln_2");
    set_rename(&s, "attn.qkv.weight", "self_attention.in_proj_weight");
    set_rename(&s, "attn.qkv.bias", "self_attention.in_proj_bias");
    set_rename(&s, "attn.proj", "self_attention.out_proj");
    set_rename(&s, "mlp.fc1", "mlp.0");
    set_rename(&s, "mlp.fc2", "mlp.3");
    set_rename(&s, "head.", "heads.head.");
    for (size_t i = 0; i < s.count; i++)
        if (strncmp(s.name[i], "norm.", 5) == 0) {
            char rest[160];
            snprintf(rest, sizeof rest, "%s", s.name[i] + 4);
            snprintf(s.name[i], sizeof s.name[0], "encoder.ln%.100s", rest);
        }
    set_write(&s, dir);
    Bench b;
    bench_load(&b, dir, ORACLE "tiny/image.ppm");
    assert_string_equal(b.model.layout, "torchvision");
    assert_true(bench_hash(&b) == hash_of(ORACLE "tiny"));
    assert_string_equal(graph_node(&b.graph, graph_find(&b.graph, "blocks.1.attn.w_k"))->leaf.origin,
                        "encoder.layers.encoder_layer_1.self_attention.in_proj_weight");
    bench_free(&b);
    set_rename(&s, "mlp.0", "mlp.linear_1");
    set_rename(&s, "mlp.3", "mlp.linear_2");
    set_write(&s, dir);
    assert_true(hash_of(dir) == hash_of(ORACLE "tiny"));
    set_free(&s);
    remove_dir(dir);
}

static void wrappers_and_useless_tensors(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    size_t shape[] = {1, 1, 32};
    start(&s, dir, sizeof dir, "wrap", ORACLE "tiny");
    set_rename(&s, "vit.", "module._orig_mod.vit.");
    set_rename(&s, "classifier.", "module._orig_mod.classifier.");
    set_add(&s, "module._orig_mod.vit.embeddings.mask_token", 3, shape, calloc(32, sizeof(float)));
    set_add(&s, "module._orig_mod.vit.pooler.dense.bias", 1, shape + 2, calloc(32, sizeof(float)));
    set_write(&s, dir);
    Bench b;
    bench_load(&b, dir, ORACLE "tiny/image.ppm");
    assert_true(bench_hash(&b) == hash_of(ORACLE "tiny"));
    bool said = false;
    for (int i = 0; i < b.model.assumption_count; i++)
        said |= strstr(b.model.assumptions[i], "pooler.dense.bias") != NULL;
    assert_true(said);
    assert_true(b.model.vit.mask_token);
    bench_free(&b);
    set_free(&s);
    remove_dir(dir);
}

/* A model without its head, as self-supervised ones are published: it ends with the read-out. */
static void no_head(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    start(&s, dir, sizeof dir, "headless", ORACLE "tiny");
    set_drop(&s, "classifier.weight");
    set_drop(&s, "classifier.bias");
    set_write(&s, dir);
    REFUSED(dir, "config.json: \"id2label\" names 5 classes", "'classifier.weight'", "set \"architectures\" to []");
    put_config_with(dir, "\"ViTForImageClassification\"", "");
    Bench b;
    bench_load(&b, dir, ORACLE "tiny/image.ppm");
    assert_int_equal(b.model.vit.classes, 0);
    assert_int_equal(b.nodes.logits, NO_NODE);
    assert_true(b.nodes.readout != NO_NODE);
    (void)bench_hash(&b);
    bench_free(&b);
    set_free(&s);
    remove_dir(dir);
}

/* --- what a folder says about itself --- */

static void facts(void **state)
{
    (void)state;
    Model m;
    Err err = {""};
    assert_true(model_load(&m, ORACLE "tiny/", NULL, NULL, &err));
    assert_string_equal(m.name, "tiny");
    assert_string_equal(m.layout, "Hugging Face ViT");
    assert_int_equal(m.vit.heads, 4);
    assert_int_equal(m.vit.head_dim, 8);
    assert_int_equal(m.assumption_count, 0);
    assert_true(m.trained && !m.drawn_shapes);
    assert_string_equal(m.class_names[4], "class 4");
    model_free(&m);
    assert_true(model_load(&m, ORACLE "tiny/model_timm.safetensors", NULL, NULL, &err));
    assert_string_equal(m.name, "model_timm");
    model_free(&m);
    model_free(&m);
}

/* Without config.json: what the shapes do not say is assumed aloud, or asked for. */
static void nothing_beside(void **state)
{
    (void)state;
    char dir[256];
    scratch_dir(dir, sizeof dir, "bare");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    REFUSED(dir, "number of heads", "num_attention_heads", "config.json", "width 32");
    static const char timm[] = "{\"architecture\": \"vit_odd_patch8_32\", \"model_args\": {}}";
    put_file(dir, "config.json", timm, sizeof timm - 1);
    Model m;
    Err err = {""};
    assert_false(model_load_assuming(&m, dir, NULL, NULL, &err)); /* a key that is read is asked for */
    assert_non_null(strstr(err.text, "put {\"num_heads\": …}"));
    put_file(dir, "config.json", "{\"num_attention_heads\": 4}", 26);
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    const char *const expected[] = {"32 × 32", "GELU", "ε is 1e-12", "preprocessor_config.json"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        bool said = false;
        for (int k = 0; k < m.assumption_count; k++)
            said |= strstr(m.assumptions[k], expected[i]) != NULL;
        if (!said)
            fail_msg("nothing was said about '%s'", expected[i]);
    }
    assert_null(m.class_names);
    model_free(&m);
    remove_dir(dir);
}

/* 64 is the rule for heads where nothing else is known. */
static void usual_heads(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Model m;
    char dir[256];
    Err err = {""};
    c.image_h = c.image_w = 32;
    c.width = 128;
    c.heads = 2;
    c.layers = 1;
    c.mlp = 64;
    c.classes = 3;
    scratch_dir(dir, sizeof dir, "usual");
    model_seeded(&m, &c, 3);
    assert_true(model_save(&m, dir, &err));
    model_free(&m);
    put_file(dir, "config.json", "{}", 2);
    assert_true(model_load(&m, dir, NULL, NULL, &err));
    assert_int_equal(m.vit.heads, 2);
    assert_non_null(strstr(m.assumptions[0], "2 heads of 64"));
    model_free(&m);
    remove_dir(dir);
}

/* --- broken ones --- */

static void broken_tensors(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    size_t odd[] = {7};
    start(&s, dir, sizeof dir, "broken", ORACLE "tiny");
    set_drop(&s, "vit.encoder.layer.1.output.dense.bias");
    set_write(&s, dir);
    REFUSED(dir, dir, "1 tensor ", "missing", "'vit.encoder.layer.1.output.dense.bias'");
    set_drop(&s, "vit.layernorm.weight");
    set_drop(&s, "vit.layernorm.bias");
    set_drop(&s, "vit.encoder.layer.0.layernorm_after.bias");
    set_write(&s, dir);
    REFUSED(dir, "4 tensors", "and 1 more", "'vit.layernorm.weight'");
    set_free(&s);
    start(&s, dir, sizeof dir, "broken", ORACLE "tiny"); /* what one block has all must have */
    set_drop(&s, "vit.encoder.layer.0.attention.attention.query.bias");
    set_write(&s, dir);
    REFUSED(dir, "1 tensor ", "missing", "'vit.encoder.layer.0.attention.attention.query.bias'");
    set_free(&s);
    start(&s, dir, sizeof dir, "broken", ORACLE "tiny");
    set_add(&s, "vit.encoder.layer.0.attention.extra", 1, odd, calloc(7, sizeof(float)));
    set_write(&s, dir);
    REFUSED(dir, "no place for", "'vit.encoder.layer.0.attention.extra'");
    set_free(&s);
    start(&s, dir, sizeof dir, "broken", ORACLE "tiny");
    TensorOut *t = &s.t[set_find(&s, "vit.encoder.layer.1.intermediate.dense.weight")];
    t->shape[0] = 32;
    t->shape[1] = 64;
    set_write(&s, dir);
    REFUSED(dir, "'vit.encoder.layer.1.intermediate.dense.weight'", "[32, 64]", "[64, 32]");
    t->shape[0] = 64;
    t->shape[1] = 32;
    t = &s.t[set_find(&s, "vit.embeddings.patch_embeddings.projection.weight")];
    t->rank = 2;
    t->shape[1] = 192;
    set_write(&s, dir);
    REFUSED(dir, "'vit.embeddings.patch_embeddings.projection.weight'", "2 axes", "expected 4");
    set_free(&s);
    remove_dir(dir);
}

static void broken_config(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *word;
    } cases[] = {
        {"\"hidden_size\": 32", "\"hidden_size\": 768", "hidden_size"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 12", "num_hidden_layers"},
        {"\"num_attention_heads\": 4", "\"num_attention_heads\": 5", "5 heads"},
        {"\"num_attention_heads\": 4", "\"num_attention_heads\": -4", "whole number"},
        {"\"num_attention_heads\": 4", "\"num_attention_heads\": 4, \"head_dim\": 16", "4 heads"},
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\"", "mish"},
        {"\"image_size\": 32", "\"image_size\": 64", "17 rows"},
        {"\"image_size\": 32", "\"image_size\": [32]", "[height, width]"},
        {"\"patch_size\": 8", "\"patch_size\": 16", "patch_size"},
        {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": \"small\"", "layer_norm_eps"},
        {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": -1", "config.json: \"layer_norm_eps\" is -1; the epsilon"},
        {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 1e9",
         "config.json: \"layer_norm_eps\" is 1e+09; it must lie"},
        {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 7", "config.json: \"layer_norm_eps\" is 7; the epsilon"},
        {"\"4\": \"class 4\"", "\"4\": \"class 4\", \"5\": \"class 5\"",
         "\"id2label\" has 6 classes, but the classifier has 5"},
        {"\"qkv_bias\": true", "\"qkv_bias\": false",
         "but there is a tensor 'vit.encoder.layer.0.attention.attention.query.bias'"},
        {"\"qkv_bias\": true", "\"qkv_bias\": \"yes\"", "true or false"},
        {"\"qkv_bias\": true", "\"qkv_bias\": true, \"final_norm\": false", "'vit.layernorm.weight'"},
        {"\"qkv_bias\": true", "\"qkv_bias\": true, \"num_labels\": 1000",
         "\"num_labels\" is 1000, but the tensors have 5"},
        {"\"image_size\": 32", "\"image_size\": 0", "must be 1 to 16384"},
        {"\"image_size\": 32", "\"image_size\": 16777216", "must be 1 to 16384"},
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": 7", "not a name"},
        {"{\n", "<!DOCTYPE html>\n{", "web page"},
        {"{\n", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
        {"{\n", "[\n", "config.json"},
        {"\"image_size\": 32", "\"image_size\": 32, \"input_norm\": \"odd\"", "input_norm"},
    };
    char dir[256];
    scratch_dir(dir, sizeof dir, "config");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_config_with(dir, cases[i].from, cases[i].to);
        REFUSED(dir, cases[i].word);
    }
    remove_dir(dir);
}

static void broken_processor(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"size\": \"big\"}", "size"},
        {"{\"size\": {\"height\": 0, \"width\": 3}}", "size"},
        {"{\"resample\": 9}", "resample"},
        {"{\"image_mean\": [0.5, 0.5]}", "image_mean"},
        {"{\"image_std\": [0, 0, 0]}", "preprocessor_config.json: \"image_std\" holds 0; a standard deviation"},
        {"{\"rescale_factor\": 0}", "rescale_factor"},
        {"{\"rescale_factor\": \"x\"}", "rescale_factor"},
        {"{\"image_mean\": \"x\"}", "a list of 3"},
        {"[]", "JSON object"},
        {"{\"image_mean\": [true, 1, 1]}", "image_mean"},
    };
    char dir[256];
    scratch_dir(dir, sizeof dir, "processor");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    copy_file(ORACLE "tiny/config.json", dir, "config.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_file(dir, "preprocessor_config.json", cases[i][0], strlen(cases[i][0]));
        REFUSED(dir, cases[i][1]);
    }
    remove_dir(dir);
}

/* A folder claims what it likes; nothing is allocated before it is known that the machine has it. */
static void more_than_the_machine_has(void **state)
{
    (void)state;
    char dir[256];
    scratch_dir(dir, sizeof dir, "greedy");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    copy_file(ORACLE "tiny/config.json", dir, "config.json");
    static const char TEXT[] =
        "{\"model_type\": \"encoder-decoder-transformer\", \"form\": \"decoder\", \"d_model\": 65536, \"nhead\": 64, "
        "\"dim_feedforward\": 131072, \"num_encoder_layers\": 1, \"num_decoder_layers\": 1, "
        "\"src_vocab_size\": 9, \"tgt_vocab_size\": 9}";
    Model vit;
    Model m;
    Err err = {{0}};
    assert_true(model_load(&vit, dir, NULL, NULL, &err));
    if (machine_memory() < (size_t)200e9) { /* a preprocessor_config.json or --resolution asks for it */
        assert_false(model_fit(&vit, 2048, 2048, &err));
        assert_non_null(strstr(err.text, "attention of 4 heads between 65537 tokens needs 206"));
        assert_non_null(strstr(err.text, "take a smaller picture or larger patches"));
    }
    model_free(&vit);
    put_file(dir, "config.json", TEXT, sizeof TEXT - 1);
    assert_false(text_model_load(&m, dir, NULL, NULL, &err));
    if (machine_memory() < (size_t)137e9)
        assert_non_null(strstr(err.text, "the model needs 137"));
    remove_dir(dir);
}

/* A weight stored the other way round is called by its name: the first, from which sizes are read, and any other. */
static void turned(void **state)
{
    (void)state;
    static const char config[] = "{\"num_attention_heads\": 4, \"image_size\": 32, \"intermediate_size\": 64}";
    for (int layer = 0; layer < 2; layer++) {
        Set s;
        char dir[256], name[100];
        start(&s, dir, sizeof dir, "turned", ORACLE "tiny");
        snprintf(name, sizeof name, "vit.encoder.layer.%d.intermediate.dense.weight", layer);
        set_drop(&s, name);
        set_add(&s, name, 2, (size_t[]){32, 64}, calloc(32 * 64, sizeof(float)));
        set_write(&s, dir);
        put_file(dir, "config.json", config, sizeof config - 1);
        REFUSED(dir, name, "[32, 64]", "is it transposed?");
        set_free(&s);
        remove_dir(dir);
    }
}

/* What lacks is called by its name, wherever it lacks. */
static void holes(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    VitConfig c = vit_config_base();
    Model m;
    Err err = {""};
    c.image_h = c.image_w = 32;
    c.width = c.mlp = 64;
    c.heads = 1;
    c.layers = 4;
    c.classes = 3;
    scratch_dir(dir, sizeof dir, "holes");
    model_seeded(&m, &c, 3);
    assert_true(model_save(&m, dir, &err));
    model_free(&m);
    char path[300];
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    set_read(&s, path);
    set_drop(&s, "vit.encoder.layer.2.layernorm_before.weight");
    set_write(&s, dir);
    REFUSED(dir, "1 tensor ", "'vit.encoder.layer.2.layernorm_before.weight'", "save the file again");
    set_add(&s, "vit.encoder.layer.2.layer_norm1.weight", 1, (size_t[]){64}, calloc(64, sizeof(float)));
    set_write(&s, dir);
    REFUSED(dir, "1 tensor ", "A tensor 'vit.encoder.layer.2.layer_norm1.weight' has the shape of", "save it again");
    set_drop(&s, "vit.encoder.layer.0.layernorm_before.weight"); /* what the width is read from */
    set_write(&s, dir);
    REFUSED(dir, "2 tensors ", "'vit.encoder.layer.0.layernorm_before.weight'", "save the file again");
    set_free(&s);
    start(&s, dir, sizeof dir, "holes", ORACLE "tiny");
    set_drop(&s, "vit.embeddings.cls_token");
    set_write(&s, dir);
    REFUSED(dir, "'vit.embeddings.cls_token'", "missing", "model.safetensors");
    put_file(dir, "config.json", "{\"num_attention_heads\": 4}", 26);
    REFUSED(dir, "'vit.embeddings.cls_token'", "missing", "model.safetensors");
    set_free(&s);
    remove_dir(dir);
}

static bool assumed(const Model *m, const char *words)
{
    bool said = false;
    for (int k = 0; k < m->assumption_count; k++)
        said |= strstr(m->assumptions[k], words) != NULL;
    return said;
}

/* A head without bias and names of other classes are no errors, but are not passed over. */
static void noted(void **state)
{
    (void)state;
    static const char config[] = "{\"num_attention_heads\": 4, \"label_names\": [\"cat\", \"dog\"]}";
    Set s;
    char dir[256];
    Model m;
    Err err = {""};
    start(&s, dir, sizeof dir, "noted", ORACLE "tiny");
    set_drop(&s, "classifier.bias");
    set_write(&s, dir);
    set_free(&s);
    put_file(dir, "config.json", config, sizeof config - 1);
    put_file(dir, "preprocessor_config.json", "{\"do_resize\": false}", 20);
    if (!model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_true(assumed(&m, "the head has no bias (there is no tensor 'classifier.bias')"));
    assert_true(assumed(&m, "names 2, the head has 5"));
    assert_true(assumed(&m, "do_resize: false"));
    assert_false(assumed(&m, "MLP"));
    assert_null(m.class_names);
    model_free(&m);
    remove_dir(dir);
}

/* A link that leads nowhere is not the same as no file: it would be guessed instead of read. */
static void broken_link(void **state)
{
    (void)state;
    char dir[256], path[300];
    scratch_dir(dir, sizeof dir, "link");
    copy_file(ORACLE "tiny/model.safetensors", dir, "model.safetensors");
    snprintf(path, sizeof path, "%s/config.json", dir);
    assert_int_equal(symlink("nowhere-at-all", path), 0);
    REFUSED(dir, "config.json: there is no such file");
    unlink(path);
    remove_dir(dir);
}

/* Files that hold something else. */
static void other_models(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"visual.trunk.pos_embed", "open_clip"},
        {"vision_model.embeddings.class_embedding", "another kind than CLIP"},
        {"blocks.0.attn.norm.weight", "norm inside its attention"},
        {"Transformer/encoderblock_0/MlpBlock_3/Dense_0/kernel", "JAX"},
        {"Transformer/encoderblock_0/MultiHeadDotProductAttention_0/query/kernel", "big_vision"},
        {"to_patch_embedding.1.weight", "vit-pytorch"},
        {"layers.0.self_attn.in_proj_weight", "TransformerEncoder"},
        {"blocks.0.attn.q_norm.weight", "normalises queries"},
        {"layers.0.blocks.0.attn.qkv.weight", "Swin"},
        {"swin.encoder.layers.0.blocks.0.attention.self.relative_position_bias_table", "Swin"},
        {"features.1.0.attn.relative_position_bias_table", "Swin"},
        {"blocks.0.attn.rel_pos.relative_position_bias_table", "vit_relpos"},
        {"layer1.0.conv1.weight", "convolutional"},
        {"model.encoder.conv1.weight", "Whisper"},
        {"model.query_position_embeddings.weight", "DETR"},
        {"transformer.query_embed.weight", "DETR"},
        {"backbone.0.body.layer1.0.conv1.weight transformer.encoder.layers.0.self_attn.in_proj_weight", "DETR"},
        {"transformer.decoder.layers.0.self_attn.in_proj_weight", "\"nhead\": "},
        {"vit.encoder.layer.11.attention.attention.query.weight", "block 0 is missing"},
        {"blocks.1.attn.qkv.weight", "block 0 is missing"},
        {"encoder.layers.encoder_layer_3.self_attention.in_proj_weight", "block 0 is missing"},
        {"something.else", "not a Vision Transformer"},
    };
    size_t shape[] = {2};
    char dir[256];
    scratch_dir(dir, sizeof dir, "other");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Set s = {.count = 0};
        for (const char *name = cases[i][0]; *name; name += strcspn(name, " "), name += *name == ' ') {
            char one[160];
            snprintf(one, sizeof one, "%.*s", (int)strcspn(name, " "), name);
            set_add(&s, one, 1, shape, calloc(2, sizeof(float)));
        }
        set_write(&s, dir);
        REFUSED(dir, cases[i][1], dir);
        set_free(&s);
    }
    remove_dir(dir);
}

static void no_files(void **state)
{
    (void)state;
    char dir[256], path[300];
    scratch_dir(dir, sizeof dir, "empty");
    REFUSED(dir, dir, "no model.safetensors");
    snprintf(path, sizeof path, "%s/nothing.safetensors", dir);
    REFUSED(path, path);
    remove_dir(dir);
}

/* Names from a file cannot bring control characters into a message. */
static void hostile_names(void **state)
{
    (void)state;
    Set s;
    char dir[256];
    size_t one[] = {1};
    Model m;
    Err err = {""};
    start(&s, dir, sizeof dir, "hostile", ORACLE "tiny");
    set_add(&s, "vit.\x1b[2J\x07\n", 1, one, calloc(1, sizeof(float)));
    set_write(&s, dir);
    assert_false(model_load(&m, dir, NULL, NULL, &err));
    for (const char *c = err.text; *c; c++)
        assert_true((unsigned char)*c >= 32);
    set_free(&s);
    remove_dir(dir);
}

static bool stop_at_half(void *context, uint64_t done, uint64_t total)
{
    uint64_t *last = context;
    assert_true(done >= *last && done <= total);
    *last = done;
    return done < total / 2;
}

static void cancelled(void **state)
{
    (void)state;
    Model m = {.name = "untouched"};
    Err err = {""};
    uint64_t last = 0;
    assert_false(model_load(&m, ORACLE "tiny", stop_at_half, &last, &err));
    assert_non_null(strstr(err.text, "cancelled"));
    assert_string_equal(m.name, "untouched");
    assert_true(last > 0);
}

/* --- what is written can be read --- */

/* Member by member: what lies between them is not defined. */
static void check_preprocess(const Preprocess *a, const Preprocess *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->resize_w, b->resize_w);
    assert_int_equal(a->resize_h, b->resize_h);
    assert_int_equal(a->filter, b->filter);
    assert_int_equal(a->crop_to_even, b->crop_to_even);
}

static void check_saved(const char *what, VitConfig c, bool cover)
{
    Bench a, b = {0};
    char dir[256];
    Err err = {""};
    scratch_dir(dir, sizeof dir, "saved");
    bench_seeded(&a, &c, 11);
    if (cover) {
        a.model.preprocess.mode = RESIZE_COVER;
        a.model.preprocess.resize_w = a.model.preprocess.resize_h = c.image_w + 5;
        a.model.preprocess.filter = FILTER_BICUBIC;
    }
    if (!model_save(&a.model, dir, &err) || !model_load(&b.model, dir, NULL, NULL, &err))
        fail_msg("%s: %s", what, err.text);
    check_preprocess(&a.model.preprocess, &b.model.preprocess);
    assert_false(b.model.trained);
    b.pixels = malloc(bench_pixels(&b.model.vit) * sizeof(float));
    memcpy(b.pixels, a.pixels, bench_pixels(&c) * sizeof(float));
    bench_start(&b);
    if (bench_hash(&a) != bench_hash(&b))
        fail_msg("%s: another hash after saving", what);
    assert_int_equal(b.model.vit.mask_token, c.mask_token);
    assert_int_equal(b.model.vit.reconstruct, c.reconstruct);
    if (c.mask_token)
        assert_memory_equal(vit_weight(&b.model.weights, VIT_MASK_TOKEN, 0)->data,
                            vit_weight(&a.model.weights, VIT_MASK_TOKEN, 0)->data, (size_t)c.width * sizeof(float));
    if (c.reconstruct)
        assert_memory_equal(run_need(b.run, b.nodes.guess), run_need(a.run, a.nodes.guess),
                            bench_pixels(&c) * sizeof(float));
    bench_free(&a);
    bench_free(&b);
    remove_dir(dir);
}

static void saved_and_read(void **state)
{
    (void)state;
    VitConfig t, c;
    assert_true(model_size("tiny", &t));
    check_saved("tiny", t, false);
    check_saved("cover", t, true);
    c = t, c.mask_token = true;
    check_saved("mask token", c, false);
    c = t, c.reconstruct = c.mask_token = true, c.image_h = 16, c.patch_w = 4, c.input = VIT_INPUT_PER_IMAGE;
    check_saved("mask token, reconstruction of rectangles", c, false);
    c = t, c.reconstruct = true, c.classes = 0, c.cls = false, c.pool = VIT_POOL_NONE;
    check_saved("reconstruction alone", c, false);
    check_saved("bundled", model_bundled_config(), false);
    c = t, c.head_dim = 5, c.scale = vit_scale(5);
    check_saved("head_dim", c, false);
    c = t, c.scale = 0.3f;
    check_saved("scale", c, false);
    c = t, c.dist = true, c.pool = VIT_POOL_CLS_DIST;
    check_saved("two heads", c, false);
    c = t, c.registers = 3, c.pos = VIT_POS_BEFORE_REGISTERS, c.layer_scale = true, c.classes = 0;
    check_saved("registers after positions, layer scale, no head", c, false);
    c = t, c.registers = 3;
    check_saved("registers with positions", c, false);
    c = t, c.pos = VIT_POS_PATCHES, c.qkv_bias = false;
    check_saved("positions of patches", c, false);
    c = t, c.cls = false, c.pool = VIT_POOL_MEAN, c.fc_norm = true, c.final_norm = false;
    check_saved("mean", c, false);
    c = t, c.post_norm = true, c.norm_pre = true, c.act = MAP_QUICK_GELU, c.eps = 1e-5f;
    check_saved("post-norm", c, false);
    c = t, c.image_h = 16, c.channels = 1, c.input = VIT_INPUT_PER_IMAGE, c.patch_w = 4;
    check_saved("rectangles", c, false);
    c = t, c.pos = VIT_POS_NONE, c.out_bias = c.mlp_bias = c.patch_bias = c.head_bias = false;
    check_saved("no biases, no positions", c, false);
    for (int i = 0; i < 3; i++)
        c.mean[i] = 0.1f * (float)(i + 1), c.std[i] = 0.2f;
    check_saved("mean and deviation", c, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_hugging_face_names),
        cmocka_unit_test(torchvision_names),
        cmocka_unit_test(wrappers_and_useless_tensors),
        cmocka_unit_test(no_head),
        cmocka_unit_test(facts),
        cmocka_unit_test(nothing_beside),
        cmocka_unit_test(usual_heads),
        cmocka_unit_test(broken_tensors),
        cmocka_unit_test(broken_config),
        cmocka_unit_test(broken_processor),
        cmocka_unit_test(more_than_the_machine_has),
        cmocka_unit_test(holes),
        cmocka_unit_test(turned),
        cmocka_unit_test(noted),
        cmocka_unit_test(broken_link),
        cmocka_unit_test(other_models),
        cmocka_unit_test(no_files),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(saved_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
