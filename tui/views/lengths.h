/* What a row of the map of steps shows of its tokens: above, how long each is there; below, how far it moved since the
 * step before, or from A to B. */
#ifndef VITRINE_TUI_VIEWS_LENGTHS_H
#define VITRINE_TUI_VIEWS_LENGTHS_H
#include "core/models/stages.h"
#include "tui/views/view.h"

/* What it needs; with `reached` only where the step's result is there: cheap then, while the pass runs on. */
void lengths_needs(const Session *s, const Box *b, bool reached, Needs *out);
/* The largest share that any token of the step has moved. */
float lengths_most(const Session *s, const Box *b);
/* Draws it into a line; most: the largest of all steps that are drawn, where its lower scale ends if that is no more
 * than 1, or 4 from A to B. False, nothing is drawn: the step has no tokens. */
bool lengths_draw(const Paint *p, Rect line, const Box *b, float most);
/* What the halves are, in up to LENGTHS_LEGEND lines, the last with the numbers of the picked token in that step;
 * before it in one line more how many tokens, the step's or those of others, share a cell of a strip of so many
 * columns. In fewer than LENGTHS_WIDE columns by one word each, without the numbers. */
enum { LENGTHS_LEGEND = 3, LENGTHS_WIDE = 24 };
void lengths_legend(const Paint *p, Rect r, const Box *b, float most, int columns, int tokens);
/* Below the rows, where LENGTHS_MAP lines are left over: both of one step again, a square for each patch, where the
 * tokens are patches; and what a click there means. */
enum { LENGTHS_MAP = 6 };
void lengths_maps(const Paint *p, Rect r, const Box *b, float most);
bool lengths_maps_click(const Paint *p, Rect r, const Box *b, int y, int x, Buf *command);
/* Tokens that a strip of so many columns has room for; the command of a click on one of its columns: which tokens are
 * alike there. */
int lengths_tokens(const Session *s, const Box *b);
bool lengths_click(const Session *s, const Box *b, int column, int columns, Buf *command);
#endif
