/* Where patches are, for a model: the angles of rotary positions, and a position table made for another grid. */
#include "core/base/dmath.h"
#include "core/models/vit.h"

/* --- rotary positions --- */

/* A patch's row or column as the number that angles are proportional to. */
static double coordinate(const VitConfig *c, int at, int count, int reference)
{
    if (c->rope == VIT_ROPE_CENTRES)
        return 6.283185307179586 * (2 * (at + 0.5) / count - 1);
    return (at + (double)c->rope_offset) * (reference ? (double)reference / count : 1);
}

double vit_rope_angle(const VitConfig *c, int patch, int pair)
{
    int cols = c->image_w / c->patch_w, rows = c->image_h / c->patch_h, bands = c->head_dim / 4;
    bool second = pair >= bands, column = second != c->rope_cols_first;
    double x = column ? coordinate(c, patch % cols, cols, c->rope_ref_w)
                      : coordinate(c, patch / cols, rows, c->rope_ref_h);
    return x / dm_pow((double)c->rope_base, (double)(second ? pair - bands : pair) / bands);
}

void vit_rope_place(const VitConfig *c, int patch, int place[2])
{
    int cols = c->image_w / c->patch_w;
    place[!c->rope_cols_first] = patch % cols;
    place[c->rope_cols_first] = patch / cols;
}

void vit_rope_pair(const VitConfig *c, int pair, int *first, int *second)
{
    *first = c->rope_half ? pair : 2 * pair;
    *second = c->rope_half ? pair + c->head_dim / 2 : 2 * pair + 1;
}

/* --- relative positions --- */

int vit_bias_rows(const VitConfig *c)
{
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w;
    return (2 * rows - 1) * (2 * cols - 1) + 3;
}

int vit_bias_row(const VitConfig *c, int t, int u)
{
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w, all = vit_bias_rows(c);
    if (t == 0 || u == 0)
        return t != 0 ? all - 2 : u != 0 ? all - 3 : all - 1;
    int down = (t - 1) / cols - (u - 1) / cols, right = (t - 1) % cols - (u - 1) % cols;
    return (down + rows - 1) * (2 * cols - 1) + right + cols - 1;
}

/* --- a position table on another grid --- */

/* Keys 1981: the cubic that passes through its points, with slope a at distance 1. */
static double cubic(double x, double a)
{
    x = dm_abs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

static double tent(double x)
{
    x = dm_abs(x);
    return x < 1 ? 1 - x : 0;
}

/* Row `at` of the new grid. Taps beyond the border count for the border; smoothed, they are left away and the rest is
 * brought to sum 1, as PIL and torch do it. */
static void fit_row(const VitConfig *c, int from, int to, int at, double *out)
{
    double step = (double)from / to, reach = c->fit == VIT_FIT_BICUBIC ? 2 : 1, wide = 1, sum = 0;
    double centre = (at + 0.5) * step - 0.5;
    if (c->fit_corners)
        centre = to > 1 ? (double)at * (from - 1) / (to - 1) : 0;
    bool smooth = c->fit_smooth && !c->fit_corners;
    if (smooth && step > 1)
        wide = step;
    for (int i = 0; i < from; i++)
        out[i] = 0;
    int first = (int)dm_floor(centre - reach * wide), last = (int)dm_floor(centre + reach * wide) + 1;
    for (int i = first; i <= last; i++) {
        double x = (i - centre) / wide;
        double w = c->fit == VIT_FIT_BICUBIC ? cubic(x, smooth ? -0.5 : -0.75) : tent(x);
        if (smooth && (i < 0 || i >= from))
            continue;
        out[i < 0 ? 0 : i >= from ? from - 1 : i] += w;
        sum += w;
    }
    for (int i = 0; i < from; i++)
        out[i] /= sum;
}

void vit_fit_weights(const VitConfig *c, int from, int to, double *out)
{
    for (int at = 0; at < to; at++) {
        double *row = out + (size_t)at * (size_t)from;
        if (c->fit != VIT_FIT_NEAREST) {
            fit_row(c, from, to, at, row);
            continue;
        }
        for (int i = 0; i < from; i++)
            row[i] = i == (int)((int64_t)at * from / to);
    }
}
