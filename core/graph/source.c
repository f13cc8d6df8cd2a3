#include "core/graph/source.h"

#include "core/base/err.h"

Moved moved_make(const Graph *g, NodeId id)
{
    const Node *n = graph_node(g, id);
    Dims in = graph_node(g, n->in[0])->dims;
    Moved m = {.along = 1, .inner = 1};
    if (n->op == OP_VIEW) { /* one row of all cells */
        m.inner = graph_cells(g, id);
        m.in_along[0] = 1;
        return m;
    }
    if (n->op == OP_SCATTER) {
        m.inner = dims_stride(g->axes, n->dims, n->axis);
        m.in_along[0] = n->in_axis[0] == AXIS_NONE ? 1 : (size_t)g->axes[n->in_axis[0]].n;
        m.along = (size_t)g->axes[n->axis].n;
        return m;
    }
    m.inner = dims_stride(g->axes, in, n->in_axis[0]);
    m.in_along[0] = (size_t)g->axes[n->in_axis[0]].n;
    if (n->op == OP_CONCAT)
        m.in_along[1] = (size_t)g->axes[n->in_axis[1]].n;
    if (n->axis != AXIS_NONE)
        m.along = (size_t)g->axes[n->axis].n;
    return m;
}

size_t moved_row(const Graph *g, NodeId id, const Moved *m, size_t row, int *which)
{
    const Node *n = graph_node(g, id);
    size_t outer = row / m->along, k = row % m->along;
    *which = 0;
    switch (n->op) {
    case OP_VIEW: return 0;
    case OP_SLICE: k += (size_t)n->start; break;
    case OP_GATHER: k = (size_t)n->index[k]; break;
    case OP_CONCAT:
        if (k >= m->in_along[0]) {
            *which = 1;
            k -= m->in_along[0];
        }
        break;
    default: UNREACHABLE("a node that moves cells");
    }
    return (outer * m->in_along[*which] + k) * m->inner;
}

const int *scatter_inputs(const Graph *g, NodeId id, size_t q, size_t *count)
{
    const Node *n = graph_node(g, id);
    size_t inputs = n->in_axis[0] == AXIS_NONE ? 1 : (size_t)g->axes[n->in_axis[0]].n;
    const int *first = n->index + inputs, *sorted = first + g->axes[n->axis].n + 1;
    *count = (size_t)(first[q + 1] - first[q]);
    return sorted + first[q];
}
