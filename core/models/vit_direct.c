#include "core/models/direct.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/kernels/map_exact.h"

/* A weight of the block's layer, or of the whole model; NULL where it has none such. */
static const WeightTensor *tensor(const VitDirectBlock *b, VitRole r)
{
    return vit_has(b->c, r) ? vit_weight(b->w, r, vit_role_in_block(r) ? b->layer : 0) : NULL;
}

static const float *weight(const VitDirectBlock *b, VitRole r)
{
    const WeightTensor *t = tensor(b, r);
    return t ? t->data : NULL;
}

static void linear(const VitDirectBlock *b, VitRole w, VitRole bias, const double *x, size_t inputs, double *y,
                   size_t outputs)
{
    direct_linear(tensor(b, w), weight(b, bias), x, 1, inputs, y, outputs);
}

/* The model's norm of n numbers, y may be x; gamma's role is followed by beta's. */
static void norm(const VitDirectBlock *b, VitRole role, size_t n, const double *x, double *y)
{
    direct_norm(weight(b, role), weight(b, (VitRole)(role + 1)), b->c->rms_norm, (double)b->c->eps, x, 1, n, y);
}

/* --- pixels to tokens --- */

/* As the network sees the picture, [c,y,x]. */
static void standardise(const VitConfig *c, const float *input, double *image)
{
    size_t plane = (size_t)c->image_h * (size_t)c->image_w, cells = plane * (size_t)c->channels;
    double square = 0;
    for (size_t i = 0; i < cells; i++) {
        size_t ch = i / plane;
        double x = (double)input[i];
        image[i] = c->input == VIT_INPUT_READY ? x
                   : c->input == VIT_INPUT_PER_IMAGE
                       ? 2 * x / (double)c->range - 1
                       : (x / (double)c->range - (double)c->mean[ch]) / (double)c->std[ch];
    }
    if (c->input != VIT_INPUT_PER_IMAGE)
        return;
    for (size_t ch = 0; ch < (size_t)c->channels; ch++) {
        double mean = 0;
        for (size_t i = 0; i < plane; i++)
            mean += image[ch * plane + i] / (double)plane;
        for (size_t i = 0; i < plane; i++) {
            image[ch * plane + i] -= mean;
            square += image[ch * plane + i] * image[ch * plane + i] / (double)cells;
        }
    }
    double rms = map_exact(MAP_SQRT, square + 0.01);
    for (size_t i = 0; i < cells; i++)
        image[i] /= rms;
}

/* Patch p of the image, flattened in the order channel, row, column. */
static void cut_patch(const VitConfig *c, const double *image, size_t p, double *out)
{
    size_t ph = (size_t)c->patch_h, pw = (size_t)c->patch_w, width = (size_t)c->image_w, cols = width / pw,
           plane = width * (size_t)c->image_h, k = 0;
    for (size_t ch = 0; ch < (size_t)c->channels; ch++)
        for (size_t i = 0; i < ph; i++)
            for (size_t j = 0; j < pw; j++)
                out[k++] = image[ch * plane + (p / cols * ph + i) * width + p % cols * pw + j];
}

/* Row of the position table that token t has, or −1. */
static int position_row(const VitConfig *c, int t)
{
    int prefix = vit_prefix(c), front = prefix - c->registers;
    switch (c->pos) {
    case VIT_POS_ALL: return t;
    case VIT_POS_BEFORE_REGISTERS: return t < front ? t : t < prefix ? -1 : t - c->registers;
    case VIT_POS_PATCHES: return t < prefix ? -1 : t - prefix;
    default: return -1;
    }
}

/* The position table as the tokens get it: row by row out[rows,d], fitted to the picture's grid where it was made for
 * another one: every new place is the sum over all old ones of their weights. */
static double *places(const VitDirectBlock *whole)
{
    const VitConfig *c = whole->c;
    size_t shape[4], d = (size_t)c->width, h = (size_t)(c->image_h / c->patch_h), k = (size_t)(c->image_w / c->patch_w);
    if (c->pos == VIT_POS_NONE)
        return NULL;
    const float *table = weight(whole, VIT_POS);
    vit_role_shape(c, VIT_POS, shape);
    size_t old_h = vit_resizes(c) ? (size_t)c->table_h : h, old_w = vit_resizes(c) ? (size_t)c->table_w : k;
    size_t front = shape[0] - old_h * old_w;
    double *out = direct_zeros(front + h * k, d), *down = direct_zeros(h, old_h), *across = direct_zeros(k, old_w);
    for (size_t i = 0; i < (vit_resizes(c) ? front : shape[0]) * d; i++)
        out[i] = (double)table[i];
    if (vit_resizes(c)) {
        vit_fit_weights(c, c->table_h, (int)h, down);
        vit_fit_weights(c, c->table_w, (int)k, across);
    }
    for (size_t p = 0; vit_resizes(c) && p < h * k; p++)
        for (size_t q = 0; q < old_h * old_w; q++)
            for (size_t i = 0; i < d; i++)
                out[(front + p) * d + i] += down[p / k * old_h + q / old_w] * across[p % k * old_w + q % old_w] *
                                            (double)table[(front + q) * d + i];
    free(down);
    free(across);
    return out;
}

void vit_direct_embed(const VitConfig *c, const Weights *w, const float *input, double *z)
{
    const VitDirectBlock *whole = &(VitDirectBlock){.c = c, .w = w};
    size_t d = (size_t)c->width, values = (size_t)c->patch_h * (size_t)c->patch_w * (size_t)c->channels;
    double *image = direct_zeros((size_t)c->image_h * (size_t)c->image_w, (size_t)c->channels),
           *patch = direct_zeros(values, 1);
    double *table = places(whole);
    int prefix = vit_prefix(c), front = prefix - c->registers;
    standardise(c, input, image);
    for (int t = 0; t < vit_tokens(c); t++) {
        double *to = z + (size_t)t * d;
        int row = position_row(c, t);
        const double *place = row < 0 ? NULL : table + (size_t)row * d;
        if (t >= prefix) {
            cut_patch(c, image, (size_t)(t - prefix), patch);
            linear(whole, VIT_PATCH_W, VIT_PATCH_B, patch, values, to, d);
            if (c->patch_norm)
                norm(whole, VIT_PATCH_GAMMA, d, to, to);
        }
        const float *token = t >= prefix        ? NULL
                             : t >= front       ? weight(whole, VIT_REGISTERS) + (size_t)(t - front) * d
                             : c->cls && t == 0 ? weight(whole, VIT_CLS)
                                                : weight(whole, VIT_DIST);
        for (size_t i = 0; i < d; i++)
            to[i] = (token ? (double)token[i] : to[i]) + (place ? place[i] : 0);
        if (c->norm_pre)
            norm(whole, VIT_PRE_GAMMA, d, to, to);
    }
    free(image);
    free(patch);
    free(table);
}

/* --- a block --- */

VitDirectBlock vit_direct_block(const VitConfig *c, const Weights *w, int layer, const float *z)
{
    size_t tokens = (size_t)vit_tokens(c), inner = (size_t)c->heads * (size_t)c->head_dim;
    VitDirectBlock b = {.c = c,
                        .w = w,
                        .layer = layer,
                        .z = z,
                        .seen = direct_zeros(tokens, (size_t)c->width),
                        .k = direct_zeros(tokens, inner),
                        .v = direct_zeros(tokens, inner)};
    return b;
}

void vit_direct_block_free(VitDirectBlock *b)
{
    free(b->seen);
    free(b->k);
    free(b->v);
    *b = (VitDirectBlock){.c = NULL};
}

/* column · f[0] + row · f[1], with the frequencies of this block's head. */
static double learned_angle(const VitDirectBlock *b, int patch, int head, int pair)
{
    const VitConfig *c = b->c;
    size_t each = (size_t)c->heads * (size_t)(c->head_dim / 2), all = (size_t)c->layers * each;
    const float *f = weight(b, VIT_ROPE_FREQS) + (size_t)b->layer * each + (size_t)(head * (c->head_dim / 2));
    int place[2];
    vit_rope_place(c, patch, place);
    return place[0] * (double)f[pair] + place[1] * (double)f[all + (size_t)pair];
}

/* Every pair of numbers of every head as a point in the plane, rotated by the angle of token t's place. */
static void rope(const VitDirectBlock *block, int t, double *x)
{
    const VitConfig *c = block->c;
    int patch = t - vit_prefix(c), first, second;
    if (c->rope == VIT_ROPE_NONE || patch < 0)
        return;
    for (int h = 0; h < c->heads; h++, x += c->head_dim)
        for (int pair = 0; pair < c->head_dim / 2; pair++) {
            double angle = c->rope == VIT_ROPE_LEARNED ? learned_angle(block, patch, h, pair)
                                                       : vit_rope_angle(c, patch, pair);
            double cosine = dm_cos(angle), sine = dm_sin(angle);
            vit_rope_pair(c, pair, &first, &second);
            double a = x[first], b = x[second];
            x[first] = a * cosine - b * sine;
            x[second] = a * sine + b * cosine;
        }
}

void vit_direct_keys(VitDirectBlock *b, int t)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width, inner = (size_t)c->heads * (size_t)c->head_dim;
    double *seen = b->seen + (size_t)t * d;
    direct_widen(b->z + (size_t)t * d, d, seen);
    if (!c->post_norm && !c->branch_norm)
        norm(b, VIT_LN1_GAMMA, d, seen, seen);
    linear(b, VIT_W_K, VIT_B_K, seen, d, b->k + (size_t)t * inner, inner);
    rope(b, t, b->k + (size_t)t * inner);
    linear(b, VIT_W_V, VIT_B_V, seen, d, b->v + (size_t)t * inner, inner);
}

/* What is added to a score for where the two tokens lie to each other. */
typedef struct Asking {
    const VitDirectBlock *b;
    int token;
} Asking;

static double bias_of(const void *of, size_t head, size_t u)
{
    const Asking *a = of;
    const VitConfig *c = a->b->c;
    VitRole r = c->bias == VIT_BIAS_SHARED ? VIT_SHARED_BIAS_TABLE : VIT_BIAS_TABLE;
    return (double)weight(a->b, r)[head * (size_t)vit_bias_rows(c) + (size_t)vit_bias_row(c, a->token, (int)u)];
}

/* out[d] = W_O · (softmax(q kᵀ · scale + bias) v of all heads) + b_O */
static void attention(const VitDirectBlock *b, int t, double *out)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, inner = (size_t)c->heads * e;
    double *q = direct_zeros(inner, 1), *z = direct_zeros(inner, 1);
    linear(b, VIT_W_Q, VIT_B_Q, b->seen + (size_t)t * d, d, q, inner);
    rope(b, t, q);
    const DirectSeen seen = {(size_t)c->heads, e, (size_t)vit_tokens(c), b->k, b->v, (double)c->scale, 0, NULL};
    direct_attend(&seen, q, c->bias == VIT_BIAS_NONE ? NULL : bias_of, &(Asking){b, t}, z);
    if (c->merged_norm)
        norm(b, VIT_MERGED_GAMMA, inner, z, z);
    linear(b, VIT_W_O, VIT_B_O, z, inner, out, d);
    free(q);
    free(z);
}

/* up: W_UP, which its bias, W_DOWN and that one's bias follow in the table. */
static void mlp(const VitDirectBlock *b, VitRole up, const double *x, double *out)
{
    const VitConfig *c = b->c;
    const bool block = up == VIT_W_UP;
    const DirectMlp p = {.act = c->act,
                         .width = (size_t)c->width,
                         .hidden = (size_t)c->mlp,
                         .up = tensor(b, up),
                         .up_bias = weight(b, (VitRole)(up + 1)),
                         .gate = block ? tensor(b, VIT_W_GATE) : NULL,
                         .gate_bias = block ? weight(b, VIT_B_GATE) : NULL,
                         .gamma = block ? weight(b, VIT_HIDDEN_GAMMA) : NULL,
                         .beta = block ? weight(b, VIT_HIDDEN_BETA) : NULL,
                         .rms = c->rms_norm,
                         .eps = (double)c->eps,
                         .down = tensor(b, (VitRole)(up + 2)),
                         .down_bias = weight(b, (VitRole)(up + 3))};
    direct_mlp(&p, x, 1, out);
}

/* x += what a sub-layer found, times its layer scale. */
static void add_to(const VitDirectBlock *b, double *x, const double *found, VitRole scale)
{
    const float *by = weight(b, scale);
    for (size_t i = 0; i < (size_t)b->c->width; i++)
        x[i] += found[i] * (by ? (double)by[i] : 1);
}

void vit_direct_token(const VitDirectBlock *b, int t, double *out)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width;
    double *x = direct_zeros(d, 1), *found = direct_zeros(d, 1);
    direct_widen(b->z + (size_t)t * d, d, x);
    attention(b, t, found);
    if (c->branch_norm)
        norm(b, VIT_LN1_GAMMA, d, found, found);
    add_to(b, x, found, VIT_ATTN_LS);
    if (c->post_norm) { /* z′ = LN(z + MSA(z)), z = LN(z′ + MLP(z′)) */
        norm(b, VIT_LN1_GAMMA, d, x, x);
        mlp(b, VIT_W_UP, x, found);
        add_to(b, x, found, VIT_MLP_LS);
        norm(b, VIT_LN2_GAMMA, d, x, out);
    } else if (c->branch_norm) { /* z′ = z + LN(MSA(z)), z = z′ + LN(MLP(z′)) */
        mlp(b, VIT_W_UP, x, found);
        norm(b, VIT_LN2_GAMMA, d, found, found);
        add_to(b, x, found, VIT_MLP_LS);
        memcpy(out, x, d * sizeof *x);
    } else { /* z′ = z + MSA(LN(z)), z = z′ + MLP(LN(z′)) */
        norm(b, VIT_LN2_GAMMA, d, x, out);
        mlp(b, VIT_W_UP, out, found);
        add_to(b, x, found, VIT_MLP_LS);
        memcpy(out, x, d * sizeof *x);
    }
    free(x);
    free(found);
}

/* --- the answer --- */

/* The final norm of token t. */
static void last(const VitDirectBlock *whole, const float *z, int t, double *out)
{
    const VitConfig *c = whole->c;
    size_t d = (size_t)c->width;
    direct_widen(z + (size_t)t * d, d, out);
    if (c->final_norm)
        norm(whole, VIT_FINAL_GAMMA, d, out, out);
}

/* The probe's attention over all tokens, and the MLP behind it (vit.c). */
static void pooled(const VitDirectBlock *whole, const double *tokens, double *y)
{
    const VitConfig *c = whole->c;
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, inner = (size_t)c->heads * e, n = (size_t)vit_tokens(c);
    double *probe = direct_zeros(d, 1), *q = direct_zeros(inner, 1), *k = direct_zeros(n, inner),
           *v = direct_zeros(n, inner), *z = direct_zeros(inner, 1), *normed = direct_zeros(d, 1);
    direct_widen(weight(whole, VIT_PROBE), d, probe);
    if (c->bare_probe)
        memcpy(q, probe, d * sizeof *q);
    else
        linear(whole, VIT_POOL_W_Q, VIT_POOL_B_Q, probe, d, q, inner);
    for (size_t t = 0; t < n; t++) {
        linear(whole, VIT_POOL_W_K, VIT_POOL_B_K, tokens + t * d, d, k + t * inner, inner);
        linear(whole, VIT_POOL_W_V, VIT_POOL_B_V, tokens + t * d, d, v + t * inner, inner);
    }
    const DirectSeen seen = {(size_t)c->heads, e, n, k, v, (double)c->scale, 0, NULL};
    direct_attend(&seen, q, NULL, NULL, z);
    linear(whole, VIT_POOL_W_O, VIT_POOL_B_O, z, inner, probe, d);
    if (c->bare_probe) {
        memcpy(y, probe, d * sizeof *y);
    } else {
        norm(whole, VIT_POOL_GAMMA, d, probe, normed);
        mlp(whole, VIT_POOL_W_UP, normed, y);
        for (size_t i = 0; i < d; i++)
            y[i] += probe[i];
    }
    double *const all[] = {probe, q, k, v, z, normed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* What is read out of the tokens, y[f] (room for 2d). */
static void read_out(const VitDirectBlock *whole, const float *z, double *y)
{
    const VitConfig *c = whole->c;
    size_t d = (size_t)c->width, tokens = (size_t)vit_tokens(c), prefix = (size_t)vit_prefix(c);
    double *all = direct_zeros(tokens, d);
    for (size_t t = 0; t < tokens; t++)
        last(whole, z, (int)t, all + t * d);
    bool mean = c->pool == VIT_POOL_MEAN || c->pool == VIT_POOL_BOTH;
    double *to = c->pool == VIT_POOL_BOTH ? y + d : y;
    if (c->pool == VIT_POOL_ATTENTION)
        pooled(whole, all, y);
    else if (c->pool != VIT_POOL_MEAN)
        memcpy(y, all, d * sizeof *y);
    for (size_t i = 0; mean && i < d; i++) {
        to[i] = 0;
        for (size_t t = prefix; t < tokens; t++)
            to[i] += all[t * d + i] / vit_patches(c);
    }
    if (c->fc_norm)
        norm(whole, VIT_FC_GAMMA, d, y, y);
    free(all);
}

void vit_direct_embedding(const VitConfig *c, const Weights *w, const float *z, double *out)
{
    const VitDirectBlock *whole = &(VitDirectBlock){.c = c, .w = w};
    size_t wide = (size_t)c->width * (c->pool == VIT_POOL_BOTH ? 2 : 1);
    double *y = direct_zeros(wide, 1);
    read_out(whole, z, y);
    if (c->project)
        direct_linear(&(WeightTensor){.data = weight(whole, VIT_PROJECT)}, NULL, y, 1, wide, out, (size_t)c->project);
    else
        memcpy(out, y, wide * sizeof *y);
    free(y);
}

void vit_direct_answer(const VitConfig *c, const Weights *w, const float *z, double *logits, double *probs)
{
    const VitDirectBlock *whole = &(VitDirectBlock){.c = c, .w = w};
    size_t d = (size_t)c->width, classes = (size_t)c->classes;
    size_t wide = c->pool == VIT_POOL_BOTH ? 2 * d : d;
    double *y = direct_zeros(wide, 1), *x = direct_zeros(d, 1), *second = direct_zeros(classes, 1);
    if (!classes || c->pool == VIT_POOL_NONE)
        classes = 0;
    read_out(whole, z, y);
    if (classes)
        linear(whole, VIT_HEAD_W, VIT_HEAD_B, y, wide, logits, classes);
    if (classes && c->pool == VIT_POOL_CLS_DIST) {
        last(whole, z, 1, x);
        linear(whole, VIT_HEAD_DIST_W, VIT_HEAD_DIST_B, x, d, second, classes);
        for (size_t o = 0; o < classes; o++)
            logits[o] = (logits[o] + second[o]) / 2;
    }
    if (classes) {
        memcpy(probs, logits, classes * sizeof *probs);
        direct_softmax(probs, classes);
    }
    free(y);
    free(x);
    free(second);
}
