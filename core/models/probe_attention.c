/* What a row of attention says about itself: how spread it is, how sharp, how much of a gradient its softmax lets
 * through; and what each head adds to a token. */
#include <stdio.h>

#include "core/base/err.h"
#include "core/models/probe_parts.h"

/* The weights of a row brought to sum 1, where a sink takes something of it: what tokens get of all that tokens get. A
 * row that has nothing stays so. */
static NodeId shares(Graph *g, const ProbeRows *r, Dims rows)
{
    NodeId sum = graph_reduce(g, "row_sum", OP_SUM, r->pattern, rows);
    NodeId some = graph_where(g, "row_sum_some", sum, sum, r->sum_one);
    return probe_passing(g, graph_zip(g, "shares", OP_DIV, r->pattern, some));
}

/* Which scores of a row are not masked, and how many. A masked score is −∞, and exp(s·2⁻¹²⁶) tells it from every finite
 * one, whose product is too small to matter: 0 for −∞, about 1 otherwise. */
typedef struct Unmasked {
    NodeId alive, count; /* [h,t,u], [h,t] */
} Unmasked;

static Unmasked unmasked(Graph *g, const ProbeRows *r, Dims rows, NodeId zero, NodeId one)
{
    NodeId tiny = graph_const(g, "tiny", DIMS_SCALAR, 0x1p-126f);
    NodeId small = probe_passing(g, graph_zip(g, "score_small", OP_MUL, r->scores, tiny));
    NodeId alive = probe_passing(g, graph_map(g, "score_alive", MAP_EXP, small));
    NodeId ones = probe_passing(g, graph_where(g, "score_ones", alive, one, zero));
    return (Unmasked){alive, graph_reduce(g, "score_count", OP_SUM, ones, rows)};
}

/* The mean of the shares where rows are masked: a row's most is ln of how many it may look at, n ln n / n. One that may
 * look at one token alone has no choice: its share is 0, and it does not count. */
static void masked_shares(Graph *g, const ProbeRows *r, NodeId h, NodeId count, NodeId zero, NodeId one)
{
    NodeId choice = graph_map(g, "seen_xlogx", MAP_XLOGX, count); /* 0 where there is none */
    NodeId most = graph_where(g, "seen_most", choice, graph_zip(g, "seen_log", OP_DIV, choice, count), one);
    NodeId share = graph_zip(g, "entropy_share", OP_DIV, h, most);
    NodeId counted = graph_reduce(g, "seen_rows", OP_SUM, graph_where(g, "seen_choice", choice, one, zero), DIMS(r->h));
    probe_mean(g, "entropy_share_mean", share, DIMS(r->h), counted);
}

/* H = 0 − Σ A ln A, with 0 ln 0 = 0 (Shannon 1948), and no −0 where one token has all; its share of ln T, the most that
 * T tokens can have; the mean of both over a head. */
static void entropy(Graph *g, const ProbeRows *r, Dims rows, NodeId zero, NodeId one, NodeId count)
{
    NodeId weights = r->sum_one != NO_NODE ? shares(g, r, rows) : r->pattern;
    NodeId plogp = probe_passing(g, graph_map(g, "plogp", MAP_XLOGX, weights));
    NodeId sum = graph_reduce(g, "plogp_sum", OP_SUM, plogp, rows);
    NodeId h = graph_zip(g, "entropy", OP_SUB, zero, sum);
    if (r->log_keys == NO_NODE)
        return;
    if (r->masked) {
        masked_shares(g, r, h, count, zero, one);
        return;
    }
    NodeId share = graph_zip(g, "entropy_share", OP_DIV, h, r->log_keys);
    probe_mean(g, "entropy_share_mean", share, DIMS(r->h), r->queries);
}

/* Variance over the scores that are not masked. A row without any score left has 0/0: no variance. */
static void score_variance(Graph *g, const ProbeRows *r, Dims rows, NodeId zero, Unmasked u)
{
    NodeId scores = r->scores;
    NodeId kept = probe_passing(g, graph_where(g, "score_kept", u.alive, scores, zero));
    NodeId mean = graph_zip(g, "score_mean", OP_DIV, graph_reduce(g, "score_sum", OP_SUM, kept, rows), u.count);
    NodeId filled = probe_passing(g, graph_where(g, "score_filled", u.alive, scores,
                                                 mean)); /* a masked score is then 0 from the mean */
    NodeId centered = probe_passing(g, graph_zip(g, "score_centered", OP_SUB, filled, mean));
    NodeId sq = probe_passing(g, graph_zip(g, "score_sq", OP_MUL, centered, centered));
    NodeId sumsq = graph_reduce(g, "score_sumsq", OP_SUM, sq, rows);
    NodeId variance = graph_zip(g, "score_variance", OP_DIV, sumsq, u.count);
    probe_mean(g, "score_variance_mean", variance, DIMS(r->h), r->queries);
}

/* ∂A_i/∂s_j = A_i (δ_ij − A_j), whose Frobenius norm is √(S2 − 2·S3 + S2²) with Sn = Σ Aⁿ: 0 where one token has all,
 * at most 1/2. Near 0 the three terms cancel: what is below about 4e-4 is rounding, and what it makes negative counts
 * as 0. */
static void jacobian(Graph *g, const ProbeRows *r, Dims rows)
{
    NodeId pattern = r->pattern;
    NodeId sq = probe_passing(g, graph_zip(g, "weights_sq", OP_MUL, pattern, pattern));
    NodeId s2 = graph_reduce(g, "sum2", OP_SUM, sq, rows);
    NodeId cubed = probe_passing(g, graph_zip(g, "weights_cubed", OP_MUL, sq, pattern));
    NodeId s3 = graph_reduce(g, "sum3", OP_SUM, cubed, rows);
    NodeId less = graph_zip(g, "sum2_less", OP_SUB, s2, graph_zip(g, "sum3_twice", OP_MUL, s3, r->two));
    NodeId norm_sq = graph_zip(g, "jacobian_sq", OP_ADD, less, graph_zip(g, "sum2_sq", OP_MUL, s2, s2));
    NodeId norm = graph_map(g, "jacobian", MAP_SQRT, graph_map(g, "jacobian_floor", MAP_RELU, norm_sq));
    probe_mean(g, "jacobian_mean", norm, DIMS(r->h), r->queries);
}

NodeId probe_rows(Graph *g, const ProbeRows *r)
{
    Dims rows = DIMS(r->h, r->t);
    REQUIRE(dims_equal(graph_node(g, r->pattern)->dims, DIMS(r->h, r->t, r->u))); /* one input, no batch */
    NodeId zero = graph_const(g, "zero", DIMS_SCALAR, 0.0f);
    NodeId one = graph_const(g, "one", DIMS_SCALAR, 1.0f);
    Unmasked u = unmasked(g, r, rows, zero, one);
    entropy(g, r, rows, zero, one, u.count);
    NodeId largest = graph_reduce(g, "largest", OP_MAX, r->pattern, rows);
    probe_mean(g, "largest_mean", largest, DIMS(r->h), r->queries);
    if (r->sum_one == NO_NODE)
        graph_reduce(g, "row_sum", OP_SUM, r->pattern, rows);
    score_variance(g, r, rows, zero, u);
    jacobian(g, r, rows);
    NodeId sum = graph_reduce(g, "heads_sum", OP_SUM, r->pattern, DIMS(r->t, r->u));
    NodeId mean = graph_zip(g, "mean_pattern", OP_DIV, sum, graph_const(g, "heads", DIMS_SCALAR, (float)r->heads));
    probe_passing(g, graph_contract(g, "result", r->z, r->w_o,
                                    DIMS(r->h, r->t, r->d))); /* a head's part of the mix, before the bias */
    return mean;
}

void probe_attention(Probes *b, int layer)
{
    ProbeBlock *k = &b->block[layer];
    ProbeRows r = {.h = b->axis.h,
                   .t = b->axis.t,
                   .u = b->axis.u,
                   .d = b->axis.d,
                   .heads = b->c->heads,
                   .pattern = k->pattern,
                   .scores = k->scores,
                   .z = k->z,
                   .w_o = k->w_o,
                   .sum_one = NO_NODE,
                   .two = b->two,
                   .queries = b->tokens,
                   .log_keys = b->log_tokens};
    probe_scope(b, layer);
    k->mean_pattern = probe_rows(b->g, &r);
}

/* How far attention reaches: the mean distance between a patch and the patches that it looks at, in pixels (Dosovitskiy
 * et al. 2021, figure 7). The variant over patches alone: tokens without a place are left out, and what a row gives to
 * patches counts as all of it. */

typedef struct Side {
    const char *leaf, *seen, *steps, *steps_sq, *patch, *pixels, *pixels_sq;
} Side;

/* Squared distance along one side of the picture, in grid steps and in pixels. */
static NodeId along(Probes *b, Side s, bool down, NodeId *steps_sq)
{
    Graph *g = b->g;
    int n = vit_patches(b->c), cols = b->c->image_w / b->c->patch_w;
    float *place = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *place));
    for (int i = 0; i < n; i++)
        place[i] = (float)(down ? i / cols : i % cols);
    NodeId at = graph_leaf(g, s.leaf, DIMS(b->axis.p), (Leaf){LEAF_CONST, place, "the patch's place on the grid"});
    NodeId seen = graph_view(g, s.seen, at, DIMS(b->axis.p0));
    NodeId steps = probe_passing(g, graph_zip(g, s.steps, OP_SUB, at, seen));
    *steps_sq = probe_passing(g, graph_zip(g, s.steps_sq, OP_MUL, steps, steps));
    NodeId patch = graph_const(g, s.patch, DIMS_SCALAR, (float)(down ? b->c->patch_h : b->c->patch_w));
    NodeId pixels = probe_passing(g, graph_zip(g, s.pixels, OP_MUL, steps, patch));
    return probe_passing(g, graph_zip(g, s.pixels_sq, OP_MUL, pixels, pixels));
}

void probe_grid(Probes *b)
{
    Graph *g = b->g;
    Dims row = DIMS(b->axis.p);
    NodeId steps_y, steps_x;
    graph_scope(g, "grid.probe");
    NodeId y = along(b, (Side){"row", "row_seen", "rows_apart", "rows_sq", "patch_height", "down", "down_sq"}, true,
                     &steps_y);
    NodeId x = along(b, (Side){"col", "col_seen", "cols_apart", "cols_sq", "patch_width", "across", "across_sq"}, false,
                     &steps_x);
    b->steps_sq = probe_passing(g, graph_zip(g, "steps_sq", OP_ADD, steps_y, steps_x));
    NodeId sq = probe_passing(g, graph_zip(g, "distance_sq", OP_ADD, y, x));
    b->distance = probe_passing(g, graph_map(g, "distance", MAP_SQRT, sq));
    NodeId even = probe_mean(g, "even", b->distance, row, b->patches); /* a row that looks at all patches alike */
    probe_mean(g, "uniform", even, DIMS_SCALAR, b->patches);
    NodeId farthest = graph_reduce(g, "farthest", OP_MAX, b->distance, row);
    probe_mean(g, "maximal", farthest, DIMS_SCALAR, b->patches);
}

/* A row whose patches got nothing has no distance and does not count. */
void probe_distance(Probes *b, int layer)
{
    Graph *g = b->g;
    int h = b->axis.h, p = b->axis.p, p0 = b->axis.p0;
    Dims rows = DIMS(h, p);
    probe_scope(b, layer);
    NodeId asking = probe_patches(b->g, "patch_rows", b->block[layer].pattern, b->axis.t, p);
    NodeId weights = probe_patches(b->g, "patch_pattern", asking, b->axis.u, p0);
    NodeId mass = graph_reduce(g, "patch_mass", OP_SUM, weights, rows);
    NodeId far = graph_contract(g, "distance_weighted", weights, b->distance, rows);
    NodeId mean = graph_zip(g, "distance_quotient", OP_DIV, far, mass);
    NodeId row = graph_where(g, "distance_row", mass, mean, b->zero);
    NodeId counted = graph_reduce(g, "distance_rows", OP_SUM, graph_where(g, "distance_counted", mass, b->one, b->zero),
                                  DIMS(h));
    probe_mean(g, "distance", row, DIMS(h), counted);
}

/* Attention rollout (Abnar and Zuidema 2020): how much of every token's place reaches a token through all blocks, if
 * attention alone carried it. The variant with the residual stream: A = ½ mean of heads + ½ I, every row divided by its
 * sum, R_l = A_l R_{l−1}. */

NodeId probe_half_identity(Graph *g, const ProbeRollout *r)
{
    int n = g->axes[r->t].n;
    float *number = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *number));
    for (int i = 0; i < n; i++)
        number[i] = (float)i;
    NodeId query = graph_leaf(g, "number", DIMS(r->t), (Leaf){LEAF_CONST, number, "the token's number"});
    NodeId key = graph_view(g, "number_seen", query, DIMS(r->u));
    NodeId apart = probe_passing(g, graph_zip(g, "apart", OP_SUB, query, key));
    return probe_passing(g, graph_where(g, "half_identity", apart, r->zero, r->half));
}

/* The row of the token that the answer is read from; where it is read from the patches' mean, or not at all, the mean
 * of their rows; over the picture. */
static void answer_patches(Probes *b, NodeId rollout, const char *prefix)
{
    static const char *const NAMES[] = {"row", "rows", "patches", "patches_sum"};
    char name[4][32];
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], "%s%s", prefix, NAMES[i]);
    Graph *g = b->g;
    NodeId row;
    bool first = b->c->pool == VIT_POOL_CLS || b->c->pool == VIT_POOL_CLS_DIST ||
                 (b->c->pool == VIT_POOL_NONE && b->c->cls);
    if (first)
        row = graph_slice(g, name[0], rollout, b->axis.t, 0, AXIS_NONE);
    else
        row = probe_mean(g, name[0], probe_patches(g, name[1], rollout, b->axis.t, b->axis.p), DIMS(b->axis.u),
                         b->patches);
    graph_reduce(g, name[3], OP_SUM, probe_patches(g, name[2], row, b->axis.u, b->axis.p), DIMS_SCALAR);
}

NodeId probe_rollout_through(Graph *g, const ProbeRollout *r, NodeId mean, NodeId before)
{
    Dims row = DIMS(r->t);
    NodeId half = probe_passing(g, graph_zip(g, "mean_half", OP_MUL, mean, r->half));
    NodeId mixed = probe_passing(g, graph_zip(g, "rollout_mixed", OP_ADD, half, r->identity));
    NodeId step = graph_zip(g, "rollout_step", OP_DIV, mixed, graph_reduce(g, "rollout_mixed_sum", OP_SUM, mixed, row));
    NodeId product = step;
    if (before != NO_NODE) {
        NodeId earlier = graph_view(g, "rollout_before", before, DIMS(r->u, r->w));
        product = graph_contract(g, "rollout_product", step, earlier, DIMS(r->t, r->w));
    }
    NodeId rollout = graph_view(g, "rollout", product, DIMS(r->t, r->u));
    graph_reduce(g, "rollout_sum", OP_SUM, rollout, row);
    return rollout;
}

void probe_rollout(Probes *b)
{
    ProbeRollout r = {.t = b->axis.t, .u = b->axis.u, .w = b->axis.w, .zero = b->zero, .half = b->half};
    NodeId rollout = NO_NODE;
    graph_scope(b->g, "rollout");
    r.identity = probe_half_identity(b->g, &r);
    for (int layer = 0; layer < b->c->layers; layer++) {
        probe_scope(b, layer);
        rollout = probe_rollout_through(b->g, &r, b->block[layer].mean_pattern, rollout);
        answer_patches(b, rollout, "rollout_");
    }
    graph_scope(b->g, "rollout");
    answer_patches(b, rollout, "");
}

/* How much of a gradient a softmax lets through: behind gradients, for every block that they pass. */

/* The gradient of a site, if it has the dims of a pattern. */
static NodeId gradient_of(const Graph *g, int attention, Site site, Dims pattern)
{
    char path[160];
    snprintf(path, sizeof path, "grad.%s", site_path(g, attention, site));
    NodeId n = graph_find(g, path);
    return n != NO_NODE && dims_equal(graph_node(g, n)->dims, pattern) ? n : NO_NODE;
}

/* The mean over the rows that a gradient comes to. */
static void mean_of_rows(Graph *g, NodeId share, NodeId in_row, Dims head)
{
    NodeId zero = graph_const(g, "gradient_zero", DIMS_SCALAR, 0.0f),
           one = graph_const(g, "gradient_one", DIMS_SCALAR, 1.0f),
           reached = graph_where(g, "gradient_reached", in_row, one, zero),
           rows = graph_reduce(g, "gradient_rows", OP_SUM, reached, head),
           known = graph_where(g, "gradient_known", in_row, share, zero),
           sum = graph_reduce(g, "gradient_through_sum", OP_SUM, known, head);
    graph_zip(g, "gradient_through_mean", OP_DIV, sum, rows);
}

/* √(Σ (∂y/∂score)² / Σ (∂y/∂weight)²) over a row, and over all rows of a head. Both sums are made before they are
 * divided: a row that no gradient reaches has 0/0, and must not spoil the head's figure. */
static void through(Graph *g, NodeId scores, NodeId weights, Dims row, Dims head)
{
    NodeId in = graph_zip(g, "gradient_in_sq", OP_MUL, weights, weights),
           out = graph_zip(g, "gradient_out_sq", OP_MUL, scores, scores);
    NodeId in_row = graph_reduce(g, "gradient_in_sum", OP_SUM, in, row),
           out_row = graph_reduce(g, "gradient_out_sum", OP_SUM, out, row);
    NodeId in_head = graph_reduce(g, "gradient_in_all", OP_SUM, in_row, head),
           out_head = graph_reduce(g, "gradient_out_all", OP_SUM, out_row, head);
    NodeId share = graph_map(g, "gradient_through", MAP_SQRT, graph_zip(g, "gradient_share", OP_DIV, out_row, in_row));
    mean_of_rows(g, share, in_row, head);
    graph_map(g, "gradient_through_head", MAP_SQRT, graph_zip(g, "gradient_share_head", OP_DIV, out_head, in_head));
}

void probe_gradient_through(Graph *g)
{
    for (int a = NO_PART; (a = anatomy_next(g, a, PART_ATTENTION)) != NO_PART;) {
        NodeId pattern = site_node(g, a, SITE_PATTERN);
        if (pattern == NO_NODE)
            continue;
        Dims d = graph_node(g, pattern)->dims;
        NodeId scores = gradient_of(g, a, SITE_SCORES_SCALED, d), weights = gradient_of(g, a, SITE_PATTERN, d);
        if (scores == NO_NODE || weights == NO_NODE)
            continue; /* what the gradients are of does not depend on it */
        Dims row = dims_minus(d, DIMS(dims_role(g, d, ROLE_KEY)));
        graph_scope(g, "%s.probe", anatomy_part(g, a)->scope);
        through(g, scores, weights, row, DIMS(dims_role(g, d, ROLE_HEAD)));
    }
}
