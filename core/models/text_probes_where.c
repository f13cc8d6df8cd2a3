/* What is asked of the places of a text: through which tokens attention comes, and how alike learned positions are. */
#include <stdio.h>

#include "core/models/probe_parts.h"

/* The block's attention of a stack to itself. */
static int self_attention(const Graph *g, int block)
{
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_ATTENTION, block)) != NO_PART;) {
        NodeId n = site_node(g, p, SITE_PATTERN);
        if (n != NO_NODE &&
            g->axes[node_role(g, n, ROLE_QUERY)].sequence == g->axes[node_role(g, n, ROLE_KEY)].sequence)
            return p;
    }
    return NO_PART;
}

static void rollout(Graph *g, const char *stack)
{
    ProbeRollout r = {.half = probe_number(g, "half", 0.5f), .zero = probe_number(g, "zero", 0.0f)};
    NodeId before = NO_NODE;
    char mean[160];
    for (int i = 0; i < anatomy_blocks(g, stack); i++) {
        int part = self_attention(g, anatomy_block(g, stack, i));
        if (part == NO_PART)
            return;
        const char *scope = anatomy_part(g, part)->scope;
        if (before == NO_NODE) {
            NodeId pattern = site_node(g, part, SITE_PATTERN);
            r.t = node_role(g, pattern, ROLE_QUERY);
            r.u = node_role(g, pattern, ROLE_KEY);
            r.w = probe_axis(g, r.t, (char[]){*g->axes[r.t].sym, '3', '\0'}, "third token", ROLE_THIRD);
            graph_scope(g, "%s.rollout", stack);
            r.identity = probe_half_identity(g, &r);
        }
        snprintf(mean, sizeof mean, "%s.probe.mean_pattern", scope);
        graph_scope(g, "%s.probe", scope);
        before = probe_rollout_through(g, &r, probe_existing(g, mean), before);
    }
}

/* Of the places of this text, as they stand in the table that was learned. */
static void positions(Graph *g, int embedding)
{
    NodeId table = site_node(g, embedding, SITE_POSITIONS);
    if (table == NO_NODE || graph_node(g, table)->op == OP_LEAF || graph_node(g, table)->dims.n != 2)
        return;
    const Dims d = graph_node(g, table)->dims;
    const int p = d.axis[0],
              p0 = probe_axis(g, p, (char[]){*g->axes[p].sym, '4', '\0'}, "place that it is compared with", ROLE_PLAIN);
    graph_scope(g, "%s.pos.probe", anatomy_part(g, embedding)->scope);
    probe_cosine(g, table, p, p0,
                 (CosineNames){"sq", "sumsq", "norm", "norm_seen", "places_seen", "dot", "norms", "cosine"});
    NodeId count = graph_const(g, "count", DIMS_SCALAR, (float)g->axes[p].n);
    NodeId mean = graph_zip(g, "mean", OP_DIV, graph_reduce(g, "sum", OP_SUM, table, DIMS(d.axis[1])), count);
    NodeId centred = graph_zip(g, "centred", OP_SUB, table, mean);
    probe_cosine(g, centred, p, p0,
                 (CosineNames){"centred_sq", "centred_sumsq", "centred_norm", "centred_norm_seen", "centred_seen",
                               "centred_dot", "centred_norms", "cosine_centred"});
}

void probe_text_places(Graph *g)
{
    for (int e = NO_PART; (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;) {
        rollout(g, anatomy_part(g, e)->stack);
        positions(g, e);
    }
}

void probe_text_gradient(Graph *g)
{
    for (int e = NO_PART; (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;) {
        NodeId x = site_node(g, e, SITE_EMBED);
        char path[160];
        if (x == NO_NODE || graph_node(g, x)->dims.n != 2 ||
            !*anatomy_part(g, e)->scope) /* a picture has its own map */
            continue;
        snprintf(path, sizeof path, "grad.%s", graph_node(g, x)->path);
        NodeId gradient = graph_find(g, path);
        if (gradient == NO_NODE)
            continue;
        graph_scope(g, "%s.where", anatomy_part(g, e)->scope);
        NodeId product = graph_zip(g, "gradient_product", OP_MUL, gradient, x);
        graph_reduce(g, "gradient", OP_SUM, product, DIMS(graph_node(g, x)->dims.axis[0]));
    }
}
