/* The axes of a Vision Transformer, lengths and labels; and where patches are: the angles of rotary positions, the rows
 * of a table of relative ones, and a position table made for another grid. */
#include "core/models/vit_build.h"

#include <stdio.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/vit.h"

Dims build_dims(const Builder *b, Dims d)
{
    return nn_dims(b->axis.b, d);
}

Dims build_role_dims(const Builder *b, VitRole r)
{
    Dims d = DIMS_SCALAR;
    for (const char *a = vit_role_axes(r); *a; a++) {
        int axis = AXIS_NONE;
#define LETTER(letter, length, at)                                                                                     \
    if (*a == (letter))                                                                                                \
        axis = b->axis.at;
#include "core/models/vit_roles.def"
        REQUIRE(axis != AXIS_NONE);
        d.axis[d.n++] = axis;
    }
    return d;
}

int build_axis(Graph *g, const char *sym, const char *name, AxisRole role, int n)
{
    Axis a = {.name = name, .n = n, .role = role};
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

static int token_axis(Graph *g, const char *sym, const char *name, AxisRole role, const VitConfig *c, int prefix,
                      const char *const *labels, bool patches)
{
    Axis a = {.name = name,
              .kind = AXIS_TOKEN,
              .prefix = prefix,
              .cols = c->image_w / c->patch_w,
              .labels = labels,
              .role = role,
              .sequence = SEQUENCE_PICTURE};
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
    b->axis.n = token_axis(g, "n", "prefix token", ROLE_PREFIX, c, vit_prefix(c), labels, false);
    if (c->cls)
        b->axis.cls = kinds == 1 ? b->axis.n
                                 : token_axis(g, "n1", "class token", ROLE_PREFIX, c, 1, labels + first, false);
    first += c->cls;
    if (c->dist)
        b->axis.dist = kinds == 1 ? b->axis.n
                                  : token_axis(g, "n2", "distillation token", ROLE_PREFIX, c, 1, labels + first, false);
    first += c->dist;
    if (c->registers)
        b->axis.reg = kinds == 1
                          ? b->axis.n
                          : token_axis(g, "n3", "register token", ROLE_PREFIX, c, c->registers, labels + first, false);
}

/* The rows of a table that was made for another grid. */
static int table_axis(Builder *b, const char *const *labels)
{
    const VitConfig *c = b->c;
    size_t shape[4];
    vit_role_shape(c, VIT_POS, shape);
    Axis a = {.sym = "r",
              .name = "row of the position table",
              .n = (int)shape[0],
              .kind = AXIS_TOKEN,
              .prefix = (int)shape[0] - c->table_h * c->table_w,
              .cols = c->table_w,
              .labels = labels,
              .role = ROLE_PLAIN,
              .sequence = SEQUENCE_PICTURE};
    return graph_axis(b->g, a);
}

/* Learned rotations: column and row, every block, every pair of a head's numbers. */
static void make_rope_axes(Builder *b)
{
    static const char *const COLUMN_ROW[] = {"column", "row"}, *const ROW_COLUMN[] = {"row", "column"};
    const VitConfig *c = b->c;
    b->axis.a = b->axis.l = b->axis.k = AXIS_NONE;
    if (c->rope != VIT_ROPE_LEARNED)
        return;
    b->axis.a = graph_axis(b->g, (Axis){.sym = "a",
                                        .name = "coordinate of a place",
                                        .n = 2,
                                        .kind = AXIS_CLASS,
                                        .labels = c->rope_cols_first ? COLUMN_ROW : ROW_COLUMN,
                                        .role = ROLE_PLAIN});
    b->axis.l = build_axis(b->g, "l", "block", ROLE_PLAIN, c->layers);
    b->axis.k = build_axis(b->g, "k", "pair of a head's numbers", ROLE_PLAIN, c->head_dim / 2);
}

/* Relative positions: the rows of a table, by the way from the token looked at to the one that asks, and all pairs. */
static void make_bias_axes(Builder *b)
{
    const VitConfig *c = b->c;
    Graph *g = b->g;
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w, all = vit_bias_rows(c);
    b->axis.w = b->axis.s = AXIS_NONE;
    if (c->bias == VIT_BIAS_NONE)
        return;
    const char **labels = arena_alloc(&g->arena, size_mul((size_t)all, sizeof *labels));
    for (int w = 0; w < all - 3; w++)
        labels[w] = arena_printf(&g->arena, "r%+dc%+d", w / (2 * cols - 1) - rows + 1, w % (2 * cols - 1) - cols + 1);
    labels[all - 3] = "from_cls";
    labels[all - 2] = "to_cls";
    labels[all - 1] = "cls_cls";
    b->axis.w = graph_axis(g, (Axis){.sym = "w",
                                     .name = "way to the token that asks",
                                     .n = all,
                                     .kind = AXIS_CLASS,
                                     .labels = labels,
                                     .role = ROLE_PLAIN});
    b->axis.s = build_axis(g, "s", "pair of tokens", ROLE_PLAIN, vit_tokens(c) * vit_tokens(c));
}

void build_axes(Builder *b, const char *const *class_names)
{
    const VitConfig *c = b->c;
    Graph *g = b->g;
    const char *const *labels = prefix_labels(g, c);
    b->axis.b = b->batch.pictures ? build_axis(g, "b", "picture of the batch", ROLE_BATCH, b->batch.pictures)
                                  : AXIS_NONE;
    b->axis.c = graph_axis(
        g, (Axis){.sym = "c", .name = "colour channel", .n = c->channels, .kind = AXIS_COLOUR, .role = ROLE_CHANNEL});
    b->axis.y = build_axis(g, "y", "patch row", ROLE_PLACE_ROW, c->image_h / c->patch_h);
    b->axis.i = build_axis(g, "i", "pixel row in a patch", ROLE_PIXEL_ROW, c->patch_h);
    b->axis.x = build_axis(g, "x", "patch column", ROLE_PLACE_COL, c->image_w / c->patch_w);
    b->axis.j = build_axis(g, "j", "pixel column in a patch", ROLE_PIXEL_COL, c->patch_w);
    b->axis.p = graph_axis(g, (Axis){.sym = "p",
                                     .name = "patch",
                                     .n = vit_patches(c),
                                     .kind = AXIS_PATCH,
                                     .cols = c->image_w / c->patch_w,
                                     .role = ROLE_PLACE,
                                     .sequence = SEQUENCE_PICTURE});
    b->axis.d = build_axis(g, "d", "model width", ROLE_WIDTH, c->width);
    b->axis.t = token_axis(g, "t", "token that asks", ROLE_QUERY, c, vit_prefix(c), labels, true);
    b->axis.u = token_axis(g, "u", "token looked at", ROLE_KEY, c, vit_prefix(c), labels, true);
    b->axis.h = build_axis(g, "h", "head", ROLE_HEAD, c->heads);
    b->axis.e = build_axis(g, "e", "width of one head", ROLE_HEAD_WIDTH, c->head_dim);
    b->axis.m = build_axis(g, "m", "MLP width", ROLE_HIDDEN, c->mlp);
    b->axis.o = c->classes ? graph_axis(g, (Axis){.sym = "o",
                                                  .name = "class",
                                                  .n = c->classes,
                                                  .kind = AXIS_CLASS,
                                                  .labels = class_names,
                                                  .role = ROLE_ANSWER})
                           : AXIS_NONE;
    make_prefix_axes(b, labels);
    make_rope_axes(b);
    make_bias_axes(b);
    b->axis.rows = AXIS_NONE;
    if (c->pos == VIT_POS_ALL)
        b->axis.rows = b->axis.t;
    else if (c->pos == VIT_POS_PATCHES)
        b->axis.rows = b->axis.p;
    else if (c->pos == VIT_POS_BEFORE_REGISTERS)
        b->axis.rows = token_axis(g, "t0", "token without registers", ROLE_QUERY, c, vit_prefix(c) - c->registers,
                                  labels, true);
    b->axis.table = vit_resizes(c) ? table_axis(b, labels) : b->axis.rows;
    b->axis.f = c->pool == VIT_POOL_BOTH ? build_axis(g, "f", "read-out", ROLE_PLAIN, 2 * c->width) : b->axis.d;
    b->axis.g = c->project ? build_axis(g, "g", "embedding", ROLE_PLAIN, c->project) : AXIS_NONE;
}

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
