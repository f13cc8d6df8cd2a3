/* Which nodes are computed together: one after the other on a few rows at a time, while those are in cache. Says
 * nothing about values: every node's cells have the bits they have alone. Internal to core/graph. */
#ifndef VITRINE_GRAPH_FUSE_H
#define VITRINE_GRAPH_FUSE_H
#include "core/graph/graph.h"

enum { FUSE_MAX = 24 };

/* nodes[0 … count-1]: nodes to be computed one after the other, in node order; last[i]: the last node that wants the
 * values of node i (indexed by node). Returns how many of the first make one job, 1 … FUSE_MAX:
 * - a contraction that is derived and the addition of a bias to its columns, or
 * - element by element operations and reductions whose shapes all begin with the same axes: rows of one need the same
 * rows of others. */
int fuse_count(const Graph *g, const NodeId *nodes, int count, const NodeId *last);
/* The axes that all of nodes begin with. */
Dims fuse_rows(const Graph *g, const NodeId *nodes, int count);
/* The node that holds n's values: views looked through. */
NodeId fuse_holder(const Graph *g, NodeId n);
#endif
