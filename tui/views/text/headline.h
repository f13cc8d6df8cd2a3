/* The words on top of every screen of a text model: the text that is read, below it the one that is written. What the
 * cursor is on is marked as in a row of attention: [it] is looked at, >il< asks. */
#ifndef VITRINE_TUI_VIEWS_TEXT_HEADLINE_H
#define VITRINE_TUI_VIEWS_TEXT_HEADLINE_H
#include "tui/views/view.h"

/* Lines of a screen `height` lines high that go to it: one per text, those of A too where A has other words and there
 * is room; one in all on a low screen. 0 for a model that reads no words. */
int headline_lines(const Session *s, int height);
/* Words that do not fit are cut at either end, with "…"; those in focus stay. */
void headline_draw(const Paint *p, Rect r);
/* "query it": the cursor goes to the word at (y, x). False where there is none, or the node has no such axis. */
bool headline_click(const Paint *p, Rect r, int y, int x, Buf *command);
#endif
