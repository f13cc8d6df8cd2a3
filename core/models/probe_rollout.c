/* Attention rollout (Abnar and Zuidema 2020): how much of every token's place reaches a token through all blocks, if
 * attention alone carried it. The variant with the residual stream: A = ½ mean of heads + ½ I, every row divided by its
 * sum, R_l = A_l R_{l−1}. */
#include "core/models/probe_parts.h"

/* ½ on the diagonal: token number less token number is 0 there. In this way nothing of T² cells exists before it is
 * looked at. */
static NodeId half_identity(Probes *b)
{
    Graph *g = b->g;
    int n = vit_tokens(b->c);
    float *number = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *number));
    for (int i = 0; i < n; i++)
        number[i] = (float)i;
    graph_scope(g, "rollout");
    NodeId query = graph_leaf(g, "number", DIMS(b->axis.t), (Leaf){LEAF_CONST, number, "the token's number"});
    NodeId key = graph_view(g, "number_seen", query, DIMS(b->axis.u));
    NodeId apart = probe_passing(g, graph_zip(g, "apart", OP_SUB, query, key));
    return probe_passing(g, graph_where(g, "half_identity", apart, b->zero, b->half));
}

static NodeId add_block(Probes *b, int layer, NodeId identity, NodeId before)
{
    Graph *g = b->g;
    Dims square = DIMS(b->axis.t, b->axis.u), row = DIMS(b->axis.t);
    probe_scope(b, layer);
    NodeId half = probe_passing(g, graph_zip(g, "mean_half", OP_MUL, b->block[layer].mean_pattern, b->half));
    NodeId mixed = probe_passing(g, graph_zip(g, "rollout_mixed", OP_ADD, half, identity));
    NodeId step = graph_zip(g, "rollout_step", OP_DIV, mixed, graph_reduce(g, "rollout_mixed_sum", OP_SUM, mixed, row));
    NodeId product = step;
    if (before != NO_NODE) {
        NodeId earlier = graph_view(g, "rollout_before", before, DIMS(b->axis.u, b->axis.w));
        product = graph_contract(g, "rollout_product", step, earlier, DIMS(b->axis.t, b->axis.w));
    }
    NodeId rollout = graph_view(g, "rollout", product, square);
    graph_reduce(g, "rollout_sum", OP_SUM, rollout, row);
    return rollout;
}

/* The row of the token that the answer is read from; where it is read from the patches' mean, or not at all, the mean
 * of their rows. */
static NodeId answer_row(Probes *b, NodeId rollout)
{
    Graph *g = b->g;
    bool first = b->c->pool == VIT_POOL_CLS || b->c->pool == VIT_POOL_CLS_DIST ||
                 (b->c->pool == VIT_POOL_NONE && b->c->cls);
    if (first)
        return graph_slice(g, "row", rollout, b->axis.t, 0, AXIS_NONE);
    NodeId rows = probe_patches(b, "rows", rollout, b->axis.t, b->axis.p);
    return probe_mean(g, "row", rows, DIMS(b->axis.u), b->patches);
}

void probe_rollout(Probes *b)
{
    NodeId identity = half_identity(b), rollout = NO_NODE;
    for (int layer = 0; layer < b->c->layers; layer++)
        rollout = add_block(b, layer, identity, rollout);
    graph_scope(b->g, "rollout");
    NodeId row = answer_row(b, rollout), patches = probe_patches(b, "patches", row, b->axis.u, b->axis.p);
    graph_reduce(b->g, "patches_sum", OP_SUM, patches, DIMS_SCALAR);
}
