#include "tui/views/tiles.h"

#include <math.h>

#include "tui/views/heat.h"

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

TileFit tiles_fit(const Paint *p, const Tiles *t, int h, int w, int most)
{
    TileFit f = {.halves = heat_halves(p)};
    int step = f.halves ? 1 : 2, longest = t->h > t->w ? t->h : t->w;
    for (int size = most; size >= -longest; size--) {
        if (size == 0 || size == -1)
            continue;
        f.size = size;
        f.columns = size > 0 ? t->w * size : (t->w - size - 1) / -size;
        int tall = size > 0 ? t->h * size : (t->h - size - 1) / -size; /* half lines */
        f.lines = (tall + 1) / 2;
        if (f.columns <= w && f.lines <= h && (size < 0 || size % step == 0 || size == 1))
            return f;
    }
    return f;
}

/* Mean of a channel over the pixels that lie in [row0, row1) × [col0, col1). */
static float mean_of(const Tiles *t, int tile, int channel, int row0, int row1, int col0, int col1)
{
    double sum = 0;
    int n = 0;
    for (int i = row0; i < row1 && i < t->h; i++)
        for (int j = col0; j < col1 && j < t->w; j++, n++)
            sum += (double)t->v.values[tiles_cell(t, tile, channel, i, j)];
    return n ? (float)(sum / n) : NAN;
}

static int byte_of(float x, float most)
{
    double at = most > 0 ? 127.5 + 127.5 * (double)x / (double)most : 127.5;
    return !(at > 0) ? 0 : at >= 255 ? 255 : (int)(at + 0.5);
}

/* One unit: three channels are red, green and blue, anything else the grey of their mean. */
static void put_unit(const Paint *p, const Tiles *t, int tile, float most, int y, int x, int half, const int edge[4])
{
    float value[3], mean = 0;
    for (int c = 0; c < t->channels; c++) {
        float v = mean_of(t, tile, c, edge[0], edge[1], edge[2], edge[3]);
        mean += v / (float)t->channels;
        if (c < 3)
            value[c] = v;
    }
    for (int c = 0; t->channels != 3 && c < 3; c++)
        value[c] = mean;
    Ref ref = shown_ref(&t->v, tiles_cell(t, tile, 0, edge[0], edge[2]));
    if (isnan(mean)) {
        canvas_glyph(p->c, y, x, STYLE_DIM, '?');
        canvas_ref(p->c, y, x, 1, ref);
        return;
    }
    Colour colour = (Colour)byte_of(value[0], most) << 16 | (Colour)byte_of(value[1], most) << 8 |
                    (Colour)byte_of(value[2], most);
    int level = most > 0 ? (int)(fabsf(mean) / most * 9 + 0.5F) : 0;
    canvas_pixel(p->c, y, x, half, colour, level > 9 ? 9 : level, (mean > 0) - (mean < 0), ref);
}

/* Rows or columns of the tile that unit k stands for. */
static void range_of(int k, int size, int *from, int *to)
{
    *from = size > 0 ? k / size : k * -size;
    *to = size > 0 ? *from + 1 : *from - size;
}

void tiles_draw(const Paint *p, const Tiles *t, int tile, const TileFit *f, int y, int x)
{
    size_t low = 0, high = 0;
    float most = tiles_range(t, tile, &low, &high) ? fmaxf(fabsf(t->v.values[low]), fabsf(t->v.values[high])) : 0;
    int tall = f->size > 0 ? t->h * f->size : (t->h - f->size - 1) / -f->size;
    for (int line = 0; line < (f->halves ? tall : (tall + 1) / 2); line++)
        for (int column = 0; column < f->columns; column++) {
            int edge[4], last, first = f->halves ? line : 2 * line;
            range_of(first, f->size, &edge[0], &edge[1]);
            range_of(column, f->size, &edge[2], &edge[3]);
            if (!f->halves && first + 1 < tall) /* the whole cell is two units high */
                range_of(first + 1, f->size, &last, &edge[1]);
            put_unit(p, t, tile, most, y + (f->halves ? line / 2 : line), x + column, f->halves ? line % 2 : -1, edge);
        }
}
