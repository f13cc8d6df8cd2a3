#include "core/models/normalise.h"

#include "core/base/buf.h"

static const char *inside(Graph *g, const char *name, const char *part)
{
    return arena_printf(&g->arena, "%s.%s", name, part);
}

NodeId graph_normalise(Graph *g, const char *name, NodeId x, int axis, float eps)
{
    Dims stat = dims_minus(graph_node(g, x)->dims, DIMS(axis));
    NodeId width = graph_const(g, inside(g, name, "width"), DIMS_SCALAR, (float)g->axes[axis].n);
    NodeId sum = graph_reduce(g, inside(g, name, "sum"), OP_SUM, x, stat);
    NodeId mean = graph_zip(g, inside(g, name, "mean"), OP_DIV, sum, width);
    NodeId centered = graph_zip(g, inside(g, name, "centered"), OP_SUB, x, mean);
    NodeId sq = graph_zip(g, inside(g, name, "sq"), OP_MUL, centered, centered);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sumsq = graph_reduce(g, inside(g, name, "sumsq"), OP_SUM, sq, stat);
    NodeId var = graph_zip(g, inside(g, name, "var"), OP_DIV, sumsq, width);
    NodeId small = graph_const(g, inside(g, name, "eps"), DIMS_SCALAR, eps);
    NodeId var_eps = graph_zip(g, inside(g, name, "var_eps"), OP_ADD, var, small);
    NodeId rstd = graph_map(g, inside(g, name, "rstd"), MAP_RSQRT, var_eps);
    return graph_zip(g, name, OP_MUL, centered, rstd);
}
