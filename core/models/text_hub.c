/* The families of decoders that are read from the hub, and the names of what is refused. What stands here was read in
 * each family's published program (transformers, src/transformers/models): the order of its sums, where its norms
 * stand, what its class has where config.json is silent. */
#include <string.h>

#include "core/base/buf.h"
#include "core/models/text_hub_rows.h"

#define FUSED(name, how)                                                                                               \
    PART(DEC_W_Q, DEC_B_Q, name, "q" how), PART(DEC_W_K, DEC_B_K, name, "k" how), PART(DEC_W_V, DEC_B_V, name, "v" how)
#define GEMMA_NORMS                                                                                                    \
    NORM(DEC_LN1, "layers.%d.input_layernorm"), NORM(DEC_AFTER1, "layers.%d.post_attention_layernorm"),                \
        NORM(DEC_LN3, "layers.%d.pre_feedforward_layernorm"), NORM(DEC_AFTER2, "layers.%d.post_feedforward_layernorm")
#define GEMMA_KNOBS                                                                                                    \
    .eps = 1e-6f, .act = MAP_GELU_TANH, .pre_norm = true, .final_norm = true, .rms_norm = true, .gated = true,         \
    .gamma_plus = true, .tied = true, .head_dim = 256, .pos = SEQ2SEQ_POS_ROPE
#define GEMMA3_KNOBS                                                                                                   \
    GEMMA_KNOBS, .rope = {.base = 1000000, .local_base = 10000, .half = true}, .after_norm = true,                     \
                 .head_norm = HEAD_NORM_EACH, .key_heads = 4, .window = 4096
#define GEMMA3_REST                                                                                                    \
    .names = {LLAMA_ATTENTION, LLAMA_MLP, HEAD_NORMS(EACH), GEMMA_NORMS, LLAMA_ENDS},                                  \
    .musts = "attention_bias=false use_bidirectional_attention=false attn_logit_softcapping=null",                     \
    .keys = WINDOW_KEYS " query_pre_attn_scalar final_logit_softcapping sliding_window_pattern "                       \
                        "_sliding_window_pattern rope_local_base_freq",                                                \
    .finish = gemma3, .root_scale = true
#define GPT_KNOBS .eps = 1e-5f, .act = MAP_GELU_TANH, .pre_norm = true, .final_norm = true
#define GPT_KEYS "n_embd n_head n_layer n_positions n_inner layer_norm_epsilon activation_function"
/* Who reads which blocks have a window; the others have one width for all, or none. */
#define WINDOW_KEYS "sliding_window layer_types"
#define QWEN_KEYS WINDOW_KEYS " use_sliding_window max_window_layers attention_bias"
#define MASKS "*.attn.bias *.attn.masked_bias *.attention.bias *.attention.masked_bias *.attn.attention.masked_bias"

static bool all_windows(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return hub_windows(k, c, 0, err);
}

/* Windows only where use_sliding_window says so, in the blocks from max_window_layers on. */
static bool qwen(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    bool on = false;
    int first = c->decoder_layers;
    if (!hub_flag(k, "use_sliding_window", &on, err) || !hub_whole(k, "max_window_layers", &first, err))
        return false;
    c->out_bias = c->qkv_bias && strcmp(k->family->type, "qwen3") == 0;
    if (!on) {
        c->window = 0;
        return true;
    }
    if (!hub_windows(k, c, 0, err))
        return false;
    for (int i = 0; i < first && i < c->decoder_layers && !json_get(k->config, "layer_types"); i++)
        c->windowed[i / 32] &= ~((uint32_t)1 << i % 32);
    return true;
}

static bool gpt_neo(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const Json *types = json_get(k->config, "attention_types");
    int at = 0;
    for (size_t i = 0; i < json_count(types); i++) {
        const Json *run = json_at(types, i), *kinds = json_at(run, 0);
        int64_t times = 0;
        json_int(json_at(run, 1), &times);
        for (int64_t n = 0; n < times && at < c->decoder_layers; n++)
            for (size_t j = 0; j < json_count(kinds) && at < c->decoder_layers; j++, at++) {
                const char *kind = json_text(json_at(kinds, j), "");
                if (strcmp(kind, "local") == 0)
                    c->windowed[at / 32] |= (uint32_t)1 << at % 32;
                else if (strcmp(kind, "global") != 0)
                    return err_set(err, "%s: \"attention_types\" has \"%.20s\"; it may be global or local", k->path,
                                   kind);
            }
    }
    return at == c->decoder_layers ||
           err_set(err, "%s: \"attention_types\" is for %d blocks, the model has %d", k->path, at, c->decoder_layers);
}

/* So many times a size, cut to a whole number; `key` is for the message. */
static bool times(const HubReading *k, const char *key, float share, int size, int *out, Err *err)
{
    enum { MOST = 1 << 30 };
    if (!(share >= 0 && (double)share * size <= MOST))
        return err_set(err, "%s: \"%s\" is %g, and %d times that is no size", k->path, key, (double)share, size);
    *out = (int)(share * (float)size);
    return true;
}

/* A share of every head is rotated: by a key of config.json, or among the rotations, where transformers 5 writes it;
 * `share` where neither has it. */
static bool partly(const HubReading *k, Seq2seqConfig *c, const char *key, float share, Err *err)
{
    return hub_real(k, key, &share, err) && hub_rope_share(k, &share, err) &&
           times(k, key, share, c->head_dim, &c->rope.width, err);
}

static bool neox(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    bool side_by_side = true;
    if (!partly(k, c, "rotary_pct", 0.25f, err) || !hub_flag(k, "use_parallel_residual", &side_by_side, err))
        return false;
    c->parallel = side_by_side ? PARALLEL_TWO_NORMS : PARALLEL_NOT;
    return true;
}

static bool phi(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return partly(k, c, "partial_rotary_factor", 0.5f, err);
}

static bool phi3(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return partly(k, c, "partial_rotary_factor", 1, err) && hub_windows(k, c, 0, err);
}

static bool stablelm(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return partly(k, c, "partial_rotary_factor", 0.25f, err);
}

/* Scores are divided by the root of a number of its own, not of the head's width. */
static bool score_root(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int n = 256;
    if (!hub_whole(k, "query_pre_attn_scalar", &n, err))
        return false;
    if (n < 1)
        return err_set(err, "%s: \"query_pre_attn_scalar\" is %d; it must be at least 1", k->path, n);
    c->scale = seq2seq_root(n, true);
    return true;
}

static bool gemma2(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return score_root(k, c, err) && hub_windows(k, c, 2, err);
}

static bool gemma3(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int every = 6;
    return score_root(k, c, err) && hub_whole(k, "sliding_window_pattern", &every, err) &&
           hub_windows(k, c, every, err);
}

/* Its 350M has words narrower than the model, and norms behind its sums with none at the end; as has one that was
 * written before there was such a norm. */
static bool opt(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int words = c->width;
    bool without = false;
    if (!hub_whole(k, "word_embed_proj_dim", &words, err) || !hub_flag(k, "_remove_final_layer_norm", &without, err))
        return false;
    if (words < 1)
        return err_set(err, "%s: \"word_embed_proj_dim\" is %d; it must be at least 1", k->path, words);
    c->word_width = words == c->width ? 0 : words;
    c->final_norm = c->final_norm && !without;
    return true;
}

/* A number above 0 of attn_config; absent, null, false: *out stays. */
static bool attention_number(const HubReading *k, const Json *a, const char *key, double *out, Err *err)
{
    const Json *v = json_get(a, key);
    if (!v || json_kind(v) == JK_NULL || json_kind(v) == JK_FALSE)
        return true;
    return (json_number(v, out) && *out > 0 && *out <= 1e6) ||
           err_set(err, "%s: \"attn_config\" has a \"%s\" that is no number above 0", k->path, key);
}

/* Its attention has settings of its own. */
static bool mpt(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const Json *a = json_get(k->config, "attn_config"), *alibi = json_get(a, "alibi");
    static const char *const OFF[] = {"qk_ln", "softmax_scale", "prefix_lm", "attn_uses_sequence_id"};
    double most = 8, clip = 0;
    float ratio = 4;
    for (size_t i = 0; i < sizeof OFF / sizeof *OFF; i++) {
        JsonKind kind = json_kind(json_get(a, OFF[i]));
        if (kind != JK_NULL && kind != JK_FALSE)
            return err_set(err, "%s: \"attn_config\" has \"%s\", which is not built here", k->path, OFF[i]);
    }
    if (!json_bool(alibi, true))
        return err_set(err, "%s: \"attn_config\" must have \"alibi\": true", k->path);
    if (!attention_number(k, a, "alibi_bias_max", &most, err) || !attention_number(k, a, "clip_qkv", &clip, err))
        return false;
    c->clip = (float)clip;
    c->alibi_most = most < 8 || most > 8 ? (float)most : 0;
    if (c->alibi_most > 0)
        model_assume(k->m,
                     "\"alibi_bias_max\" is %g, as it was trained with; Hugging Face's class mpt takes 8 all the same",
                     most);
    return hub_real(k, "expansion_ratio", &ratio, err) && times(k, "expansion_ratio", ratio, c->width, &c->mlp, err);
}

/* All biases or none, those of the norms too. */
static bool nanogpt(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    bool on = true;
    if (!hub_flag(k, "bias", &on, err))
        return false;
    c->qkv_bias = c->out_bias = c->mlp_bias = on;
    c->bare_norm = !on;
    return true;
}

/* What GPT-2 and its followers call what all of them have; and its own layers, which some store the other way round. */
#define GPT_FILE(type_, name) .type = type_, .layout = "Hugging Face " name, .prefix = "transformer.", .useless = MASKS
#define GPT_ENDS                                                                                                       \
    [SEQ2SEQ_TARGET_EMBED] = "wte.weight", NORM(DEC_LN1, "h.%d.ln_1"), NORM(TARGET_FINAL, "ln_f"),                     \
    BOTH(HEAD_W, HEAD_B, "/lm_head")
#define GPT_PLACES [SEQ2SEQ_TARGET_POS] = "wpe.weight", NORM(DEC_LN3, "h.%d.ln_2")
#define GPT2_NAMES(how)                                                                                                \
    GPT_ENDS, GPT_PLACES, FUSED("h.%d.attn.c_attn", how), PART(DEC_W_O, DEC_B_O, "h.%d.attn.c_proj", how),             \
        PART(DEC_W_UP, DEC_B_UP, "h.%d.mlp.c_fc", how), PART(DEC_W_DOWN, DEC_B_DOWN, "h.%d.mlp.c_proj", how)
#define SMALL_GPT                                                                                                      \
    .prefix = "transformer.", .useless = MASKS, .names_of_keys = "n_embd n_head n_layer block_size vocab_size",        \
    .settled = true, .names = {GPT2_NAMES("")}

static const HubFamily HUB[] = {
    {GPT_FILE("gpt2", "GPT-2"),
     .c = {GPT_KNOBS, .learned_positions = true, .tied = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true},
     .names_of_keys = GPT_KEYS, .names = {GPT2_NAMES("T")},
     .musts = "scale_attn_weights=true scale_attn_by_inverse_layer_idx=false add_cross_attention=false"},
    {.type = HUB_NANOGPT,
     .layout = "nanoGPT",
     .c =
         {.eps = 1e-5f, .act = MAP_GELU, .pre_norm = true, .final_norm = true, .learned_positions = true, .tied = true},
     SMALL_GPT,
     .keys = "bias",
     .finish = nanogpt},
    {.type = HUB_MINGPT,
     .layout = "minGPT",
     .c = {GPT_KNOBS, .learned_positions = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true},
     SMALL_GPT},
    {GPT_FILE("gpt_neo", "GPT-Neo"),
     .c = {GPT_KNOBS, .learned_positions = true, .window = 256, .tied = true, .out_bias = true, .mlp_bias = true},
     .names_of_keys = "num_heads num_layers layer_norm_epsilon activation_function",
     .names = {GPT_ENDS, GPT_PLACES, QKV("h.%d.attn.attention."),
               BOTH(DEC_W_O, DEC_B_O, "h.%d.attn.attention.out_proj"), BOTH(DEC_W_UP, DEC_B_UP, "h.%d.mlp.c_fc"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "h.%d.mlp.c_proj")},
     .keys = "window_size attention_types attention_layers", .finish = gpt_neo, .unscaled = true},
    {GPT_FILE("gptj", "GPT-J"),
     .c = {GPT_KNOBS, .pos = SEQ2SEQ_POS_ROPE, .rope = {.base = 10000, .width = 64}, .parallel = PARALLEL_ONE_NORM,
           .head_bias = true, .mlp_bias = true},
     .names_of_keys = GPT_KEYS,
     .names = {GPT_ENDS, QKV("h.%d.attn."), BOTH(DEC_W_O, DEC_B_O, "h.%d.attn.out_proj"),
               BOTH(DEC_W_UP, DEC_B_UP, "h.%d.mlp.fc_in"), BOTH(DEC_W_DOWN, DEC_B_DOWN, "h.%d.mlp.fc_out")},
     .keys = "rotary_dim"},
    {.type = "gpt_neox",
     .layout = "Hugging Face GPT-NeoX",
     .c = {.eps = 1e-5f,
           .act = MAP_GELU,
           .pre_norm = true,
           .final_norm = true,
           ROTATED,
           .qkv_bias = true,
           .out_bias = true,
           .mlp_bias = true},
     .prefix = "gpt_neox.",
     .names_of_keys = "layer_norm_eps rotary_emb_base",
     .names = {[SEQ2SEQ_TARGET_EMBED] = "embed_in.weight",
               NORM(DEC_LN1, "layers.%d.input_layernorm"),
               FUSED("layers.%d.attention.query_key_value", "H"),
               BOTH(DEC_W_O, DEC_B_O, "layers.%d.attention.dense"),
               NORM(DEC_LN3, "layers.%d.post_attention_layernorm"),
               BOTH(DEC_W_UP, DEC_B_UP, "layers.%d.mlp.dense_h_to_4h"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "layers.%d.mlp.dense_4h_to_h"),
               NORM(TARGET_FINAL, "final_layer_norm"),
               [SEQ2SEQ_HEAD_W] = "/embed_out.weight"},
     .useless = MASKS " " FREQUENCIES,
     .keys = "rotary_pct use_parallel_residual attention_bias",
     .finish = neox,
     .part_turned = true},
    {.type = "opt",
     .layout = "Hugging Face OPT",
     .c = {.eps = 1e-5f,
           .act = MAP_RELU,
           .pre_norm = true,
           .final_norm = true,
           .learned_positions = true,
           .first_position = 2,
           .tied = true,
           .qkv_bias = true,
           .out_bias = true,
           .mlp_bias = true},
     .prefix = "model.",
     .names_of_keys = "ffn_dim activation_function",
     .names = {[SEQ2SEQ_TARGET_EMBED] = "decoder.embed_tokens.weight",
               [SEQ2SEQ_TARGET_POS] = "decoder.embed_positions.weight",
               NORM(DEC_LN1, "decoder.layers.%d.self_attn_layer_norm"),
               QKV("decoder.layers.%d.self_attn."),
               BOTH(DEC_W_O, DEC_B_O, "decoder.layers.%d.self_attn.out_proj"),
               NORM(DEC_LN3, "decoder.layers.%d.final_layer_norm"),
               BOTH(DEC_W_UP, DEC_B_UP, "decoder.layers.%d.fc1"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "decoder.layers.%d.fc2"),
               NORM(TARGET_FINAL, "decoder.final_layer_norm"),
               [SEQ2SEQ_TARGET_PROJECT_W] = "decoder.project_in.weight",
               [SEQ2SEQ_TARGET_NARROW_W] = "decoder.project_out.weight",
               [SEQ2SEQ_HEAD_W] = "/lm_head.weight"},
     .musts = "layer_norm_elementwise_affine=true",
     .keys = "word_embed_proj_dim do_layer_norm_before _remove_final_layer_norm enable_bias",
     .finish = opt},
    {.type = "bloom",
     .layout = "Hugging Face BLOOM",
     .c = {GPT_KNOBS, .pos = SEQ2SEQ_POS_ALIBI, .embed_norm = true, .tied = true, .qkv_bias = true, .out_bias = true,
           .mlp_bias = true},
     .prefix = "transformer.",
     .names_of_keys = "n_embed n_head n_layer layer_norm_epsilon " HUB_NO_ACT,
     .names = {[SEQ2SEQ_TARGET_EMBED] = "word_embeddings.weight",
               NORM(TARGET_NORM, "word_embeddings_layernorm"),
               NORM(DEC_LN1, "h.%d.input_layernorm"),
               FUSED("h.%d.self_attention.query_key_value", "H"),
               BOTH(DEC_W_O, DEC_B_O, "h.%d.self_attention.dense"),
               NORM(DEC_LN3, "h.%d.post_attention_layernorm"),
               BOTH(DEC_W_UP, DEC_B_UP, "h.%d.mlp.dense_h_to_4h"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "h.%d.mlp.dense_4h_to_h"),
               NORM(TARGET_FINAL, "ln_f"),
               [SEQ2SEQ_HEAD_W] = "/lm_head.weight"},
     .musts = "apply_residual_connection_post_layernorm=false"},
    {.type = "mpt",
     .layout = "Hugging Face MPT",
     .c = {.eps = 1e-5f,
           .act = MAP_GELU,
           .pre_norm = true,
           .final_norm = true,
           .bare_norm = true,
           .pos = SEQ2SEQ_POS_ALIBI,
           .tied = true},
     .prefix = "transformer.",
     .names_of_keys = "d_model n_heads n_layers max_seq_len layer_norm_epsilon " HUB_NO_ACT,
     .names = {[SEQ2SEQ_TARGET_EMBED] = "wte.weight",
               [SEQ2SEQ_DEC_LN1_GAMMA] = "blocks.%d.norm_1.weight",
               FUSED("blocks.%d.attn.Wqkv", ""),
               [SEQ2SEQ_DEC_W_O] = "blocks.%d.attn.out_proj.weight",
               [SEQ2SEQ_DEC_LN3_GAMMA] = "blocks.%d.norm_2.weight",
               [SEQ2SEQ_DEC_W_UP] = "blocks.%d.ffn.up_proj.weight",
               [SEQ2SEQ_DEC_W_DOWN] = "blocks.%d.ffn.down_proj.weight",
               [SEQ2SEQ_TARGET_FINAL_GAMMA] = "norm_f.weight",
               [SEQ2SEQ_HEAD_W] = "/lm_head.weight"},
     .musts = "no_bias=true logit_scale=null norm_type=\"low_precision_layernorm\"",
     .keys = "attn_config expansion_ratio",
     .finish = mpt},
    {LLAMA_FILE("llama", "Llama", "rms_norm_eps"), .c = {LLAMA_KNOBS(1e-6f)}, .names = {LLAMA_NAMES},
     .keys = "attention_bias mlp_bias"},
    {.type = "llama2.c",
     .layout = "llama2.c",
     .c = {RMS_KNOBS(1e-5f), .pre_norm = true, .pos = SEQ2SEQ_POS_ROPE, .rope = {.base = 10000}},
     .prefix = "",
     .names_of_keys = "dim n_layers n_heads n_kv_heads hidden_dim max_seq_len vocab_size tie_word_embeddings",
     .settled = true,
     .names = {[SEQ2SEQ_TARGET_EMBED] = "tok_embeddings.weight",
               [SEQ2SEQ_DEC_LN1_GAMMA] = "layers.%d.attention_norm.weight",
               [SEQ2SEQ_DEC_W_Q] = "layers.%d.attention.wq.weight",
               [SEQ2SEQ_DEC_W_K] = "layers.%d.attention.wk.weight",
               [SEQ2SEQ_DEC_W_V] = "layers.%d.attention.wv.weight",
               [SEQ2SEQ_DEC_W_O] = "layers.%d.attention.wo.weight",
               [SEQ2SEQ_DEC_LN3_GAMMA] = "layers.%d.ffn_norm.weight",
               [SEQ2SEQ_DEC_W_GATE] = "layers.%d.feed_forward.w1.weight",
               [SEQ2SEQ_DEC_W_UP] = "layers.%d.feed_forward.w3.weight",
               [SEQ2SEQ_DEC_W_DOWN] = "layers.%d.feed_forward.w2.weight",
               [SEQ2SEQ_TARGET_FINAL_GAMMA] = "norm.weight",
               [SEQ2SEQ_HEAD_W] = "/output.weight"}},
    {LLAMA_FILE("mistral", "Mistral", "rms_norm_eps"), .c = {LLAMA_KNOBS(1e-6f), .key_heads = 8, .window = 4096},
     .names = {LLAMA_NAMES}, .keys = "sliding_window", .finish = all_windows},
    {LLAMA_FILE("qwen2", "Qwen2", "rms_norm_eps"), .c = {LLAMA_KNOBS(1e-6f), .qkv_bias = true, .window = 4096},
     .names = {LLAMA_NAMES}, .keys = QWEN_KEYS, .finish = qwen},
    {LLAMA_FILE("qwen3", "Qwen3", "rms_norm_eps"),
     .c = {LLAMA_KNOBS(1e-6f), .head_dim = 128, .head_norm = HEAD_NORM_EACH, .window = 4096},
     .names = {LLAMA_NAMES, HEAD_NORMS(EACH)}, .keys = QWEN_KEYS, .finish = qwen},
    {LLAMA_FILE("olmo2", "OLMo 2", "rms_norm_eps"),
     .c = {RMS_GATED(1e-5f), .after_norm = true, .head_norm = HEAD_NORM_ALL},
     .names = {LLAMA_ATTENTION, LLAMA_MLP, HEAD_NORMS(ALL), LLAMA_ENDS,
               NORM(DEC_LN1, "layers.%d.post_attention_layernorm"),
               NORM(DEC_LN3, "layers.%d.post_feedforward_layernorm")},
     .keys = "attention_bias mlp_bias"},
    {LLAMA_FILE("gemma", "Gemma", "rms_norm_eps hidden_activation hidden_act"),
     .c = {GEMMA_KNOBS, .rope = {.base = 10000, .half = true}}, .names = {LLAMA_NAMES},
     .musts = "use_bidirectional_attention=null", .keys = "attention_bias mlp_bias", .root_scale = true},
    {LLAMA_FILE("gemma2", "Gemma 2", "rms_norm_eps hidden_activation"),
     .c = {GEMMA_KNOBS, .rope = {.base = 10000, .half = true}, .after_norm = true, .score_cap = 50, .logit_cap = 30,
           .key_heads = 4, .window = 4096},
     .names = {LLAMA_ATTENTION, LLAMA_MLP, GEMMA_NORMS, LLAMA_ENDS},
     .musts = "attention_bias=false use_bidirectional_attention=null",
     .keys = "query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping " WINDOW_KEYS, .finish = gemma2,
     .root_scale = true},
    {LLAMA_FILE("gemma3_text", "Gemma 3", "rms_norm_eps hidden_activation"), .c = {GEMMA3_KNOBS}, GEMMA3_REST},
    {LLAMA_FILE("gemma3", "Gemma 3 (its text)", "rms_norm_eps hidden_activation"),
     .c = {GEMMA3_KNOBS, .width = 2304, .heads = 8, .decoder_layers = 26, .target_words = 262208, .mlp = 9216,
           .positions = 131072},
     GEMMA3_REST, .inside = true},
    {LLAMA_FILE("phi", "Phi", "layer_norm_eps"),
     .c = {GPT_KNOBS, ROTATED, .parallel = PARALLEL_ONE_NORM, .head_bias = true, .qkv_bias = true, .out_bias = true,
           .mlp_bias = true},
     .names = {[SEQ2SEQ_TARGET_EMBED] = "embed_tokens.weight",
               NORM(DEC_LN1, "layers.%d.input_layernorm"),
               QKV("layers.%d.self_attn."),
               BOTH(DEC_W_O, DEC_B_O, "layers.%d.self_attn.dense"),
               BOTH(DEC_W_UP, DEC_B_UP, "layers.%d.mlp.fc1"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "layers.%d.mlp.fc2"),
               NORM(TARGET_FINAL, "final_layernorm"),
               BOTH(HEAD_W, HEAD_B, "/lm_head")},
     .musts = "qk_layernorm=false", .keys = "partial_rotary_factor", .finish = phi, .part_turned = true},
    {LLAMA_FILE("phi3", "Phi-3", "rms_norm_eps"), .c = {LLAMA_KNOBS(1e-5f)},
     .names = {FUSED("layers.%d.self_attn.qkv_proj", ""), [SEQ2SEQ_DEC_W_O] = "layers.%d.self_attn.o_proj.weight",
               PART(DEC_W_GATE, DEC_B_GATE, "layers.%d.mlp.gate_up_proj", "0/2"),
               PART(DEC_W_UP, DEC_B_UP, "layers.%d.mlp.gate_up_proj", "1/2"),
               [SEQ2SEQ_DEC_W_DOWN] = "layers.%d.mlp.down_proj.weight", LLAMA_NORMS, LLAMA_ENDS},
     .musts = "attention_bias=false mlp_bias=false lm_head_bias=false full_attn_mod=1 interpolate_factor=1",
     .keys = "partial_rotary_factor original_max_position_embeddings sliding_window", .finish = phi3,
     .part_turned = true},
    {LLAMA_FILE("stablelm", "StableLM", "layer_norm_eps"),
     .c = {.eps = 1e-5f, .act = MAP_SILU, .pre_norm = true, .final_norm = true, .gated = true, ROTATED},
     .names = {LLAMA_NAMES}, .musts = "use_parallel_residual=false qk_layernorm=false",
     .keys = "partial_rotary_factor use_qkv_bias", .finish = stablelm, .part_turned = true},
    {LLAMA_FILE("starcoder2", "StarCoder2", "norm_epsilon"),
     .c = {GPT_KNOBS, ROTATED, .key_heads = 2, .tied = true, .qkv_bias = true, .out_bias = true, .mlp_bias = true},
     .names = {LLAMA_ATTENTION, LLAMA_NORMS, LLAMA_ENDS, BOTH(DEC_W_UP, DEC_B_UP, "layers.%d.mlp.c_fc"),
               BOTH(DEC_W_DOWN, DEC_B_DOWN, "layers.%d.mlp.c_proj")},
     .keys = "use_bias sliding_window", .finish = all_windows},
};
enum { HUB_COUNT = sizeof HUB / sizeof *HUB };

const HubFamily *hub_family(int i)
{
    const struct {
        const HubFamily *row;
        int count;
    } LISTS[] = {{HUB, HUB_COUNT}, {HUB_EXPERTS, HUB_EXPERTS_COUNT}, {HUB_ENCODERS, HUB_ENCODER_COUNT}};
    for (int k = 0; k < 3; i -= LISTS[k++].count)
        if (i < LISTS[k].count)
            return &LISTS[k].row[i];
    return NULL;
}

bool hub_embeds(const char *name)
{
    const HubFamily *f;
    size_t n = strlen(name);
    for (int i = 0; (f = hub_family(i)) != NULL; i++) {
        static const Seq2seqRole TABLES[] = {SEQ2SEQ_SHARED_EMBED, SEQ2SEQ_SOURCE_EMBED, SEQ2SEQ_TARGET_EMBED};
        const char *embed = NULL;
        for (int k = 0; k < 3 && !embed; k++)
            embed = f->names[TABLES[k]];
        size_t length = embed ? strcspn(embed, "|") : 0;
        if (length && n >= length && strncmp(name + n - length, embed, length) == 0)
            return true;
    }
    return false;
}

void hub_list(Buf *out)
{
    for (int i = 0; hub_family(i); i++)
        buf_printf(out, "%s%s", i ? ", " : "", hub_family(i)->type);
}
