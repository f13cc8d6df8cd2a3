/* A canvas as a PNG: its letters come from a font of the machine (core/io/font.h). */
#ifndef VITRINE_TUI_SHOT_H
#define VITRINE_TUI_SHOT_H
#include "core/base/buf.h"
#include "core/base/err.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

/* Appended. */
bool shot_png(const Canvas *c, ColourMode mode, bool light, Buf *out, Err *err);
#endif
