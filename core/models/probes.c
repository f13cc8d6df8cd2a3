#include "core/models/probes.h"

#include <stdio.h>
#include <string.h>

#include "core/base/err.h"

static int axis_of(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
}

/* Large and quickly made again: may be forgotten between frames. */
static NodeId passing(Graph *g, NodeId n)
{
    graph_flag(g, n, NODE_DERIVED);
    return n;
}

static NodeId of_block(const Graph *g, int layer, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "blocks.%d.attn.%s", layer, name);
    NodeId n = graph_find(g, path);
    REQUIRE(n != NO_NODE);
    return n;
}

/* H = −Σ A ln A, with 0 ln 0 = 0 (Shannon 1948). */
static void entropy(Graph *g, NodeId pattern, Dims rows)
{
    NodeId plogp = passing(g, graph_map(g, "plogp", MAP_XLOGX, pattern));
    NodeId sum = graph_reduce(g, "plogp_sum", OP_SUM, plogp, rows);
    graph_zip(g, "entropy", OP_MUL, sum, graph_const(g, "minus_one", DIMS_SCALAR, -1.0f));
}

/* Variance over the scores that are not masked. A masked score is −∞, and exp(s·2⁻¹²⁶) tells it from every finite one, whose
 * product is too small to matter: 0 for −∞, about 1 otherwise. A row without any score left has 0/0: no variance. */
static void score_variance(Graph *g, NodeId scores, Dims rows)
{
    NodeId tiny = graph_const(g, "tiny", DIMS_SCALAR, 0x1p-126f);
    NodeId zero = graph_const(g, "zero", DIMS_SCALAR, 0.0f), one = graph_const(g, "one", DIMS_SCALAR, 1.0f);
    NodeId small = passing(g, graph_zip(g, "score_small", OP_MUL, scores, tiny));
    NodeId alive = passing(g, graph_map(g, "score_alive", MAP_EXP, small));
    NodeId ones = passing(g, graph_where(g, "score_ones", alive, one, zero));
    NodeId kept = passing(g, graph_where(g, "score_kept", alive, scores, zero));
    NodeId count = graph_reduce(g, "score_count", OP_SUM, ones, rows);
    NodeId mean = graph_zip(g, "score_mean", OP_DIV, graph_reduce(g, "score_sum", OP_SUM, kept, rows), count);
    NodeId filled = passing(g, graph_where(g, "score_filled", alive, scores, mean)); /* a masked score is then 0 from the mean */
    NodeId centered = passing(g, graph_zip(g, "score_centered", OP_SUB, filled, mean));
    NodeId sq = passing(g, graph_zip(g, "score_sq", OP_MUL, centered, centered));
    NodeId sumsq = graph_reduce(g, "score_sumsq", OP_SUM, sq, rows);
    graph_zip(g, "score_variance", OP_DIV, sumsq, count);
}

static void add_block(Graph *g, const VitConfig *c, int layer)
{
    NodeId pattern = of_block(g, layer, "pattern"), scores = of_block(g, layer, "scores_scaled");
    int h = axis_of(g, "h"), t = axis_of(g, "t"), u = axis_of(g, "u");
    Dims rows = DIMS(h, t);
    graph_scope(g, "blocks.%d.attn.probe", layer);
    entropy(g, pattern, rows);
    graph_reduce(g, "largest", OP_MAX, pattern, rows);
    graph_reduce(g, "row_sum", OP_SUM, pattern, rows);
    score_variance(g, scores, rows);
    NodeId sum = graph_reduce(g, "heads_sum", OP_SUM, pattern, DIMS(t, u));
    graph_zip(g, "mean_pattern", OP_DIV, sum, graph_const(g, "heads", DIMS_SCALAR, (float)c->heads));
}

typedef struct CosineNames {
    const char *sq, *sumsq, *norm, *norm_seen, *seen, *dot, *norms, *cosine;
} CosineNames;

/* cos(a, b) = a·b / (|a| |b|) for every pair of rows of x[p,d]. */
static void cosine(Graph *g, NodeId x, int p, int p0, CosineNames name)
{
    int d = axis_of(g, "d");
    NodeId seen = graph_view(g, name.seen, x, DIMS(p0, d));
    NodeId dot = passing(g, graph_contract(g, name.dot, x, seen, DIMS(p, p0)));
    NodeId sq = passing(g, graph_zip(g, name.sq, OP_MUL, x, x));
    NodeId norm = graph_map(g, name.norm, MAP_SQRT, graph_reduce(g, name.sumsq, OP_SUM, sq, DIMS(p)));
    NodeId norms = passing(g, graph_zip(g, name.norms, OP_MUL, norm, graph_view(g, name.norm_seen, norm, DIMS(p0))));
    graph_zip(g, name.cosine, OP_DIV, dot, norms);
}

static void add_positions(Graph *g, const VitConfig *c, NodeId table)
{
    int p = axis_of(g, "p"), d = axis_of(g, "d");
    Axis seen = g->axes[p];
    snprintf(seen.sym, sizeof seen.sym, "p0");
    seen.name = "patch compared with";
    int p0 = graph_axis(g, seen), rows = graph_node(g, table)->dims.axis[0];
    graph_scope(g, "pos.probe");
    NodeId patches = c->pos == VIT_POS_PATCHES ? graph_view(g, "patches", table, DIMS(p, d))
                                               : graph_slice(g, "patches", table, rows, g->axes[rows].n - g->axes[p].n, p);
    cosine(g, patches, p, p0, (CosineNames){"sq", "sumsq", "norm", "norm_seen", "patches_seen", "dot", "norms", "cosine"});
    NodeId sum = graph_reduce(g, "sum", OP_SUM, patches, DIMS(d));
    NodeId mean = graph_zip(g, "mean", OP_DIV, sum, graph_const(g, "count", DIMS_SCALAR, (float)vit_patches(c)));
    NodeId centred = graph_zip(g, "centred", OP_SUB, patches, mean);
    cosine(g, centred, p, p0, (CosineNames){"centred_sq", "centred_sumsq", "centred_norm", "centred_norm_seen", "centred_seen",
                                            "centred_dot", "centred_norms", "cosine_centred"});
}

void probes_add(Graph *g, const VitConfig *c, const VitNodes *nodes)
{
    NodeId first = g->count;
    for (int layer = 0; layer < c->layers; layer++)
        add_block(g, c, layer);
    if (nodes->pos_embed != NO_NODE && c->pos != VIT_POS_NONE)
        add_positions(g, c, nodes->pos_embed);
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
}
