/* Cells of one node, named by an address, and what can be made of them: a sum, the largest, a dot product … Captions,
 * lessons and `check` ask the same. */
#ifndef VITRINE_SESSION_ASK_CELLS_H
#define VITRINE_SESSION_ASK_CELLS_H
#include "core/session/session.h"

typedef struct Cells {
    const Graph *g;
    Side side;
    NodeId node;
    Selection chosen; /* axes that the address says nothing of are taken whole */
    size_t count;
    const float *x; /* the node's values; NULL after cells_find */
} Cells;

/* Bytes of the address that text begins with: a name, perhaps `a:`, `b:` or `EXAMPLE:` before it, [ ] behind it. */
size_t cells_address(const char *text);
/* What an address names on that side, or on the one that it names itself; cells_read computes it too. False and one
 * line when it is not there. */
bool cells_find(const Session *s, Side side, const char *text, Cells *out, Err *err);
bool cells_read(Session *s, Side side, const char *text, Cells *out, Err *err);
/* The i-th of them, row by row: its value, and its index among all cells of the node. */
double cells_at(const Cells *c, size_t i);
size_t cells_index(const Cells *c, size_t i);

/* One number of all cells: sum mean max min var norm argmax argmin entropy count nonzero;
 * var divides by their number, norm is the length, entropy −Σ x ln x, argmax counts from 0. NULL for another word. */
typedef double CellsFold(const Cells *c);
CellsFold *cells_fold(const char *word);
double cells_argmax(const Cells *c);
/* And of two addresses with as many cells: dot cosine maxdiff distance. */
typedef double CellsPair(const Cells *a, const Cells *b);
CellsPair *cells_pair(const char *word);
const char *cells_word(int i); /* all of both, one after the other; NULL past the end */
#endif
