/* Canvas → one HTML page: a block of preformatted text with a span per run of one look. */
#include "tui/canvas/export.h"

#include "tui/canvas/cell_look.h"

static bool same_look(CellLook a, CellLook b)
{
    return a.fg == b.fg && a.bg == b.bg && a.attrs == b.attrs;
}

static void open_span(Buf *out, CellLook s, Paper paper)
{
    buf_puts(out, "<span style=\"");
    if (s.fg != paper.ink)
        buf_printf(out, "color:#%06x;", (unsigned)s.fg);
    if (s.bg != COLOUR_DEFAULT)
        buf_printf(out, "background:#%06x;", (unsigned)s.bg);
    if (s.attrs & ATTR_BOLD)
        buf_puts(out, "font-weight:bold;");
    if (s.attrs & ATTR_DIM)
        buf_puts(out, "opacity:.6;");
    if (s.attrs & ATTR_UNDERLINE)
        buf_puts(out, "text-decoration:underline;");
    buf_puts(out, "\">");
}

static void emit_row(const Canvas *c, int y, ColourMode mode, bool light, Paper paper, Buf *out)
{
    const CellLook plain = {.fg = paper.ink, .bg = COLOUR_DEFAULT};
    CellLook run = plain;
    for (int x = 0; x < c->w; x++) {
        CellLook s = cell_look_on_paper(&c->cells[(size_t)y * (size_t)c->w + (size_t)x], mode, light, paper);
        if (!s.ch)
            continue;
        if (!same_look(s, run)) {
            if (!same_look(run, plain))
                buf_puts(out, "</span>");
            if (!same_look(s, plain))
                open_span(out, s, paper);
            run = s;
        }
        put_escaped(out, s.ch);
    }
    if (!same_look(run, plain))
        buf_puts(out, "</span>");
    buf_putc(out, '\n');
}

void export_html(const Canvas *c, ColourMode mode, bool light, const char *title, Buf *out)
{
    Paper paper = paper_of(light);
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    put_escaped_text(out, title ? title : "");
    buf_printf(out, "</title>\n<style>\nbody { background: #%06x; color: #%06x; }\n", (unsigned)paper.ground,
               (unsigned)paper.ink);
    buf_puts(
        out,
        "pre { font: 14px/1.2 'DejaVu Sans Mono', Menlo, Consolas, monospace; }\n</style>\n</head>\n<body>\n<pre>\n");
    for (int y = 0; y < c->h; y++)
        emit_row(c, y, mode, light, paper, out);
    buf_puts(out, "</pre>\n</body>\n</html>\n");
}
