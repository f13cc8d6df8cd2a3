#include "core/models/probe_positions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"

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
