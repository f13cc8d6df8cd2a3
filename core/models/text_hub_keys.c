/* Keys of a hub's config.json that its class does not read. What says the same as what is computed is noted, what says
 * something else, or may say it, is refused by name. */
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

/* --- what a key can say of a model --- */

typedef enum Trait {
    CAUSAL,
    SEES_ALL,
    ROTATES,
    INTERLEAVES,
    ALIBI,
    TABLE,
    RMS,
    LAYER_NORM,
    BEFORE,
    BEHIND,
    HEADS_NORMED,
    QKV_BIAS,
    MLP_BIAS,
    HEAD_BIAS,
    GATED,
    BESIDE,
    SCALED,
    WINDOWED,
    ORDINARY, /* any model here */
    UNBUILT   /* none */
} Trait;

static bool has_window(const Seq2seqConfig *c)
{
    bool any = false;
    for (int i = 0; i < c->decoder_layers && i < SEQ2SEQ_LAYERS_MOST; i++)
        any = any || seq2seq_windowed(c, i);
    return any;
}

static bool has_trait(const Seq2seqConfig *c, Trait t)
{
    const bool causal = c->form != SEQ2SEQ_ENCODER_ONLY, rotates = c->pos == SEQ2SEQ_POS_ROPE;
    const bool is[] = {
        [CAUSAL] = causal,
        [SEES_ALL] = !causal,
        [ROTATES] = rotates,
        [INTERLEAVES] = rotates && !c->rope.half,
        [ALIBI] = c->pos == SEQ2SEQ_POS_ALIBI,
        [TABLE] = c->learned_positions,
        [RMS] = c->rms_norm,
        [LAYER_NORM] = !c->rms_norm,
        [BEFORE] = c->pre_norm,
        [BEHIND] = c->after_norm || !c->pre_norm,
        [HEADS_NORMED] = c->head_norm != HEAD_NORM_NONE,
        [QKV_BIAS] = c->qkv_bias,
        [MLP_BIAS] = c->mlp_bias,
        [HEAD_BIAS] = c->head_bias,
        [GATED] = c->gated,
        [BESIDE] = c->parallel != PARALLEL_NOT,
        [SCALED] = c->scale < 1,
        [WINDOWED] = has_window(c),
        [ORDINARY] = true,
        [UNBUILT] = false,
    };
    return is[t];
}

/* Keys that are true or false as the model has the trait. */
static const struct {
    const char *keys;
    Trait trait;
    const char *yes, *no; /* what each means */
} SWITCHES[] = {
    {"is_causal causal causal_mask use_causal_mask causal_attention", CAUSAL, "each token sees those before it alone",
     "each token sees all others"},
    {"bidirectional is_bidirectional bidirectional_attention use_bidirectional_attention", SEES_ALL,
     "each token sees all others", "each token sees those before it alone"},
    {"use_rope rope rotary use_rotary use_rotary_embeddings rotary_embeddings", ROTATES, "queries and keys are rotated",
     "nothing is rotated"},
    {"rope_interleaved interleaved_rope rope_interleave rotary_interleaved", INTERLEAVES,
     "neighbours of a head are turned", "halves of a head are turned"},
    {"alibi use_alibi", ALIBI, "scores have a bias for distance", "scores have no bias for distance"},
    {"rms_norm use_rms_norm use_rmsnorm", RMS, "the norms are RMSNorm", "the norms are LayerNorm"},
    {"norm_first pre_norm use_pre_norm do_layer_norm_before normalize_before", BEFORE, "norms stand in front",
     "norms stand behind the sums"},
    {"post_norm use_post_norm", BEHIND, "norms stand behind the sub-layers", "no norms stand behind the sub-layers"},
    {"qk_norm use_qk_norm qk_layernorm qk_layer_norms", HEADS_NORMED, "queries and keys have norms",
     "queries and keys have no norms"},
    {"attention_bias attn_bias qkv_bias use_qkv_bias", QKV_BIAS, "q, k and v have biases", "q, k and v have no biases"},
    {"mlp_bias", MLP_BIAS, "the MLP has biases", "the MLP has no biases"},
    {"lm_head_bias", HEAD_BIAS, "the answer has a bias", "the answer has no bias"},
    {"use_gated_mlp gated_mlp is_gated_act", GATED, "the MLP has a gate", "the MLP has no gate"},
    {"parallel_attn parallel_residual use_parallel_residual", BESIDE, "attention and MLP stand side by side",
     "the MLP stands behind the attention"},
    {"scale_attn_weights scale_attention", SCALED, "scores have a factor", "scores have no factor"},
    {"use_sliding_window use_windowed_attention", WINDOWED, "blocks have windows", "no block has a window"},
    {"use_mrope mrope use_logn_attn use_dynamic_ntk scale_attn_by_inverse_layer_idx attn_temperature_tuning "
     "attention_sink attention_sinks use_attention_sink attn_output_gate",
     UNBUILT, "something is computed that is not built here", "it is off"},
    {"use_attention use_norm use_layer_norm use_layernorm use_position_embeddings use_positional_embedding", ORDINARY,
     "it is there", "it is left out"},
};
enum { SWITCH_COUNT = sizeof SWITCHES / sizeof *SWITCHES };

/* Keys with a word, and the words that a model with the trait may have there. */
#define PLACES                                                                                                         \
    "position_embedding_type pos_embedding_type positional_embedding position_encoding pos_emb_type "                  \
    "position_embeddings_type positional_encoding"
#define NORMS "norm_type normalization_type normalization layer_norm_type norm"
static const struct {
    const char *keys, *words;
    Trait trait;
} WORDS[] = {
    {PLACES, "rope rotary", ROTATES},
    {PLACES, "alibi", ALIBI},
    {PLACES, "absolute learned learned_absolute", TABLE},
    {NORMS, "rmsnorm rms_norm rms", RMS},
    {NORMS, "layernorm layer_norm ln", LAYER_NORM},
    {"scoring_func router_func router_type gating_function", "softmax", ORDINARY},
    {"topk_method", "greedy", ORDINARY},
    {"attention_type attn_type self_attention_type", "causal", CAUSAL},
    {"attention_type attn_type self_attention_type", "bidirectional", SEES_ALL},
    {"attention_type attn_type self_attention_type",
     "full full_attention original_full default standard softmax multihead_attention multi_head multihead", ORDINARY},
};
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };

/* How a program computes, and of its own history: any value is passed over. Of a name with one of TELLING in it
 * anything else may say what is computed. */
static const char IDLE[] =
    "is_llama_config is_qwen2_config is_starcoder2_config transformers.js_config *attn_implementation* "
    "*attention_implementation* *flash_att* flash_rotary *sdpa* *xformers* *memory_efficient_attention* "
    "*softmax_in_fp32 unsloth_* skip_bias_add_qkv";

/* Does a part of the name, between underscores, begin with one of these, or is it one of the short ones? */
static bool is_telling(const char *key)
{
    static const char BEGIN[] =
        "attention* attn* norm norms norm?* layernorm* rmsnorm* rope* rotary* causal* bidirectional* window* sliding* "
        "alibi* position* activation*",
                      WHOLE[] = "norm norms normalization normalize layernorm rmsnorm pos act nope mask";
    for (const char *at = key; *at;) {
        char part[64];
        size_t n = strcspn(at, "_.");
        utf8_take(part, sizeof part, at, n);
        if (list_has(BEGIN, part) || list_has(WHOLE, part))
            return true;
        at += n + (at[n] != '\0');
    }
    return false;
}

static bool has_word(const char *list, const char *word)
{
    const char *at;
    for (size_t n; list_next(&list, &at, &n);)
        if (strlen(word) == n && strncasecmp(at, word, n) == 0)
            return true;
    return false;
}

/* --- what they say --- */

typedef enum Says { NOTHING, SAME, OTHER } Says;

static Says switched(const HubReading *k, const Seq2seqConfig *c, const char *key, const Json *v, Err *err)
{
    size_t i = 0;
    while (i < SWITCH_COUNT && !list_has(SWITCHES[i].keys, key))
        i++;
    if (i == SWITCH_COUNT || (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE))
        return NOTHING;
    const bool says = json_kind(v) == JK_TRUE, is = has_trait(c, SWITCHES[i].trait);
    if (says == is)
        return SAME;
    err_set(err, "%.300s: \"%.60s\" is %s, which says that %s; as %s is built here, %s", k->path, key,
            says ? "true" : "false", says ? SWITCHES[i].yes : SWITCHES[i].no, k->family->layout,
            is ? SWITCHES[i].yes : SWITCHES[i].no);
    return OTHER;
}

static Says worded(const HubReading *k, const Seq2seqConfig *c, const char *key, const Json *v, Err *err)
{
    bool named = false, same = false;
    for (size_t i = 0; i < WORD_COUNT && json_kind(v) == JK_STRING; i++)
        if (list_has(WORDS[i].keys, key)) {
            named = true;
            same = same || (has_trait(c, WORDS[i].trait) && has_word(WORDS[i].words, json_text(v, "")));
        }
    if (named && !same)
        err_set(err, "%.300s: \"%.60s\" is \"%.40s\", and %s as it is built here has another", k->path, key,
                json_text(v, ""), k->family->layout);
    return !named ? NOTHING : same ? SAME : OTHER;
}

/* A number that must be what is taken anyway. */
static Says numbered(const HubReading *k, const Seq2seqConfig *c, const char *key, const Json *v, Err *err)
{
    const bool turned = strcmp(key, "rotary_dim") == 0, window = has_word("sliding_window sliding_window_size", key);
    int64_t n;
    if ((!turned && !window) || !json_int(v, &n))
        return NOTHING;
    const int own = turned ? c->pos != SEQ2SEQ_POS_ROPE ? 0
                             : c->rope.width            ? c->rope.width
                                                        : c->head_dim
                           : (has_window(c) ? c->window : 0);
    if (n == own || (window && !own && c->positions > 0 && n >= c->positions)) /* so wide that all is seen */
        return SAME;
    err_set(err, "%.300s: \"%.60s\" is not read by Hugging Face's class %s, and %d is taken: take the line out",
            k->path, key, k->family->type, own);
    return OTHER;
}

bool hub_keys(const HubReading *k, const Seq2seqConfig *c, bool (*known)(const HubReading *, const char *), Err *err)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(k->config, &key)) != NULL;) {
        const JsonKind kind = json_kind(v);
        if (known(k, key) || list_has(IDLE, key))
            continue;
        Says says = switched(k, c, key, v, err);
        says = says ? says : worded(k, c, key, v, err);
        says = says ? says : numbered(k, c, key, v, err);
        if (says == OTHER)
            return false;
        const bool harmless = kind == JK_NULL || ((kind == JK_FALSE || kind == JK_STRING) && !is_telling(key));
        if (says != SAME && !harmless)
            return err_set(err,
                           "%.300s: \"%.60s\" is not known here and may change what the model computes; if it changes "
                           "nothing, take the line out",
                           k->path, key);
        model_assume(k->m, "\"%.60s\" of config.json is not read", key);
    }
    return true;
}

bool hub_layer_types(const HubReading *k, const Seq2seqConfig *c, Err *err)
{
    const Json *types = json_get(k->config, "layer_types");
    const bool reads = list_has(k->family->keys, "layer_types");
    if (!types || json_kind(types) == JK_NULL)
        return true;
    if (json_kind(types) != JK_ARRAY)
        return err_set(err, "%.300s: \"layer_types\" must be a list, a word for each block", k->path);
    for (size_t i = 0; i < json_count(types); i++) {
        const char *type = json_text(json_at(types, i), "");
        const bool near = strcmp(type, "sliding_attention") == 0;
        if (!near && strcmp(type, "full_attention") != 0)
            return err_set(err,
                           "%.300s: \"layer_types\" has \"%.40s\"; full_attention and sliding_attention are built here",
                           k->path, type);
        const bool is = i < (size_t)c->decoder_layers && seq2seq_windowed(c, (int)i);
        if (near != is)
            return err_set(err, "%.300s: \"layer_types\" says \"%s\" of block %zu, which %s%s here%s", k->path, type, i,
                           is     ? "has a window"
                           : near ? "has no window"
                                  : "",
                           reads ? "" : ", for Hugging Face's class does not read it,",
                           reads ? ": correct \"sliding_window\" or the list" : ": take the line out");
    }
    if (!reads)
        model_assume(k->m, "\"layer_types\" of config.json is not read");
    return true;
}
