/* What the ways of drawing data cells have in common. */
#ifndef VITRINE_TUI_VIEWS_HEAT_H
#define VITRINE_TUI_VIEWS_HEAT_H
#include "tui/views/view.h"

/* Can two pixels stand in one cell here? Without colours, or with eight, half blocks destroy the order of the values: a
 * cell is one ramp character then. */
bool heat_halves(const Paint *p);
/* Marks the data cell of `width` × `height` cells at (y, x): brackets around its middle line, or one exclamation mark
 * where it is too narrow. Shape, not colour, so that it is seen on every terminal. The marks keep ref. */
void heat_mark(const Paint *p, int y, int x, int height, int width, Ref ref);
#endif
