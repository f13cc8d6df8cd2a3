/* Gradients as nodes: the backward pass of every primitive is appended to the same graph (reverse accumulation;
 * Griewank and Walther 2008, chapter 3), so that a gradient is explained cell by cell, viewed, compared and exported
 * like any other node.
 *
 * For a node `path` on the way from what is asked to y, `grad.path` has the node's own dims and holds d y / d node.
 * Where several nodes read it, what comes through each is a node too: `grad.path.from.consumer` (the consumer's path
 * without the scope that both share; its operand's number behind it where it reads the node twice), added in descending
 * order of the consumers. A gradient that is the same along some axis of its node (a mean's, say) is computed once,
 * without that axis, as `grad.path.thin` or `grad.path.from.consumer`, and the nodes before it read that; `grad.path`
 * spreads it over the axis, for whoever looks at it, as a product with ones (in which −0 becomes +0). In a gradient's
 * CONTRACT and SUM the incoming gradient is the first operand, which fixes the order of addition; what a sum that the
 * incoming gradient lacks an axis of adds up is summed before.
 *
 * No gradient passes: NODE_SHIFT (the row maximum of a softmax), the mask of WHERE, FIRST, and maps that are
 * derivatives or roundings themselves. Of a maximum the first cell that has it takes all. The derivative of x log x is
 * taken as 0 at x = 0, where it has none. All nodes are flagged NODE_PROBE | NODE_DERIVED: they are no part of the
 * forward pass or its hash, and cost nothing until someone asks for them. */
#ifndef VITRINE_GRAPH_GRAD_H
#define VITRINE_GRAPH_GRAD_H
#include "core/graph/explain.h"
#include "core/graph/graph.h"

/* Appends d y / d n for every node n < y that y depends on and that depends on one of wrt[0 … count-1] (count 0: every
 * leaf that is not LEAF_CONST). seed: a node of y's dims (d y / d y: ones for a scalar, one cell 1 for a cell). Names
 * begin with prefix ("grad."). Returns a table, owned by the graph's arena, of [number of nodes before the call]: the
 * gradient of each, or NO_NODE. */
const NodeId *grad_add(Graph *g, NodeId y, NodeId seed, const NodeId *wrt, int count, const char *prefix);
/* The same where nodes with given[n] (one for each node before the call) count as given numbers: no gradient passes
 * through them to what they were made from. They may be in wrt themselves. given NULL: none. */
const NodeId *grad_add_given(Graph *g, NodeId y, NodeId seed, const NodeId *wrt, int count, const bool *given,
                             const char *prefix);
/* A seed: 1 at cell `cell` of y and 0 elsewhere, a LEAF_CONST named prefix + "seed". */
NodeId grad_seed(Graph *g, NodeId y, size_t cell, const char *prefix);
/* The loss that a classifier learns from: cross entropy of logits[o] with target[o] (a node of the same dims; batch
 * axes allowed in both), Σ_o target · (log Σ exp(logits − max) − (logits − max)), nodes `loss.…`, last of them `loss`
 * [the batch axes]. */
NodeId grad_cross_entropy(Graph *g, NodeId logits, NodeId target, int class_axis);

/* --- by another route (adjoint.c) --- */

/* The gradients a second time, by another route: from the forward nodes and the chain rule, in double, one cell after
 * the other, with none of the rules of grad_rules.c. What a node gives to its readers is added up the other way round,
 * from each reader's cell to the cells it read. */
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

/* --- inside core/graph only: the parts of grad.c, one rule for each operation (grad_rules.c) --- */

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
