/* The two layouts of text models that are not the hub's, as rows like its families; and writing one. */
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"
#include "core/models/text_model.h"

/* The program's own form: each weight as the graph calls it. */
#define AT_OUTPUT ""
#define AT_ENCODER "encoder."
#define AT_DECODER "decoder."
#define AT_ENCODER_BLOCK "encoder.blocks.%d."
#define AT_DECODER_BLOCK "decoder.blocks.%d."
static const HubFamily OWN = {.layout = "Vitrine",
                              .told = true,
                              .names = {
#define ROLE(symbol, where, name, axes, start, when) [SEQ2SEQ_##symbol] = AT_##where name,
#include "core/models/seq2seq_roles.def"
                              }};

/* In PyTorch's nn.Transformer the rows of q, k and v are one tensor. */
#define BOTH(w, b, name) [SEQ2SEQ_##w] = name "weight", [SEQ2SEQ_##b] = name "bias"
#define LN(role, name) BOTH(role##_GAMMA, role##_BETA, name ".")
#define THIRD(P, x, name, part)                                                                                        \
    [SEQ2SEQ_##P##_W_##x] = name ".in_proj_weight#" part "/3", [SEQ2SEQ_##P##_B_##x] = name ".in_proj_bias#" part "/3"
#define ATTENTION(P, name)                                                                                             \
    THIRD(P, Q, name, "0"), THIRD(P, K, name, "1"), THIRD(P, V, name, "2"), BOTH(P##_W_O, P##_B_O, name ".out_proj.")
#define MLP(P, name) BOTH(P##_W_UP, P##_B_UP, name ".linear1."), BOTH(P##_W_DOWN, P##_B_DOWN, name ".linear2.")
#define ENCODER "transformer.encoder.layers.%d"
#define DECODER "transformer.decoder.layers.%d"
static const HubFamily TORCH = {
    .layout = "PyTorch nn.Transformer",
    .told = true,
    .other = &OWN,
    .names = {ATTENTION(ENC, ENCODER ".self_attn"), MLP(ENC, ENCODER), LN(ENC_LN1, ENCODER ".norm1"),
              LN(ENC_LN2, ENCODER ".norm2"), ATTENTION(DEC, DECODER ".self_attn"),
              ATTENTION(CROSS, DECODER ".multihead_attn"), MLP(DEC, DECODER), LN(DEC_LN1, DECODER ".norm1"),
              LN(DEC_LN2, DECODER ".norm2"), LN(DEC_LN3, DECODER ".norm3"),
              LN(SOURCE_FINAL, "transformer.encoder.norm"), LN(TARGET_FINAL, "transformer.decoder.norm"),
              [SEQ2SEQ_SOURCE_EMBED] = "src_embed.weight", [SEQ2SEQ_TARGET_EMBED] = "tgt_embed.weight",
              [SEQ2SEQ_SOURCE_POS] = "src_pos.weight", [SEQ2SEQ_TARGET_POS] = "tgt_pos.weight",
              BOTH(HEAD_W, HEAD_B, "generator.")},
    /* norms that torch puts behind the stacks may be left out on purpose, as the paper does */
    .useless = "transformer.encoder.norm.* transformer.decoder.norm.*"};

bool text_weights_read(Model *m, const char *folder, ModelProgress progress, void *context, Err *err)
{
    return hub_weights(m, folder, &TORCH, progress, context, err);
}

static const char *stored(const Model *m, const WeightPlace *w, Arena *room, TensorOut *out)
{
    char name[160];
    (void)m, (void)out;
    seq2seq_role_path((Seq2seqRole)w->role, w->layer, name, sizeof name);
    return arena_strdup(room, name);
}

bool text_weights_write(const Model *m, const char *folder, Err *err)
{
    return model_write_weights(m, folder, stored, NULL, NULL, NULL, err);
}
