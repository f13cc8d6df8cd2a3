#include "core/graph/eval.h"

#include "core/graph/contract.h"

/* The most cells of one row: what must be computed between two looks at the clock. */
enum { ROW_CELLS = 65536 };

NodeId fuse_holder(const Graph *g, NodeId n)
{
    while (graph_node(g, n)->op == OP_VIEW)
        n = graph_node(g, n)->in[0];
    return n;
}

static bool by_rows(Op op)
{
    return (op >= OP_ADD && op <= OP_DIV) || op == OP_WHERE || op == OP_MAP || op == OP_SUM || op == OP_MAX;
}

static bool adds_bias(const Graph *g, NodeId contraction, NodeId n, const NodeId *last)
{
    const Node *c = graph_node(g, contraction), *node = graph_node(g, n);
    return (c->flags & NODE_DERIVED) && last[contraction] == n && node->op == OP_ADD && node->in[0] == contraction &&
           node->in[1] != contraction && dims_equal(node->dims, c->dims) &&
           dims_minus(graph_node(g, node->in[1])->dims, contraction_columns(g, contraction)).n == 0;
}

static Dims common_front(Dims a, Dims b)
{
    Dims d = DIMS_SCALAR;
    while (d.n < a.n && d.n < b.n && a.axis[d.n] == b.axis[d.n]) {
        d.axis[d.n] = a.axis[d.n];
        d.n++;
    }
    return d;
}

Dims fuse_rows(const Graph *g, const NodeId *nodes, int count)
{
    Dims rows = graph_node(g, nodes[0])->dims;
    for (int i = 1; i < count; i++)
        rows = common_front(rows, graph_node(g, nodes[i])->dims);
    return rows;
}

/* Cells that a row of n reads or writes. */
static size_t row_cells(const Graph *g, NodeId n, Dims rows)
{
    return graph_dims_cells(g, dims_minus(graph_node(g, n)->dims, rows)) * graph_dims_cells(g, graph_reduced(g, n));
}

/* A view renames axes: what is made in the job may be read through it only under the same shape. */
static bool reads_rows(const Graph *g, NodeId n, const NodeId *nodes, int count)
{
    const Node *node = graph_node(g, n);
    for (int k = 0; k < op_inputs(node->op); k++) {
        NodeId holder = fuse_holder(g, node->in[k]);
        for (int i = 0; i < count; i++)
            if (nodes[i] == holder && !dims_equal(graph_node(g, holder)->dims, graph_node(g, node->in[k])->dims))
                return false;
    }
    return true;
}

int fuse_count(const Graph *g, const NodeId *nodes, int count, const NodeId *last)
{
    if (count > 1 && graph_node(g, nodes[0])->op == OP_CONTRACT)
        return adds_bias(g, nodes[0], nodes[1], last) ? 2 : 1;
    if (!by_rows(graph_node(g, nodes[0])->op))
        return 1;
    Dims rows = graph_node(g, nodes[0])->dims;
    int n = 1;
    for (; n < count && n < FUSE_MAX; n++) {
        const Node *node = graph_node(g, nodes[n]);
        Dims fewer = common_front(rows, node->dims);
        if (!by_rows(node->op) || fewer.n == 0 || !reads_rows(g, nodes[n], nodes, n))
            break;
        bool small = true;
        for (int i = 0; i <= n; i++)
            small = small && row_cells(g, nodes[i], fewer) <= ROW_CELLS;
        if (!small)
            break;
        rows = fewer;
    }
    return n;
}
