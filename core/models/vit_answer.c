/* From tokens to the answer: equation 4 of Dosovitskiy et al. 2021, and the reconstruction of hidden patches. */
#include "core/models/vit_build.h"

static NodeId mean_of_patches(Builder *b, NodeId tokens)
{
    Graph *g = b->g;
    int prefix = vit_prefix(b->c);
    Dims one = build_dims(b, DIMS(b->axis.d));
    NodeId patches = prefix ? graph_slice(g, "readout_patches", tokens, b->axis.t, prefix, b->axis.p)
                            : graph_view(g, "readout_patches", tokens, build_dims(b, DIMS(b->axis.p, b->axis.d)));
    NodeId sum = graph_reduce(g, "readout_sum", OP_SUM, patches, one);
    NodeId count = graph_const(g, "patch_count", DIMS_SCALAR, (float)vit_patches(b->c));
    return graph_zip(g, "readout", OP_DIV, sum, count);
}

static NodeId build_logits(Builder *b, NodeId readout, NodeId tokens)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    Dims o = DIMS(b->axis.o);
    if (c->pool != VIT_POOL_CLS_DIST)
        return build_linear(b, "logits", readout, VIT_HEAD_W, c->head_bias, VIT_HEAD_B, o);
    NodeId cls = build_linear(b, "logits_cls", readout, VIT_HEAD_W, c->head_bias, VIT_HEAD_B, o);
    NodeId second = graph_slice(g, "readout_dist", tokens, b->axis.t, 1, AXIS_NONE);
    NodeId dist = build_linear(b, "logits_dist", second, VIT_HEAD_DIST_W, c->head_bias, VIT_HEAD_DIST_B, o);
    NodeId sum = graph_zip(g, "logits_sum", OP_ADD, cls, dist);
    return graph_zip(g, "logits", OP_DIV, sum, graph_const(g, "head_count", DIMS_SCALAR, 2.0f));
}

/* Every patch token through one linear layer to the pixels of its own patch: the head of masked image modelling (Xie et
 * al. 2022, SimMIM). No part of the answer, hence computed only when somebody asks. */
static NodeId build_guess(Builder *b, NodeId tokens)
{
    Graph *g = b->g;
    int prefix = vit_prefix(b->c);
    NodeId first = g->count;
    Dims list = build_dims(b, DIMS(b->axis.p, b->axis.d)), grid = build_dims(b, DIMS(b->axis.y, b->axis.x, b->axis.d));
    NodeId patches = prefix ? graph_slice(g, "guess_patches", tokens, b->axis.t, prefix, b->axis.p)
                            : graph_view(g, "guess_patches", tokens, list);
    NodeId placed = graph_view(g, "guess_grid", patches, grid);
    NodeId guess = build_linear(b, "guess", placed, VIT_GUESS_W, true, VIT_GUESS_B,
                                DIMS(b->axis.c, b->axis.y, b->axis.i, b->axis.x, b->axis.j));
    for (NodeId n = first; n <= guess; n++)
        if (graph_node(g, n)->op != OP_LEAF)
            graph_flag(g, n, NODE_PROBE);
    return guess;
}

/* Equation 4:  y = LN(z_L⁰), then the classification head. */
void build_answer(Builder *b, NodeId z, VitNodes *nodes)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    int part = build_part(b, PART_READOUT, "", "read-out");
    if (c->final_norm)
        z = build_layer_norm(b, "ln_final", z, VIT_FINAL_GAMMA, VIT_FINAL_BETA);
    graph_scope(g, "%s", "");
    nodes->tokens_out = z;
    anatomy_note(g, part, SITE_TOKENS_OUT, z);
    if (c->reconstruct)
        nodes->guess = build_guess(b, z);
    anatomy_note(g, part, SITE_GUESS, nodes->guess);
    if (c->pool == VIT_POOL_NONE)
        return;
    nodes->readout = c->pool == VIT_POOL_MEAN ? mean_of_patches(b, z)
                                              : graph_slice(g, "readout", z, b->axis.t, 0, AXIS_NONE);
    anatomy_note(g, part, SITE_READOUT, nodes->readout);
    NodeId y = nodes->readout;
    if (c->fc_norm) {
        y = build_layer_norm(b, "fc_norm", y, VIT_FC_GAMMA, VIT_FC_BETA);
        graph_scope(g, "%s", "");
    }
    if (!c->classes)
        return;
    nodes->logits = build_logits(b, y, z);
    nodes->probs = nn_softmax(g, nodes->logits, b->axis.o,
                              (SoftmaxNames){"probs_row_max", "probs_shifted", "probs_exp", "probs_sum", "probs"});
    anatomy_note(g, part, SITE_LOGITS, nodes->logits);
    anatomy_note(g, part, SITE_PROBS, nodes->probs);
}
