/* Canvases on the terminal. */
#define _GNU_SOURCE 1 /* wcwidth */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"
#include "tui/term_entry.h"
#include "tui/term_parts.h"

static int pair_of(int f, int b)
{
    bool fresh;
    if (!term.default_colours) { /* a terminal without "default": what text has is white on black */
        f = f < 0 && b >= 0 ? COLOR_WHITE : f;
        b = b < 0 && f >= 0 ? COLOR_BLACK : b;
    }
    int pair = pairs_find(&term.pairs, f, b, &fresh);
    if (fresh)
        init_extended_pair(pair, f, b);
    return pair;
}

static int pair_number(Colour fg, Colour bg)
{
    return pair_of(pairs_colour(term.status.mode, fg), pairs_colour(term.status.mode, bg));
}

/* A picture's cell, named by its colour. */
static void set_placeholder(cchar_t *out, const uint32_t text[GRAPHICS_TEXT], int colour)
{
    wchar_t wide[GRAPHICS_TEXT + 1] = {0};
    int pair = pair_of(colour, -1);
    for (int i = 0; i < GRAPHICS_TEXT; i++)
        wide[i] = (wchar_t)text[i];
    setcchar(out, wide, A_NORMAL, 0, &pair);
}

static void set_cell(cchar_t *out, CellLook s)
{
    static const struct {
        uint8_t attr;
        attr_t curses;
    } attrs[] = {{ATTR_BOLD, A_BOLD}, {ATTR_DIM, A_DIM}, {ATTR_REVERSE, A_REVERSE}, {ATTR_UNDERLINE, A_UNDERLINE}};
    attr_t a = A_NORMAL;
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        a |= s.attrs & attrs[i].attr ? attrs[i].curses : 0;
    int pair = term.status.mode == MODE_MONO ? 0 : pair_number(s.fg, s.bg);
    wchar_t text[2] = {(wchar_t)s.ch, 0};
    if (wcwidth(text[0]) != utf8_width(s.ch)) /* the C library would shift the row */
        text[0] = L'?';
    setcchar(out, text, a, 0, &pair);
}

/* A theme is made for black and white; on a ground between them some of its colours are not read. */
static Colour legible(Colour text)
{
    static struct {
        Colour text, ground, shown;
    } known[32];
    const Colour ground = term.options.ground ? COLOUR_DEFAULT : term.status.ground; /* an option knows better */
    size_t i = text % 31;
    if (text == COLOUR_DEFAULT || ground == COLOUR_DEFAULT || term.status.mode < MODE_256)
        return text;
    if (known[i].text != text || known[i].ground != ground) {
        known[i].text = text;
        known[i].ground = ground;
        known[i].shown = colour_legible(text, ground);
    }
    return known[i].shown;
}

static void draw_row(const Canvas *c, int y, int cells)
{
    int n = 0;
    for (int x = 0; x < cells; x++) {
        const Cell *k = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
        uint32_t text[GRAPHICS_TEXT];
        int colour;
        if (term.status.graphics && graphics_cell(&term.graphics, c, y, x, text, &colour)) {
            set_placeholder(&term.row[n++], text, colour);
            continue;
        }
        CellLook s = cell_look(k, term.status.mode, term.status.ascii, term.status.light);
        if (s.bg == COLOUR_DEFAULT && k->fg == COLOUR_DEFAULT && k->style != STYLE_BORDER)
            s.fg = legible(s.fg);
        if (!s.ch)
            continue;
        if (utf8_width(s.ch) == 2 &&
            (x + 1 >= cells || wcwidth((wchar_t)s.ch) != 2)) { /* no room, or the C library disagrees: blanks */
            s.ch = ' ';
            if (x + 1 < cells)
                set_cell(&term.row[n++], s);
        }
        set_cell(&term.row[n++], s);
    }
    mvadd_wchnstr(y, 0, term.row, n);
}

/* Around what curses sends by itself. */
static void send(const char *bytes)
{
    fputs(bytes, stdout);
    fflush(stdout);
}

void term_draw(const Canvas *c)
{
    if (!term.screen)
        return;
    take_again();
    int h, w;
    term_size(&h, &w);
    if (term.row_cells < w) {
        term.row = xrealloc(term.row, size_mul((size_t)w + 1, sizeof *term.row));
        term.row_cells = w;
    }
    int rows = c->h < h ? c->h : h, cells = c->w < w ? c->w : w;
    if (term.status.mode != MODE_MONO && term.pairs.limit > 4096 &&
        term.pairs.used + rows * cells >= term.pairs.limit) {
        reset_color_pairs(); /* between frames: no cell on the screen may change its colours */
        pairs_reset(&term.pairs);
    }
    if (rows < h || cells < w)
        erase();
    Buf pictures = {0};
    if (term.status.graphics)
        graphics_put(&term.graphics, c, &pictures);
    for (int y = 0; y < rows; y++)
        draw_row(c, y, cells);
    bool shown = rect_has((Rect){.h = rows, .w = cells}, c->cursor_y, c->cursor_x);
    curs_set(shown);
    move(shown ? c->cursor_y : h - 1, shown ? c->cursor_x : w - 1);
    const bool whole = term.status.frames;
    wnoutrefresh(stdscr);
    if (whole)
        send(FRAME_BEGIN);
    send(buf_str(&pictures));
    buf_free(&pictures);
    doupdate();
    if (whole)
        send(FRAME_END);
}

bool term_copy(const char *text)
{
    enum { COPY_BYTES = 48 << 10 }; /* what terminals take at once, as base64 */
    Buf b = {0};
    size_t n = strlen(text);
    if (!term.screen || !term.asks || n > COPY_BYTES)
        return false;
    buf_puts(&b, "\033]52;c;");
    entry_base64(text, n, &b);
    buf_putc(&b, '\a');
    send(buf_str(&b));
    buf_free(&b);
    return true;
}

void term_redraw(void)
{
    if (!term.screen)
        return;
    Buf pictures = {0};
    graphics_delete(&term.graphics, false, &pictures);
    graphics_forget(&term.graphics);
    send(buf_str(&pictures));
    buf_free(&pictures);
    clearok(curscr, TRUE);
}
