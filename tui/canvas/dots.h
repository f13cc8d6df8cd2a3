/* What lines are made of: dots, where the font has them, in characters of 2 × 4 (braille) or 2 × 3 (sextants). */
#ifndef VITRINE_TUI_CANVAS_DOTS_H
#define VITRINE_TUI_CANVAS_DOTS_H
#include "tui/canvas/canvas.h"

/* What lines are made of from now on: "sextants", "blocks", "ascii", else braille. */
void canvas_plots(Canvas *c, const char *how);
bool is_braille(uint32_t ch);

/* Are they dots, 2 across and so many down in a cell? And the glyph ch with one more, in row y and column x of the
 * cell; where ch is no glyph of dots it is the first. */
enum { DOTS_ACROSS = 2 };
bool canvas_of_dots(const Canvas *c);
int dots_down(const Canvas *c);
uint32_t dots_add(const Canvas *c, uint32_t ch, int y, int x);
/* Six dots, row by row from the upper left, the lowest bit first, as the character that shows them, and back: 0 for
 * what is none. U+1FB00 … U+1FB3B count them in this order, without none, all and either column, which are older. */
uint32_t sextant_of(unsigned dots);
unsigned sextant_dots(uint32_t ch);
/* Cells of r that have dots of a plot. */
int canvas_dotted(const Canvas *c, Rect r);
#endif
