/* Where the nodes of a path are: graph_find without walking the list. Internal to core/graph. */
#ifndef VITRINE_GRAPH_GRAPH_INDEX_H
#define VITRINE_GRAPH_GRAPH_INDEX_H
#include "core/graph/graph.h"

/* Node n, the last of the list, enters; its path is set. */
void graph_index_add(Graph *g, NodeId n);
/* Node n leaves: before its path changes (then graph_index_add_again), or before it is taken from the end of the list.
 */
void graph_index_remove(Graph *g, NodeId n);
/* Node n, wherever it stands in the list, enters under its new path. */
void graph_index_add_again(Graph *g, NodeId n);
#endif
