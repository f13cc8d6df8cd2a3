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

/* One tile, drawn as rows × cols of its pixels. */
typedef struct Drawn {
    const Tiles *t;
    int tile, rows, cols;
    float most;
} Drawn;

/* Mean of a channel over the pixels of a drawn one. */
static float mean_of(const Drawn *d, int channel, int row, int col)
{
    const Tiles *t = d->t;
    size_t i0 = heat_first((size_t)row, (size_t)t->h, (size_t)d->rows),
           i1 = heat_first((size_t)row + 1, (size_t)t->h, (size_t)d->rows),
           j0 = heat_first((size_t)col, (size_t)t->w, (size_t)d->cols),
           j1 = heat_first((size_t)col + 1, (size_t)t->w, (size_t)d->cols);
    double sum = 0;
    for (size_t i = i0; i < i1; i++)
        for (size_t j = j0; j < j1; j++)
            sum += (double)t->v.values[tiles_cell(t, d->tile, channel, (int)i, (int)j)];
    return (float)(sum / ((double)(i1 - i0) * (double)(j1 - j0)));
}

static int byte_of(float x, float most)
{
    double at = most > 0 ? 127.5 + 127.5 * (double)x / (double)most : 127.5;
    return !(at > 0) ? 0 : at >= 255 ? 255 : (int)(at + 0.5);
}

/* Three channels are red, green and blue, anything else the grey of their mean. */
static HeatLook pixel_look(const void *context, int row, int col)
{
    const Drawn *d = context;
    const Tiles *t = d->t;
    float value[3] = {0}, mean = 0;
    for (int c = 0; c < t->channels; c++) {
        float v = mean_of(d, c, row, col);
        mean += v / (float)t->channels;
        if (c < 3)
            value[c] = v;
    }
    HeatLook look = {.colour = colourmap_colour(CM_GREY, MODE_TRUE, (double)NAN)};
    int i = (int)heat_first((size_t)row, (size_t)t->h, (size_t)d->rows),
        j = (int)heat_first((size_t)col, (size_t)t->w, (size_t)d->cols);
    look.ref = shown_ref(&t->v, tiles_cell(t, d->tile, 0, i, j));
    if (isnan(mean))
        return look;
    look.colour = 0;
    for (int c = 0; c < 3; c++)
        look.colour = look.colour << 8 | (Colour)byte_of(t->channels == 3 ? value[c] : mean, d->most);
    int level = d->most > 0 ? (int)(fabsf(mean) / d->most * 9 + 0.5F) : 0;
    look.level = level > 9 ? 9 : level;
    look.sign = (mean > 0) - (mean < 0);
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
