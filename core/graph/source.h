/* Where a moved cell comes from: VIEW, CONCAT, SLICE and GATHER copy cells, one input cell for one output cell; SCATTER
 * adds up what goes to one place. Used by the evaluator and by explain, so that both always agree. */
#ifndef VITRINE_GRAPH_SOURCE_H
#define VITRINE_GRAPH_SOURCE_H
#include "core/graph/graph.h"

/* The output seen as [outer][along][inner]: cells of one (outer, along) row are contiguous in the input too. */
typedef struct Moved {
    size_t along, inner; /* lengths in the output */
    size_t in_along[2];  /* length of the axis in each input */
} Moved;

Moved moved_make(const Graph *g, NodeId n);
/* Input (0 or 1) and first input cell of output row `row` = outer·along + k. */
size_t moved_row(const Graph *g, NodeId n, const Moved *m, size_t row, int *which);
/* SCATTER: the positions of the input that go to position q of the node, ascending; *count may be 0. */
const int *scatter_inputs(const Graph *g, NodeId n, size_t q, size_t *count);
#endif
