/* The logits of the lens as lines over the blocks, the highest classes and the picked one, each with its name and its
 * logit in the row of the cursor. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_LENS_LINES_H
#define VITRINE_TUI_VIEWS_LEARNED_LENS_LINES_H
#include "core/session/screens/answer.h"
#include "tui/views/shown.h"

typedef struct LensLines {
    const Session *s;
    Side side;
    int blocks, first, row; /* the first row and that of the cursor: LENS_START, a block, or `blocks` for the answer */
    size_t classes, picked;
    Ranking order; /* by which few are chosen where A, B and A − B are `sides` of one another */
    bool sides;
} LensLines;

enum { LENS_LINES_TALL = 6, LENS_LINES_WIDE = 26 }; /* what they need at least */
void lens_lines_draw(const Paint *p, const LensLines *l, Rect r);
#endif
