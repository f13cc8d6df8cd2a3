/* The map of a forward pass: a tree of boxes over a graph. The boxes at the root are the steps of the model (image,
 * patches, …, block 0, …, probs), a block's boxes are its named stages, a stage's boxes are its nodes. Derived from one
 * table and the node names; a stage none of whose nodes exist is absent, and stages stand in the order in which their
 * results are computed (so post-norm and edited graphs need no table of their own). */
#ifndef VITRINE_MODELS_STAGES_H
#define VITRINE_MODELS_STAGES_H
#include "core/base/mem.h"
#include "core/graph/graph.h"

enum { NO_BOX = -1 };

typedef struct Box {
    const char *label;       /* "block 0", "softmax", "pattern" */
    const char *symbol;      /* the paper's, or "" */
    const char *sentence;    /* at most 76 cells */
    const char *path;        /* "blocks.0", "blocks.0.softmax" (a stage's own name), or a node's path */
    NodeId show;             /* the node that stands for the box: its result */
    NodeId first, last;      /* its nodes lie between these, both included (nodes of an edit too) */
    int parent, child, next; /* boxes, or NO_BOX; child is the first one, next the following one of the same parent */
    int depth;               /* 0 at the root */
    int step;                /* number of its step, from 1: what is at the root and every stage is one, open or not */
    Cost cost;               /* of all its nodes */
} Box;

typedef struct Stages {
    Box *boxes; /* box 0 is the first at the root; a parent stands before its children */
    int count, steps, node_count;
    int *of_node; /* [nodes of the graph]: the node's own box */
    Arena arena;
} Stages;

void stages_make(Stages *s, const Graph *g); /* labels may be the graph's; all else outlives it */
void stages_free(Stages *s);
/* The node's own box, the innermost that holds it; NO_BOX for a node that the graph did not have when the map was made.
 */
int stages_of_node(const Stages *s, NodeId n);
/* The box of that path ("blocks.0", "blocks.0.softmax", "logits", a node's path), or NO_BOX. */
int stages_find(const Stages *s, const char *path);
/* The first box of that step, or NO_BOX. */
int stages_step(const Stages *s, int step);
/* Is it a block, whose parts are steps of their own? */
bool stages_is_block(const Stages *s, int box);
/* What a step says: its box's sentence; of an open block, which comes before its parts, that they follow. */
const char *stages_sentence(const Stages *s, const bool *open, int box);
/* The next box in reading order where box i counts as open if open[i]; NO_BOX past the end. before: the previous one.
 */
int stages_after(const Stages *s, const bool *open, int box);
int stages_before(const Stages *s, const bool *open, int box);
#endif
