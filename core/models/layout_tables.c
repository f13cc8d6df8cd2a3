/* The families of public checkpoints: how each names its weights. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

/* Names that stand together. BOTH: a matrix and its bias, or a norm's factor and shift; OR: by either of two names;
 * THIRDS: queries, keys and values in one tensor. */
#define BOTH(w, b, name) [VIT_##w] = name ".weight", [VIT_##b] = name ".bias"
#define OR(w, b, one, two) [VIT_##w] = one ".weight|" two ".weight", [VIT_##b] = one ".bias|" two ".bias"
#define NORM(x, name) BOTH(x##_GAMMA, x##_BETA, name)
#define LINEAR(x, name) BOTH(W_##x, B_##x, name)
#define POOL(x, name) BOTH(POOL_W_##x, POOL_B_##x, name)
#define END(x, name) BOTH(x##_W, x##_B, name)
#define QKV(p, q, k, v) LINEAR(Q, p q), LINEAR(K, p k), LINEAR(V, p v)
#define MLP(p, up, down) LINEAR(UP, p up), LINEAR(DOWN, p down)
#define THIRDS(w, b, weight, bias)                                                                                     \
    [VIT_##w##_Q] = weight "#0/3", [VIT_##w##_K] = weight "#1/3", [VIT_##w##_V] = weight "#2/3",                       \
    [VIT_##b##_Q] = bias "#0/3", [VIT_##b##_K] = bias "#1/3", [VIT_##b##_V] = bias "#2/3"

/* The same in JAX, with the order of the axes. */
#define KERNEL(w, b, name, axes, bias) [VIT_##w] = name "/kernel#:" axes, [VIT_##b] = name "/bias" bias
#define SCALE(x, name) [VIT_##x##_GAMMA] = name "/scale", [VIT_##x##_BETA] = name "/bias"

/* A block's prefix in each family. */
#define L4 "encoder.layer.%d."
#define L5 "layers.%d."
#define LD "layer.%d."
#define VM "vision_model."
#define VL VM "encoder.layers.%d."
#define OA "transformer.resblocks.%d."
#define JX "Transformer/encoderblock_%d/"
#define JA JX "MultiHeadDotProductAttention_1/"
#define AH "encoder.layers.%d."
#define AP "trunk.blocks.%d."
#define TV "encoder.layers.encoder_layer_%d."
#define TB "blocks.%d."

#define EMBEDDINGS_HF                                                                                                  \
    END(PATCH, "embeddings.patch_embeddings.projection"),                                                              \
        [VIT_CLS] = "embeddings.cls_token", [VIT_DIST] = "embeddings.distillation_token",                              \
        [VIT_REGISTERS] = "embeddings.register_tokens", [VIT_POS] = "embeddings.position_embeddings",                  \
        NORM(PRE, "embeddings.norm_pre"), NORM(FINAL, "layernorm"),                                                    \
        OR(FC_GAMMA, FC_BETA, "fc_norm", "pooler.layernorm"), OR(HEAD_W, HEAD_B, "classifier", "cls_classifier"),      \
        END(HEAD_DIST, "distillation_classifier"), [VIT_MASK_TOKEN] = "embeddings.mask_token", END(GUESS, "decoder.0")
#define HF_VISION                                                                                                      \
    [VIT_PATCH_W] = VM "embeddings.patch_embedding.weight", [VIT_POS] = VM "embeddings.position_embedding.weight",     \
    NORM(LN1, VL "layer_norm1"), QKV(VL "self_attn.", "q_proj", "k_proj", "v_proj"),                                   \
    LINEAR(O, VL "self_attn.out_proj"), NORM(LN2, VL "layer_norm2"), MLP(VL "mlp.", "fc1", "fc2"),                     \
    NORM(FINAL, VM "post_layernorm"), END(HEAD, "classifier")

/* ε, activation (0: GELU with erf), and how a picture is made ready: statistics, filter, crop. */
#define HABITS(eps_, act_, pixels_, filter_, crop_)                                                                    \
    .eps = eps_, .act = act_, .pixels = PIXELS_##pixels_, .filter = FILTER_##filter_, .crop = crop_

const Layout LAYOUTS[] = {
    {"Hugging Face ViT", "encoder.layer.0.attention.attention.query.weight",
     .names = {EMBEDDINGS_HF, OR(LN1_GAMMA, LN1_BETA, L4 "layernorm_before", L4 "norm1"),
               QKV(L4 "attention.attention.", "query", "key", "value"),
               LINEAR(O, L4 "attention.output.dense"), [VIT_ATTN_LS] = L4 "layer_scale1.lambda1|" L4 "lambda_1",
               [VIT_BIAS_TABLE] = L4 "attention.attention.relative_position_bias.relative_position_bias_table#:wh",
               [VIT_SHARED_BIAS_TABLE] = "encoder.relative_position_bias.relative_position_bias_table#:wh",
               OR(LN2_GAMMA, LN2_BETA, L4 "layernorm_after", L4 "norm2"),
               [VIT_W_UP] = L4 "intermediate.dense.weight|" L4 "mlp.fc1.weight|" L4 "mlp.weights_in.weight#1/2",
               [VIT_B_UP] = L4 "intermediate.dense.bias|" L4 "mlp.fc1.bias|" L4 "mlp.weights_in.bias#1/2",
               [VIT_W_GATE] = L4 "mlp.weights_in.weight#0/2", [VIT_B_GATE] = L4 "mlp.weights_in.bias#0/2",
               [VIT_W_DOWN] = L4 "output.dense.weight|" L4 "mlp.fc2.weight|" L4 "mlp.weights_out.weight",
               [VIT_B_DOWN] = L4 "output.dense.bias|" L4 "mlp.fc2.bias|" L4 "mlp.weights_out.bias",
               [VIT_MLP_LS] = L4 "layer_scale2.lambda1|" L4 "lambda_2"},
     .useless = "embeddings.mask_token pooler.dense.weight pooler.dense.bias", .silu_gate = true,
     HABITS(1e-12f, 0, HALF, BILINEAR, 0)},
    {"Hugging Face AIMv2", "embeddings.rms_norm.weight",
     .names =
         {END(PATCH, "embeddings.patch_embed"), [VIT_PATCH_GAMMA] = "embeddings.rms_norm.weight",
          [VIT_POS] = "embeddings.position_embedding.weight", [VIT_LN1_GAMMA] = AH "rms_norm1.weight",
          QKV(AH "attention.", "q_proj", "k_proj", "v_proj"),
          LINEAR(O, AH "attention.out_proj"), [VIT_LN2_GAMMA] = AH "rms_norm2.weight", LINEAR(GATE, AH "ffn.gate_proj"),
          MLP(AH "ffn.", "up_proj", "down_proj"), [VIT_FINAL_GAMMA] = "rms_norm.weight", [VIT_PROBE] = "head.cls_token",
          POOL(K, "head.k_proj"), POOL(V, "head.v_proj"),
          POOL(O, "head.output_proj"), [VIT_PROJECT] = "visual_projection.weight"},
     .aside = "text_model.* text_projection* logit_scale*", .rms_norm = true, .bare_probe = true,
     HABITS(1e-5f, MAP_SILU, CLIP, BICUBIC, 1)},
    {"Apple AIMv2", "preprocessor.patchifier.norm.weight",
     .names = {END(PATCH, "preprocessor.patchifier.proj"), [VIT_PATCH_GAMMA] = "preprocessor.patchifier.norm.weight",
               [VIT_POS] = "preprocessor.pos_embed", [VIT_LN1_GAMMA] = AP "norm_1.weight",
               THIRDS(W, B, AP "attn.qkv.weight", AP "attn.qkv.bias"),
               LINEAR(O, AP "attn.proj"), [VIT_LN2_GAMMA] = AP "norm_2.weight", LINEAR(GATE, AP "mlp.fc1"),
               MLP(AP "mlp.", "fc3", "fc2"), [VIT_FINAL_GAMMA] = "trunk.post_trunk_norm.weight",
               [VIT_PROBE] = "head.cls_token", POOL(K, "head.k"), POOL(V, "head.v"),
               POOL(O, "head.linear"), [VIT_PROJECT] = "image_projector.weight"},
     .aside = "text_encoder.* text_projector* log_logit_scale*", .rms_norm = true, .bare_probe = true,
     HABITS(1e-5f, MAP_SILU, CLIP, BICUBIC, 1)},
    {"Hugging Face ViT (5.x names)", "layers.0.attention.q_proj.weight",
     .names = {EMBEDDINGS_HF, NORM(LN1, L5 "layernorm_before"), QKV(L5 "attention.", "q_proj", "k_proj", "v_proj"),
               LINEAR(O, L5 "attention.o_proj"), NORM(LN2, L5 "layernorm_after"), MLP(L5 "mlp.", "fc1", "fc2")},
     .useless = "embeddings.mask_token pooler.dense.weight pooler.dense.bias", HABITS(1e-12f, 0, HALF, BILINEAR, 0)},
    {"timm", "blocks.0.attn.qkv.weight|blocks.0.attn.q_proj.weight",
     .names = {END(PATCH, "patch_embed.proj"),
               NORM(PATCH, "patch_embed.norm"),
               NORM(MERGED, TB "attn.norm"),
               [VIT_CLS] = "cls_token",
               [VIT_DIST] = "dist_token",
               [VIT_REGISTERS] = "reg_token|register_tokens",
               [VIT_POS] = "pos_embed",
               NORM(PRE, "norm_pre"),
               NORM(LN1, TB "norm1"),
               [VIT_W_Q] = TB "attn.qkv.weight#0/3|" TB "attn.q_proj.weight",
               [VIT_W_K] = TB "attn.qkv.weight#1/3|" TB "attn.k_proj.weight",
               [VIT_W_V] = TB "attn.qkv.weight#2/3|" TB "attn.v_proj.weight",
               [VIT_B_Q] = TB "attn.qkv.bias#0/3|" TB "attn.q_bias|" TB "attn.q_proj.bias",
               [VIT_B_K] = TB "attn.qkv.bias#1/3|" TB "attn.k_proj.bias",
               [VIT_B_V] = TB "attn.qkv.bias#2/3|" TB "attn.v_bias|" TB "attn.v_proj.bias",
               LINEAR(O, TB "attn.proj"),
               [VIT_ATTN_LS] = TB "ls1.gamma|" TB "gamma_1",
               NORM(LN2, TB "norm2"),
               [VIT_W_UP] = "~" TB "mlp.fc1.weight|@" TB "mlp.fc1.weight#1/2|" TB "mlp.fc1_x.weight|" TB
                            "mlp.w12.weight#1/2",
               [VIT_B_UP] = "~" TB "mlp.fc1.bias|@" TB "mlp.fc1.bias#1/2|" TB "mlp.fc1_x.bias|" TB "mlp.w12.bias#1/2",
               [VIT_W_GATE] = "@" TB "mlp.fc1.weight#0/2|" TB "mlp.fc1_g.weight|" TB "mlp.w12.weight#0/2",
               [VIT_B_GATE] = "@" TB "mlp.fc1.bias#0/2|" TB "mlp.fc1_g.bias|" TB "mlp.w12.bias#0/2",
               NORM(HIDDEN, TB "mlp.norm"),
               [VIT_PROBE] = "attn_pool.latent",
               POOL(Q, "attn_pool.q"),
               [VIT_POOL_W_K] = "attn_pool.kv.weight#0/2",
               [VIT_POOL_B_K] = "attn_pool.kv.bias#0/2",
               [VIT_POOL_W_V] = "attn_pool.kv.weight#1/2",
               [VIT_POOL_B_V] = "attn_pool.kv.bias#1/2",
               POOL(O, "attn_pool.proj"),
               NORM(POOL, "attn_pool.norm"),
               POOL(UP, "attn_pool.mlp.fc1"),
               POOL(DOWN, "attn_pool.mlp.fc2"),
               OR(W_DOWN, B_DOWN, TB "mlp.fc2", TB "mlp.w3"),
               [VIT_MLP_LS] = TB "ls2.gamma|" TB "gamma_2",
               NORM(FINAL, "norm"),
               NORM(FC, "fc_norm"),
               END(HEAD, "head"),
               [VIT_PROJECT] = "^head.weight",
               END(HEAD_DIST, "head_dist"),
               [VIT_MASK_TOKEN] = "mask_token",
               [VIT_ROPE_FREQS] = "rope.freqs",
               [VIT_BIAS_TABLE] = TB "attn.relative_position_bias_table#:wh",
               [VIT_SHARED_BIAS_TABLE] = "rel_pos_bias.relative_position_bias_table#:wh"},
     .deit_pixels = true, .fit_smooth = true, .silu_gate = true,
     .useless = "mask_token pre_logits.fc.weight pre_logits.fc.bias", HABITS(1e-6f, 0, HALF, BICUBIC, 0.9)},
    {"torchvision", "encoder.layers.encoder_layer_0.self_attention.in_proj_weight",
     .names = {END(PATCH, "conv_proj"), [VIT_CLS] = "class_token", [VIT_POS] = "encoder.pos_embedding",
               NORM(LN1, TV "ln_1"), THIRDS(W, B, TV "self_attention.in_proj_weight", TV "self_attention.in_proj_bias"),
               LINEAR(O, TV "self_attention.out_proj"), NORM(LN2, TV "ln_2"),
               OR(W_UP, B_UP, TV "mlp.0", TV "mlp.linear_1"), OR(W_DOWN, B_DOWN, TV "mlp.3", TV "mlp.linear_2"),
               NORM(FINAL, "encoder.ln"), END(HEAD, "heads.head")},
     .fit_corners = true, HABITS(1e-6f, 0, IMAGENET, BILINEAR, 224.0 / 256.0)},
    {"Hugging Face DINOv3", "layer.0.attention.o_proj.weight",
     .names = {END(PATCH, "embeddings.patch_embeddings"), [VIT_CLS] = "embeddings.cls_token",
               [VIT_REGISTERS] = "embeddings.register_tokens", [VIT_MASK_TOKEN] = "embeddings.mask_token",
               NORM(LN1, LD "norm1"), QKV(LD "attention.", "q_proj", "k_proj", "v_proj"),
               LINEAR(O, LD "attention.o_proj"), [VIT_ATTN_LS] = LD "layer_scale1.lambda1", NORM(LN2, LD "norm2"),
               LINEAR(GATE, LD "mlp.gate_proj"),
               MLP(LD "mlp.", "up_proj", "down_proj"), [VIT_MLP_LS] = LD "layer_scale2.lambda1", NORM(FINAL, "norm")},
     .useless = "embeddings.mask_token", .embeds = true, .exact = true, HABITS(1e-5f, 0, IMAGENET, BILINEAR, 0)},
    {"Hugging Face CLIP", "vision_model.pre_layrnorm.weight",
     .names = {HF_VISION, [VIT_CLS] = VM "embeddings.class_embedding",
               NORM(PRE, VM "pre_layrnorm"), [VIT_PROJECT] = "visual_projection.weight"},
     .useless = VM "embeddings.position_ids", .aside = "text_model.* text_projection.* logit_scale*",
     .classifier = CLASSIFIER_MEAN_BARE, .embeds = true, HABITS(1e-5f, MAP_QUICK_GELU, CLIP, BICUBIC, 1)},
    {"Hugging Face SigLIP", "vision_model.embeddings.patch_embedding.bias",
     .names = {HF_VISION, [VIT_PATCH_B] = VM "embeddings.patch_embedding.bias", [VIT_PROBE] = VM "head.probe",
               THIRDS(POOL_W, POOL_B, VM "head.attention.in_proj_weight", VM "head.attention.in_proj_bias"),
               POOL(O, VM "head.attention.out_proj"), NORM(POOL, VM "head.layernorm"), POOL(UP, VM "head.mlp.fc1"),
               POOL(DOWN, VM "head.mlp.fc2")},
     .useless = VM "embeddings.position_ids", .aside = "text_model.* logit_scale* logit_bias*",
     .classifier = CLASSIFIER_MEAN, .embeds = true, HABITS(1e-6f, MAP_GELU_TANH, HALF, BICUBIC, 0)},
    {"OpenAI CLIP", "ln_pre.weight",
     .names = {[VIT_PATCH_W] = "conv1.weight",
               [VIT_CLS] = "class_embedding",
               [VIT_POS] = "positional_embedding",
               NORM(PRE, "ln_pre"),
               NORM(LN1, OA "ln_1"),
               THIRDS(W, B, OA "attn.in_proj_weight", OA "attn.in_proj_bias"),
               LINEAR(O, OA "attn.out_proj"),
               NORM(LN2, OA "ln_2"),
               MLP(OA "mlp.", "c_fc", "c_proj"),
               NORM(FINAL, "ln_post"),
               [VIT_PROJECT] = "proj#:fg",
               [VIT_ATTN_LS] = OA "ls_1.gamma",
               [VIT_MLP_LS] = OA "ls_2.gamma"},
     .open_clip = true, .useless = "input_resolution context_length vocab_size",
     .aside =
         "transformer.* token_embedding.* positional_embedding* ln_final.* text_projection* logit_scale* logit_bias* "
         "text.* input_resolution* context_length* vocab_size* attn_mask*",
     .embeds = true, HABITS(1e-5f, MAP_QUICK_GELU, CLIP, BICUBIC, 1)},
    {"JAX ViT", "Transformer/encoderblock_0/MultiHeadDotProductAttention_1/query/kernel",
     .names = {KERNEL(PATCH_W, PATCH_B, "embedding", "ijcd", ""), [VIT_CLS] = "cls",
               [VIT_POS] = "Transformer/posembed_input/pos_embedding", SCALE(LN1, JX "LayerNorm_0"),
               KERNEL(W_Q, B_Q, JA "query", "dhe", "#:he"), KERNEL(W_K, B_K, JA "key", "dhe", "#:he"),
               KERNEL(W_V, B_V, JA "value", "dhe", "#:he"), KERNEL(W_O, B_O, JA "out", "hed", ""),
               SCALE(LN2, JX "LayerNorm_2"), KERNEL(W_UP, B_UP, JX "MlpBlock_3/Dense_0", "dm", ""),
               KERNEL(W_DOWN, B_DOWN, JX "MlpBlock_3/Dense_1", "md", ""), SCALE(FINAL, "Transformer/encoder_norm"),
               KERNEL(HEAD_W, HEAD_B, "head", "fo", "")},
     .fit = VIT_FIT_BILINEAR, .fit_corners = true, HABITS(1e-6f, MAP_GELU_TANH, HALF, BILINEAR, 0)},
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
    return r == VIT_PROJECT || r == VIT_HEAD_W || r == VIT_HEAD_B || r == VIT_HEAD_DIST_W || r == VIT_HEAD_DIST_B ||
           r == VIT_GUESS_W || r == VIT_GUESS_B;
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
