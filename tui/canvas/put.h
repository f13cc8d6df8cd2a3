/* Inside tui/canvas: the one way a glyph enters a cell, and the plain forms of typographic characters. */
#ifndef VITRINE_TUI_CANVAS_PUT_H
#define VITRINE_TUI_CANVAS_PUT_H
#include "tui/canvas/canvas.h"

/* Writes a glyph of utf8_width 1 or 2 with default colours, no data and no Ref. Unprintable code points become `?`.
 * Clipped; a wide glyph of which only one half is inside the clip leaves a blank there. A wide glyph that is half
 * overwritten becomes a blank. */
void cell_put(Canvas *c, int y, int x, Style s, uint32_t ch);
/* Blanks what a write to [x, x+w) of row y would cut in half: wide glyphs that reach over an edge. */
void cell_split(Canvas *c, int y, int x, int w);

/* ASCII text for a code point: "sqrt", ">", … ; "?" when there is none. Never empty, never longer than 6 characters. */
const char *ascii_text(uint32_t c);
/* One ASCII character for it. */
char ascii_char(uint32_t c);
#endif
