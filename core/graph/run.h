/* Graph + Run = the trace. A Run owns the values; there is no separate recorder that could drift from the computation.
 * Values are computed in node order when they are needed, in slices of time that stop between output tiles inside a
 * node. Values may be forgotten under a memory budget and are computed again when they are asked for. Pointers to what
 * run_step or run_need gave stay valid until run_trim. Values are the same bits whenever, however often and in how many
 * threads they are computed. */
#ifndef VITRINE_GRAPH_RUN_H
#define VITRINE_GRAPH_RUN_H
#include <stdint.h>

#include "core/base/pool.h"
#include "core/graph/graph.h"

typedef struct Run Run;

/* base (may be NULL): the run of the graph this one was edited from; nodes with an origin share its values.
 * Neither graph, base nor pool is owned; all must outlive the run. */
Run *run_new(const Graph *g, Run *base, Pool *pool);
void run_free(Run *r); /* NULL is allowed */
const Graph *run_graph(const Run *r);
/* Call after nodes (probes) were appended to the graph and before anything else is asked of the run. */
void run_extend(Run *r);
/* Call before nodes count, count + 1, … are taken from the end of the graph: forgets what it knows of them. */
void run_shrink(Run *r, NodeId count);

/* Computes node n and all it needs until deadline_ns (clock_ns; CLOCK_NEVER to finish). True when n is there. */
bool run_step(Run *r, NodeId n, int64_t deadline_ns);
/* The whole forward pass (probes excluded), in node order. True when complete; then run_hash has the final hash. Every
 * node was there once; derived ones, and under a budget others, may live only as long as the nodes made from them are
 * being computed: whoever wants one asks for it with run_step. */
bool run_step_all(Run *r, int64_t deadline_ns);
/* Values of node n, cells in row-major order; NULL while they are not computed, or forgotten. Never computes. VIEWs and
 * leaves are free, but for leaves that are not stored as floats: those count as computed. What was not asked for may go
 * with the next step. */
const float *run_peek(const Run *r, NodeId n);
/* Computes what is missing, whatever it takes. */
const float *run_need(Run *r, NodeId n);
/* Share of the forward pass's work done, 0 … 1, by FLOPs and cells. */
double run_progress(const Run *r);
/* The same of what the last run_step is at: 1 when it has found or made its node. */
double run_share(const Run *r);
bool run_complete(const Run *r);
/* The node being computed now (the last, where several are computed together), or NO_NODE. */
NodeId run_current(const Run *r);
/* Forgets derived values that nothing has asked for since the last call, and what is above the budget; in the base run
 * and in those edited from it too. Between frames only: pointers from run_peek die. */
void run_trim(Run *r);

/* How many bytes of values this run, its base and what is edited from it hold together; 0 (at first): no limit. Above
 * it values that nobody has asked for since the last trim are forgotten, least recently used first; not those that a
 * node in progress or still to come reads, and not NODE_CHECKPOINTs. So the most held is the budget, or what is asked
 * for at once with what a block needs while it is made. */
void run_budget(Run *r, size_t bytes);
/* The most bytes held at once since the runs were made: of this run, its base and what is edited from it together. */
size_t run_peak_bytes(const Run *r);
/* Bytes of values held now (shared ones not counted); NULL: 0. */
size_t run_bytes(const Run *r);
/* Nodes computed by this run so far (shared nodes, leaves and views not counted): what an edit really recomputed. */
size_t run_computed(const Run *r);

/* Hash over the stored forward nodes in node order of (path, dims, hash of the values), each taken when the node was
 * computed. Derived nodes, views, probes, and leaves other than the input and what was patched in are left out. False
 * while the pass is not complete. */
bool run_hash(const Run *r, uint64_t *hash);
/* Hash of one array of values: part of the definition above, the same on every machine. */
uint64_t run_hash_values(const float *values, size_t n);
#endif
