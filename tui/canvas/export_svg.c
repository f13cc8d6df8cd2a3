/* Canvas → SVG: surfaces and lines as paths, only letters as text. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/dots.h"
#include "tui/canvas/export.h"

/* A filled rectangle in units: a cell is 8 wide and 16 high. */
enum { UNITS_W = 8, UNITS_H = 16 };
typedef struct Patch {
    Colour colour;
    int y, x, h, w;
} Patch;

typedef struct Patches {
    Patch *items;
    size_t count, cap;
} Patches;

static void patch_add(Patches *p, Patch q)
{
    Patch *last = p->count ? &p->items[p->count - 1] : NULL;
    if (last && last->colour == q.colour && last->y == q.y && last->h == q.h && last->x + last->w == q.x) {
        last->w += q.w; /* the run goes on */
        return;
    }
    p->items = grow(p->items, &p->cap, p->count, sizeof *p->items);
    p->items[p->count++] = q;
}

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, HEAVY = 16 };

/* Which arms a box-drawing glyph has; 0 for what is not drawn as lines. */
static unsigned box_arms(uint32_t ch)
{
    static const struct {
        uint32_t ch;
        uint8_t arms;
    } forms[] = {
        {0x2500, LEFT | RIGHT},
        {0x2501, LEFT | RIGHT | HEAVY},
        {0x2502, UP | DOWN},
        {0x2503, UP | DOWN | HEAVY},
        {0x250c, DOWN | RIGHT},
        {0x250f, DOWN | RIGHT | HEAVY},
        {0x2510, DOWN | LEFT},
        {0x2513, DOWN | LEFT | HEAVY},
        {0x2514, UP | RIGHT},
        {0x2517, UP | RIGHT | HEAVY},
        {0x2518, UP | LEFT},
        {0x251b, UP | LEFT | HEAVY},
        {0x251c, UP | DOWN | RIGHT},
        {0x2523, UP | DOWN | RIGHT | HEAVY},
        {0x2524, UP | DOWN | LEFT},
        {0x252b, UP | DOWN | LEFT | HEAVY},
        {0x252c, DOWN | LEFT | RIGHT},
        {0x2533, DOWN | LEFT | RIGHT | HEAVY},
        {0x2534, UP | LEFT | RIGHT},
        {0x253b, UP | LEFT | RIGHT | HEAVY},
        {0x253c, UP | DOWN | LEFT | RIGHT},
        {0x254b, UP | DOWN | LEFT | RIGHT | HEAVY},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].ch == ch)
            return forms[i].arms;
    return 0;
}

/* Rectangle of a block element; false for other glyphs. */
static bool block_part(uint32_t ch, Patch *p)
{
    if (ch == 0x2580)
        *p = (Patch){.h = 8, .w = UNITS_W};
    else if (ch >= 0x2581 && ch <= 0x2588)
        *p = (Patch){.y = 2 * (int)(0x2588 - ch), .h = 2 * (int)(ch - 0x2580), .w = UNITS_W};
    else if (ch > 0x2588 && ch <= 0x258f)
        *p = (Patch){.h = UNITS_H, .w = (int)(0x2590 - ch)};
    else if (ch == 0x2590)
        *p = (Patch){.x = 4, .h = UNITS_H, .w = 4};
    else if (ch == 0x2594)
        *p = (Patch){.h = 2, .w = UNITS_W};
    else if (ch == 0x2595)
        *p = (Patch){.x = 7, .h = UNITS_H, .w = 1};
    else
        return false;
    return true;
}

/* Of a plot; elsewhere halves and full blocks are bars. */
static unsigned dots_of_sextant(const Canvas *c, uint32_t ch)
{
    return c->sextants ? sextant_dots(ch) : 0;
}

/* Grounds first, then the block glyphs over them. Row by row, so that neighbours merge. */
static void collect_row(const Canvas *c, int y, ColourMode mode, bool light, Paper paper, Patches *grounds,
                        Patches *blocks)
{
    for (int x = 0; x < c->w; x++) {
        CellLook s = cell_look_on_paper(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], mode, light, paper);
        if (s.bg != COLOUR_DEFAULT)
            patch_add(grounds, (Patch){.colour = s.bg, .y = UNITS_H * y, .x = UNITS_W * x, .h = UNITS_H, .w = UNITS_W});
        Patch part;
        if (!dots_of_sextant(c, s.ch) && block_part(s.ch, &part))
            patch_add(blocks, (Patch){.colour = s.fg,
                                      .y = UNITS_H * y + part.y,
                                      .x = UNITS_W * x + part.x,
                                      .h = part.h,
                                      .w = part.w});
    }
}

static int by_colour(const void *a, const void *b)
{
    const Patch *p = a, *q = b;
    if (p->colour != q->colour)
        return p->colour < q->colour ? -1 : 1;
    return p->y != q->y ? (p->y < q->y ? -1 : 1) : (p->x > q->x) - (p->x < q->x);
}

static void emit_patches(Patches *p, Buf *out)
{
    if (p->count)
        qsort(p->items, p->count, sizeof *p->items, by_colour);
    for (size_t i = 0; i < p->count;) {
        Colour colour = p->items[i].colour;
        buf_printf(out, "<path fill=\"#%06x\" d=\"", (unsigned)colour);
        for (; i < p->count && p->items[i].colour == colour; i++) {
            const Patch *q = &p->items[i];
            buf_printf(out, "M%d %dh%dv%dh-%dz", q->x, q->y, q->w, q->h, q->w);
        }
        buf_puts(out, "\"/>\n");
    }
    free(p->items);
    *p = (Patches){.items = NULL};
}

/* Box lines of one style, as strokes through the middles of cells. Runs of plain horizontals are one stroke. */
static void emit_lines(const Canvas *c, ColourMode mode, bool light, Paper paper, Style style, bool heavy, Buf *out)
{
    size_t start = out->len, mark = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *row = c->cells + (size_t)y * (size_t)c->w;
            unsigned arms = row[x].style == style ? box_arms(row[x].ch) : 0;
            if (!arms || !!(arms & HEAVY) != heavy)
                continue;
            if (out->len == start) {
                CellLook s = cell_look_on_paper(&row[x], mode, light, paper);
                buf_printf(out, "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"%d\" d=\"", (unsigned)s.fg,
                           heavy ? 2 : 1);
                mark = out->len;
            }
            int run = 1;
            while (arms == (LEFT | RIGHT | (heavy ? HEAVY : 0u)) && x + run < c->w && row[x + run].style == style &&
                   row[x + run].ch == row[x].ch)
                run++;
            int top = UNITS_H * y, left = UNITS_W * x, cy = top + UNITS_H / 2, cx = left + UNITS_W / 2;
            if (arms & (LEFT | RIGHT)) {
                int from = arms & LEFT ? left : cx, to = arms & RIGHT ? left + UNITS_W * run : cx;
                buf_printf(out, "M%d %dH%d", from, cy, to);
            }
            if (arms & (UP | DOWN))
                buf_printf(out, "M%d %dV%d", cx, arms & UP ? top : cy, arms & DOWN ? top + UNITS_H : cy);
            x += run - 1;
        }
    if (out->len > mark && mark)
        buf_puts(out, "\"/>\n");
}

/* Is there a stroke for the dots of this cell? */
static bool has_stroke(const Canvas *c, int y, int x)
{
    for (size_t i = 0; i < c->strokes.strokes; i++)
        if (rect_has(c->strokes.stroke[i].body, y, x))
            return c->strokes.stroke[i].dotted == canvas_dotted(c, c->strokes.stroke[i].body);
    return false;
}

/* Dots, without those that a stroke stands for: all, or only those of a plot that something was drawn over. */
static void collect_dots(const Canvas *c, int y, ColourMode mode, bool light, Paper paper, bool all, Patches *dots)
{
    static const uint8_t PLACE[8][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}},
                         THIRD[] = {0, 5, 11, UNITS_H};
    for (int x = 0; x < c->w; x++) {
        CellLook s = cell_look_on_paper(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], mode, light, paper);
        for (int i = 0; is_braille(s.ch) && i < 8; i++)
            if ((s.ch >> i & 1) && (all || !has_stroke(c, y, x)))
                patch_add(dots, (Patch){.colour = s.fg,
                                        .y = UNITS_H * y + 4 * PLACE[i][1] + 1,
                                        .x = UNITS_W * x + 4 * PLACE[i][0] + 1,
                                        .h = 2,
                                        .w = 2});
        unsigned six = dots_of_sextant(c, s.ch);
        for (int i = 0; i < 6 && six && (all || !has_stroke(c, y, x)); i++)
            if (six >> i & 1)
                patch_add(dots, (Patch){.colour = s.fg,
                                        .y = UNITS_H * y + THIRD[i / 2],
                                        .x = UNITS_W * x + i % 2 * UNITS_W / 2,
                                        .h = THIRD[i / 2 + 1] - THIRD[i / 2],
                                        .w = UNITS_W / 2});
    }
}

static void emit_points(const Canvas *c, const CanvasStroke *s, Colour colour, Buf *out)
{
    buf_printf(out, "<path fill=\"#%06x\" shape-rendering=\"auto\" d=\"", (unsigned)colour);
    for (size_t k = 0; k < s->count; k++) {
        const float *at = c->strokes.point[s->first + k];
        buf_printf(out, "M%.1f %.1fa3 3 0 1 0 6 0a3 3 0 1 0 -6 0z", (double)at[0] * UNITS_W - 3,
                   (double)at[1] * UNITS_H);
    }
    buf_puts(out, "\"/>\n");
}

static void emit_strokes(const Canvas *c, ColourMode mode, bool light, Paper paper, Buf *out)
{
    for (size_t i = 0; i < c->strokes.strokes; i++) {
        const CanvasStroke *s = &c->strokes.stroke[i];
        if (s->dotted != canvas_dotted(c, s->body))
            continue;
        Cell cell = {.ch = 'x', .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .style = s->style};
        CellLook look = cell_look_on_paper(&cell, mode, light, paper);
        buf_printf(out, "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"1.5\" shape-rendering=\"auto\"%s d=\"",
                   (unsigned)look.fg, s->dashed ? " stroke-dasharray=\"4 3\"" : "");
        for (size_t k = 0; k < s->count; k++) {
            const float *at = c->strokes.point[s->first + k];
            buf_printf(out, "%c%.1f %.1f", k ? 'L' : 'M', (double)at[0] * UNITS_W, (double)at[1] * UNITS_H);
        }
        buf_puts(out, "\"/>\n");
        if (s->points)
            emit_points(c, s, look.fg, out);
    }
}

bool svg_draws(uint32_t ch)
{
    Patch unused;
    return ch == ' ' || is_braille(ch) || sextant_dots(ch) || box_arms(ch) || block_part(ch, &unused);
}

/* Surfaces and lines as SVG paths, so that they do not depend on the reader's font; one path per colour keeps the file
 * small. */
static void svg_shapes(const Canvas *c, ColourMode mode, bool light, Paper paper, Buf *out)
{
    Patches grounds = {.items = NULL}, blocks = {.items = NULL};
    for (int y = 0; y < c->h; y++) {
        collect_row(c, y, mode, light, paper, &grounds, &blocks);
        collect_dots(c, y, mode, light, paper, false, &blocks);
    }
    emit_patches(&grounds, out);
    emit_patches(&blocks, out);
    for (int style = 0; style < STYLE_COUNT; style++)
        for (int heavy = 0; heavy < 2; heavy++)
            emit_lines(c, mode, light, paper, (Style)style, heavy, out);
    emit_strokes(c, mode, light, paper, out);
}

/* The arms of a box glyph as rectangles: one unit thick, two where it is heavy. */
static void collect_lines(const Canvas *c, int y, ColourMode mode, bool light, Paper paper, Patches *lines)
{
    for (int x = 0; x < c->w; x++) {
        CellLook s = cell_look_on_paper(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], mode, light, paper);
        unsigned arms = box_arms(s.ch);
        int thick = arms & HEAVY ? 2 : 1, top = UNITS_H * y, left = UNITS_W * x;
        int cy = top + (UNITS_H - thick) / 2, cx = left + (UNITS_W - thick) / 2;
        if (arms & (LEFT | RIGHT)) {
            int from = arms & LEFT ? left : cx, to = arms & RIGHT ? left + UNITS_W : cx + thick;
            patch_add(lines, (Patch){.colour = s.fg, .y = cy, .x = from, .h = thick, .w = to - from});
        }
        if (arms & (UP | DOWN)) {
            int from = arms & UP ? top : cy, to = arms & DOWN ? top + UNITS_H : cy + thick;
            patch_add(lines, (Patch){.colour = s.fg, .y = from, .x = cx, .h = to - from, .w = thick});
        }
    }
}

void shapes_paint(const Canvas *c, ColourMode mode, bool light, Paper paper,
                  void (*paint)(void *context, Colour colour, Rect units), void *context)
{
    Patches p = {.items = NULL};
    for (int y = 0; y < c->h; y++) {
        Patches grounds = {.items = NULL};
        collect_row(c, y, mode, light, paper, &grounds, &p);
        collect_dots(c, y, mode, light, paper, true, &p);
        collect_lines(c, y, mode, light, paper, &p);
        for (size_t i = 0; i < grounds.count; i++) {
            const Patch *q = &grounds.items[i];
            paint(context, q->colour, (Rect){q->y, q->x, q->h, q->w});
        }
        for (size_t i = 0; i < p.count; i++)
            paint(context, p.items[i].colour, (Rect){p.items[i].y, p.items[i].x, p.items[i].h, p.items[i].w});
        free(grounds.items);
        p.count = 0;
    }
    free(p.items);
}

/* A cell is 8.4 × 16.8 px: half blocks are square, and 14 px letters of the named fonts are 8.4 px wide. In tenths of a
 * pixel: */
enum { CELL_W = 84, CELL_H = 168, BASELINE = 126, MARGIN = 80 };

static bool same_look(CellLook a, CellLook b)
{
    return a.fg == b.fg && a.attrs == b.attrs;
}

static void open_text(Buf *out, int y, int x, CellLook s, Paper paper)
{
    int px = MARGIN + x * CELL_W, py = MARGIN + y * CELL_H + BASELINE;
    buf_printf(out, "<text x=\"%d.%d\" y=\"%d.%d\"", px / 10, px % 10, py / 10, py % 10);
    if (s.fg != paper.ink)
        buf_printf(out, " fill=\"#%06x\"", (unsigned)s.fg);
    if (s.attrs & ATTR_BOLD)
        buf_puts(out, " font-weight=\"bold\"");
    if (s.attrs & ATTR_DIM)
        buf_puts(out, " opacity=\".6\"");
    if (s.attrs & ATTR_UNDERLINE)
        buf_puts(out, " text-decoration=\"underline\"");
    buf_putc(out, '>');
}

/* A run goes on over single spaces; it ends where two follow each other, the look changes, or a glyph may come from
 * another font with another width (then the next run's own x puts it right). */
static void emit_row(const Canvas *c, int y, ColourMode mode, bool light, Paper paper, Buf *out)
{
    CellLook run = {.ch = 0};
    bool open = false, pending = false;
    for (int x = 0; x < c->w; x++) {
        CellLook s = cell_look_on_paper(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], mode, light, paper);
        if (!s.ch)
            continue;
        bool letter = !svg_draws(s.ch);
        if (open && (letter ? !same_look(run, s) : pending || s.ch != ' ')) {
            buf_puts(out, "</text>\n");
            open = pending = false;
        }
        if (!letter) {
            pending = open;
            continue;
        }
        if (!open)
            open_text(out, y, x, s, paper);
        if (pending)
            buf_putc(out, ' ');
        put_escaped(out, s.ch);
        run = s;
        open = s.ch < 0x80;
        pending = false;
        if (!open)
            buf_puts(out, "</text>\n");
    }
    if (open)
        buf_puts(out, "</text>\n");
}

void export_svg(const Canvas *c, ColourMode mode, bool light, const char *title, Buf *out)
{
    Paper paper = paper_of(light);
    int w = 2 * MARGIN + c->w * CELL_W, h = 2 * MARGIN + c->h * CELL_H;
    buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d.%d %d.%d\" width=\"%d\" height=\"%d\" ",
               w / 10, w % 10, h / 10, h % 10, (w + 9) / 10, (h + 9) / 10);
    buf_puts(out, "font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" "
                  "xml:space=\"preserve\">\n<title>");
    put_escaped_text(out, title ? title : "");
    buf_printf(out, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n", (unsigned)paper.ground);
    buf_printf(out, "<g transform=\"translate(%d %d) scale(1.05)\" shape-rendering=\"crispEdges\">\n", MARGIN / 10,
               MARGIN / 10);
    svg_shapes(c, mode, light, paper, out);
    buf_printf(out, "</g>\n<g fill=\"#%06x\">\n", (unsigned)paper.ink);
    for (int y = 0; y < c->h; y++)
        emit_row(c, y, mode, light, paper, out);
    buf_puts(out, "</g>\n</svg>\n");
}
