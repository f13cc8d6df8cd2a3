#include "tui/views/attention/lit.h"

#include <math.h>

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/number.h"

const Image *lit_picture(const Session *s, Side side)
{
    const Input *in = session_input(s, side);
    return in->resized.data ? &in->resized : NULL;
}

/* Has a patch at least this share of the largest? Then it is outlined. */
static const double OUTLINED = 0.25;

static double lit_share(const Lit *lit, int row, int col, Ref *ref)
{
    float w = lit->value(lit->context, lit->m->row + row, lit->m->col + col, ref);
    w = lit->signs ? fabsf(w) : w;
    return lit->most > lit->least && isfinite(w) ? ((double)w - (double)lit->least) / (double)(lit->most - lit->least)
                                                 : 0;
}

static bool lit_in(const Lit *lit, int row, int col)
{
    Ref ref;
    return row >= 0 && col >= 0 && row < lit->m->rows && col < lit->m->cols &&
           lit_share(lit, row, col, &ref) >= OUTLINED;
}

enum { SIDE_ACROSS = 1, SIDE_DOWN = 2 };

/* Which edges of an outline pixel (j, i) of a patch of tall × wide pixels is on; none between two outlined patches. */
static int lit_edge(const Lit *lit, int row, int col, int j, int i, int tall, int wide)
{
    if (!lit_lined(lit->p, lit->m) || tall < 3 || wide < 3 || !lit_in(lit, row, col))
        return 0;
    int across = (j == 0 && !lit_in(lit, row - 1, col)) || (j == tall - 1 && !lit_in(lit, row + 1, col));
    int down = (i == 0 && !lit_in(lit, row, col - 1)) || (i == wide - 1 && !lit_in(lit, row, col + 1));
    return across * SIDE_ACROSS + down * SIDE_DOWN;
}

/* Of a line: where signs count, another one below 0. */
static Colour colour_of(const Paint *p, bool below)
{
    return below ? p->light ? 0x0050c0 : 0x5ab4ff : p->light ? 0xc00060 : 0xffd700;
}

static Colour line_colour(const Lit *lit, int row, int col)
{
    Ref ref;
    return colour_of(lit->p, lit->signs && lit->value(lit->context, lit->m->row + row, lit->m->col + col, &ref) < 0);
}

/* How much of the colour over a picture is its own light: enough to know the object, too little to be taken for a
 * number. */
static const double SHINES_DARK = 0.3, SHINES_LIGHT = 0.25;

static Colour lit_tinted(const Lit *lit, float x, double grey)
{
    const Colour of = colour_scale_colour(lit->scale, x);
    Colour colour = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        const double own = (double)(of >> shift & 0xff);
        const double mixed = lit->p->light ? own * (1 - SHINES_LIGHT + SHINES_LIGHT * grey / 255)
                                           : own * (1 - SHINES_DARK) + grey * SHINES_DARK;
        colour |= (Colour)mixed << shift;
    }
    return colour;
}

/* As bright, and as coloured, as its number: of the dimmest enough stays to know the object. Light is added too, so
 * that a black object with the largest is brighter than a white ground with a tenth of it: LIFTED > DIMMEST +
 * (1 - DIMMEST + LIFTED) / 10. A white patch is dimmed on a light ground too. */
static const double DIMMEST = 0.22, LIFTED = 0.45;

/* A pixel of the picture, at: as it is, or a line's; without lines, lit by its patch's number. */
static Colour lit_colour(const Lit *lit, const uint8_t *at, int row, int col, int edge, double *grey)
{
    const bool lights = !lit_lined(lit->p, lit->m);
    Ref ref;
    Colour colour = 0;
    double share = lit_share(lit, row, col, &ref);
    share = share < 0 ? 0 : share > 1 ? 1 : share; /* a difference may be negative: as dim as nothing */
    const double light = lights ? DIMMEST + (1 - DIMMEST) * share : 1;
    double mean = 0;
    for (int c = 0; c < 3; c++)
        mean += (double)at[lit->im->channels > 2 ? c : 0] / 3;
    *grey = light * mean;
    *grey += lights ? LIFTED * share * (255 - *grey) : 0;
    for (int c = 0; c < 3; c++) { /* the same added to all three, so that the hue stays */
        const double own = (double)at[lit->im->channels > 2 ? c : 0];
        const double x = *grey + light * (lights ? share : 1) * (own - mean);
        colour = colour << 8 | (Colour)fmin(fmax(x, 0), 255);
    }
    if (lights && lit->scale)
        return lit_tinted(lit, lit->value(lit->context, lit->m->row + row, lit->m->col + col, &ref), mean);
    return !edge ? colour : line_colour(lit, row, col);
}

/* Where the middle of cell (y, x) of tall × wide lies in the picture. */
static const uint8_t *lit_pixel(const Image *im, int y, int x, int tall, int wide)
{
    size_t row = (size_t)((2 * y + 1) * im->height / (2 * tall)), col = (size_t)((2 * x + 1) * im->width / (2 * wide));
    return im->data + (row * (size_t)im->width + col) * (size_t)im->channels;
}

/* The same in the picture's own pixels. */
static Colour lit_behind(const void *context, int y, int x)
{
    const Lit *lit = context;
    const LatticeMap *m = lit->m;
    const Canvas *c = lit->p->c;
    int tall = m->rows * m->k * c->pixel_h / 2, wide = m->cols * m->k * c->pixel_w;
    int row = y * m->rows / tall, col = x * m->cols / wide, high = tall / m->rows, across = wide / m->cols;
    int line = c->pixel_h / 16 + 1, j = y - row * tall / m->rows, i = x - col * wide / m->cols;
    bool edge = m->k >= 3 && (j < line || j >= high - line || i < line || i >= across - line);
    double grey;
    j = j < line ? 0 : j >= high - line ? high - 1 : line; /* the line is an edge, as wide as that */
    i = i < line ? 0 : i >= across - line ? across - 1 : line;
    return lit_colour(lit, lit_pixel(lit->im, y, x, tall, wide), row, col,
                      edge ? lit_edge(lit, row, col, j, i, high, across) : 0, &grey);
}

void lit_draw(const Lit *lit)
{
    static const uint32_t GLYPH[] = {0, 0x2500, 0x2502, 0x253c};
    const Paint *p = lit->p;
    const LatticeMap *m = lit->m;
    int wide = m->cols * m->k, tall = m->halves ? m->rows * m->k : m->r.h, patch = tall / m->rows;
    for (int j = 0; j < tall; j++)
        for (int i = 0; i < wide; i++) {
            int row = j / patch, col = i / m->k, y = m->r.y + (m->halves ? j / 2 : j), x = m->r.x + i;
            int edge = lit_edge(lit, row, col, j % patch, i % m->k, patch, m->k);
            Ref ref;
            lit_share(lit, row, col, &ref);
            if (edge && !m->halves) {
                canvas_glyph(p->c, y, x, STYLE_STRONG, GLYPH[edge]);
                canvas_ref(p->c, y, x, 1, ref);
                continue;
            }
            double grey;
            Colour colour = lit_colour(lit, lit_pixel(lit->im, j, i, tall, wide), row, col, edge, &grey);
            canvas_pixel(p->c, y, x, m->halves ? j % 2 : -1, colour, (int)(grey * 9 / 255 + 0.5), 0, ref);
        }
    HeatSize size = {tall, wide}, fine = heat_fine(p, size);
    heat_behind(p, m->r, fine.tall, fine.wide, size, lit_behind, lit);
}

bool lit_lined(const Paint *p, const LatticeMap *m)
{
    const bool room = m->rows > 0 && m->k >= 3 && (m->halves ? m->k : m->r.h / m->rows) >= 3;
    return room && p->mode != MODE_TRUE;
}

/* "outlined: █ ≥0.648  █ ≤-0.648", with a shorter word, or none, where there is no room. */
void lit_legend(const Lit *lit, Rect line)
{
    static const char *const SAYS[] = {"outlined: ", "line: ", ""};
    char number[16];
    const float least = (float)OUTLINED * lit->most;
    number_text(number, sizeof number, least, 5);
    const int swatch = heat_halves(lit->p) ? 2 : 0, cells = 2 * (swatch + 1 + utf8_cells(number)) + 3;
    int says = 0;
    while (says < 2 && cells + utf8_cells(SAYS[says]) > line.w)
        says++;
    rect_cut(&line, 'l', canvas_text(lit->p->c, line.y, line.x, line.w, STYLE_DIM, SAYS[says]));
    for (int below = 0; below < 2; below++) {
        if (swatch && line.w > swatch)
            canvas_pixel(lit->p->c, line.y, line.x, -1, colour_of(lit->p, below), 0, 0, (Ref){0});
        rect_cut(&line, 'l', swatch);
        rect_cut(&line, 'l',
                 canvas_printf(lit->p->c, line.y, line.x, line.w, STYLE_DIM, below ? "≤-%s" : "≥%s", number));
        rect_cut(&line, 'l', 2);
    }
}
