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
    return graph_zip(g, b->c->pool == VIT_POOL_BOTH ? "readout_mean" : "readout", OP_DIV, sum, count);
}

static NodeId class_token(Builder *b, const char *name, NodeId tokens)
{
    return graph_slice(b->g, name, tokens, b->axis.t, 0, AXIS_NONE);
}

/* softmax(q · (tokens W_K)ᵀ · scale) (tokens W_V) W_O with q = probe W_Q, and an MLP behind a norm added to that: the
 * attention pooling of Zhai et al. 2023. A bare probe is q itself, and what W_O gives the answer (Fini et al. 2024). */
static NodeId pooled(Builder *b, NodeId tokens)
{
    Graph *g = b->g;
    Dims head = DIMS(b->axis.h, b->axis.e), heads = DIMS(b->axis.t, b->axis.h, b->axis.e), d = DIMS(b->axis.d);
    graph_scope(g, "pool");
    NodeId probe = build_weight(b, VIT_PROBE);
    /* linear layers stand in the scope that is set; their weights have their own */
    Dims plain = head;
    NodeId q;
    if (b->c->bare_probe) {
        q = graph_view(g, "q", probe, plain);
    } else {
        NnWeight w = build_nn_weight(b, VIT_POOL_W_Q), bias = build_nn_weight(b, VIT_POOL_B_Q);
        q = nn_linear(g, "q", probe, &w, &bias, plain);
    }
    NodeId k = build_linear(b, "k", tokens, VIT_POOL_W_K, vit_has(b->c, VIT_POOL_B_K), VIT_POOL_B_K, heads);
    NodeId v = build_linear(b, "v", tokens, VIT_POOL_W_V, vit_has(b->c, VIT_POOL_B_V), VIT_POOL_B_V, heads);
    NodeId raw = graph_contract(g, "scores_raw", k, q, build_dims(b, DIMS(b->axis.h, b->axis.t)));
    NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, raw, graph_const(g, "scale", DIMS(b->axis.h), b->c->scale));
    NodeId pattern = nn_softmax(g, scores, b->axis.t,
                                (SoftmaxNames){"row_max", "shifted", "exp", "row_sum", "pattern"});
    NodeId z = graph_contract(g, "z", pattern, v, build_dims(b, head));
    NodeId out = build_linear(b, "out", z, VIT_POOL_W_O, true, VIT_POOL_B_O, d);
    if (b->c->bare_probe) {
        graph_scope(g, "%s", "");
        return graph_view(g, "readout", out, build_dims(b, d));
    }
    NodeId normed = build_norm(b, "pool_norm", out, VIT_POOL_GAMMA, VIT_POOL_BETA);
    graph_scope(g, "pool_mlp");
    NodeId up = build_linear(b, "pre", normed, VIT_POOL_W_UP, true, VIT_POOL_B_UP, DIMS(b->axis.m));
    NodeId post = graph_map(g, "post", b->c->act, up);
    NodeId down = build_linear(b, "out", post, VIT_POOL_W_DOWN, true, VIT_POOL_B_DOWN, d);
    graph_scope(g, "%s", "");
    return graph_zip(g, "readout", OP_ADD, out, down);
}

static NodeId build_readout(Builder *b, NodeId tokens)
{
    switch (b->c->pool) {
    case VIT_POOL_MEAN: return mean_of_patches(b, tokens);
    case VIT_POOL_ATTENTION: return pooled(b, tokens);
    case VIT_POOL_BOTH: {
        Graph *g = b->g;
        NodeId cls = class_token(b, "readout_cls", tokens), mean = mean_of_patches(b, tokens);
        return graph_concat(g, "readout", cls, b->axis.d, mean, b->axis.d, b->axis.f);
    }
    default: return class_token(b, "readout", tokens);
    }
}

/* What is compared between pictures: the read-out, projected where the model does so, and its direction y / |y|. */
static void build_embedding_out(Builder *b, NodeId y, VitNodes *nodes)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    if (!c->project && !c->embeds)
        return;
    int axis = c->project ? b->axis.g : b->axis.f;
    nodes->embedding = c->project ? build_linear(b, "embedding", y, VIT_PROJECT, false, VIT_PROJECT, DIMS(axis))
                                  : graph_view(g, "embedding", y, build_dims(b, DIMS(axis)));
    NodeId sq = graph_zip(g, "embedding_sq", OP_MUL, nodes->embedding, nodes->embedding);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sum = graph_reduce(g, "embedding_sumsq", OP_SUM, sq, build_dims(b, DIMS_SCALAR));
    NodeId length = graph_map(g, "embedding_norm", MAP_SQRT, sum);
    nodes->embedding_unit = graph_zip(g, "embedding_unit", OP_DIV, nodes->embedding, length);
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
        z = build_norm(b, "ln_final", z, VIT_FINAL_GAMMA, VIT_FINAL_BETA);
    graph_scope(g, "%s", "");
    nodes->tokens_out = z;
    anatomy_note(g, part, SITE_TOKENS_OUT, z);
    if (c->reconstruct)
        nodes->guess = build_guess(b, z);
    anatomy_note(g, part, SITE_GUESS, nodes->guess);
    if (c->pool == VIT_POOL_NONE)
        return;
    nodes->readout = build_readout(b, z);
    anatomy_note(g, part, SITE_READOUT, nodes->readout);
    NodeId y = nodes->readout;
    if (c->fc_norm) {
        y = build_norm(b, "fc_norm", y, VIT_FC_GAMMA, VIT_FC_BETA);
        graph_scope(g, "%s", "");
    }
    build_embedding_out(b, y, nodes);
    anatomy_note(g, part, SITE_EMBEDDING, nodes->embedding);
    anatomy_note(g, part, SITE_EMBEDDING_UNIT, nodes->embedding_unit);
    if (!c->classes)
        return;
    nodes->logits = build_logits(b, y, z);
    nodes->probs = nn_softmax(g, nodes->logits, b->axis.o,
                              (SoftmaxNames){"probs_row_max", "probs_shifted", "probs_exp", "probs_sum", "probs"});
    anatomy_note(g, part, SITE_LOGITS, nodes->logits);
    anatomy_note(g, part, SITE_PROBS, nodes->probs);
}
