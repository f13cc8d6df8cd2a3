#include <string.h>

#include "core/graph/graph.h"

Cost graph_cost(const Graph *g, NodeId id)
{
    const Node *n = graph_node(g, id);
    double cells = (double)graph_cells(g, id), reduced = (double)graph_dims_cells(g, graph_reduced(g, id));
    Cost c = {.bytes = 4 * cells};
    switch (n->op) {
    case OP_LEAF:
        if (n->leaf.kind == LEAF_TENSOR)
            c.params = cells;
        break;
    case OP_CONTRACT: c.flops = 2 * cells * reduced; break;
    case OP_SUM:
    case OP_MAX: c.flops = cells * reduced; break;
    case OP_VIEW: c.bytes = 0; break; /* the same memory under other names */
    case OP_CONCAT:
    case OP_SLICE:
    case OP_GATHER:
    case OP_WHERE: break; /* data moves, nothing is computed */
    case OP_SCATTER: c.flops = (double)graph_cells(g, n->in[0]); break;
    default: c.flops = cells; break;
    }
    return c;
}

Cost graph_scope_cost(const Graph *g, const char *scope)
{
    Cost sum = {0};
    size_t len = strlen(scope);
    for (NodeId i = 0; i < g->count; i++) {
        const char *path = g->nodes[i].path;
        if (g->nodes[i].flags & NODE_PROBE) /* an analysis is no part of the model */
            continue;
        if (len && (strncmp(path, scope, len) != 0 || (path[len] && path[len] != '.')))
            continue;
        Cost c = graph_cost(g, i);
        sum.flops += c.flops;
        sum.bytes += c.bytes;
        sum.params += c.params;
    }
    return sum;
}
