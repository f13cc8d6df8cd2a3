/* Folders of text models that look like a family from the hub and are not: refused by name, never run as the plain
 * one. */
#include <math.h>
#include <unistd.h>

#include "tests/core_models/tensor_set.h"

#include "core/models/family.h"

/* A folder with the tensors of a case and another config.json: every `old` in it `new`. */
static void with_config(char dir[64], const char *name, const char *old, const char *new)
{
    char from[300], to[300], text[4096], *at;
    snprintf(dir, 64, "/tmp/vitrine-hub-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(from, sizeof from, "tests/data/families/words_%s/config.json", name);
    FILE *f = fopen(from, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strstr(text, old);
    if (!at)
        fail_msg("%s: '%s' is not in its config.json", name, old);
    snprintf(to, sizeof to, "%s/config.json", dir);
    f = fopen(to, "w");
    assert_non_null(f);
    fprintf(f, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    fclose(f);
    snprintf(from, sizeof from, "%s/tests/data/families/words_%s/model.safetensors", getcwd(text, sizeof text), name);
    snprintf(to, sizeof to, "%s/model.safetensors", dir);
    assert_int_equal(symlink(from, to), 0);
}

static void clear(const char *dir)
{
    char path[300];
    snprintf(path, sizeof path, "%s/config.json", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    unlink(path);
    rmdir(dir);
}

static void look_alikes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *old, *new, *said;
    } REFUSED[] = {
        {"gpt2", "\"gpt2\"", "\"openai-gpt\"", "\"openai-gpt\", which Vitrine does not run: its norms stand behind"},
        {"llama", "\"llama\"", "\"mixtral\"", "block_sparse_moe.gate.weight' is missing"},
        {"mixtral", "\"mixtral\"", "\"gpt_oss\"", "its router chooses before its softmax"},
        {"qwen3_moe", "\"qwen3_moe\"", "\"qwen3_next\"", "three of four of its blocks a gated delta rule"},
        {"gpt_neox", "\"gpt_neox\"", "\"persimmon\"", "its activation is a square, and every head has a LayerNorm"},
        {"mixtral", "\"mixtral\"", "\"phimoe\"", "its router chooses one expert after the other"},
        {"mixtral", "\"mixtral\"", "\"granitemoe\"", "its experts lie in one tensor"},
        {"mixtral", "_experts\": 4", "_experts\": 5", "gate.weight' is 4 × 16; config.json asks for 5 × 16"},
        {"mixtral", "_experts\": 4", "_experts\": 3", "config.json asks for 3"},
        {"mixtral", "per_tok\": 2", "per_tok\": 5", "number of experts that a token gets is 5; it must be 1 to 4"},
        {"olmoe", "\"clip_qkv\": null", "\"clip_qkv\": 8.0", "\"clip_qkv\" must be null"},
        {"olmoe", "_experts\": 6", "_experts\": 0", "experts"},
        {"qwen2_moe", "step\": 2", "step\": 0", "\"decoder_sparse_step\" is 0; it must be at least 1"},
        {"qwen2_moe", "step\": 2", "step\": 3", "layers.1.mlp.up_proj.weight' is missing"},
        {"qwen2_moe", "window\": false", "window\": true", "\"use_sliding_window\" must be false"},
        {"qwen2_moe", "_size\": 20", "_size\": 21", "config.json asks for 21"},
        {"qwen3_moe", "only_layers\": [\n  1\n ]", "only_layers\": \"1\"", "must be a list of blocks"},
        {"qwen3_moe", "only_layers\": [\n  1\n ]", "only_layers\": []", "layers.1.mlp.gate.weight' is missing"},
        {"qwen3_moe", "\"norm_topk_prob\"", "\"n_group\": 2, \"norm_topk_prob\"", "\"n_group\" is not known"},
        {"qwen3_moe", "\"norm_topk_prob\"", "\"n\\ngroup\": 2, \"norm_topk_prob\"", "\"n?group\" is not known"},
        {"qwen3_moe", "\"decoder_sparse_step\": 1", "\"decoder_sparse_step\": null", NULL},
        {"qwen3_moe", "\"num_experts\": 12", "\"num_local_experts\": 12", NULL},
        {"qwen3_moe", "\"num_experts\": 12", "\"num_local_experts\": 11", "config.json asks for 11"},
        {"llama", "\"llama\"", "\"bert\"", "class bert, whose key is \"layer_norm_eps\""},
        {"bert", "\"bert\"", "\"albert\"", "its blocks share one set of weights: which block has which"},
        {"bert", "\"absolute\"", "\"relative_key\"", "must be \"absolute\""},
        {"bert", "\"vocab_size\"", "\"is_decoder\": true, \"vocab_size\"", "must be false"},
        {"bert", "\"type_vocab_size\": 2", "\"type_vocab_size\": 3", "config.json asks for"},
        {"bert", "\"bert\"", "\"roberta\"", "word_embeddings.weight' is missing"},
        {"roberta", "\"roberta\"", "\"xlm-roberta\"", NULL},
        {"roberta", "\"roberta\"", "\"camembert\"", NULL},
        {"roberta", "\"roberta\"", "\"xlm-roberta-xl\"", "its norms stand in front"},
        {"mpnet", "_buckets\": 32", "_buckets\": 64", "is 64: 32 are built"},
        {"modernbert", "_n_layers\": 3", "_n_layers\": 0", "is 0 and \"local_attention\" 4: at least 1 and 2"},
        {"modernbert", "\"vocab_size\"",
         "\"layer_types\": [\"full_attention\", \"full_attention\", \"sliding_attention\", \"full_attention\"], "
         "\"vocab_size\"",
         "differ for block 1: correct one"},
        {"modernbert", "\"vocab_size\"",
         "\"layer_types\": [\"full_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"], "
         "\"vocab_size\"",
         NULL},
        {"modernbert", "\"norm_bias\": false", "\"norm_bias\": true", "final_norm.bias' is missing"},
        {"modernbert", "\"classifier_activation\": \"gelu\"", "\"classifier_activation\": \"mish\"",
         "\"mish\", which is"},
        {"modernbert", "\"modernbert\"", "\"modernbert-decoder\"",
         "is not known here (norms, positions, scores, MLP, names). Text models that it runs: gpt2"},
        {"olmo2", "\"olmo2\"", "\"olmox\"", "\"olmox\", which is not known here; did you mean \"olmo2\"? Correct it"},
        {"bert", "\"bert\"", "\"bertt\"", "did you mean \"bert\"?"},
        {"bert", "\"bert\"", "\"deberta\"", "relative positions as vectors: a query meets"},
        {"electra", "\"embedding_size\": 8", "\"embedding_size\": 16", "config.json asks for"},
        {"llama", "\"llama\"", "\"deepseek_v3\"", "go through a latent"},
        {"llama", "\"llama\"", "\"glm4\"", "turn neighbours of a head"},
        {"bart", "\"bart\"", "\"nllb-moe\"", "experts in some blocks"},
        {"llama", "\"vocab_size\"", "\"quantization_config\": {\"quant_method\": \"gptq\"}, \"vocab_size\"",
         "quantised (gptq)"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": {\"rope_type\": \"ntk\"}, \"vocab_size\"",
         "\"ntk\"; linear, dynamic, llama3, yarn and longrope"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": \"llama3\", \"vocab_size\"",
         "\"rope_scaling\" must be an object"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": 8, \"vocab_size\"", "\"rope_scaling\" must be an object"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": [8], \"vocab_size\"", "\"rope_scaling\" must be an object"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": false, \"vocab_size\"", "\"rope_scaling\" must be an object"},
        {"llama", "\"vocab_size\"", "\"rope_parameters\": \"llama3\", \"vocab_size\"",
         "\"rope_parameters\" must be an object"},
        {"llama", "\"vocab_size\"", "\"rope_scaling\": {\"rope_type\": 8, \"factor\": 2.0}, \"vocab_size\"",
         "\"rope_type\" of the rotations must be a name"},
        {"gemma3", "\"rope_scaling\": {", "\"rope_parameters\": {\"full_attention\": 8}, \"rope_scaling_of_old\": {",
         "\"full_attention\" must be an object"},
        {"gemma3", "base_freq\": 10.0", "base_freq\": 0", "(rope_local_base_freq) is 0"},
        {"llama", "heads\": 2", "heads\": 0", "\"num_key_value_heads\" must be a whole number, 1 to"},
        {"llama", "\"max_position_embeddings\": 64", "\"max_position_embeddings\": 0",
         "\"max_position_embeddings\" must be a whole number, 1 to"},
        {"llama", "\"intermediate_size\": 24", "\"intermediate_size\": 0",
         "\"intermediate_size\" must be a whole number, 1 to"},
        {"gemma2", "attn_logit_softcapping\": 1.5", "attn_logit_softcapping\": 0",
         "\"attn_logit_softcapping\" is 0; it must be above 0"},
        {"llama", "\"vocab_size\"", "\"eos_token_id\": [0, 1, 2, 3, 4, 5, 6, 7, 8], \"vocab_size\"",
         "\"eos_token_id\" has more than 8 words"},
        {"llama3", "\"high_freq_factor\": 4.0", "\"high_freq_factor\": null", "llama3 without \"high_freq_factor\""},
        {"phi3_long", "\"vocab_size\"", "\"full_attn_mod\": 2, \"vocab_size\"", "\"full_attn_mod\" must be 1"},
        {"phi3_long", "\"short_factor\": [", "\"short_factor\": [2.0, ", "4 short factors, one of each pair"},
        {"phi3_long", "\"long_factor\": [", "\"long_factor\": [0.0, ", "\"long_factor\" of the rotations must be"},
        {"phi3_long", "\"long_factor\": [", "\"long_factor\": 2, \"truncate\": [",
         "\"long_factor\" of the rotations must be a list"},
        {"llama_dynamic", "\"factor\": 4.0", "\"factor\": 0.5", "factor 0.5 are not possible"},
        {"llama", "\"vocab_size\"", "\"residual_multiplier\": 0.5, \"vocab_size\"",
         "\"residual_multiplier\" is not known"},
        {"llama", "\"vocab_size\"", "\"rope_parameters\": {\"mrope_section\": [2, 3]}, \"vocab_size\"",
         "\"mrope_section\" of the rotations is not known"},
        {"llama", "\"vocab_size\"", "\"rope_parameters\": {\"partial_rotary_factor\": 0.5}, \"vocab_size\"",
         "heads of Hugging Face Llama are rotated whole"},
        {"qwen2_yarn", "\"rope_scaling\": {", "\"rope_scaling\": {\"attention_factor\": [],",
         "\"attention_factor\" of the rotations must be"},
        {"gemma3", "\"rope_scaling\": {", "\"rope_parameters\": {", "of two kinds of blocks are \"full_attention\""},
        {"modernbert", "\"vocab_size\"",
         "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 4.0}, \"vocab_size\"",
         "is \"linear\" for both kinds of blocks"},
        {"gemma3", "\"attn_logit_softcapping\": null", "\"attn_logit_softcapping\": 50.0", "must be null"},
        {"nanogpt", "\"vocab_size\"", "\"hidden_act\": \"relu\", \"vocab_size\"",
         "not read by the program nanogpt, which has no key for it, and gelu is taken"},
        {"nanogpt", "\"vocab_size\"", "\"tie_word_embeddings\": false, \"vocab_size\"", "and true is taken"},
        {"mingpt", "\"vocab_size\"", "\"n_inner\": 24, \"vocab_size\"", "and 64 is taken"},
        {"mingpt", "\"vocab_size\"", "\"num_key_value_heads\": 1, \"vocab_size\"", "and 2 is taken"},
        {"gpt2", "\"vocab_size\"", "\"hidden_act\": \"relu\", \"vocab_size\"", "whose key is \"activation_function\""},
        {"bloom", "\"vocab_size\"", "\"hidden_act\": \"relu\", \"vocab_size\"", "which has no key for it"},
        {"llama", "\"silu\"", "\"relu2\"", "\"relu2\", which is not an activation"},
        {"llama", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3", "can't share 3 heads"},
        {"llama", "\"num_attention_heads\": 4", "\"num_attention_heads\": 8", "config.json asks for"},
        {"gpt2", "\"vocab_size\"", "\"scale_attn_by_inverse_layer_idx\": true, \"vocab_size\"", "must be false"},
        {"gpt2", "\"n_head\": 2", "\"n_heads_\": 2", "\"n_head\" is missing"},
        {"llama", "\"rms_norm_eps\": 1e-05", "\"layer_norm_epsilon\": 0.001",
         "not read by Hugging Face's class llama, whose key is \"rms_norm_eps\", and 1e-06 is taken"},
        {"gpt_neox", "\"layer_norm_eps\": 1e-05", "\"rms_norm_eps\": 0.001", "whose key is \"layer_norm_eps\""},
        {"opt", "\"vocab_size\"", "\"layer_norm_eps\": 0.001, \"vocab_size\"", "which has no key for it"},
        {"llama", "\"num_attention_heads\": 4", "\"n_head\": 4", "\"num_attention_heads\" is missing"},
        {"starcoder2", "\"norm_epsilon\"", "\"layer_norm_epsilon\": 1e-05, \"norm_epsilon\"", NULL},
        {"mpt", "\"qk_ln\": false", "\"qk_ln\": true", "\"attn_config\" has \"qk_ln\""},
        {"mpt", "\"alibi\": true", "\"alibi\": false", "must have \"alibi\": true"},
        {"mpt", "\"clip_qkv\": null", "\"clip_qkv\": -6", "\"clip_qkv\" that is no number above 0"},
        {"mpt", "\"alibi_bias_max\": 8", "\"alibi_bias_max\": \"16\"", "\"alibi_bias_max\" that is no number"},
        {"mpt", "\"alibi_bias_max\": 8", "\"alibi_bias_max\": 100", "slopes of ALiBi can't reach 2^-100"},
        {"mpt", "\"softmax_scale\": null", "\"softmax_scale\": 0.5", "\"attn_config\" has \"softmax_scale\""},
        {"mpt", "\"expansion_ratio\": ", "\"expansion_ratio\": 1000000000, \"was\": ", "16 times that is no size"},
        {"gpt_neox", "\"rotary_pct\": ", "\"rotary_pct\": -1e30, \"was\": ", "times that is no size"},
        {"opt", "\"word_embed_proj_dim\": 16", "\"word_embed_proj_dim\": 8", "config.json asks for 19 × 8"},
        {"opt_350m", "\"word_embed_proj_dim\": 6", "\"word_embed_proj_dim\": 5", "config.json asks for"},
        {"opt_350m", "\"word_embed_proj_dim\": 6", "\"word_embed_proj_dim\": 0", "must be at least 1"},
        {"opt_350m", "\"enable_bias\": true", "\"enable_bias\": false", "q_proj.bias"},
        {"stablelm", "\"use_parallel_residual\": false", "\"use_parallel_residual\": true", "must be false"},
        {"gemma3", "\"sliding_window_pattern\": 2", "\"layer_types\": [\"chunked_attention\", \"a\", \"b\"]",
         "\"chunked_attention\"; full_attention"},
        {"mistral", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true", NULL},
        {"llama3", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true"},
        {"bart", "\"bart\"", "\"mbart\"", "norms in front and one behind each stack"},
        {"bart", "\"bart\"", "\"led\"", "tokens that all see"},
        {"bart", "\"bart\"", "\"marian\"", "\"normalize_embedding\" must be false"},
        {"bart", "\"decoder_attention_heads\": 2", "\"decoder_attention_heads\": 4", "both stacks have the same"},
        {"bart", "\"normalize_before\": false", "\"normalize_before\": true", "must be false"},
        {"marian", "\"static_position_embeddings\": true", "\"static_position_embeddings\": false", "must be true"},
        {"marian", "\"vocab_size\"", "\"decoder_vocab_size\": 7, \"vocab_size\"", "one embedding for two"},
        {"marian", "\"vocab_size\"", "\"share_encoder_decoder_embeddings\": false, \"vocab_size\"", "is missing"},
        {"bart", "\"decoder_start_token_id\": ", "\"decoder_start_token_id\": 99", "there are"},
        {"mixtral", "\"mixtral\"", "\"mixtral\", \"scoring_func\": \"sigmoid\"", "scoring_func"},
        {"mixtral", "\"mixtral\"", "\"mixtral\", \"scoring_func\": \"softmax\"", NULL},
        {"llama", "\"llama\"", "\"mllama\"", "look at a picture"},
        {"t5", "\"t5\"", "\"umt5\"", "every block has a table"},
        {"t5", "\"t5\"", "\"longt5\"", "its encoder sees in windows"},
        {"t5", "\"relu\"", "\"gated-gelu\"", "wi_0.weight' is missing"},
        {"t5", "\"relu\"", "\"gated-tanh\"", "not an activation"},
        {"t5", "_buckets\": 8", "_buckets\": 4", "config.json asks for"},
        {"t5", "max_distance\": 6", "max_distance\": 4", "must end behind their half"},
        {"t5", "\"d_kv\": 6", "\"d_kv\": 8", "config.json asks for"},
        {"gpt2", "\"n_head\": 2", "\"n_head\": 1e12", "config.json: \"n_head\" must be a whole number, 1 to 1024"},
        {"gpt2", "\"n_head\": 2", "\"n_head\": 0", "config.json: \"n_head\" must be a whole number, 1 to 1024"},
        {"gpt2", "\"n_layer\": 2", "\"n_layer\": 0", "\"n_layer\" must be a whole number, 1 to 1024"},
        {"gpt2", "\"n_positions\": 12", "\"n_positions\": null",
         "config.json: number of positions is 0; it must be 1 to"},
        {"gpt2",
         "\"activation_function\": ", "\"activation_function\": 7, \"was\": ", "must be the name of an activation"},
        {"gpt2", "\"layer_norm_epsilon\": ", "\"layer_norm_epsilon\": 1e300, \"was\": ",
         "\"layer_norm_epsilon\" is 1e+300; float32 holds"},
        {"gpt2", "\"layer_norm_epsilon\": ", "\"layer_norm_epsilon\": 1e12, \"was\": ",
         "config.json: \"layer_norm_epsilon\" is 1e+12; it must be 0 to 1"},
        {"llama", "\"rms_norm_eps\": ", "\"rms_norm_eps\": -1, \"was\": ", "\"rms_norm_eps\" is -1; it must be 0 to 1"},
        {"llama", "\"rope_theta\": 10000.0", "\"rope_theta\": 0",
         "config.json: the base of the rotations (rope_theta) is 0; it must be above 1"},
        {"bert",
         "\"type_vocab_size\": ", "\"type_vocab_size\": -1, \"was\": ", "must be a whole number, 0 to 1073741824"},
        {"flan_t5", "\"t5\"", "\"mt5\"", NULL},
        {"flan_t5", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true, \"scale_decoder_outputs\": false",
         NULL},
    };
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        char dir[64];
        Model m;
        Err err = {""};
        with_config(dir, REFUSED[i].name, REFUSED[i].old, REFUSED[i].new);
        bool ok = family_load(&m, dir, NULL, NULL, &err);
        clear(dir);
        if (ok != !REFUSED[i].said)
            fail_msg("%s with %s: %s", REFUSED[i].name, REFUSED[i].new, ok ? "was read" : err.text);
        if (!ok && !strstr(err.text, REFUSED[i].said))
            fail_msg("%s with %s: said '%s'", REFUSED[i].name, REFUSED[i].new, err.text);
        if (ok)
            model_free(&m);
    }
}

/* Tables that a file has twice, and positions that a program computes, are what they must be or refused. */
static void copies(void **state)
{
    (void)state;
    enum { PLACES = 12, WIDTH = 16 };
    static const struct {
        const char *name;
        bool places;
        int column; /* of that one, one number is another */
        const char *said;
    } CASE[] = {{"model.decoder.embed_tokens.weight", false, -1, NULL},
                {"lm_head.weight", false, -1, NULL},
                {"model.encoder.embed_tokens.weight", false, 3, "is not the one table of words"},
                {"model.encoder.embed_positions.weight", true, -1, NULL},
                {"model.decoder.embed_positions.weight", true, 3, "is not the sinusoids"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Set s;
        char dir[256];
        Err err = {""};
        Model m;
        set_read(&s, "tests/data/families/words_marian/model.safetensors");
        const TensorOut *shared = &s.t[set_find(&s, "model.shared.weight")];
        size_t rows = CASE[i].places ? PLACES : shared->shape[0];
        float *x = xfloats(rows * WIDTH);
        for (size_t k = 0; k < rows * WIDTH; k++) {
            size_t pair = k % (WIDTH / 2);
            double angle = (double)(k / WIDTH) / pow(10000, 2.0 * (double)pair / WIDTH);
            x[k] = !CASE[i].places ? ((const float *)shared->data)[k]
                                   : (float)(k % WIDTH < WIDTH / 2 ? sin(angle) : cos(angle));
        }
        if (CASE[i].column >= 0)
            x[WIDTH + CASE[i].column] += 0.5f;
        set_add(&s, CASE[i].name, 2, (const size_t[]){rows, WIDTH}, x);
        scratch_dir(dir, sizeof dir, "copies");
        copy_file("tests/data/families/words_marian/config.json", dir, "config.json");
        set_write(&s, dir);
        set_free(&s);
        bool ok = family_load(&m, dir, NULL, NULL, &err);
        if (ok != !CASE[i].said || (!ok && !strstr(err.text, CASE[i].said)))
            fail_msg("%s: %s", CASE[i].name, ok ? "was read" : err.text);
        if (ok)
            model_free(&m);
    }
}

/* What is noted where ε is not in config.json is the class' own key. */
static void the_own_key_is_noted(void **state)
{
    (void)state;
    static const struct {
        const char *name, *old, *said;
    } CASE[] = {{"llama", "\"rms_norm_eps\": 1e-05,", "rms_norm_eps is 1e-06"},
                {"gptj", "\"layer_norm_epsilon\": 1e-05,", "layer_norm_epsilon is 1e-05"},
                {"starcoder2", "\"norm_epsilon\": 1e-05,", "norm_epsilon is 1e-05"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char dir[64];
        Model m;
        Err err = {""};
        bool noted = false;
        with_config(dir, CASE[i].name, CASE[i].old, "");
        bool ok = family_load(&m, dir, NULL, NULL, &err);
        clear(dir);
        if (!ok)
            fail_msg("%s: %s", CASE[i].name, err.text);
        for (int k = 0; k < m.assumption_count; k++)
            noted = noted || strncmp(m.assumptions[k], CASE[i].said, strlen(CASE[i].said)) == 0;
        assert_true(noted);
        model_free(&m);
    }
}

/* A type that is published is never taken for a slip of the pen, and each has its reason. */
static void published_types(void **state)
{
    (void)state;
    static const char *const TYPES[] = {
        "arcee",
        "baichuan",
        "bert-generation",
        "encoder-decoder",
        "esm",
        "exaone",
        "gemma3n_text",
        "gemma4",
        "gemma4_text",
        "ibert",
        "internlm3",
        "kimi",
        "kimi_k2",
        "minimax",
        "mistral3",
        "mistral4",
        "ministral",
        "ministral3",
        "qwen",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen2_vl",
        "gpt_neox_japanese",
        "qwen2_5_vl",
        "qwen3_vl",
        "roc_bert",
        "seed_oss",
        "hunyuan_v1_dense",
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        char dir[64], type[64];
        Model m;
        Err err = {""};
        snprintf(type, sizeof type, "\"%s\"", TYPES[i]);
        with_config(dir, "llama", "\"llama\"", type);
        assert_false(family_load(&m, dir, NULL, NULL, &err));
        clear(dir);
        if (!strstr(err.text, type) || !strstr(err.text, "does not run: ") || strstr(err.text, "did you mean"))
            fail_msg("%s: said '%s'", TYPES[i], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(look_alikes), cmocka_unit_test(copies),
                                       cmocka_unit_test(the_own_key_is_noted), cmocka_unit_test(published_types)};
    return cmocka_run_group_tests_name("hub_refused", tests, NULL, NULL);
}
