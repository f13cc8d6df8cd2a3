/* Computing a few nodes (those of fuse_count) in items that any number of threads may claim and that may stop between
 * any two. Internal to core/graph: run.c drives it. Which item computes a cell never changes its bits. */
#ifndef VITRINE_GRAPH_EVAL_H
#define VITRINE_GRAPH_EVAL_H
#include "core/base/pool.h"
#include "core/graph/graph.h"
#include "core/graph/walk.h"

typedef struct Job Job;

typedef struct JobNode {
    NodeId id;
    const float *in[NODE_INPUTS]; /* values of its inputs, valid until job_free; NULL where the job itself makes them or
                                     they are read as they are stored (leaf_read_as_stored) */
    float *out;                   /* its cells; NULL: only the job wants them, they never leave the cache */
} JobNode;

/* nodes: what fuse_count puts together. pool may be NULL, else it must outlive the job. */
Job *job_new(const Graph *g, const JobNode *nodes, int count, Pool *pool);
/* True when the nodes are complete. */
bool job_step(Job *j, int64_t deadline_ns);
double job_progress(const Job *j); /* 0 … 1 */

/* A job that is computed again and again in the calling thread, in memory that others use in between: job_plan,
 * job_lend, then job_run as often as wanted, in which nothing is allocated. */
Job *job_plan(const Graph *g, const JobNode *nodes, int count);
size_t job_scratch(const Job *j);      /* floats that it needs in job_run */
void job_lend(Job *j, float *scratch); /* not owned */
/* nodes[node].in[input], which was not NULL, is elsewhere now. */
void job_point(Job *j, int node, int input, const float *values);
bool job_run(Job *j, int64_t deadline_ns); /* as job_step; once done, the next call begins anew */
void job_free(Job *j);                     /* NULL allowed; may be called half way */

/* --- fusing (plan.c) --- */

/* Which nodes are computed together: one after the other on a few rows at a time, while those are in cache. Says
 * nothing about values: every node's cells have the bits they have alone. */
enum { FUSE_MAX = 24 };

/* nodes[0 … count-1]: nodes to be computed one after the other, in node order; last[i]: the last node that wants the
 * values of node i (indexed by node). Returns how many of the first make one job, 1 … FUSE_MAX:
 * - a contraction that is derived and the addition of a bias to its columns, or
 * - element by element operations and reductions whose shapes all begin with the same axes: rows of one need the same
 * rows of others. */
int fuse_count(const Graph *g, const NodeId *nodes, int count, const NodeId *last);
/* The axes that all of nodes begin with. */
Dims fuse_rows(const Graph *g, const NodeId *nodes, int count);
/* Is it computed row by row, each from the same rows of its inputs? */
bool fuse_by_rows(Op op);
/* The node that holds n's values: views looked through. */
NodeId fuse_holder(const Graph *g, NodeId n);

/* --- contractions (contract.c) --- */

/* The contraction of two tensors over named axes: out[m,n] = Σ_k a[m,k]·b[k,n] (+ bias[n]) for every batch index, where
 * batch axes are in a, b and out, m in a and out, n in b and out, k in a and b. Any axis order runs through the one
 * kernel. Columns of b are packed into panels by whoever uses them, one k block at a time: a panel stays in cache for
 * all rows and nothing of b is held twice. Rows of a are read and rows of out written where they are, if their steps
 * allow; else a is copied once, first. */

/* Cell offsets of an index in one operand: of index i, i·step, or table[i] where no step is common to all. */
typedef struct Offsets {
    size_t step;
    size_t *table;
} Offsets;

typedef struct Contraction {
    const float *a, *b, *bias;
    const uint16_t *half; /* where b is NULL: its cells in 16 bits, and … */
    WidenKernel *widen;   /* … what makes floats of them */
    RowKernel *row;       /* does all of a panel, where there is one row; NULL: not here */
    float *out;
    const Kernels *kernels;
    Walk batch; /* operands: out, a, b */
    size_t batches, m, n, k;
    Offsets a_row, out_row; /* [m] */
    Offsets b_col, out_col; /* [n] */
    Offsets a_k, b_k;       /* [k] */
    const float *bias_from; /* the bias that was given, or NULL */
    Offsets bias_at;
    size_t bias_step;       /* 0: the same KERNEL_COLS floats for every panel */
    float *bias_made;       /* the bias put in order where it does not lie so, else NULL */
    bool a_direct;          /* the kernel reads a in place, not from the copy */
    bool out_direct;        /* and writes out in place */
    size_t panels, group;   /* of KERNEL_COLS columns; so many panels are one item, … */
    size_t groups, singles; /* … and at the end one is, so that threads finish together */
    size_t row_blocks, workers;
    size_t prepares, items; /* the first items make the copy; all of them are done before the others begin */
    float *scratch; /* [threads][scratch_floats]; the caller sets it after contraction_init and owns it, and … */
    float *copy;    /* … this, [copy_floats]: rows of a whose k cells are neighbours */
    size_t scratch_floats, copy_floats, copy_row;
    size_t wide; /* where a thread's scratch has room for a panel of b made of 16 bits */
} Contraction;

/* Node n of g, a contraction; b NULL: a leaf that is read as it is stored. bias, with the dims bias_dims among n's own
 * axes of b, may be NULL. */
void contraction_init(Contraction *c, const Graph *g, NodeId n, const float *a, const float *b, const float *bias,
                      Dims bias_dims, float *out, int threads);
/* The axes that only b brings into the contraction n: what a bias may have. */
Dims contraction_columns(const Graph *g, NodeId n);
/* Reads the bias again: for a contraction that is computed once more with other data. a, b and bias_from may be set
 * before. */
void contraction_read_bias(Contraction *c);
/* item < items; items < prepares in any order, then the others. */
void contraction_item(void *contraction, size_t item, int worker);
void contraction_free(Contraction *c);
#endif
