/* What each style looks like. Text keeps the terminal's own ground everywhere, so that no scheme becomes unreadable; a
 * style is never told by colour alone: without colour it keeps an attribute or the glyphs that come with it. Contrast
 * on black and on white ≥ 4.5:1. */
#include "tui/canvas/colour.h"

typedef struct Theme {
    uint8_t dark, light; /* xterm 256 index, 0 = the terminal's own */
    uint8_t ansi;        /* one of the 8, 0 = the terminal's own (black text does not exist here) */
    uint8_t attrs;       /* in colour */
    uint8_t mono;        /* without */
} Theme;

enum { RED = 1, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

static const Theme theme[STYLE_COUNT] = {
    [STYLE_TEXT] = {0},
    [STYLE_DIM] = {.dark = 245, .light = 242, .mono = ATTR_DIM},
    [STYLE_STRONG] = {.attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_TITLE] = {.attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_BORDER] = {.dark = 243, .light = 243},
    [STYLE_BORDER_FOCUS] = {.dark = 81, .light = 25, .ansi = CYAN, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_HEADER] = {.dark = 81, .light = 25, .ansi = CYAN, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_SENTENCE] = {.dark = 229, .light = 58, .mono = ATTR_BOLD},
    [STYLE_KEY] = {.dark = 81, .light = 25, .ansi = CYAN, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_KEY_TEXT] = {.dark = 250, .light = 240},
    [STYLE_SELECTED] = {.attrs = ATTR_BOLD | ATTR_REVERSE, .mono = ATTR_BOLD | ATTR_REVERSE},
    [STYLE_CURSOR] = {.attrs = ATTR_REVERSE, .mono = ATTR_REVERSE},
    [STYLE_EDITED] =
        {.dark = 215, .light = 130, .ansi = YELLOW, .attrs = ATTR_BOLD, .mono = ATTR_BOLD | ATTR_UNDERLINE},
    [STYLE_GOOD] = {.dark = 114, .light = 28, .ansi = GREEN},
    [STYLE_WARNING] = {.dark = 221, .light = 94, .ansi = YELLOW, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_ERROR] = {.dark = 210, .light = 124, .ansi = RED, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_PROMPT] = {.attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_SIDE_A] = {.dark = 111, .light = 26, .ansi = BLUE, .attrs = ATTR_BOLD, .mono = ATTR_BOLD},
    [STYLE_SIDE_B] =
        {.dark = 215, .light = 130, .ansi = YELLOW, .attrs = ATTR_BOLD, .mono = ATTR_BOLD | ATTR_UNDERLINE},
    [STYLE_NEGATIVE] = {.dark = 75, .light = 25, .ansi = CYAN},
    [STYLE_AXIS] = {.dark = 109, .light = 23, .ansi = CYAN},
};

/* Palette colour i of the 8 as colour_8 maps it back. */
static Colour ansi_colour(int i)
{
    return (i & 1 ? 0xcd0000u : 0) | (i & 2 ? 0xcd00u : 0) | (i & 4 ? 0xcdu : 0);
}

Look style_look(Style s, ColourMode mode, bool light)
{
    const Theme *t = &theme[s];
    Look look = {.fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .attrs = mode == MODE_MONO ? t->mono : t->attrs};
    int index = light ? t->light : t->dark;
    if (mode == MODE_8 && t->ansi)
        look.fg = ansi_colour(t->ansi);
    else if (mode >= MODE_256 && index)
        look.fg = colour_of_256(index);
    return look;
}
