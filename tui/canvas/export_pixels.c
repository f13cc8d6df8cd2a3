/* Canvas → pixels: the rectangles of shapes_paint, then letters. */
#include <string.h>

#include "tui/canvas/cell_look.h"
#include "tui/canvas/export.h"

enum { UNITS_W = 8, UNITS_H = 16, SCALE = PIXELS_W / UNITS_W };
_Static_assert(PIXELS_H == SCALE * UNITS_H, "a unit is a square of pixels");

typedef struct Plane {
    uint8_t *rgb;
    int w, h;
} Plane;

int export_width(const Canvas *c)
{
    return c->w * PIXELS_W + 2 * PIXELS_MARGIN;
}

int export_height(const Canvas *c)
{
    return c->h * PIXELS_H + 2 * PIXELS_MARGIN;
}

/* alpha 0 … 255 of that colour over what is there. */
static void blend(Plane *p, int y, int x, Colour colour, unsigned alpha)
{
    uint8_t *at = p->rgb + 3 * ((size_t)y * (size_t)p->w + (size_t)x);
    for (int i = 0; i < 3; i++) {
        unsigned to = colour >> (16 - 8 * i) & 0xff;
        at[i] = (uint8_t)((to * alpha + at[i] * (255 - alpha) + 127) / 255);
    }
}

static void fill(Plane *p, Colour colour, Rect r)
{
    for (int y = r.y < 0 ? 0 : r.y; y < r.y + r.h && y < p->h; y++)
        for (int x = r.x < 0 ? 0 : r.x; x < r.x + r.w && x < p->w; x++)
            blend(p, y, x, colour, 255);
}

static void paint(void *context, Colour colour, Rect u)
{
    fill(context, colour, (Rect){PIXELS_MARGIN + SCALE * u.y, PIXELS_MARGIN + SCALE * u.x, SCALE * u.h, SCALE * u.w});
}

static void letter(Plane *p, const CellLook *s, int y, int x, int cells, PixelsGlyph *glyph, void *font)
{
    uint8_t alpha[2 * PIXELS_W * PIXELS_H];
    int w = PIXELS_W * cells, bold = s->attrs & ATTR_BOLD ? 1 : 0;
    int top = PIXELS_MARGIN + y * PIXELS_H, left = PIXELS_MARGIN + x * PIXELS_W;
    glyph(font, s->ch, cells, alpha);
    for (int i = 0; i < PIXELS_H; i++)
        for (int k = 0; k < w; k++) {
            unsigned a = alpha[i * w + k], before = bold && k ? alpha[i * w + k - 1] : 0;
            a = a > before ? a : before;             /* bold: one pixel wider */
            a = s->attrs & ATTR_DIM ? a * 3 / 5 : a; /* as in the SVG */
            if (a && left + k < p->w)
                blend(p, top + i, left + k, s->fg, a);
        }
}

/* A cell's own pixels, in so many as a cell has here. */
static void block(Plane *p, const Canvas *c, const Colour *from, Colour ground, int y, int x)
{
    for (int i = 0; i < PIXELS_H; i++)
        for (int k = 0; k < PIXELS_W; k++) {
            Colour colour = from[i * c->pixel_h / PIXELS_H * c->pixel_w + k * c->pixel_w / PIXELS_W];
            blend(p, PIXELS_MARGIN + y * PIXELS_H + i, PIXELS_MARGIN + x * PIXELS_W + k,
                  colour == COLOUR_DEFAULT ? ground : colour, 255);
        }
}

void export_pixels(const Canvas *c, ColourMode mode, bool light, PixelsGlyph *glyph, void *font, uint8_t *rgb)
{
    Paper paper = paper_of(light);
    Plane p = {rgb, export_width(c), export_height(c)};
    fill(&p, paper.ground, (Rect){0, 0, p.h, p.w});
    shapes_paint(c, mode, light, paper, paint, &p);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *row = c->cells + (size_t)y * (size_t)c->w;
            CellLook s = cell_look_on_paper(&row[x], mode, light, paper);
            const Colour *own = canvas_block_shown(c, y, x) ? canvas_block(c, y, x) : NULL;
            if (own && mode >= MODE_256)
                block(&p, c, own, paper.ground, y, x);
            bool wide = x + 1 < c->w && !row[x + 1].ch && s.ch;
            if (s.ch && !own && !svg_draws(s.ch))
                letter(&p, &s, y, x, wide ? 2 : 1, glyph, font);
            if (s.ch && s.attrs & ATTR_UNDERLINE)
                fill(&p, s.fg,
                     (Rect){PIXELS_MARGIN + (y + 1) * PIXELS_H - 3, PIXELS_MARGIN + x * PIXELS_W, 2, PIXELS_W});
        }
}
