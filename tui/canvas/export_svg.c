/* Canvas → SVG: surfaces and lines as paths, only letters as text. */
#include "tui/canvas/export.h"

#include "tui/canvas/cell_look.h"
#include "tui/canvas/svg_shapes.h"

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
