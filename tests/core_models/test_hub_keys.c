/* Keys of a hub's config.json that its class does not read: those that would be another computation are refused by
 * name, those that change nothing leave the model the same, bit for bit. */
#include <unistd.h>

#include "tests/core_models/tensor_set.h"
#include "tests/core_models/text_bench.h"

#include "core/base/file.h"
#include "core/models/family.h"
#include "core/models/text_hub.h"

static const char FOLDER[] = "tests/data/families";

/* The recorded model words_NAME with `more` in front of the keys of its config.json, and without `less`. */
static bool opens(Model *m, const char *name, const char *more, const char *less, Err *err)
{
    char dir[256], path[300];
    Buf config = {0}, out = {0};
    snprintf(path, sizeof path, "%s/words_%s/config.json", FOLDER, name);
    assert_true(file_read(path, 1 << 16, &config, err));
    const char *rest = strchr(buf_str(&config), '{') + 1, *cut = *less ? strstr(rest, less) : rest;
    if (!cut)
        fail_msg("%s: no %s in its config.json", name, less);
    buf_printf(&out, "{%s%s%.*s%s", more, *more ? ", " : "", (int)(cut - rest), rest, cut + strlen(less));
    scratch_dir(dir, sizeof dir, "keys");
    put_file(dir, "config.json", out.data, out.len);
    snprintf(path, sizeof path, "%s/words_%s/model.safetensors", FOLDER, name);
    copy_file(path, dir, "model.safetensors");
    const bool ok = family_load(m, dir, NULL, NULL, err);
    buf_free(&config);
    buf_free(&out);
    remove_dir(dir);
    return ok;
}

static void other_computations(void **state)
{
    (void)state;
    static const struct {
        const char *name, *more, *less, *key;
    } CASE[] = {
        /* whom a token sees */
        {"qwen2", "\"is_causal\": false", "", "\"is_causal\" is false"},
        {"qwen3", "\"is_causal\": false", "", "\"is_causal\" is false"},
        {"llama", "\"is_causal\": false", "", "each token sees all others"},
        {"gpt2", "\"causal\": false", "", "\"causal\" is false"},
        {"mixtral", "\"is_causal\": false", "", "\"is_causal\" is false"},
        {"t5", "\"is_causal\": false", "", "\"is_causal\" is false"},
        {"bert", "\"is_causal\": true", "", "\"is_causal\" is true"},
        {"llama", "\"use_bidirectional_attention\": true", "", "\"use_bidirectional_attention\" is true"},
        {"llama", "\"attention_type\": \"bidirectional\"", "", "\"attention_type\" is \"bidirectional\""},
        {"llama", "\"attention_type\": \"linear\"", "", "\"attention_type\" is \"linear\""},
        /* other parts that are switched off or named */
        {"llama", "\"use_rope\": false", "", "\"use_rope\" is false"},
        {"gpt2", "\"use_rope\": true", "", "\"use_rope\" is true"},
        {"llama", "\"rope_interleaved\": true", "", "\"rope_interleaved\" is true"},
        {"llama", "\"norm_type\": \"layernorm\"", "", "\"norm_type\" is \"layernorm\""},
        {"gpt2", "\"norm_type\": \"rmsnorm\"", "", "\"norm_type\" is \"rmsnorm\""},
        {"llama", "\"position_embedding_type\": \"alibi\"", "", "\"position_embedding_type\" is \"alibi\""},
        {"llama", "\"use_norm\": false", "", "\"use_norm\" is false"},
        {"llama", "\"use_qk_norm\": true", "", "\"use_qk_norm\" is true"},
        {"qwen3", "\"use_qk_norm\": false", "", "\"use_qk_norm\" is false"},
        {"mistral", "\"attention_bias\": true", "", "\"attention_bias\" is true"},
        {"gptj", "\"scale_attn_weights\": false", "", "\"scale_attn_weights\" is false"},
        /* nobody's, with a name that says of what */
        {"llama", "\"attention_wrap\": false", "", "\"attention_wrap\" is not known"},
        {"llama", "\"post_act_fn\": \"tanh\"", "", "\"post_act_fn\" is not known"},
        {"llama", "\"pos_shift\": \"left\"", "", "\"pos_shift\" is not known"},
        {"llama", "\"window_kind\": \"dilated\"", "", "\"window_kind\" is not known"},
        {"llama", "\"final_norm\": false", "", "\"final_norm\" is not known"},
        /* windows and kinds of blocks where the class reads none */
        {"llama", "\"sliding_window\": 3", "", "\"sliding_window\" is not read"},
        {"mistral", "\"sliding_window_size\": 3", "", "\"sliding_window_size\" is not read"},
        {"mistral", "\"use_sliding_window\": false", "", "\"use_sliding_window\" is false"},
        {"llama", "\"rotary_dim\": 4", "", "\"rotary_dim\" is not read"},
        {"llama", "\"layer_types\": [\"full_attention\", \"linear_attention\"]", "", "has \"linear_attention\""},
        {"qwen2_yarn", "\"layer_types\": [\"full_attention\", \"linear_attention\"]", "", "has \"linear_attention\""},
        {"gpt2", "\"layer_types\": [\"full_attention\", \"mamba\"]", "", "has \"mamba\""},
        {"mistral", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", "",
         "\"full_attention\" of block 0"},
        {"llama", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", "",
         "of block 1, which has no window"},
        {"qwen2_yarn", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", "", "has no window"},
        {"qwen3_moe", "\"layer_types\": [\"full_attention\", \"sliding_attention\", \"full_attention\"]", "",
         "of block 1"},
        {"gemma3", "\"layer_types\": [\"sliding_attention\", \"full_attention\"]", "", "for 2 blocks, the model has 3"},
        {"llama", "\"layer_types\": \"full_attention\"", "", "must be a list"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m;
        Err err = {""};
        if (opens(&m, CASE[i].name, CASE[i].more, CASE[i].less, &err))
            fail_msg("%s with %s was read", CASE[i].name, CASE[i].more);
        if (!strstr(err.text, CASE[i].key))
            fail_msg("%s with %s: said '%s'", CASE[i].name, CASE[i].more, err.text);
    }
}

/* As the published files write them. */
static void the_same_model(void **state)
{
    (void)state;
    static const struct {
        const char *name, *more, *less;
    } CASE[] = {
        {"llama",
         "\"_attn_implementation_autoset\": true, \"attn_implementation\": \"sdpa\", \"attention_dropout\": 0.0, "
         "\"use_cache\": true, \"torch_dtype\": \"bfloat16\", \"dtype\": \"bfloat16\", \"initializer_range\": 0.02, "
         "\"pretraining_tp\": 1, \"gradient_checkpointing\": false, \"rope_scaling\": null",
         ""},
        {"llama", /* SmolLM2 135M */
         "\"is_llama_config\": true, \"rope_interleaved\": false, \"transformers.js_config\": {\"dtype\": \"q4\"}", ""},
        {"llama", "\"is_causal\": true, \"use_rope\": true, \"norm_type\": \"RMSNorm\", \"sliding_window\": null", ""},
        {"llama", "\"attention_type\": \"full\", \"position_embedding_type\": \"rope\", \"use_flash_attn\": false", ""},
        {"llama", "\"layer_types\": [\"full_attention\", \"full_attention\"], \"sliding_window\": 4096", ""},
        {"llama", "\"unsloth_fixed\": true, \"unsloth_version\": \"2024.9\", \"hidden_note\": \"x\"", ""},
        {"mistral", "\"layer_types\": [\"sliding_attention\", \"sliding_attention\"], \"attention_bias\": false", ""},
        {"qwen2_yarn", /* Qwen2.5 0.5B; what transformers 5 writes of it */
         "\"use_mrope\": false, \"layer_types\": [\"full_attention\", \"full_attention\"]", ""},
        {"qwen2", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", ""},
        {"qwen2_moe", "\"layer_types\": [\"full_attention\", \"full_attention\", \"full_attention\"]", ""},
        {"gemma2", "\"sliding_window_size\": 3, \"cache_implementation\": \"hybrid\"", ""},
        {"gemma2", "\"layer_types\": [\"sliding_attention\", \"full_attention\"]", ""},
        {"gptj", "\"rotary\": true, \"scale_attn_weights\": true, \"summary_activation\": null", ""}, /* GPT-J 6B */
        {"bloom",                                                                                     /* BLOOM 560M */
         "\"n_embed\": 18, \"num_attention_heads\": 3, \"attention_softmax_in_fp32\": true, \"bias_dropout_fusion\": "
         "true, \"skip_bias_add\": true, \"skip_bias_add_qkv\": false, \"offset_alibi\": 100, \"n_inner\": null",
         "\"hidden_size\": 18,"},
        {"bert", "\"is_causal\": false, \"attn_implementation\": \"eager\"", ""},
        {"gpt2", "\"position_embedding_type\": \"absolute\", \"alibi\": false", ""},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model own, other;
        Err err = {""};
        if (!opens(&own, CASE[i].name, "", "", &err) || !opens(&other, CASE[i].name, CASE[i].more, CASE[i].less, &err))
            fail_msg("%s with %s: %s", CASE[i].name, CASE[i].more, err.text);
        if (trace_of(&own) != trace_of(&other))
            fail_msg("%s with %s is another model", CASE[i].name, CASE[i].more);
        model_free(&own);
        model_free(&other);
    }
}

/* What is passed over is said. */
static void what_is_not_read_is_noted(void **state)
{
    (void)state;
    static const char *const CASE[][2] = {{"\"is_causal\": true", "\"is_causal\""},
                                          {"\"sliding_window\": 64", "\"sliding_window\""},
                                          {"\"layer_types\": [\"full_attention\"]", "\"layer_types\""},
                                          {"\"nickname\": \"tom\"", "\"nickname\""}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m;
        Err err = {""};
        bool said = false;
        if (!opens(&m, "llama", CASE[i][0], "", &err))
            fail_msg("%s", err.text);
        for (int k = 0; k < m.assumption_count; k++)
            said = said || strncmp(m.assumptions[k], CASE[i][1], strlen(CASE[i][1])) == 0;
        if (!said)
            fail_msg("nothing is said of %s", CASE[i][0]);
        model_free(&m);
    }
}

/* Whoever made it: MLX writes "quantization", and of Hugging Face's key only the numbers. */
static void quantised(void **state)
{
    (void)state;
    static const char *const CASE[][2] = {
        {"\"quantization\": {\"group_size\": 64, \"bits\": 4}", "quantised (4 bits a weight, MLX)"},
        {"\"quantization\": {\"group_size\": 64, \"bits\": 4}, \"quantization_config\": {\"group_size\": 64, \"bits\": "
         "4}",
         "quantised (4 bits a weight, MLX)"},
        {"\"quantization_config\": {\"quant_method\": \"awq\", \"bits\": 4}", "quantised (awq)"},
        {"\"compression_config\": {\"format\": \"int-quantized\"}", "quantised (no method is named)"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Model m;
        Err err = {""};
        assert_false(opens(&m, "llama", CASE[i][0], "", &err));
        if (!strstr(err.text, CASE[i][1]))
            fail_msg("said '%s'", err.text);
    }
}

/* Gemma 3 with a picture tower is, for a text, the Gemma 3 that is inside, under the names of transformers 4 and 5;
 * what its text_config leaves out is the class'. */
static void a_text_inside(void **state)
{
    (void)state;
    static const char *const NAMES[][3] = {{"language_model.model.", "vision_tower.encoder.weight",
                                            "multi_modal_projector.mm_input_projection_weight"},
                                           {"model.language_model.", "model.vision_tower.encoder.weight",
                                            "model.multi_modal_projector.norm.weight"}};
    Model own;
    Err err = {""};
    Buf config = {0};
    assert_true(family_load(&own, "tests/data/families/words_gemma3", NULL, NULL, &err));
    assert_true(file_read("tests/data/families/words_gemma3/config.json", 1 << 16, &config, &err));
    char *type = strstr(buf_str(&config), "\"gemma3_text\"");
    assert_non_null(type);
    for (size_t i = 0; i < 2; i++) {
        Set s;
        char dir[256];
        Model m;
        Buf out = {0};
        bool said = false;
        set_read(&s, "tests/data/families/words_gemma3/model.safetensors");
        set_rename(&s, "model.", NAMES[i][0]);
        for (int k = 1; k < 3; k++)
            set_add(&s, NAMES[i][k], 1, (const size_t[]){2}, xcalloc(2, sizeof(float)));
        scratch_dir(dir, sizeof dir, "inside");
        set_write(&s, dir);
        buf_printf(&out,
                   "{\"model_type\": \"gemma3\", \"eos_token_id\": [3, 5], \"mm_tokens_per_image\": 256, "
                   "\"vision_config\": {\"image_size\": 896}, \"text_config\": %s}",
                   buf_str(&config));
        put_file(dir, "config.json", out.data, out.len);
        if (!family_load(&m, dir, NULL, NULL, &err))
            fail_msg("%s: %s", NAMES[i][0], err.text);
        assert_true(trace_of(&own) == trace_of(&m));
        assert_true(vocabulary_ends(&m.target, 3) && vocabulary_ends(&m.target, 5) && !vocabulary_ends(&m.target, 4));
        for (int k = 0; k < m.assumption_count; k++)
            said = said || strstr(m.assumptions[k], "pictures are not read");
        assert_true(said);
        model_free(&m);
        /* the 4B of the hub leaves the number of heads out, which is 8 then: not these weights' */
        char *heads = strstr(out.data, "\"num_attention_heads\"");
        assert_non_null(heads);
        memcpy(heads, "\"_um_", 5);
        put_file(dir, "config.json", out.data, out.len);
        assert_false(family_load(&m, dir, NULL, NULL, &err));
        assert_non_null(strstr(err.text, "q_proj"));
        buf_free(&out);
        buf_printf(&out, "{\"model_type\": \"gemma3\", \"vision_config\": {}}");
        put_file(dir, "config.json", out.data, out.len);
        assert_false(family_load(&m, dir, NULL, NULL, &err));
        assert_non_null(strstr(err.text, "\"text_config\" is missing"));
        buf_free(&out);
        set_free(&s);
        remove_dir(dir);
    }
    model_free(&own);
    buf_free(&config);
}

/* A vocabulary as large as Gemma 3's is from 4B on (262,208 words) opens, and its last word is one as any other: read
 * from the last row, and the one that is answered where that row is the largest. */
static void many_words(void **state)
{
    (void)state;
    enum { MANY = 262208 };
    char dir[256];
    Model m;
    Set s;
    Buf config = {0}, out = {0};
    Err err = {""};
    set_read(&s, "tests/data/families/words_gemma3/model.safetensors");
    assert_true(file_read("tests/data/families/words_gemma3/config.json", 1 << 16, &config, &err));
    scratch_dir(dir, sizeof dir, "many");
    const char *at = strstr(buf_str(&config), "\"vocab_size\": 19,");
    assert_non_null(at);
    buf_printf(&out, "%.*s\"vocab_size\": %d,%s", (int)(at - config.data), config.data, MANY,
               at + strlen("\"vocab_size\": 19,"));
    put_file(dir, "config.json", out.data, out.len);
    TensorOut *table = &s.t[set_find(&s, "model.embed_tokens.weight")];
    const size_t width = table->shape[1];
    float *rows = xcalloc(MANY * width, sizeof *rows);
    memcpy(rows, table->data, table->shape[0] * width * sizeof *rows);
    free((void *)(uintptr_t)table->data);
    table->data = rows;
    table->shape[0] = MANY;
    memcpy(rows + (MANY - 1) * width, rows + 7 * width, width * sizeof *rows);
    set_write(&s, dir);
    if (!text_model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_int_equal(m.target.n, MANY);
    const int last[] = {3, MANY - 1}, same[] = {3, 7};
    const float *logits[2];
    TextBench b[2];
    for (int i = 0; i < 2; i++) {
        b[i] = (TextBench){.model = m};
        memcpy(b[i].target, i ? last : same, sizeof last);
        b[i].input.target.n = 2;
        text_bench_start(&b[i]);
        logits[i] = text_bench_values(&b[i], "logits");
    }
    assert_memory_equal(logits[0], logits[1], 2 * (size_t)MANY * sizeof *logits[0]);
    assert_true(logits[0][2 * MANY - 1] == logits[0][MANY + 7] && logits[0][MANY + 7] != 0);
    for (int i = 0; i < 2; i++) {
        run_free(b[i].run);
        graph_free(&b[i].graph);
    }
    model_free(&m);
    set_free(&s);
    buf_free(&config);
    buf_free(&out);
    remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(other_computations),
                                       cmocka_unit_test(the_same_model),
                                       cmocka_unit_test(what_is_not_read_is_noted),
                                       cmocka_unit_test(quantised),
                                       cmocka_unit_test(a_text_inside),
                                       cmocka_unit_test(many_words)};
    return cmocka_run_group_tests_name("hub keys", tests, NULL, NULL);
}
