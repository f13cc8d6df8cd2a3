/* The gradient of every primitive, as nodes. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/grad.h"

static Dims dims_of(const Graph *g, NodeId n)
{
    return graph_node(g, n)->dims;
}

/* The axes that `in_order` and `have` share, in the order of `in_order`. */
static Dims common(Dims in_order, Dims have)
{
    return dims_minus(in_order, dims_minus(in_order, have));
}

/* base.what */
static const char *grad_part(const Backward *b, const char *what)
{
    return arena_printf(&b->g->arena, "%s.%s", b->base, what);
}

/* --- leaves --- */

static NodeId shared_const(Backward *b, NodeId *n, const char *name, Dims d, float value)
{
    if (*n == NO_NODE)
        *n = graph_const(b->g, arena_printf(&b->g->arena, "%s%s", b->prefix, name), d, value);
    return *n;
}

static NodeId ones_along(Backward *b, int axis)
{
    char name[32];
    snprintf(name, sizeof name, "ones_%s", b->g->axes[axis].sym);
    for (int i = 0; i < axis; i++) /* another axis with the same letter */
        if (b->ones[i] != NO_NODE && strcmp(b->g->axes[i].sym, b->g->axes[axis].sym) == 0)
            snprintf(name, sizeof name, "ones_%s_%d", b->g->axes[axis].sym, axis);
    return shared_const(b, &b->ones[axis], name, DIMS(axis), 1.0f);
}

/* --- shapes --- */

/* One axis at a time: what is held of ones stays small. */
NodeId grad_spread(Backward *b, NodeId x, Dims over)
{
    Dims have = dims_of(b->g, x), lacks = dims_minus(over, have);
    for (int i = 0; i < lacks.n; i++) {
        have = common(over, dims_union(have, DIMS(lacks.axis[i])));
        char what[32];
        snprintf(what, sizeof what, "along_%s", b->g->axes[lacks.axis[i]].sym);
        x = graph_contract(b->g, grad_part(b, what), x, ones_along(b, lacks.axis[i]), have);
    }
    return x;
}

/* x summed over the axes that d lacks, the others in d's order. */
static NodeId sum_to(Backward *b, NodeId x, Dims d)
{
    Dims out = common(d, dims_of(b->g, x));
    return dims_equal(out, dims_of(b->g, x)) ? x : graph_reduce(b->g, grad_part(b, "sum"), OP_SUM, x, out);
}

NodeId grad_sum(Backward *b, const char *name, NodeId x, NodeId y, Dims like)
{
    Dims dx = dims_of(b->g, x), dy = dims_of(b->g, y), out = common(like, dims_union(dx, dy));
    if (dims_equal(dims_union(dx, dy), out))
        return graph_zip(b->g, name, OP_ADD, x, y);
    if (dims_equal(dims_union(dy, dx), out))
        return graph_zip(b->g, name, OP_ADD, y, x);
    return graph_zip(b->g, name, OP_ADD, grad_spread(b, x, out), y);
}

/* gy · f. The order of the factors changes no bit: the one that leaves the axes in the order of `like`, gy in front
 * where both do. */
static NodeId times(Backward *b, const char *what, NodeId gy, NodeId f, Dims like)
{
    Dims all = dims_union(dims_of(b->g, gy), dims_of(b->g, f)), other = dims_union(dims_of(b->g, f), dims_of(b->g, gy));
    bool swap = !dims_equal(all, common(like, all)) && dims_equal(other, common(like, other));
    return graph_zip(b->g, grad_part(b, what), OP_MUL, swap ? f : gy, swap ? gy : f);
}

static NodeId times_const(Backward *b, const char *what, NodeId x, float factor)
{
    char name[32];
    snprintf(name, sizeof name, "%s.factor", what);
    return graph_zip(b->g, grad_part(b, what), OP_MUL, x, graph_const(b->g, grad_part(b, name), DIMS_SCALAR, factor));
}

static NodeId negate(Backward *b, NodeId x)
{
    return graph_zip(b->g, grad_part(b, "negative"), OP_MUL, x,
                     shared_const(b, &b->minus_one, "minus_one", DIMS_SCALAR, -1.0f));
}

/* The gradient of an operand that was broadcast to node n and else passed through: gy summed over the axes that the
 * operand lacks, times the lengths of those that gy lacks as well. */
static NodeId unbroadcast(Backward *b, NodeId n, Dims operand, NodeId gy)
{
    Dims lost = dims_minus(dims_minus(dims_of(b->g, n), operand), dims_of(b->g, gy));
    size_t times_same = graph_dims_cells(b->g, lost);
    gy = sum_to(b, gy, operand);
    return times_same > 1 ? times_const(b, "repeated", gy, (float)times_same) : gy;
}

/* --- rules --- */

typedef NodeId Rule(Backward *b, NodeId n, int k, NodeId gy);

/* d a = Σ gy · b. Where gy is the same along an axis that must be summed, b is summed over it first. */
static NodeId through_contract(Backward *b, NodeId n, int k, NodeId gy)
{
    Graph *g = b->g;
    Dims in = dims_of(g, graph_node(g, n)->in[k]), dy = dims_of(g, gy);
    NodeId other = graph_node(g, n)->in[1 - k];
    Dims lost = dims_minus(dims_minus(dims_of(g, other), in), dy);
    if (lost.n)
        other = graph_reduce(g, grad_part(b, "factor_sum"), OP_SUM, other, dims_minus(dims_of(g, other), lost));
    return graph_contract(g, grad_part(b, "product"), gy, other, common(in, dims_union(dy, dims_of(g, other))));
}

static NodeId through_add(Backward *b, NodeId n, int k, NodeId gy)
{
    return unbroadcast(b, n, dims_of(b->g, graph_node(b->g, n)->in[k]), gy);
}

static NodeId through_sub(Backward *b, NodeId n, int k, NodeId gy)
{
    NodeId x = through_add(b, n, k, gy);
    return k == 0 ? x : negate(b, x);
}

static NodeId through_mul(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    Dims in = dims_of(b->g, node.in[k]);
    return sum_to(b, times(b, "product", gy, node.in[1 - k], in), in);
}

/* y = a / b: gy / b, and −Σ gy·y / b. */
static NodeId through_div(Backward *b, NodeId n, int k, NodeId gy)
{
    Graph *g = b->g;
    const Node node = *graph_node(g, n);
    Dims in = dims_of(g, node.in[k]);
    if (k == 0)
        return sum_to(b, graph_zip(g, grad_part(b, "quotient"), OP_DIV, gy, node.in[1]), in);
    NodeId sum = sum_to(b, times(b, "product", gy, n, node.dims), in);
    return negate(b, graph_zip(g, grad_part(b, "quotient"), OP_DIV, sum, node.in[1]));
}

static NodeId through_sum(Backward *b, NodeId n, int k, NodeId gy)
{
    return sum_to(b, gy, dims_of(b->g, graph_node(b->g, n)->in[k]));
}

static NodeId through_max(Backward *b, NodeId n, int k, NodeId gy)
{
    NodeId a = graph_node(b->g, n)->in[k], first = graph_first(b->g, grad_part(b, "first"), a, n);
    return times(b, "product", gy, first, dims_of(b->g, a));
}

static bool renames(const Graph *g, Dims a, Dims b)
{
    bool same = a.n == b.n;
    for (int i = 0; same && i < a.n; i++)
        same = g->axes[a.axis[i]].n == g->axes[b.axis[i]].n;
    return same;
}

static NodeId through_view(Backward *b, NodeId n, int k, NodeId gy)
{
    Graph *g = b->g;
    Dims in = dims_of(g, graph_node(g, n)->in[k]), out = dims_of(g, n), d = DIMS_SCALAR;
    if (!renames(g, in, out)) { /* cells change places among the axes */
        gy = grad_spread(b, gy, out);
        d = in;
    }
    for (int i = 0; !dims_equal(d, in) && i < in.n; i++)
        if (dims_find(dims_of(g, gy), out.axis[i]) >= 0)
            d.axis[d.n++] = in.axis[i];
    return dims_equal(d, dims_of(g, gy)) ? gy : graph_view(g, grad_part(b, "view"), gy, d);
}

static NodeId through_concat(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    if (dims_find(dims_of(b->g, gy), node.axis) < 0)
        return gy;
    int start = k == 0 ? 0 : b->g->axes[node.in_axis[0]].n;
    return graph_slice(b->g, grad_part(b, "slice"), gy, node.axis, start, node.in_axis[k]);
}

/* gy's cells at `from` (an axis of gy, or AXIS_NONE) to the positions index[] of axis `to` of in. */
static NodeId put_back(Backward *b, NodeId gy, int from, Dims in, int to, const int *index)
{
    Dims out = common(in, dims_union(DIMS(to), dims_of(b->g, gy)));
    return graph_scatter(b->g, grad_part(b, "scatter"), gy, from, out, to, index);
}

/* gy with `axis`, which n has. */
static NodeId with_axis(Backward *b, NodeId n, int axis, NodeId gy)
{
    return grad_spread(b, gy, common(dims_of(b->g, n), dims_union(dims_of(b->g, gy), DIMS(axis))));
}

static NodeId through_slice(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    int count = node.axis == AXIS_NONE ? 1 : b->g->axes[node.axis].n;
    int *index = arena_alloc(&b->g->arena, size_mul((size_t)count, sizeof *index));
    for (int i = 0; i < count; i++)
        index[i] = node.start + i;
    if (node.axis != AXIS_NONE)
        gy = with_axis(b, n, node.axis, gy);
    return put_back(b, gy, node.axis, dims_of(b->g, node.in[k]), node.in_axis[0], index);
}

static NodeId through_gather(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    return put_back(b, with_axis(b, n, node.axis, gy), node.axis, dims_of(b->g, node.in[k]), node.in_axis[0],
                    node.index);
}

/* What was put back in a row is a slice of it; anything else came from a gather. */
static NodeId through_scatter(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    int from = node.in_axis[0], count = from == AXIS_NONE ? 1 : b->g->axes[from].n;
    (void)k;
    if (dims_find(dims_of(b->g, gy), node.axis) < 0)
        return gy;
    bool row = true;
    for (int i = 0; i < count; i++)
        row = row && node.index[i] == node.index[0] + i;
    if (row)
        return graph_slice(b->g, grad_part(b, "slice"), gy, node.axis, node.index[0], from);
    REQUIRE(from != AXIS_NONE);
    return graph_take(b->g, grad_part(b, "gather"), gy, node.axis, node.index, from);
}

/* WHERE chooses between gy and 0 by the same mask; for the second choice by its opposite. */
static NodeId through_where(Backward *b, NodeId n, int k, NodeId gy)
{
    Graph *g = b->g;
    const Node node = *graph_node(g, n);
    NodeId mask = node.in[0], zero = shared_const(b, &b->zero, "zero", DIMS_SCALAR, 0.0f);
    if (k == 2) {
        NodeId one = graph_const(g, grad_part(b, "one"), DIMS_SCALAR, 1.0f);
        mask = graph_where(g, grad_part(b, "unchosen"), mask, zero, one);
    }
    return unbroadcast(b, n, dims_of(g, node.in[k]), graph_where(g, grad_part(b, "chosen"), mask, gy, zero));
}

/* --- maps --- */

static NodeId from_result(Backward *b, NodeId n, int k, NodeId gy)
{
    (void)k;
    return times(b, "product", gy, n, dims_of(b->g, n));
}

static NodeId through_log(Backward *b, NodeId n, int k, NodeId gy)
{
    NodeId x = graph_node(b->g, n)->in[k];
    return sum_to(b, graph_zip(b->g, grad_part(b, "quotient"), OP_DIV, gy, x), dims_of(b->g, x));
}

/* gy / 2y */
static NodeId through_sqrt(Backward *b, NodeId n, int k, NodeId gy)
{
    NodeId half = times_const(b, "half", gy, 0.5f);
    return sum_to(b, graph_zip(b->g, grad_part(b, "quotient"), OP_DIV, half, n),
                  dims_of(b->g, graph_node(b->g, n)->in[k]));
}

/* −½ gy · y³ */
static NodeId through_rsqrt(Backward *b, NodeId n, int k, NodeId gy)
{
    (void)k;
    NodeId square = graph_zip(b->g, grad_part(b, "square"), OP_MUL, n, n);
    NodeId cube = graph_zip(b->g, grad_part(b, "cube"), OP_MUL, square, n);
    NodeId slope = times_const(b, "slope", cube, -0.5f);
    return times(b, "product", gy, slope, dims_of(b->g, n));
}

/* 1 − x */
static NodeId complement(Backward *b, NodeId x)
{
    return graph_zip(b->g, grad_part(b, "complement"), OP_SUB,
                     graph_const(b->g, grad_part(b, "one"), DIMS_SCALAR, 1.0f), x);
}

/* gy · y(1 − y) */
static NodeId through_sigmoid(Backward *b, NodeId n, int k, NodeId gy)
{
    (void)k;
    NodeId slope = graph_zip(b->g, grad_part(b, "slope"), OP_MUL, n, complement(b, n));
    return times(b, "product", gy, slope, dims_of(b->g, n));
}

/* gy · (1 − y²) */
static NodeId through_tanh(Backward *b, NodeId n, int k, NodeId gy)
{
    (void)k;
    NodeId square = graph_zip(b->g, grad_part(b, "square"), OP_MUL, n, n);
    return times(b, "product", gy, complement(b, square), dims_of(b->g, n));
}

/* gy · (log x + 1), 0 at x = 0 */
static NodeId through_xlogx(Backward *b, NodeId n, int k, NodeId gy)
{
    Graph *g = b->g;
    NodeId x = graph_node(g, n)->in[k], log = graph_map(g, grad_part(b, "log"), MAP_LOG, x);
    NodeId more = graph_zip(g, grad_part(b, "log_and_one"), OP_ADD, log,
                            graph_const(g, grad_part(b, "one"), DIMS_SCALAR, 1.0f));
    NodeId slope = graph_where(g, grad_part(b, "slope"), x, more, shared_const(b, &b->zero, "zero", DIMS_SCALAR, 0.0f));
    return times(b, "product", gy, slope, dims_of(g, n));
}

/* gy · −sin x */
static NodeId through_cos(Backward *b, NodeId n, int k, NodeId gy)
{
    NodeId sine = graph_map(b->g, grad_part(b, "sine"), MAP_SIN, graph_node(b->g, n)->in[k]);
    return times(b, "product", gy, times_const(b, "slope", sine, -1.0f), dims_of(b->g, n));
}

/* gy · f′(x) where f′ is a map of its own */
static const struct {
    bool has;
    MapFn slope;
} SLOPES[MAP_COUNT] = {
    [MAP_RELU] = {true, MAP_RELU_GRAD},
    [MAP_GELU] = {true, MAP_GELU_GRAD},
    [MAP_GELU_TANH] = {true, MAP_GELU_TANH_GRAD},
    [MAP_SILU] = {true, MAP_SILU_GRAD},
    [MAP_QUICK_GELU] = {true, MAP_QUICK_GELU_GRAD},
    [MAP_SIN] = {true, MAP_COS},
};

static NodeId through_slope(Backward *b, NodeId n, int k, NodeId gy)
{
    const Node node = *graph_node(b->g, n);
    NodeId slope = graph_map(b->g, grad_part(b, "slope"), SLOPES[node.map].slope, node.in[k]);
    return times(b, "product", gy, slope, node.dims);
}

static Rule *const MAP_RULES[MAP_COUNT] = {
    [MAP_EXP] = from_result,     [MAP_LOG] = through_log,         [MAP_SQRT] = through_sqrt,
    [MAP_RSQRT] = through_rsqrt, [MAP_SIGMOID] = through_sigmoid, [MAP_TANH] = through_tanh,
    [MAP_XLOGX] = through_xlogx, [MAP_COS] = through_cos,
};

static Rule *const RULES[OP_COUNT] = {
    [OP_CONTRACT] = through_contract, [OP_ADD] = through_add,       [OP_SUB] = through_sub,
    [OP_MUL] = through_mul,           [OP_DIV] = through_div,       [OP_SUM] = through_sum,
    [OP_MAX] = through_max,           [OP_VIEW] = through_view,     [OP_CONCAT] = through_concat,
    [OP_SLICE] = through_slice,       [OP_GATHER] = through_gather, [OP_SCATTER] = through_scatter,
    [OP_WHERE] = through_where,
};

static Rule *rule_of(const Node *n)
{
    if (n->flags & NODE_SHIFT)
        return NULL;
    if (n->op == OP_MAP)
        return SLOPES[n->map].has ? through_slope : MAP_RULES[n->map];
    return RULES[n->op];
}

bool grad_passes(const Node *n, int k)
{
    return rule_of(n) && k < op_inputs(n->op) && !(n->op == OP_WHERE && k == 0);
}

NodeId grad_rule(Backward *b, NodeId n, int k, NodeId gy)
{
    return rule_of(graph_node(b->g, n))(b, n, k, gy);
}
