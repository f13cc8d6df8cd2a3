#include "core/graph/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/graph/run_state.h"

/* Cells computed before their hashes are taken: enough for every thread to have several nodes to do side by side. */
enum { HASH_CELLS = 1 << 21 };

NodeId run_shared(const Run *r, NodeId n)
{
    return r->base ? graph_node(r->graph, n)->origin : NO_NODE;
}

bool run_is_forward(const Run *r, NodeId n)
{
    const Node *node = graph_node(r->graph, n);
    return node->op != OP_LEAF && node->op != OP_VIEW && !(node->flags & (NODE_DERIVED | NODE_PROBE));
}

static double cost_of(const Run *r, NodeId n)
{
    Cost c = graph_cost(r->graph, n);
    return c.flops + c.bytes / 4;
}

/* Part of the pass that this run computes, not its base. */
static bool is_own(const Run *r, NodeId n)
{
    return run_is_forward(r, n) && run_shared(r, n) == NO_NODE;
}

static double work_of(const Run *r, NodeId n)
{
    return is_own(r, n) ? cost_of(r, n) : 0;
}

/* Counts node n in (by = 1) or out again (−1). */
static void count_work(Run *r, NodeId n, int by)
{
    r->work += by * work_of(r, n);
    r->to_come += is_own(r, n) && !r->slots[n].been ? by : 0;
}

Run *run_new(const Graph *g, Run *base, Pool *pool)
{
    Run *r = xcalloc(1, sizeof *r);
    r->graph = g;
    r->base = base;
    r->pool = pool;
    r->slots = xcalloc((size_t)g->count, sizeof *r->slots);
    r->need = xcalloc((size_t)g->count, sizeof *r->need);
    r->last = xcalloc((size_t)g->count, sizeof *r->last);
    r->known = g->count;
    r->target = NO_NODE;
    for (NodeId n = 0; n < g->count; n++)
        count_work(r, n, 1);
    run_join(r);
    return r;
}

void run_forget(Run *r, NodeId n)
{
    Slot *s = &r->slots[n];
    size_t cells = graph_cells(r->graph, n);
    if (!s->values)
        return;
    pool_give(r->pool, s->values, cells);
    s->values = NULL;
    s->ready = false;
    r->bytes -= cells * sizeof(float);
    r->family->held -= cells * sizeof(float);
}

static void end_job(Run *r)
{
    job_free(r->job);
    band_free(r->band);
    r->job = NULL;
    r->band = NULL;
    r->family->held -= r->passing;
    r->passing = 0;
}

static void drop_job(Run *r)
{
    end_job(r);
    for (int i = 0; i < r->node_count; i++)
        run_forget(r, r->nodes[i].id);
    r->node_count = 0;
}

void run_extend(Run *r)
{
    drop_job(r); /* it points into the old node list */
    size_t n = (size_t)r->graph->count;
    r->slots = xrealloc(r->slots, size_mul(n, sizeof *r->slots));
    r->need = xrealloc(r->need, size_mul(n, sizeof *r->need));
    r->last = xrealloc(r->last, size_mul(n, sizeof *r->last));
    for (NodeId i = r->known; i < r->graph->count; i++) {
        r->slots[i] = (Slot){0};
        count_work(r, i, 1);
    }
    r->known = r->graph->count;
}

void run_shrink(Run *r, NodeId count)
{
    drop_job(r);
    for (NodeId n = count; n < r->known; n++) {
        count_work(r, n, -1);
        run_forget(r, n);
    }
    r->known = count < r->known ? count : r->known;
    r->target = NO_NODE;
}

void run_free(Run *r)
{
    if (!r)
        return;
    drop_job(r);
    for (NodeId n = 0; n < r->known; n++)
        run_forget(r, n);
    run_leave(r);
    free(r->slots);
    free(r->need);
    free(r->last);
    free(r);
}

const Graph *run_graph(const Run *r)
{
    return r->graph;
}

const float *run_peek(const Run *r, NodeId n)
{
    const Node *node = graph_node(r->graph, n);
    if (node->op == OP_LEAF && node->store.form == LEAF_FLOATS)
        return node->maker && !node->maker->done ? NULL : node->leaf.data;
    if (run_shared(r, n) != NO_NODE)
        return run_peek(r->base, node->origin);
    if (node->op == OP_VIEW)
        return run_peek(r, node->in[0]);
    return r->slots[n].ready ? r->slots[n].values : NULL;
}

static void ask(Run *r, NodeId n)
{
    n = fuse_holder(r->graph, n); /* a view of an edit may show values that are the base run's */
    r->slots[n].asked = true;
    r->slots[n].used = ++r->family->clock;
    if (run_shared(r, n) != NO_NODE)
        ask(r->base, graph_node(r->graph, n)->origin);
}

/* --- computing --- */

static void finish(Run *r)
{
    for (int i = 0; i < r->node_count; i++) {
        NodeId n = r->nodes[i].id;
        Slot *s = &r->slots[n];
        uint64_t hash;
        if (r->band && band_hash(r->band, i, &hash)) {
            s->hash = hash;
            s->hashed = true;
        }
        s->ready = s->values != NULL;
        s->used = ++r->family->clock;
        if (graph_node(r->graph, n)->op == OP_LEAF)
            continue;
        r->left -= cost_of(r, n);
        r->computed++;
        if (s->been)
            continue;
        s->been = true;
        r->to_come -= is_own(r, n);
        r->done += work_of(r, n);
        r->unhashed += run_is_forward(r, n) && !s->hashed ? graph_cells(r->graph, n) : 0;
    }
    end_job(r);
    r->node_count = 0;
    if (r->unhashed >= HASH_CELLS)
        run_hash_some(r);
}

/* The job that begins with node n, of which nodes up to `end` are needed. Values that only the job wants get no memory.
 */
static int plan_job(const Run *r, NodeId n, NodeId end, JobNode nodes[FUSE_MAX])
{
    NodeId ids[FUSE_MAX];
    int count = 0;
    for (NodeId i = n; i <= end && count < FUSE_MAX && run_shared(r, i) == NO_NODE; i++)
        if (r->need[i] && graph_node(r->graph, i)->op != OP_VIEW)
            ids[count++] = i;
    count = fuse_count(r->graph, ids, count, r->last);
    for (int i = 0; i < count; i++)
        nodes[i] = (JobNode){.id = ids[i]};
    return count;
}

/* Does node i of a job leave it? */
static bool leaves_job(const Run *r, const JobNode *nodes, int count, int i)
{
    return !(graph_node(r->graph, nodes[i].id)->flags & NODE_DERIVED) || r->last[nodes[i].id] > nodes[count - 1].id;
}

static bool in_progress(const Run *r, const JobNode *nodes, int count)
{
    if (!r->job || r->node_count != count)
        return false;
    for (int i = 0; i < count; i++) {
        if (r->nodes[i].id != nodes[i].id || (leaves_job(r, nodes, count, i) && !r->nodes[i].out))
            return false;
    }
    return true;
}

static size_t node_bytes(const Run *r, NodeId n)
{
    return graph_cells(r->graph, n) * sizeof(float);
}

/* Takes the nodes on, and room for the values of those that leave. */
static void take_on(Run *r, const JobNode *nodes, int count, const bool leaves[FUSE_MAX], size_t passing)
{
    const Graph *g = r->graph;
    size_t bytes = passing;
    for (int i = 0; i < count; i++)
        bytes += leaves[i] ? node_bytes(r, nodes[i].id) : 0;
    run_make_room(r, bytes);
    r->node_count = count;
    r->passing = passing;
    for (int i = 0; i < count; i++) {
        NodeId n = nodes[i].id;
        const Node *node = graph_node(g, n);
        JobNode *j = &r->nodes[i];
        *j = (JobNode){.id = n};
        for (int k = 0; k < op_inputs(node->op); k++)
            j->in[k] = run_peek(r, node->in[k]);
        if (!leaves[i])
            continue;
        j->out = r->slots[n].values = pool_take(r->pool, graph_cells(g, n));
        r->bytes += node_bytes(r, n);
    }
    r->family->held += bytes;
    if (r->family->peak < r->family->held)
        r->family->peak = r->family->held;
}

static void start_job(Run *r, const JobNode *nodes, int count)
{
    bool leaves[FUSE_MAX];
    for (int i = 0; i < count; i++)
        leaves[i] = leaves_job(r, nodes, count, i);
    take_on(r, nodes, count, leaves, 0);
    r->job = job_new(r->graph, r->nodes, count, r->pool);
}

/* Under a budget that has no room for the nodes from n on: begins to compute them a few rows at a time, if most of them
 * need not be there whole. */
static bool start_band(Run *r, NodeId n, NodeId end)
{
    const RunFamily *f = r->family;
    JobNode nodes[FUSE_MAX];
    NodeId ids[FUSE_MAX];
    bool leaves[FUSE_MAX];
    size_t all = 0, stay = 0;
    const int count = f->limit ? band_find(r, n, end, ids) : 0;
    for (int i = 0; i < count; i++) {
        const unsigned flags = graph_node(r->graph, ids[i])->flags;
        nodes[i] = (JobNode){.id = ids[i]};
        leaves[i] = r->slots[ids[i]].asked || (flags & NODE_CHECKPOINT) || r->last[ids[i]] > ids[count - 1];
        all += leaves[i] || !(flags & NODE_DERIVED) ? node_bytes(r, ids[i]) : 0;
    }
    if (count < 2 || (f->held <= f->limit && all <= f->limit - f->held))
        return false;
    run_mark_edited(r, ids, count, leaves);
    for (int i = 0; i < count; i++)
        stay += leaves[i] ? node_bytes(r, ids[i]) : 0;
    const size_t passing = band_bytes(r->graph, nodes, count, f->limit);
    if (stay + passing > all / 4 * 3)
        return false;
    if (all <= f->limit)
        run_make_room(r, all);
    if (f->held <= f->limit && all <= f->limit - f->held)
        return false;
    take_on(r, nodes, count, leaves, passing);
    r->band = band_new(r, r->nodes, count);
    return true;
}

/* Is the band what is asked for now? */
static bool band_goes_on(const Run *r, NodeId n)
{
    bool on = r->band && r->nodes[0].id == n;
    for (int i = 0; on && i < r->node_count; i++) {
        const NodeId id = r->nodes[i].id;
        on = r->need[id] && (r->nodes[i].out || (!r->slots[id].asked && r->last[id] <= r->nodes[r->node_count - 1].id));
    }
    return on;
}

/* Computes the nodes that begin with n, whose inputs are all there. */
static bool compute(Run *r, NodeId n, NodeId end, int64_t deadline)
{
    JobNode nodes[FUSE_MAX];
    int count = plan_job(r, n, end, nodes);
    if (!in_progress(r, nodes, count) && !band_goes_on(r, n)) {
        drop_job(r); /* another request came first: those nodes start again later, with the same bits */
        if (!start_band(r, n, end))
            start_job(r, nodes, count);
    }
    if (r->band ? !band_step(r->band, deadline) : !job_step(r->job, deadline))
        return false;
    for (int i = 0; i < r->node_count; i++)
        r->need[r->nodes[i].id] = false;
    finish(r);
    return true;
}

static double job_share(const Run *r)
{
    return r->band ? band_progress(r->band) : job_progress(r->job);
}

static void want(Run *r, NodeId n, NodeId by)
{
    r->need[n] = true;
    if (r->last[n] < by)
        r->last[n] = by;
}

/* Marks what is needed to have node n, or the whole pass for n = NO_NODE, and nobody has, in r->need[0 … last node]; in
 * r->last who wants it last. What is asked for itself is wanted by all that come. */
static void mark_missing(Run *r, NodeId n)
{
    const NodeId count = r->graph->count;
    for (NodeId i = 0; i < count; i++) {
        r->need[i] = n == NO_NODE && run_is_forward(r, i) && !r->slots[i].been && run_shared(r, i) == NO_NODE;
        r->last[i] = NO_NODE;
    }
    if (n != NO_NODE)
        want(r, n, count);
    for (NodeId i = n == NO_NODE ? count - 1 : n; i >= 0; i--) {
        if (!r->need[i])
            continue;
        if (run_peek(r, i)) {
            r->need[i] = false;
            continue;
        }
        if (run_shared(r, i) != NO_NODE)
            continue; /* the base run computes it */
        const Node *node = graph_node(r->graph, i);
        for (int k = 0; k < op_inputs(node->op); k++)
            if (!leaf_read_as_stored(r->graph, i, k))
                want(r, node->in[k], node->op == OP_VIEW ? r->last[i] : i);
    }
}

/* What a host procedure makes is there before any job begins: a job takes its inputs when it starts. */
static bool make_leaves(Run *r, NodeId end, int64_t deadline)
{
    for (NodeId i = 0; i <= end; i++) {
        const Node *node = graph_node(r->graph, i);
        if (!r->need[i] || node->op != OP_LEAF || node->store.form != LEAF_FLOATS)
            continue;
        if (!graph_fill(r->graph, i, deadline))
            return false;
        r->need[i] = false;
    }
    return true;
}

static bool compute_marked(Run *r, NodeId end, int64_t deadline)
{
    if (!make_leaves(r, end, deadline))
        return false;
    for (NodeId i = 0; i <= end; i++) {
        if (!r->need[i])
            continue;
        const Node *node = graph_node(r->graph, i);
        if (run_shared(r, i) != NO_NODE) {
            if (!run_step(r->base, node->origin, deadline))
                return false;
        } else if (node->op == OP_VIEW)
            continue;
        else if (!compute(r, i, end, deadline))
            return false;
        if (clock_ns() >= deadline)
            return false;
    }
    return true;
}

/* What is marked and is this run's to compute, in work. */
static void measure_task(Run *r, NodeId target)
{
    double left = 0;
    for (NodeId i = 0; i <= target; i++) {
        Op op = graph_node(r->graph, i)->op;
        if (r->need[i] && run_shared(r, i) == NO_NODE && op != OP_VIEW && op != OP_LEAF)
            left += cost_of(r, i);
    }
    if (r->target != target || left > r->task)
        r->task = left;
    r->target = target;
    r->left = left;
}

bool run_step(Run *r, NodeId n, int64_t deadline_ns)
{
    ask(r, n); /* first: nothing that it needs may be forgotten on the way */
    if (run_peek(r, n))
        return true;
    mark_missing(r, n);
    measure_task(r, n);
    compute_marked(r, n, deadline_ns);
    if (!run_peek(r, n))
        return false;
    r->target = NO_NODE;
    return true;
}

bool run_step_all(Run *r, int64_t deadline_ns)
{
    if (r->base && !run_step_all(r->base, deadline_ns))
        return false;
    r->target = NO_NODE; /* what run_step was at is there, or nobody waits for it */
    mark_missing(r, NO_NODE);
    compute_marked(r, r->graph->count - 1, deadline_ns);
    if (!run_complete(r))
        return false;
    run_hash_some(r);
    return true;
}

const float *run_need(Run *r, NodeId n)
{
    bool there = run_step(r, n, CLOCK_NEVER);
    REQUIRE(there);
    return run_peek(r, n);
}

double run_progress(const Run *r)
{
    double share = r->work > 0 ? r->done / r->work : 1;
    for (int i = 0; i < r->node_count && r->work > 0; i++)
        share += r->slots[r->nodes[i].id].been ? 0 : job_share(r) * work_of(r, r->nodes[i].id) / r->work;
    return run_complete(r) ? 1 : share < 1 ? share : 1;
}

double run_share(const Run *r)
{
    if (r->target == NO_NODE)
        return 1;
    if (!r->node_count && r->base && r->base->target != NO_NODE)
        return run_share(r->base);
    double left = r->left;
    for (int i = 0; i < r->node_count; i++)
        left -= job_share(r) * cost_of(r, r->nodes[i].id);
    return r->task > left && left > 0 ? 1 - left / r->task : left > 0 ? 0 : 1;
}

bool run_complete(const Run *r)
{
    return r->to_come == 0 && (!r->base || run_complete(r->base));
}

NodeId run_current(const Run *r)
{
    return r->node_count ? r->nodes[r->node_count - 1].id : NO_NODE;
}

size_t run_bytes(const Run *r)
{
    return r ? r->bytes : 0;
}

size_t run_computed(const Run *r)
{
    return r->computed;
}
