#include "tui/canvas/cell_look.h"

#include "core/base/utf8.h"
#include "tui/canvas/canvas.h"

enum { HALF_UPPER = 0x2580, HALF_LOWER = 0x2584 };

bool cell_is_data(const Cell *k)
{
    return k->level && (k->ch == ' ' || k->ch == HALF_UPPER || k->ch == HALF_LOWER);
}

char cell_ramp(const Cell *k)
{
    static const char positive[] = " .:-=+*#%@", negative[] = " ,_;~oxnNM";
    _Static_assert(sizeof positive == sizeof negative, "ten levels each");
    int level = k->level > 10 ? 9 : k->level ? k->level - 1 : 0;
    return (k->sign < 0 ? negative : positive)[level];
}

void cell_halves(const Cell *k, Colour *upper, Colour *lower)
{
    *upper = k->ch == HALF_LOWER ? COLOUR_DEFAULT : k->fg;
    *lower = k->ch == HALF_LOWER ? k->fg : k->bg;
    if (k->ch == ' ')
        *upper = k->bg != COLOUR_DEFAULT ? k->bg : k->fg;
    if (k->ch == ' ')
        *lower = *upper;
}

static Colour mean(Colour a, Colour b)
{
    if (a == COLOUR_DEFAULT || b == COLOUR_DEFAULT)
        return a == COLOUR_DEFAULT ? b : a;
    return ((a & 0xfefefe) >> 1) + ((b & 0xfefefe) >> 1) + (a & b & 0x010101);
}

Colour cell_ground(const Cell *k)
{
    Colour upper, lower;
    cell_halves(k, &upper, &lower);
    return cell_is_data(k) ? mean(upper, lower) : k->bg;
}

static CellLook shown_ramp(const Cell *k, ColourMode mode)
{
    CellLook s = {.ch = (unsigned char)cell_ramp(k), .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .attrs = k->attrs};
    if (mode == MODE_8 && k->sign)
        s.fg = k->sign < 0 ? 0x0000cd : 0xcd0000;
    return s;
}

/* With 8 colours; what stands for the cursor is read in all of their palettes. */
static CellLook shown_shade(const Cell *k, Colour upper, Colour lower)
{
    if (k->attrs & ATTR_REVERSE)
        return (CellLook){.ch = '+', .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .attrs = k->attrs};
    if (upper == COLOUR_DEFAULT || lower == COLOUR_DEFAULT) /* half a cell has no shades, and black for grey misleads */
        upper = lower = mean(upper, lower);
    Shade shade = colour_shade(upper, lower);
    return (CellLook){.ch = shade.ch, .fg = shade.fg, .bg = shade.bg, .attrs = k->attrs};
}

static CellLook shown_data(const Cell *k, ColourMode mode, bool ascii)
{
    if (mode == MODE_MONO || (mode == MODE_8 && ascii))
        return shown_ramp(k, mode);
    Colour upper, lower;
    cell_halves(k, &upper, &lower);
    if (mode == MODE_8)
        return shown_shade(k, upper, lower);
    if (k->attrs & ATTR_REVERSE || ascii) {
        bool marked = k->attrs & ATTR_REVERSE;
        Colour ground = mean(upper, lower);
        uint8_t attrs = (uint8_t)((k->attrs & ~ATTR_REVERSE) | (marked ? ATTR_BOLD : 0));
        return (CellLook){.ch = marked ? '+' : ' ', .fg = colour_readable_on(ground), .bg = ground, .attrs = attrs};
    }
    CellLook s = {.ch = k->ch, .fg = k->fg, .bg = k->bg, .attrs = k->attrs};
    if (upper == lower)
        s.ch = ' ', s.bg = upper;
    return s;
}

CellLook cell_look(const Cell *k, ColourMode mode, bool ascii, bool light)
{
    if (cell_is_data(k))
        return shown_data(k, mode, ascii);
    Look look = style_look(k->style < STYLE_COUNT ? (Style)k->style : STYLE_TEXT, mode, light);
    CellLook s = {.ch = k->ch, .fg = look.fg, .bg = look.bg, .attrs = (uint8_t)(look.attrs | k->attrs)};
    if (mode >= MODE_256) {
        if (k->bg != COLOUR_DEFAULT) {
            s.bg = k->bg;
            s.fg = colour_readable_on(k->bg);
            if (s.attrs & ATTR_REVERSE) /* a mark on its cell's colour, which it must not hide */
                s.attrs = (uint8_t)((s.attrs & ~ATTR_REVERSE) | ATTR_BOLD);
        }
        if (k->fg != COLOUR_DEFAULT)
            s.fg = k->fg;
    }
    if (s.ch && !utf8_printable(s.ch))
        s.ch = '?';
    if (ascii && s.ch)
        s.ch = (unsigned char)ascii_char(s.ch);
    return s;
}

void put_char(Buf *out, uint32_t ch)
{
    char bytes[4];
    size_t n = utf8_put(bytes, utf8_printable(ch) ? ch : '?');
    buf_add(out, bytes, n);
}

void put_escaped(Buf *out, uint32_t ch)
{
    static const struct {
        char ch;
        const char *text;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (ch == (unsigned char)escapes[i].ch) {
            buf_puts(out, escapes[i].text);
            return;
        }
    put_char(out, ch);
}

void put_escaped_text(Buf *out, const char *text)
{
    while (*text)
        put_escaped(out, utf8_next(&text));
}

Paper paper_of(bool light)
{
    return light ? (Paper){.ground = 0xffffff, .ink = 0x1c1f23} : (Paper){.ground = 0x101216, .ink = 0xd8dee4};
}

/* The xterm palette's own value where there are 256: the page shows what the terminal would. */
static Colour on_paper(Colour c, ColourMode mode)
{
    return c == COLOUR_DEFAULT || mode != MODE_256 ? c : colour_of_256(colour_256(c));
}

CellLook cell_look_on_paper(const Cell *k, ColourMode mode, bool light, Paper paper)
{
    CellLook s = cell_look(k, mode, false, light);
    s.fg = on_paper(s.fg, mode);
    s.bg = on_paper(s.bg, mode);
    if (s.fg == COLOUR_DEFAULT)
        s.fg = paper.ink;
    if (s.attrs & ATTR_REVERSE) {
        Colour fg = s.fg;
        s.fg = s.bg == COLOUR_DEFAULT ? paper.ground : s.bg;
        s.bg = fg;
    }
    return s;
}
