/* Canvas → lines of characters: plain, with ANSI colours, and the form that golden screens compare. */
#include "tui/canvas/cell_look.h"
#include "tui/canvas/export.h"

static const Cell *row_of(const Canvas *c, int y)
{
    return c->cells + (size_t)y * (size_t)c->w;
}

static void trim(Buf *out, size_t from)
{
    while (out->len > from && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

void export_text(const Canvas *c, Buf *out)
{
    for (int y = 0; y < c->h; y++) {
        const Cell *row = row_of(c, y);
        size_t start = out->len;
        for (int x = 0; x < c->w; x++)
            if (cell_is_data(&row[x]))
                buf_putc(out, cell_ramp(&row[x]));
            else if (row[x].ch)
                put_char(out, row[x].ch);
        trim(out, start);
        buf_putc(out, '\n');
    }
}

static void sgr_colour(Buf *out, ColourMode mode, Colour colour, int base)
{
    if (colour == COLOUR_DEFAULT)
        return;
    if (mode == MODE_TRUE)
        buf_printf(out, ";%d;2;%u;%u;%u", base + 8, (unsigned)(colour >> 16 & 0xff), (unsigned)(colour >> 8 & 0xff),
                   (unsigned)(colour & 0xff));
    else if (mode == MODE_256)
        buf_printf(out, ";%d;5;%d", base + 8, colour_256(colour));
    else
        buf_printf(out, ";%d", base + colour_8(colour));
}

static void sgr(Buf *out, ColourMode mode, CellLook s)
{
    static const struct {
        uint8_t attr;
        const char *code;
    } codes[] = {{ATTR_BOLD, ";1"}, {ATTR_DIM, ";2"}, {ATTR_UNDERLINE, ";4"}, {ATTR_REVERSE, ";7"}};
    buf_puts(out, "\033[0");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (s.attrs & codes[i].attr)
            buf_puts(out, codes[i].code);
    sgr_colour(out, mode, s.fg, 30);
    sgr_colour(out, mode, s.bg, 40);
    buf_putc(out, 'm');
}

void export_ansi(const Canvas *c, ColourMode mode, bool light, Buf *out)
{
    const CellLook plain = {.ch = ' ', .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT};
    for (int y = 0; y < c->h; y++) {
        CellLook now = plain;
        for (int x = 0; x < c->w; x++) {
            CellLook s = cell_look(&row_of(c, y)[x], mode, c->ascii, light);
            if (!s.ch)
                continue;
            if (s.fg != now.fg || s.bg != now.bg || s.attrs != now.attrs)
                sgr(out, mode, s);
            put_char(out, s.ch);
            now = s;
        }
        if (now.fg != plain.fg || now.bg != plain.bg || now.attrs)
            buf_puts(out, "\033[0m");
        buf_putc(out, '\n');
    }
}

/* One letter per style; data cells are their level, 0 … 9, or a … j where the number is negative. */
static char style_letter(const Cell *k)
{
    static const char letters[] = {
        [STYLE_TEXT] = '.',   [STYLE_DIM] = 'D',          [STYLE_STRONG] = 'S',   [STYLE_TITLE] = 'T',
        [STYLE_BORDER] = '-', [STYLE_BORDER_FOCUS] = '=', [STYLE_HEADER] = 'H',   [STYLE_SENTENCE] = 'N',
        [STYLE_KEY] = 'K',    [STYLE_KEY_TEXT] = 'k',     [STYLE_SELECTED] = '>', [STYLE_CURSOR] = 'C',
        [STYLE_EDITED] = 'E', [STYLE_GOOD] = 'G',         [STYLE_WARNING] = 'W',  [STYLE_ERROR] = '!',
        [STYLE_PROMPT] = 'P', [STYLE_SIDE_A] = 'A',       [STYLE_SIDE_B] = 'B',   [STYLE_NEGATIVE] = 'n',
        [STYLE_AXIS] = 'x',
    };
    _Static_assert(sizeof letters == STYLE_COUNT, "a letter for each style");
    if (k->level)
        return (char)((k->sign < 0 ? 'a' : '0') + (k->level > 10 ? 10 : k->level) - 1);
    if (k->style == STYLE_TEXT && (k->ch == ' ' || k->ch == 0))
        return ' ';
    return letters[k->style];
}

static bool row_has_attrs(const Canvas *c, int y)
{
    for (int x = 0; x < c->w; x++)
        if (row_of(c, y)[x].attrs)
            return true;
    return false;
}

void export_golden(const Canvas *c, Buf *out)
{
    export_text(c, out);
    buf_printf(out, "--- styles, cursor %d,%d\n", c->cursor_y, c->cursor_x);
    for (int y = 0; y < c->h; y++) {
        size_t start = out->len;
        for (int x = 0; x < c->w; x++)
            buf_putc(out, style_letter(&row_of(c, y)[x]));
        trim(out, start);
        buf_putc(out, '\n');
    }
    buf_puts(out, "--- attributes\n"); /* only rows that have any */
    for (int y = 0; y < c->h; y++) {
        if (!row_has_attrs(c, y))
            continue;
        buf_printf(out, "%d:", y);
        for (int x = 0; x < c->w; x++)
            buf_putc(out, " 123456789abcdef"[row_of(c, y)[x].attrs & 15]);
        trim(out, 0);
        buf_putc(out, '\n');
    }
}

/* Canvas → one HTML page: a block of preformatted text with a span per run of one look. */

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
