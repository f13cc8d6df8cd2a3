/* Computing a few nodes (those of fuse_count) in items that any number of threads may claim and that may stop between
 * any two. Internal to core/graph: run.c drives it. Which item computes a cell never changes its bits. */
#ifndef VITRINE_GRAPH_EVAL_H
#define VITRINE_GRAPH_EVAL_H
#include "core/base/pool.h"
#include "core/graph/graph.h"

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

/* Which nodes are computed together: one after the other on a few rows at a time, while those are in cache. Says
 * nothing about values: every node's cells have the bits they have alone. Internal to core/graph. */
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
