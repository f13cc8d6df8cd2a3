/* Inside tui/canvas: surfaces and lines of a canvas as SVG paths, so that they do not depend on the reader's font. One
 * path per colour keeps the file small. Coordinates: a cell is 8 units wide and 16 high. */
#ifndef VITRINE_TUI_CANVAS_SVG_SHAPES_H
#define VITRINE_TUI_CANVAS_SVG_SHAPES_H
#include "core/base/buf.h"
#include "tui/canvas/cell_look.h"

/* Grounds, half blocks, bars, then box lines. */
void svg_shapes(const Canvas *c, ColourMode mode, bool light, Paper paper, Buf *out);
/* The same as filled rectangles in those units, in the order in which they are painted: for pixels. Plots are their
 * dots.
 */
void shapes_paint(const Canvas *c, ColourMode mode, bool light, Paper paper,
                  void (*paint)(void *context, Colour colour, Rect units), void *context);
/* True for glyphs that svg_shapes draws: they are not text. */
bool svg_draws(uint32_t ch);
#endif
