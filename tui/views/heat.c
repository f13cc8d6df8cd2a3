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

static void put(const Paint *p, const ColourScale *s, int y, int x, int half, int width, float value, Ref ref)
{
    Colour colour = colour_scale_colour(s, value);
    int level = colour_scale_level(s, value), sign = colour_scale_sign(s, value);
    for (int k = 0; k < width; k++)
        canvas_pixel(p->c, y, x + k, half, colour, level, sign, ref);
}

/* Two rows of data in one line of cells. Where half blocks cannot be used the pair is drawn as the one that is further
 * from the bottom of the scale. */
static void put_pair(const Paint *p, Rect r, int row, int rows, int cols, int cell_w, const ColourScale *s,
                     HeatFn value, const void *context)
{
    bool halves = heat_halves(p);
    int y = r.y + row / 2;
    for (int col = 0; col < cols && col * cell_w < r.w; col++) {
        Ref ref[2] = {{0}, {0}};
        float v[2] = {value(context, row, col, &ref[0]), 0};
        bool two = row + 1 < rows;
        if (two)
            v[1] = value(context, row + 1, col, &ref[1]);
        int x = r.x + col * cell_w;
        if (halves) {
            put(p, s, y, x, 0, cell_w, v[0], ref[0]);
            if (two)
                put(p, s, y, x, 1, cell_w, v[1], ref[1]);
        } else {
            int k = two && (isnan(v[0]) || colour_scale_level(s, v[1]) > colour_scale_level(s, v[0]));
            put(p, s, y, x, -1, cell_w, v[k], ref[k]);
        }
    }
}

void heat_draw(const Paint *p, Rect r, int rows, int cols, int cell_w, int cell_h, const ColourScale *s, HeatFn value,
               const void *context)
{
    Rect old = canvas_clip(p->c, r);
    if (cell_h <= 0) {
        for (int row = 0; row < rows && row / 2 < r.h; row += 2)
            put_pair(p, r, row, rows, cols, cell_w, s, value, context);
    } else {
        for (int row = 0; row < rows && row * cell_h < r.h; row++)
            for (int col = 0; col < cols && col * cell_w < r.w; col++) {
                Ref ref = {0};
                float v = value(context, row, col, &ref);
                for (int k = 0; k < cell_h; k++)
                    put(p, s, r.y + row * cell_h + k, r.x + col * cell_w, -1, cell_w, v, ref);
            }
    }
    p->c->clip = old;
}
