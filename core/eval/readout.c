#include "core/eval/batch_run.h"

#include "core/base/err.h"
#include "core/graph/anatomy.h"

Readout readout_used(const Model *m)
{
    const PictureGrid grid = model_grid(m);
    return !grid.rows || (grid.class_read && m->vit.pool != VIT_POOL_BOTH) ? READOUT_CLASS_TOKEN
           : m->vit.pool == VIT_POOL_MEAN                                  ? READOUT_MEAN
                                                                           : READOUT_NEITHER;
}

bool readout_has_other(const Model *m)
{
    const VitConfig *c = &m->vit;
    const Readout used = readout_used(m);
    return model_grid(m).rows && c->classes && c->pool != VIT_POOL_NONE && used != READOUT_NEITHER &&
           (used != READOUT_MEAN || c->cls);
}

static int axis_of(const Graph *g, AxisRole role)
{
    int axis = graph_role(g, role, SEQUENCE_ANY);
    REQUIRE(axis != AXIS_NONE);
    return axis;
}

static NodeId weight(const Graph *g, const VitConfig *c, VitRole r)
{
    NodeId n = graph_find(g, vit_role_path(c, r));
    REQUIRE(n != NO_NODE);
    return n;
}

/* The norm of the read-out (timm's fc_norm), with the weights that are there. */
static NodeId norm(Graph *g, const VitConfig *c, NodeId x, int b)
{
    NodeId width = graph_const(g, "width", DIMS_SCALAR, (float)c->width),
           eps = graph_const(g, "eps", DIMS_SCALAR, c->eps);
    if (c->rms_norm) {
        NodeId squares = graph_reduce(g, "sumsq", OP_SUM, graph_zip(g, "sq", OP_MUL, x, x), DIMS(b));
        NodeId mean = graph_zip(g, "meansq_eps", OP_ADD, graph_zip(g, "meansq", OP_DIV, squares, width), eps);
        NodeId unit = graph_zip(g, "normalized", OP_MUL, x, graph_map(g, "rrms", MAP_RSQRT, mean));
        return graph_zip(g, "out", OP_MUL, unit, weight(g, c, VIT_FC_GAMMA));
    }
    NodeId mean = graph_zip(g, "mean", OP_DIV, graph_reduce(g, "sum", OP_SUM, x, DIMS(b)), width);
    NodeId centered = graph_zip(g, "centered", OP_SUB, x, mean);
    NodeId sumsq = graph_reduce(g, "sumsq", OP_SUM, graph_zip(g, "sq", OP_MUL, centered, centered), DIMS(b));
    NodeId var = graph_zip(g, "var_eps", OP_ADD, graph_zip(g, "var", OP_DIV, sumsq, width), eps);
    NodeId normalized = graph_zip(g, "normalized", OP_MUL, centered, graph_map(g, "rstd", MAP_RSQRT, var));
    return graph_zip(g, "out", OP_ADD, graph_zip(g, "scaled", OP_MUL, normalized, weight(g, c, VIT_FC_GAMMA)),
                     weight(g, c, VIT_FC_BETA));
}

static NodeId mean_of_patches(Graph *g, const VitConfig *c, NodeId tokens, int b)
{
    int t = axis_of(g, ROLE_QUERY), p = axis_of(g, ROLE_PLACE), d = axis_of(g, ROLE_WIDTH), prefix = vit_prefix(c);
    NodeId patches = prefix ? graph_slice(g, "patches", tokens, t, prefix, p)
                            : graph_view(g, "patches", tokens, DIMS(b, p, d));
    NodeId sum = graph_reduce(g, "sum_of_patches", OP_SUM, patches, DIMS(b, d));
    return graph_zip(g, "mean_of_patches", OP_DIV, sum, graph_const(g, "count", DIMS_SCALAR, (float)vit_patches(c)));
}

const char *readout_add(Graph *g, const Model *m)
{
    const VitConfig *c = &m->vit;
    if (!readout_has_other(m))
        return NULL;
    int b = axis_of(g, ROLE_BATCH), o = axis_of(g, ROLE_ANSWER);
    NodeId tokens = site_node_any(g, SITE_TOKENS_OUT);
    graph_scope(g, "exam.other");
    NodeId y = readout_used(m) == READOUT_MEAN
                   ? graph_slice(g, "class_token", tokens, axis_of(g, ROLE_QUERY), 0, AXIS_NONE)
                   : mean_of_patches(g, c, tokens, b);
    if (c->fc_norm)
        y = norm(g, c, y, b);
    NodeId logits = graph_contract(g, c->head_bias ? "logits_nobias" : "logits", y, weight(g, c, VIT_HEAD_W),
                                   DIMS(b, o));
    if (c->head_bias)
        logits = graph_zip(g, "logits", OP_ADD, logits, weight(g, c, VIT_HEAD_B));
    graph_scope(g, "%s", "");
    return graph_node(g, logits)->path;
}
