/* Colour maps. The tables for 256 colours were searched in the xterm palette (16 … 255, never the 16 a user may have
 * changed) for lightness that rises strictly in normal vision and under simulated protanopia, deuteranopia and
 * tritanopia; nearest colours do not. The anchors for truecolor are samples of magma and viridis (van der Walt, Smith),
 * cividis (Nuñez et al. 2018) and vik (Crameri 2018); those of blue-light have one hue of OKLCH (255°) and CIE L* from
 * 96 to 38.5 in equal steps, which leaves its dark end 3 : 1 above black. */
#include "tui/canvas/colour.h"

#include <math.h>
#include <string.h>

#include "core/base/dmath.h"

typedef struct Map {
    const char *name;
    bool is_signed;
    int count, anchors;
    uint8_t index[24];
    uint32_t anchor[11];
} Map;

/* Lists, and how long they are. */
#define INDEX(...) .count = (int)(sizeof(uint8_t[]){__VA_ARGS__}), .index = {__VA_ARGS__}
#define ANCHOR(...) .anchors = (int)(sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t)), .anchor = {__VA_ARGS__}

static const Map maps[CM_COUNT] = {
    [CM_MAGMA] = {.name = "magma",
                  INDEX(16, 17, 18, 54, 90, 126, 161, 167, 209, 216, 222, 229),
                  ANCHOR(0x000004, 0x140e36, 0x3b0f70, 0x641a80, 0x8c2981, 0xb73779, 0xde4968, 0xf7705c, 0xfe9f6d,
                         0xfecf92, 0xfcfdbf)},
    [CM_VIRIDIS] = {.name = "viridis",
                    INDEX(53, 54, 55, 25, 26, 30, 36, 108, 41, 113, 184, 226),
                    ANCHOR(0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c,
                           0xfde725)},
    [CM_CIVIDIS] = {.name = "cividis",
                    INDEX(17, 18, 24, 60, 242, 243, 244, 137, 143, 179, 221, 227),
                    ANCHOR(0x00204d, 0x00336f, 0x39486b, 0x575c6d, 0x707173, 0x8a8779, 0xa69d75, 0xc4b56c, 0xe4cf5b,
                           0xffea46)},
    [CM_GREY] = {.name = "grey",
                 INDEX(232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250,
                       251, 252, 253, 254, 255),
                 ANCHOR(0x080808, 0xeeeeee)},
    [CM_GREY_LIGHT] = {.name = "grey-light",
                       INDEX(255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, 243, 242, 241, 240, 239, 238,
                             237, 236, 235, 234, 233, 232),
                       ANCHOR(0xeeeeee, 0x080808)},
    [CM_BLUE_LIGHT] = {.name = "blue-light",
                       INDEX(255, 254, 189, 153, 147, 111, 69, 68, 26, 25),
                       ANCHOR(0xeff4fa, 0xd7e5f7, 0xc0d5f0, 0xaac5e9, 0x95b6e1, 0x80a7d9, 0x6b97d0, 0x5788c7, 0x4279bd,
                              0x2c6ab4, 0x115aaa)},
    [CM_BLUE_ORANGE] = {.name = "blue-orange",
                        .is_signed = true,
                        INDEX(153, 81, 75, 33, 26, 25, 233, 52, 130, 166, 208, 215, 223),
                        ANCHOR(0xafd7ff, 0x4f9ff0, 0x1c58ab, 0x121212, 0xa0480a, 0xf0902a, 0xffd7af)},
    [CM_VIK] = {.name = "vik",
                .is_signed = true,
                INDEX(17, 18, 25, 31, 74, 152, 255, 180, 173, 166, 124, 88, 52),
                ANCHOR(0x001261, 0x023a7b, 0x116496, 0x5496b7, 0xa7c9da, 0xece5e0, 0xe1b8a0, 0xcd8961, 0xb75a26,
                       0x852206, 0x590008)},
};
enum { NO_VALUE = 0xff00ff, TRUE_LEVELS = 64 };

const char *colourmap_name(MapId m)
{
    return maps[m].name;
}

bool colourmap_find(const char *name, MapId *m)
{
    for (int i = 0; i < CM_COUNT; i++)
        if (!strcmp(maps[i].name, name)) {
            *m = (MapId)i;
            return true;
        }
    return false;
}

bool colourmap_signed(MapId m)
{
    return maps[m].is_signed;
}

/* Which of count equal parts a position falls into. Signed maps: counted from the middle, so that x and −x get mirrored
 * colours. */
static int part(double position, int count, bool is_signed)
{
    double p = position < 0 ? 0 : position > 1 ? 1 : position;
    int i = (int)(p * count);
    if (is_signed) {
        double from_zero = (p - 0.5) * count;
        int steps = (int)((from_zero < 0 ? -from_zero : from_zero) + 0.5);
        i = count / 2 + (from_zero < 0 ? -steps : steps);
    }
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

/* Anchors are evenly spaced; t in 0…1. */
static Colour between(const Map *m, double t)
{
    double at = t * (m->anchors - 1);
    int i = (int)at;
    if (i >= m->anchors - 1)
        return m->anchor[m->anchors - 1];
    Colour mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = (double)(m->anchor[i] >> shift & 0xff), b = (double)(m->anchor[i + 1] >> shift & 0xff);
        mixed |= (Colour)(a + (b - a) * (at - i) + 0.5) << shift;
    }
    return mixed;
}

/* Both at once for the eye, quarters of a cell in one of the 8 and the rest in another: light adds, not its numbers. */
static Colour shaded(int fg, int bg, int quarters)
{
    static const Colour part[] = {0, 0x6d, 0x96, 0xb5, 0xcd};
    Colour mixed = 0;
    for (int i = 0; i < 3; i++) {
        int lit = (fg >> i & 1) * quarters + (bg >> i & 1) * (4 - quarters);
        mixed |= part[lit] << (16 - 8 * i);
    }
    return mixed;
}

/* Signed maps where there are 8 colours: the nearest ones would give both ends white, or black. The ground in the
 * middle is the map's own; below zero it is blue and cyan, above red and yellow, three shades between two of them. */
static Colour few_signed(const Map *m, double position)
{
    static const uint8_t dark[] = {6, 4, 0, 1, 3, 3}, light[] = {4, 6, 7, 3, 1, 1};
    int level = part(position, 4 * 4 + 1, true);
    const uint8_t *stop = (colour_of_256(m->index[m->count / 2]) > 0x808080 ? light : dark) + level / 4;
    return shaded(stop[1], stop[0], level % 4);
}

Colour colourmap_colour(MapId map, ColourMode mode, double position)
{
    const Map *m = &maps[map];
    if (isnan(position))
        return NO_VALUE;
    if (mode == MODE_8 && m->is_signed)
        return few_signed(m, position);
    if (mode != MODE_TRUE)
        return colour_of_256(m->index[part(position, m->count, m->is_signed)]);
    int levels = m->is_signed ? TRUE_LEVELS + 1 : TRUE_LEVELS; /* odd, so that zero has a colour of its own */
    return between(m, (double)part(position, levels, m->is_signed) / (levels - 1));
}

/* xterm's palette above 15: a 6×6×6 cube with these steps, then 24 greys 8, 18, … 238. */
static const int cube[6] = {0, 95, 135, 175, 215, 255};

Colour colour_of_256(int index)
{
    if (index >= 232) {
        Colour grey = (Colour)(8 + 10 * (index - 232));
        return grey << 16 | grey << 8 | grey;
    }
    int i = index < 16 ? 0 : index - 16;
    return (Colour)cube[i / 36] << 16 | (Colour)cube[i / 6 % 6] << 8 | (Colour)cube[i % 6];
}

static int distance(Colour a, Colour b)
{
    int sum = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);
        sum += d * d;
    }
    return sum;
}

static int cube_step(int v)
{
    int i = 0;
    while (i < 5 && 2 * v > cube[i] + cube[i + 1])
        i++;
    return i;
}

int colour_256(Colour c)
{
    int r = (int)(c >> 16 & 0xff), g = (int)(c >> 8 & 0xff), b = (int)(c & 0xff);
    int in_cube = 16 + 36 * cube_step(r) + 6 * cube_step(g) + cube_step(b);
    int step = ((r + g + b) / 3 - 8 + 5) / 10;
    int grey = 232 + (step < 0 ? 0 : step > 23 ? 23 : step);
    return distance(c, colour_of_256(grey)) < distance(c, colour_of_256(in_cube)) ? grey : in_cube;
}

/* One of the 8 as colour_8 maps it back; a terminal's own differ a little. */
Colour colour_of_8(int i)
{
    return (i & 1 ? 0xcd0000u : 0) | (i & 2 ? 0xcd00u : 0) | (i & 4 ? 0xcdu : 0);
}

int colour_8(Colour c)
{
    int best = 0, least = 3 * 256 * 256;
    for (int i = 0; i < 8; i++) {
        int d = distance(c, colour_of_8(i));
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

/* Distance that keeps lightness in order and greys grey: without the second and the third term 8 colours do not. */
static int unlikeness(Colour a, Colour b)
{
    int dr = (int)(a >> 16 & 0xff) - (int)(b >> 16 & 0xff), dg = (int)(a >> 8 & 0xff) - (int)(b >> 8 & 0xff),
        db = (int)(a & 0xff) - (int)(b & 0xff), luma = (54 * dr + 183 * dg + 19 * db) / 256;
    return dr * dr + dg * dg + db * db + 4 * luma * luma + (dr - dg) * (dr - dg) + (dg - db) * (dg - db);
}

static int nearest_of_8(Colour c, int *least)
{
    int best = 0;
    *least = unlikeness(c, colour_of_8(0));
    for (int i = 1; i < 8; i++) {
        int d = unlikeness(c, colour_of_8(i));
        if (d < *least) {
            *least = d;
            best = i;
        }
    }
    return best;
}

Shade colour_shade(Colour upper, Colour lower)
{
    enum { UPPER = 0x2580, LIGHT = 0x2591, MEDIUM = 0x2592 };
    int up, low, top = nearest_of_8(upper, &up), bottom = nearest_of_8(lower, &low), least = up + low;
    Shade best = {.ch = top == bottom ? ' ' : UPPER, .fg = colour_of_8(top), .bg = colour_of_8(bottom)};
    bool apart = ((top ^ bottom) & 5) == 5; /* red above blue: a shade would be neither */
    for (int fg = 0; fg < 8 && !apart; fg++)
        for (int bg = 0; bg < 8; bg++)
            for (int quarters = 1; quarters <= 2 && fg != bg; quarters++) {
                Colour mixed = shaded(fg, bg, quarters);
                int d = unlikeness(upper, mixed) + unlikeness(lower, mixed);
                if (d >= least)
                    continue;
                least = d;
                best = (Shade){quarters == 1 ? LIGHT : MEDIUM, colour_of_8(fg), colour_of_8(bg)};
            }
    return best;
}

/* --- text on its ground: contrast, and how each style looks --- */

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
    [STYLE_WARNING] = {221, 90, YELLOW, MAGENTA, BOLD, BOLD}, /* not the brown of A */
    [STYLE_ERROR] = {210, 124, YELLOW, RED, BOLD, BOLD},
    [STYLE_PROMPT] = {0, 0, 0, 0, BOLD, BOLD},
    [STYLE_SIDE_A] = {215, 130, YELLOW, RED, BOLD, BOLD},           /* as A − B is where A is the larger … */
    [STYLE_SIDE_B] = {111, 26, CYAN, BLUE, BOLD, BOLD | UNDERLINE}, /* … and where B is */
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
