/* What a cell looks like on a given kind of terminal: the step between a canvas and every consumer of it. */
#ifndef VITRINE_TUI_CANVAS_CELL_LOOK_H
#define VITRINE_TUI_CANVAS_CELL_LOOK_H
#include "core/base/buf.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

typedef struct CellLook {
    uint32_t ch;   /* printable; 0 = right half of the wide glyph before it */
    Colour fg, bg; /* 0xRRGGBB, or COLOUR_DEFAULT; always COLOUR_DEFAULT in MODE_MONO; primaries that colour_8 knows in
                      MODE_8 */
    uint8_t attrs;
} CellLook;

/* Data cells: half blocks with 256 colours or more, shades and half blocks with 8; the mean of both halves as ground
 * where ascii; the ramp without colour or with 8 in ASCII, there with negative numbers by a ramp of their own (and blue
 * against red with 8 colours). Glyphs over data
 * get a readable foreground; a data cell with ATTR_REVERSE (the cursor, a selection) shows `+` on its colour, for
 * reversing a block of one colour would show nothing. */
CellLook cell_look(const Cell *k, ColourMode mode, bool ascii, bool light);

/* True for a cell that is only data: no text over it. */
bool cell_is_data(const Cell *k);
/* Ramp character of a data cell: " .:-=+*#%@", for negative numbers " ,_;~oxnNM". */
char cell_ramp(const Cell *k);
/* The one colour a data cell has: the mean of its halves; of any other its ground. */
Colour cell_ground(const Cell *k);
/* The two halves of a data cell. A half that nothing was drawn on is COLOUR_DEFAULT. */
void cell_halves(const Cell *k, Colour *upper, Colour *lower);

/* Appends a code point as UTF-8, `?` where it may not be shown. */
void put_char(Buf *out, uint32_t ch);
/* The same with & < > " ' as entities, for SVG and HTML. */
void put_escaped(Buf *out, uint32_t ch);
void put_escaped_text(Buf *out, const char *text);

/* Colours of a page for those who read the export without a terminal. */
typedef struct Paper {
    Colour ground, ink;
} Paper;
Paper paper_of(bool light);
/* cell_look in that mode with the page's ink for a default foreground, and reversal carried out. bg may be
 * COLOUR_DEFAULT. */
CellLook cell_look_on_paper(const Cell *k, ColourMode mode, bool light, Paper paper);

/* Inside tui/canvas: the surfaces and lines of a canvas as filled rectangles, in the order in which they are painted:
 * grounds, half blocks, bars, then box lines; plots are their dots. A cell is 8 units wide and 16 high. */
void shapes_paint(const Canvas *c, ColourMode mode, bool light, Paper paper,
                  void (*paint)(void *context, Colour colour, Rect units), void *context);
/* True for glyphs that are drawn so: they are not text. */
bool svg_draws(uint32_t ch);
#endif
