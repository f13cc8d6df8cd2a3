/* Colour maps (checked for order, for colour-blind readers too) and the quantiser to what a terminal has. */
#ifndef VITRINE_TUI_CANVAS_COLOUR_H
#define VITRINE_TUI_CANVAS_COLOUR_H
#include "tui/canvas/canvas.h"

typedef enum MapId {
    CM_MAGMA,
    CM_VIRIDIS,
    CM_CIVIDIS,
    CM_GREY,
    CM_GREY_LIGHT,
    CM_BLUE_LIGHT, /* for a light ground: one hue, and a black cursor shows on its dark end too */
    CM_BLUE_ORANGE,
    CM_VIK,
    CM_COUNT
} MapId;
const char *colourmap_name(MapId m);
bool colourmap_find(const char *name, MapId *m);
bool colourmap_signed(MapId m); /* zero in the middle */
/* Colour of position 0…1 (signed maps: 0.5 is zero); NaN gives a colour no map contains. In 256-colour mode the
 * tables of 10 to 24 levels are used, in truecolor 64 levels. */
typedef enum ColourMode { MODE_MONO, MODE_8, MODE_256, MODE_TRUE } ColourMode;
Colour colourmap_colour(MapId m, ColourMode mode, double position);
/* Index 16…255 of the xterm palette nearest to a colour (exact for the maps' own entries). */
int colour_256(Colour c);
Colour colour_of_256(int index);
int colour_8(Colour c);
Colour colour_of_8(int index);
/* A cell's glyph and two of the 8 colours that come nearest to the colours of its halves: a half block where they
 * differ, a shade of two colours where that is nearer. The order of a map's colours in lightness stays. */
typedef struct Shade {
    uint32_t ch;
    Colour fg, bg;
} Shade;
Shade colour_shade(Colour upper, Colour lower);
/* Contrast of two colours, 1 … 21 (WCAG 2.1). Text is read from 4.5 on. */
double colour_contrast(Colour a, Colour b);
enum { CONTRAST_TENTHS = 45 };
/* Black or white, whichever is read better on a ground: 4.58 at least. */
Colour colour_readable_on(Colour ground);
/* A text's colour, or the terminal's own where it is not read on that ground. */
Colour colour_legible(Colour text, Colour ground);

/* How a style looks in a mode: the theme. fg/bg are COLOUR_DEFAULT or 0xRRGGBB; attrs ATTR_*. */
typedef struct Look {
    Colour fg, bg;
    uint8_t attrs;
} Look;
Look style_look(Style s, ColourMode mode, bool light);
#endif
