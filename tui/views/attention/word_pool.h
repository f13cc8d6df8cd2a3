/* A matrix of more words than a pane has lines or columns: pooled as every other picture here, the whole of it or so
 * many tokens a cell around the cursor. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_WORD_POOL_H
#define VITRINE_TUI_VIEWS_ATTENTION_WORD_POOL_H
#include "tui/views/attention/attend.h"
#include "tui/views/heat.h"

typedef struct WordPool {
    Rect cells;
    int labels;                   /* width of the row labels with the cursor's mark, 0: none */
    int column_y, bar_y, value_y; /* −1: none */
    int per;                      /* tokens a drawn cell has in both directions; 0: as many as make all fit */
    int rows, cols;               /* drawn */
    int row0, col0;               /* the first of them, in drawn cells */
    HeatSize size;
} WordPool;

/* per: as above. */
WordPool word_pool(const Paint *p, Rect r, const Attend *a, int per);
/* A drawn cell: as attend_tile pools, masked scores (−∞) left out where there are others. */
float word_pool_value(const Attend *a, const WordPool *l, PoolKind kind, int row, int col, Ref *ref);
void word_pool_draw(const Paint *p, Rect r, const Attend *a, const WordPool *l, bool focus);
/* The tokens of the value that is drawn at (y, x); false where none is. */
bool word_pool_hit(const Paint *p, const Attend *a, const WordPool *l, int y, int x, int *t, int *u);
#endif
