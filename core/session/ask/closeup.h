/* The close-up of a number: everything that the operation it comes from did on the way, line by line. A line is a row
 * of cells along the axes that were summed over (queries, keys, exponentials), or one cell (a maximum, a mean), or what
 * no node has because a kernel does it in one go: products, and sums on the way. Found in the graph: from the number
 * back through steps that work cell by cell and through sums over the same axes, to what the part was given. So a
 * softmax, a LayerNorm and a contraction with its bias are one close-up each, in any model. */
#ifndef VITRINE_SESSION_ASK_CLOSEUP_H
#define VITRINE_SESSION_ASK_CLOSEUP_H
#include "core/base/mem.h"
#include "core/session/ask/ask.h"
#include "core/session/session.h"

enum { CLOSEUP_LINES = 40, CLOSEUP_TERM_STEPS = 64 };

typedef enum CloseupWhat {
    CLOSEUP_CELLS,    /* of a node */
    CLOSEUP_PRODUCTS, /* of the operands that a contraction adds up */
    CLOSEUP_RUNNING   /* what a contraction or a sum has come to so far */
} CloseupWhat;

typedef struct CloseupLine {
    CloseupWhat what;
    NodeId node;        /* of products and running sums: the node that they lead to */
    bool given;         /* there before the first step */
    size_t count;       /* 1, or the terms */
    const size_t *cell; /* [count]: of the node; of products and running sums NULL */
    const float *value; /* [count], after closeup_values */
} CloseupLine;

typedef struct Closeup {
    const Graph *graph;
    Side side;
    NodeId node; /* what it is the close-up of */
    size_t cell;
    Dims along; /* the axes that were summed over */
    size_t terms;
    CloseupLine line[CLOSEUP_LINES]; /* in the order of computing */
    int count;
    Arena arena;
} Closeup;

/* Looks at the graph only. False, with nothing to free, where the number comes from single numbers and nothing else. */
bool closeup_open(const Session *s, Side side, NodeId n, size_t cell, Closeup *out);
/* Fills value; false while something is not computed. Never computes a node. */
bool closeup_values(const Session *s, Closeup *c);
void closeup_free(Closeup *c);
/* Is there a close-up of the focused cell? */
bool closeup_there(const Session *s);

/* --- where the reader is: Place.operand is the line, the data cursor the index along `along`, Place.term the step ---
 */
int closeup_line_here(const Session *s, const Closeup *c);
size_t closeup_index_here(const Session *s, const Closeup *c);
/* Steps until all is there: a step shows one line, or CLOSEUP_TERM_STEPS-ths of a contraction's terms. */
size_t closeup_steps(const Closeup *c);
/* How many cells of a line are there after so many steps; step 0: all. */
size_t closeup_shown(const Closeup *c, size_t step, int line);
/* The line that a step works on; step 0 none: −1. */
int closeup_line_of(const Closeup *c, size_t step);

/* What a screen wants worked out about numbers on show: the arithmetic of a cell, or its close-up. Made between frames
 * by session_step from the needs that say so, so that drawing and clicks read only; the last of each side is kept. */

/* What that need asks for, from values that are there already; nothing happens while they are not. */
void explained_make(Session *s, const Need *need);
/* The arithmetic of that cell with at least `most` of its lines (all, where it has fewer), or NULL: nobody asked for
 * it, or its values are not there. The session's, until the next step. */
const Explanation *explained_cell(const Session *s, Side side, NodeId n, size_t cell, size_t most);
/* The close-up of that cell with its values: true when it is known, *out NULL where there is none. */
bool explained_closeup(const Session *s, Side side, NodeId n, size_t cell, const Closeup **out);
/* Forgets all of it: before a run or a graph becomes another. */
void explained_drop(Session *s);
#endif
