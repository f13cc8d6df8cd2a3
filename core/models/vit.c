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

int build_part(Builder *b, PartKind kind, const char *inside, const char *word)
{
    char scope[64];
    bool in_block = b->block != NO_PART;
    if (in_block)
        snprintf(scope, sizeof scope, "blocks.%d%s%s", b->layer, *inside ? "." : "", inside);
    else
        snprintf(scope, sizeof scope, "%s", inside);
    return anatomy_add(b->g, (Part){.kind = kind,
                                    .scope = scope,
                                    .word = word,
                                    .block = in_block ? b->layer : NO_BLOCK,
                                    .parent = in_block ? b->block : 0});
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

/* LayerNorm over d (Ba, Kiros and Hinton 2016): (x − mean) / √(variance + ε) · γ + β, with the variance divided by D,
 * not by D − 1. */
NodeId build_layer_norm(Builder *b, const char *inside, NodeId x, VitRole gamma, VitRole beta)
{
    Graph *g = b->g;
    int part = build_part(b, PART_NORM, inside, inside);
    graph_scope(g, "%s", anatomy_part(g, part)->scope);
    anatomy_note(g, part, SITE_IN, x);
    Dims stat = dims_minus(graph_node(g, x)->dims, DIMS(b->axis.d));
    NodeId width = graph_const(g, "width", DIMS_SCALAR, (float)b->c->width);
    NodeId sum = graph_reduce(g, "sum", OP_SUM, x, stat);
    NodeId mean = graph_zip(g, "mean", OP_DIV, sum, width);
    NodeId centered = graph_zip(g, "centered", OP_SUB, x, mean);
    NodeId sq = graph_zip(g, "sq", OP_MUL, centered, centered);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sumsq = graph_reduce(g, "sumsq", OP_SUM, sq, stat);
    NodeId var = graph_zip(g, "var", OP_DIV, sumsq, width);
    NodeId eps = graph_const(g, "eps", DIMS_SCALAR, b->c->eps);
    NodeId var_eps = graph_zip(g, "var_eps", OP_ADD, var, eps);
    NodeId rstd = graph_map(g, "rstd", MAP_RSQRT, var_eps);
    NodeId normalized = graph_zip(g, "normalized", OP_MUL, centered, rstd);
    NodeId w = build_weight(b, gamma);
    NodeId scaled = graph_zip(g, "scaled", OP_MUL, normalized, w);
    graph_flag(g, scaled, NODE_DERIVED);
    NodeId shift = build_weight(b, beta);
    NodeId out = graph_zip(g, "out", OP_ADD, scaled, shift);
    const struct {
        Site site;
        NodeId n;
    } notes[] = {
        {SITE_OUT, out}, {SITE_NORM_WIDTH, width}, {SITE_NORM_EPS, eps}, {SITE_NORM_GAMMA, w}, {SITE_NORM_BETA, shift}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        anatomy_note(g, part, notes[i].site, notes[i].n);
    return out;
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
static NodeId attention(Builder *b, NodeId x, int *part)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    int t = b->axis.t, u = b->axis.u, h = b->axis.h, e = b->axis.e;
    *part = build_part(b, PART_ATTENTION, "attn", "attention");
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
    NodeId mixed = c->out_bias ? graph_node(g, out)->in[0] : out; /* the contraction, whose second operand is W_O */
    NodeId w_o = graph_node(g, mixed)->in[1];
    if (c->layer_scale)
        out = graph_zip(g, "scaled_out", OP_MUL, out, build_weight(b, VIT_ATTN_LS));
    const struct {
        Site site;
        NodeId n;
    } notes[] = {{SITE_IN, x},
                 {SITE_QUERY, q},
                 {SITE_KEY, k},
                 {SITE_VALUE, v},
                 {SITE_SCALE, scale},
                 {SITE_SCORES_RAW, raw},
                 {SITE_Z, z},
                 {SITE_PATTERN, pattern},
                 {SITE_EXP, graph_node(g, pattern)->in[0]},
                 {SITE_EXP_SUM, graph_node(g, pattern)->in[1]},
                 {SITE_SCORES_SCALED, scores},
                 {SITE_OUT, out},
                 {SITE_W_O, w_o}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        anatomy_note(g, *part, notes[i].site, notes[i].n);
    anatomy_note_name(g, *part, SITE_SCORES_MASKED, "scores_masked"); /* where a mask puts it */
    return out;
}

/* MLP(x) = act(x W_up + b) W_down + b */
static NodeId mlp(Builder *b, NodeId x, int *part)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    *part = build_part(b, PART_MLP, "mlp", "MLP");
    block_scope(b, "mlp");
    NodeId pre = build_linear(b, "pre", x, VIT_W_UP, c->mlp_bias, VIT_B_UP, DIMS(b->axis.t, b->axis.m));
    NodeId post = graph_map(g, "post", c->act, pre);
    NodeId out = build_linear(b, "out", post, VIT_W_DOWN, c->mlp_bias, VIT_B_DOWN, DIMS(b->axis.t, b->axis.d));
    if (c->layer_scale)
        out = graph_zip(g, "scaled_out", OP_MUL, out, build_weight(b, VIT_MLP_LS));
    anatomy_note(g, *part, SITE_IN, x);
    anatomy_note(g, *part, SITE_MLP_PRE, pre);
    anatomy_note(g, *part, SITE_MLP_POST, post);
    anatomy_note(g, *part, SITE_OUT, out);
    return out;
}

/* x + branch, the sum of sub-layer `part` in the block. */
static NodeId add_residual(Builder *b, const char *name, Site site, NodeId x, NodeId branch, int part)
{
    block_scope(b, "");
    NodeId sum = graph_zip(b->g, name, OP_ADD, x, branch);
    anatomy_note(b->g, b->block, site, sum);
    anatomy_note(b->g, part, SITE_SUM, sum);
    return sum;
}

/* Equation 2:  z′_l = MSA(LN(z_{l−1})) + z_{l−1}
 * Equation 3:  z_l  = MLP(LN(z′_l)) + z′_l */
static NodeId pre_norm_block(Builder *b, NodeId z)
{
    int part;
    NodeId msa = attention(b, build_layer_norm(b, "ln1", z, VIT_LN1_GAMMA, VIT_LN1_BETA), &part);
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    NodeId out = mlp(b, build_layer_norm(b, "ln2", mid, VIT_LN2_GAMMA, VIT_LN2_BETA), &part);
    return add_residual(b, "resid_post", SITE_RESID_POST, mid, out, part);
}

/* The order of the original Transformer: z′ = LN(z + MSA(z)), z_l = LN(z′ + MLP(z′)). */
static NodeId post_norm_block(Builder *b, NodeId z)
{
    int part;
    NodeId msa = attention(b, z, &part);
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    NodeId normed = build_layer_norm(b, "ln1", mid, VIT_LN1_GAMMA, VIT_LN1_BETA);
    NodeId out = mlp(b, normed, &part);
    NodeId post = add_residual(b, "resid_post", SITE_RESID_POST, normed, out, part);
    return build_layer_norm(b, "ln2", post, VIT_LN2_GAMMA, VIT_LN2_BETA);
}

static NodeId block(Builder *b, NodeId z)
{
    char scope[32];
    snprintf(scope, sizeof scope, "blocks.%d", b->layer);
    b->block = anatomy_add(b->g, (Part){.kind = PART_BLOCK, .scope = scope, .word = "block", .block = b->layer});
    block_scope(b, "");
    NodeId before = graph_view(b->g, "resid_pre", z, graph_node(b->g, z)->dims);
    anatomy_note(b->g, b->block, SITE_RESID_PRE, before);
    z = b->c->post_norm ? post_norm_block(b, before) : pre_norm_block(b, before);
    anatomy_note(b->g, b->block, SITE_BLOCK_OUT, z);
    graph_flag(b->g, z, NODE_CHECKPOINT);
    return z;
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
    anatomy_add(g, (Part){.kind = PART_MODEL, .word = "model", .block = NO_BLOCK, .parent = NO_PART});
    b->block = NO_PART;
    build_axes(b, class_names);
    int part = build_part(b, PART_INPUT, "", "picture");
    nodes.image = build_input(b, input, &nodes);
    anatomy_note(g, part, SITE_INPUT, nodes.input);
    anatomy_note(g, part, SITE_IMAGE, nodes.image);
    part = build_part(b, PART_EMBEDDING, "", "embedding");
    NodeId z = nodes.full_embed = build_embedding(b, nodes.image, &nodes);
    anatomy_note(g, part, SITE_EMBED, nodes.patch_embed);
    anatomy_note(g, part, SITE_POSITIONS, nodes.pos_embed);
    anatomy_note(g, part, SITE_EMBEDDED, z);
    anatomy_note(g, part, SITE_MASK_TOKEN, graph_find(g, vit_role_name(VIT_MASK_TOKEN)));
    graph_flag(g, z, NODE_CHECKPOINT);
    if (b->c->norm_pre)
        z = build_layer_norm(b, "norm_pre", z, VIT_PRE_GAMMA, VIT_PRE_BETA);
    for (b->layer = 0; b->layer < b->c->layers; b->layer++)
        z = block(b, z);
    b->block = NO_PART;
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
