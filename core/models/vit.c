/* A Vision Transformer as a graph. The four equations are those of Dosovitskiy et al. 2021, section 3.1. */
#include "core/models/vit.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"

typedef struct Builder {
    Graph *g;
    const VitConfig *c;
    const VitWeights *w;
    int layer; /* the block being built */
    struct {
        int c, y, i, x, j, p, n, t, u, h, e, d, m, o;
        int cls, dist, reg, rows; /* the prefix tokens of each kind; the rows of the position table */
    } axis;
} Builder;

/* The axes of a weight, from the letters of its role. */
static Dims role_dims(const Builder *b, VitRole r)
{
    Dims d = DIMS_SCALAR;
    for (const char *a = vit_role_axes(r); *a; a++) {
        int axis = AXIS_NONE;
        switch (*a) {
        case 'd': axis = b->axis.d; break;
        case 'c': axis = b->axis.c; break;
        case 'i': axis = b->axis.i; break;
        case 'j': axis = b->axis.j; break;
        case 'h': axis = b->axis.h; break;
        case 'e': axis = b->axis.e; break;
        case 'm': axis = b->axis.m; break;
        case 'o': axis = b->axis.o; break;
        case '1': axis = b->axis.cls; break;
        case '2': axis = b->axis.dist; break;
        case '3': axis = b->axis.reg; break;
        case 'r': axis = b->axis.rows; break;
        default: break;
        }
        REQUIRE(axis != AXIS_NONE);
        d.axis[d.n++] = axis;
    }
    return d;
}

static void block_scope(Builder *b, const char *inside)
{
    graph_scope(b->g, "blocks.%d%s%s", b->layer, *inside ? "." : "", inside);
}

/* A weight becomes a leaf where it is first needed, under its own name whatever scope is being filled. */
static NodeId weight(Builder *b, VitRole r)
{
    char scope[sizeof b->g->scope];
    memcpy(scope, b->g->scope, sizeof scope);
    if (vit_role_in_block(r))
        block_scope(b, "");
    else
        graph_scope(b->g, "%s", "");
    const VitTensor *t = vit_weight(b->w, r, b->layer);
    REQUIRE(t->data && t->origin);
    NodeId n = graph_leaf(b->g, vit_role_name(r), role_dims(b, r), (Leaf){LEAF_TENSOR, t->data, t->origin});
    memcpy(b->g->scope, scope, sizeof scope);
    return n;
}

/* name = x · W (+ bias): the sum alone is kept as name_nobias where a bias follows. */
static NodeId linear(Builder *b, const char *name, NodeId x, VitRole w, bool has_bias, VitRole bias, Dims out)
{
    if (!has_bias)
        return graph_contract(b->g, name, x, weight(b, w), out);
    char sum[48];
    snprintf(sum, sizeof sum, "%s_nobias", name);
    NodeId n = graph_contract(b->g, sum, x, weight(b, w), out);
    graph_flag(b->g, n, NODE_DERIVED);
    return graph_zip(b->g, name, OP_ADD, n, weight(b, bias));
}

/* LayerNorm over d (Ba, Kiros and Hinton 2016), in scope `scope` (already set): (x − mean) / √(variance + ε) · γ + β,
 * with the variance divided by D, not by D − 1. */
static NodeId layer_norm(Builder *b, NodeId x, VitRole gamma, VitRole beta)
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
    NodeId scaled = graph_zip(g, "scaled", OP_MUL, normalized, weight(b, gamma));
    graph_flag(g, scaled, NODE_DERIVED);
    return graph_zip(g, "out", OP_ADD, scaled, weight(b, beta));
}

typedef struct SoftmaxNames {
    const char *max, *shifted, *exp, *sum, *out;
} SoftmaxNames;

/* exp(x − max) / Σ exp(x − max): the maximum changes nothing but keeps exp from overflowing. */
static NodeId softmax(Graph *g, NodeId x, int axis, SoftmaxNames name)
{
    Dims rows = dims_minus(graph_node(g, x)->dims, DIMS(axis));
    NodeId max = graph_reduce(g, name.max, OP_MAX, x, rows);
    NodeId shifted = graph_zip(g, name.shifted, OP_SUB, x, max);
    graph_flag(g, shifted, NODE_DERIVED);
    NodeId e = graph_map(g, name.exp, MAP_EXP, shifted);
    NodeId sum = graph_reduce(g, name.sum, OP_SUM, e, rows);
    return graph_zip(g, name.out, OP_DIV, e, sum);
}

/* --- axes --- */

static int plain(Graph *g, const char *sym, const char *name, int n)
{
    Axis a = {.name = name, .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static const char *const *prefix_labels(Graph *g, const VitConfig *c)
{
    int n = vit_prefix(c), at = 0;
    const char **labels = arena_alloc(&g->arena, size_mul((size_t)n + 1, sizeof *labels));
    if (c->cls)
        labels[at++] = "cls";
    if (c->dist)
        labels[at++] = "dist";
    for (int i = 0; i < c->registers; i++)
        labels[at++] = arena_printf(&g->arena, "reg%d", i);
    return labels;
}

static int token_axis(Graph *g, const char *sym, const char *name, const VitConfig *c, int prefix, const char *const *labels, bool patches)
{
    Axis a = {.name = name, .kind = AXIS_TOKEN, .prefix = prefix, .cols = c->image_w / c->patch_w, .labels = labels};
    a.n = prefix + (patches ? vit_patches(c) : 0);
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

/* One kind of prefix token alone is the axis n; with several kinds each has an axis of its own and n is all of them. */
static void make_prefix_axes(Builder *b, const char *const *labels)
{
    const VitConfig *c = b->c;
    Graph *g = b->g;
    int kinds = c->cls + c->dist + (c->registers > 0), first = 0;
    b->axis.n = b->axis.cls = b->axis.dist = b->axis.reg = AXIS_NONE;
    if (kinds == 0)
        return;
    b->axis.n = token_axis(g, "n", "prefix token", c, vit_prefix(c), labels, false);
    if (c->cls)
        b->axis.cls = kinds == 1 ? b->axis.n : token_axis(g, "n1", "class token", c, 1, labels + first, false);
    first += c->cls;
    if (c->dist)
        b->axis.dist = kinds == 1 ? b->axis.n : token_axis(g, "n2", "distillation token", c, 1, labels + first, false);
    first += c->dist;
    if (c->registers)
        b->axis.reg = kinds == 1 ? b->axis.n : token_axis(g, "n3", "register token", c, c->registers, labels + first, false);
}

static void make_axes(Builder *b, const char *const *class_names)
{
    const VitConfig *c = b->c;
    Graph *g = b->g;
    const char *const *labels = prefix_labels(g, c);
    b->axis.c = graph_axis(g, (Axis){.sym = "c", .name = "colour channel", .n = c->channels, .kind = AXIS_COLOUR});
    b->axis.y = plain(g, "y", "patch row", c->image_h / c->patch_h);
    b->axis.i = plain(g, "i", "pixel row in a patch", c->patch_h);
    b->axis.x = plain(g, "x", "patch column", c->image_w / c->patch_w);
    b->axis.j = plain(g, "j", "pixel column in a patch", c->patch_w);
    b->axis.p = graph_axis(g, (Axis){.sym = "p", .name = "patch", .n = vit_patches(c), .kind = AXIS_PATCH, .cols = c->image_w / c->patch_w});
    b->axis.d = plain(g, "d", "model width", c->width);
    b->axis.t = token_axis(g, "t", "token that asks", c, vit_prefix(c), labels, true);
    b->axis.u = token_axis(g, "u", "token looked at", c, vit_prefix(c), labels, true);
    b->axis.h = plain(g, "h", "head", c->heads);
    b->axis.e = plain(g, "e", "width of one head", c->head_dim);
    b->axis.m = plain(g, "m", "MLP width", c->mlp);
    b->axis.o = c->classes ? graph_axis(g, (Axis){.sym = "o", .name = "class", .n = c->classes, .kind = AXIS_CLASS, .labels = class_names})
                           : AXIS_NONE;
    make_prefix_axes(b, labels);
    b->axis.rows = AXIS_NONE;
    if (c->pos == VIT_POS_ALL)
        b->axis.rows = b->axis.t;
    else if (c->pos == VIT_POS_PATCHES)
        b->axis.rows = b->axis.p;
    else if (c->pos == VIT_POS_BEFORE_REGISTERS)
        b->axis.rows = token_axis(g, "t0", "token without registers", c, vit_prefix(c) - c->registers, labels, true);
}

/* --- from pixels to tokens --- */

static NodeId channel_const(Builder *b, const char *name, const float *values)
{
    size_t n = (size_t)b->c->channels;
    float *copy = arena_alloc(&b->g->arena, size_mul(n, sizeof *copy));
    memcpy(copy, values, n * sizeof *copy);
    return graph_leaf(b->g, name, DIMS(b->axis.c), (Leaf){LEAF_CONST, copy, "constant"});
}

/* The picture's own mean per channel is taken away and the rest divided by its own root mean square (+ 0.01 against grey pictures). */
static NodeId standardise_per_image(Builder *b, NodeId unit)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId doubled = graph_zip(g, "pixels_doubled", OP_MUL, unit, graph_const(g, "two", DIMS_SCALAR, 2.0f));
    NodeId sign = graph_zip(g, "pixels_signed", OP_SUB, doubled, graph_const(g, "one", DIMS_SCALAR, 1.0f));
    float plane = (float)c->image_h * (float)c->image_w;
    NodeId sum = graph_reduce(g, "image_sum", OP_SUM, sign, DIMS(b->axis.c));
    NodeId mean = graph_zip(g, "image_mean", OP_DIV, sum, graph_const(g, "image_pixels", DIMS_SCALAR, plane));
    NodeId centered = graph_zip(g, "image_centered", OP_SUB, sign, mean);
    NodeId sq = graph_zip(g, "image_sq", OP_MUL, centered, centered);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sumsq = graph_reduce(g, "image_sumsq", OP_SUM, sq, DIMS_SCALAR);
    NodeId var = graph_zip(g, "image_var", OP_DIV, sumsq, graph_const(g, "image_values", DIMS_SCALAR, plane * (float)c->channels));
    NodeId var_eps = graph_zip(g, "image_var_eps", OP_ADD, var, graph_const(g, "image_eps", DIMS_SCALAR, 0.01f));
    NodeId rms = graph_map(g, "image_rms", MAP_SQRT, var_eps);
    return graph_zip(g, "image", OP_DIV, centered, rms);
}

static NodeId build_input(Builder *b, const float *input, VitNodes *nodes)
{
    Graph *g = b->g;
    Dims d = DIMS(b->axis.c, b->axis.y, b->axis.i, b->axis.x, b->axis.j);
    graph_scope(g, "%s", "");
    if (b->c->input == VIT_INPUT_READY)
        return nodes->input = graph_leaf(g, "image", d, (Leaf){LEAF_INPUT, input, "ready pixel values"});
    nodes->input = graph_leaf(g, "pixels", d, (Leaf){LEAF_INPUT, input, "picture"});
    NodeId range = graph_const(g, "pixel_range", DIMS_SCALAR, b->c->range);
    NodeId unit = graph_zip(g, "pixels_unit", OP_DIV, nodes->input, range);
    if (b->c->input == VIT_INPUT_PER_IMAGE)
        return standardise_per_image(b, unit);
    NodeId centered = graph_zip(g, "pixels_centered", OP_SUB, unit, channel_const(b, "pixel_mean", b->c->mean));
    return graph_zip(g, "image", OP_DIV, centered, channel_const(b, "pixel_std", b->c->std));
}

/* x_p E: every patch, flattened in the order channel, row, column, times the projection (the paper's convolution with stride P). */
static NodeId build_patches(Builder *b, NodeId image)
{
    Graph *g = b->g;
    Dims grid = DIMS(b->axis.y, b->axis.x, b->axis.d), list = DIMS(b->axis.p, b->axis.d);
    graph_scope(g, "%s", "");
    if (!b->c->patch_bias)
        return graph_view(g, "patch_embed", graph_contract(g, "patch_embed.out", image, weight(b, VIT_PATCH_W), grid), list);
    NodeId sums = graph_contract(g, "patch_embed.out_nobias", image, weight(b, VIT_PATCH_W), grid);
    graph_flag(g, sums, NODE_DERIVED);
    NodeId rows = graph_view(g, "patch_embed.rows_nobias", sums, list);
    return graph_zip(g, "patch_embed", OP_ADD, rows, weight(b, VIT_PATCH_B));
}

/* The tokens of prefix that stand in front of the patches, put together; NO_NODE when there are none. */
static NodeId build_prefix(Builder *b)
{
    const VitConfig *c = b->c;
    Graph *g = b->g;
    NodeId all = NO_NODE;
    int axis = AXIS_NONE, left = c->cls + c->dist + (c->registers > 0);
    const struct {
        bool present;
        VitRole role;
        int axis;
    } kinds[] = {{c->cls, VIT_CLS, b->axis.cls}, {c->dist, VIT_DIST, b->axis.dist}, {c->registers > 0, VIT_REGISTERS, b->axis.reg}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!kinds[k].present)
            continue;
        NodeId leaf = weight(b, kinds[k].role);
        left--;
        if (all == NO_NODE) {
            all = leaf;
            axis = kinds[k].axis;
            continue;
        }
        int joined = left ? plain(g, "n4", "cls and dist", 2) : b->axis.n;
        all = graph_concat(g, left ? "prefix_pair" : "prefix", all, axis, leaf, kinds[k].axis, joined);
        axis = joined;
    }
    return all;
}

/* [x_class; x_p E]: prefix tokens in front of the patches. */
static NodeId join(Builder *b, const char *name, NodeId prefix, NodeId patches)
{
    if (prefix == NO_NODE)
        return graph_view(b->g, name, patches, DIMS(b->axis.t, b->axis.d));
    return graph_concat(b->g, name, prefix, b->axis.n, patches, b->axis.p, b->axis.t);
}

/* Registers that get no position stand between the positioned prefix and the patches (Darcet et al. 2024). */
static NodeId positions_before_registers(Builder *b, NodeId patches, VitNodes *nodes)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId registers = weight(b, VIT_REGISTERS), first = NO_NODE;
    int shorter = b->axis.rows, front = AXIS_NONE;
    if (c->cls && c->dist) {
        front = plain(g, "n4", "cls and dist", 2);
        first = graph_concat(g, "prefix_pair", weight(b, VIT_CLS), b->axis.cls, weight(b, VIT_DIST), b->axis.dist, front);
    } else if (c->cls || c->dist) {
        front = c->cls ? b->axis.cls : b->axis.dist;
        first = weight(b, c->cls ? VIT_CLS : VIT_DIST);
    }
    nodes->pos_embed = weight(b, VIT_POS);
    NodeId tokens = first == NO_NODE ? graph_view(g, "tokens", patches, DIMS(shorter, b->axis.d))
                                     : graph_concat(g, "tokens", first, front, patches, b->axis.p, shorter);
    NodeId placed = graph_zip(g, "tokens_placed", OP_ADD, tokens, nodes->pos_embed);
    NodeId rest = graph_slice(g, "patches_placed", placed, shorter, vit_prefix(c) - c->registers, b->axis.p);
    if (first == NO_NODE)
        return graph_concat(g, "full_embed", registers, b->axis.n, rest, b->axis.p, b->axis.t);
    NodeId head = graph_slice(g, "prefix_placed", placed, shorter, 0, front);
    NodeId prefix = graph_concat(g, "prefix", head, front, registers, b->axis.reg, b->axis.n);
    return graph_concat(g, "full_embed", prefix, b->axis.n, rest, b->axis.p, b->axis.t);
}

/* Equation 1:  z₀ = [x_class; x_p¹ E; …; x_pᴺ E] + E_pos */
static NodeId build_embedding(Builder *b, NodeId image, VitNodes *nodes)
{
    Graph *g = b->g;
    NodeId patches = nodes->patch_embed = build_patches(b, image);
    switch (b->c->pos) {
    case VIT_POS_BEFORE_REGISTERS: return positions_before_registers(b, patches, nodes);
    case VIT_POS_PATCHES:
        nodes->pos_embed = weight(b, VIT_POS);
        patches = graph_zip(g, "patches_placed", OP_ADD, patches, nodes->pos_embed);
        return join(b, "full_embed", build_prefix(b), patches);
    case VIT_POS_ALL: {
        NodeId tokens = join(b, "tokens", build_prefix(b), patches);
        nodes->pos_embed = weight(b, VIT_POS);
        return graph_zip(g, "full_embed", OP_ADD, tokens, nodes->pos_embed);
    }
    default: return join(b, "full_embed", build_prefix(b), patches);
    }
}

/* --- one block --- */

/* MSA(x): softmax(q kᵀ / √d_k) v for every head, then all heads together through W_O (Vaswani et al. 2017, section 3.2). */
static NodeId attention(Builder *b, NodeId x)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    int t = b->axis.t, u = b->axis.u, h = b->axis.h, e = b->axis.e;
    block_scope(b, "attn");
    NodeId seen = graph_view(g, "in", x, DIMS(u, b->axis.d)); /* the same tokens, as those looked at */
    NodeId q = linear(b, "q", x, VIT_W_Q, c->qkv_bias, VIT_B_Q, DIMS(t, h, e));
    NodeId k = linear(b, "k", seen, VIT_W_K, c->qkv_bias, VIT_B_K, DIMS(u, h, e));
    NodeId v = linear(b, "v", seen, VIT_W_V, c->qkv_bias, VIT_B_V, DIMS(u, h, e));
    NodeId raw = graph_contract(g, "scores_raw", q, k, DIMS(h, t, u));
    NodeId scale = graph_const(g, "scale", DIMS(h), c->scale);
    NodeId scores = graph_zip(g, "scores_scaled", OP_MUL, raw, scale);
    graph_flag(g, scores, NODE_DERIVED);
    NodeId pattern = softmax(g, scores, u, (SoftmaxNames){"row_max", "shifted", "exp", "row_sum", "pattern"});
    NodeId z = graph_contract(g, "z", pattern, v, DIMS(t, h, e));
    NodeId out = linear(b, "out", z, VIT_W_O, c->out_bias, VIT_B_O, DIMS(t, b->axis.d));
    return c->layer_scale ? graph_zip(g, "scaled_out", OP_MUL, out, weight(b, VIT_ATTN_LS)) : out;
}

/* MLP(x) = act(x W_up + b) W_down + b */
static NodeId mlp(Builder *b, NodeId x)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    block_scope(b, "mlp");
    NodeId pre = linear(b, "pre", x, VIT_W_UP, c->mlp_bias, VIT_B_UP, DIMS(b->axis.t, b->axis.m));
    NodeId post = graph_map(g, "post", c->act, pre);
    NodeId out = linear(b, "out", post, VIT_W_DOWN, c->mlp_bias, VIT_B_DOWN, DIMS(b->axis.t, b->axis.d));
    return c->layer_scale ? graph_zip(g, "scaled_out", OP_MUL, out, weight(b, VIT_MLP_LS)) : out;
}

static NodeId block_norm(Builder *b, const char *scope, NodeId x, VitRole gamma, VitRole beta)
{
    block_scope(b, scope);
    return layer_norm(b, x, gamma, beta);
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

/* --- from tokens to the answer --- */

static NodeId mean_of_patches(Builder *b, NodeId tokens)
{
    Graph *g = b->g;
    int prefix = vit_prefix(b->c);
    Dims one = DIMS(b->axis.d);
    NodeId patches = prefix ? graph_slice(g, "readout_patches", tokens, b->axis.t, prefix, b->axis.p)
                            : graph_view(g, "readout_patches", tokens, DIMS(b->axis.p, b->axis.d));
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
        return linear(b, "logits", readout, VIT_HEAD_W, c->head_bias, VIT_HEAD_B, o);
    NodeId cls = linear(b, "logits_cls", readout, VIT_HEAD_W, c->head_bias, VIT_HEAD_B, o);
    NodeId second = graph_slice(g, "readout_dist", tokens, b->axis.t, 1, AXIS_NONE);
    NodeId dist = linear(b, "logits_dist", second, VIT_HEAD_DIST_W, c->head_bias, VIT_HEAD_DIST_B, o);
    NodeId sum = graph_zip(g, "logits_sum", OP_ADD, cls, dist);
    return graph_zip(g, "logits", OP_DIV, sum, graph_const(g, "head_count", DIMS_SCALAR, 2.0f));
}

/* Equation 4:  y = LN(z_L⁰), then the classification head. */
static void build_answer(Builder *b, NodeId z, VitNodes *nodes)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    if (c->final_norm) {
        graph_scope(g, "ln_final");
        z = layer_norm(b, z, VIT_FINAL_GAMMA, VIT_FINAL_BETA);
    }
    graph_scope(g, "%s", "");
    nodes->tokens_out = z;
    if (c->pool == VIT_POOL_NONE)
        return;
    nodes->readout = c->pool == VIT_POOL_MEAN ? mean_of_patches(b, z) : graph_slice(g, "readout", z, b->axis.t, 0, AXIS_NONE);
    NodeId y = nodes->readout;
    if (c->fc_norm) {
        graph_scope(g, "fc_norm");
        y = layer_norm(b, y, VIT_FC_GAMMA, VIT_FC_BETA);
        graph_scope(g, "%s", "");
    }
    if (!c->classes)
        return;
    nodes->logits = build_logits(b, y, z);
    nodes->probs = softmax(g, nodes->logits, b->axis.o,
                           (SoftmaxNames){"probs_row_max", "probs_shifted", "probs_exp", "probs_sum", "probs"});
}

void vit_build(Graph *g, const VitConfig *c, const VitWeights *w, const char *const *class_names, const float *input, VitNodes *out)
{
    Builder b = {.g = g, .c = c, .w = w};
    VitNodes nodes = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE};
    make_axes(&b, class_names);
    nodes.image = build_input(&b, input, &nodes);
    NodeId z = nodes.full_embed = build_embedding(&b, nodes.image, &nodes);
    if (c->norm_pre) {
        graph_scope(g, "norm_pre");
        z = layer_norm(&b, z, VIT_PRE_GAMMA, VIT_PRE_BETA);
    }
    for (b.layer = 0; b.layer < c->layers; b.layer++) {
        block_scope(&b, "");
        NodeId before = graph_view(g, "resid_pre", z, graph_node(g, z)->dims);
        z = c->post_norm ? post_norm_block(&b, before) : pre_norm_block(&b, before);
    }
    build_answer(&b, z, &nodes);
    if (out)
        *out = nodes;
}
