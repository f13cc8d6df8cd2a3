#include "tui/views/tiles.h"

#include <math.h>

#include "tui/canvas/colour.h"

enum { TILE, C, I, J };

bool tiles_open(const Session *s, Side side, const char *path, Tiles *out)
{
    Tiles t = {0};
    if (!shown_open(s, side, path, &t.v))
        return false;
    static const AxisRole ROLES[] = {ROLE_PLAIN, ROLE_CHANNEL, ROLE_PIXEL_ROW, ROLE_PIXEL_COL}; /* TILE: the first */
    const Graph *g = t.v.graph;
    Dims d = graph_node(g, t.v.node)->dims;
    int length[4];
    for (int k = 0; k < 4; k++) {
        int a = d.n != 4 ? AXIS_NONE : k == TILE ? d.axis[0] : dims_role(g, d, ROLES[k]);
        if (a == AXIS_NONE)
            return false;
        t.stride[k] = dims_stride(g->axes, d, a);
        length[k] = g->axes[a].n;
    }
    t.axis = d.axis[0];
    t.count = length[TILE];
    t.here = t.v.at[t.axis];
    t.channels = length[C];
    t.h = length[I];
    t.w = length[J];
    *out = t;
    return true;
}

static size_t tiles_cell(const Tiles *t, int tile, int channel, int row, int col)
{
    return (size_t)tile * t->stride[TILE] + (size_t)channel * t->stride[C] + (size_t)row * t->stride[I] +
           (size_t)col * t->stride[J];
}

bool tiles_range(const Tiles *t, int tile, size_t *low, size_t *high)
{
    bool any = false;
    for (int c = 0; c < t->channels; c++)
        for (int i = 0; i < t->h; i++)
            for (int j = 0; j < t->w; j++) {
                size_t cell = tiles_cell(t, tile, c, i, j);
                float x = t->v.values[cell];
                if (!isfinite(x))
                    continue;
                if (!any || x < t->v.values[*low])
                    *low = cell;
                if (!any || x > t->v.values[*high])
                    *high = cell;
                any = true;
            }
    return any;
}

TileFit tiles_fit(const Paint *p, const Tiles *t, int h, int w)
{
    HeatSize room = {heat_pixels(p, h), w};
    int longest = t->h > t->w ? t->h : t->w, across = room.wide / (heat_halves(p) ? 1 : 2),
        most = room.tall < across ? room.tall : across;
    most = most < 1 ? 1 : most > longest ? longest : most;
    TileFit f = {.rows = (t->h * most + longest - 1) / longest, .cols = (t->w * most + longest - 1) / longest};
    f.size = heat_within(p, room, f.rows, f.cols, 1);
    f.lines = heat_halves(p) ? (f.size.tall + 1) / 2 : f.size.tall;
    f.columns = f.size.wide;
    return f;
}

static bool is_larger(float x, float than)
{
    return !isnan(than) && (isnan(x) || fabsf(x) > fabsf(than));
}

/* One tile, drawn as rows × cols of its pixels. */
typedef struct Drawn {
    const Tiles *t;
    int tile, rows, cols;
    float most;
} Drawn;

/* Of a channel, in the pixels of a drawn one: the cell of the value that is largest by size; NaN before any other. */
static size_t largest_of(const Drawn *d, int channel, int row, int col)
{
    const Tiles *t = d->t;
    size_t i0 = heat_first((size_t)row, (size_t)t->h, (size_t)d->rows),
           i1 = heat_first((size_t)row + 1, (size_t)t->h, (size_t)d->rows),
           j0 = heat_first((size_t)col, (size_t)t->w, (size_t)d->cols),
           j1 = heat_first((size_t)col + 1, (size_t)t->w, (size_t)d->cols);
    size_t best = tiles_cell(t, d->tile, channel, (int)i0, (int)j0);
    for (size_t i = i0; i < i1; i++)
        for (size_t j = j0; j < j1; j++) {
            size_t cell = tiles_cell(t, d->tile, channel, (int)i, (int)j);
            best = is_larger(t->v.values[cell], t->v.values[best]) ? cell : best;
        }
    return best;
}

static int byte_of(float x, float most)
{
    double at = most > 0 ? 127.5 + 127.5 * (double)x / (double)most : 127.5;
    return !(at > 0) ? 0 : at >= 255 ? 255 : (int)(at + 0.5);
}

/* Three channels are red, green and blue, anything else the grey of the largest by size. */
static HeatLook pixel_look(const void *context, int row, int col)
{
    const Drawn *d = context;
    const Tiles *t = d->t;
    float value[3] = {0};
    size_t best = largest_of(d, 0, row, col);
    for (int c = 0; c < t->channels; c++) {
        size_t cell = largest_of(d, c, row, col);
        best = is_larger(t->v.values[cell], t->v.values[best]) ? cell : best;
        if (c < 3)
            value[c] = t->v.values[cell];
    }
    const float largest = t->v.values[best];
    HeatLook look = {.colour = colourmap_colour(CM_GREY, MODE_TRUE, (double)NAN), .ref = shown_ref(&t->v, best)};
    if (isnan(largest))
        return look;
    look.colour = 0;
    for (int c = 0; c < 3; c++)
        look.colour = look.colour << 8 | (Colour)byte_of(t->channels == 3 ? value[c] : largest, d->most);
    int level = d->most > 0 ? (int)(fabsf(largest) / d->most * 9 + 0.5F) : 0;
    look.level = level > 9 ? 9 : level;
    look.sign = (largest > 0) - (largest < 0);
    return look;
}

static Colour pixel_colour(const void *context, int row, int col)
{
    return pixel_look(context, row, col).colour;
}

void tiles_draw(const Paint *p, const Tiles *t, int tile, const TileFit *f, int y, int x)
{
    size_t low = 0, high = 0;
    float most = tiles_range(t, tile, &low, &high) ? fmaxf(fabsf(t->v.values[low]), fabsf(t->v.values[high])) : 0;
    Rect r = {y, x, f->lines, f->columns};
    heat_paint(p, r, f->rows, f->cols, f->size, pixel_look, &(Drawn){t, tile, f->rows, f->cols, most});
    if (f->rows < t->h || f->cols < t->w)
        heat_behind(p, r, t->h, t->w, f->size, pixel_colour, &(Drawn){t, tile, t->h, t->w, most});
}
