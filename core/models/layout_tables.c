/* The families of public checkpoints: how each names its weights. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

#define EMBEDDINGS_HF                                                                                                  \
    [VIT_PATCH_W] = "embeddings.patch_embeddings.projection.weight",                                                   \
    [VIT_PATCH_B] = "embeddings.patch_embeddings.projection.bias", [VIT_CLS] = "embeddings.cls_token",                 \
    [VIT_DIST] = "embeddings.distillation_token", [VIT_REGISTERS] = "embeddings.register_tokens",                      \
    [VIT_POS] = "embeddings.position_embeddings", [VIT_PRE_GAMMA] = "embeddings.norm_pre.weight",                      \
    [VIT_PRE_BETA] = "embeddings.norm_pre.bias", [VIT_FINAL_GAMMA] = "layernorm.weight",                               \
    [VIT_FINAL_BETA] = "layernorm.bias", [VIT_FC_GAMMA] = "fc_norm.weight|pooler.layernorm.weight",                    \
    [VIT_FC_BETA] = "fc_norm.bias|pooler.layernorm.bias", [VIT_HEAD_W] = "classifier.weight|cls_classifier.weight",    \
    [VIT_HEAD_B] = "classifier.bias|cls_classifier.bias", [VIT_HEAD_DIST_W] = "distillation_classifier.weight",        \
    [VIT_HEAD_DIST_B] = "distillation_classifier.bias", [VIT_MASK_TOKEN] = "embeddings.mask_token",                    \
    [VIT_GUESS_W] = "decoder.0.weight", [VIT_GUESS_B] = "decoder.0.bias"

#define L4 "encoder.layer.%d."
#define L5 "layers.%d."
#define LD "layer.%d."
#define VM "vision_model."
#define VL VM "encoder.layers.%d."
#define OA "transformer.resblocks.%d."
#define JX "Transformer/encoderblock_%d/"
#define JA "MultiHeadDotProductAttention_1/"
#define HF_VISION                                                                                                      \
    [VIT_PATCH_W] = VM "embeddings.patch_embedding.weight", [VIT_POS] = VM "embeddings.position_embedding.weight",     \
    [VIT_LN1_GAMMA] = VL "layer_norm1.weight", [VIT_LN1_BETA] = VL "layer_norm1.bias",                                 \
    [VIT_W_Q] = VL "self_attn.q_proj.weight", [VIT_B_Q] = VL "self_attn.q_proj.bias",                                  \
    [VIT_W_K] = VL "self_attn.k_proj.weight", [VIT_B_K] = VL "self_attn.k_proj.bias",                                  \
    [VIT_W_V] = VL "self_attn.v_proj.weight", [VIT_B_V] = VL "self_attn.v_proj.bias",                                  \
    [VIT_W_O] = VL "self_attn.out_proj.weight", [VIT_B_O] = VL "self_attn.out_proj.bias",                              \
    [VIT_LN2_GAMMA] = VL "layer_norm2.weight", [VIT_LN2_BETA] = VL "layer_norm2.bias",                                 \
    [VIT_W_UP] = VL "mlp.fc1.weight", [VIT_B_UP] = VL "mlp.fc1.bias", [VIT_W_DOWN] = VL "mlp.fc2.weight",              \
    [VIT_B_DOWN] = VL "mlp.fc2.bias", [VIT_FINAL_GAMMA] = VM "post_layernorm.weight",                                  \
    [VIT_FINAL_BETA] = VM "post_layernorm.bias", [VIT_HEAD_W] = "classifier.weight", [VIT_HEAD_B] = "classifier.bias"
#define AH "encoder.layers.%d."
#define AP "trunk.blocks.%d."
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
                [VIT_ATTN_LS] = L4 "layer_scale1.lambda1|" L4 "lambda_1",
                [VIT_BIAS_TABLE] = L4 "attention.attention.relative_position_bias.relative_position_bias_table#:wh",
                [VIT_SHARED_BIAS_TABLE] = "encoder.relative_position_bias.relative_position_bias_table#:wh",
                [VIT_LN2_GAMMA] = L4 "layernorm_after.weight|" L4 "norm2.weight",
                [VIT_LN2_BETA] = L4 "layernorm_after.bias|" L4 "norm2.bias",
                [VIT_W_UP] = L4 "intermediate.dense.weight|" L4 "mlp.fc1.weight|" L4 "mlp.weights_in.weight#1/2",
                [VIT_B_UP] = L4 "intermediate.dense.bias|" L4 "mlp.fc1.bias|" L4 "mlp.weights_in.bias#1/2",
                [VIT_W_GATE] = L4 "mlp.weights_in.weight#0/2",
                [VIT_B_GATE] = L4 "mlp.weights_in.bias#0/2",
                [VIT_W_DOWN] = L4 "output.dense.weight|" L4 "mlp.fc2.weight|" L4 "mlp.weights_out.weight",
                [VIT_B_DOWN] = L4 "output.dense.bias|" L4 "mlp.fc2.bias|" L4 "mlp.weights_out.bias",
                [VIT_MLP_LS] = L4 "layer_scale2.lambda1|" L4 "lambda_2",
            },
        .useless = "embeddings.mask_token pooler.dense.weight pooler.dense.bias",
        .silu_gate = true,
        .eps = 1e-12f,
        .filter = FILTER_BILINEAR,
    },
    {
        .name = "Hugging Face AIMv2",
        .signature = "embeddings.rms_norm.weight",
        .names =
            {
                [VIT_PATCH_W] = "embeddings.patch_embed.weight",
                [VIT_PATCH_B] = "embeddings.patch_embed.bias",
                [VIT_PATCH_GAMMA] = "embeddings.rms_norm.weight",
                [VIT_POS] = "embeddings.position_embedding.weight",
                [VIT_LN1_GAMMA] = AH "rms_norm1.weight",
                [VIT_W_Q] = AH "attention.q_proj.weight",
                [VIT_B_Q] = AH "attention.q_proj.bias",
                [VIT_W_K] = AH "attention.k_proj.weight",
                [VIT_B_K] = AH "attention.k_proj.bias",
                [VIT_W_V] = AH "attention.v_proj.weight",
                [VIT_B_V] = AH "attention.v_proj.bias",
                [VIT_W_O] = AH "attention.out_proj.weight",
                [VIT_B_O] = AH "attention.out_proj.bias",
                [VIT_LN2_GAMMA] = AH "rms_norm2.weight",
                [VIT_W_GATE] = AH "ffn.gate_proj.weight",
                [VIT_B_GATE] = AH "ffn.gate_proj.bias",
                [VIT_W_UP] = AH "ffn.up_proj.weight",
                [VIT_B_UP] = AH "ffn.up_proj.bias",
                [VIT_W_DOWN] = AH "ffn.down_proj.weight",
                [VIT_B_DOWN] = AH "ffn.down_proj.bias",
                [VIT_FINAL_GAMMA] = "rms_norm.weight",
                [VIT_PROBE] = "head.cls_token",
                [VIT_POOL_W_K] = "head.k_proj.weight",
                [VIT_POOL_B_K] = "head.k_proj.bias",
                [VIT_POOL_W_V] = "head.v_proj.weight",
                [VIT_POOL_B_V] = "head.v_proj.bias",
                [VIT_POOL_W_O] = "head.output_proj.weight",
                [VIT_POOL_B_O] = "head.output_proj.bias",
                [VIT_PROJECT] = "visual_projection.weight",
            },
        .useless = "",
        .aside = "text_model. text_projection logit_scale",
        .aside_what = "the text tower",
        .eps = 1e-5f,
        .act = MAP_SILU,
        .rms_norm = true,
        .bare_probe = true,
        .pixels = PIXELS_CLIP,
        .filter = FILTER_BICUBIC,
        .crop = 1,
    },
    {
        .name = "Apple AIMv2",
        .signature = "preprocessor.patchifier.norm.weight",
        .names =
            {
                [VIT_PATCH_W] = "preprocessor.patchifier.proj.weight",
                [VIT_PATCH_B] = "preprocessor.patchifier.proj.bias",
                [VIT_PATCH_GAMMA] = "preprocessor.patchifier.norm.weight",
                [VIT_POS] = "preprocessor.pos_embed",
                [VIT_LN1_GAMMA] = AP "norm_1.weight",
                [VIT_W_Q] = AP "attn.qkv.weight#0/3",
                [VIT_W_K] = AP "attn.qkv.weight#1/3",
                [VIT_W_V] = AP "attn.qkv.weight#2/3",
                [VIT_B_Q] = AP "attn.qkv.bias#0/3",
                [VIT_B_K] = AP "attn.qkv.bias#1/3",
                [VIT_B_V] = AP "attn.qkv.bias#2/3",
                [VIT_W_O] = AP "attn.proj.weight",
                [VIT_B_O] = AP "attn.proj.bias",
                [VIT_LN2_GAMMA] = AP "norm_2.weight",
                [VIT_W_GATE] = AP "mlp.fc1.weight",
                [VIT_B_GATE] = AP "mlp.fc1.bias",
                [VIT_W_UP] = AP "mlp.fc3.weight",
                [VIT_B_UP] = AP "mlp.fc3.bias",
                [VIT_W_DOWN] = AP "mlp.fc2.weight",
                [VIT_B_DOWN] = AP "mlp.fc2.bias",
                [VIT_FINAL_GAMMA] = "trunk.post_trunk_norm.weight",
                [VIT_PROBE] = "head.cls_token",
                [VIT_POOL_W_K] = "head.k.weight",
                [VIT_POOL_B_K] = "head.k.bias",
                [VIT_POOL_W_V] = "head.v.weight",
                [VIT_POOL_B_V] = "head.v.bias",
                [VIT_POOL_W_O] = "head.linear.weight",
                [VIT_POOL_B_O] = "head.linear.bias",
                [VIT_PROJECT] = "image_projector.weight",
            },
        .useless = "",
        .aside = "text_encoder. text_projector log_logit_scale",
        .aside_what = "the text tower",
        .eps = 1e-5f,
        .act = MAP_SILU,
        .rms_norm = true,
        .bare_probe = true,
        .pixels = PIXELS_CLIP,
        .filter = FILTER_BICUBIC,
        .crop = 1,
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
        .signature = "blocks.0.attn.qkv.weight|blocks.0.attn.q_proj.weight",
        .names =
            {
                [VIT_PATCH_W] = "patch_embed.proj.weight",
                [VIT_PATCH_B] = "patch_embed.proj.bias",
                [VIT_PATCH_GAMMA] = "patch_embed.norm.weight",
                [VIT_PATCH_BETA] = "patch_embed.norm.bias",
                [VIT_MERGED_GAMMA] = "blocks.%d.attn.norm.weight",
                [VIT_MERGED_BETA] = "blocks.%d.attn.norm.bias",
                [VIT_CLS] = "cls_token",
                [VIT_DIST] = "dist_token",
                [VIT_REGISTERS] = "reg_token|register_tokens",
                [VIT_POS] = "pos_embed",
                [VIT_PRE_GAMMA] = "norm_pre.weight",
                [VIT_PRE_BETA] = "norm_pre.bias",
                [VIT_LN1_GAMMA] = "blocks.%d.norm1.weight",
                [VIT_LN1_BETA] = "blocks.%d.norm1.bias",
                [VIT_W_Q] = "blocks.%d.attn.qkv.weight#0/3|blocks.%d.attn.q_proj.weight",
                [VIT_W_K] = "blocks.%d.attn.qkv.weight#1/3|blocks.%d.attn.k_proj.weight",
                [VIT_W_V] = "blocks.%d.attn.qkv.weight#2/3|blocks.%d.attn.v_proj.weight",
                [VIT_B_Q] = "blocks.%d.attn.qkv.bias#0/3|blocks.%d.attn.q_bias|blocks.%d.attn.q_proj.bias",
                [VIT_B_K] = "blocks.%d.attn.qkv.bias#1/3|blocks.%d.attn.k_proj.bias",
                [VIT_B_V] = "blocks.%d.attn.qkv.bias#2/3|blocks.%d.attn.v_bias|blocks.%d.attn.v_proj.bias",
                [VIT_W_O] = "blocks.%d.attn.proj.weight",
                [VIT_B_O] = "blocks.%d.attn.proj.bias",
                [VIT_ATTN_LS] = "blocks.%d.ls1.gamma|blocks.%d.gamma_1",
                [VIT_LN2_GAMMA] = "blocks.%d.norm2.weight",
                [VIT_LN2_BETA] = "blocks.%d.norm2.bias",
                [VIT_W_UP] = "~blocks.%d.mlp.fc1.weight|@blocks.%d.mlp.fc1.weight#1/2|blocks.%d.mlp.fc1_x.weight|"
                             "blocks.%d.mlp.w12.weight#1/2",
                [VIT_B_UP] = "~blocks.%d.mlp.fc1.bias|@blocks.%d.mlp.fc1.bias#1/2|blocks.%d.mlp.fc1_x.bias|"
                             "blocks.%d.mlp.w12.bias#1/2",
                [VIT_W_GATE] = "@blocks.%d.mlp.fc1.weight#0/2|blocks.%d.mlp.fc1_g.weight|blocks.%d.mlp.w12.weight#0/2",
                [VIT_B_GATE] = "@blocks.%d.mlp.fc1.bias#0/2|blocks.%d.mlp.fc1_g.bias|blocks.%d.mlp.w12.bias#0/2",
                [VIT_HIDDEN_GAMMA] = "blocks.%d.mlp.norm.weight",
                [VIT_HIDDEN_BETA] = "blocks.%d.mlp.norm.bias",
                [VIT_PROBE] = "attn_pool.latent",
                [VIT_POOL_W_Q] = "attn_pool.q.weight",
                [VIT_POOL_B_Q] = "attn_pool.q.bias",
                [VIT_POOL_W_K] = "attn_pool.kv.weight#0/2",
                [VIT_POOL_B_K] = "attn_pool.kv.bias#0/2",
                [VIT_POOL_W_V] = "attn_pool.kv.weight#1/2",
                [VIT_POOL_B_V] = "attn_pool.kv.bias#1/2",
                [VIT_POOL_W_O] = "attn_pool.proj.weight",
                [VIT_POOL_B_O] = "attn_pool.proj.bias",
                [VIT_POOL_GAMMA] = "attn_pool.norm.weight",
                [VIT_POOL_BETA] = "attn_pool.norm.bias",
                [VIT_POOL_W_UP] = "attn_pool.mlp.fc1.weight",
                [VIT_POOL_B_UP] = "attn_pool.mlp.fc1.bias",
                [VIT_POOL_W_DOWN] = "attn_pool.mlp.fc2.weight",
                [VIT_POOL_B_DOWN] = "attn_pool.mlp.fc2.bias",
                [VIT_W_DOWN] = "blocks.%d.mlp.fc2.weight|blocks.%d.mlp.w3.weight",
                [VIT_B_DOWN] = "blocks.%d.mlp.fc2.bias|blocks.%d.mlp.w3.bias",
                [VIT_MLP_LS] = "blocks.%d.ls2.gamma|blocks.%d.gamma_2",
                [VIT_FINAL_GAMMA] = "norm.weight",
                [VIT_FINAL_BETA] = "norm.bias",
                [VIT_FC_GAMMA] = "fc_norm.weight",
                [VIT_FC_BETA] = "fc_norm.bias",
                [VIT_HEAD_W] = "head.weight",
                [VIT_HEAD_B] = "head.bias",
                [VIT_PROJECT] = "^head.weight",
                [VIT_HEAD_DIST_W] = "head_dist.weight",
                [VIT_HEAD_DIST_B] = "head_dist.bias",
                [VIT_MASK_TOKEN] = "mask_token",
                [VIT_ROPE_FREQS] = "rope.freqs",
                [VIT_BIAS_TABLE] = "blocks.%d.attn.relative_position_bias_table#:wh",
                [VIT_SHARED_BIAS_TABLE] = "rel_pos_bias.relative_position_bias_table#:wh",
            },
        .deit_pixels = true,
        .fit_smooth = true,
        .silu_gate = true,
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
                [VIT_W_Q] = TV "self_attention.in_proj_weight#0/3",
                [VIT_W_K] = TV "self_attention.in_proj_weight#1/3",
                [VIT_W_V] = TV "self_attention.in_proj_weight#2/3",
                [VIT_B_Q] = TV "self_attention.in_proj_bias#0/3",
                [VIT_B_K] = TV "self_attention.in_proj_bias#1/3",
                [VIT_B_V] = TV "self_attention.in_proj_bias#2/3",
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
        .useless = "",
        .eps = 1e-6f,
        .fit_corners = true,
        .pixels = PIXELS_IMAGENET,
        .filter = FILTER_BILINEAR,
        .crop = 224.0 / 256.0,
    },
    {
        .name = "Hugging Face DINOv3",
        .signature = "layer.0.attention.o_proj.weight",
        .names =
            {
                [VIT_PATCH_W] = "embeddings.patch_embeddings.weight",
                [VIT_PATCH_B] = "embeddings.patch_embeddings.bias",
                [VIT_CLS] = "embeddings.cls_token",
                [VIT_REGISTERS] = "embeddings.register_tokens",
                [VIT_MASK_TOKEN] = "embeddings.mask_token",
                [VIT_LN1_GAMMA] = LD "norm1.weight",
                [VIT_LN1_BETA] = LD "norm1.bias",
                [VIT_W_Q] = LD "attention.q_proj.weight",
                [VIT_B_Q] = LD "attention.q_proj.bias",
                [VIT_W_K] = LD "attention.k_proj.weight",
                [VIT_B_K] = LD "attention.k_proj.bias",
                [VIT_W_V] = LD "attention.v_proj.weight",
                [VIT_B_V] = LD "attention.v_proj.bias",
                [VIT_W_O] = LD "attention.o_proj.weight",
                [VIT_B_O] = LD "attention.o_proj.bias",
                [VIT_ATTN_LS] = LD "layer_scale1.lambda1",
                [VIT_LN2_GAMMA] = LD "norm2.weight",
                [VIT_LN2_BETA] = LD "norm2.bias",
                [VIT_W_GATE] = LD "mlp.gate_proj.weight",
                [VIT_B_GATE] = LD "mlp.gate_proj.bias",
                [VIT_W_UP] = LD "mlp.up_proj.weight",
                [VIT_B_UP] = LD "mlp.up_proj.bias",
                [VIT_W_DOWN] = LD "mlp.down_proj.weight",
                [VIT_B_DOWN] = LD "mlp.down_proj.bias",
                [VIT_MLP_LS] = LD "layer_scale2.lambda1",
                [VIT_FINAL_GAMMA] = "norm.weight",
                [VIT_FINAL_BETA] = "norm.bias",
            },
        .useless = "embeddings.mask_token",
        .eps = 1e-5f,
        .embeds = true,
        .exact = true,
        .pixels = PIXELS_IMAGENET,
        .filter = FILTER_BILINEAR,
    },
    {
        .name = "Hugging Face CLIP",
        .signature = "vision_model.pre_layrnorm.weight",
        .names =
            {
                HF_VISION,
                [VIT_CLS] = VM "embeddings.class_embedding",
                [VIT_PRE_GAMMA] = VM "pre_layrnorm.weight",
                [VIT_PRE_BETA] = VM "pre_layrnorm.bias",
                [VIT_PROJECT] = "visual_projection.weight",
            },
        .useless = VM "embeddings.position_ids",
        .aside = "text_model. text_projection. logit_scale",
        .aside_what = "the text tower",
        .classifier = CLASSIFIER_MEAN_BARE,
        .eps = 1e-5f,
        .act = MAP_QUICK_GELU,
        .embeds = true,
        .pixels = PIXELS_CLIP,
        .filter = FILTER_BICUBIC,
        .crop = 1,
    },
    {
        .name = "Hugging Face SigLIP",
        .signature = "vision_model.embeddings.patch_embedding.bias",
        .names =
            {
                HF_VISION,
                [VIT_PATCH_B] = VM "embeddings.patch_embedding.bias",
                [VIT_PROBE] = VM "head.probe",
                [VIT_POOL_W_Q] = VM "head.attention.in_proj_weight#0/3",
                [VIT_POOL_W_K] = VM "head.attention.in_proj_weight#1/3",
                [VIT_POOL_W_V] = VM "head.attention.in_proj_weight#2/3",
                [VIT_POOL_B_Q] = VM "head.attention.in_proj_bias#0/3",
                [VIT_POOL_B_K] = VM "head.attention.in_proj_bias#1/3",
                [VIT_POOL_B_V] = VM "head.attention.in_proj_bias#2/3",
                [VIT_POOL_W_O] = VM "head.attention.out_proj.weight",
                [VIT_POOL_B_O] = VM "head.attention.out_proj.bias",
                [VIT_POOL_GAMMA] = VM "head.layernorm.weight",
                [VIT_POOL_BETA] = VM "head.layernorm.bias",
                [VIT_POOL_W_UP] = VM "head.mlp.fc1.weight",
                [VIT_POOL_B_UP] = VM "head.mlp.fc1.bias",
                [VIT_POOL_W_DOWN] = VM "head.mlp.fc2.weight",
                [VIT_POOL_B_DOWN] = VM "head.mlp.fc2.bias",
            },
        .useless = VM "embeddings.position_ids",
        .aside = "text_model. logit_scale logit_bias",
        .aside_what = "the text tower",
        .classifier = CLASSIFIER_MEAN,
        .eps = 1e-6f,
        .act = MAP_GELU_TANH,
        .embeds = true,
        .filter = FILTER_BICUBIC,
    },
    {
        .name = "OpenAI CLIP",
        .signature = "ln_pre.weight",
        .names =
            {
                [VIT_PATCH_W] = "conv1.weight",           [VIT_CLS] = "class_embedding",
                [VIT_POS] = "positional_embedding",       [VIT_PRE_GAMMA] = "ln_pre.weight",
                [VIT_PRE_BETA] = "ln_pre.bias",           [VIT_LN1_GAMMA] = OA "ln_1.weight",
                [VIT_LN1_BETA] = OA "ln_1.bias",          [VIT_W_Q] = OA "attn.in_proj_weight#0/3",
                [VIT_W_K] = OA "attn.in_proj_weight#1/3", [VIT_W_V] = OA "attn.in_proj_weight#2/3",
                [VIT_B_Q] = OA "attn.in_proj_bias#0/3",   [VIT_B_K] = OA "attn.in_proj_bias#1/3",
                [VIT_B_V] = OA "attn.in_proj_bias#2/3",   [VIT_W_O] = OA "attn.out_proj.weight",
                [VIT_B_O] = OA "attn.out_proj.bias",      [VIT_LN2_GAMMA] = OA "ln_2.weight",
                [VIT_LN2_BETA] = OA "ln_2.bias",          [VIT_W_UP] = OA "mlp.c_fc.weight",
                [VIT_B_UP] = OA "mlp.c_fc.bias",          [VIT_W_DOWN] = OA "mlp.c_proj.weight",
                [VIT_B_DOWN] = OA "mlp.c_proj.bias",      [VIT_FINAL_GAMMA] = "ln_post.weight",
                [VIT_FINAL_BETA] = "ln_post.bias",        [VIT_PROJECT] = "proj#:fg",
                [VIT_ATTN_LS] = OA "ls_1.gamma",          [VIT_MLP_LS] = OA "ls_2.gamma",
            },
        .open_clip = true,
        .useless = "input_resolution context_length vocab_size",
        .aside = "transformer. token_embedding. positional_embedding ln_final. text_projection logit_scale logit_bias "
                 "text. input_resolution context_length vocab_size attn_mask",
        .aside_what = "the text tower",
        .eps = 1e-5f,
        .act = MAP_QUICK_GELU,
        .embeds = true,
        .pixels = PIXELS_CLIP,
        .filter = FILTER_BICUBIC,
        .crop = 1,
    },
    {
        .name = "JAX ViT",
        .signature = "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query/kernel",
        .names =
            {
                [VIT_PATCH_W] = "embedding/kernel#:ijcd",
                [VIT_PATCH_B] = "embedding/bias",
                [VIT_CLS] = "cls",
                [VIT_POS] = "Transformer/posembed_input/pos_embedding",
                [VIT_LN1_GAMMA] = JX "LayerNorm_0/scale",
                [VIT_LN1_BETA] = JX "LayerNorm_0/bias",
                [VIT_W_Q] = JX JA "query/kernel#:dhe",
                [VIT_B_Q] = JX JA "query/bias#:he",
                [VIT_W_K] = JX JA "key/kernel#:dhe",
                [VIT_B_K] = JX JA "key/bias#:he",
                [VIT_W_V] = JX JA "value/kernel#:dhe",
                [VIT_B_V] = JX JA "value/bias#:he",
                [VIT_W_O] = JX JA "out/kernel#:hed",
                [VIT_B_O] = JX JA "out/bias",
                [VIT_LN2_GAMMA] = JX "LayerNorm_2/scale",
                [VIT_LN2_BETA] = JX "LayerNorm_2/bias",
                [VIT_W_UP] = JX "MlpBlock_3/Dense_0/kernel#:dm",
                [VIT_B_UP] = JX "MlpBlock_3/Dense_0/bias",
                [VIT_W_DOWN] = JX "MlpBlock_3/Dense_1/kernel#:md",
                [VIT_B_DOWN] = JX "MlpBlock_3/Dense_1/bias",
                [VIT_FINAL_GAMMA] = "Transformer/encoder_norm/scale",
                [VIT_FINAL_BETA] = "Transformer/encoder_norm/bias",
                [VIT_HEAD_W] = "head/kernel#:fo",
                [VIT_HEAD_B] = "head/bias",
            },
        .useless = "",
        .eps = 1e-6f,
        .act = MAP_GELU_TANH,
        .fit = VIT_FIT_BILINEAR,
        .fit_corners = true,
        .filter = FILTER_BILINEAR,
    },
};
const int LAYOUT_COUNT = sizeof LAYOUTS / sizeof *LAYOUTS;

bool layout_word(const char *list, int n, char *out, size_t size)
{
    for (; n > 0; n--) {
        const char *bar = strchr(list, '|');
        if (!bar)
            return false;
        list = bar + 1;
    }
    utf8_print(out, size, "%.*s", (int)strcspn(list, "|"), list);
    return true;
}

bool layout_alternative(const char *pattern, int n, int layer, LayoutName *out)
{
    char word[256];
    if (!layout_word(pattern, n, word, sizeof word))
        return false;
    *out = (LayoutName){.parts = 1, .when = strchr("@~^", *word) ? *word : '\0'};
    const char *from = word + (out->when != '\0');
    char *how = strchr(word, '#');
    if (how) {
        *how++ = '\0';
        if (*how == ':')
            utf8_print(out->order, sizeof out->order, "%.7s", how + 1);
        else
            sscanf(how, "%d/%d", &out->part, &out->parts);
    }
    const char *mark = strchr(from, '%');
    if (!mark)
        snprintf(out->name, sizeof out->name, "%s", from);
    else
        utf8_print(out->name, sizeof out->name, "%.*s%d%s", (int)(mark - from), from, layer, mark + 2);
    return true;
}

bool layout_outside(VitRole r)
{
    switch (r) {
    case VIT_HEAD_W:
    case VIT_HEAD_B:
    case VIT_HEAD_DIST_W:
    case VIT_HEAD_DIST_B:
    case VIT_PROJECT:
    case VIT_GUESS_W:
    case VIT_GUESS_B: return true;
    default: return false;
    }
}

static size_t length_of(const VitConfig *c, VitRole r, char letter)
{
    size_t shape[4];
    vit_role_shape(c, r, shape);
    const char *at = strchr(vit_role_axes(r), letter);
    REQUIRE(at);
    return shape[at - vit_role_axes(r)];
}

int layout_shape(const LayoutName *how, const VitConfig *c, VitRole r, size_t out[4])
{
    size_t shape[4];
    int rank = vit_role_shape(c, r, shape), n = 0;
    const char *axes = vit_role_axes(r);
    if (*how->order) {
        for (const char *o = how->order; *o; o++)
            out[n++] = length_of(c, r, *o);
        return n;
    }
    for (int i = 0; i < rank; i++) {
        if (axes[i] == 'e' && n > 0)
            out[n - 1] = size_mul(out[n - 1], shape[i]);
        else
            out[n++] = shape[i];
    }
    out[0] = size_mul(out[0], (size_t)how->parts);
    if (r != VIT_GUESS_W && r != VIT_GUESS_B)
        return n;
    out[0] = size_mul(size_mul(out[0], out[1]),
                      out[2]); /* a convolution of 1 × 1 whose outputs are shuffled into pixels */
    out[1] = n > 3 ? out[3] : 1;
    out[2] = out[3] = 1;
    return n > 3 ? 4 : 1;
}

void layout_reorder(const LayoutName *how, const VitConfig *c, VitRole r, const float *in, float *out)
{
    const char *axes = vit_role_axes(r);
    size_t shape[4], stride[4], index[4] = {0}, cells = vit_role_cells(c, r), at = 0;
    int rank = vit_role_shape(c, r, shape);
    for (int i = 0; i < rank; i++) {
        stride[i] = 1;
        for (const char *o = strchr(how->order, axes[i]) + 1; *o; o++)
            stride[i] *= length_of(c, r, *o);
    }
    for (size_t cell = 0; cell < cells; cell++) {
        out[cell] = in[at];
        for (int i = rank - 1; i >= 0; i--) {
            at += stride[i];
            if (++index[i] < shape[i])
                break;
            at -= stride[i] * shape[i];
            index[i] = 0;
        }
    }
}

size_t layout_letter(const TensorInfo *t, const LayoutName *how, VitRole r, char letter)
{
    const char *axes = *how->order ? how->order : vit_role_axes(r), *at = strchr(axes, letter);
    int i = at ? (int)(at - axes) : t->rank;
    if (!*how->order && strchr(axes, 'e'))
        return 0;
    return i >= t->rank ? 0 : i ? t->shape[i] : t->shape[0] / (size_t)how->parts;
}
