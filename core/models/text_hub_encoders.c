/* The families with an encoder that are read from the hub: BERT (Devlin et al. 2018) and what came of it, and with a
 * decoder behind it T5 (Raffel et al. 2020), BART (Lewis et al. 2020), Marian (Junczys-Dowmunt et al. 2018). What
 * stands here was read in each family's published program (transformers, src/transformers/models). Which answers an
 * encoder's file has (words, a pooled vector, …) depends on what was stored, not on config.json. */
#include <string.h>

#include "core/models/text_hub_rows.h"

/* gamma and beta: as older programs named them. */
#define LN(role, name)                                                                                                 \
    [SEQ2SEQ_##role##_GAMMA] = name ".weight|" name ".gamma", [SEQ2SEQ_##role##_BETA] = name ".bias|" name ".beta"
#define SELF(scope, q, k, v)                                                                                           \
    BOTH(ENC_W_Q, ENC_B_Q, scope q), BOTH(ENC_W_K, ENC_B_K, scope k), BOTH(ENC_W_V, ENC_B_V, scope v)
#define THREE(name)                                                                                                    \
    PART(ENC_W_Q, ENC_B_Q, name, "q"), PART(ENC_W_K, ENC_B_K, name, "k"), PART(ENC_W_V, ENC_B_V, name, "v")
#define WORDS_AND_PLACES                                                                                               \
    [SEQ2SEQ_SOURCE_EMBED] = "embeddings.word_embeddings.weight",                                                      \
    [SEQ2SEQ_SOURCE_POS] = "embeddings.position_embeddings.weight", LN(SOURCE_NORM, "embeddings.LayerNorm")
#define BERT_EMBEDDINGS WORDS_AND_PLACES, [SEQ2SEQ_SOURCE_SEGMENT] = "embeddings.token_type_embeddings.weight"
#define BERT_MLP                                                                                                       \
    BOTH(ENC_W_UP, ENC_B_UP, "encoder.layer.%d.intermediate.dense"),                                                   \
        BOTH(ENC_W_DOWN, ENC_B_DOWN, "encoder.layer.%d.output.dense"),                                                 \
        LN(ENC_LN2, "encoder.layer.%d.output.LayerNorm")
#define BERT_BLOCKS                                                                                                    \
    SELF("encoder.layer.%d.attention.self.", "query", "key", "value"),                                                 \
        BOTH(ENC_W_O, ENC_B_O, "encoder.layer.%d.attention.output.dense"),                                             \
        LN(ENC_LN1, "encoder.layer.%d.attention.output.LayerNorm"), BERT_MLP
#define POOLER BOTH(POOLER_W, POOLER_B, "pooler.dense")
#define FILLS(dense, norm, decoder)                                                                                    \
    BOTH(TRANSFORM_W, TRANSFORM_B, "/" dense), [SEQ2SEQ_TRANSFORM_GAMMA] = "/" norm ".weight|/" norm ".gamma",         \
                                               [SEQ2SEQ_TRANSFORM_BETA] = "/" norm ".bias|/" norm ".beta",             \
                                               [SEQ2SEQ_HEAD_W] = "/" decoder ".weight"
#define LM_HEAD                                                                                                        \
    FILLS("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder"), [SEQ2SEQ_HEAD_B] =                                \
                                                                         "/lm_head.bias|/lm_head.decoder.bias"
#define ENCODER_KNOBS                                                                                                  \
    .form = SEQ2SEQ_ENCODER_ONLY, .eps = 1e-12f, .act = MAP_GELU, .transform_act = MAP_GELU,                           \
    .learned_positions = true, .embed_norm = true, .tied = true, .head_bias = true, .qkv_bias = true,                  \
    .out_bias = true, .mlp_bias = true
#define BERT_FILE(type_, name, segments_)                                                                              \
    .type = type_, .layout = "Hugging Face " name, .c = {ENCODER_KNOBS, .segments = segments_}, .beside = CLASSIFIERS
#define ALONE "is_decoder=false add_cross_attention=false position_embedding_type=\"absolute\""
#define CLASSIFIERS "classifier.* pre_classifier.* qa_outputs.* score.*"
#define IDS "*position_ids *token_type_ids"

static bool bert(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    (void)k;
    (void)err;
    c->transform_act = c->act;
    return true;
}

/* What stands between tokens and words is narrower too, with an activation of its own. */
static bool electra(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int width = 128;
    if (!hub_whole(k, "embedding_size", &width, err))
        return false;
    c->word_width = width == c->width ? 0 : width;
    return true;
}

/* Places are counted from the row behind that of padding. */
static bool behind_padding(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int pad = 1;
    if (strcmp(k->family->type, "mpnet") != 0 && !hub_whole(k, "pad_token_id", &pad, err))
        return false;
    c->first_position = pad + 1;
    c->positions -= c->first_position;
    return true;
}

/* The number of ranges is in config.json, but its program always counts in 32 of them. */
static bool mpnet(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->distances = 32;
    c->distance_most = 128;
    if (!hub_whole(k, "relative_attention_num_buckets", &c->distances, err))
        return false;
    if (c->distances != 32)
        return err_set(err, "%s: \"relative_attention_num_buckets\" is %d: 32 are built here", k->path, c->distances);
    return behind_padding(k, c, err);
}

/* Of every so many blocks the first sees all, the others what is near, half a window to either side; or by layer_types,
 * where transformers 5 wrote them: beside the other they must say the same. */
static bool modernbert(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int every = 3;
    bool norm_bias = false, head = false;
    if (!hub_whole(k, "global_attn_every_n_layers", &every, err) || !hub_flag(k, "norm_bias", &norm_bias, err) ||
        !hub_flag(k, "classifier_bias", &head, err) ||
        !hub_act(k, "classifier_activation", json_text(json_get(k->config, "classifier_activation"), "gelu"),
                 &c->transform_act, err))
        return false;
    if (every < 1 || c->window < 2)
        return err_set(
            err, "%s: \"global_attn_every_n_layers\" is %d and \"local_attention\" %d: at least 1 and 2 are possible",
            k->path, every, c->window);
    if (!hub_windows(k, c, 0, err))
        return false;
    const bool typed = json_get(k->config, "layer_types"),
               counted = !typed || json_get(k->config, "global_attn_every_n_layers");
    for (int i = 0; counted && i < c->decoder_layers; i++) {
        const bool near = i % every != 0;
        if (typed && seq2seq_windowed(c, i) != near)
            return err_set(err,
                           "%s: \"layer_types\" and \"global_attn_every_n_layers\" differ for block %d: correct one",
                           k->path, i);
        if (!near)
            c->windowed[i / 32] &= ~((uint32_t)1 << i % 32);
    }
    c->bare_norm = !norm_bias;
    c->transform_bare = !head;
    return true;
}

#define ROBERTA(type, name)                                                                                            \
    BERT_FILE(type, name, 2), .prefix = "roberta.", .names_of_keys = "layer_norm_eps",                                 \
                              .names = {BERT_EMBEDDINGS, BERT_BLOCKS, POOLER, LM_HEAD},                                \
                              .useless = IDS " lm_head.bias lm_head.decoder.bias", .musts = ALONE,                     \
                              .keys = "type_vocab_size", .finish = behind_padding

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
 * from has a factor where its weights are the words' vectors, unless it is written out too; mT5 never has it
 * (transformers 5). */
static bool t5(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const char *proj = json_text(json_get(k->config, "feed_forward_proj"), ""),
               *act = json_text(json_get(k->config, "dense_act_fn"), NULL);
    bool scaled = c->tied;
    c->gated = *proj ? strncmp(proj, "gated-", 6) == 0 : c->gated;
    c->encoder_layers = c->decoder_layers;
    if (!hub_whole(k, "num_decoder_layers", &c->decoder_layers, err) || !hub_flag(k, "is_gated_act", &c->gated, err) ||
        !hub_flag(k, "scale_decoder_outputs", &scaled, err) || (act && !hub_act(k, "dense_act_fn", act, &c->act, err)))
        return false;
    c->read_scale = scaled && strcmp(k->family->type, "mt5") != 0 ? seq2seq_root(c->width, true) : 0;
    return true;
}

/* --- BART and Marian: norms behind the sums, biases everywhere --- */

#define ATTENTION(P, name)                                                                                             \
    BOTH(P##_W_Q, P##_B_Q, name ".q_proj"), BOTH(P##_W_K, P##_B_K, name ".k_proj"),                                    \
        BOTH(P##_W_V, P##_B_V, name ".v_proj"), BOTH(P##_W_O, P##_B_O, name ".out_proj")
#define BART_BLOCK(P, name, last)                                                                                      \
    ATTENTION(P, name ".self_attn"), NORM(P##_LN1, name ".self_attn_layer_norm"),                                      \
        BOTH(P##_W_UP, P##_B_UP, name ".fc1"), BOTH(P##_W_DOWN, P##_B_DOWN, name ".fc2"),                              \
        NORM(last, name ".final_layer_norm")
#define BART_BLOCKS                                                                                                    \
    BART_BLOCK(ENC, "encoder.layers.%d", ENC_LN2), BART_BLOCK(DEC, "decoder.layers.%d", DEC_LN3),                      \
        ATTENTION(CROSS, "decoder.layers.%d.encoder_attn"),                                                            \
        NORM(DEC_LN2, "decoder.layers.%d.encoder_attn_layer_norm"), [SEQ2SEQ_HEAD_B] = "/final_logits_bias"
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
    return bart(k, c, err) && hub_whole(k, "decoder_vocab_size", &c->target_words, err);
}

#define T5_FAMILY                                                                                                      \
    .names_of_keys = "d_model num_heads num_layers d_ff d_kv layer_norm_epsilon feed_forward_proj",                    \
    .names = {T5_NAMES}, .useless = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",          \
    .copies = COPIES, .keys = T5_KEYS, .finish = t5, .unscaled = true, .pad = 1, .end = 2

#define BART_FILE(type_, name)                                                                                         \
    .type = type_, .layout = "Hugging Face " name, .prefix = "model.",                                                 \
    .names_of_keys = "d_model encoder_attention_heads encoder_layers encoder_ffn_dim activation_function",             \
    .copies = COPIES " /lm_head.weight"

const HubFamily HUB_ENCODERS[] = {
    {BERT_FILE("bert", "BERT", 2), .prefix = "bert.", .names_of_keys = "layer_norm_eps",
     .names = {BERT_EMBEDDINGS, BERT_BLOCKS, POOLER,
               FILLS("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                     "cls.predictions.decoder"),
               [SEQ2SEQ_HEAD_B] = "/cls.predictions.bias|/cls.predictions.decoder.bias",
               BOTH(PAIR_W, PAIR_B, "/cls.seq_relationship")},
     .useless = IDS " cls.predictions.bias cls.predictions.decoder.bias", .musts = ALONE, .keys = "type_vocab_size",
     .finish = bert},
    {BERT_FILE("distilbert", "DistilBERT", 0), .prefix = "distilbert.",
     .names_of_keys = "dim n_heads n_layers hidden_dim activation",
     .names =
         {WORDS_AND_PLACES, SELF("transformer.layer.%d.attention.", "q_lin", "k_lin", "v_lin"),
          BOTH(ENC_W_O, ENC_B_O, "transformer.layer.%d.attention.out_lin"),
          LN(ENC_LN1, "transformer.layer.%d.sa_layer_norm"), BOTH(ENC_W_UP, ENC_B_UP, "transformer.layer.%d.ffn.lin1"),
          BOTH(ENC_W_DOWN, ENC_B_DOWN, "transformer.layer.%d.ffn.lin2"),
          LN(ENC_LN2, "transformer.layer.%d.output_layer_norm"),
          FILLS("vocab_transform", "vocab_layer_norm", "vocab_projector"), [SEQ2SEQ_HEAD_B] = "/vocab_projector.bias"},
     .useless = IDS, .keys = "sinusoidal_pos_embds tie_weights_ qa_dropout seq_classif_dropout", .finish = bert},
    {ROBERTA("roberta", "RoBERTa")},
    {ROBERTA("xlm-roberta", "XLM-RoBERTa")},
    {ROBERTA("camembert", "CamemBERT")},
    {BERT_FILE("electra", "ELECTRA", 2), .prefix = "electra.", .names_of_keys = "layer_norm_eps",
     .names = {BERT_EMBEDDINGS, BERT_BLOCKS, BOTH(SOURCE_PROJECT_W, SOURCE_PROJECT_B, "embeddings_project"),
               FILLS("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head"),
               [SEQ2SEQ_HEAD_B] = "/generator_lm_head.bias",
               BOTH(REPLACED_W, REPLACED_B, "/discriminator_predictions.dense"),
               BOTH(REPLACED_OUT_W, REPLACED_OUT_B, "/discriminator_predictions.dense_prediction")},
     .useless = IDS, .musts = ALONE, .keys = "type_vocab_size embedding_size", .finish = electra},
    {BERT_FILE("mpnet", "MPNet", 0), .prefix = "mpnet.", .names_of_keys = "layer_norm_eps",
     .names = {WORDS_AND_PLACES, [SEQ2SEQ_SOURCE_DISTANCE] = "encoder.relative_attention_bias.weight#T",
               SELF("encoder.layer.%d.attention.attn.", "q", "k", "v"),
               BOTH(ENC_W_O, ENC_B_O, "encoder.layer.%d.attention.attn.o"),
               LN(ENC_LN1, "encoder.layer.%d.attention.LayerNorm"), BERT_MLP, POOLER, LM_HEAD},
     .useless = IDS " lm_head.bias lm_head.decoder.bias", .keys = "relative_attention_num_buckets", .finish = mpnet},
    {.type = "modernbert",
     .layout = "Hugging Face ModernBERT",
     .c = {.form = SEQ2SEQ_ENCODER_ONLY,
           .eps = 1e-5f,
           .act = MAP_GELU,
           .pre_norm = true,
           .final_norm = true,
           .embed_norm = true,
           .first_bare = true,
           .gated = true,
           .window = 128,
           .pos = SEQ2SEQ_POS_ROPE,
           .rope = {.base = 160000, .local_base = 10000, .half = true},
           .tied = true,
           .head_bias = true},
     .prefix = "model.",
     .names_of_keys = "norm_eps global_rope_theta hidden_activation",
     .names = {[SEQ2SEQ_SOURCE_EMBED] = "embeddings.tok_embeddings.weight",
               LN(SOURCE_NORM, "embeddings.norm"),
               LN(ENC_LN1, "layers.%d.attn_norm"),
               THREE("layers.%d.attn.Wqkv"),
               BOTH(ENC_W_O, ENC_B_O, "layers.%d.attn.Wo"),
               LN(ENC_LN2, "layers.%d.mlp_norm"),
               PART(ENC_W_GATE, ENC_B_GATE, "layers.%d.mlp.Wi", "0/2"),
               PART(ENC_W_UP, ENC_B_UP, "layers.%d.mlp.Wi", "1/2"),
               BOTH(ENC_W_DOWN, ENC_B_DOWN, "layers.%d.mlp.Wo"),
               LN(SOURCE_FINAL, "final_norm"),
               FILLS("head.dense", "head.norm", "decoder"),
               [SEQ2SEQ_HEAD_B] = "/decoder.bias"},
     .beside = CLASSIFIERS " head.*",
     .musts = "position_embedding_type=\"absolute\" sliding_window=null",
     .keys = "layer_types local_attention global_attn_every_n_layers norm_bias attention_bias mlp_bias classifier_bias "
             "decoder_bias "
             "local_rope_theta classifier_activation classifier_pooling sparse_pred_ignore_index "
             "initializer_cutoff_factor reference_compile deterministic_flash_attn gradient_checkpointing "
             "repad_logits_with_grad sparse_prediction",
     .finish = modernbert},
    {.type = "t5", .layout = "Hugging Face T5", .c = {T5_KNOBS, .act = MAP_RELU, .tied = true}, T5_FAMILY},
    {.type = "mt5",
     .layout = "Hugging Face mT5",
     .c = {T5_KNOBS, .act = MAP_GELU_TANH, .gated = true, .tied = true},
     T5_FAMILY},
    {BART_FILE("bart", "BART"),
     .c = {BART_KNOBS, .learned_positions = true, .positions = 1024, .first_position = 2, .embed_norm = true},
     .names = {SHARED_NAMES, BART_BLOCKS, [SEQ2SEQ_SOURCE_POS] = "encoder.embed_positions.weight",
               [SEQ2SEQ_TARGET_POS] = "decoder.embed_positions.weight",
               NORM(SOURCE_NORM, "encoder.layernorm_embedding"), NORM(TARGET_NORM, "decoder.layernorm_embedding")},
     .beside = "classification_head.* qa_outputs.*",
     .musts = "normalize_before=false normalize_embedding=true add_final_layer_norm=false "
              "static_position_embeddings=false add_bias_logits=false do_blenderbot_90_layernorm=false",
     .keys = BART_KEYS, .finish = bart, .pad = 2, .end = 3},
    {BART_FILE("marian", "Marian"), .c = {BART_KNOBS, .halves = true},
     .names = {SHARED_NAMES, [SEQ2SEQ_SOURCE_EMBED] = "encoder.embed_tokens.weight",
               [SEQ2SEQ_TARGET_EMBED] = "decoder.embed_tokens.weight|/lm_head.weight", BART_BLOCKS},
     .sinusoids = "encoder.embed_positions.weight decoder.embed_positions.weight",
     .musts = "normalize_before=false normalize_embedding=false add_final_layer_norm=false "
              "static_position_embeddings=true add_bias_logits=false",
     .keys = BART_KEYS " share_encoder_decoder_embeddings decoder_vocab_size", .finish = marian, .pad = 58101,
     .end = 1},
};
const int HUB_ENCODER_COUNT = sizeof HUB_ENCODERS / sizeof *HUB_ENCODERS;
