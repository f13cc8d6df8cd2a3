/* How much of a gradient a softmax lets through: behind gradients, for every block that they pass. */
#include "core/models/probe_parts.h"

#include <stdio.h>

/* The gradient of a site, if it has the dims of a pattern. */
static NodeId gradient_of(const Graph *g, int attention, Site site, Dims pattern)
{
    char path[160];
    snprintf(path, sizeof path, "grad.%s", site_path(g, attention, site));
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
    for (int a = NO_PART; (a = anatomy_next(g, a, PART_ATTENTION)) != NO_PART;) {
        NodeId pattern = site_node(g, a, SITE_PATTERN);
        if (pattern == NO_NODE)
            continue;
        Dims d = graph_node(g, pattern)->dims;
        NodeId scores = gradient_of(g, a, SITE_SCORES_SCALED, d), weights = gradient_of(g, a, SITE_PATTERN, d);
        if (scores == NO_NODE || weights == NO_NODE)
            continue; /* what the gradients are of does not depend on it */
        Dims row = dims_minus(d, DIMS(dims_role(g, d, ROLE_KEY)));
        graph_scope(g, "%s.probe", anatomy_part(g, a)->scope);
        through(g, scores, weights, row, DIMS(dims_role(g, d, ROLE_HEAD)));
    }
}
