/* Does a cell depend on what the user put in, or is it the same for every input? Cell by cell, for a tensor may have
 * both: before the first attention the class token's row is the same for every picture, the patches' rows are not.
 * Answers are remembered, so that asking for many cells of a graph stays cheap. */
#ifndef VITRINE_GRAPH_VARY_H
#define VITRINE_GRAPH_VARY_H
#include "core/graph/graph.h"

typedef struct Vary {
    const Graph *g;
    bool *node; /* graph_varies: where false no cell of it does */
    struct VaryCell *known;
    size_t count, cap;
} Vary;

void vary_init(Vary *v, const Graph *g);
void vary_free(Vary *v);
bool vary_cell(Vary *v, NodeId n, size_t cell);
#endif
