/* The same canvas as text, ANSI, SVG or HTML. */
#ifndef VITRINE_TUI_CANVAS_EXPORT_H
#define VITRINE_TUI_CANVAS_EXPORT_H
#include "core/base/buf.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

/* One line per row, trailing blanks cut. Data cells are ramp characters " .:-=+*#%@" (never half blocks). */
void export_text(const Canvas *c, Buf *out);
void export_ansi(const Canvas *c, ColourMode mode, bool light, Buf *out);
/* Self-contained, readable in a browser and a paper; with the colours that a terminal of that mode has: none in
 * MODE_MONO but ink and ground, and the ramp in the place of heat. */
void export_svg(const Canvas *c, ColourMode mode, bool light, const char *title, Buf *out);
void export_html(const Canvas *c, ColourMode mode, bool light, const char *title, Buf *out);
/* As pixels, a cell PIXELS_W by PIXELS_H: rgb[3 * export_height * export_width], rows from the top. glyph gives
 * coverage 0 … 255 of a letter, alpha[PIXELS_H * PIXELS_W * cells]. */
enum { PIXELS_W = 16, PIXELS_H = 32, PIXELS_MARGIN = 16 };
typedef void PixelsGlyph(void *font, uint32_t ch, int cells, uint8_t *alpha);
int export_width(const Canvas *c);
int export_height(const Canvas *c);
void export_pixels(const Canvas *c, ColourMode mode, bool light, PixelsGlyph *glyph, void *font, uint8_t *rgb);
/* What golden screens compare: the text plane, then a plane of style/level letters. */
void export_golden(const Canvas *c, Buf *out);
#endif
