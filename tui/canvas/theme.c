/* Text on its ground: contrast, and how each style looks. */
#include "core/base/dmath.h"
#include "tui/canvas/colour.h"

/* Relative luminance of sRGB. */
static double luminance(Colour c)
{
    static const double weight[] = {0.0722, 0.7152, 0.2126};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double v = (double)(c >> 8 * i & 0xff) / 255;
        sum += weight[i] * (v <= 0.04045 ? v / 12.92 : dm_pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

double colour_contrast(Colour a, Colour b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

Colour colour_readable_on(Colour ground)
{
    return colour_contrast(ground, 0) > colour_contrast(ground, 0xffffff) ? 0x000000 : 0xffffff;
}

Colour colour_legible(Colour text, Colour ground)
{
    return colour_contrast(text, ground) * 10 < CONTRAST_TENTHS ? COLOUR_DEFAULT : text;
}

/* What each style looks like. Text keeps the terminal's own ground everywhere, so that no scheme becomes unreadable; a
 * style is never told by colour alone: without colour it keeps an attribute or the glyphs that come with it. Contrast
 * on black and on white is 4.5 at least. Of the 8 colours nobody knows which they are, and bold may mean the brighter
 * ones: on black only those are used that are read there in every palette, on white none is bold. */

typedef struct Theme {
    uint8_t dark, light;      /* xterm 256 index, 0 = the terminal's own */
    uint8_t ansi, ansi_light; /* one of the 8, 0 = the terminal's own (black text does not exist here) */
    uint8_t attrs;            /* in colour */
    uint8_t mono;             /* without */
} Theme;

enum { RED = 1, GREEN, YELLOW, BLUE, MAGENTA, CYAN };
enum { BOLD = ATTR_BOLD, DIM = ATTR_DIM, REVERSE = ATTR_REVERSE, UNDERLINE = ATTR_UNDERLINE };

static const Theme theme[STYLE_COUNT] = {
    [STYLE_TEXT] = {0},
    [STYLE_DIM] = {245, 242, 0, 0, 0, DIM},
    [STYLE_STRONG] = {0, 0, 0, 0, BOLD, BOLD},
    [STYLE_TITLE] = {0, 0, 0, 0, BOLD, BOLD},
    [STYLE_BORDER] = {243, 243, 0, 0, 0, 0},
    [STYLE_BORDER_FOCUS] = {81, 25, CYAN, BLUE, BOLD, BOLD},
    [STYLE_HEADER] = {81, 25, CYAN, BLUE, BOLD, BOLD},
    [STYLE_SENTENCE] = {229, 58, 0, 0, 0, BOLD},
    [STYLE_KEY] = {81, 25, CYAN, BLUE, BOLD, BOLD},
    [STYLE_KEY_TEXT] = {250, 240, 0, 0, 0, 0},
    [STYLE_SELECTED] = {0, 0, 0, 0, BOLD | REVERSE, BOLD | REVERSE},
    [STYLE_CURSOR] = {0, 0, 0, 0, REVERSE, REVERSE},
    [STYLE_EDITED] = {215, 130, YELLOW, RED, BOLD, BOLD | UNDERLINE},
    [STYLE_GOOD] = {114, 28, GREEN, 0, 0, 0},
    [STYLE_WARNING] = {221, 94, YELLOW, MAGENTA, BOLD, BOLD},
    [STYLE_ERROR] = {210, 124, YELLOW, RED, BOLD, BOLD},
    [STYLE_PROMPT] = {0, 0, 0, 0, BOLD, BOLD},
    [STYLE_SIDE_A] = {111, 26, CYAN, BLUE, BOLD, BOLD},
    [STYLE_SIDE_B] = {215, 130, YELLOW, RED, BOLD, BOLD | UNDERLINE},
    [STYLE_NEGATIVE] = {75, 25, CYAN, BLUE, 0, 0},
    [STYLE_AXIS] = {109, 23, CYAN, BLUE, 0, 0},
};

Look style_look(Style s, ColourMode mode, bool light)
{
    const Theme *t = &theme[s];
    Look look = {.fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .attrs = mode == MODE_MONO ? t->mono : t->attrs};
    int index = light ? t->light : t->dark;
    int ansi = light ? t->ansi_light : t->ansi;
    if (mode == MODE_8 && ansi) {
        look.fg = colour_of_8(ansi);
        look.attrs = (uint8_t)(light ? look.attrs & ~ATTR_BOLD : look.attrs);
    } else if (mode >= MODE_256 && index)
        look.fg = colour_of_256(index);
    return look;
}
