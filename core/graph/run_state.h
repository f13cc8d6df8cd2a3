/* What a Run is made of. Internal to core/graph: run.c computes, run_keep.c forgets and hashes. */
#ifndef VITRINE_GRAPH_RUN_STATE_H
#define VITRINE_GRAPH_RUN_STATE_H
#include "core/graph/eval.h"
#include "core/graph/run.h"

typedef struct Slot {
    float *values; /* NULL: not computed, or forgotten */
    uint64_t hash; /* of the values, taken when computed or before they were forgotten */
    uint64_t used; /* when they were computed or last asked for, by the family's clock */
    bool ready;    /* values are complete */
    bool been;     /* was ready once */
    bool hashed;
    bool asked; /* someone wanted it since the last trim */
    bool keep;  /* scratch of run_keep.c: someone will read it */
} Slot;

/* A run, the runs of the graphs edited from its graph, and so on: they read each other's values, hence forget together.
 */
typedef struct RunFamily {
    Run **runs; /* in the order they were made: a base stands before what was edited from it */
    size_t count, cap;
    size_t limit, held, peak; /* bytes; limit 0: none */
    uint64_t clock;
} RunFamily;

struct Run {
    const Graph *graph;
    Run *base;
    RunFamily *family; /* owned by the run without a base */
    Pool *pool;
    Slot *slots;
    bool *need;   /* scratch of run_step: nodes to compute, … */
    NodeId *last; /* … and the last node that wants each */
    Job *job;     /* the nodes in progress: */
    JobNode nodes[FUSE_MAX];
    int node_count;
    size_t unhashed;   /* cells computed that have no hash yet */
    NodeId known;      /* nodes there are slots for */
    NodeId to_come;    /* nodes of the pass that are this run's and have never been ready */
    double work, done; /* of the whole pass, in flops + cells */
    NodeId target;     /* what run_step is at, or NO_NODE, … */
    double task, left; /* … and the work of it in all and to be done */
    size_t computed, bytes;
};

/* The base node whose values node n shows, or NO_NODE. */
NodeId run_shared(const Run *r, NodeId n);
/* Part of the pass that must be computed by this run or its base. */
bool run_is_forward(const Run *r, NodeId n);
/* Forgets the values of a node; nothing may read them any more, and the hash is taken if there is to be one. */
void run_forget(Run *r, NodeId n);
/* Takes the hashes that are still to be taken. */
void run_hash_some(Run *r);
/* Forgets, within the budget, until `bytes` more can be held: only what nobody reads any more or has asked for. */
void run_make_room(Run *r, size_t bytes);
void run_join(Run *r); /* into its base's family, or one of its own */
void run_leave(Run *r);
#endif
