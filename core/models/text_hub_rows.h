/* Inside core/models only: what the rows of families (text_hub.c and those beside it, text_file.c) are written with. */
#ifndef VITRINE_MODELS_TEXT_HUB_ROWS_H
#define VITRINE_MODELS_TEXT_HUB_ROWS_H
#include "core/models/text_hub.h"

/* A linear layer or a norm: weight and bias under one name. */
#define BOTH(w, b, name) [SEQ2SEQ_##w] = name ".weight", [SEQ2SEQ_##b] = name ".bias"
#define NORM(role, name) BOTH(role##_GAMMA, role##_BETA, name)
#define PART(w, b, name, how) [SEQ2SEQ_##w] = name ".weight#" how, [SEQ2SEQ_##b] = name ".bias#" how
#define QKV(scope)                                                                                                     \
    BOTH(DEC_W_Q, DEC_B_Q, scope "q_proj"), BOTH(DEC_W_K, DEC_B_K, scope "k_proj"),                                    \
        BOTH(DEC_W_V, DEC_B_V, scope "v_proj")
/* What most of today's families have in common: RMSNorm in front, rotations by halves, a gated MLP. */
#define LLAMA_ATTENTION QKV("layers.%d.self_attn."), BOTH(DEC_W_O, DEC_B_O, "layers.%d.self_attn.o_proj")
#define LLAMA_MLP                                                                                                      \
    BOTH(DEC_W_GATE, DEC_B_GATE, "layers.%d.mlp.gate_proj"), BOTH(DEC_W_UP, DEC_B_UP, "layers.%d.mlp.up_proj"),        \
        BOTH(DEC_W_DOWN, DEC_B_DOWN, "layers.%d.mlp.down_proj")
#define LLAMA_ENDS                                                                                                     \
    [SEQ2SEQ_TARGET_EMBED] = "embed_tokens.weight", NORM(TARGET_FINAL, "norm"), BOTH(HEAD_W, HEAD_B, "/lm_head")
#define LLAMA_NORMS NORM(DEC_LN1, "layers.%d.input_layernorm"), NORM(DEC_LN3, "layers.%d.post_attention_layernorm")
#define LLAMA_NAMES LLAMA_ATTENTION, LLAMA_MLP, LLAMA_NORMS, LLAMA_ENDS
#define HEAD_NORMS(how)                                                                                                \
    [SEQ2SEQ_DEC_Q_##how] = "layers.%d.self_attn.q_norm.weight",                                                       \
    [SEQ2SEQ_DEC_K_##how] = "layers.%d.self_attn.k_norm.weight"
#define ROTATED .pos = SEQ2SEQ_POS_ROPE, .rope = {.base = 10000, .half = true}
#define RMS_KNOBS(e) .eps = e, .act = MAP_SILU, .final_norm = true, .rms_norm = true, .gated = true
#define RMS_GATED(e) RMS_KNOBS(e), ROTATED
#define LLAMA_KNOBS(e) .pre_norm = true, RMS_GATED(e)
#define FREQUENCIES "*rotary_emb.inv_freq"
/* A file of that form; eps: what its config.json calls ε. */
#define LLAMA_FILE(type_, name, eps)                                                                                   \
    .type = type_, .layout = "Hugging Face " name, .prefix = "model.", .names_of_keys = eps, .useless = FREQUENCIES
#endif
