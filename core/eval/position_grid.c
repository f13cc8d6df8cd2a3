#include "core/eval/position_grid.h"

#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/probe_positions.h"

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
