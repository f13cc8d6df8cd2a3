#include "tui/views/heat.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "tui/canvas/cell_look.h"

bool heat_halves(const Paint *p)
{
    return !p->c->ascii && p->mode != MODE_MONO;
}

void heat_mark_half(const Paint *p, int y, int x, int half, Style style, uint32_t sign)
{
    const bool looked = style == STYLE_CURSOR;
    const Colour mark = p->light ? looked ? 0xd000d0 : 0x5000d0 : looked ? 0x00e676 : 0x00d0ff;
    half = p->mode == MODE_TRUE || p->mode == MODE_256 ? half : -1;
    Cell *k = half < 0 ? NULL : canvas_at(p->c, y, x);
    Colour of[2] = {COLOUR_DEFAULT, COLOUR_DEFAULT};
    if (k && cell_is_data(k))
        cell_halves(k, &of[0], &of[1]);
    canvas_glyph(p->c, y, x, style, half < 0 ? sign : half ? 0x2584 : 0x2580);
    if (k) {
        k->fg = mark;
        k->bg = of[!half];
    }
}

/* On line y, the ground that of its half, or −1. */
static void put_mark(const Paint *p, int y, int x, int width, int half, Ref ref)
{
    if (width < 2) {
        /* no character of any ramp, on a ground of its own: a cell's colour may be that of several values */
        heat_mark_half(p, y, x, half, STYLE_CURSOR, heat_halves(p) ? 0x25c6 : '!');
        canvas_ref(p->c, y, x, 1, ref);
        return;
    }
    canvas_mark(p->c, y, x, half, STYLE_CURSOR, '[');
    canvas_mark(p->c, y, x + width - 1, half, STYLE_CURSOR, ']');
    canvas_ref(p->c, y, x, 1, ref);
    canvas_ref(p->c, y, x + width - 1, 1, ref);
}

void heat_mark(const Paint *p, int y, int x, int height, int width, Ref ref)
{
    put_mark(p, y + (height - 1) / 2, x, width, -1, ref);
}

size_t heat_first(size_t part, size_t n, size_t parts)
{
    return part * n / parts;
}

size_t heat_part(size_t i, size_t n, size_t parts)
{
    return ((i + 1) * parts - 1) / n;
}

int heat_pixels(const Paint *p, int lines)
{
    return heat_halves(p) ? 2 * lines : lines;
}

/* All cells alike where four fifths of the room remain then. */
static double even(double pixels)
{
    double whole = floor(pixels + 1e-9);
    return whole > pixels * 0.8 ? whole : pixels;
}

HeatSize heat_within(const Paint *p, HeatSize room, int rows, int cols, int oblong)
{
    double unit = heat_halves(p) ? 1 : 2; /* columns that are as wide as a pixel is high */
    if (rows < 1 || cols < 1)
        return (HeatSize){0, 0};
    double across = fmin((double)room.wide / cols, HEAT_WIDEST), down = (double)room.tall / rows;
    down = fmin(down, fmax(1, across * oblong / unit));
    across = fmin(across, fmax(1, down * oblong * unit));
    int tall = (int)(even(down) * rows + 1e-9), wide = (int)(even(across) * cols + 1e-9);
    return (HeatSize){tall > rows ? tall : rows, wide > cols ? wide : cols};
}

HeatSize heat_size(const Paint *p, Rect room, int rows, int cols)
{
    return heat_within(p, (HeatSize){heat_pixels(p, room.h), room.w}, rows, cols, HEAT_OBLONG);
}

/* First column of drawn column col; first pixel of drawn row row. */
static int left_of(HeatSize size, int cols, int col)
{
    return (int)heat_first((size_t)col, (size_t)size.wide, (size_t)cols);
}

static int top_of(HeatSize size, int rows, int row)
{
    return (int)heat_first((size_t)row, (size_t)size.tall, (size_t)rows);
}

HeatSize heat_fine(const Paint *p, HeatSize size)
{
    if (!heat_halves(p) || !p->c->pixel_h)
        return (HeatSize){0, 0};
    return (HeatSize){size.tall * p->c->pixel_h / 2, size.wide * p->c->pixel_w};
}

/* Which of n parts every pixel is of: rows or columns of the room, then those that are of none. */
static int *parts_of(int n, int pixels, int room)
{
    int *part = xmalloc(size_mul((size_t)room, sizeof *part));
    for (int i = 0; i < room; i++)
        part[i] = i < pixels ? (int)((int64_t)i * n / pixels) : -1;
    return part;
}

void heat_behind(const Paint *p, Rect r, int rows, int cols, HeatSize size, HeatColourFn *at, const void *context)
{
    HeatSize pixels = heat_fine(p, size);
    Rect cells = {r.y, r.x, (size.tall + 1) / 2, size.wide};
    if (pixels.tall < rows || pixels.wide < cols || rows < 1 || cols < 1)
        return;
    Colour *colour = xmalloc(size_mul(size_mul((size_t)rows, (size_t)cols), sizeof *colour));
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            colour[row * cols + col] = at(context, row, col);
    int *row = parts_of(rows, pixels.tall, cells.h * p->c->pixel_h), *col = parts_of(cols, pixels.wide, pixels.wide);
    Rect old = canvas_clip(p->c, r);
    canvas_pixels(p->c, cells, &(CanvasGrid){colour, cols, row, col});
    p->c->clip = old;
    free(row);
    free(col);
    free(colour);
}

typedef struct Looking {
    HeatLookFn *look;
    const void *context;
} Looking;

static Colour look_colour(const void *context, int row, int col)
{
    const Looking *l = context;
    return l->look(l->context, row, col).colour;
}

void heat_paint(const Paint *p, Rect r, int rows, int cols, HeatSize size, HeatLookFn *look, const void *context)
{
    Rect old = canvas_clip(p->c, r);
    bool halves = heat_halves(p);
    int most = heat_pixels(p, r.h);
    for (int row = 0; row < rows && top_of(size, rows, row) < most; row++) {
        int top = top_of(size, rows, row), bottom = top_of(size, rows, row + 1);
        for (int col = 0; col < cols && left_of(size, cols, col) < r.w; col++) {
            HeatLook h = look(context, row, col);
            int left = left_of(size, cols, col), right = left_of(size, cols, col + 1);
            for (int y = top; y < bottom; y++)
                for (int x = left; x < right; x++)
                    canvas_pixel(p->c, r.y + (halves ? y / 2 : y), r.x + x, halves ? y % 2 : -1, h.colour, h.level,
                                 h.sign, h.ref);
        }
    }
    heat_behind(p, r, rows, cols, size, look_colour, &(Looking){look, context});
    p->c->clip = old;
}

typedef struct Scaled {
    const ColourScale *scale;
    HeatFn value;
    const void *context;
} Scaled;

static HeatLook scaled_look(const void *context, int row, int col)
{
    const Scaled *s = context;
    HeatLook h = {0};
    float v = s->value(s->context, row, col, &h.ref);
    h.colour = colour_scale_colour(s->scale, v);
    h.level = colour_scale_level(s->scale, v);
    h.sign = colour_scale_sign(s->scale, v);
    return h;
}

static Colour scaled_colour(const void *context, int row, int col)
{
    const Scaled *s = context;
    Ref ref;
    return colour_scale_colour(s->scale, s->value(s->context, row, col, &ref));
}

void heat_draw(const Paint *p, Rect r, int rows, int cols, HeatSize size, const ColourScale *s, HeatFn value,
               const void *context)
{
    heat_paint(p, r, rows, cols, size, scaled_look, &(Scaled){s, value, context});
}

void heat_draw_behind(const Paint *p, Rect r, int rows, int cols, HeatSize size, const ColourScale *s, HeatFn value,
                      const void *context)
{
    heat_behind(p, r, rows, cols, size, scaled_colour, &(Scaled){s, value, context});
}

Rect heat_cell(const Paint *p, Rect r, int rows, int cols, HeatSize size, int row, int col)
{
    int top = top_of(size, rows, row), bottom = top_of(size, rows, row + 1), left = left_of(size, cols, col);
    if (heat_halves(p)) {
        top /= 2;
        bottom = (bottom + 1) / 2;
    }
    return (Rect){r.y + top, r.x + left, bottom - top, left_of(size, cols, col + 1) - left};
}

Rect heat_mark_cell(const Paint *p, Rect r, int rows, int cols, HeatSize size, int row, int col, Ref ref)
{
    const int top = top_of(size, rows, row), end = top_of(size, rows, row + 1), left = left_of(size, cols, col);
    int middle = (top + end - 1) / 2;
    if (end - top == 2) /* of two lines the one that has more of it where there are finer pixels */
        middle = ((2 * row + 1) * size.tall - 1) / (2 * rows) < end - 1 ? top : end - 1;
    const bool halves = heat_halves(p);
    Rect at = {r.y + (halves ? middle / 2 : middle), r.x + left, 1, left_of(size, cols, col + 1) - left};
    put_mark(p, at.y, at.x, at.w, halves ? middle % 2 : -1, ref);
    return at;
}

bool heat_hit(const Paint *p, Rect r, int rows, int cols, HeatSize size, int y, int x, int *row, int *col)
{
    int pixel = heat_pixels(p, y - r.y), column = x - r.x;
    if (!rect_has(r, y, x) || pixel >= size.tall || column >= size.wide)
        return false;
    *row = (int)heat_part((size_t)pixel, (size_t)size.tall, (size_t)rows);
    *col = (int)heat_part((size_t)column, (size_t)size.wide, (size_t)cols);
    return true;
}
