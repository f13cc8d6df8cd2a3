/* The gradients a second time, by another route: from the forward nodes and the chain rule, in double, one cell after
 * the other, with none of the rules of grad_rules.c. What a node gives to its readers is added up the other way round,
 * from each reader's cell to the cells it read. */
#ifndef VITRINE_GRAPH_ADJOINT_H
#define VITRINE_GRAPH_ADJOINT_H
#include "core/graph/explain.h"

typedef struct Adjoint {
    double *sum;  /* [cells of n] Σ over the readers' cells of (d y / d reader) · (d reader / d n) */
    double *size; /* [cells of n] the same of absolute values: what rounding errors are measured against */
    double terms; /* how many terms a cell has, at most */
    int readers;  /* 0: nothing that a gradient is known of reads n */
} Adjoint;

/* Which nodes read n and have a gradient, named `prefix` and their path; at most `most` of them into reader[] (a node
 * that reads n twice stands there once). Their gradients and inputs must be there before adjoint_of. */
int adjoint_readers(const Graph *g, NodeId n, const char *prefix, NodeId *reader, int most);
/* The node's gradient, or NO_NODE. */
NodeId adjoint_gradient(const Graph *g, NodeId n, const char *prefix);
/* Fills out (adjoint_free). values gives every reader's gradient, inputs and own cells. */
void adjoint_of(const Graph *g, NodeId n, const char *prefix, const NodeId *reader, int readers, ValuesFn values,
                const void *context, Adjoint *out);
void adjoint_free(Adjoint *a);
/* Largest |difference| that rounding in float can make at cell i; what is further off is wrong. A sum of k terms is off
 * by k half units of the last place of their sizes at most, and no term is made with more than 24 of them. */
double adjoint_bound(const Adjoint *a, size_t i);
#endif
