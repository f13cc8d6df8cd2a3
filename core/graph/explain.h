/* The arithmetic of one cell, as terms with their operands. Folding the terms gives the stored value bit for bit,
 * although the forward pass went through packed SIMD kernels: the program's central promise, and its central test. */
#ifndef VITRINE_GRAPH_EXPLAIN_H
#define VITRINE_GRAPH_EXPLAIN_H
#include "core/graph/graph.h"
#include "core/graph/walk.h"

typedef struct Term {
    int operands; /* 0 … 3 */
    NodeId node[NODE_INPUTS];
    size_t cell[NODE_INPUTS];
} Term;

typedef struct Explain {
    const Graph *graph;
    NodeId node;
    size_t cell;
    size_t terms; /* 0 for a leaf, or where nothing was scattered to; 1 for elementwise operations */
    Walk outer;   /* over the node's cells: itself, then its operands */
    Walk inner;   /* over the terms of one cell */
    size_t base[NODE_INPUTS];
    const int *from; /* SCATTER: the input positions of the terms */
    size_t own;      /* FIRST: which of the cells that the maximum was taken from it is */
} Explain;

/* FIRST has one term, the cell and its maximum; folding it looks at the cells before it as well. */
Explain explain_open(const Graph *g, NodeId n, size_t cell);
void explain_move(Explain *e,
                  size_t cell); /* another cell of the same node: cheaper than opening it; terms may change */
Term explain_term(const Explain *e, size_t i); /* i < terms, in the engine's order */

/* values[n] = cells of node n (all inputs of the explained node must be there, but for leaves that it reads as they are
 * stored: NULL). WHERE's unchosen side is a term operand
 * too. */
typedef const float *(*ValuesFn)(const void *context, NodeId n);
float explain_fold(const Explain *e, ValuesFn values, const void *context);
/* A second, independent route: the same terms in double, for reading beside the float. */
double explain_fold_double(const Explain *e, ValuesFn values, const void *context);
/* What term i contributes to the result (product, addend …), as a float computed by the operation's own rule. */
float explain_contribution(const Explain *e, size_t i, ValuesFn values, const void *context);
/* Of CONTRACT and SUM: out[i] = what the first i + 1 terms come to, folded as the engine folds that many; out[terms −
 * 1] is the stored value, bit for bit. out: room for all terms. */
void explain_running(const Explain *e, ValuesFn values, const void *context, float *out);

/* Does a cell depend on what the user put in, or is it the same for every input? Cell by cell, for a tensor may have
 * both: before the first attention the class token's row is the same for every picture, the patches' rows are not.
 * Answers are remembered, so that asking for many cells of a graph stays cheap. */
typedef struct Vary {
    const Graph *g;
    bool *node; /* where false no cell of the node does */
    struct VaryCell *known;
    size_t count, cap;
} Vary;

void vary_init(Vary *v, const Graph *g);
void vary_free(Vary *v);
bool vary_cell(Vary *v, NodeId n, size_t cell);
#endif
