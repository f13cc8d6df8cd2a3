/* A Vision Transformer as a graph. The four equations are those of Dosovitskiy et al. 2021, section 3.1. */
#include "core/models/vit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/vit_build.h"

/* A part of the block being built, or of the model where layer is not one; inside: its scope there, which is set. */
static int build_part(Builder *b, PartKind kind, const char *inside, const char *word)
{
    NnPlace at = nn_place(b->g, "", b->block, inside, word);
    return nn_part(b->g, kind, &at);
}

/* A weight of the model for the functions of nn.h; no data where the model has none. */
static NnWeight weight_of(const Builder *b, VitRole r)
{
    if (!vit_has(b->c, r))
        return (NnWeight){.name = ""};
    const WeightTensor *t = vit_weight(b->w, r, b->layer);
    NnWeight w = {.name = vit_role_path(b->c, r),
                  .dims = build_role_dims(b, r),
                  .data = t->data,
                  .origin = t->origin,
                  .store = t->store};
    REQUIRE(nn_has(&w));
    if (vit_role_in_block(r))
        snprintf(w.scope, sizeof w.scope, "blocks.%d", b->layer);
    return w;
}

NodeId build_weight(Builder *b, VitRole r)
{
    NnWeight w = weight_of(b, r);
    return nn_weight(b->g, &w);
}

/* nn_linear with weights by role; out without the axis b. */
static NodeId linear(Builder *b, const char *name, NodeId x, VitRole w, VitRole bias, Dims out)
{
    NnWeight weight = weight_of(b, w), added = weight_of(b, bias);
    return nn_linear(b->g, name, x, &weight, &added, build_dims(b, out));
}

static NnNorm norm_of(const Builder *b, Dims over, VitRole gamma, VitRole beta)
{
    return (NnNorm){.over = over,
                    .eps = b->c->eps,
                    .gamma = weight_of(b, gamma),
                    .beta = weight_of(b, beta),
                    .rms = b->c->rms_norm};
}

NodeId build_norm(Builder *b, const char *name, NodeId x, VitRole gamma, VitRole beta)
{
    const char *inside = nn_norm_scope(name, b->c->rms_norm);
    NnPlace at = nn_place(b->g, "", b->block, inside, inside);
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
    NnPlace at = nn_place(b->g, "", b->block, "attn", "attention");
    NnNorm merged = {.rms = false};
    if (c->merged_norm)
        merged = norm_of(b, DIMS(b->axis.h, b->axis.e), VIT_MERGED_GAMMA, VIT_MERGED_BETA);
    NnBias bias = {.all = b->bias, .w = b->axis.w, .s = b->axis.s, .way = b->way};
    if (c->bias == VIT_BIAS_BLOCKS)
        bias.table = weight_of(b, VIT_BIAS_TABLE);
    NnAttention a = {.batch = b->axis.b,
                     .query = b->axis.t,
                     .key = b->axis.u,
                     .h = b->axis.h,
                     .g = b->axis.h,
                     .e = b->axis.e,
                     .d = b->axis.d,
                     .w_q = weight_of(b, VIT_W_Q),
                     .b_q = weight_of(b, VIT_B_Q),
                     .w_k = weight_of(b, VIT_W_K),
                     .b_k = weight_of(b, VIT_B_K),
                     .w_v = weight_of(b, VIT_W_V),
                     .b_v = weight_of(b, VIT_B_V),
                     .w_o = weight_of(b, VIT_W_O),
                     .b_o = weight_of(b, VIT_B_O),
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
    NnPlace at = nn_place(b->g, "", b->block, "mlp", "MLP");
    NnNorm hidden = {.rms = false};
    if (c->hidden_norm)
        hidden = norm_of(b, DIMS(b->axis.m), VIT_HIDDEN_GAMMA, VIT_HIDDEN_BETA);
    NnMlp p = {.batch = b->axis.b,
               .t = b->axis.t,
               .m = b->axis.m,
               .d = b->axis.d,
               .w_up = weight_of(b, VIT_W_UP),
               .b_up = weight_of(b, VIT_B_UP),
               .w_down = weight_of(b, VIT_W_DOWN),
               .b_down = weight_of(b, VIT_B_DOWN),
               .w_gate = weight_of(b, VIT_W_GATE),
               .b_gate = weight_of(b, VIT_B_GATE),
               .hidden = c->hidden_norm ? &hidden : NULL,
               .act = c->act};
    NodeId out = nn_mlp(b->g, &at, &p, x, part);
    return layer_scale(b, out, VIT_MLP_LS, *part);
}

/* x + branch, the sum of sub-layer `part` in the block. */
static NodeId add_residual(Builder *b, const char *name, Site site, NodeId x, NodeId branch, int part)
{
    nn_block_scope(b->g, b->block);
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

/* Norms on the branches: z′ = z + LN(MSA(z)), z_l = z′ + LN(MLP(z′)). What a norm gives is what its sub-layer adds. */
static NodeId branch_norm_block(Builder *b, NodeId z)
{
    int part;
    NodeId found = attention(b, z, &part);
    NodeId msa = nn_added(b->g, part, build_norm(b, "ln1", found, VIT_LN1_GAMMA, VIT_LN1_BETA));
    NodeId mid = add_residual(b, "resid_mid", SITE_RESID_MID, z, msa, part);
    found = mlp(b, mid, &part);
    NodeId out = nn_added(b->g, part, build_norm(b, "ln2", found, VIT_LN2_GAMMA, VIT_LN2_BETA));
    return add_residual(b, "resid_post", SITE_RESID_POST, mid, out, part);
}

static NodeId block(Builder *b, NodeId z)
{
    char scope[32];
    snprintf(scope, sizeof scope, "blocks.%d", b->layer);
    b->block = anatomy_add(b->g, (Part){.kind = PART_BLOCK, .scope = scope, .word = "block", .block = b->layer});
    nn_block_scope(b->g, b->block);
    NodeId before = graph_view(b->g, "resid_pre", z, graph_node(b->g, z)->dims);
    anatomy_note(b->g, b->block, SITE_RESID_PRE, before);
    z = b->c->post_norm     ? post_norm_block(b, before)
        : b->c->branch_norm ? branch_norm_block(b, before)
                            : pre_norm_block(b, before);
    anatomy_note(b->g, b->block, SITE_BLOCK_OUT, z);
    graph_flag(b->g, z, NODE_CHECKPOINT);
    return z;
}

/* --- from tokens to the answer: equation 4, and the reconstruction of hidden patches --- */

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
        NnWeight w = weight_of(b, VIT_POOL_W_Q), bias = weight_of(b, VIT_POOL_B_Q);
        q = nn_linear(g, "q", probe, &w, &bias, plain);
    }
    NodeId k = linear(b, "k", tokens, VIT_POOL_W_K, VIT_POOL_B_K, heads);
    NodeId v = linear(b, "v", tokens, VIT_POOL_W_V, VIT_POOL_B_V, heads);
    NodeId raw = graph_contract(g, "scores_raw", k, q, build_dims(b, DIMS(b->axis.h, b->axis.t)));
    NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, raw, graph_const(g, "scale", DIMS(b->axis.h), b->c->scale));
    NodeId pattern = nn_softmax(g, scores, b->axis.t,
                                (SoftmaxNames){"row_max", "shifted", "exp", "row_sum", "pattern"});
    NodeId z = graph_contract(g, "z", pattern, v, build_dims(b, head));
    NodeId out = linear(b, "out", z, VIT_POOL_W_O, VIT_POOL_B_O, d);
    if (b->c->bare_probe) {
        graph_scope(g, "%s", "");
        return graph_view(g, "readout", out, build_dims(b, d));
    }
    NodeId normed = build_norm(b, "pool_norm", out, VIT_POOL_GAMMA, VIT_POOL_BETA);
    graph_scope(g, "pool_mlp");
    NodeId up = linear(b, "pre", normed, VIT_POOL_W_UP, VIT_POOL_B_UP, DIMS(b->axis.m));
    NodeId post = graph_map(g, "post", b->c->act, up);
    NodeId down = linear(b, "out", post, VIT_POOL_W_DOWN, VIT_POOL_B_DOWN, d);
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
    nodes->embedding = c->project ? linear(b, "embedding", y, VIT_PROJECT, VIT_ROLES, DIMS(axis))
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
        return linear(b, "logits", readout, VIT_HEAD_W, VIT_HEAD_B, o);
    NodeId cls = linear(b, "logits_cls", readout, VIT_HEAD_W, VIT_HEAD_B, o);
    NodeId second = graph_slice(g, "readout_dist", tokens, b->axis.t, 1, AXIS_NONE);
    NodeId dist = linear(b, "logits_dist", second, VIT_HEAD_DIST_W, VIT_HEAD_DIST_B, o);
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
    NodeId guess = linear(b, "guess", placed, VIT_GUESS_W, VIT_GUESS_B,
                          DIMS(b->axis.c, b->axis.y, b->axis.i, b->axis.x, b->axis.j));
    for (NodeId n = first; n <= guess; n++)
        if (graph_node(g, n)->op != OP_LEAF)
            graph_flag(g, n, NODE_PROBE);
    return guess;
}

/* Equation 4:  y = LN(z_L⁰), then the classification head. */
static void build_answer(Builder *b, NodeId z, VitNodes *nodes)
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

/* --- all of it --- */

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
