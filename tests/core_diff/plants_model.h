/* Mistakes in weights and configuration. */
#ifndef VITRINE_TESTS_CORE_DIFF_PLANTS_MODEL_H
#define VITRINE_TESTS_CORE_DIFF_PLANTS_MODEL_H
#include "tests/core_diff/planting.h"

/* --- the configuration --- */

static void scale_set(Model *m, const Arg *a)
{
    m->vit.scale = (float)a->x;
}
static void scale_times(Model *m, const Arg *a)
{
    m->vit.scale *= (float)a->x;
}
static void scale_by_width(Model *m, const Arg *a)
{
    m->vit.scale = vit_scale(a->n ? m->vit.width : m->vit.head_dim * m->vit.head_dim);
}
static void scale_inverse(Model *m, const Arg *a)
{
    (void)a;
    m->vit.scale = (float)sqrt(m->vit.head_dim);
}
/* Twice as many of half the width, or half as many. */
static void other_heads(Model *m, const Arg *a)
{
    m->vit.heads = a->n ? m->vit.heads / 2 : m->vit.heads * 2;
    m->vit.head_dim = a->n ? m->vit.head_dim * 2 : m->vit.head_dim / 2;
    m->vit.scale = vit_scale(m->vit.head_dim);
}
static void eps_set(Model *m, const Arg *a)
{
    m->vit.eps = (float)a->x;
}
static void activation(Model *m, const Arg *a)
{
    m->vit.act = (MapFn)a->n;
}
static void rope_pairs(Model *m, const Arg *a)
{
    (void)a;
    m->vit.rope_half = !m->vit.rope_half;
}
static void rope_axis(Model *m, const Arg *a)
{
    (void)a;
    m->vit.rope_cols_first = !m->vit.rope_cols_first;
}
static void rope_base(Model *m, const Arg *a)
{
    m->vit.rope_base = (float)a->x;
}
static void rope_offset(Model *m, const Arg *a)
{
    m->vit.rope_offset += (float)a->x;
}
static void rope_reference(Model *m, const Arg *a)
{
    (void)a;
    m->vit.rope_ref_h = m->vit.rope_ref_w = 0;
}
static void rope_centres(Model *m, const Arg *a)
{
    (void)a;
    m->vit.rope = VIT_ROPE_CENTRES;
}

/* --- weights: a->n is the role --- */

static void role_zero(Model *m, const Arg *a)
{
    for (int l = 0; l < m->vit.layers; l++)
        if (in_block(a, l))
            memset(weight_of(m, (VitRole)a->n, l), 0, vit_role_cells(&m->vit, (VitRole)a->n) * sizeof(float));
}
static void no_qkv_bias(Model *m, const Arg *a)
{
    role_zero(m, &(Arg){.block = a->block, .n = VIT_B_Q});
    role_zero(m, &(Arg){.block = a->block, .n = VIT_B_K});
    role_zero(m, &(Arg){.block = a->block, .n = VIT_B_V});
}
static void norms_bare(Model *m, const Arg *a)
{
    static const VitRole BETA[] = {VIT_LN1_BETA, VIT_LN2_BETA}, GAMMA[] = {VIT_LN1_GAMMA, VIT_LN2_GAMMA};
    for (int l = 0; l < m->vit.layers; l++)
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < (size_t)m->vit.width; i++)
                weight_of(m, a->n ? GAMMA[k] : BETA[k], l)[i] = a->n ? 1 : 0;
    for (size_t i = 0; i < (size_t)m->vit.width; i++)
        weight_of(m, a->n ? VIT_FINAL_GAMMA : VIT_FINAL_BETA, 0)[i] = a->n ? 1 : 0;
}
static void role_transposed(Model *m, const Arg *a)
{
    size_t d = (size_t)m->vit.width;
    assert_int_equal(vit_role_cells(&m->vit, (VitRole)a->n), d * d);
    for (int l = 0; l < m->vit.layers; l++)
        for (size_t i = 0; i < d && in_block(a, l); i++)
            for (size_t j = 0; j < i; j++) {
                float *w = weight_of(m, (VitRole)a->n, l), x = w[i * d + j];
                w[i * d + j] = w[j * d + i];
                w[j * d + i] = x;
            }
}
static void swap_cells(float *a, float *b, size_t cells)
{
    for (size_t i = 0; i < cells; i++) {
        float x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}
static const VitRole BLOCK_ROLES[] = {VIT_LN1_GAMMA, VIT_LN1_BETA, VIT_LN2_GAMMA, VIT_LN2_BETA, VIT_W_Q, VIT_W_K,
                                      VIT_W_V,       VIT_W_O,      VIT_W_UP,      VIT_W_DOWN,   VIT_B_Q, VIT_B_K,
                                      VIT_B_V,       VIT_B_O,      VIT_B_UP,      VIT_B_DOWN};
enum { ROLES = sizeof BLOCK_ROLES / sizeof *BLOCK_ROLES };
/* n and m are blocks from here on */
static void blocks_swapped(Model *m, const Arg *a)
{
    for (int i = 0; i < ROLES; i++)
        swap_cells(weight_of(m, BLOCK_ROLES[i], a->n), weight_of(m, BLOCK_ROLES[i], a->m),
                   vit_role_cells(&m->vit, BLOCK_ROLES[i]));
}
static void block_twice(Model *m, const Arg *a)
{
    for (int i = 0; i < ROLES; i++)
        memcpy(weight_of(m, BLOCK_ROLES[i], a->m), weight_of(m, BLOCK_ROLES[i], a->n),
               vit_role_cells(&m->vit, BLOCK_ROLES[i]) * sizeof(float));
}
/* Role m of block 1 has been loaded into block a->block, whose own it should be. */
static void role_twice(Model *m, const Arg *a)
{
    int from = a->block ? 0 : 1;
    memcpy(weight_of(m, (VitRole)a->n, a->block), weight_of(m, (VitRole)a->n, from),
           vit_role_cells(&m->vit, (VitRole)a->n) * sizeof(float));
}
static void norm_twice(Model *m, const Arg *a)
{
    role_twice(m, &(Arg){.block = a->block, .n = a->n ? VIT_LN2_GAMMA : VIT_LN1_GAMMA});
    role_twice(m, &(Arg){.block = a->block, .n = a->n ? VIT_LN2_BETA : VIT_LN1_BETA});
}
/* In a block, q (0), k or v has another's weights. */
static void within_twice(Model *m, const Arg *a)
{
    static const VitRole W[] = {VIT_W_Q, VIT_W_K, VIT_W_V}, B[] = {VIT_B_Q, VIT_B_K, VIT_B_V};
    memcpy(weight_of(m, W[a->n], a->block), weight_of(m, W[a->m], a->block),
           vit_role_cells(&m->vit, VIT_W_Q) * sizeof(float));
    memcpy(weight_of(m, B[a->n], a->block), weight_of(m, B[a->m], a->block),
           vit_role_cells(&m->vit, VIT_B_Q) * sizeof(float));
}
static void q_k_exchanged(Model *m, const Arg *a)
{
    for (int l = 0; l < m->vit.layers; l++)
        if (in_block(a, l)) {
            swap_cells(weight_of(m, VIT_W_Q, l), weight_of(m, VIT_W_K, l), vit_role_cells(&m->vit, VIT_W_Q));
            swap_cells(weight_of(m, VIT_B_Q, l), weight_of(m, VIT_B_K, l), vit_role_cells(&m->vit, VIT_B_Q));
        }
}
/* v and q (n = 0) or k (1). */
static void v_exchanged(Model *m, const Arg *a)
{
    for (int l = 0; l < m->vit.layers; l++)
        if (in_block(a, l)) {
            swap_cells(weight_of(m, a->n ? VIT_W_K : VIT_W_Q, l), weight_of(m, VIT_W_V, l),
                       vit_role_cells(&m->vit, VIT_W_Q));
            swap_cells(weight_of(m, a->n ? VIT_B_K : VIT_B_Q, l), weight_of(m, VIT_B_V, l),
                       vit_role_cells(&m->vit, VIT_B_Q));
        }
}
/* q takes k's weights, k takes v's, v takes q's: no exchange of two. */
static void qkv_rotated(Model *m, const Arg *a)
{
    q_k_exchanged(m, a);
    for (int l = 0; l < m->vit.layers; l++) {
        swap_cells(weight_of(m, VIT_W_K, l), weight_of(m, VIT_W_V, l), vit_role_cells(&m->vit, VIT_W_K));
        swap_cells(weight_of(m, VIT_B_K, l), weight_of(m, VIT_B_V, l), vit_role_cells(&m->vit, VIT_B_K));
    }
}
static void interleaved(Model *m, const Arg *a)
{
    static const VitRole QKV[] = {VIT_W_Q, VIT_W_K, VIT_W_V, VIT_B_Q, VIT_B_K, VIT_B_V};
    size_t heads = (size_t)m->vit.heads, width = (size_t)m->vit.head_dim, all = heads * width;
    for (int l = 0; l < m->vit.layers; l++)
        for (int k = 0; k < 6 && in_block(a, l); k++) {
            size_t cells = vit_role_cells(&m->vit, QKV[k]), inner = cells / all;
            float *w = weight_of(m, QKV[k], l), *copy = malloc(cells * sizeof *copy);
            memcpy(copy, w, cells * sizeof *copy);
            for (size_t h = 0; h < heads; h++)
                for (size_t e = 0; e < width; e++)
                    memcpy(w + (h * width + e) * inner, copy + (e * heads + h) * inner, inner * sizeof *w);
            free(copy);
        }
}
/* Row m of role n is noise. */
static void row_corrupted(Model *m, const Arg *a)
{
    size_t shape[4], rows;
    int rank = vit_role_shape(&m->vit, (VitRole)a->n, shape);
    rows = vit_role_axes((VitRole)a->n)[0] == 'h' ? shape[0] * shape[1] : shape[0];
    assert_true(rank > 1);
    size_t row = vit_role_cells(&m->vit, (VitRole)a->n) / rows;
    uint32_t state = 7;
    float *w = weight_of(m, (VitRole)a->n, a->block < 0 ? 0 : a->block) + (size_t)a->m * row;
    for (size_t i = 0; i < row; i++)
        w[i] += (float)(noise(&state) - 0.5);
}
static void one_weight(Model *m, const Arg *a)
{
    weight_of(m, (VitRole)a->n, a->block)[a->m] += (float)a->x;
}
static void weights_noisy(Model *m, const Arg *a)
{
    uint32_t state = 3;
    for (int l = 0; l < m->vit.layers; l++)
        for (size_t i = 0; i < vit_role_cells(&m->vit, (VitRole)a->n) && in_block(a, l); i++)
            weight_of(m, (VitRole)a->n, l)[i] *= (float)(1 + a->x * (noise(&state) - 0.5));
}
static bool present(const Model *m, VitRole r, int layer)
{
    return vit_has(&m->vit, r) && vit_weight(&m->weights, r, layer)->data;
}
static void weights_rounded(Model *m, const Arg *a)
{
    for (int i = 0; i < VIT_ROLES; i++)
        for (int l = 0; l < (vit_role_in_block((VitRole)i) ? m->vit.layers : 1); l++)
            if (present(m, (VitRole)i, l))
                precision_round((Precision)a->n, weight_of(m, (VitRole)i, l), weight_of(m, (VitRole)i, l),
                                vit_role_cells(&m->vit, (VitRole)i));
}
/* To a->m levels on either side of 0, one scale a tensor (n = 0) or one a row of outputs. */
static void weights_quantised(Model *m, const Arg *a)
{
    static const VitRole LINEAR[] = {VIT_W_Q, VIT_W_K, VIT_W_V, VIT_W_O, VIT_W_UP, VIT_W_DOWN};
    size_t d = (size_t)m->vit.width, all = (size_t)m->vit.heads * (size_t)m->vit.head_dim, hidden = (size_t)m->vit.mlp;
    const size_t inputs[] = {d, d, d, all, d, hidden};
    for (int l = 0; l < m->vit.layers; l++)
        for (int k = 0; k < 6; k++) {
            size_t cells = vit_role_cells(&m->vit, LINEAR[k]), row = a->n ? inputs[k] : cells;
            float *w = weight_of(m, LINEAR[k], l);
            for (size_t r = 0; r < cells / row; r++) {
                float most = 0;
                for (size_t i = 0; i < row; i++)
                    most = fmaxf(most, fabsf(w[r * row + i]));
                float step = most / (float)a->m;
                for (size_t i = 0; i < row; i++)
                    w[r * row + i] = (float)nearbyint((double)(w[r * row + i] / step)) * step;
            }
        }
}

/* --- the table of positions --- */

typedef enum Moved { TWICE, ABSENT, NEXT, BEFORE, KEPT, BARE, ONLY_SOME } Moved;
static void positions(Model *m, const Arg *a)
{
    size_t d = (size_t)m->vit.width, cells = vit_role_cells(&m->vit, VIT_POS), rows = cells / d;
    float *pos = weight_of(m, VIT_POS, 0), *old = malloc(cells * sizeof *old);
    memcpy(old, pos, cells * sizeof *old);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < d; i++) {
            size_t before = (r + rows - 1) % rows, next = (r + 1) % rows;
            float *x = &pos[r * d + i];
            switch ((Moved)a->n) {
            case TWICE: *x *= 2; break;
            case ABSENT: *x = 0; break;
            case NEXT: *x = old[next * d + i]; break;
            case BEFORE: *x = old[before * d + i]; break;
            case KEPT: *x = old[(r ? r - 1 : 0) * d + i]; break;
            case BARE: *x = r ? old[(r - 1) * d + i] : 0; break;
            case ONLY_SOME: *x = r > rows / 2 ? old[r * d + i] : 0; break;
            }
        }
    free(old);
}
#endif
