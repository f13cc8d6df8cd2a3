/* The families of decoders with experts that are read from the hub. What stands here was read in each family's
 * published program (transformers, src/transformers/models). All four take the softmax over every expert and choose
 * then; they differ in whether the chosen probabilities are divided by their sum. Which of two equal probabilities is
 * chosen their programs leave to torch.topk, which does not say; here it is the lower number (nn.h). */
#include "core/models/text_hub_rows.h"

/* Each for itself, or all in one tensor [experts, outputs, inputs], gates in front of what they multiply, as
 * transformers 5 writes them (conversion_mapping.py). */
#define EXPERT(role, name, all) [SEQ2SEQ_EXPERT_##role] = "layers.%d." name ".weight|layers.%d.mlp.experts." all
#define ROUTER(name) [SEQ2SEQ_ROUTER_W] = "layers.%d." name ".weight"
#define GATE_UP "gate_up_proj#"
#define SHARED(role, name) [SEQ2SEQ_SHARED_##role] = "layers.%d.mlp.shared_expert" name ".weight"
#define EXPERT_NAMES                                                                                                   \
    ROUTER("mlp.gate"), EXPERT(W_GATE, "mlp.experts.%d.gate_proj", GATE_UP "0/2"),                                     \
        EXPERT(W_UP, "mlp.experts.%d.up_proj", GATE_UP "1/2"), EXPERT(W_DOWN, "mlp.experts.%d.down_proj", "down_proj")
#define QWEN_KEYS                                                                                                      \
    "num_experts num_experts_per_tok moe_intermediate_size norm_topk_prob decoder_sparse_step mlp_only_layers "        \
    "max_window_layers sliding_window"

/* A whole number that only models with experts have: the class' own where config.json is silent, which is said. */
static bool number(const HubReading *k, const char *key, int *out, Err *err)
{
    const Json *v = json_get(k->config, key);
    if (!v || json_kind(v) == JK_NULL)
        model_assume(k->m, "%s is %d, as Hugging Face's class %s has it", key, *out, k->family->type);
    return hub_whole(k, key, out, err);
}

static bool normalised(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    if (!json_get(k->config, "norm_topk_prob"))
        model_assume(k->m, "norm_topk_prob is false, as Hugging Face's class %s has it", k->family->type);
    return hub_flag(k, "norm_topk_prob", &c->experts.normalised, err);
}

static bool mixtral(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->experts.width = c->mlp;
    return number(k, "num_local_experts", &c->experts.count, err) &&
           number(k, "num_experts_per_tok", &c->experts.chosen, err) && hub_windows(k, c, 0, err);
}

static bool olmoe(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    c->experts.width = c->mlp;
    if (!number(k, "num_experts", &c->experts.count, err) || !number(k, "num_experts_per_tok", &c->experts.chosen, err))
        return false;
    return normalised(k, c, err);
}

/* Every `step`-th block, counted from 1, has experts, but those that are listed. */
static bool dense_blocks(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const Json *list = json_get(k->config, "mlp_only_layers");
    int step = 1;
    if (!hub_whole(k, "decoder_sparse_step", &step, err))
        return false;
    if (step < 1)
        return err_set(err, "%s: \"decoder_sparse_step\" is %d; it must be at least 1", k->path, step);
    if (list && json_kind(list) != JK_NULL && json_kind(list) != JK_ARRAY)
        return err_set(err, "%s: \"mlp_only_layers\" must be a list of blocks, counted from 0", k->path);
    for (int i = 0; i < c->decoder_layers; i++) {
        bool dense = (i + 1) % step != 0;
        for (size_t j = 0; j < json_count(list); j++) {
            int64_t block;
            if (!json_int(json_at(list, j), &block))
                return err_set(err, "%s: \"mlp_only_layers\" must be a list of blocks, counted from 0", k->path);
            dense = dense || block == i;
        }
        if (dense)
            c->experts.dense[i / 32] |= (uint32_t)1 << i % 32;
    }
    return true;
}

static bool qwen_experts(const HubReading *k, Seq2seqConfig *c, const char *count, Err *err)
{
    bool ok = number(k, count, &c->experts.count, err) && number(k, "num_experts_per_tok", &c->experts.chosen, err) &&
              number(k, "moe_intermediate_size", &c->experts.width, err) && normalised(k, c, err) &&
              dense_blocks(k, c, err);
    if (ok && !c->experts.count)
        c->experts = (Seq2seqExperts){.count = 0};
    return ok;
}

static bool qwen2_moe(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    return number(k, "shared_expert_intermediate_size", &c->experts.shared, err) &&
           qwen_experts(k, c, "num_experts", err);
}

/* transformers 5 writes the count under Mixtral's name. */
static bool qwen3_moe(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    bool named = json_get(k->config, "num_local_experts") && !json_get(k->config, "num_experts");
    return qwen_experts(k, c, named ? "num_local_experts" : "num_experts", err);
}

const HubFamily HUB_EXPERTS[] = {
    {LLAMA_FILE("mixtral", "Mixtral", "rms_norm_eps"),
     .c = {RMS_KNOBS(1e-5f), .pre_norm = true, .pos = SEQ2SEQ_POS_ROPE, .rope = {.base = 1000000, .half = true},
           .key_heads = 8, .experts = {.count = 8, .chosen = 2, .normalised = true}},
     .names = {LLAMA_ATTENTION, LLAMA_NORMS, LLAMA_ENDS, ROUTER("block_sparse_moe.gate.weight|layers.%d.mlp.gate"),
               EXPERT(W_GATE, "block_sparse_moe.experts.%d.w1", GATE_UP "0/2"),
               EXPERT(W_UP, "block_sparse_moe.experts.%d.w3", GATE_UP "1/2"),
               EXPERT(W_DOWN, "block_sparse_moe.experts.%d.w2", "down_proj")},
     .keys = "num_local_experts num_experts_per_tok sliding_window", .finish = mixtral},
    {LLAMA_FILE("olmoe", "OLMoE", "rms_norm_eps"),
     .c = {LLAMA_KNOBS(1e-5f), .head_norm = HEAD_NORM_ALL, .experts = {.count = 64, .chosen = 8}},
     .names = {LLAMA_ATTENTION, LLAMA_NORMS, LLAMA_ENDS, HEAD_NORMS(ALL), EXPERT_NAMES}, .musts = "clip_qkv=null",
     .keys = "num_experts num_experts_per_tok norm_topk_prob attention_bias", .finish = olmoe},
    {LLAMA_FILE("qwen2_moe", "Qwen2-MoE", "rms_norm_eps"),
     .c = {LLAMA_KNOBS(1e-6f), .qkv_bias = true, .experts = {.count = 60, .chosen = 4, .width = 1408, .shared = 5632}},
     .names = {LLAMA_NAMES, EXPERT_NAMES, SHARED(W_GATE, ".gate_proj"), SHARED(W_UP, ".up_proj"),
               SHARED(W_DOWN, ".down_proj"), SHARED(W_OPEN, "_gate")},
     .musts = "use_sliding_window=false", .keys = QWEN_KEYS " shared_expert_intermediate_size qkv_bias",
     .finish = qwen2_moe},
    {LLAMA_FILE("qwen3_moe", "Qwen3-MoE", "rms_norm_eps"),
     .c = {LLAMA_KNOBS(1e-6f), .key_heads = 4, .head_norm = HEAD_NORM_EACH,
           .experts = {.count = 128, .chosen = 8, .width = 768}},
     .names = {LLAMA_NAMES, HEAD_NORMS(EACH), EXPERT_NAMES}, .musts = "use_sliding_window=false",
     .keys = QWEN_KEYS " num_local_experts attention_bias", .finish = qwen3_moe},
};
const int HUB_EXPERTS_COUNT = sizeof HUB_EXPERTS / sizeof *HUB_EXPERTS;
