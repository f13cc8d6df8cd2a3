/* Records of a training run as curves over its steps: small plots side by side, the run and its twin in one plot where
 * there are two. Nothing here is in the trace: no cell carries a Ref. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_CURVES_H
#define VITRINE_TUI_VIEWS_LEARNED_CURVES_H
#include "core/train/history.h"
#include "tui/views/view.h"

enum { CURVES_MEAN = 10 }; /* a figure beside a curve is the mean of so many records */

typedef struct Curves {
    const History *run, *twin; /* twin: NULL where none is known. Drawn in this order, whichever is looked at */
    bool on_twin;              /* the chosen step is one of the twin's */
    int step;                  /* the chosen one */
    int line;                  /* of the entropies the one looked at, the others faint; -1: each has its number */
    const char *name;          /* of its plot */
} Curves;

/* The last row at or before a step; −1 where there is none, as before the first step, or the record ends before. */
int curves_row(const History *h, int step);
/* As many plots as r has room for, the most telling first; nothing where none fits. */
void curves_draw(const Paint *p, Rect r, const Curves *c);
#endif
