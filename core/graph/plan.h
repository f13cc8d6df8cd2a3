/* A graph computed again and again for a few of its nodes only: training, evaluation, occlusion, head census. The order
 * of jobs, the offset tables and the memory are planned once; a buffer is reused as soon as its last reader is done, so
 * that the work stays in cache. A plan computes in the calling thread; several threads have a plan each. Same kernels,
 * same order of addition, same bits as a Run. */
#ifndef VITRINE_GRAPH_PLAN_H
#define VITRINE_GRAPH_PLAN_H
#include <stdint.h>

#include "core/graph/graph.h"

typedef struct Plan Plan;

/* wanted[count]: nodes whose values stay until the next plan_compute. The graph is not owned and must not change.
 * Leaves are read where they point at the time of plan_compute; give a plan its own leaf data with plan_leaf. */
Plan *plan_new(const Graph *g, const NodeId *wanted, int count);
void plan_free(Plan *p); /* NULL is allowed */
/* Leaf n is read from `data` (row-major in its dims, not owned) in this plan from now on, whatever the graph says: each
 * thread has its own batch. Cheap: the planned jobs are re-pointed. */
void plan_leaf(Plan *p, NodeId n, const float *data);
void plan_compute(Plan *p);
/* The same in parts: computes until deadline_ns (clock_ns; at least one piece of a job), and is true when all is there;
 * the call after that begins anew. Leaves must not change in between. */
bool plan_step(Plan *p, int64_t deadline_ns);
/* Values of a wanted node after plan_compute. */
const float *plan_values(const Plan *p, NodeId n);
size_t plan_bytes(const Plan *p); /* memory held for values and scratch */
size_t plan_jobs(const Plan *p);
#endif
