/* Expressions over the trace: numbers of captions and lessons.
 *
 *   + - * / ^ ( )  and numbers as they are printed: 150,528, 0.5, 1e-6
 *   blocks.0.attn.pattern[h=1,t=0,u=5]   a cell; a: before it as trained, b: with the edits on show
 *   hand:pattern[t=0,u=1]                a cell of the worked example "hand", as it is shown now
 *   sum(ADDRESS) …                       over all cells of an address (cells_fold has the words)
 *   dot(ADDRESS, ADDRESS) …
 *   params(SCOPE) flops(SCOPE)           of the model; params() of all of it
 *   at(AXIS)                             where the reader's cursor stands on that axis
 *   on(PATH)                             1 where the reader is on that node
 *   here()                               the value under the reader's cursor
 *   cell(ADDRESS, I)                     the I-th number of an address, from 0: cell(ADDRESS, at(h))
 *   sqrt exp log log2 abs floor ceil round ( ), min max (X, Y); conditions are 1 or 0, and numbers in
 *   brackets: X < Y, X > Y, X = Y, … and …
 */
#ifndef VITRINE_SESSION_ASK_NUMBER_H
#define VITRINE_SESSION_ASK_NUMBER_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/session/session.h"

/* side: where addresses are looked up that name none. False and one line when the text is no expression or what it
 * names is not there. Computes what is missing. */
bool number_value(Session *s, Side side, const char *text, double *out, Err *err);

/* ---- Numbers as people print them: 150,528, 0.50, −3.2, 1e-21, 10⁻⁷. */
/* Digits with , between thousands, one point, an exponent; a minus of either kind; a power of ten, 10⁻⁷. Returns the
 * characters it takes, 0 when text begins with none; *half is half a unit of its last place. */
size_t number_printed(const char *text, double *out, double *half);
/* A number for people: whole ones with , between thousands, others with that many decimals (-1: four digits). */
void number_put(double x, int decimals, Buf *out);
/* "99.9 %", ">99.9 %", "<0.1 %" of a share above 0, of what is as little below it "-0.04 %" or "≈0 %": at most
 * 7 cells. */
void share_text(char *out, size_t n, float share);
void share_text_to(char *out, size_t n, float share, int decimals);
double share_unit(int decimals); /* one in the last of so many decimals (0 … 3) of a percentage: 0.001 for 0.1 % */

/* Cells of one node, named by an address, and what can be made of them: a sum, the largest, a dot product … Captions,
 * lessons and `check` ask the same. */

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
