/* The lens of a text at every token: a line for each block, a column for each token, and there the word that would be
 * named behind it, on the ground of its probability. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_LENS_TOKENS_H
#define VITRINE_TUI_VIEWS_LEARNED_LENS_TOKENS_H
#include "tui/views/shown.h"

/* Is it on, and has that side a table of it? A − B has none. */
bool lens_tokens_on(const Session *s, Side side);
void lens_tokens_draw(const Paint *p, Side side, Rect r, bool focus);
void lens_tokens_need(const Session *s, Side side, Rect r, Needs *out);
/* The moves that lead to the cell at (y, x), "in" where the cursor is. */
bool lens_tokens_click(const Session *s, Side side, Rect r, int y, int x, Buf *command);
#endif
