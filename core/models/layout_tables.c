/* The families of public checkpoints: how each names its weights. */
#include <stdio.h>
#include <string.h>

#include "core/models/checkpoint.h"

#define EMBEDDINGS_HF                                                                                                  \
    [VIT_PATCH_W] = "embeddings.patch_embeddings.projection.weight",                                                   \
    [VIT_PATCH_B] = "embeddings.patch_embeddings.projection.bias", [VIT_CLS] = "embeddings.cls_token",                 \
    [VIT_DIST] = "embeddings.distillation_token", [VIT_REGISTERS] = "embeddings.register_tokens",                      \
    [VIT_POS] = "embeddings.position_embeddings", [VIT_PRE_GAMMA] = "embeddings.norm_pre.weight",                      \
    [VIT_PRE_BETA] = "embeddings.norm_pre.bias", [VIT_FINAL_GAMMA] = "layernorm.weight",                               \
    [VIT_FINAL_BETA] = "layernorm.bias", [VIT_FC_GAMMA] = "fc_norm.weight", [VIT_FC_BETA] = "fc_norm.bias",            \
    [VIT_HEAD_W] = "classifier.weight|cls_classifier.weight", [VIT_HEAD_B] = "classifier.bias|cls_classifier.bias",    \
    [VIT_HEAD_DIST_W] = "distillation_classifier.weight", [VIT_HEAD_DIST_B] = "distillation_classifier.bias",          \
    [VIT_MASK_TOKEN] = "embeddings.mask_token", [VIT_GUESS_W] = "decoder.0.weight", [VIT_GUESS_B] = "decoder.0.bias"

#define L4 "encoder.layer.%d."
#define L5 "layers.%d."
#define TV "encoder.layers.encoder_layer_%d."

const Layout LAYOUTS[] = {
    {
        .name = "Hugging Face ViT",
        .signature = "encoder.layer.0.attention.attention.query.weight",
        .names =
            {
                EMBEDDINGS_HF,
                [VIT_LN1_GAMMA] = L4 "layernorm_before.weight|" L4 "norm1.weight",
                [VIT_LN1_BETA] = L4 "layernorm_before.bias|" L4 "norm1.bias",
                [VIT_W_Q] = L4 "attention.attention.query.weight",
                [VIT_B_Q] = L4 "attention.attention.query.bias",
                [VIT_W_K] = L4 "attention.attention.key.weight",
                [VIT_B_K] = L4 "attention.attention.key.bias",
                [VIT_W_V] = L4 "attention.attention.value.weight",
                [VIT_B_V] = L4 "attention.attention.value.bias",
                [VIT_W_O] = L4 "attention.output.dense.weight",
                [VIT_B_O] = L4 "attention.output.dense.bias",
                [VIT_ATTN_LS] = L4 "layer_scale1.lambda1",
                [VIT_LN2_GAMMA] = L4 "layernorm_after.weight|" L4 "norm2.weight",
                [VIT_LN2_BETA] = L4 "layernorm_after.bias|" L4 "norm2.bias",
                [VIT_W_UP] = L4 "intermediate.dense.weight|" L4 "mlp.fc1.weight",
                [VIT_B_UP] = L4 "intermediate.dense.bias|" L4 "mlp.fc1.bias",
                [VIT_W_DOWN] = L4 "output.dense.weight|" L4 "mlp.fc2.weight",
                [VIT_B_DOWN] = L4 "output.dense.bias|" L4 "mlp.fc2.bias",
                [VIT_MLP_LS] = L4 "layer_scale2.lambda1",
            },
        .useless = "embeddings.mask_token pooler.dense.weight pooler.dense.bias",
        .eps = 1e-12f,
        .filter = FILTER_BILINEAR,
    },
    {
        .name = "Hugging Face ViT (5.x names)",
        .signature = "layers.0.attention.q_proj.weight",
        .names =
            {
                EMBEDDINGS_HF,
                [VIT_LN1_GAMMA] = L5 "layernorm_before.weight",
                [VIT_LN1_BETA] = L5 "layernorm_before.bias",
                [VIT_W_Q] = L5 "attention.q_proj.weight",
                [VIT_B_Q] = L5 "attention.q_proj.bias",
                [VIT_W_K] = L5 "attention.k_proj.weight",
                [VIT_B_K] = L5 "attention.k_proj.bias",
                [VIT_W_V] = L5 "attention.v_proj.weight",
                [VIT_B_V] = L5 "attention.v_proj.bias",
                [VIT_W_O] = L5 "attention.o_proj.weight",
                [VIT_B_O] = L5 "attention.o_proj.bias",
                [VIT_LN2_GAMMA] = L5 "layernorm_after.weight",
                [VIT_LN2_BETA] = L5 "layernorm_after.bias",
                [VIT_W_UP] = L5 "mlp.fc1.weight",
                [VIT_B_UP] = L5 "mlp.fc1.bias",
                [VIT_W_DOWN] = L5 "mlp.fc2.weight",
                [VIT_B_DOWN] = L5 "mlp.fc2.bias",
            },
        .useless = "embeddings.mask_token pooler.dense.weight pooler.dense.bias",
        .eps = 1e-12f,
        .filter = FILTER_BILINEAR,
    },
    {
        .name = "timm",
        .signature = "blocks.0.attn.qkv.weight",
        .names =
            {
                [VIT_PATCH_W] = "patch_embed.proj.weight",
                [VIT_PATCH_B] = "patch_embed.proj.bias",
                [VIT_CLS] = "cls_token",
                [VIT_DIST] = "dist_token",
                [VIT_REGISTERS] = "reg_token|register_tokens",
                [VIT_POS] = "pos_embed",
                [VIT_PRE_GAMMA] = "norm_pre.weight",
                [VIT_PRE_BETA] = "norm_pre.bias",
                [VIT_LN1_GAMMA] = "blocks.%d.norm1.weight",
                [VIT_LN1_BETA] = "blocks.%d.norm1.bias",
                [VIT_W_Q] = "blocks.%d.attn.qkv.weight",
                [VIT_W_K] = "blocks.%d.attn.qkv.weight",
                [VIT_W_V] = "blocks.%d.attn.qkv.weight",
                [VIT_B_Q] = "blocks.%d.attn.qkv.bias",
                [VIT_B_K] = "blocks.%d.attn.qkv.bias",
                [VIT_B_V] = "blocks.%d.attn.qkv.bias",
                [VIT_W_O] = "blocks.%d.attn.proj.weight",
                [VIT_B_O] = "blocks.%d.attn.proj.bias",
                [VIT_ATTN_LS] = "blocks.%d.ls1.gamma|blocks.%d.gamma_1",
                [VIT_LN2_GAMMA] = "blocks.%d.norm2.weight",
                [VIT_LN2_BETA] = "blocks.%d.norm2.bias",
                [VIT_W_UP] = "blocks.%d.mlp.fc1.weight",
                [VIT_B_UP] = "blocks.%d.mlp.fc1.bias",
                [VIT_W_DOWN] = "blocks.%d.mlp.fc2.weight",
                [VIT_B_DOWN] = "blocks.%d.mlp.fc2.bias",
                [VIT_MLP_LS] = "blocks.%d.ls2.gamma|blocks.%d.gamma_2",
                [VIT_FINAL_GAMMA] = "norm.weight",
                [VIT_FINAL_BETA] = "norm.bias",
                [VIT_FC_GAMMA] = "fc_norm.weight",
                [VIT_FC_BETA] = "fc_norm.bias",
                [VIT_HEAD_W] = "head.weight",
                [VIT_HEAD_B] = "head.bias",
                [VIT_HEAD_DIST_W] = "head_dist.weight",
                [VIT_HEAD_DIST_B] = "head_dist.bias",
                [VIT_MASK_TOKEN] = "mask_token",
            },
        .fused = true,
        .useless = "mask_token pre_logits.fc.weight pre_logits.fc.bias",
        .eps = 1e-6f,
        .filter = FILTER_BICUBIC,
        .crop = 0.9,
    },
    {
        .name = "torchvision",
        .signature = "encoder.layers.encoder_layer_0.self_attention.in_proj_weight",
        .names =
            {
                [VIT_PATCH_W] = "conv_proj.weight",
                [VIT_PATCH_B] = "conv_proj.bias",
                [VIT_CLS] = "class_token",
                [VIT_POS] = "encoder.pos_embedding",
                [VIT_LN1_GAMMA] = TV "ln_1.weight",
                [VIT_LN1_BETA] = TV "ln_1.bias",
                [VIT_W_Q] = TV "self_attention.in_proj_weight",
                [VIT_W_K] = TV "self_attention.in_proj_weight",
                [VIT_W_V] = TV "self_attention.in_proj_weight",
                [VIT_B_Q] = TV "self_attention.in_proj_bias",
                [VIT_B_K] = TV "self_attention.in_proj_bias",
                [VIT_B_V] = TV "self_attention.in_proj_bias",
                [VIT_W_O] = TV "self_attention.out_proj.weight",
                [VIT_B_O] = TV "self_attention.out_proj.bias",
                [VIT_LN2_GAMMA] = TV "ln_2.weight",
                [VIT_LN2_BETA] = TV "ln_2.bias",
                [VIT_W_UP] = TV "mlp.0.weight|" TV "mlp.linear_1.weight",
                [VIT_B_UP] = TV "mlp.0.bias|" TV "mlp.linear_1.bias",
                [VIT_W_DOWN] = TV "mlp.3.weight|" TV "mlp.linear_2.weight",
                [VIT_B_DOWN] = TV "mlp.3.bias|" TV "mlp.linear_2.bias",
                [VIT_FINAL_GAMMA] = "encoder.ln.weight",
                [VIT_FINAL_BETA] = "encoder.ln.bias",
                [VIT_HEAD_W] = "heads.head.weight",
                [VIT_HEAD_B] = "heads.head.bias",
            },
        .fused = true,
        .useless = "",
        .eps = 1e-6f,
        .imagenet = true,
        .filter = FILTER_BILINEAR,
        .crop = 224.0 / 256.0,
    },
};
const int LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS;

bool layout_alternative(const char *pattern, int n, int layer, char *out, size_t size)
{
    for (; n > 0; n--) {
        const char *bar = strchr(pattern, '|');
        if (!bar)
            return false;
        pattern = bar + 1;
    }
    size_t len = strcspn(pattern, "|");
    const char *mark = memchr(pattern, '%', len);
    if (!mark)
        snprintf(out, size, "%.*s", (int)len, pattern);
    else
        snprintf(out, size, "%.*s%d%.*s", (int)(mark - pattern), pattern, layer,
                 (int)(len - (size_t)(mark + 2 - pattern)), mark + 2);
    return true;
}

bool layout_outside(VitRole r)
{
    switch (r) {
    case VIT_HEAD_W:
    case VIT_HEAD_B:
    case VIT_HEAD_DIST_W:
    case VIT_HEAD_DIST_B:
    case VIT_GUESS_W:
    case VIT_GUESS_B: return true;
    default: return false;
    }
}

int layout_shape(const Layout *l, const VitConfig *c, VitRole r, size_t out[4])
{
    size_t shape[4];
    int rank = vit_role_shape(c, r, shape), n = 0;
    const char *axes = vit_role_axes(r);
    for (int i = 0; i < rank; i++) {
        if (axes[i] == 'e' && n > 0)
            out[n - 1] = size_mul(out[n - 1], shape[i]);
        else
            out[n++] = shape[i];
    }
    if (l->fused && axes[0] == 'h')
        out[0] = size_mul(out[0], 3);
    if (r != VIT_GUESS_W && r != VIT_GUESS_B)
        return n;
    out[0] = size_mul(size_mul(out[0], out[1]),
                      out[2]); /* a convolution of 1 × 1 whose outputs are shuffled into pixels */
    out[1] = n > 3 ? out[3] : 1;
    out[2] = out[3] = 1;
    return n > 3 ? 4 : 1;
}
