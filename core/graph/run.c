#include "core/graph/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/graph/eval.h"
#include "core/graph/fuse.h"

typedef struct Slot {
    float *values;  /* NULL: not computed, or forgotten */
    uint64_t hash;  /* of the values, taken when computed */
    bool ready;     /* values are complete */
    bool been;      /* was ready once */
    bool hashed;
    bool asked;     /* someone wanted it since the last trim */
} Slot;

struct Run {
    const Graph *graph;
    Run *base;
    Pool *pool;
    Slot *slots;
    bool *need;      /* scratch of run_step: nodes to compute, … */
    NodeId *last;    /* … and the last node that wants each */
    Job *job;        /* the nodes in progress: */
    JobNode nodes[FUSE_MAX];
    int node_count;
    size_t unhashed; /* cells computed that have no hash yet */
    NodeId known;    /* nodes there are slots for */
    double work, done; /* of the whole pass, in flops + cells */
    size_t computed, bytes;
};

static NodeId shared_with_base(const Run *r, NodeId n)
{
    return r->base ? graph_node(r->graph, n)->origin : NO_NODE;
}

/* Part of the pass that must be computed and kept by this run. */
static bool is_forward(const Run *r, NodeId n)
{
    const Node *node = graph_node(r->graph, n);
    return node->op != OP_LEAF && node->op != OP_VIEW && !(node->flags & (NODE_DERIVED | NODE_PROBE));
}

static double work_of(const Run *r, NodeId n)
{
    Cost c = graph_cost(r->graph, n);
    return is_forward(r, n) && shared_with_base(r, n) == NO_NODE ? c.flops + c.bytes / 4 : 0;
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
    for (NodeId n = 0; n < g->count; n++)
        r->work += work_of(r, n);
    return r;
}

static void forget(Run *r, NodeId n)
{
    Slot *s = &r->slots[n];
    size_t cells = graph_cells(r->graph, n);
    if (!s->values)
        return;
    pool_give(r->pool, s->values, cells);
    s->values = NULL;
    s->ready = false;
    r->bytes -= cells * sizeof(float);
}

static void drop_job(Run *r)
{
    job_free(r->job);
    r->job = NULL;
    for (int i = 0; i < r->node_count; i++)
        forget(r, r->nodes[i].id);
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
        r->work += work_of(r, i);
    }
    r->known = r->graph->count;
}

void run_free(Run *r)
{
    if (!r)
        return;
    drop_job(r);
    for (NodeId n = 0; n < r->known; n++)
        forget(r, n);
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
    if (node->op == OP_LEAF)
        return node->leaf.data;
    if (shared_with_base(r, n) != NO_NODE)
        return run_peek(r->base, node->origin);
    if (node->op == OP_VIEW)
        return run_peek(r, node->in[0]);
    return r->slots[n].ready ? r->slots[n].values : NULL;
}

static void ask(Run *r, NodeId n)
{
    n = fuse_holder(r->graph, n); /* a view of an edit may show values that are the base run's */
    r->slots[n].asked = true;
    if (shared_with_base(r, n) != NO_NODE)
        ask(r->base, graph_node(r->graph, n)->origin);
}

/* --- hashes: of several nodes at once, so that every thread has one to do --- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    return kernel_hash_step(h, x);
}

/* Four independent streams over an array's bits, so that long ones are not bound by one chain of multiplications; streams and
 * length are mixed at the end. It tells runs apart, nothing more. */
static void hash_start(uint64_t lane[KERNEL_HASH])
{
    static const uint64_t start[KERNEL_HASH] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u, 0x9ce484222325cbf2u, 0x2325cbf29ce48422u};
    memcpy(lane, start, sizeof start);
}

static uint64_t hash_end(uint64_t lane[KERNEL_HASH], const float *values, size_t n)
{
    for (size_t i = n / KERNEL_HASH * KERNEL_HASH; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        lane[i % KERNEL_HASH] = mix(lane[i % KERNEL_HASH], word);
    }
    uint64_t h = mix(0xcbf29ce484222325u, n);
    for (int l = 0; l < KERNEL_HASH; l++)
        h = mix(mix(h, lane[l] & 0xffffffffu), lane[l] >> 32);
    return h;
}

/* The hashes of up to KERNEL_HASH_ARRAYS arrays, the longest first: all together up to the end of the shortest, then the rest. */
static void hash_arrays(const float *const *values, const size_t *cells, int arrays, uint64_t *hash)
{
    uint64_t lane[KERNEL_HASH_ARRAYS * KERNEL_HASH];
    const float *from[KERNEL_HASH_ARRAYS];
    size_t done = 0;
    for (int i = 0; i < arrays; i++)
        hash_start(lane + i * KERNEL_HASH);
    for (int left = arrays; left > 0; left--) {
        size_t groups = cells[left - 1] / KERNEL_HASH - done;
        for (int i = 0; i < left; i++)
            from[i] = values[i] + done * KERNEL_HASH;
        if (groups > 0)
            kernels()->hash(lane, from, left, groups);
        done += groups;
    }
    for (int i = 0; i < arrays; i++)
        hash[i] = hash_end(lane + i * KERNEL_HASH, values[i], cells[i]);
}

uint64_t run_hash_values(const float *values, size_t n)
{
    uint64_t hash;
    hash_arrays(&values, &n, 1, &hash);
    return hash;
}

/* HASH_CELLS have been computed before they are hashed: enough for every thread to have several nodes to do side by side. */
enum { HASH_CELLS = 1 << 21, HASH_NODES = 64 };

typedef struct Hashing {
    size_t count, each; /* nodes, and how many one item does */
    struct {
        Slot *slot;
        size_t cells;
    } node[HASH_NODES]; /* longest first */
} Hashing;

static void hash_item(void *context, size_t item, int worker)
{
    (void)worker;
    Hashing *h = context;
    const float *values[KERNEL_HASH_ARRAYS] = {0};
    size_t cells[KERNEL_HASH_ARRAYS] = {0};
    uint64_t hash[KERNEL_HASH_ARRAYS];
    int n = 0;
    for (size_t i = item * h->each; i < h->count && i < (item + 1) * h->each; i++, n++) {
        values[n] = h->node[i].slot->values;
        cells[n] = h->node[i].cells;
    }
    hash_arrays(values, cells, n, hash);
    for (int i = 0; i < n; i++) {
        Slot *s = h->node[item * h->each + (size_t)i].slot;
        s->hash = hash[i];
        s->hashed = true;
    }
}

static void hash_these(Run *r, Hashing *h)
{
    const size_t threads = (size_t)pool_threads(r->pool), share = (h->count + threads - 1) / threads;
    h->each = share < 1 ? 1 : share > KERNEL_HASH_ARRAYS ? KERNEL_HASH_ARRAYS : share;
    pool_run(r->pool, 0, (h->count + h->each - 1) / h->each, hash_item, h, CLOCK_NEVER);
    h->count = 0;
}

static void hash_some(Run *r)
{
    Hashing h = {.count = 0};
    for (NodeId n = 0; n < r->known; n++) {
        Slot *s = &r->slots[n];
        if (!s->ready || s->hashed || !is_forward(r, n))
            continue;
        size_t cells = graph_cells(r->graph, n), i = h.count++;
        for (; i > 0 && h.node[i - 1].cells < cells; i--)
            h.node[i] = h.node[i - 1];
        h.node[i].slot = s;
        h.node[i].cells = cells;
        if (h.count == HASH_NODES)
            hash_these(r, &h);
    }
    hash_these(r, &h);
    r->unhashed = 0;
}

/* --- computing --- */

static void finish(Run *r)
{
    job_free(r->job);
    r->job = NULL;
    for (int i = 0; i < r->node_count; i++) {
        NodeId n = r->nodes[i].id;
        Slot *s = &r->slots[n];
        s->ready = s->values != NULL;
        r->computed++;
        if (s->been)
            continue;
        s->been = true;
        r->done += work_of(r, n);
        r->unhashed += is_forward(r, n) ? graph_cells(r->graph, n) : 0;
    }
    r->node_count = 0;
    if (r->unhashed >= HASH_CELLS)
        hash_some(r);
}

/* The job that begins with node n, of which nodes up to `end` are needed. Values that only the job wants get no memory. */
static int plan_job(const Run *r, NodeId n, NodeId end, JobNode nodes[FUSE_MAX])
{
    NodeId ids[FUSE_MAX];
    int count = 0;
    for (NodeId i = n; i <= end && count < FUSE_MAX && shared_with_base(r, i) == NO_NODE; i++)
        if (r->need[i] && graph_node(r->graph, i)->op != OP_VIEW)
            ids[count++] = i;
    count = fuse_count(r->graph, ids, count, r->last);
    for (int i = 0; i < count; i++)
        nodes[i] = (JobNode){.id = ids[i]};
    return count;
}

static bool in_progress(const Run *r, const JobNode *nodes, int count)
{
    if (!r->job || r->node_count != count)
        return false;
    for (int i = 0; i < count; i++) {
        bool wanted = !(graph_node(r->graph, nodes[i].id)->flags & NODE_DERIVED) || r->last[nodes[i].id] > nodes[count - 1].id;
        if (r->nodes[i].id != nodes[i].id || (wanted && !r->nodes[i].out))
            return false;
    }
    return true;
}

static void start_job(Run *r, const JobNode *nodes, int count)
{
    const Graph *g = r->graph;
    r->node_count = count;
    for (int i = 0; i < count; i++) {
        NodeId n = nodes[i].id;
        const Node *node = graph_node(g, n);
        JobNode *j = &r->nodes[i];
        *j = (JobNode){.id = n};
        for (int k = 0; k < op_inputs(node->op); k++)
            j->in[k] = run_peek(r, node->in[k]);
        if ((node->flags & NODE_DERIVED) && r->last[n] <= nodes[count - 1].id)
            continue;
        size_t cells = graph_cells(g, n);
        j->out = r->slots[n].values = pool_take(r->pool, cells);
        r->bytes += cells * sizeof(float);
    }
    r->job = job_new(g, r->nodes, count, r->pool);
}

/* Computes the job that begins with n, whose inputs are all there. */
static bool compute(Run *r, NodeId n, NodeId end, int64_t deadline)
{
    JobNode nodes[FUSE_MAX];
    int count = plan_job(r, n, end, nodes);
    if (!in_progress(r, nodes, count)) {
        drop_job(r); /* another request came first: those nodes start again later, with the same bits */
        start_job(r, nodes, count);
    }
    if (!job_step(r->job, deadline))
        return false;
    for (int i = 0; i < count; i++)
        r->need[nodes[i].id] = false;
    finish(r);
    return true;
}

static void want(Run *r, NodeId n, NodeId by)
{
    r->need[n] = true;
    if (r->last[n] < by)
        r->last[n] = by;
}

/* Marks what is needed to have node n, or the whole pass for n = NO_NODE, and nobody has, in r->need[0 … last node]; in r->last
 * who wants it last. What is asked for itself is wanted by all that come. */
static void mark_missing(Run *r, NodeId n)
{
    const NodeId count = r->graph->count;
    for (NodeId i = 0; i < count; i++) {
        r->need[i] = n == NO_NODE && is_forward(r, i) && !r->slots[i].been && shared_with_base(r, i) == NO_NODE;
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
        if (shared_with_base(r, i) != NO_NODE)
            continue; /* the base run computes it */
        const Node *node = graph_node(r->graph, i);
        for (int k = 0; k < op_inputs(node->op); k++)
            want(r, node->in[k], node->op == OP_VIEW ? r->last[i] : i);
    }
}

static bool compute_marked(Run *r, NodeId end, int64_t deadline)
{
    for (NodeId i = 0; i <= end; i++) {
        if (!r->need[i])
            continue;
        const Node *node = graph_node(r->graph, i);
        if (shared_with_base(r, i) != NO_NODE) {
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

bool run_step(Run *r, NodeId n, int64_t deadline_ns)
{
    if (!run_peek(r, n)) {
        mark_missing(r, n);
        compute_marked(r, n, deadline_ns);
    }
    ask(r, n);
    return run_peek(r, n) != NULL;
}

bool run_step_all(Run *r, int64_t deadline_ns)
{
    if (r->base && !run_step_all(r->base, deadline_ns))
        return false;
    mark_missing(r, NO_NODE);
    compute_marked(r, r->graph->count - 1, deadline_ns);
    if (!run_complete(r))
        return false;
    hash_some(r);
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
        share += r->slots[r->nodes[i].id].been ? 0 : job_progress(r->job) * work_of(r, r->nodes[i].id) / r->work;
    return run_complete(r) ? 1 : share < 1 ? share : 1;
}

bool run_complete(const Run *r)
{
    if (r->base && !run_complete(r->base))
        return false;
    for (NodeId n = 0; n < r->graph->count; n++)
        if (is_forward(r, n) && shared_with_base(r, n) == NO_NODE && !r->slots[n].been)
            return false;
    return true;
}

NodeId run_current(const Run *r)
{
    return r->job ? r->nodes[r->node_count - 1].id : NO_NODE;
}

void run_trim(Run *r)
{
    const Graph *g = r->graph;
    for (int i = 0; i < r->node_count; i++) { /* what the job reads may be the base run's */
        const Node *node = graph_node(g, r->nodes[i].id);
        for (int k = 0; k < op_inputs(node->op); k++)
            ask(r, node->in[k]);
    }
    memset(r->need, 0, (size_t)g->count);
    for (NodeId n = 0; n < g->count; n++) /* inputs of nodes still to come stay */
        if (!(graph_node(g, n)->flags & NODE_PROBE) && graph_node(g, n)->op != OP_LEAF && graph_node(g, n)->op != OP_VIEW &&
            !r->slots[n].been && shared_with_base(r, n) == NO_NODE)
            for (int k = 0; k < op_inputs(graph_node(g, n)->op); k++)
                r->need[fuse_holder(g, graph_node(g, n)->in[k])] = true;
    for (NodeId n = 0; n < g->count; n++) {
        Slot *s = &r->slots[n];
        if ((graph_node(g, n)->flags & NODE_DERIVED) && s->ready && !s->asked && !r->need[n])
            forget(r, n);
        s->asked = false;
    }
    if (r->base)
        run_trim(r->base);
}

size_t run_bytes(const Run *r)
{
    return r->bytes;
}

size_t run_computed(const Run *r)
{
    return r->computed;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = mix(h, (unsigned char)*s);
    return mix(h, 0x100);
}

static uint64_t value_hash(const Run *r, NodeId n)
{
    NodeId origin = shared_with_base(r, n);
    if (origin != NO_NODE)
        return value_hash(r->base, origin);
    const Slot *s = &r->slots[n];
    return s->hashed ? s->hash : run_hash_values(s->values, graph_cells(r->graph, n));
}

/* A leaf that is no weight: the picture, or values that an edit put in a node's place, which the nodes after it need not show. */
static bool put_in(const Node *n)
{
    return n->op == OP_LEAF && (n->leaf.kind == LEAF_INPUT || ((n->flags & NODE_EDITED) && n->counterpart != NO_NODE)) &&
           !(n->flags & NODE_PROBE);
}

bool run_hash(const Run *r, uint64_t *hash)
{
    if (!run_complete(r))
        return false;
    const Graph *g = r->graph;
    uint64_t h = 0xcbf29ce484222325u;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        bool input = put_in(node);
        if (!is_forward(r, n) && !input)
            continue;
        h = mix_text(h, node->path);
        for (int i = 0; i < node->dims.n; i++)
            h = mix(mix_text(h, g->axes[node->dims.axis[i]].sym), (uint64_t)g->axes[node->dims.axis[i]].n);
        uint64_t v = input ? run_hash_values(node->leaf.data, graph_cells(g, n)) : value_hash(r, n);
        h = mix(mix(h, v & 0xffffffffu), v >> 32);
    }
    *hash = h;
    return true;
}
