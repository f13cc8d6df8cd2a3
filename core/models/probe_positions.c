/* What the position table learned: how alike the vectors of two places are, whether near ones are more alike than far
 * ones. */
#include "core/models/probe_positions.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/probe_parts.h"

typedef struct Entry {
    double x;
    size_t at;
} Entry;

static int by_value(const void *a, const void *b)
{
    const Entry *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

void positions_ranks(const double *x, size_t n, double *rank)
{
    Entry *sorted = xmalloc(size_mul(n, sizeof *sorted));
    bool numbers = true;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (Entry){x[i], i};
        numbers = numbers && !isnan(x[i]);
    }
    if (numbers)
        qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && numbers && !(sorted[end].x > sorted[i].x); end++)
            ;
        for (size_t k = i; k < end; k++)
            rank[sorted[k].at] = numbers ? (double)(i + end + 1) / 2 : (double)NAN;
    }
    free(sorted);
}

/* Squared distance in grid steps: in the order of the distance, and whole. */
static int steps_sq(int p, int q, int cols)
{
    int y = p / cols - q / cols, x = p % cols - q % cols;
    return y * y + x * x;
}

/* Ranks of every ordered pair of different places, in reading order. */
static void pair_ranks(const double *similarity, int places, int cols, double *alike, double *near)
{
    size_t n = (size_t)places * (size_t)(places - 1), at = 0;
    double *x = xmalloc(size_mul(n, sizeof *x));
    for (int p = 0; p < places; p++)
        for (int q = 0; q < places; q++)
            if (p != q)
                x[at++] = -(double)steps_sq(p, q, cols);
    positions_ranks(x, n, near);
    at = 0;
    for (int p = 0; p < places; p++)
        for (int q = 0; q < places; q++)
            if (p != q)
                x[at++] = similarity[(size_t)p * (size_t)places + (size_t)q];
    positions_ranks(x, n, alike);
    free(x);
}

double positions_rank_correlation(const float *similarity, int rows, int cols)
{
    int places = rows * cols;
    if (places < POSITIONS_LEAST)
        return (double)NAN;
    size_t cells = (size_t)places * (size_t)places, n = cells - (size_t)places;
    double *s = xmalloc(size_mul(cells, sizeof *s)), *alike = xmalloc(size_mul(n, sizeof *alike)),
           *near = xmalloc(size_mul(n, sizeof *near));
    for (size_t i = 0; i < cells; i++)
        s[i] = (double)similarity[i];
    pair_ranks(s, places, cols, alike, near);
    double mean = (double)(n + 1) / 2, both = 0, a = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        both += (alike[i] - mean) * (near[i] - mean);
        a += (alike[i] - mean) * (alike[i] - mean);
        b += (near[i] - mean) * (near[i] - mean);
    }
    free(s);
    free(alike);
    free(near);
    return a > 0 && b > 0 ? both / dm_sqrt(a * b) : (double)NAN;
}

double positions_neighbour_share(const float *similarity, int rows, int cols, int neighbours)
{
    int places = rows * cols, reach = neighbours == 8 ? 2 : 1, hits = 0;
    for (int p = 0; p < places; p++) {
        const float *row = similarity + (size_t)p * (size_t)places;
        double best = -(double)INFINITY, beside = -(double)INFINITY;
        for (int q = 0; q < places; q++) {
            if (q == p)
                continue;
            double s = (double)row[q];
            best = s > best || isnan(s) ? s : best; /* NaN stays: nothing is above it, and it equals nothing */
            beside = steps_sq(p, q, cols) <= reach && s > beside ? s : beside;
        }
        hits += beside == best && best > -(double)INFINITY;
    }
    return places > 1 ? (double)hits / places : (double)NAN;
}

/* cos(a, b) = a·b / (|a| |b|) */
static void fill_cosines(const PositionRanks *p, int places, double *cosine)
{
    size_t n = (size_t)places, width = (size_t)p->width;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            const float *x = p->table + a * width, *y = p->table + b * width;
            double sum = 0;
            for (size_t d = 0; d < width; d++)
                sum += (double)x[d] * (double)y[d];
            cosine[a * n + b] = cosine[b * n + a] = sum;
        }
    double *length = xmalloc(size_mul(n, sizeof *length));
    for (size_t a = 0; a < n; a++)
        length[a] = dm_sqrt(cosine[a * n + a]);
    for (size_t i = 0; i < n * n; i++)
        cosine[i] /= length[i / n] * length[i % n];
    free(length);
}

void positions_fill_ranks(const PositionRanks *p)
{
    int places = p->rows * p->cols;
    size_t cells = (size_t)places * (size_t)places, n = cells - (size_t)places, at = 0;
    double *cosine = xmalloc(size_mul(cells, sizeof *cosine)), *alike = xmalloc(size_mul(n, sizeof *alike)),
           *near = xmalloc(size_mul(n, sizeof *near));
    fill_cosines(p, places, cosine);
    pair_ranks(cosine, places, p->cols, alike, near);
    for (size_t i = 0; i < cells; i++) {
        bool same = i / (size_t)places == i % (size_t)places;
        p->similarity[i] = same ? (float)(n + 1) / 2 : (float)alike[at];
        p->nearness[i] = same ? (float)(n + 1) / 2 : (float)near[at];
        at += !same;
    }
    free(cosine);
    free(alike);
    free(near);
}

/* cos(a, b) of every two rows of x[n,d] less mean[d]; 0 where a row is all zeros. */
static void cosines(const float *x, const double *mean, size_t n, size_t d, float *out)
{
    double *norm = xcalloc(n + 1, sizeof *norm);
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q <= p; q++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += ((double)x[p * d + k] - mean[k]) * ((double)x[q * d + k] - mean[k]);
            out[p * n + q] = out[q * n + p] = (float)sum;
        }
    for (size_t p = 0; p < n; p++)
        norm[p] = dm_sqrt((double)out[p * n + p]);
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < n; q++)
            out[p * n + q] = norm[p] > 0 && norm[q] > 0 ? (float)((double)out[p * n + q] / (norm[p] * norm[q])) : 0;
    free(norm);
}

bool position_grid_figures(const VitConfig *c, const float *table, PositionGrid *out)
{
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w;
    size_t n = (size_t)vit_patches(c), d = (size_t)c->width;
    if (c->pos == VIT_POS_NONE || !table || n < POSITIONS_LEAST)
        return false;
    const float *x = table + (vit_role_cells(c, VIT_POS) - size_mul(n, d));
    double *mean = xcalloc(d, sizeof *mean);
    float *similar = xcalloc(size_mul(n, n), sizeof *similar);
    cosines(x, mean, n, d, similar);
    out->rank = positions_rank_correlation(similar, rows, cols);
    out->near4 = positions_neighbour_share(similar, rows, cols, 4);
    out->near8 = positions_neighbour_share(similar, rows, cols, 8);
    size_t down = (size_t)rows, across = (size_t)cols, beside = 2 * (down * (across - 1) + across * (down - 1)),
           corners = 4 * (down - 1) * (across - 1); /* ordered pairs of neighbours */
    out->chance4 = (double)beside / (double)(n * (n - 1));
    out->chance8 = (double)(beside + corners) / (double)(n * (n - 1));
    for (size_t p = 0; p < n; p++)
        for (size_t k = 0; k < d; k++)
            mean[k] += (double)x[p * d + k] / (double)n;
    cosines(x, mean, n, d, similar);
    out->rank_centred = positions_rank_correlation(similar, rows, cols);
    free(mean);
    free(similar);
    return true;
}

/* --- as nodes --- */

enum { RANKED_PLACES = 1024 }; /* ranks of all pairs of more places would take minutes and gigabytes */

ProbeCosine probe_cosine(Graph *g, NodeId x, int p, int p0, CosineNames name)
{
    NodeId seen = graph_view(g, name.seen, x, dims_replace(graph_node(g, x)->dims, p, p0));
    NodeId dot = probe_passing(g, graph_contract(g, name.dot, x, seen, DIMS(p, p0)));
    NodeId sq = probe_passing(g, graph_zip(g, name.sq, OP_MUL, x, x));
    NodeId sumsq = graph_reduce(g, name.sumsq, OP_SUM, sq, DIMS(p));
    NodeId norm = graph_map(g, name.norm, MAP_SQRT, sumsq);
    NodeId norms = probe_passing(g,
                                 graph_zip(g, name.norms, OP_MUL, norm, graph_view(g, name.norm_seen, norm, DIMS(p0))));
    return (ProbeCosine){dot, sumsq, graph_zip(g, name.cosine, OP_DIV, dot, norms)};
}

/* A place is a hit where its most similar other place is one of the neighbours: short is 0 there. apart is 0 at
 * neighbours. */
static void neighbour_share(Probes *b, NodeId apart, NodeId none, NodeId alike, NodeId nearest, int neighbours)
{
    Graph *g = b->g;
    char beside[16], most[16], shorter[16], hit[16], share[16];
    snprintf(beside, sizeof beside, "beside%d", neighbours);
    snprintf(most, sizeof most, "nearest%d", neighbours);
    snprintf(shorter, sizeof shorter, "short%d", neighbours);
    snprintf(hit, sizeof hit, "hit%d", neighbours);
    snprintf(share, sizeof share, "share%d", neighbours);
    NodeId near = probe_passing(g, graph_where(g, beside, apart, none, alike));
    NodeId best = graph_reduce(g, most, OP_MAX, near, DIMS(b->axis.p));
    NodeId hits = graph_where(g, hit, graph_zip(g, shorter, OP_SUB, nearest, best), b->zero, b->one);
    probe_mean(g, share, hits, DIMS_SCALAR, b->patches);
}

static void neighbours(Probes *b, NodeId alike)
{
    Graph *g = b->g;
    NodeId none = graph_const(g, "minus_two", DIMS_SCALAR, -2.0f); /* less than any cosine */
    NodeId other = probe_passing(g, graph_where(g, "others", b->steps_sq, alike, none));
    NodeId nearest = graph_reduce(g, "nearest", OP_MAX, other, DIMS(b->axis.p));
    NodeId side = probe_passing(g, graph_zip(g, "side", OP_SUB, b->steps_sq, b->one));
    NodeId corner = probe_passing(g, graph_zip(g, "corner", OP_SUB, b->steps_sq, b->two));
    NodeId either = probe_passing(g, graph_zip(g, "side_or_corner", OP_MUL, side, corner));
    neighbour_share(b, side, none, alike, nearest, 4);
    neighbour_share(b, either, none, alike, nearest, 8);
}

typedef struct Ranking {
    LeafMaker maker;
    PositionRanks ranks;
} Ranking;

static bool make_ranks(void *context, int64_t deadline_ns)
{
    (void)deadline_ns; /* of RANKED_PLACES at most: a fraction of a second */
    positions_fill_ranks(context);
    return true;
}

static NodeId rank_leaf(Probes *b, const char *name, Ranking *r, float *data, const char *origin)
{
    NodeId n = graph_leaf(b->g, name, DIMS(b->axis.p, b->axis.p0), (Leaf){LEAF_HOST, data, origin});
    graph_fill_later(b->g, n, &r->maker);
    return n;
}

/* Spearman 1904: the correlation of the ranks. They are a host procedure's, of the table as loaded; what follows from
 * them is nodes. */
static void rank_correlation(Probes *b, const float *table)
{
    Graph *g = b->g;
    int places = vit_patches(b->c), cols = b->c->image_w / b->c->patch_w;
    size_t cells = size_mul((size_t)places, (size_t)places);
    Ranking *r = arena_alloc(&g->arena, sizeof *r);
    r->ranks = (PositionRanks){.table = table, .rows = places / cols, .cols = cols, .width = b->c->width};
    r->ranks.similarity = arena_alloc(&g->arena, size_mul(cells, sizeof(float)));
    r->ranks.nearness = arena_alloc(&g->arena, size_mul(cells, sizeof(float)));
    r->maker = (LeafMaker){.make = make_ranks, .context = &r->ranks};
    NodeId alike = rank_leaf(b, "cosine_rank", r, r->ranks.similarity, "ranks of all pairs by similarity");
    NodeId near = rank_leaf(b, "nearness_rank", r, r->ranks.nearness, "ranks of all pairs by nearness");
    float pairs = (float)places * (float)(places - 1);
    NodeId mean = graph_const(g, "rank_mean", DIMS_SCALAR, (pairs + 1) / 2);
    NodeId x = probe_passing(g, graph_zip(g, "cosine_rank_less", OP_SUB, alike, mean));
    NodeId y = probe_passing(g, graph_zip(g, "nearness_rank_less", OP_SUB, near, mean));
    NodeId both = graph_reduce(g, "rank_products_sum", OP_SUM,
                               probe_passing(g, graph_zip(g, "rank_products", OP_MUL, x, y)), DIMS_SCALAR);
    NodeId xx = graph_reduce(g, "cosine_rank_sumsq", OP_SUM,
                             probe_passing(g, graph_zip(g, "cosine_rank_sq", OP_MUL, x, x)), DIMS_SCALAR);
    NodeId yy = graph_reduce(g, "nearness_rank_sumsq", OP_SUM,
                             probe_passing(g, graph_zip(g, "nearness_rank_sq", OP_MUL, y, y)), DIMS_SCALAR);
    /* by name: nodes made inside one call's arguments stand in an order that C leaves open */
    NodeId far = graph_map(g, "nearness_rank_size", MAP_SQRT, yy),
           like = graph_map(g, "cosine_rank_size", MAP_SQRT, xx);
    NodeId size = graph_zip(g, "rank_sizes", OP_MUL, like, far);
    graph_zip(g, "rank_correlation", OP_DIV, both, size);
}

void probe_places(Probes *b)
{
    Graph *g = b->g;
    if (b->nodes->pos_embed == NO_NODE || b->c->pos == VIT_POS_NONE)
        return;
    const Node *table = graph_node(g, b->nodes->pos_embed);
    int rows = table->dims.axis[0], places = vit_patches(b->c), d = b->axis.d;
    const float *patch_rows = table->op != OP_LEAF ? NULL
                                                   : table->leaf.data + size_mul((size_t)(g->axes[rows].n - places),
                                                                                 (size_t)b->c->width);
    graph_scope(g, "pos.probe");
    NodeId patches = rows == b->axis.p ? graph_view(g, "patches", b->nodes->pos_embed, DIMS(b->axis.p, d))
                                       : probe_patches(b->g, "patches", b->nodes->pos_embed, rows, b->axis.p);
    NodeId alike = probe_cosine(g, patches, b->axis.p, b->axis.p0,
                                (CosineNames){"sq", "sumsq", "norm", "norm_seen", "patches_seen", "dot", "norms",
                                              "cosine"})
                       .cosine;
    NodeId sum = graph_reduce(g, "sum", OP_SUM, patches, DIMS(d));
    NodeId mean = graph_zip(g, "mean", OP_DIV, sum, graph_const(g, "count", DIMS_SCALAR, (float)places));
    NodeId centred = graph_zip(g, "centred", OP_SUB, patches, mean);
    probe_cosine(g, centred, b->axis.p, b->axis.p0,
                 (CosineNames){"centred_sq", "centred_sumsq", "centred_norm", "centred_norm_seen", "centred_seen",
                               "centred_dot", "centred_norms", "cosine_centred"});
    if (places < POSITIONS_LEAST)
        return;
    neighbours(b, alike);
    if (places <= RANKED_PLACES && patch_rows) /* ranks are of a table as loaded: a fitted one has none */
        rank_correlation(b, patch_rows);
}

/* A position table on the picture's grid, fitted in every way there is, where the model's was made for another grid:
 * what interpolation makes of it can be compared. The model's own way is in its pass (vit_embed.c). */

static NodeId weights_leaf(Probes *b, const VitConfig *c, const char *word, char direction, int to, int from)
{
    Graph *g = b->g;
    char name[32];
    size_t n = size_mul((size_t)g->axes[to].n, (size_t)g->axes[from].n);
    double *exact = xcalloc(n, sizeof *exact);
    float *weights = arena_alloc(&g->arena, size_mul(n, sizeof *weights));
    vit_fit_weights(c, g->axes[from].n, g->axes[to].n, exact);
    for (size_t i = 0; i < n; i++)
        weights[i] = (float)exact[i];
    free(exact);
    snprintf(name, sizeof name, "%s_%c", word, direction);
    return graph_leaf(g, name, DIMS(to, from), (Leaf){LEAF_CONST, weights, "how much an old row counts in a new one"});
}

void probe_fit(Probes *b)
{
    static const struct {
        VitFit fit;
        const char *word;
    } WAYS[] = {{VIT_FIT_NEAREST, "nearest"}, {VIT_FIT_BILINEAR, "bilinear"}, {VIT_FIT_BICUBIC, "bicubic"}};
    Graph *g = b->g;
    if (!vit_resizes(b->c))
        return;
    NodeId grid = graph_find(g, "pos_fit.grid");
    Dims old = graph_node(g, grid)->dims; /* [y0,x0,d] */
    graph_scope(g, "pos_fit.probe");
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        VitConfig c = *b->c;
        char name[32];
        c.fit = WAYS[i].fit;
        snprintf(name, sizeof name, "%s_rows", WAYS[i].word);
        NodeId down = weights_leaf(b, &c, WAYS[i].word, 'y', b->axis.y, old.axis[0]);
        NodeId rows = probe_passing(g, graph_contract(g, name, grid, down, DIMS(b->axis.y, old.axis[1], b->axis.d)));
        NodeId across = weights_leaf(b, &c, WAYS[i].word, 'x', b->axis.x, old.axis[1]);
        graph_contract(g, WAYS[i].word, rows, across, DIMS(b->axis.y, b->axis.x, b->axis.d));
    }
}
