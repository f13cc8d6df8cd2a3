/* The families of encoders that are read from the hub: BERT (Devlin et al. 2018) and what came of it. What stands here
 * was read in each family's published program (transformers, src/transformers/models). Which answers a file has
 * (words, a pooled vector, …) depends on what was stored, not on config.json. */
#include <string.h>

#include "core/models/text_hub.h"

#define BOTH(w, b, name) [SEQ2SEQ_##w] = name ".weight", [SEQ2SEQ_##b] = name ".bias"
/* gamma and beta: as older programs named them. */
#define LN(role, name)                                                                                                 \
    [SEQ2SEQ_##role##_GAMMA] = name ".weight|" name ".gamma", [SEQ2SEQ_##role##_BETA] = name ".bias|" name ".beta"
#define SELF(scope, q, k, v)                                                                                           \
    BOTH(ENC_W_Q, ENC_B_Q, scope q), BOTH(ENC_W_K, ENC_B_K, scope k), BOTH(ENC_W_V, ENC_B_V, scope v)
#define PART(w, b, name, how) [SEQ2SEQ_##w] = name ".weight#" how, [SEQ2SEQ_##b] = name ".bias#" how
#define THREE(name)                                                                                                    \
    PART(ENC_W_Q, ENC_B_Q, name, "q"), PART(ENC_W_K, ENC_B_K, name, "k"), PART(ENC_W_V, ENC_B_V, name, "v")
#define BERT_EMBEDDINGS                                                                                                \
    [SEQ2SEQ_SOURCE_EMBED] = "embeddings.word_embeddings.weight",                                                      \
    [SEQ2SEQ_SOURCE_POS] = "embeddings.position_embeddings.weight",                                                    \
    [SEQ2SEQ_SOURCE_SEGMENT] = "embeddings.token_type_embeddings.weight", LN(SOURCE_NORM, "embeddings.LayerNorm")
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
#define ROBERTA_NAMES BERT_EMBEDDINGS, BERT_BLOCKS, POOLER, LM_HEAD
#define ENCODER_KNOBS                                                                                                  \
    .form = SEQ2SEQ_ENCODER_ONLY, .eps = 1e-12f, .act = MAP_GELU, .transform_act = MAP_GELU,                           \
    .learned_positions = true, .embed_norm = true, .tied = true, .head_bias = true, .qkv_bias = true,                  \
    .out_bias = true, .mlp_bias = true
#define ALONE "is_decoder=false add_cross_attention=false position_embedding_type=\"absolute\""
#define CLASSIFIERS "classifier.* pre_classifier.* qa_outputs.* score.*"
#define IDS "*position_ids *token_type_ids"

static bool distilbert(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    (void)k;
    (void)err;
    c->transform_act = c->act;
    return true;
}

static bool bert(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->segments = 2;
    c->transform_act = c->act;
    return hub_whole(k, "type_vocab_size", &c->segments, err);
}

/* What stands between tokens and words is narrower too, with an activation of its own. */
static bool electra(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int width = 128;
    c->segments = 2;
    if (!hub_whole(k, "type_vocab_size", &c->segments, err) || !hub_whole(k, "embedding_size", &width, err))
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

static bool roberta(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->segments = 2;
    return hub_whole(k, "type_vocab_size", &c->segments, err) && behind_padding(k, c, err);
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

/* Of every so many blocks the first sees all, the others what is near, half a window to either side; where transformers
 * 5 wrote layer_types, these must say the same. */
static bool modernbert(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    int every = 3;
    bool norm_bias = false, attention = false, head = false;
    c->window = 128;
    if (!hub_whole(k, "local_attention", &c->window, err) || !hub_whole(k, "global_attn_every_n_layers", &every, err) ||
        !hub_flag(k, "norm_bias", &norm_bias, err) || !hub_flag(k, "attention_bias", &attention, err) ||
        !hub_flag(k, "mlp_bias", &c->mlp_bias, err) || !hub_flag(k, "classifier_bias", &head, err) ||
        !hub_flag(k, "decoder_bias", &c->head_bias, err) ||
        !hub_real(k, "local_rope_theta", &c->rope.local_base, err) ||
        !hub_act(k, "classifier_activation", json_text(json_get(k->config, "classifier_activation"), "gelu"),
                 &c->transform_act, err))
        return false;
    if (every < 1 || c->window < 2)
        return err_set(
            err, "%s: \"global_attn_every_n_layers\" is %d and \"local_attention\" %d: at least 1 and 2 are possible",
            k->path, every, c->window);
    if (!hub_windows(k, c, 0, err))
        return false;
    const bool typed = json_get(k->config, "layer_types");
    for (int i = 0; i < c->decoder_layers; i++) {
        const bool near = i % every != 0;
        if (typed && seq2seq_windowed(c, i) != near)
            return err_set(err,
                           "%s: \"layer_types\" and \"global_attn_every_n_layers\" differ for block %d: correct one",
                           k->path, i);
        if (!near)
            c->windowed[i / 32] &= ~((uint32_t)1 << i % 32);
    }
    c->bare_norm = !norm_bias;
    c->qkv_bias = c->out_bias = attention;
    c->transform_bare = !head;
    return true;
}

const HubFamily HUB_ENCODERS[] = {
    {.type = "bert",
     .layout = "Hugging Face BERT",
     .c = {ENCODER_KNOBS},
     .prefix = "bert.",
     .names_of_keys = "layer_norm_eps",
     .names = {BERT_EMBEDDINGS, BERT_BLOCKS, POOLER,
               FILLS("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                     "cls.predictions.decoder"),
               [SEQ2SEQ_HEAD_B] = "/cls.predictions.bias|/cls.predictions.decoder.bias",
               BOTH(PAIR_W, PAIR_B, "/cls.seq_relationship")},
     .useless = IDS " cls.predictions.decoder.bias",
     .beside = CLASSIFIERS,
     .musts = ALONE,
     .keys = "type_vocab_size",
     .finish = bert},
    {.type = "distilbert",
     .layout = "Hugging Face DistilBERT",
     .c = {ENCODER_KNOBS},
     .prefix = "distilbert.",
     .names_of_keys = "dim n_heads n_layers hidden_dim",
     .names = {[SEQ2SEQ_SOURCE_EMBED] = "embeddings.word_embeddings.weight",
               [SEQ2SEQ_SOURCE_POS] = "embeddings.position_embeddings.weight",
               LN(SOURCE_NORM, "embeddings.LayerNorm"),
               SELF("transformer.layer.%d.attention.", "q_lin", "k_lin", "v_lin"),
               BOTH(ENC_W_O, ENC_B_O, "transformer.layer.%d.attention.out_lin"),
               LN(ENC_LN1, "transformer.layer.%d.sa_layer_norm"),
               BOTH(ENC_W_UP, ENC_B_UP, "transformer.layer.%d.ffn.lin1"),
               BOTH(ENC_W_DOWN, ENC_B_DOWN, "transformer.layer.%d.ffn.lin2"),
               LN(ENC_LN2, "transformer.layer.%d.output_layer_norm"),
               FILLS("vocab_transform", "vocab_layer_norm", "vocab_projector"),
               [SEQ2SEQ_HEAD_B] = "/vocab_projector.bias"},
     .useless = IDS,
     .beside = CLASSIFIERS,
     .keys = "sinusoidal_pos_embds tie_weights_ qa_dropout seq_classif_dropout",
     .finish = distilbert},
    {.type = "roberta",
     .layout = "Hugging Face RoBERTa",
     .c = {ENCODER_KNOBS},
     .prefix = "roberta.",
     .names_of_keys = "layer_norm_eps",
     .names = {ROBERTA_NAMES},
     .useless = IDS " lm_head.decoder.bias",
     .beside = CLASSIFIERS,
     .musts = ALONE,
     .keys = "type_vocab_size",
     .finish = roberta},
    {.type = "xlm-roberta",
     .layout = "Hugging Face XLM-RoBERTa",
     .c = {ENCODER_KNOBS},
     .prefix = "roberta.",
     .names_of_keys = "layer_norm_eps",
     .names = {ROBERTA_NAMES},
     .useless = IDS " lm_head.decoder.bias",
     .beside = CLASSIFIERS,
     .musts = ALONE,
     .keys = "type_vocab_size",
     .finish = roberta},
    {.type = "camembert",
     .layout = "Hugging Face CamemBERT",
     .c = {ENCODER_KNOBS},
     .prefix = "roberta.",
     .names_of_keys = "layer_norm_eps",
     .names = {ROBERTA_NAMES},
     .useless = IDS " lm_head.decoder.bias",
     .beside = CLASSIFIERS,
     .musts = ALONE,
     .keys = "type_vocab_size",
     .finish = roberta},
    {.type = "electra",
     .layout = "Hugging Face ELECTRA",
     .c = {ENCODER_KNOBS},
     .prefix = "electra.",
     .names_of_keys = "layer_norm_eps",
     .names = {BERT_EMBEDDINGS, BERT_BLOCKS, BOTH(SOURCE_PROJECT_W, SOURCE_PROJECT_B, "embeddings_project"),
               FILLS("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head"),
               [SEQ2SEQ_HEAD_B] = "/generator_lm_head.bias",
               BOTH(REPLACED_W, REPLACED_B, "/discriminator_predictions.dense"),
               BOTH(REPLACED_OUT_W, REPLACED_OUT_B, "/discriminator_predictions.dense_prediction")},
     .useless = IDS,
     .beside = CLASSIFIERS,
     .musts = ALONE,
     .keys = "type_vocab_size embedding_size",
     .finish = electra},
    {.type = "mpnet",
     .layout = "Hugging Face MPNet",
     .c = {ENCODER_KNOBS},
     .prefix = "mpnet.",
     .names_of_keys = "layer_norm_eps",
     .names = {[SEQ2SEQ_SOURCE_EMBED] = "embeddings.word_embeddings.weight",
               [SEQ2SEQ_SOURCE_POS] = "embeddings.position_embeddings.weight",
               LN(SOURCE_NORM, "embeddings.LayerNorm"),
               [SEQ2SEQ_SOURCE_DISTANCE] = "encoder.relative_attention_bias.weight#T",
               SELF("encoder.layer.%d.attention.attn.", "q", "k", "v"),
               BOTH(ENC_W_O, ENC_B_O, "encoder.layer.%d.attention.attn.o"),
               LN(ENC_LN1, "encoder.layer.%d.attention.LayerNorm"),
               BERT_MLP,
               POOLER,
               LM_HEAD},
     .useless = IDS " lm_head.decoder.bias",
     .beside = CLASSIFIERS,
     .keys = "relative_attention_num_buckets",
     .finish = mpnet},
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
           .pos = SEQ2SEQ_POS_ROPE,
           .rope = {.base = 160000, .local_base = 10000, .half = true},
           .tied = true,
           .head_bias = true},
     .prefix = "model.",
     .names_of_keys = "norm_eps global_rope_theta",
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
     .keys =
         "local_attention global_attn_every_n_layers norm_bias attention_bias mlp_bias classifier_bias decoder_bias "
         "local_rope_theta classifier_activation classifier_pooling sparse_pred_ignore_index "
         "initializer_cutoff_factor reference_compile deterministic_flash_attn gradient_checkpointing "
         "repad_logits_with_grad sparse_prediction",
     .finish = modernbert},
};
const int HUB_ENCODER_COUNT = sizeof HUB_ENCODERS / sizeof *HUB_ENCODERS;
