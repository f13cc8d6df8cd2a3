/* The families of an encoder with a decoder that are read from the hub: T5 (Raffel et al. 2020), BART (Lewis et al.
 * 2020), Marian (Junczys-Dowmunt et al. 2018). What stands here was read in each family's published program
 * (transformers, src/transformers/models). */
#include <string.h>

#include "core/models/text_hub.h"

#define BOTH(w, b, name) [SEQ2SEQ_##w] = name ".weight", [SEQ2SEQ_##b] = name ".bias"
#define LN(role, name) BOTH(role##_GAMMA, role##_BETA, name)

/* --- T5: RMSNorm in front, no bias, no factor, a bias of the scores by ranges of distance --- */

#define T5_ATTENTION(P, name)                                                                                          \
    [SEQ2SEQ_##P##_W_Q] = name ".q.weight", [SEQ2SEQ_##P##_W_K] = name ".k.weight",                                    \
    [SEQ2SEQ_##P##_W_V] = name ".v.weight", [SEQ2SEQ_##P##_W_O] = name ".o.weight"
#define T5_MLP(P, name)                                                                                                \
    [SEQ2SEQ_##P##_W_GATE] = name ".wi_0.weight", [SEQ2SEQ_##P##_W_UP] = name ".wi.weight|" name ".wi_1.weight",       \
    [SEQ2SEQ_##P##_W_DOWN] = name ".wo.weight"
#define T5_RANGES(stack) stack ".block.0.layer.0.SelfAttention.relative_attention_bias.weight#T"
#define T5_KNOBS                                                                                                       \
    .eps = 1e-6f, .pre_norm = true, .final_norm = true, .rms_norm = true, .pos = SEQ2SEQ_POS_NONE, .head_dim = 64,     \
    .mlp = 2048, .shared = true, .distances = 32, .distance_most = 128
#define T5_NAMES                                                                                                       \
    [SEQ2SEQ_SHARED_EMBED] = "shared.weight|encoder.embed_tokens.weight|decoder.embed_tokens.weight",                  \
    [SEQ2SEQ_SOURCE_DISTANCE] = T5_RANGES("encoder"), [SEQ2SEQ_TARGET_DISTANCE] = T5_RANGES("decoder"),                \
    T5_ATTENTION(ENC, "encoder.block.%d.layer.0.SelfAttention"),                                                       \
    [SEQ2SEQ_ENC_LN1_GAMMA] = "encoder.block.%d.layer.0.layer_norm.weight",                                            \
    T5_MLP(ENC, "encoder.block.%d.layer.1.DenseReluDense"),                                                            \
    [SEQ2SEQ_ENC_LN2_GAMMA] = "encoder.block.%d.layer.1.layer_norm.weight",                                            \
    [SEQ2SEQ_SOURCE_FINAL_GAMMA] = "encoder.final_layer_norm.weight",                                                  \
    T5_ATTENTION(DEC, "decoder.block.%d.layer.0.SelfAttention"),                                                       \
    [SEQ2SEQ_DEC_LN1_GAMMA] = "decoder.block.%d.layer.0.layer_norm.weight",                                            \
    T5_ATTENTION(CROSS, "decoder.block.%d.layer.1.EncDecAttention"),                                                   \
    [SEQ2SEQ_DEC_LN2_GAMMA] = "decoder.block.%d.layer.1.layer_norm.weight",                                            \
    T5_MLP(DEC, "decoder.block.%d.layer.2.DenseReluDense"),                                                            \
    [SEQ2SEQ_DEC_LN3_GAMMA] = "decoder.block.%d.layer.2.layer_norm.weight",                                            \
    [SEQ2SEQ_TARGET_FINAL_GAMMA] = "decoder.final_layer_norm.weight", [SEQ2SEQ_HEAD_W] = "/lm_head.weight"
#define T5_KEYS                                                                                                        \
    "num_decoder_layers relative_attention_num_buckets relative_attention_max_distance dense_act_fn is_gated_act "     \
    "scale_decoder_outputs dropout_rate"

/* feed_forward_proj says activation and gate in one; newer programs write both out beside it. What the answer is read
 * from has a factor where its weights are the words' vectors, unless it is written out too. */
static bool t5(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const char *proj = json_text(json_get(k->config, "feed_forward_proj"), ""),
               *act = json_text(json_get(k->config, "dense_act_fn"), NULL);
    bool scaled = c->tied;
    c->gated = *proj ? strncmp(proj, "gated-", 6) == 0 : c->gated;
    c->encoder_layers = c->decoder_layers;
    if (!hub_whole(k, "num_decoder_layers", &c->decoder_layers, err) ||
        !hub_whole(k, "relative_attention_num_buckets", &c->distances, err) ||
        !hub_whole(k, "relative_attention_max_distance", &c->distance_most, err) ||
        !hub_flag(k, "is_gated_act", &c->gated, err) || !hub_flag(k, "scale_decoder_outputs", &scaled, err) ||
        (act && !hub_act(k, "dense_act_fn", act, &c->act, err)))
        return false;
    c->read_scale = scaled ? seq2seq_root(c->width, true) : 0;
    return true;
}

/* --- BART and Marian: norms behind the sums, biases everywhere --- */

#define ATTENTION(P, name)                                                                                             \
    BOTH(P##_W_Q, P##_B_Q, name ".q_proj"), BOTH(P##_W_K, P##_B_K, name ".k_proj"),                                    \
        BOTH(P##_W_V, P##_B_V, name ".v_proj"), BOTH(P##_W_O, P##_B_O, name ".out_proj")
#define BART_BLOCKS                                                                                                    \
    ATTENTION(ENC, "encoder.layers.%d.self_attn"), LN(ENC_LN1, "encoder.layers.%d.self_attn_layer_norm"),              \
        BOTH(ENC_W_UP, ENC_B_UP, "encoder.layers.%d.fc1"), BOTH(ENC_W_DOWN, ENC_B_DOWN, "encoder.layers.%d.fc2"),      \
        LN(ENC_LN2, "encoder.layers.%d.final_layer_norm"), ATTENTION(DEC, "decoder.layers.%d.self_attn"),              \
        LN(DEC_LN1, "decoder.layers.%d.self_attn_layer_norm"), ATTENTION(CROSS, "decoder.layers.%d.encoder_attn"),     \
        LN(DEC_LN2, "decoder.layers.%d.encoder_attn_layer_norm"), BOTH(DEC_W_UP, DEC_B_UP, "decoder.layers.%d.fc1"),   \
        BOTH(DEC_W_DOWN, DEC_B_DOWN, "decoder.layers.%d.fc2"),                                                         \
        LN(DEC_LN3, "decoder.layers.%d.final_layer_norm"), [SEQ2SEQ_HEAD_B] = "/final_logits_bias"
#define SHARED_NAMES                                                                                                   \
    [SEQ2SEQ_SHARED_EMBED] = "shared.weight|encoder.embed_tokens.weight|decoder.embed_tokens.weight|/lm_head.weight"
#define BART_KNOBS                                                                                                     \
    .eps = 1e-5f, .act = MAP_GELU, .mlp = 4096, .shared = true, .tied = true, .head_bias = true, .qkv_bias = true,     \
    .out_bias = true, .mlp_bias = true
#define BART_KEYS                                                                                                      \
    "encoder_layers decoder_layers encoder_attention_heads decoder_attention_heads encoder_ffn_dim decoder_ffn_dim "   \
    "encoder_layerdrop decoder_layerdrop scale_embedding extra_pos_embeddings classif_dropout num_hidden_layers "      \
    "force_bos_token_to_be_generated save_step"
#define COPIES "encoder.embed_tokens.weight decoder.embed_tokens.weight"

/* Both stacks have the sizes of one here. */
static bool same_size(const HubReading *k, const char *encoder, const char *decoder, int *out, Err *err)
{
    int one = *out, other;
    if (!hub_whole(k, encoder, &one, err))
        return false;
    *out = other = one;
    return hub_whole(k, decoder, &other, err) &&
           (other == one || err_set(err, "%s: \"%s\" is %d and \"%s\" %d: both stacks have the same here", k->path,
                                    encoder, one, decoder, other));
}

static bool bart(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    bool scaled = false;
    c->encoder_layers = c->decoder_layers;
    if (!hub_whole(k, "encoder_layers", &c->encoder_layers, err) ||
        !hub_whole(k, "decoder_layers", &c->decoder_layers, err) ||
        !same_size(k, "encoder_attention_heads", "decoder_attention_heads", &c->heads, err) ||
        !same_size(k, "encoder_ffn_dim", "decoder_ffn_dim", &c->mlp, err) ||
        !hub_flag(k, "scale_embedding", &scaled, err))
        return false;
    c->embed_scale = scaled ? seq2seq_root(c->width, false) : 1;
    return true;
}

static bool marian(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->source_words = c->target_words;
    return bart(k, c, err) && hub_flag(k, "share_encoder_decoder_embeddings", &c->shared, err) &&
           hub_whole(k, "decoder_vocab_size", &c->target_words, err);
}

#define T5_FAMILY                                                                                                      \
    .names_of_keys = "d_model num_heads num_layers d_ff d_kv layer_norm_epsilon", .names = {T5_NAMES},                 \
    .useless = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", .copies = COPIES,             \
    .keys = T5_KEYS, .finish = t5, .unscaled = true

const HubFamily HUB_BOTH[] = {
    {.type = "t5", .layout = "Hugging Face T5", .c = {T5_KNOBS, .act = MAP_RELU, .tied = true}, T5_FAMILY},
    {.type = "mt5", .layout = "Hugging Face mT5", .c = {T5_KNOBS, .act = MAP_GELU_TANH, .gated = true}, T5_FAMILY},
    {.type = "bart",
     .layout = "Hugging Face BART",
     .c = {BART_KNOBS, .learned_positions = true, .positions = 1024, .first_position = 2, .embed_norm = true},
     .prefix = "model.",
     .names_of_keys = "d_model encoder_attention_heads encoder_layers encoder_ffn_dim",
     .names = {SHARED_NAMES, BART_BLOCKS, [SEQ2SEQ_SOURCE_POS] = "encoder.embed_positions.weight",
               [SEQ2SEQ_TARGET_POS] = "decoder.embed_positions.weight", LN(SOURCE_NORM, "encoder.layernorm_embedding"),
               LN(TARGET_NORM, "decoder.layernorm_embedding")},
     .copies = COPIES " /lm_head.weight",
     .beside = "classification_head.* qa_outputs.*",
     .musts = "normalize_before=false normalize_embedding=true add_final_layer_norm=false "
              "static_position_embeddings=false add_bias_logits=false do_blenderbot_90_layernorm=false",
     .keys = BART_KEYS,
     .finish = bart},
    {.type = "marian",
     .layout = "Hugging Face Marian",
     .c = {BART_KNOBS, .halves = true},
     .prefix = "model.",
     .names_of_keys = "d_model encoder_attention_heads encoder_layers encoder_ffn_dim",
     .names = {SHARED_NAMES, [SEQ2SEQ_SOURCE_EMBED] = "encoder.embed_tokens.weight",
               [SEQ2SEQ_TARGET_EMBED] = "decoder.embed_tokens.weight|/lm_head.weight", BART_BLOCKS},
     .copies = COPIES " /lm_head.weight",
     .sinusoids = "encoder.embed_positions.weight decoder.embed_positions.weight",
     .musts = "normalize_before=false normalize_embedding=false add_final_layer_norm=false "
              "static_position_embeddings=true add_bias_logits=false",
     .keys = BART_KEYS " share_encoder_decoder_embeddings decoder_vocab_size",
     .finish = marian},
};
const int HUB_BOTH_COUNT = sizeof HUB_BOTH / sizeof *HUB_BOTH;
