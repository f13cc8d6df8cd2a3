/* Where norms stand: before attention and MLP, behind the additions, or on the branches. A block with its norms
 * elsewhere is no edit of the graph, which computes other things; the equations as loops (vit_direct.h) make its
 * values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"
#include "core/models/nn.h"
#include "core/models/vit_direct.h"

typedef enum Place { BEFORE, BEHIND, BRANCHES, PLACES } Place;

static const double AFFORDED = 2e9; /* operations of the stretch: loops in double are slow */

/* The model with its norms at another place. */
typedef struct Order {
    VitConfig c;
    VitWeights w, bare; /* bare: the second norm gives nothing */
} Order;

static Place place_of(const VitConfig *c)
{
    return c->post_norm ? BEHIND : c->branch_norm ? BRANCHES : BEFORE;
}

/* The weights as the graph's leaves have them; false where one is no leaf of that path. */
static bool gather(Trial *t, const VitConfig *c, VitWeights *w)
{
    w->at = arena_alloc(&t->arena, size_mul(vit_weights_count(c), sizeof *w->at));
    for (int layer = -1; layer < c->layers; layer++)
        for (int i = 0; i < VIT_ROLES; i++) {
            VitRole r = (VitRole)i;
            char path[80];
            WeightTensor *to = vit_weight(w, r, layer < 0 ? 0 : layer);
            if (vit_role_in_block(r) != (layer >= 0) || !vit_has(c, r))
                continue;
            snprintf(path, sizeof path, "blocks.%d.%s", layer, vit_role_path(c, r));
            NodeId n = graph_find(t->s->graph, layer < 0 ? vit_role_path(c, r) : path);
            bool leaf = n != NO_NODE && graph_node(t->s->graph, n)->op == OP_LEAF;
            if (leaf)
                *to = (WeightTensor){.data = run_need(t->s->run, n), .origin = "the model"};
            else if (layer >= 0)
                return false;
        }
    return true;
}

static void take_second_norm(Trial *t, const VitConfig *c, const VitWeights *w, VitWeights *bare)
{
    size_t all = vit_weights_count(c), bytes = size_mul((size_t)c->width, sizeof(float));
    float *nothing = arena_alloc(&t->arena, bytes);
    memset(nothing, 0, bytes);
    bare->at = arena_alloc(&t->arena, size_mul(all, sizeof *bare->at));
    memcpy(bare->at, w->at, all * sizeof *bare->at);
    for (int layer = 0; layer < c->layers; layer++) {
        vit_weight(bare, VIT_LN2_GAMMA, layer)->data = nothing;
        if (!c->rms_norm)
            vit_weight(bare, VIT_LN2_BETA, layer)->data = nothing;
    }
}

static int layer_of(const char *path)
{
    return atoi(strstr(path, "blocks.") + 7);
}

/* The block's tokens by its equations; false as soon as a token of the target is far from what was recorded. less: the
 * block's input is taken off again. */
static bool by_equations(Trial *t, NodeId n, const VitConfig *c, const VitWeights *w, bool less, float *out)
{
    const char *path = graph_node(t->s->graph, n)->path;
    const float *z = trial_known(t, trial_beside(t, path, "resid_pre"));
    size_t d = (size_t)c->width;
    int tokens = vit_tokens(c);
    bool near = z != NULL;
    if (!z || graph_cells(t->s->graph, n) != (size_t)tokens * d)
        return false;
    VitDirectBlock b = vit_direct_block(c, w, layer_of(path), z);
    double *x = xcalloc(d, sizeof *x);
    for (int k = 0; k < tokens; k++)
        vit_direct_keys(&b, k);
    for (int k = 0; near && k < tokens; k++) {
        vit_direct_token(&b, k, x);
        for (size_t i = 0; i < d; i++) {
            size_t cell = (size_t)k * d + i;
            out[cell] = (float)(x[i] - (less ? (double)z[cell] : 0));
            near = near && (n != t->target->node ||
                            dm_abs((double)out[cell] - (double)t->target->values[cell]) <= 30 * t->allowed);
        }
    }
    free(x);
    vit_direct_block_free(&b);
    return near;
}

static bool make_block(Trial *t, NodeId n, const void *order, float *out)
{
    const Order *o = order;
    return by_equations(t, n, &o->c, &o->w, false, out);
}

/* LN(MSA(z)), what the first norm gives on its branch. */
static bool make_branch(Trial *t, NodeId n, const void *order, float *out)
{
    const Order *o = order;
    return by_equations(t, n, &o->c, &o->bare, true, out);
}

/* The model's norm of `rows` tokens. */
static void norm_rows(const VitConfig *c, const VitWeights *w, VitRole role, int layer, const float *x, float *y,
                      size_t rows)
{
    size_t d = (size_t)c->width;
    const float *gamma = vit_weight(w, role, layer)->data,
                *beta = c->rms_norm ? NULL : vit_weight(w, (VitRole)(role + 1), layer)->data;
    for (size_t r = 0; r < rows; r++, x += d, y += d) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < d && !c->rms_norm; i++)
            mean += (double)x[i] / (double)d;
        for (size_t i = 0; i < d; i++)
            square += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)d;
        for (size_t i = 0; i < d; i++)
            y[i] = (float)(((double)x[i] - mean) / dm_sqrt(square + (double)c->eps) * (double)gamma[i] +
                           (beta ? (double)beta[i] : 0));
    }
}

/* LN(z + MSA(z)), where the first norm stands behind the addition; attention is the model's own. */
static bool make_behind(Trial *t, NodeId n, const void *order, float *out)
{
    const Order *o = order;
    const char *path = graph_node(t->s->graph, n)->path;
    size_t cells = graph_cells(t->s->graph, n);
    const float *z = trial_known(t, trial_beside(t, path, "resid_pre")),
                *found = trial_known(t, trial_beside(t, path, "attn.out"));
    if (!z || !found)
        return false;
    float *sum = xfloats(cells);
    for (size_t i = 0; i < cells; i++)
        sum[i] = z[i] + found[i];
    norm_rows(&o->c, &o->w, VIT_LN1_GAMMA, layer_of(path), sum, out, cells / (size_t)o->c.width);
    free(sum);
    return true;
}

/* q, k or v of normed tokens where the model takes them as they are, or the other way round. */
static bool make_of_tokens(Trial *t, NodeId n, const Order *o, VitRole weight, VitRole bias, float *out)
{
    const VitConfig *c = &o->c;
    const char *path = graph_node(t->s->graph, n)->path;
    size_t d = (size_t)c->width, inner = (size_t)c->heads * (size_t)c->head_dim, rows = (size_t)vit_tokens(c);
    const float *z = trial_known(t, trial_beside(t, path, "resid_pre"));
    if (!z || graph_cells(t->s->graph, n) != rows * inner)
        return false;
    float *x = xfloats(rows * d);
    const float *w = vit_weight(&o->w, weight, layer_of(path))->data,
                *b = vit_has(c, bias) ? vit_weight(&o->w, bias, layer_of(path))->data : NULL;
    if (place_of(c) == BEFORE)
        norm_rows(c, &o->w, VIT_LN1_GAMMA, layer_of(path), z, x, rows);
    else
        memcpy(x, z, rows * d * sizeof *x);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < inner; k++) {
            double sum = b ? (double)b[k] : 0;
            for (size_t i = 0; i < d; i++)
                sum += (double)w[k * d + i] * (double)x[r * d + i];
            out[r * inner + k] = (float)sum;
        }
    free(x);
    return true;
}

static bool make_q(Trial *t, NodeId n, const void *order, float *out)
{
    return make_of_tokens(t, n, order, VIT_W_Q, VIT_B_Q, out);
}

static bool make_k(Trial *t, NodeId n, const void *order, float *out)
{
    return make_of_tokens(t, n, order, VIT_W_K, VIT_B_K, out);
}

static bool make_v(Trial *t, NodeId n, const void *order, float *out)
{
    return make_of_tokens(t, n, order, VIT_W_V, VIT_B_V, out);
}

static const struct {
    const char *of;
    TrialMake *make;
} MADE[] = {{"attn.q", make_q}, {"attn.k", make_k}, {"attn.v", make_v}};

/* Where a norm stands is seen in q, k and v alike: where only one of them is otherwise, it is another mistake. */
static bool all_three(Trial *t, const char *target, const Order *o)
{
    static const double NEAR = 30; /* times what is allowed */
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++) {
        NodeId n = trial_beside(t, target, MADE[i].of);
        const DiffTensor *x = diff_reference_find(t->r, n);
        if (!x || n == t->target->node)
            continue;
        size_t cells = graph_cells(t->s->graph, n);
        float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
        if (MADE[i].make(t, n, o, out) && diff_figures(out, x->values, cells, t->allowed).largest > NEAR * t->allowed)
            return false;
    }
    return true;
}

/* Of a target within a block, what is tried there; of the others whole blocks. */
static void attempt_place(Trial *t, Place ours, Place theirs, const Order *o, const char *text)
{
    const char *target = graph_node(t->s->graph, t->target->node)->path;
    const char *first = arena_printf(&t->arena, "%s.out", nn_norm_scope("ln1", o->c.rms_norm)),
               *second = arena_printf(&t->arena, "%s.out", nn_norm_scope("ln2", o->c.rms_norm));
    bool same = (ours == BEFORE) == (theirs == BEFORE); /* what q, k and v are made of */
    if (path_ends(target, first)) {
        if (theirs == BRANCHES && ours == BEFORE)
            trial_each(t, first, make_branch, o, text);
        if (theirs == BEHIND && ours == BRANCHES)
            trial_each(t, first, make_behind, o, text);
        return;
    }
    if (same && strstr(target, ".attn."))
        return;
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++)
        if (path_ends(target, MADE[i].of)) {
            if (all_three(t, target, o))
                trial_each(t, MADE[i].of, MADE[i].make, o, text);
            return;
        }
    trial_each(t, ours == BEHIND ? second : "resid_post", make_block, o, text);
}

void trial_order(Trial *t)
{
    static const char *const WHERE[PLACES] = {[BEFORE] = "before attention and MLP",
                                              [BEHIND] = "behind the additions (post-norm)",
                                              [BRANCHES] = "on the branches, behind attention and MLP"};
    const VitConfig *c = t->s->config;
    Order o;
    if (!c || t->base || t->flops > AFFORDED || !gather(t, c, &o.w))
        return;
    take_second_norm(t, c, &o.w, &o.bare);
    Place ours = place_of(c);
    for (Place p = BEFORE; p < PLACES; p = (Place)(p + 1)) {
        char text[DIFF_WORDS];
        if (p == ours || (p == BRANCHES && c->layer_scale))
            continue;
        o.c = *c;
        o.c.post_norm = p == BEHIND;
        o.c.branch_norm = p == BRANCHES;
        snprintf(text, sizeof text, "the reference's norms stand %s; here they stand %s", WHERE[p], WHERE[ours]);
        attempt_place(t, ours, p, &o, text);
    }
}
