#include "tui/views/heat.h"

#include <math.h>

bool heat_halves(const Paint *p)
{
    return !p->c->ascii && p->mode != MODE_MONO;
}

void heat_mark(const Paint *p, int y, int x, int height, int width, Ref ref)
{
    y += (height - 1) / 2;
    if (width < 2) {
        canvas_glyph(p->c, y, x, STYLE_CURSOR, '!'); /* no character of any ramp */
        canvas_ref(p->c, y, x, 1, ref);
        return;
    }
    canvas_glyph(p->c, y, x, STYLE_CURSOR, '[');
    canvas_glyph(p->c, y, x + width - 1, STYLE_CURSOR, ']');
    canvas_ref(p->c, y, x, 1, ref);
    canvas_ref(p->c, y, x + width - 1, 1, ref);
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

void heat_draw(const Paint *p, Rect r, int rows, int cols, HeatSize size, const ColourScale *s, HeatFn value,
               const void *context)
{
    heat_paint(p, r, rows, cols, size, scaled_look, &(Scaled){s, value, context});
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

bool heat_hit(const Paint *p, Rect r, int rows, int cols, HeatSize size, int y, int x, int *row, int *col)
{
    int pixel = heat_pixels(p, y - r.y), column = x - r.x;
    if (!rect_has(r, y, x) || pixel >= size.tall || column >= size.wide)
        return false;
    *row = (int)heat_part((size_t)pixel, (size_t)size.tall, (size_t)rows);
    *col = (int)heat_part((size_t)column, (size_t)size.wide, (size_t)cols);
    return true;
}
