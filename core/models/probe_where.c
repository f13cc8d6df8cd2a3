/* Where the model looked: maps of one number per patch, and how much of each lies on the object where its place is
 * known. */
#include <string.h>

#include "core/base/err.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"

/* The last block's attention of the token that the answer is read from, over the patches; where the answer is read from
 * the patches' mean, the mean of their rows. */
void probe_where(Probes *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId pattern = b->block[c->layers - 1].pattern, row;
    bool first = c->pool == VIT_POOL_CLS || c->pool == VIT_POOL_BOTH || c->pool == VIT_POOL_CLS_DIST ||
                 (c->pool == VIT_POOL_NONE && c->cls);
    graph_scope(g, "where");
    if (first)
        row = graph_slice(g, "attention_row", pattern, b->axis.t, 0, AXIS_NONE);
    else {
        NodeId rows = probe_patches(b->g, "attention_rows", pattern, b->axis.t, b->axis.p);
        row = probe_mean(g, "attention_row", rows, DIMS(b->axis.h, b->axis.u), b->patches);
    }
    NodeId heads = probe_patches(b->g, "attention", row, b->axis.u, b->axis.p);
    probe_mean(g, "attention_mean", heads, DIMS(b->axis.p), graph_const(g, "heads", DIMS_SCALAR, (float)c->heads));
    if (b->nodes->logits != NO_NODE)
        graph_reduce(g, "answer", OP_MAX, b->nodes->logits, DIMS_SCALAR);
}

/* NAME: Σ over the object's patches of x[…,p], divided by Σ over all. */
static void mass(Graph *g, const char *const name[4], NodeId x, NodeId object, int p)
{
    Dims rest = dims_minus(graph_node(g, x)->dims, DIMS(p));
    NodeId on = graph_reduce(g, name[1], OP_SUM, graph_zip(g, name[0], OP_MUL, x, object), rest);
    graph_zip(g, name[3], OP_DIV, on, graph_reduce(g, name[2], OP_SUM, x, rest));
}

static void probes_flag(Graph *g, NodeId first, unsigned flags)
{
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, flags);
    graph_scope(g, "%s", "");
}

void probes_object_add(Graph *g, const float *object)
{
    static const struct {
        const char *path, *name[4];
    } MAPS[] = {
        {"rollout.patches", {"rollout_on", "rollout_on_sum", "rollout_all_sum", "rollout_mass"}},
        {"where.attention_mean", {"mean_on", "mean_on_sum", "mean_all_sum", "mean_mass"}},
        {"where.attention", {"head_on", "head_on_sum", "head_all_sum", "head_mass"}},
    };
    NodeId first = g->count;
    int p = graph_axis_find(g, "p");
    size_t patches = (size_t)g->axes[p].n;
    float *copy = arena_alloc(&g->arena, size_mul(patches, sizeof *copy));
    memcpy(copy, object, patches * sizeof *copy);
    graph_scope(g, "where");
    NodeId leaf = graph_leaf(g, "object", DIMS(p), (Leaf){LEAF_HOST, copy, "where the object was drawn"});
    NodeId count = graph_reduce(g, "object_count", OP_SUM, leaf, DIMS_SCALAR);
    graph_zip(g, "object_share", OP_DIV, count, graph_const(g, "patches", DIMS_SCALAR, (float)patches));
    for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++) {
        NodeId x = graph_find(g, MAPS[i].path);
        REQUIRE(x != NO_NODE);
        mass(g, MAPS[i].name, x, leaf, p);
    }
    probes_flag(g, first, NODE_PROBE);
    probe_notes(g);
}

/* Gradient × input over the picture, where the gradients reach it. */
static void gradient_map(Graph *g)
{
    static const char *const NAMES[] = {"gradient_on", "gradient_on_sum", "gradient_all_sum", "gradient_mass"};
    NodeId image = graph_find(g, "image"), gradient = graph_find(g, "grad.image"),
           object = graph_find(g, "where.object");
    int p = graph_axis_find(g, "p");
    if (gradient == NO_NODE || image == NO_NODE)
        return;
    graph_scope(g, "where");
    NodeId product = graph_zip(g, "gradient_product", OP_MUL, gradient, image);
    NodeId grid = graph_reduce(g, "gradient_grid", OP_SUM, product,
                               DIMS(graph_axis_find(g, "y"), graph_axis_find(g, "x")));
    NodeId map = graph_view(g, "gradient", grid, DIMS(p));
    if (object != NO_NODE)
        mass(g, NAMES, graph_map(g, "gradient_for", MAP_RELU, map), object, p);
}

void probes_gradient_add(Graph *g)
{
    NodeId first = g->count;
    gradient_map(g);
    probe_gradient_through(g);
    probe_notes(g);
    probes_flag(g, first, NODE_PROBE | NODE_DERIVED);
}
