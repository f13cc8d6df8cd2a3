/* A Vision Transformer as a graph. The four equations are those of Dosovitskiy et al. 2021, section 3.1. */
#include "core/models/vit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/vit_build.h"

static void block_scope(Builder *b, const char *inside)
{
    graph_scope(b->g, "blocks.%d%s%s", b->layer, *inside ? "." : "", inside);
}

NodeId build_weight(Builder *b, VitRole r)
{
    char scope[sizeof b->g->scope];
    memcpy(scope, b->g->scope, sizeof scope);
    if (vit_role_in_block(r))
        block_scope(b, "");
    else
        graph_scope(b->g, "%s", "");
    const VitTensor *t = vit_weight(b->w, r, b->layer);
    REQUIRE(t->data && t->origin);
    NodeId n = graph_leaf(b->g, vit_role_name(r), build_role_dims(b, r), (Leaf){LEAF_TENSOR, t->data, t->origin});
    memcpy(b->g->scope, scope, sizeof scope);
    return n;
}

NodeId build_linear(Builder *b, const char *name, NodeId x, VitRole w, bool has_bias, VitRole bias, Dims out)
{
    if (!has_bias)
        return graph_contract(b->g, name, x, build_weight(b, w), build_dims(b, out));
    char sum[48];
    snprintf(sum, sizeof sum, "%s_nobias", name);
    NodeId n = graph_contract(b->g, sum, x, build_weight(b, w), build_dims(b, out));
    graph_flag(b->g, n, NODE_DERIVED);
    return graph_zip(b->g, name, OP_ADD, n, build_weight(b, bias));
}

/* LayerNorm over d (Ba, Kiros and Hinton 2016), in scope `scope` (already set): (x − mean) / √(variance + ε) · γ + β,
 * with the variance divided by D, not by D − 1. */
NodeId build_layer_norm(Builder *b, NodeId x, VitRole gamma, VitRole beta)
{
    Graph *g = b->g;
    Dims stat = dims_minus(graph_node(g, x)->dims, DIMS(b->axis.d));
    NodeId width = graph_const(g, "width", DIMS_SCALAR, (float)b->c->width);
    NodeId sum = graph_reduce(g, "sum", OP_SUM, x, stat);
    NodeId mean = graph_zip(g, "mean", OP_DIV, sum, width);
    NodeId centered = graph_zip(g, "centered", OP_SUB, x, mean);
    NodeId sq = graph_zip(g, "sq", OP_MUL, centered, centered);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sumsq = graph_reduce(g, "sumsq", OP_SUM, sq, stat);
    NodeId var = graph_zip(g, "var", OP_DIV, sumsq, width);
    NodeId var_eps = graph_zip(g, "var_eps", OP_ADD, var, graph_const(g, "eps", DIMS_SCALAR, b->c->eps));
    NodeId rstd = graph_map(g, "rstd", MAP_RSQRT, var_eps);
    NodeId normalized = graph_zip(g, "normalized", OP_MUL, centered, rstd);
    NodeId scaled = graph_zip(g, "scaled", OP_MUL, normalized, build_weight(b, gamma));
    graph_flag(g, scaled, NODE_DERIVED);
    return graph_zip(g, "out", OP_ADD, scaled, build_weight(b, beta));
}

/* exp(x − max) / Σ exp(x − max): the maximum changes nothing but keeps exp from overflowing. */
NodeId build_softmax(Graph *g, NodeId x, int axis, SoftmaxNames name)
{
    Dims rows = dims_minus(graph_node(g, x)->dims, DIMS(axis));
    NodeId max = graph_reduce(g, name.max, OP_MAX, x, rows);
    graph_flag(g, max, NODE_SHIFT);
    NodeId shifted = graph_zip(g, name.shifted, OP_SUB, x, max);
    graph_flag(g, shifted, NODE_DERIVED);
    NodeId e = graph_map(g, name.exp, MAP_EXP, shifted);
    NodeId sum = graph_reduce(g, name.sum, OP_SUM, e, rows);
    return graph_zip(g, name.out, OP_DIV, e, sum);
}

/* MSA(x): softmax(q kᵀ / √d_k) v for every head, then all heads together through W_O (Vaswani et al. 2017,
 * section 3.2). */
static NodeId attention(Builder *b, NodeId x)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    int t = b->axis.t, u = b->axis.u, h = b->axis.h, e = b->axis.e;
    block_scope(b, "attn");
    NodeId seen = graph_view(g, "in", x, build_dims(b, DIMS(u, b->axis.d))); /* the same tokens, as those looked at */
    NodeId q = build_linear(b, "q", x, VIT_W_Q, c->qkv_bias, VIT_B_Q, DIMS(t, h, e));
    NodeId k = build_linear(b, "k", seen, VIT_W_K, c->qkv_bias, VIT_B_K, DIMS(u, h, e));
    NodeId v = build_linear(b, "v", seen, VIT_W_V, c->qkv_bias, VIT_B_V, DIMS(u, h, e));
    NodeId raw = graph_contract(g, "scores_raw", q, k, build_dims(b, DIMS(h, t, u)));
    NodeId scale = graph_const(g, "scale", DIMS(h), c->scale);
    NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, raw, scale);
    graph_flag(g, scores, NODE_DERIVED);
    NodeId pattern = build_softmax(g, scores, u, (SoftmaxNames){"row_max", "shifted", "exp", "row_sum", "pattern"});
    NodeId z = graph_contract(g, "z", pattern, v, build_dims(b, DIMS(t, h, e)));
    NodeId out = build_linear(b, "out", z, VIT_W_O, c->out_bias, VIT_B_O, DIMS(t, b->axis.d));
    return c->layer_scale ? graph_zip(g, "scaled_out", OP_MUL, out, build_weight(b, VIT_ATTN_LS)) : out;
}

/* MLP(x) = act(x W_up + b) W_down + b */
static NodeId mlp(Builder *b, NodeId x)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    block_scope(b, "mlp");
    NodeId pre = build_linear(b, "pre", x, VIT_W_UP, c->mlp_bias, VIT_B_UP, DIMS(b->axis.t, b->axis.m));
    NodeId post = graph_map(g, "post", c->act, pre);
    NodeId out = build_linear(b, "out", post, VIT_W_DOWN, c->mlp_bias, VIT_B_DOWN, DIMS(b->axis.t, b->axis.d));
    return c->layer_scale ? graph_zip(g, "scaled_out", OP_MUL, out, build_weight(b, VIT_MLP_LS)) : out;
}

static NodeId block_norm(Builder *b, const char *scope, NodeId x, VitRole gamma, VitRole beta)
{
    block_scope(b, scope);
    return build_layer_norm(b, x, gamma, beta);
}

static NodeId add_residual(Builder *b, const char *name, NodeId x, NodeId branch)
{
    block_scope(b, "");
    return graph_zip(b->g, name, OP_ADD, x, branch);
}

/* Equation 2:  z′_l = MSA(LN(z_{l−1})) + z_{l−1}
 * Equation 3:  z_l  = MLP(LN(z′_l)) + z′_l */
static NodeId pre_norm_block(Builder *b, NodeId z)
{
    NodeId msa = attention(b, block_norm(b, "ln1", z, VIT_LN1_GAMMA, VIT_LN1_BETA));
    NodeId mid = add_residual(b, "resid_mid", z, msa);
    NodeId out = mlp(b, block_norm(b, "ln2", mid, VIT_LN2_GAMMA, VIT_LN2_BETA));
    return add_residual(b, "resid_post", mid, out);
}

/* The order of the original Transformer: z′ = LN(z + MSA(z)), z_l = LN(z′ + MLP(z′)). */
static NodeId post_norm_block(Builder *b, NodeId z)
{
    NodeId mid = add_residual(b, "resid_mid", z, attention(b, z));
    NodeId normed = block_norm(b, "ln1", mid, VIT_LN1_GAMMA, VIT_LN1_BETA);
    NodeId post = add_residual(b, "resid_post", normed, mlp(b, normed));
    return block_norm(b, "ln2", post, VIT_LN2_GAMMA, VIT_LN2_BETA);
}

/* The answer is small, and on screen all the time. */
static void keep_answer(Graph *g, const VitNodes *nodes)
{
    const NodeId kept[] = {nodes->tokens_out, nodes->readout, nodes->logits, nodes->probs};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i] != NO_NODE)
            graph_flag(g, kept[i], NODE_CHECKPOINT);
}

static void build(Builder *b, const char *const *class_names, const float *input, VitNodes *out)
{
    Graph *g = b->g;
    VitNodes nodes = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE,
                      NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE};
    build_axes(b, class_names);
    nodes.image = build_input(b, input, &nodes);
    NodeId z = nodes.full_embed = build_embedding(b, nodes.image, &nodes);
    graph_flag(g, z, NODE_CHECKPOINT);
    if (b->c->norm_pre) {
        graph_scope(g, "norm_pre");
        z = build_layer_norm(b, z, VIT_PRE_GAMMA, VIT_PRE_BETA);
    }
    for (b->layer = 0; b->layer < b->c->layers; b->layer++) {
        block_scope(b, "");
        NodeId before = graph_view(g, "resid_pre", z, graph_node(g, z)->dims);
        z = b->c->post_norm ? post_norm_block(b, before) : pre_norm_block(b, before);
        graph_flag(g, z, NODE_CHECKPOINT);
    }
    build_answer(b, z, &nodes);
    keep_answer(g, &nodes);
    if (out)
        *out = nodes;
}
_Static_assert(sizeof(VitNodes) == 11 * sizeof(NodeId), "a node more: it begins as NO_NODE in build()");

void vit_build(Graph *g, const VitConfig *c, const VitWeights *w, const char *const *class_names, const float *input,
               VitNodes *nodes)
{
    build(&(Builder){.g = g, .c = c, .w = w}, class_names, input, nodes);
}

void vit_build_batch(Graph *g, const VitConfig *c, const VitWeights *w, const char *const *class_names,
                     const float *input, VitBatch batch, VitNodes *nodes)
{
    REQUIRE(batch.pictures >= 1 && (!batch.hidden || c->mask_token));
    build(&(Builder){.g = g, .c = c, .w = w, .batch = batch}, class_names, input, nodes);
}
