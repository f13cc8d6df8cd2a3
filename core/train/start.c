#include "core/train/start.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"

typedef enum Start { ZERO, ONE, TOKEN, PATCH, POSITION, QKV, OUT, BALANCED } Start;

static Start start_of(VitRole r)
{
    switch (r) {
    case VIT_PATCH_W: return PATCH;
    case VIT_CLS:
    case VIT_DIST:
    case VIT_REGISTERS:
    case VIT_MASK_TOKEN: return TOKEN;
    case VIT_POS: return POSITION;
    case VIT_W_Q:
    case VIT_W_K:
    case VIT_W_V: return QKV;
    case VIT_W_O: return OUT;
    case VIT_W_UP:
    case VIT_W_DOWN:
    case VIT_HEAD_W:
    case VIT_HEAD_DIST_W:
    case VIT_GUESS_W: return BALANCED;
    case VIT_PRE_GAMMA:
    case VIT_LN1_GAMMA:
    case VIT_LN2_GAMMA:
    case VIT_FINAL_GAMMA:
    case VIT_FC_GAMMA:
    case VIT_ATTN_LS:
    case VIT_MLP_LS: return ONE;
    default: return ZERO;
    }
}

bool start_decays(VitRole r)
{
    return start_of(r) >= PATCH;
}

size_t start_rows(const WeightPlace *w)
{
    switch ((VitRole)w->role) {
    case VIT_W_Q:
    case VIT_W_K:
    case VIT_W_V: return w->cells / w->shape[w->rank - 1];
    case VIT_W_O:
    case VIT_W_UP:
    case VIT_W_GATE:
    case VIT_W_DOWN: return w->shape[0];
    default: return 0;
    }
}

/* Numbers that one output of the weight is summed from, and how many outputs there are. */
static double inputs_of(const VitConfig *c, VitRole r)
{
    switch (r) {
    case VIT_W_DOWN: return c->mlp;
    case VIT_W_O: return (double)c->heads * c->head_dim;
    default: return c->width;
    }
}

static double deviation(const VitConfig *c, VitRole r)
{
    double inputs = inputs_of(c, r);
    switch (start_of(r)) {
    case TOKEN:
    case PATCH:
    case POSITION: return 0.02;
    case QKV: return 1 / dm_sqrt(2 * inputs);
    case OUT: return 1 / dm_sqrt(inputs);
    case BALANCED: return dm_sqrt(2 / (inputs + (double)vit_role_cells(c, r) / inputs));
    default: return 0;
    }
}

static void fill(const VitConfig *c, const WeightPlace *w, uint64_t seed)
{
    Rng rng = rng_seed(seed, w->stream); /* a stream per weight */
    Start s = start_of((VitRole)w->role);
    float spread = (float)deviation(c, (VitRole)w->role);
    for (size_t i = 0; i < w->cells; i++)
        w->data[i] = s == ZERO ? 0.0f : s == ONE ? 1.0f : spread * rng_normal(&rng);
    w->at->origin = "trained here";
}

/* to = share · with · factor + √(1 − share²) · to: as much correlated as the share says, its variance kept. */
static void lean(float *to, const float *with, size_t n, double share, double factor)
{
    const float own = (float)dm_sqrt(1 - share * share), other = (float)(share * factor);
    for (size_t i = 0; i < n; i++)
        to[i] = own * to[i] + other * with[i];
}

static void mimic(const VitConfig *c, const WeightPlace *part, double share)
{
    const WeightPlace *q = &part[0], *v = &part[2], *o = &part[3];
    size_t heads = (size_t)c->heads * (size_t)c->head_dim, width = (size_t)c->width;
    float *turned = xfloats(v->cells);
    for (size_t h = 0; h < heads; h++)
        for (size_t d = 0; d < width; d++)
            turned[d * heads + h] = v->data[h * width + d];
    lean(part[1].data, q->data, q->cells, share, 1);
    lean(o->data, turned, o->cells, share, -deviation(c, VIT_W_O) / deviation(c, VIT_W_V));
    free(turned);
}

void start_mimic(Model *m, double share)
{
    static const VitRole roles[] = {VIT_W_Q, VIT_W_K, VIT_W_V, VIT_W_O};
    for (int l = 0; share > 0 && l < m->vit.layers; l++) {
        WeightPlace part[4] = {{0}};
        for (WeightPlace w = {0}; model_weight(m, &w);)
            for (int i = 0; i < 4; i++)
                if (w.role == (int)roles[i] && w.layer == l)
                    part[i] = w;
        mimic(&m->vit, part, share);
    }
}

void start_weights(Model *m, uint64_t seed)
{
    memset(m->block, 0, m->block_cells * sizeof *m->block);
    for (WeightPlace w = {0}; model_weight(m, &w);)
        fill(&m->vit, &w, seed);
}
