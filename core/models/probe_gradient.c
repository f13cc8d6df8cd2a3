/* How much of a gradient a softmax lets through: behind gradients, for every block that they pass. */
#include "core/models/probe_parts.h"

#include <stdio.h>
#include <string.h>

static int axis_of(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
}

/* The gradient of a node of the block, if it has the dims of a pattern. */
static NodeId gradient_of(const Graph *g, int layer, const char *name, Dims pattern)
{
    char path[96];
    snprintf(path, sizeof path, "grad.blocks.%d.attn.%s", layer, name);
    NodeId n = graph_find(g, path);
    return n != NO_NODE && dims_equal(graph_node(g, n)->dims, pattern) ? n : NO_NODE;
}

/* The mean over the rows that a gradient comes to. */
static void mean_of_rows(Graph *g, NodeId share, NodeId in_row, Dims head)
{
    NodeId zero = graph_const(g, "gradient_zero", DIMS_SCALAR, 0.0f),
           one = graph_const(g, "gradient_one", DIMS_SCALAR, 1.0f),
           reached = graph_where(g, "gradient_reached", in_row, one, zero),
           rows = graph_reduce(g, "gradient_rows", OP_SUM, reached, head),
           known = graph_where(g, "gradient_known", in_row, share, zero),
           sum = graph_reduce(g, "gradient_through_sum", OP_SUM, known, head);
    graph_zip(g, "gradient_through_mean", OP_DIV, sum, rows);
}

/* √(Σ (∂y/∂score)² / Σ (∂y/∂weight)²) over a row, and over all rows of a head. Both sums are made before they are
 * divided: a row that no gradient reaches has 0/0, and must not spoil the head's figure. */
static void through(Graph *g, NodeId scores, NodeId weights, Dims row, Dims head)
{
    NodeId in = graph_zip(g, "gradient_in_sq", OP_MUL, weights, weights),
           out = graph_zip(g, "gradient_out_sq", OP_MUL, scores, scores);
    NodeId in_row = graph_reduce(g, "gradient_in_sum", OP_SUM, in, row),
           out_row = graph_reduce(g, "gradient_out_sum", OP_SUM, out, row);
    NodeId in_head = graph_reduce(g, "gradient_in_all", OP_SUM, in_row, head),
           out_head = graph_reduce(g, "gradient_out_all", OP_SUM, out_row, head);
    NodeId share = graph_map(g, "gradient_through", MAP_SQRT, graph_zip(g, "gradient_share", OP_DIV, out_row, in_row));
    mean_of_rows(g, share, in_row, head);
    graph_map(g, "gradient_through_head", MAP_SQRT, graph_zip(g, "gradient_share_head", OP_DIV, out_head, in_head));
}

void probe_gradient_through(Graph *g)
{
    int h = axis_of(g, "h"), t = axis_of(g, "t"), u = axis_of(g, "u");
    char path[96];
    for (int layer = 0;; layer++) {
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", layer);
        if (graph_find(g, path) == NO_NODE)
            return;
        NodeId scores = gradient_of(g, layer, "scores_scaled", DIMS(h, t, u)),
               weights = gradient_of(g, layer, "pattern", DIMS(h, t, u));
        if (scores == NO_NODE || weights == NO_NODE)
            continue; /* what the gradients are of does not depend on it */
        graph_scope(g, "blocks.%d.attn.probe", layer);
        through(g, scores, weights, DIMS(h, t), DIMS(h));
    }
}
