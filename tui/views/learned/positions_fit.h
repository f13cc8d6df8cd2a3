/* The screen of positions where a table is fitted to another grid (look.positions.fitted): before, and after in every
 * way. Each returns false where that is not what is looked at. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_POSITIONS_FIT_H
#define VITRINE_TUI_VIEWS_LEARNED_POSITIONS_FIT_H
#include "tui/views/view.h"

bool positions_fit_draw(const Paint *p, Rect r, Side side, bool focus);
bool positions_fit_needs(const Session *s, Side side, Needs *out);
bool positions_fit_click(const Paint *p, Rect r, Side side, int y, int x, Buf *command); /* nothing: no map was hit */
bool positions_fit_title(const Session *s, Side side, Buf *out);
#endif
