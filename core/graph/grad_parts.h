/* The parts of grad.c: one rule per operation. Internal to core/graph. */
#ifndef VITRINE_GRAPH_GRAD_PARTS_H
#define VITRINE_GRAPH_GRAD_PARTS_H
#include "core/graph/grad.h"

/* The gradients being added. Gradients on the way ("thin") may lack axes of their node along which they do not change;
 * the axes that they have are in the node's order. */
typedef struct Backward {
    Graph *g;
    const char *prefix;
    const char *base;       /* what the nodes being added are parts of: "grad.blocks.0.attn.exp.from.pattern" */
    NodeId *ones;           /* [axes]: a leaf of ones for each axis that something was spread over, or NO_NODE */
    NodeId minus_one, zero; /* constants, or NO_NODE */
} Backward;

/* Whether a gradient passes through node n to its input k. */
bool grad_passes(const Node *n, int k);
/* What comes through node n, whose gradient is gy, to its input k. Thin; may be gy itself. */
NodeId grad_rule(Backward *b, NodeId n, int k, NodeId gy);

/* x with the axes `over` (those of x among them), in that order; the cells are the same along the new ones. */
NodeId grad_spread(Backward *b, NodeId x, Dims over);
/* x + y, axes in the order of `like`. */
NodeId grad_sum(Backward *b, const char *name, NodeId x, NodeId y, Dims like);
#endif
