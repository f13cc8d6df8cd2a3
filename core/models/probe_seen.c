/* How far a picture lies from those that the model learned from: the mean of the patches behind one block, less what it
 * is on the average, in the metric of its covariance there (Mahalanobis 1936; for what networks have not seen Lee et
 * al. 2018, "A Simple Unified Framework for Detecting Out-of-Distribution Samples and Adversarial Attacks"). */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"

static NodeId block_out(const Graph *g, int block)
{
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_BLOCK)) != NO_PART;)
        if (anatomy_part(g, part)->block == block)
            return site_node(g, part, SITE_BLOCK_OUT);
    return NO_NODE;
}

void probes_seen_add(Graph *g, const ModelSeen *seen)
{
    NodeId first = g->count, out = block_out(g, seen->block);
    int t = graph_axis_find(g, "t"), p = graph_axis_find(g, "p"), d = graph_axis_find(g, "d");
    int k = probe_axis(g, d, "k1", "direction", ROLE_PLAIN);
    REQUIRE(out != NO_NODE);
    graph_scope(g, "seen.probe");
    NodeId patches = probe_patches(g, "patches", out, t, p);
    NodeId mean = probe_mean(g, "mean", patches, DIMS(d), graph_const(g, "count", DIMS_SCALAR, (float)g->axes[p].n));
    NodeId usual = graph_leaf(g, "usual", DIMS(d),
                              (Leaf){LEAF_TENSOR, seen->mean, "the mean over what it learned from"});
    NodeId metric = graph_leaf(g, "metric", DIMS(k, d),
                               (Leaf){LEAF_TENSOR, seen->metric, "from the covariance over what it learned from"});
    NodeId away = graph_contract(g, "away", metric, graph_zip(g, "centered", OP_SUB, mean, usual), DIMS(k));
    NodeId sq = graph_zip(g, "away_sq", OP_MUL, away, away);
    graph_map(g, "distance", MAP_SQRT, graph_reduce(g, "away_sumsq", OP_SUM, sq, DIMS_SCALAR));
    graph_const(g, "limit", DIMS_SCALAR, seen->limit);
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
    probe_notes(g);
}
