/* The head in focus large, right of a sheet of maps where that leaves columns: over the picture, where there is one. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_SHEET_FOCUS_H
#define VITRINE_TUI_VIEWS_ATTENTION_SHEET_FOCUS_H
#include "tui/views/attention/sheet_fit.h"

/* Where it is in the pane r; no rows where there is no room for a map larger than the small one. */
LatticeMap sheet_focus_map(const Paint *p, const Attend *a, const Sheet *s, Rect r);
/* one: the scale of all heads, or NULL. */
void sheet_focus_draw(const Paint *p, const Attend *a, const Sheet *s, const ColourScale *one, int block, Rect r);
#endif
