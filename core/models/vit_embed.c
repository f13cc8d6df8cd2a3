/* From pixels to tokens: equation 1 of Dosovitskiy et al. 2021. */
#include "core/models/vit_build.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"

static NodeId channel_const(Builder *b, const char *name, const float *values)
{
    size_t n = (size_t)b->c->channels;
    float *copy = arena_alloc(&b->g->arena, size_mul(n, sizeof *copy));
    memcpy(copy, values, n * sizeof *copy);
    return graph_leaf(b->g, name, DIMS(b->axis.c), (Leaf){LEAF_CONST, copy, "constant"});
}

/* The picture's own mean per channel is taken away and the rest divided by its own root mean square (+ 0.01 against
 * grey pictures). */
static NodeId standardise_per_image(Builder *b, NodeId unit)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId doubled = graph_zip(g, "pixels_doubled", OP_MUL, unit, graph_const(g, "two", DIMS_SCALAR, 2.0f));
    NodeId sign = graph_zip(g, "pixels_signed", OP_SUB, doubled, graph_const(g, "one", DIMS_SCALAR, 1.0f));
    float plane = (float)c->image_h * (float)c->image_w;
    NodeId sum = graph_reduce(g, "image_sum", OP_SUM, sign, build_dims(b, DIMS(b->axis.c)));
    NodeId mean = graph_zip(g, "image_mean", OP_DIV, sum, graph_const(g, "image_pixels", DIMS_SCALAR, plane));
    NodeId centered = graph_zip(g, "image_centered", OP_SUB, sign, mean);
    NodeId sq = graph_zip(g, "image_sq", OP_MUL, centered, centered);
    graph_flag(g, sq, NODE_DERIVED);
    NodeId sumsq = graph_reduce(g, "image_sumsq", OP_SUM, sq, build_dims(b, DIMS_SCALAR));
    NodeId var = graph_zip(g, "image_var", OP_DIV, sumsq,
                           graph_const(g, "image_values", DIMS_SCALAR, plane * (float)c->channels));
    NodeId var_eps = graph_zip(g, "image_var_eps", OP_ADD, var, graph_const(g, "image_eps", DIMS_SCALAR, 0.01f));
    NodeId rms = graph_map(g, "image_rms", MAP_SQRT, var_eps);
    return graph_zip(g, "image", OP_DIV, centered, rms);
}

NodeId build_input(Builder *b, const float *input, VitNodes *nodes)
{
    Graph *g = b->g;
    Dims d = build_dims(b, DIMS(b->axis.c, b->axis.y, b->axis.i, b->axis.x, b->axis.j));
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

/* x_p E: every patch, flattened in the order channel, row, column, times the projection (the paper's convolution with
 * stride P). */
static NodeId build_patches(Builder *b, NodeId image)
{
    Graph *g = b->g;
    Dims grid = build_dims(b, DIMS(b->axis.y, b->axis.x, b->axis.d)), list = build_dims(b, DIMS(b->axis.p, b->axis.d));
    graph_scope(g, "%s", "");
    if (!b->c->patch_bias)
        return graph_view(g, "patch_embed",
                          graph_contract(g, "patch_embed.out", image, build_weight(b, VIT_PATCH_W), grid), list);
    NodeId sums = graph_contract(g, "patch_embed.out_nobias", image, build_weight(b, VIT_PATCH_W), grid);
    graph_flag(g, sums, NODE_DERIVED);
    NodeId rows = graph_view(g, "patch_embed.rows_nobias", sums, list);
    return graph_zip(g, "patch_embed", OP_ADD, rows, build_weight(b, VIT_PATCH_B));
}

/* What a masked patch looks like to the rest of the model: mask_token in the place of x_p E (Devlin et al. 2019; Bao et
 * al. 2022). The leaf hidden is 1 there; WHERE keeps the patches, whose shape it takes, where it is 0. */
static NodeId hide_patches(Builder *b, NodeId patches, NodeId mask_token, VitNodes *nodes)
{
    Graph *g = b->g;
    if (!b->batch.hidden)
        return patches;
    REQUIRE(mask_token != NO_NODE && b->axis.b != AXIS_NONE);
    nodes->hidden = graph_leaf(g, "hidden", DIMS(b->axis.b, b->axis.p),
                               (Leaf){LEAF_INPUT, b->batch.hidden, "patches to hide"});
    NodeId shown = graph_zip(g, "patch_shown", OP_SUB, graph_const(g, "patch_one", DIMS_SCALAR, 1.0f), nodes->hidden);
    return graph_where(g, "patch_hidden", shown, patches, mask_token);
}

/* A token that is the same for every picture, once for each of them: −0 + x is x, bit for bit. */
static NodeId for_each_picture(Builder *b, const char *name, NodeId token)
{
    if (b->axis.b == AXIS_NONE || token == NO_NODE)
        return token;
    NodeId zero = graph_find(b->g, "batch_zero");
    if (zero == NO_NODE)
        zero = graph_const(b->g, "batch_zero", DIMS(b->axis.b), -0.0f);
    return graph_zip(b->g, name, OP_ADD, zero, token);
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
    } kinds[] = {{c->cls, VIT_CLS, b->axis.cls},
                 {c->dist, VIT_DIST, b->axis.dist},
                 {c->registers > 0, VIT_REGISTERS, b->axis.reg}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!kinds[k].present)
            continue;
        NodeId leaf = build_weight(b, kinds[k].role);
        left--;
        if (all == NO_NODE) {
            all = leaf;
            axis = kinds[k].axis;
            continue;
        }
        int joined = left ? build_axis(g, "n4", "cls and dist", ROLE_PREFIX, 2) : b->axis.n;
        all = graph_concat(g, left ? "prefix_pair" : "prefix", all, axis, leaf, kinds[k].axis, joined);
        axis = joined;
    }
    return for_each_picture(b, "prefix_each", all);
}

/* [x_class; x_p E]: prefix tokens in front of the patches. */
static NodeId join(Builder *b, const char *name, NodeId prefix, NodeId patches)
{
    if (prefix == NO_NODE)
        return graph_view(b->g, name, patches, build_dims(b, DIMS(b->axis.t, b->axis.d)));
    return graph_concat(b->g, name, prefix, b->axis.n, patches, b->axis.p, b->axis.t);
}

/* --- positions --- */

/* [to,from]: how much each old row counts in each new one. */
static NodeId fit_leaf(Builder *b, const char *name, int to, int from)
{
    Graph *g = b->g;
    size_t n = size_mul((size_t)g->axes[to].n, (size_t)g->axes[from].n);
    double *exact = xcalloc(n, sizeof *exact);
    float *weights = arena_alloc(&g->arena, size_mul(n, sizeof *weights));
    vit_fit_weights(b->c, g->axes[from].n, g->axes[to].n, exact);
    for (size_t i = 0; i < n; i++)
        weights[i] = (float)exact[i];
    free(exact);
    return graph_leaf(g, name, DIMS(to, from), (Leaf){LEAF_CONST, weights, "how much an old row counts in a new one"});
}

/* The position table, fitted to the picture's grid where it was made for another: rows first, then columns; the rows of
 * prefix tokens are not touched. */
static NodeId build_positions(Builder *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    if (!vit_resizes(c))
        return build_weight(b, VIT_POS);
    int d = b->axis.d, prefix = g->axes[b->axis.table].prefix, y0, x0, old;
    NodeId table = build_weight(b, VIT_POS);
    y0 = build_axis(g, "y0", "row of the old grid", ROLE_PLAIN, c->table_h);
    x0 = build_axis(g, "x0", "column of the old grid", ROLE_PLAIN, c->table_w);
    old = graph_axis(g, (Axis){.sym = "q0",
                               .name = "place of the old grid",
                               .n = c->table_h * c->table_w,
                               .kind = AXIS_PATCH,
                               .cols = c->table_w,
                               .role = ROLE_PLAIN,
                               .sequence = SEQUENCE_PICTURE});
    graph_scope(g, "pos_fit");
    NodeId places = prefix ? graph_slice(g, "places", table, b->axis.table, prefix, old)
                           : graph_view(g, "places", table, DIMS(old, d));
    NodeId grid = graph_view(g, "grid", places, DIMS(y0, x0, d));
    NodeId rows = graph_contract(g, "rows", grid, fit_leaf(b, "row_weights", b->axis.y, y0), DIMS(b->axis.y, x0, d));
    NodeId both = graph_contract(g, "cols", rows, fit_leaf(b, "col_weights", b->axis.x, x0),
                                 DIMS(b->axis.y, b->axis.x, d));
    NodeId list = graph_view(g, prefix ? "list" : "all", both, DIMS(prefix ? b->axis.p : b->axis.rows, d));
    if (prefix) {
        int front = build_axis(g, "n5", "rows of prefix tokens", ROLE_PREFIX, prefix);
        list = graph_concat(g, "all", graph_slice(g, "front", table, b->axis.table, 0, front), front, list, b->axis.p,
                            b->axis.rows);
    }
    graph_scope(g, "%s", "");
    return list;
}

/* Which numbers are rotated together. */
static void build_pairs(Builder *b)
{
    const VitConfig *c = b->c;
    size_t e = (size_t)c->head_dim;
    b->partner = arena_alloc(&b->g->arena, size_mul(e, sizeof *b->partner));
    b->pair = arena_alloc(&b->g->arena, size_mul(e, sizeof *b->pair));
    for (int pair = 0, first, second; pair < c->head_dim / 2; pair++) {
        vit_rope_pair(c, pair, &first, &second);
        b->partner[first] = second;
        b->partner[second] = first;
        b->pair[first] = b->pair[second] = pair;
    }
}

/* cos and sin of every patch's angles, 1 and 0 for prefix tokens. */
static void build_fixed_rope(Builder *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    int prefix = vit_prefix(c), e = c->head_dim, first, second;
    size_t n = size_mul((size_t)vit_tokens(c), (size_t)e);
    float *cosine = arena_alloc(&g->arena, size_mul(n, sizeof *cosine)),
          *sine = arena_alloc(&g->arena, size_mul(n, sizeof *sine));
    for (int t = 0; t < vit_tokens(c); t++)
        for (int pair = 0; pair < e / 2; pair++) {
            double angle = t < prefix ? 0 : vit_rope_angle(c, t - prefix, pair);
            vit_rope_pair(c, pair, &first, &second);
            size_t row = (size_t)t * (size_t)e;
            cosine[row + (size_t)first] = cosine[row + (size_t)second] = (float)dm_cos(angle);
            sine[row + (size_t)second] = (float)dm_sin(angle);
            sine[row + (size_t)first] = -sine[row + (size_t)second];
        }
    Dims d = DIMS(b->axis.t, b->axis.e);
    b->rope = (NnRope){.cos = graph_leaf(g, "rope_cos", d, (Leaf){LEAF_CONST, cosine, "cosines of the angles"}),
                       .sin = graph_leaf(g, "rope_sin", d, (Leaf){LEAF_CONST, sine, "sines of the angles"}),
                       .partner = b->partner,
                       .freqs = NO_NODE};
}

/* What the angles of every block and head are made of: the frequencies, and column and row of every patch, 0 and 0 for
 * prefix tokens, which are not rotated. */
static void build_learned_rope(Builder *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    size_t tokens = (size_t)vit_tokens(c), e = (size_t)c->head_dim;
    int prefix = vit_prefix(c), first, second, at[2];
    float *places = arena_alloc(&g->arena, size_mul(tokens, 2 * sizeof *places)),
          *sign = arena_alloc(&g->arena, size_mul(e, sizeof *sign));
    for (int t = 0; t < vit_tokens(c); t++) {
        at[0] = at[1] = 0;
        if (t >= prefix)
            vit_rope_place(c, t - prefix, at);
        places[2 * t] = (float)at[0];
        places[2 * t + 1] = (float)at[1];
    }
    for (int pair = 0; pair < c->head_dim / 2; pair++) {
        vit_rope_pair(c, pair, &first, &second);
        sign[first] = -1;
        sign[second] = 1;
    }
    b->rope = (NnRope){.cos = NO_NODE,
                       .sin = NO_NODE,
                       .partner = b->partner,
                       .freqs = build_weight(b, VIT_ROPE_FREQS),
                       .places = graph_leaf(g, "rope_places", DIMS(b->axis.t, b->axis.a),
                                            (Leaf){LEAF_CONST, places, "column and row of every patch"}),
                       .sign = graph_leaf(g, "rope_sign", DIMS(b->axis.e),
                                          (Leaf){LEAF_CONST, sign, "which way a pair turns"}),
                       .l = b->axis.l,
                       .k = b->axis.k,
                       .pair = b->pair};
}

void build_rope(Builder *b)
{
    graph_scope(b->g, "%s", "");
    build_pairs(b);
    if (b->c->rope == VIT_ROPE_LEARNED)
        build_learned_rope(b);
    else
        build_fixed_rope(b);
}

void build_bias(Builder *b)
{
    const VitConfig *c = b->c;
    int tokens = vit_tokens(c);
    b->bias = NO_NODE;
    if (c->bias == VIT_BIAS_NONE)
        return;
    b->way = arena_alloc(&b->g->arena, size_mul(size_mul((size_t)tokens, (size_t)tokens), sizeof *b->way));
    for (int t = 0; t < tokens; t++)
        for (int u = 0; u < tokens; u++)
            b->way[(size_t)t * (size_t)tokens + (size_t)u] = vit_bias_row(c, t, u);
    if (c->bias != VIT_BIAS_SHARED)
        return;
    graph_scope(b->g, "%s", "");
    NnBias shared = {.w = b->axis.w, .s = b->axis.s, .way = b->way};
    b->bias = nn_bias(b->g, "rel_bias", build_weight(b, VIT_SHARED_BIAS_TABLE), &shared,
                      DIMS(b->axis.h, b->axis.t, b->axis.u));
}

/* Registers that get no position stand between the positioned prefix and the patches (Darcet et al. 2024). */
static NodeId positions_before_registers(Builder *b, NodeId patches, VitNodes *nodes)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId registers = for_each_picture(b, "registers_each", build_weight(b, VIT_REGISTERS)), first = NO_NODE;
    int shorter = b->axis.rows, front = AXIS_NONE;
    if (c->cls && c->dist) {
        front = build_axis(g, "n4", "cls and dist", ROLE_PREFIX, 2);
        NodeId dist = build_weight(b, VIT_DIST), cls = build_weight(b, VIT_CLS);
        first = graph_concat(g, "prefix_pair", cls, b->axis.cls, dist, b->axis.dist, front);
    } else if (c->cls || c->dist) {
        front = c->cls ? b->axis.cls : b->axis.dist;
        first = build_weight(b, c->cls ? VIT_CLS : VIT_DIST);
    }
    first = for_each_picture(b, "front_each", first);
    nodes->pos_embed = build_positions(b);
    NodeId tokens = first == NO_NODE ? graph_view(g, "tokens", patches, build_dims(b, DIMS(shorter, b->axis.d)))
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
NodeId build_embedding(Builder *b, NodeId image, VitNodes *nodes)
{
    Graph *g = b->g;
    NodeId mask_token = b->c->mask_token ? build_weight(b, VIT_MASK_TOKEN)
                                         : NO_NODE; /* an edit may want it where nothing reads it */
    NodeId patches = nodes->patch_embed = build_patches(b, image);
    if (b->c->patch_norm) {
        patches = build_norm(b, "ln_patch", patches, VIT_PATCH_GAMMA, VIT_PATCH_BETA);
        graph_scope(g, "%s", "");
    }
    patches = hide_patches(b, patches, mask_token, nodes);
    switch (b->c->pos) {
    case VIT_POS_BEFORE_REGISTERS: return positions_before_registers(b, patches, nodes);
    case VIT_POS_PATCHES:
        nodes->pos_embed = build_positions(b);
        patches = graph_zip(g, "patches_placed", OP_ADD, patches, nodes->pos_embed);
        return join(b, "full_embed", build_prefix(b), patches);
    case VIT_POS_ALL: {
        NodeId tokens = join(b, "tokens", build_prefix(b), patches);
        nodes->pos_embed = build_positions(b);
        return graph_zip(g, "full_embed", OP_ADD, tokens, nodes->pos_embed);
    }
    default: return join(b, "full_embed", build_prefix(b), patches);
    }
}
