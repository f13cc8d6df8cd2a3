#include "core/models/nn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"

bool nn_has(const NnWeight *w)
{
    return w->data || w->store.half;
}

NodeId nn_weight(Graph *g, const NnWeight *w)
{
    char scope[sizeof g->scope];
    REQUIRE(nn_has(w) && w->origin);
    memcpy(scope, g->scope, sizeof scope);
    graph_scope(g, "%s", w->scope);
    const Leaf leaf = {LEAF_TENSOR, w->data, w->origin};
    NodeId n = w->data ? graph_leaf(g, w->name, w->dims, leaf) : graph_leaf_stored(g, w->name, w->dims, leaf, w->store);
    memcpy(g->scope, scope, sizeof scope);
    return n;
}

Dims nn_dims(int batch, Dims d)
{
    return batch == AXIS_NONE ? d : dims_union(DIMS(batch), d);
}

int nn_part(Graph *g, PartKind kind, const NnPlace *at)
{
    int part = anatomy_add(g, (Part){.kind = kind,
                                     .stack = at->stack,
                                     .scope = at->scope,
                                     .word = at->word,
                                     .block = at->block,
                                     .parent = at->parent});
    graph_scope(g, "%s", at->scope);
    return part;
}

NnPlace nn_place(Graph *g, const char *stack, int block, const char *inside, const char *word)
{
    const Part *p = block == NO_PART ? NULL : anatomy_part(g, block);
    const char *around = p ? p->scope : stack;
    return (NnPlace){.stack = stack,
                     .scope = arena_printf(&g->arena, "%s%s%s", around, *around && *inside ? "." : "", inside),
                     .word = word,
                     .block = p ? p->block : NO_BLOCK,
                     .parent = p ? block : 0};
}

void nn_block_scope(Graph *g, int block)
{
    graph_scope(g, "%s", anatomy_part(g, block)->scope);
}

NodeId nn_added(Graph *g, int part, NodeId normed)
{
    NodeId added = graph_view(g, "added", normed, graph_node(g, normed)->dims);
    anatomy_note(g, part, SITE_OUT, added);
    return added;
}

/* A node that others ask for, by what it is. */
typedef struct Note {
    Site site;
    NodeId node;
} Note;

static void note_all(Graph *g, int part, const Note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        anatomy_note(g, part, notes[i].site, notes[i].node);
}
#define NOTE(g, part, ...)                                                                                             \
    note_all(g, part, (const Note[]){__VA_ARGS__}, sizeof((const Note[]){__VA_ARGS__}) / sizeof(Note))

NodeId nn_linear(Graph *g, const char *name, NodeId x, const NnWeight *w, const NnWeight *bias, Dims out)
{
    if (!bias->data)
        return graph_contract(g, name, x, nn_weight(g, w), out);
    char sum[48];
    snprintf(sum, sizeof sum, "%s_nobias", name);
    NodeId n = graph_contract(g, sum, x, nn_weight(g, w), out);
    graph_flag(g, n, NODE_DERIVED);
    return graph_zip(g, name, OP_ADD, n, nn_weight(g, bias));
}

const char *nn_norm_scope(const char *name, bool rms)
{
    static const char *const NAMES[][2] = {{"ln1", "rms1"},
                                           {"ln2", "rms2"},
                                           {"ln_final", "rms_final"},
                                           {"norm_pre", "rms_pre"},
                                           {"fc_norm", "rms_fc"},
                                           {"ln_hidden", "rms_hidden"},
                                           {"pool_norm", "rms_pool"},
                                           {"ln_patch", "rms_patch"},
                                           {"ln_merged", "rms_merged"},
                                           {"ln3", "rms3"},
                                           {"ln_embed", "rms_embed"},
                                           {"ln1_after", "rms1_after"},
                                           {"ln2_after", "rms2_after"},
                                           {"ln_q", "rms_q"},
                                           {"ln_k", "rms_k"}};
    for (size_t i = 0; rms && i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i][0], name) == 0)
            return NAMES[i][1];
    REQUIRE(!rms);
    return name;
}

/* What normalised numbers are stretched by: γ, or 1 + γ. */
static NodeId stretch(Graph *g, const NnNorm *n)
{
    NodeId gamma = nn_weight(g, &n->gamma);
    return n->plus ? graph_zip(g, "gamma_plus", OP_ADD, gamma, graph_const(g, "one", DIMS_SCALAR, 1)) : gamma;
}

static const char *prefixed(Graph *g, const NnMoments *m, const char *name)
{
    return *m->prefix ? arena_printf(&g->arena, "%s%s", m->prefix, name) : name;
}

NodeId nn_moments(Graph *g, NnMoments *m, NodeId x)
{
    const Dims stat = dims_minus(graph_node(g, x)->dims, m->over);
    NodeId centered = x;
    if (m->width == NO_NODE)
        m->width = graph_const(g, prefixed(g, m, "width"), DIMS_SCALAR, (float)graph_dims_cells(g, m->over));
    if (!m->rms) {
        NodeId sum = graph_reduce(g, prefixed(g, m, "sum"), OP_SUM, x, stat);
        NodeId mean = graph_zip(g, prefixed(g, m, "mean"), OP_DIV, sum, m->width);
        centered = graph_zip(g, prefixed(g, m, "centered"), OP_SUB, x, mean);
    }
    NodeId sq = graph_zip(g, prefixed(g, m, "sq"), OP_MUL, centered, centered);
    NodeId sumsq = graph_reduce(g, prefixed(g, m, "sumsq"), OP_SUM, sq, stat);
    m->square = graph_zip(g, prefixed(g, m, m->rms ? "meansq" : "var"), OP_DIV, sumsq, m->width);
    if (m->eps == NO_NODE)
        m->eps = graph_const(g, prefixed(g, m, "eps"), DIMS_SCALAR, m->epsilon);
    NodeId more = graph_zip(g, prefixed(g, m, m->rms ? "meansq_eps" : "var_eps"), OP_ADD, m->square, m->eps);
    NodeId factor = graph_map(g, prefixed(g, m, m->rms ? "rrms" : "rstd"), MAP_RSQRT, more);
    NodeId out = graph_zip(g, m->out ? m->out : prefixed(g, m, "normalized"), OP_MUL, centered, factor);
    graph_flag(g, sq, NODE_DERIVED);
    if (m->passing)
        graph_flag(g, out, NODE_DERIVED);
    if (m->passing && !m->rms)
        graph_flag(g, centered, NODE_DERIVED);
    return out;
}

NodeId nn_norm(Graph *g, const NnPlace *at, const NnNorm *n, NodeId x)
{
    int part = nn_part(g, PART_NORM, at);
    NnMoments m = {.prefix = "", .over = n->over, .rms = n->rms, .width = NO_NODE, .eps = NO_NODE, .epsilon = n->eps};
    NodeId normalized = nn_moments(g, &m, x), gamma = stretch(g, n);
    bool shifts = !n->rms && n->beta.data;
    NodeId scaled = graph_zip(g, shifts ? "scaled" : "out", OP_MUL, normalized, gamma), out = scaled;
    if (shifts) {
        graph_flag(g, scaled, NODE_DERIVED);
        NodeId beta = nn_weight(g, &n->beta);
        out = graph_zip(g, "out", OP_ADD, scaled, beta);
        NOTE(g, part, {SITE_NORM_BETA, beta});
    }
    NOTE(g, part, {SITE_IN, x}, {SITE_OUT, out}, {SITE_NORM_WIDTH, m.width}, {SITE_NORM_EPS, m.eps},
         {SITE_NORM_GAMMA, gamma});
    if (n->rms)
        NOTE(g, part, {SITE_NORM_MEAN_SQUARE, m.square});
    return out;
}

NodeId nn_softmax(Graph *g, NodeId x, int axis, SoftmaxNames name)
{
    Dims rows = dims_minus(graph_node(g, x)->dims, DIMS(axis));
    NodeId max = graph_reduce(g, name.max, OP_MAX, x, rows);
    graph_flag(g, max, NODE_SHIFT);
    NodeId shifted = graph_zip(g, name.shifted, OP_SUB, x, max);
    graph_flag(g, shifted, NODE_DERIVED);
    NodeId e = graph_map(g, name.exp, MAP_EXP, shifted);
    NodeId sum = graph_reduce(g, name.sum, OP_SUM, e, rows);
    return graph_zip(g, name.out, OP_DIV, e, sum);
}

/* Scores of tokens that may not be looked at become −∞: the exponential makes exactly 0 of them. */
static NodeId masked(Graph *g, NodeId scores, NodeId mask)
{
    if (mask == NO_NODE)
        return scores;
    NodeId never = graph_const(g, "minus_infinity", DIMS_SCALAR, -INFINITY);
    return graph_where(g, "scores_masked", mask, scores, never);
}

/* The largest of a row's scores and its head's sink, which is taken from both: any number would do, but this one keeps
 * exp from overflowing. A zip and a map instead of a longer row, so that keys stay the only tokens of a row. */
static NodeId largest_with(Graph *g, NodeId sinks, NodeId row_max)
{
    NodeId over = graph_zip(g, "over_sink", OP_SUB, row_max, sinks);
    NodeId is_over = graph_map(g, "is_over_sink", MAP_RELU_GRAD, over); /* 1 where it is above 0 */
    NodeId top = graph_where(g, "row_top", is_over, row_max, sinks);
    graph_flag(g, top, NODE_SHIFT);
    return top;
}

/* Softmax over the keys and one more score, the head's sink, whose share is left out. */
static NodeId softmax_with(Graph *g, NodeId sinks, NodeId x, int axis)
{
    Dims rows = dims_minus(graph_node(g, x)->dims, DIMS(axis));
    NodeId max = graph_reduce(g, "row_max", OP_MAX, x, rows);
    graph_flag(g, max, NODE_SHIFT);
    NodeId top = largest_with(g, sinks, max);
    NodeId shifted = graph_zip(g, "shifted", OP_SUB, x, top);
    graph_flag(g, shifted, NODE_DERIVED);
    NodeId e = graph_map(g, "exp", MAP_EXP, shifted);
    NodeId keys = graph_reduce(g, "keys_sum", OP_SUM, e, rows);
    NodeId sink = graph_map(g, "sink_exp", MAP_EXP, graph_zip(g, "sink_shifted", OP_SUB, sinks, top));
    return graph_zip(g, "pattern", OP_DIV, e, graph_zip(g, "row_sum", OP_ADD, keys, sink));
}

/* x cut off at ±most, bit for bit what it is in between, as NAME; x itself is NAME_unclipped. */
static NodeId clipped(Graph *g, const char *name, NodeId x, float most)
{
    const char *over = arena_printf(&g->arena, "%s_over_clip", name),
               *above = arena_printf(&g->arena, "%s_is_above", name), *cut = arena_printf(&g->arena, "%s_cut", name),
               *under = arena_printf(&g->arena, "%s_from_low_clip", name),
               *inside = arena_printf(&g->arena, "%s_is_inside", name);
    NodeId high = graph_const(g, arena_printf(&g->arena, "%s_clip", name), DIMS_SCALAR, most),
           low = graph_const(g, arena_printf(&g->arena, "%s_low_clip", name), DIMS_SCALAR, -most);
    NodeId is_above = graph_map(g, above, MAP_RELU_GRAD, graph_zip(g, over, OP_SUB, x, high)); /* 1 where above 0 */
    NodeId below = graph_where(g, cut, is_above, high, x);
    NodeId is_inside = graph_map(g, inside, MAP_RELU_GRAD, graph_zip(g, under, OP_SUB, below, low));
    return graph_where(g, name, is_inside, below, low);
}

/* A linear layer of queries, keys or values. */
static NodeId read_by(Graph *g, const NnAttention *a, const char *name, NodeId x, const NnWeight *w,
                      const NnWeight *bias, Dims out)
{
    if (!(a->clip > 0))
        return nn_linear(g, name, x, w, bias, out);
    return clipped(g, name, nn_linear(g, arena_printf(&g->arena, "%s_unclipped", name), x, w, bias, out), a->clip);
}

/* A linear layer's keys or values of the tokens that are read now: all, or with a cache the newest alone, as NAME_new.
 */
static NodeId read_now(Graph *g, const NnAttention *a, const char *name, NodeId memory, const NnWeight *w,
                       const NnWeight *bias)
{
    char fresh[16];
    snprintf(fresh, sizeof fresh, "%s_new", name);
    return read_by(g, a, a->past ? fresh : name, memory, w, bias,
                   nn_dims(a->batch, DIMS(a->past ? a->fresh : a->key, a->g, a->e)));
}

/* `now` behind what was kept of the tokens before; without a cache `now` itself. */
static NodeId behind_kept(Graph *g, const NnAttention *a, const char *name, NodeId now, const float *kept)
{
    if (!a->past)
        return now;
    Dims all = DIMS(a->key, a->g, a->e);
    if (a->past->axis == AXIS_NONE) /* the first token: nothing is kept yet */
        return graph_view(g, name, now, all);
    char part[24];
    snprintf(part, sizeof part, "%s_kept", name);
    NodeId before = graph_leaf(g, part, DIMS(a->past->axis, a->g, a->e),
                               (Leaf){LEAF_RUN, kept, "kept from the steps before"});
    return graph_concat(g, name, before, a->past->axis, now, a->fresh, a->key);
}

/* cos and sin of the angles that this block's frequencies give, [query,h,e]. */
static void rope_angles(Graph *g, const NnRope *r, int block, const NnAttention *a, NodeId *cos, NodeId *sin)
{
    NodeId freqs = graph_slice(g, "freqs", r->freqs, r->l, block, AXIS_NONE);
    NodeId angle = graph_contract(g, "angle", r->places, freqs, DIMS(a->query, a->h, r->k));
    NodeId cosine = graph_map(g, "cos", MAP_COS, angle), sine = graph_map(g, "sin", MAP_SIN, angle);
    *cos = graph_take(g, "cos_each", cosine, r->k, r->pair, a->e);
    NodeId each = graph_take(g, "sin_each", sine, r->k, r->pair, a->e);
    *sin = graph_zip(g, "sin_signed", OP_MUL, each, r->sign);
    graph_flag(g, *cos, NODE_DERIVED);
    graph_flag(g, each, NODE_DERIVED);
    graph_flag(g, *sin, NODE_DERIVED);
}

/* x[t,h,e] · cos[t,e] + x[t,h,partner of e] · sin[t,e], as NAME_turned: every pair of numbers rotated by its angle. */
static NodeId apply_rope(Graph *g, const char *name, const char *end, NodeId x, const NnRope *r, NodeId cos, NodeId sin,
                         int e)
{
    char swapped[24], kept[24], crossed[24], all[24];
    snprintf(swapped, sizeof swapped, "%s_swapped", name);
    snprintf(kept, sizeof kept, "%s_cos", name);
    snprintf(crossed, sizeof crossed, "%s_sin", name);
    snprintf(all, sizeof all, "%s_turned%s", name, end);
    NodeId other = graph_gather(g, swapped, x, e, r->partner);
    NodeId along = graph_zip(g, kept, OP_MUL, x, cos), across = graph_zip(g, crossed, OP_MUL, other, sin);
    graph_flag(g, other, NODE_DERIVED);
    graph_flag(g, along, NODE_DERIVED);
    graph_flag(g, across, NODE_DERIVED);
    return graph_zip(g, all, OP_ADD, along, across);
}

NodeId nn_bias(Graph *g, const char *name, NodeId table, const NnBias *b, Dims out)
{
    char pairs[32];
    snprintf(pairs, sizeof pairs, "%s_pairs", name);
    NodeId taken = graph_take(g, pairs, table, b->w, b->way, b->s);
    graph_flag(g, taken, NODE_DERIVED);
    return graph_view(g, name, taken, out);
}

/* What is added for where the tokens lie to each other; NO_NODE: nothing. */
static NodeId biased(Graph *g, const NnAttention *a, NodeId scores)
{
    const NnBias *b = a->bias;
    if (!b)
        return NO_NODE;
    NodeId all = b->all != NO_NODE ? b->all
                                   : nn_bias(g, "bias", nn_weight(g, &b->table), b, DIMS(a->h, a->query, a->key));
    return graph_zip(g, "scores_biased", OP_ADD, scores, all);
}

/* A norm as a part of the part at `at`, whose scope is set again behind it. */
static NodeId norm_inside(Graph *g, const NnPlace *at, int part, const char *name, const NnNorm *n, NodeId x)
{
    const char *word = nn_norm_scope(name, n->rms);
    char scope[64];
    snprintf(scope, sizeof scope, "%s.%s", at->scope, word);
    NodeId out = nn_norm(g, &(NnPlace){at->stack, scope, word, at->block, part}, n, x);
    graph_scope(g, "%s", at->scope);
    return out;
}

NodeId nn_capped(Graph *g, const char *name, const char *out, NodeId x, NodeId cap)
{
    char over[32], squashed[32];
    snprintf(over, sizeof over, "%s_over_cap", name);
    snprintf(squashed, sizeof squashed, "%s_tanh", name);
    NodeId ratio = graph_zip(g, over, OP_DIV, x, cap), tanh = graph_map(g, squashed, MAP_TANH, ratio);
    graph_flag(g, ratio, NODE_DERIVED);
    graph_flag(g, tanh, NODE_DERIVED);
    return graph_zip(g, out, OP_MUL, tanh, cap);
}

const char *nn_key_name(bool normed, bool rotated)
{
    return rotated ? "k_turned" : normed ? "k_normed" : "k";
}

/* Queries, keys and values as they meet. */
typedef struct Meeting {
    NodeId q, k, v;            /* as the linear layers give them; NO_NODE where they were all kept */
    NodeId query, key, value;  /* normalised, rotated, behind what was kept, for every head */
    NodeId turned, turned_key; /* NO_NODE where nothing is rotated */
} Meeting;

/* Of the tokens read now; the cosines of keys are those of the tokens that ask, which they are too. */
static void rotate(Graph *g, const NnPlace *at, const NnAttention *a, Meeting *m)
{
    bool learned = a->rope->freqs != NO_NODE;
    NodeId cos = a->rope->cos, sin = a->rope->sin;
    REQUIRE(!learned || !a->past);
    if (learned)
        rope_angles(g, a->rope, at->block, a, &cos, &sin);
    int read = a->past ? a->fresh : a->key;
    Dims places = learned ? DIMS(read, a->h, a->e) : DIMS(read, a->e);
    m->query = m->turned = apply_rope(g, "q", "", m->query, a->rope, cos, sin, a->e);
    NodeId key_cos = graph_view(g, "cos_seen", cos, places); /* in this order with every compiler */
    m->key = m->turned_key = apply_rope(g, "k", a->past ? "_new" : "", m->key, a->rope, key_cos,
                                        graph_view(g, "sin_seen", sin, places), a->e);
}

/* Keys and values of every head from those of its group. */
static void share_heads(Graph *g, const NnAttention *a, Meeting *m)
{
    if (a->g == a->h)
        return;
    m->key = graph_take(g, "k_shared", m->key, a->g, a->key_head, a->h);
    m->value = graph_take(g, "v_shared", m->value, a->g, a->key_head, a->h);
}

static Meeting meet(Graph *g, const NnPlace *at, int part, const NnAttention *a, NodeId x, NodeId memory)
{
    Meeting m = {.k = NO_NODE, .v = NO_NODE, .turned = NO_NODE, .turned_key = NO_NODE};
    bool keyed = !a->past || a->fresh != AXIS_NONE;
    if (keyed) /* in self-attention the same tokens, as those looked at */
        memory = graph_view(g, "in", memory, nn_dims(a->batch, DIMS(a->past ? a->fresh : a->key, a->d)));
    m.q = m.query = read_by(g, a, "q", x, &a->w_q, &a->b_q, nn_dims(a->batch, DIMS(a->query, a->h, a->e)));
    if (!keyed) {
        const Leaf kept = {LEAF_RUN, a->past->k, "kept from the first step"};
        m.k = m.key = graph_leaf(g, "k", DIMS(a->key, a->g, a->e), kept);
        m.v = m.value = graph_leaf(g, "v", DIMS(a->key, a->g, a->e), (Leaf){LEAF_RUN, a->past->v, kept.origin});
        return m;
    }
    REQUIRE(!a->past || a->batch == AXIS_NONE);
    m.k = m.key = read_now(g, a, "k", memory, &a->w_k, &a->b_k);
    NodeId v = read_now(g, a, "v", memory, &a->w_v, &a->b_v);
    if (a->q_norm)
        m.query = norm_inside(g, at, part, "ln_q", a->q_norm, m.query);
    if (a->k_norm)
        m.key = norm_inside(g, at, part, "ln_k", a->k_norm, m.key);
    if (a->rope)
        rotate(g, at, a, &m);
    else if (a->k_norm && !a->past)
        m.key = graph_view(g, "k_normed", m.key, graph_node(g, m.key)->dims);
    m.key = behind_kept(g, a, nn_key_name(a->k_norm, a->rope), m.key, a->past ? a->past->k : NULL);
    m.v = m.value = behind_kept(g, a, "v", v, a->past ? a->past->v : NULL);
    if (a->past && !a->rope && !a->k_norm)
        m.k = m.key;
    share_heads(g, a, &m);
    return m;
}

NodeId nn_attention(Graph *g, const NnPlace *at, const NnAttention *a, NodeId x, NodeId memory, int *part)
{
    int h = a->h, e = a->e;
    *part = nn_part(g, PART_ATTENTION, at);
    Meeting m = meet(g, at, *part, a, x, memory);
    NodeId raw = graph_contract(g, "scores_raw", m.query, m.key, nn_dims(a->batch, DIMS(h, a->query, a->key)));
    NodeId scale = graph_const(g, "scale", DIMS(h), a->scale);
    NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, raw, scale), last = scores;
    graph_flag(g, scores, NODE_DERIVED);
    if (a->cap > 0)
        last = nn_capped(g, "scores", "scores_capped", last, graph_const(g, "scores_cap", DIMS_SCALAR, a->cap));
    NodeId with_bias = biased(g, a, last);
    last = with_bias != NO_NODE ? with_bias : last;
    last = masked(g, last, a->mask);
    const NodeId sinks = nn_has(&a->sinks) ? nn_weight(g, &a->sinks) : NO_NODE;
    NodeId pattern = sinks != NO_NODE ? softmax_with(g, sinks, last, a->key)
                                      : nn_softmax(g, last, a->key,
                                                   (SoftmaxNames){"row_max", "shifted", "exp", "row_sum", "pattern"});
    NodeId z = graph_contract(g, "z", pattern, m.value, nn_dims(a->batch, DIMS(a->query, h, e)));
    NodeId merged = a->merged ? norm_inside(g, at, *part, "ln_merged", a->merged, z) : z;
    NodeId out = nn_linear(g, "out", merged, &a->w_o, &a->b_o, nn_dims(a->batch, DIMS(a->query, a->d)));
    NodeId mixed = a->b_o.data ? graph_node(g, out)->in[0] : out; /* the contraction, whose second operand is W_O */
    NOTE(g, *part, {SITE_IN, x}, {SITE_QUERY, m.q}, {SITE_KEY, m.k}, {SITE_VALUE, m.v}, {SITE_SCALE, scale},
         {SITE_SCORES_RAW, raw}, {SITE_SCORES_SCALED, scores}, {SITE_PATTERN, pattern},
         {SITE_EXP, graph_node(g, pattern)->in[0]}, {SITE_EXP_SUM, graph_node(g, pattern)->in[1]}, {SITE_Z, z},
         {SITE_MERGED, merged}, {SITE_OUT, out}, {SITE_W_O, graph_node(g, mixed)->in[1]});
    if (with_bias != NO_NODE)
        NOTE(g, *part, {SITE_SCORES_BIASED, with_bias}, {SITE_BIAS, graph_node(g, with_bias)->in[1]});
    if (m.turned != NO_NODE)
        NOTE(g, *part, {SITE_QUERY_ROPE, m.turned}, {SITE_KEY_ROPE, m.turned_key});
    if (sinks != NO_NODE)
        NOTE(g, *part, {SITE_SINKS, sinks});
    if (a->rope && a->rope->freqs != NO_NODE)
        anatomy_note_name(g, *part, SITE_ANGLE, "angle");
    anatomy_note_name(g, *part, SITE_SCORES_MASKED, "scores_masked"); /* the model's mask, or where an edit puts one */
    return out;
}

NodeId nn_mlp(Graph *g, const NnPlace *at, const NnMlp *p, NodeId x, int *part)
{
    *part = nn_part(g, PART_MLP, at);
    NodeId pre = nn_linear(g, "pre", x, &p->w_up, &p->b_up, nn_dims(p->batch, DIMS(p->t, p->m)));
    NodeId gate = NO_NODE, post;
    if (nn_has(&p->w_gate)) {
        NodeId open = nn_linear(g, "gate", x, &p->w_gate, &p->b_gate, nn_dims(p->batch, DIMS(p->t, p->m)));
        gate = graph_map(g, "gate_post", p->act, open);
        post = graph_zip(g, "post", OP_MUL, pre, gate);
    } else {
        post = graph_map(g, "post", p->act, pre);
    }
    NodeId hidden = post;
    if (p->hidden)
        hidden = norm_inside(g, at, *part, "ln_hidden", p->hidden, post);
    NodeId out = nn_linear(g, "out", hidden, &p->w_down, &p->b_down, nn_dims(p->batch, DIMS(p->t, p->d)));
    NOTE(g, *part, {SITE_IN, x}, {SITE_MLP_PRE, pre}, {SITE_MLP_POST, post}, {SITE_OUT, out});
    if (gate != NO_NODE)
        NOTE(g, *part, {SITE_MLP_GATE, gate});
    return out;
}

NodeId graph_normalise(Graph *g, const char *name, NodeId x, int axis, float eps)
{
    char prefix[56];
    snprintf(prefix, sizeof prefix, "%s.", name);
    NnMoments m = {.prefix = prefix, .out = name, .over = DIMS(axis), .width = NO_NODE, .eps = NO_NODE, .epsilon = eps};
    return nn_moments(g, &m, x);
}
