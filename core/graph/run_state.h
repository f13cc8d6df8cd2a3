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

/* Nodes that are computed a few rows at a time, for there is no room for all (run_band.c). */
typedef struct Band Band;

struct Run {
    const Graph *graph;
    Run *base;
    RunFamily *family; /* owned by the run without a base */
    Pool *pool;
    Slot *slots;
    bool *need;     /* scratch of run_step: nodes to compute, … */
    NodeId *last;   /* … and the last node that wants each */
    Job *job;       /* the nodes in progress: together, or … */
    Band *band;     /* … a few rows of each at a time */
    size_t passing; /* bytes that are held as long as they are in progress */
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
/* leaves[i] = true where a run edited from this one will read node ids[i]. */
void run_mark_edited(const Run *r, const NodeId *ids, int count, bool *leaves);
void run_join(Run *r); /* into its base's family, or one of its own */
void run_leave(Run *r);

/* A hash that is taken a few values at a time, in the order of the cells. */
typedef struct HashSoFar {
    uint64_t lane[KERNEL_HASH];
    size_t cells;
} HashSoFar;
void run_hash_begin(HashSoFar *h);
void run_hash_on(HashSoFar *h, const float *values, size_t n);
uint64_t run_hash_end(const HashSoFar *h);

/* The nodes from n on, of those that are needed up to `end`, that can be computed a few rows at a time; returns how
 * many, 0: none. What they read besides each other is there. */
int band_find(const Run *r, NodeId n, NodeId end, NodeId ids[FUSE_MAX]);
/* What is held of them at once under a budget. */
size_t band_bytes(const Graph *g, const JobNode *nodes, int count, size_t budget);
/* nodes: those of band_find; out NULL: their values are wanted by nobody else. */
Band *band_new(Run *r, const JobNode *nodes, int count);
bool band_step(Band *b, int64_t deadline_ns); /* true when all is done */
double band_progress(const Band *b);          /* 0 … 1 */
/* The hash of the i-th node; false: it was not taken. */
bool band_hash(const Band *b, int i, uint64_t *hash);
void band_free(Band *b); /* NULL allowed; may be called half way */
#endif
