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

/* Fills scope, which at points to. */
static NnPlace place(const Builder *b, const char *inside, const char *word, char *scope, size_t n)
{
    bool in_block = b->block != NO_PART;
    if (in_block)
        snprintf(scope, n, "blocks.%d%s%s", b->layer, *inside ? "." : "", inside);
    else
        snprintf(scope, n, "%s", inside);
    return (NnPlace){.scope = scope,
                     .word = word,
                     .block = in_block ? b->layer : NO_BLOCK,
                     .parent = in_block ? b->block : 0};
}

int build_part(Builder *b, PartKind kind, const char *inside, const char *word)
{
    char scope[64];
    NnPlace at = place(b, inside, word, scope, sizeof scope);
    return nn_part(b->g, kind, &at);
}

static NnWeight weight_of(const Builder *b, VitRole r, bool present)
{
    const WeightTensor *t = vit_weight(b->w, r, b->layer);
    NnWeight w = {.name = vit_role_path(b->c, r)};
    if (!present)
        return w;
    REQUIRE(t->data);
    if (vit_role_in_block(r))
        snprintf(w.scope, sizeof w.scope, "blocks.%d", b->layer);
    w.dims = build_role_dims(b, r);
    w.data = t->data;
    w.origin = t->origin;
    return w;
}

NnWeight build_nn_weight(Builder *b, VitRole r)
{
    return weight_of(b, r, true);
}

NodeId build_weight(Builder *b, VitRole r)
{
    NnWeight w = weight_of(b, r, true);
    return nn_weight(b->g, &w);
}

NodeId build_linear(Builder *b, const char *name, NodeId x, VitRole w, bool has_bias, VitRole bias, Dims out)
{
    NnWeight weight = weight_of(b, w, true), added = weight_of(b, bias, has_bias);
    return nn_linear(b->g, name, x, &weight, &added, build_dims(b, out));
}

static NnNorm norm_of(const Builder *b, Dims over, VitRole gamma, VitRole beta)
{
    return (NnNorm){.over = over,
                    .eps = b->c->eps,
                    .gamma = weight_of(b, gamma, true),
                    .beta = weight_of(b, beta, !b->c->rms_norm),
                    .rms = b->c->rms_norm};
}

NodeId build_norm(Builder *b, const char *name, NodeId x, VitRole gamma, VitRole beta)
{
    char scope[64];
    const char *inside = nn_norm_scope(name, b->c->rms_norm);
    NnPlace at = place(b, inside, inside, scope, sizeof scope);
    NnNorm n = norm_of(b, DIMS(b->axis.d), gamma, beta);
    return nn_norm(b->g, &at, &n, x);
}

static NodeId layer_scale(Builder *b, NodeId out, VitRole scale, int part)
{
    if (!b->c->layer_scale)
        return out;
    out = graph_zip(b->g, "scaled_out", OP_MUL, out, build_weight(b, scale));
    anatomy_note(b->g, part, SITE_OUT, out);
    return out;
}

/* MSA(x): every token asks, every token is looked at. */
static NodeId attention(Builder *b, NodeId x, int *part)
{
    const VitConfig *c = b->c;
    char scope[64];
    NnPlace at = place(b, "attn", "attention", scope, sizeof scope);
    NnNorm merged = {.rms = false};
    if (c->merged_norm)
        merged = norm_of(b, DIMS(b->axis.h, b->axis.e), VIT_MERGED_GAMMA, VIT_MERGED_BETA);
    NnBias bias = {.all = b->bias, .w = b->axis.w, .s = b->axis.s, .way = b->way};
    if (c->bias == VIT_BIAS_BLOCKS)
        bias.table = weight_of(b, VIT_BIAS_TABLE, true);
    NnAttention a = {.batch = b->axis.b,
                     .query = b->axis.t,
                     .key = b->axis.u,
                     .h = b->axis.h,
                     .g = b->axis.h,
                     .e = b->axis.e,
                     .d = b->axis.d,
                     .w_q = weight_of(b, VIT_W_Q, true),
                     .b_q = weight_of(b, VIT_B_Q, vit_has(c, VIT_B_Q)),
                     .w_k = weight_of(b, VIT_W_K, true),
                     .b_k = weight_of(b, VIT_B_K, vit_has(c, VIT_B_K)),
                     .w_v = weight_of(b, VIT_W_V, true),
                     .b_v = weight_of(b, VIT_B_V, vit_has(c, VIT_B_V)),
                     .w_o = weight_of(b, VIT_W_O, true),
                     .b_o = weight_of(b, VIT_B_O, c->out_bias),
                     .scale = c->scale,
                     .bias = c->bias == VIT_BIAS_NONE ? NULL : &bias,
                     .rope = c->rope == VIT_ROPE_NONE ? NULL : &b->rope,
                     .merged = c->merged_norm ? &merged : NULL,
                     .mask = NO_NODE};
    NodeId out = nn_attention(b->g, &at, &a, x, x, part);
    return layer_scale(b, out, VIT_ATTN_LS, *part);
}

static NodeId mlp(Builder *b, NodeId x, int *part)
{
    const VitConfig *c = b->c;
    char scope[64];
    NnPlace at = place(b, "mlp", "MLP", scope, sizeof scope);
    NnNorm hidden = {.rms = false};
    if (c->hidden_norm)
        hidden = norm_of(b, DIMS(b->axis.m), VIT_HIDDEN_GAMMA, VIT_HIDDEN_BETA);
    NnMlp p = {.batch = b->axis.b,
               .t = b->axis.t,
               .m = b->axis.m,
               .d = b->axis.d,
               .w_up = weight_of(b, VIT_W_UP, true),
               .b_up = weight_of(b, VIT_B_UP, c->mlp_bias),
               .w_down = weight_of(b, VIT_W_DOWN, true),
               .b_down = weight_of(b, VIT_B_DOWN, c->mlp_bias),
               .w_gate = weight_of(b, VIT_W_GATE, c->gated),
               .b_gate = weight_of(b, VIT_B_GATE, vit_has(c, VIT_B_GATE)),
               .hidden = c->hidden_norm ? &hidden : NULL,
               .act = c->act};
    NodeId out = nn_mlp(b->g, &at, &p, x, part);
    return layer_scale(b, out, VIT_MLP_LS, *part);
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
    NodeId msa = attention(b, build_norm(b, "ln1", z, VIT_LN1_GAMMA, VIT_LN1_BETA), &part);
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    NodeId out = mlp(b, build_norm(b, "ln2", mid, VIT_LN2_GAMMA, VIT_LN2_BETA), &part);
    return add_residual(b, "resid_post", SITE_RESID_POST, mid, out, part);
}

/* The order of the original Transformer: z′ = LN(z + MSA(z)), z_l = LN(z′ + MLP(z′)). */
static NodeId post_norm_block(Builder *b, NodeId z)
{
    int part;
    NodeId msa = attention(b, z, &part);
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    NodeId normed = build_norm(b, "ln1", mid, VIT_LN1_GAMMA, VIT_LN1_BETA);
    NodeId out = mlp(b, normed, &part);
    NodeId post = add_residual(b, "resid_post", SITE_RESID_POST, normed, out, part);
    return build_norm(b, "ln2", post, VIT_LN2_GAMMA, VIT_LN2_BETA);
}

/* What a norm makes of a sub-layer's result, as what that sub-layer gives. */
static NodeId normed_branch(Builder *b, NodeId out, const char *name, VitRole gamma, VitRole beta, int part)
{
    NodeId normed = build_norm(b, name, out, gamma, beta);
    NodeId added = graph_view(b->g, "added", normed, graph_node(b->g, normed)->dims);
    anatomy_note(b->g, part, SITE_OUT, added);
    return added;
}

/* Norms on the branches: z′ = z + LN(MSA(z)), z_l = z′ + LN(MLP(z′)). What a norm gives is what its sub-layer adds. */
static NodeId branch_norm_block(Builder *b, NodeId z)
{
    int part;
    NodeId found = attention(b, z, &part);
    NodeId msa = normed_branch(b, found, "ln1", VIT_LN1_GAMMA, VIT_LN1_BETA, part);
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    found = mlp(b, mid, &part);
    NodeId out = normed_branch(b, found, "ln2", VIT_LN2_GAMMA, VIT_LN2_BETA, part);
    return add_residual(b, "resid_post", SITE_RESID_POST, mid, out, part);
}

static NodeId block(Builder *b, NodeId z)
{
    char scope[32];
    snprintf(scope, sizeof scope, "blocks.%d", b->layer);
    b->block = anatomy_add(b->g, (Part){.kind = PART_BLOCK, .scope = scope, .word = "block", .block = b->layer});
    block_scope(b, "");
    NodeId before = graph_view(b->g, "resid_pre", z, graph_node(b->g, z)->dims);
    anatomy_note(b->g, b->block, SITE_RESID_PRE, before);
    z = b->c->post_norm     ? post_norm_block(b, before)
        : b->c->branch_norm ? branch_norm_block(b, before)
                            : pre_norm_block(b, before);
    anatomy_note(b->g, b->block, SITE_BLOCK_OUT, z);
    graph_flag(b->g, z, NODE_CHECKPOINT);
    return z;
}

/* The answer is small, and on screen all the time. */
static void keep_answer(Graph *g, const VitNodes *nodes)
{
    const NodeId kept[] = {nodes->tokens_out, nodes->readout,   nodes->logits,
                           nodes->probs,      nodes->embedding, nodes->embedding_unit};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i] != NO_NODE)
            graph_flag(g, kept[i], NODE_CHECKPOINT);
}

static void build(Builder *b, const char *const *class_names, const float *input, VitNodes *out)
{
    Graph *g = b->g;
    VitNodes nodes = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE,
                      NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE};
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
        z = build_norm(b, "norm_pre", z, VIT_PRE_GAMMA, VIT_PRE_BETA);
    if (b->c->rope != VIT_ROPE_NONE)
        build_rope(b);
    build_bias(b);
    for (b->layer = 0; b->layer < b->c->layers; b->layer++)
        z = block(b, z);
    b->block = NO_PART;
    build_answer(b, z, &nodes);
    keep_answer(g, &nodes);
    if (out)
        *out = nodes;
}
_Static_assert(sizeof(VitNodes) == 13 * sizeof(NodeId), "a node more: it begins as NO_NODE in build()");

void vit_build(Graph *g, const VitConfig *c, const Weights *w, const char *const *class_names, const float *input,
               VitNodes *nodes)
{
    build(&(Builder){.g = g, .c = c, .w = w}, class_names, input, nodes);
}

void vit_build_batch(Graph *g, const VitConfig *c, const Weights *w, const char *const *class_names, const float *input,
                     VitBatch batch, VitNodes *nodes)
{
    REQUIRE(batch.pictures >= 1 && (!batch.hidden || c->mask_token));
    build(&(Builder){.g = g, .c = c, .w = w, .batch = batch}, class_names, input, nodes);
}
