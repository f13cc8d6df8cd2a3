/* The map of a forward pass: a tree of boxes over a graph. The boxes at the root are the steps of the model (image,
 * patches, …, block 0, …, probs), a block's boxes are its named stages, a stage's boxes are its nodes. Derived from one
 * table and the node names; a stage none of whose nodes exist is absent, and stages stand in the order in which their
 * results are computed (so post-norm and edited graphs need no table of their own). */
#ifndef VITRINE_MODELS_STAGES_H
#define VITRINE_MODELS_STAGES_H
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
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

/* --- the kinds of stages that models have: one table, and which of its rows a node belongs to (stage_rows.c) --- */

enum { NO_ROW = -1 };

/* One kind of stage. Inside a block a node that the anatomy notes belongs to the stage of its site, whatever it is
 * called. Any other belongs to the first row of its kind of part that lists its name there, or lists a name in front of
 * it: "z" of an attention takes z.unedited. A name that ends in * is a beginning. A node that no row lists belongs to
 * the stage of the node after it. Names are those inside a part's scope; outside blocks (PART_MODEL) they are whole
 * paths. */
typedef struct StageRow {
    PartKind kind;
    const char *key;    /* NULL: the last word of the part's scope */
    const char *label;  /* NULL: the part's word */
    const char *symbol; /* NULL: that of the node shown */
    const char *show;   /* the results that may stand for the stage, best first */
    const char *members;
    const char *sentence; /* NULL: that of the node shown */
} StageRow;

/* Where a node is listed: its block, the part whose rows may list it and its name there. */
typedef struct StagePlace {
    int block, part; /* NO_PART outside blocks */
    PartKind kind;
    const char *name; /* the path's own end */
} StagePlace;

const StageRow *stage_row(int row);
StagePlace stage_place(const Graph *g, const char *path);
bool stage_row_is(int row, const char *key);
/* The node that puts learned tokens in front of the patches, before positions are added or behind that, or NO_NODE:
 * there are none. An edit may stand in front of the name. */
NodeId stage_joined(const Graph *g);
/* The row of a node, which lies at that place, or NO_ROW. */
int stage_row_of(const Graph *g, NodeId joined, StagePlace at, NodeId n);
/* The paths of the part's sites that may stand for a stage of that row, best first: the i-th, or NULL past the end. */
const char *stage_site_shown(const Graph *g, int part, int row, int i);
#endif
