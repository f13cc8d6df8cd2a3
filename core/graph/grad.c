#include "core/graph/grad.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

/* Names of gradients begin at the root, whatever scope is being filled. */
typedef struct Scope {
    char text[sizeof((Graph *)0)->scope];
} Scope;

static Scope enter_root(Graph *g)
{
    Scope s;
    memcpy(s.text, g->scope, sizeof s.text);
    graph_scope(g, "%s", "");
    return s;
}

static void leave_root(Graph *g, Scope s)
{
    memcpy(g->scope, s.text, sizeof s.text);
}

/* What every node that there was before gets. A share is what comes to it through one operand of one consumer. */
typedef struct Tape {
    Backward b;
    NodeId count;        /* nodes before the call */
    const bool *opaque;  /* [count]: nothing passes through it, or NULL */
    bool *wanted;        /* lies between wrt and y */
    int *shares, *given; /* how many shares it gets, and got so far */
    NodeId *total;       /* the sum of those */
    NodeId *thin;        /* the whole gradient, as the rules read it */
    NodeId *full;        /* and with all axes; the arena's */
} Tape;

static bool passes(const Tape *t, NodeId n, int k)
{
    return !(t->opaque && t->opaque[n]) && grad_passes(graph_node(t->b.g, n), k);
}

/* Forward: what depends on wrt. Backward: of that, what y depends on, and through how many operands. */
static void find_wanted(Tape *t, NodeId y, const NodeId *wrt, int count)
{
    const Graph *g = t->b.g;
    bool *depends = xcalloc((size_t)t->count, sizeof *depends);
    for (int i = 0; i < count; i++) {
        REQUIRE(wrt[i] >= 0 && wrt[i] < t->count);
        depends[wrt[i]] = true;
    }
    for (NodeId n = 0; n <= y; n++) {
        const Node *node = graph_node(g, n);
        if (count == 0 && node->op == OP_LEAF)
            depends[n] = node->leaf.kind != LEAF_CONST;
        for (int k = 0; k < op_inputs(node->op); k++)
            depends[n] = depends[n] || (passes(t, n, k) && depends[node->in[k]]);
        depends[n] = depends[n] && !(node->flags & NODE_SHIFT);
    }
    t->wanted[y] = depends[y];
    for (NodeId n = y; n >= 0; n--) {
        const Node *node = graph_node(g, n);
        for (int k = 0; t->wanted[n] && k < op_inputs(node->op); k++)
            if (passes(t, n, k) && depends[node->in[k]]) {
                t->wanted[node->in[k]] = true;
                t->shares[node->in[k]]++;
            }
    }
    free(depends);
}

/* Length of the scope that both paths are in, with its final dot. */
static size_t shared_scope(const char *a, const char *b)
{
    size_t n = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '.')
            n = i + 1;
    return n;
}

/* "grad.blocks.0.attn.exp.from.pattern" */
static const char *share_name(Tape *t, NodeId to, NodeId consumer, int k)
{
    const Graph *g = t->b.g;
    const Node *node = graph_node(g, to), *c = graph_node(g, consumer);
    const char *rest = c->path + shared_scope(node->path, c->path);
    bool twice = false;
    for (int i = 0; i < op_inputs(c->op); i++)
        twice = twice || (i != k && c->in[i] == to && grad_passes(c, i));
    if (t->shares[to] == 1)
        return arena_printf(&t->b.g->arena, "%s%s", t->b.prefix, node->path);
    return twice ? arena_printf(&t->b.g->arena, "%s%s.from.%s.%d", t->b.prefix, node->path, rest, k)
                 : arena_printf(&t->b.g->arena, "%s%s.from.%s", t->b.prefix, node->path, rest);
}

/* n under another name: itself where it was made since node `first`, a view of it where it is older. */
static NodeId named(Graph *g, NodeId n, NodeId first, const char *path)
{
    if (n < first)
        return graph_view(g, path, n, graph_node(g, n)->dims);
    graph_rename(g, n, path);
    return n;
}

/* The gradient of node n is complete: gives it its names. */
static void finish(Tape *t, NodeId n, NodeId first)
{
    Graph *g = t->b.g;
    Dims d = graph_node(g, n)->dims;
    const char *path = arena_printf(&g->arena, "%s%s", t->b.prefix, graph_node(g, n)->path);
    bool whole = dims_equal(graph_node(g, t->total[n])->dims, d);
    t->thin[n] = named(g, t->total[n], first, whole ? path : arena_printf(&g->arena, "%s.thin", path));
    t->full[n] = t->thin[n];
    t->b.base = path;
    if (!whole)
        t->full[n] = named(g, grad_spread(&t->b, t->thin[n], d), first, path);
}

static void add_share(Tape *t, NodeId to, NodeId consumer, int k)
{
    Graph *g = t->b.g;
    NodeId first = g->count, *total = &t->total[to];
    t->b.base = share_name(t, to, consumer, k);
    NodeId x = grad_rule(&t->b, consumer, k, t->thin[consumer]);
    Dims have = graph_node(g, x)->dims, in_order = graph_node(g, to)->dims;
    REQUIRE(dims_equal(have, dims_minus(in_order, dims_minus(in_order, have))));
    if (t->shares[to] > 1)
        x = named(g, x, first, t->b.base);
    t->given[to]++;
    if (t->given[to] == 1)
        *total = x;
    else {
        const char *path = graph_node(g, to)->path;
        first = g->count;
        t->b.base = arena_printf(&g->arena, "%s%s.part%d", t->b.prefix, path, t->given[to] - 1);
        *total = grad_sum(&t->b, t->b.base, *total, x, in_order);
    }
    if (t->given[to] == t->shares[to])
        finish(t, to, first);
}

static void backward(Tape *t, NodeId y)
{
    for (NodeId n = y; n >= 0; n--) {
        const int inputs = op_inputs(graph_node(t->b.g, n)->op);
        for (int k = 0; t->wanted[n] && k < inputs; k++) {
            const Node *node = graph_node(t->b.g, n);
            NodeId to = node->in[k];
            if (t->wanted[to] && passes(t, n, k))
                add_share(t, to, n, k);
        }
    }
}

static NodeId *no_nodes(NodeId *n, NodeId count)
{
    for (NodeId i = 0; i < count; i++)
        n[i] = NO_NODE;
    return n;
}

static NodeId *node_table(NodeId count)
{
    return no_nodes(xmalloc(size_mul((size_t)count, sizeof(NodeId))), count);
}

const NodeId *grad_add(Graph *g, NodeId y, NodeId seed, const NodeId *wrt, int count, const char *prefix)
{
    return grad_add_given(g, y, seed, wrt, count, NULL, prefix);
}

const NodeId *grad_add_given(Graph *g, NodeId y, NodeId seed, const NodeId *wrt, int count, const bool *given,
                             const char *prefix)
{
    const NodeId before = g->count;
    REQUIRE(y >= 0 && y < before && dims_equal(graph_node(g, seed)->dims, graph_node(g, y)->dims));
    Scope scope = enter_root(g);
    size_t n = (size_t)before;
    Tape t = {.b = {.g = g, .prefix = prefix, .minus_one = NO_NODE, .zero = NO_NODE}, .count = before, .opaque = given};
    t.b.ones = node_table(g->axis_count);
    t.total = node_table(before);
    t.thin = node_table(before);
    t.full = no_nodes(arena_alloc(&g->arena, size_mul(n, sizeof *t.full)), before);
    t.wanted = xcalloc(n, sizeof *t.wanted);
    t.shares = xcalloc(n, sizeof *t.shares);
    t.given = xcalloc(n, sizeof *t.given);
    find_wanted(&t, y, wrt, count);
    if (t.wanted[y]) {
        t.total[y] = seed;
        finish(&t, y, before);
        backward(&t, y);
    }
    for (NodeId i = before; i < g->count; i++)
        graph_flag(g, i, NODE_PROBE | NODE_DERIVED);
    leave_root(g, scope);
    free(t.b.ones);
    free(t.total);
    free(t.thin);
    free(t.wanted);
    free(t.shares);
    free(t.given);
    return t.full;
}

NodeId grad_seed(Graph *g, NodeId y, size_t cell, const char *prefix)
{
    Dims d = graph_node(g, y)->dims;
    size_t cells = graph_dims_cells(g, d);
    REQUIRE(cell < cells);
    float *data = arena_alloc(&g->arena, size_mul(cells, sizeof *data));
    memset(data, 0, cells * sizeof *data);
    data[cell] = 1.0f;
    Scope scope = enter_root(g);
    NodeId n = graph_leaf(g, arena_printf(&g->arena, "%sseed", prefix), d,
                          (Leaf){LEAF_CONST, data, "the cell that is asked about"});
    graph_flag(g, n, NODE_PROBE);
    leave_root(g, scope);
    return n;
}

NodeId grad_cross_entropy(Graph *g, NodeId logits, NodeId target, int class_axis)
{
    Scope scope = enter_root(g);
    const NodeId before = g->count;
    Dims all = graph_node(g, logits)->dims, batch = dims_minus(all, DIMS(class_axis));
    REQUIRE(dims_find(all, class_axis) >= 0 && dims_equal(graph_node(g, target)->dims, all));
    graph_scope(g, "loss");
    NodeId max = graph_reduce(g, "max", OP_MAX, logits, batch);
    graph_flag(g, max, NODE_SHIFT);
    NodeId shifted = graph_zip(g, "shifted", OP_SUB, logits, max);
    NodeId sum = graph_reduce(g, "exp_sum", OP_SUM, graph_map(g, "exp", MAP_EXP, shifted), batch);
    NodeId each = graph_zip(g, "each", OP_SUB, graph_map(g, "log_sum", MAP_LOG, sum), shifted);
    graph_scope(g, "%s", "");
    NodeId loss = graph_contract(g, "loss", target, each, batch);
    for (NodeId n = before; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    leave_root(g, scope);
    return loss;
}
