/* The same canvas as text, ANSI, SVG or HTML. */
#ifndef VITRINE_TUI_EXPORT_H
#define VITRINE_TUI_EXPORT_H
#include "core/base/buf.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

/* One line per row, trailing blanks cut. Data cells are ramp characters " .:-=+*#%@" (never half blocks). */
void export_text(const Canvas *c, Buf *out);
void export_ansi(const Canvas *c, ColourMode mode, bool light, Buf *out);
void export_svg(const Canvas *c, bool light, const char *title,
                Buf *out); /* self-contained, readable in a browser and a paper */
void export_html(const Canvas *c, bool light, const char *title, Buf *out);
/* What golden screens compare: the text plane, then a plane of style/level letters. */
void export_golden(const Canvas *c, Buf *out);
#endif
