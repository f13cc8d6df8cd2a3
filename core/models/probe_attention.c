/* What a row of attention says about itself: how spread it is, how sharp, how much of a gradient its softmax lets
 * through; and what each head adds to a token. */
#include "core/base/err.h"
#include "core/models/probe_parts.h"

/* H = 0 − Σ A ln A, with 0 ln 0 = 0 (Shannon 1948), and no −0 where one token has all; its share of ln T, the most that
 * T tokens can have; the mean of both over a head. */
static void entropy(Graph *g, const ProbeRows *r, Dims rows, NodeId zero)
{
    NodeId plogp = probe_passing(g, graph_map(g, "plogp", MAP_XLOGX, r->pattern));
    NodeId sum = graph_reduce(g, "plogp_sum", OP_SUM, plogp, rows);
    NodeId h = graph_zip(g, "entropy", OP_SUB, zero, sum);
    if (r->log_keys == NO_NODE)
        return;
    NodeId share = graph_zip(g, "entropy_share", OP_DIV, h, r->log_keys);
    probe_mean(g, "entropy_share_mean", share, DIMS(r->h), r->queries);
}

/* Variance over the scores that are not masked. A masked score is −∞, and exp(s·2⁻¹²⁶) tells it from every finite one,
 * whose product is too small to matter: 0 for −∞, about 1 otherwise. A row without any score left has 0/0: no variance.
 */
static void score_variance(Graph *g, const ProbeRows *r, Dims rows, NodeId zero)
{
    NodeId scores = r->scores;
    NodeId tiny = graph_const(g, "tiny", DIMS_SCALAR, 0x1p-126f);
    NodeId one = graph_const(g, "one", DIMS_SCALAR, 1.0f);
    NodeId small = probe_passing(g, graph_zip(g, "score_small", OP_MUL, scores, tiny));
    NodeId alive = probe_passing(g, graph_map(g, "score_alive", MAP_EXP, small));
    NodeId ones = probe_passing(g, graph_where(g, "score_ones", alive, one, zero));
    NodeId kept = probe_passing(g, graph_where(g, "score_kept", alive, scores, zero));
    NodeId count = graph_reduce(g, "score_count", OP_SUM, ones, rows);
    NodeId mean = graph_zip(g, "score_mean", OP_DIV, graph_reduce(g, "score_sum", OP_SUM, kept, rows), count);
    NodeId filled = probe_passing(g, graph_where(g, "score_filled", alive, scores,
                                                 mean)); /* a masked score is then 0 from the mean */
    NodeId centered = probe_passing(g, graph_zip(g, "score_centered", OP_SUB, filled, mean));
    NodeId sq = probe_passing(g, graph_zip(g, "score_sq", OP_MUL, centered, centered));
    NodeId sumsq = graph_reduce(g, "score_sumsq", OP_SUM, sq, rows);
    NodeId variance = graph_zip(g, "score_variance", OP_DIV, sumsq, count);
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
    entropy(g, r, rows, zero);
    NodeId largest = graph_reduce(g, "largest", OP_MAX, r->pattern, rows);
    probe_mean(g, "largest_mean", largest, DIMS(r->h), r->queries);
    graph_reduce(g, "row_sum", OP_SUM, r->pattern, rows);
    score_variance(g, r, rows, zero);
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
                   .two = b->two,
                   .queries = b->tokens,
                   .log_keys = b->log_tokens};
    probe_scope(b, layer);
    k->mean_pattern = probe_rows(b->g, &r);
}
