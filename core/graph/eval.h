/* Computing one node in items (output tiles) that any number of threads may claim and that may stop between any two. Internal to
 * core/graph: run.c drives it. Which item computes a cell never changes its bits. */
#ifndef VITRINE_GRAPH_EVAL_H
#define VITRINE_GRAPH_EVAL_H
#include "core/base/pool.h"
#include "core/graph/graph.h"

typedef struct Job Job;

/* in[k]: values of the node's inputs, valid until job_free; out: cells of the node. threads: most workers that will step it. */
Job *job_new(const Graph *g, NodeId n, const float *const in[NODE_INPUTS], float *out, int threads);
/* True when the node is complete. */
bool job_step(Job *j, Pool *pool, int64_t deadline_ns);
double job_progress(const Job *j); /* 0 … 1 */
void job_free(Job *j);             /* NULL allowed; may be called half way */
#endif
