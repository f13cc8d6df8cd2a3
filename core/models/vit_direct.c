#include "core/models/vit_direct.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/kernels/map_exact.h"

static const float *weight(const Weights *w, VitRole r, int layer)
{
    return vit_weight(w, r, layer)->data;
}

static double *doubles(size_t a, size_t b)
{
    return xcalloc(size_mul(a, b) + 1, sizeof(double));
}

/* y[o] = Σ_i x[i] · W[o,i] + b[o]; b may be NULL. */
static void linear(const float *w, const float *b, const double *x, size_t inputs, double *y, size_t outputs)
{
    for (size_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (size_t i = 0; i < inputs; i++)
            sum += x[i] * (double)w[o * inputs + i];
        y[o] = sum + (b ? (double)b[o] : 0);
    }
}

/* The model's norm of n numbers; gamma's role is followed by beta's. An RMSNorm takes no mean off and adds nothing. */
static void norm_of(const VitConfig *c, const Weights *w, VitRole role, int layer, int n, const double *x, double *y)
{
    const float *gamma = weight(w, role, layer), *beta = c->rms_norm ? NULL : weight(w, (VitRole)(role + 1), layer);
    double mean = 0, var = 0;
    for (int i = 0; i < n && !c->rms_norm; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        var += (x[i] - mean) * (x[i] - mean) / n;
    double rstd = map_exact(MAP_RSQRT, var + (double)c->eps);
    for (int i = 0; i < n; i++)
        y[i] = (x[i] - mean) * rstd * (double)gamma[i] + (beta ? (double)beta[i] : 0);
}

static void norm(const VitConfig *c, const Weights *w, VitRole role, int layer, const double *x, double *y)
{
    norm_of(c, w, role, layer, c->width, x, y);
}

/* The same in place. */
static void norm_here(const VitConfig *c, const Weights *w, VitRole role, int layer, double *x)
{
    double *out = doubles((size_t)c->width, 1);
    norm(c, w, role, layer, x, out);
    memcpy(x, out, (size_t)c->width * sizeof *x);
    free(out);
}

static void softmax(double *x, size_t n)
{
    double most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++)
        sum += x[i] = map_exact(MAP_EXP, x[i] - most);
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
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
static double *places(const VitConfig *c, const Weights *w)
{
    size_t shape[4], d = (size_t)c->width, h = (size_t)(c->image_h / c->patch_h), k = (size_t)(c->image_w / c->patch_w);
    if (c->pos == VIT_POS_NONE)
        return NULL;
    const float *table = weight(w, VIT_POS, 0);
    vit_role_shape(c, VIT_POS, shape);
    size_t old_h = vit_resizes(c) ? (size_t)c->table_h : h, old_w = vit_resizes(c) ? (size_t)c->table_w : k;
    size_t front = shape[0] - old_h * old_w;
    double *out = doubles(front + h * k, d), *down = doubles(h, old_h), *across = doubles(k, old_w);
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
    size_t d = (size_t)c->width, values = (size_t)c->patch_h * (size_t)c->patch_w * (size_t)c->channels;
    double *image = doubles((size_t)c->image_h * (size_t)c->image_w, (size_t)c->channels), *patch = doubles(values, 1);
    double *table = places(c, w);
    int prefix = vit_prefix(c), front = prefix - c->registers;
    standardise(c, input, image);
    for (int t = 0; t < vit_tokens(c); t++) {
        double *to = z + (size_t)t * d;
        int row = position_row(c, t);
        const double *place = row < 0 ? NULL : table + (size_t)row * d;
        if (t >= prefix) {
            cut_patch(c, image, (size_t)(t - prefix), patch);
            linear(weight(w, VIT_PATCH_W, 0), c->patch_bias ? weight(w, VIT_PATCH_B, 0) : NULL, patch, values, to, d);
            if (c->patch_norm)
                norm_here(c, w, VIT_PATCH_GAMMA, 0, to);
        }
        const float *token = t >= prefix        ? NULL
                             : t >= front       ? weight(w, VIT_REGISTERS, 0) + (size_t)(t - front) * d
                             : c->cls && t == 0 ? weight(w, VIT_CLS, 0)
                                                : weight(w, VIT_DIST, 0);
        for (size_t i = 0; i < d; i++)
            to[i] = (token ? (double)token[i] : to[i]) + (place ? place[i] : 0);
        if (c->norm_pre)
            norm_here(c, w, VIT_PRE_GAMMA, 0, to);
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
                        .seen = doubles(tokens, (size_t)c->width),
                        .k = doubles(tokens, inner),
                        .v = doubles(tokens, inner)};
    return b;
}

void vit_direct_block_free(VitDirectBlock *b)
{
    free(b->seen);
    free(b->k);
    free(b->v);
    *b = (VitDirectBlock){.c = NULL};
}

static const float *bias(const VitDirectBlock *b, VitRole r)
{
    return vit_has(b->c, r) ? weight(b->w, r, b->layer) : NULL;
}

/* column · f[0] + row · f[1], with the frequencies of this block's head. */
static double learned_angle(const VitDirectBlock *b, int patch, int head, int pair)
{
    const VitConfig *c = b->c;
    size_t each = (size_t)c->heads * (size_t)(c->head_dim / 2), all = (size_t)c->layers * each;
    const float *f = weight(b->w, VIT_ROPE_FREQS, 0) + (size_t)b->layer * each + (size_t)(head * (c->head_dim / 2));
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
    double *seen = b->seen + (size_t)t * d, *x = doubles(d, 1);
    for (size_t i = 0; i < d; i++)
        x[i] = (double)b->z[(size_t)t * d + i];
    if (c->post_norm || c->branch_norm)
        memcpy(seen, x, d * sizeof *seen);
    else
        norm(c, b->w, VIT_LN1_GAMMA, b->layer, x, seen);
    linear(weight(b->w, VIT_W_K, b->layer), bias(b, VIT_B_K), seen, d, b->k + (size_t)t * inner, inner);
    rope(b, t, b->k + (size_t)t * inner);
    linear(weight(b->w, VIT_W_V, b->layer), bias(b, VIT_B_V), seen, d, b->v + (size_t)t * inner, inner);
    free(x);
}

/* What is added to a score for where the two tokens lie to each other. */
static double bias_of(const VitDirectBlock *b, size_t h, int t, int u)
{
    VitRole r = b->c->bias == VIT_BIAS_SHARED ? VIT_SHARED_BIAS_TABLE : VIT_BIAS_TABLE;
    if (b->c->bias == VIT_BIAS_NONE)
        return 0;
    return (double)weight(b->w, r, b->layer)[h * (size_t)vit_bias_rows(b->c) + (size_t)vit_bias_row(b->c, t, u)];
}

/* out[d] = W_O · (softmax(q kᵀ · scale + bias) v of all heads) + b_O */
static void attention(const VitDirectBlock *b, int t, double *out)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, inner = (size_t)c->heads * e, tokens = (size_t)vit_tokens(c);
    double *q = doubles(inner, 1), *z = doubles(inner, 1), *row = doubles(tokens, 1);
    linear(weight(b->w, VIT_W_Q, b->layer), bias(b, VIT_B_Q), b->seen + (size_t)t * d, d, q, inner);
    rope(b, t, q);
    for (size_t h = 0; h < (size_t)c->heads; h++) {
        for (size_t u = 0; u < tokens; u++) {
            row[u] = 0;
            for (size_t i = 0; i < e; i++)
                row[u] += q[h * e + i] * b->k[u * inner + h * e + i];
            row[u] = row[u] * (double)c->scale + bias_of(b, h, t, (int)u);
        }
        softmax(row, tokens);
        for (size_t u = 0; u < tokens; u++)
            for (size_t i = 0; i < e; i++)
                z[h * e + i] += row[u] * b->v[u * inner + h * e + i];
    }
    if (c->merged_norm) {
        norm_of(c, b->w, VIT_MERGED_GAMMA, b->layer, (int)inner, z, q);
        memcpy(z, q, inner * sizeof *z);
    }
    linear(weight(b->w, VIT_W_O, b->layer), bias(b, VIT_B_O), z, inner, out, d);
    free(q);
    free(z);
    free(row);
}

static void mlp(const VitDirectBlock *b, const double *x, double *out)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width, m = (size_t)c->mlp;
    double *hidden = doubles(m, 1), *gate = doubles(m, 1);
    linear(weight(b->w, VIT_W_UP, b->layer), bias(b, VIT_B_UP), x, d, hidden, m);
    if (c->gated)
        linear(weight(b->w, VIT_W_GATE, b->layer), bias(b, VIT_B_GATE), x, d, gate, m);
    for (size_t i = 0; i < m; i++)
        hidden[i] = c->gated ? hidden[i] * map_exact(c->act, gate[i]) : map_exact(c->act, hidden[i]);
    if (c->hidden_norm) {
        norm_of(c, b->w, VIT_HIDDEN_GAMMA, b->layer, c->mlp, hidden, gate);
        memcpy(hidden, gate, m * sizeof *hidden);
    }
    linear(weight(b->w, VIT_W_DOWN, b->layer), bias(b, VIT_B_DOWN), hidden, m, out, d);
    free(hidden);
    free(gate);
}

/* x += what a sub-layer found, times its layer scale. */
static void add_to(const VitDirectBlock *b, double *x, const double *found, VitRole scale)
{
    const float *by = b->c->layer_scale ? weight(b->w, scale, b->layer) : NULL;
    for (size_t i = 0; i < (size_t)b->c->width; i++)
        x[i] += found[i] * (by ? (double)by[i] : 1);
}

void vit_direct_token(const VitDirectBlock *b, int t, double *out)
{
    const VitConfig *c = b->c;
    size_t d = (size_t)c->width;
    double *x = doubles(d, 1), *found = doubles(d, 1);
    for (size_t i = 0; i < d; i++)
        x[i] = (double)b->z[(size_t)t * d + i];
    attention(b, t, found);
    if (c->branch_norm)
        norm_here(c, b->w, VIT_LN1_GAMMA, b->layer, found);
    add_to(b, x, found, VIT_ATTN_LS);
    if (c->post_norm) { /* z′ = LN(z + MSA(z)), z = LN(z′ + MLP(z′)) */
        norm_here(c, b->w, VIT_LN1_GAMMA, b->layer, x);
        mlp(b, x, found);
        add_to(b, x, found, VIT_MLP_LS);
        norm(c, b->w, VIT_LN2_GAMMA, b->layer, x, out);
    } else if (c->branch_norm) { /* z′ = z + LN(MSA(z)), z = z′ + LN(MLP(z′)) */
        mlp(b, x, found);
        norm_here(c, b->w, VIT_LN2_GAMMA, b->layer, found);
        add_to(b, x, found, VIT_MLP_LS);
        memcpy(out, x, d * sizeof *x);
    } else { /* z′ = z + MSA(LN(z)), z = z′ + MLP(LN(z′)) */
        norm(c, b->w, VIT_LN2_GAMMA, b->layer, x, out);
        mlp(b, out, found);
        add_to(b, x, found, VIT_MLP_LS);
        memcpy(out, x, d * sizeof *x);
    }
    free(x);
    free(found);
}

/* --- the answer --- */

/* The final norm of token t. */
static void last(const VitConfig *c, const Weights *w, const float *z, int t, double *out)
{
    size_t d = (size_t)c->width;
    double *x = doubles(d, 1);
    for (size_t i = 0; i < d; i++)
        x[i] = (double)z[(size_t)t * d + i];
    if (c->final_norm)
        norm(c, w, VIT_FINAL_GAMMA, 0, x, out);
    else
        memcpy(out, x, d * sizeof *x);
    free(x);
}

/* The probe's attention over all tokens, and the MLP behind it (vit_answer.c). */
static void pooled(const VitConfig *c, const Weights *w, const double *tokens, double *y)
{
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, inner = (size_t)c->heads * e, n = (size_t)vit_tokens(c),
           m = (size_t)c->mlp;
    double *probe = doubles(d, 1), *q = doubles(inner, 1), *k = doubles(n, inner), *v = doubles(n, inner),
           *row = doubles(n, 1), *z = doubles(inner, 1), *normed = doubles(d, 1), *hidden = doubles(m, 1);
    for (size_t i = 0; i < d; i++)
        probe[i] = (double)weight(w, VIT_PROBE, 0)[i];
    if (c->bare_probe)
        memcpy(q, probe, d * sizeof *q);
    else
        linear(weight(w, VIT_POOL_W_Q, 0), weight(w, VIT_POOL_B_Q, 0), probe, d, q, inner);
    const float *b_k = vit_has(c, VIT_POOL_B_K) ? weight(w, VIT_POOL_B_K, 0) : NULL,
                *b_v = vit_has(c, VIT_POOL_B_V) ? weight(w, VIT_POOL_B_V, 0) : NULL;
    for (size_t t = 0; t < n; t++) {
        linear(weight(w, VIT_POOL_W_K, 0), b_k, tokens + t * d, d, k + t * inner, inner);
        linear(weight(w, VIT_POOL_W_V, 0), b_v, tokens + t * d, d, v + t * inner, inner);
    }
    for (size_t h = 0; h < (size_t)c->heads; h++) {
        for (size_t t = 0; t < n; t++) {
            row[t] = 0;
            for (size_t i = 0; i < e; i++)
                row[t] += q[h * e + i] * k[t * inner + h * e + i] * (double)c->scale;
        }
        softmax(row, n);
        for (size_t t = 0; t < n; t++)
            for (size_t i = 0; i < e; i++)
                z[h * e + i] += row[t] * v[t * inner + h * e + i];
    }
    linear(weight(w, VIT_POOL_W_O, 0), weight(w, VIT_POOL_B_O, 0), z, inner, probe, d);
    if (c->bare_probe) {
        memcpy(y, probe, d * sizeof *y);
    } else {
        norm(c, w, VIT_POOL_GAMMA, 0, probe, normed);
        linear(weight(w, VIT_POOL_W_UP, 0), weight(w, VIT_POOL_B_UP, 0), normed, d, hidden, m);
        for (size_t i = 0; i < m; i++)
            hidden[i] = map_exact(c->act, hidden[i]);
        linear(weight(w, VIT_POOL_W_DOWN, 0), weight(w, VIT_POOL_B_DOWN, 0), hidden, m, y, d);
        for (size_t i = 0; i < d; i++)
            y[i] += probe[i];
    }
    double *const all[] = {probe, q, k, v, row, z, normed, hidden};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* What is read out of the tokens, y[f] (room for 2d). */
static void read_out(const VitConfig *c, const Weights *w, const float *z, double *y)
{
    size_t d = (size_t)c->width, tokens = (size_t)vit_tokens(c), prefix = (size_t)vit_prefix(c);
    double *all = doubles(tokens, d);
    for (size_t t = 0; t < tokens; t++)
        last(c, w, z, (int)t, all + t * d);
    bool mean = c->pool == VIT_POOL_MEAN || c->pool == VIT_POOL_BOTH;
    double *to = c->pool == VIT_POOL_BOTH ? y + d : y;
    if (c->pool == VIT_POOL_ATTENTION)
        pooled(c, w, all, y);
    else if (c->pool != VIT_POOL_MEAN)
        memcpy(y, all, d * sizeof *y);
    for (size_t i = 0; mean && i < d; i++) {
        to[i] = 0;
        for (size_t t = prefix; t < tokens; t++)
            to[i] += all[t * d + i] / vit_patches(c);
    }
    if (c->fc_norm)
        norm_here(c, w, VIT_FC_GAMMA, 0, y);
    free(all);
}

void vit_direct_embedding(const VitConfig *c, const Weights *w, const float *z, double *out)
{
    size_t wide = (size_t)c->width * (c->pool == VIT_POOL_BOTH ? 2 : 1);
    double *y = doubles(wide, 1);
    read_out(c, w, z, y);
    if (c->project)
        linear(weight(w, VIT_PROJECT, 0), NULL, y, wide, out, (size_t)c->project);
    else
        memcpy(out, y, wide * sizeof *y);
    free(y);
}

void vit_direct_answer(const VitConfig *c, const Weights *w, const float *z, double *logits, double *probs)
{
    size_t d = (size_t)c->width, classes = (size_t)c->classes;
    size_t wide = c->pool == VIT_POOL_BOTH ? 2 * d : d;
    double *y = doubles(wide, 1), *x = doubles(d, 1), *second = doubles(classes, 1);
    if (!classes || c->pool == VIT_POOL_NONE)
        classes = 0;
    read_out(c, w, z, y);
    if (classes)
        linear(weight(w, VIT_HEAD_W, 0), c->head_bias ? weight(w, VIT_HEAD_B, 0) : NULL, y, wide, logits, classes);
    if (classes && c->pool == VIT_POOL_CLS_DIST) {
        last(c, w, z, 1, x);
        linear(weight(w, VIT_HEAD_DIST_W, 0), c->head_bias ? weight(w, VIT_HEAD_DIST_B, 0) : NULL, x, d, second,
               classes);
        for (size_t o = 0; o < classes; o++)
            logits[o] = (logits[o] + second[o]) / 2;
    }
    if (classes) {
        memcpy(probs, logits, classes * sizeof *probs);
        softmax(probs, classes);
    }
    free(y);
    free(x);
    free(second);
}
