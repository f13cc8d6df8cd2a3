#include <math.h>

#include "tui/canvas/plot.h"

enum { PARTS = 8, FULL = 0x2588, UPPER_HALF = 0x2580, UPPER_EIGHTH = 0x2594, LOWER_EIGHTH = 0x2581 };

int bars_width(Rect r, int n)
{
    return n > 0 && r.w >= n ? r.w / n : 1;
}

bool bars_at(Rect r, int n, int x, int *first, int *last)
{
    x -= r.x;
    if (x < 0 || x >= r.w || n < 1)
        return false;
    if (r.w >= n) {
        *first = x / bars_width(r, n);
        *last = *first + 1;
    } else {
        *first = (int)((long)x * n / r.w);
        *last = (int)((long)(x + 1) * n / r.w);
    }
    return *first < n;
}

int bars_column(Rect r, int n, int i)
{
    if (r.w >= n)
        return r.x + i * bars_width(r, n);
    int x = (int)((long)i * r.w / n), first, last;
    while (bars_at(r, n, r.x + x, &first, &last) && i >= last)
        x++;
    return r.x + x;
}

int bars_below(Rect r, double low, double high)
{
    if (low >= 0 || r.h < 1)
        return 0;
    if (high <= 0)
        return r.h;
    int below = (int)(r.h * -low / (high - low) + 0.5);
    return below < 1 ? r.h > 1 : below > r.h - 1 && r.h > 1 ? r.h - 1 : below;
}

/* Eighths of the rectangle below a value, above and below zero to the same scale. */
static int height_of(const CanvasBars *b, Rect r, double x)
{
    int below = bars_below(r, b->low, b->high), above = r.h - below;
    double up = above ? b->high / above : 0, down = below ? -b->low / below : 0, line = up > down ? up : down;
    double lines = line > 0 ? x / line : 0;
    lines = lines < -below ? -below : lines > above ? above : lines;
    return below * PARTS + (int)floor(lines * PARTS + 0.5);
}

/* The glyph of a cell that is filled from `from` to `to` eighths, counted from its lower edge. */
static uint32_t glyph(int from, int to)
{
    int part = to - from;
    if (part >= PARTS)
        return FULL;
    if (from <= 0)
        return part > 0 ? (uint32_t)(LOWER_EIGHTH + part - 1) : ' ';
    return part >= 6 ? FULL : part >= 3 ? UPPER_HALF : UPPER_EIGHTH;
}

static void draw_bar(Canvas *c, Rect r, const CanvasBars *b, int x, int width, float value, Ref ref)
{
    if (isnan(value))
        return;
    int zero = height_of(b, r, 0), end = height_of(b, r, (double)value);
    if (value > 0.0f && end == zero && zero < r.h * PARTS)
        end++; /* not nothing */
    if (value < 0.0f && end == zero && zero > 0)
        end--;
    bool below = end < zero;
    int low = below ? end : zero, high = below ? zero : end;
    for (int k = 0; k < r.h; k++) { /* from below */
        int from = low - k * PARTS, to = high - k * PARTS;
        from = from < 0 ? 0 : from;
        to = to > PARTS ? PARTS : to;
        for (int i = 0; to > from && i < width; i++) {
            canvas_glyph(c, r.y + r.h - 1 - k, x + i, below ? b->negative : b->style, glyph(from, to));
            canvas_ref(c, r.y + r.h - 1 - k, x + i, 1, ref);
        }
    }
}

void bars_draw(Canvas *c, Rect r, const CanvasBars *b)
{
    if (r.h < 1 || r.w < 1 || b->n < 1)
        return;
    int width = bars_width(r, b->n), first, last;
    int gap = width >= 3; /* bars apart from one another */
    int below = bars_below(r, b->low, b->high);
    if (below && below < r.h) { /* the zero line, on which the bars above it stand, from its name on */
        int y = r.y + r.h - below - 1;
        canvas_fill(c, (Rect){y, r.x, 1, bars_column(r, b->n, b->n - 1) + width - gap - r.x}, STYLE_AXIS, LOWER_EIGHTH);
        canvas_glyph(c, y, r.x - 1, STYLE_AXIS, '0');
    } else if (below)
        canvas_glyph(c, r.y, r.x - 1, STYLE_AXIS, '0'); /* they all hang from the top */
    for (int x = r.x; bars_at(r, b->n, x, &first, &last); x += width) {
        float most = NAN;
        Ref ref = {0};
        for (int i = first; i < last; i++) {
            Ref here = {0};
            float v = b->value(b->of, i, &here);
            if (isnan(most) || (b->largest ? v > most : fabsf(v) > fabsf(most))) {
                most = v;
                ref = here;
            }
        }
        draw_bar(c, r, b, x, width - gap, most, ref);
    }
}
