#include "core/graph/run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/graph/eval.h"

typedef struct Slot {
    float *values;  /* NULL: not computed, or forgotten */
    uint64_t hash;  /* of the values, taken when computed */
    bool ready;     /* values are complete */
    bool been;      /* was ready once: hash is valid */
    bool asked;     /* someone wanted it since the last trim */
} Slot;

struct Run {
    const Graph *graph;
    Run *base;
    Pool *pool;
    Slot *slots;
    bool *need;      /* scratch of run_step */
    Job *job;        /* the node in progress */
    NodeId current;
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
    r->current = NO_NODE;
    r->known = g->count;
    for (NodeId n = 0; n < g->count; n++)
        r->work += work_of(r, n);
    return r;
}

static void forget(Run *r, NodeId n)
{
    Slot *s = &r->slots[n];
    if (!s->values)
        return;
    free(s->values);
    s->values = NULL;
    s->ready = false;
    r->bytes -= graph_cells(r->graph, n) * sizeof(float);
}

static void drop_job(Run *r)
{
    if (!r->job)
        return;
    NodeId unfinished = r->current;
    job_free(r->job);
    r->job = NULL;
    r->current = NO_NODE;
    forget(r, unfinished);
}

void run_extend(Run *r)
{
    drop_job(r); /* it points into the old node list */
    size_t n = (size_t)r->graph->count;
    r->slots = xrealloc(r->slots, size_mul(n, sizeof *r->slots));
    r->need = xrealloc(r->need, size_mul(n, sizeof *r->need));
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
    job_free(r->job);
    for (NodeId n = 0; n < r->graph->count; n++)
        free(r->slots[n].values);
    free(r->slots);
    free(r->need);
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

/* The node whose slot holds n's values: views looked through. */
static NodeId holder(const Run *r, NodeId n)
{
    while (graph_node(r->graph, n)->op == OP_VIEW)
        n = graph_node(r->graph, n)->in[0];
    return n;
}

static void ask(Run *r, NodeId n)
{
    r->slots[holder(r, n)].asked = true;
    if (shared_with_base(r, n) != NO_NODE)
        ask(r->base, graph_node(r->graph, n)->origin);
}

static void finish(Run *r, NodeId n)
{
    Slot *s = &r->slots[n];
    job_free(r->job);
    r->job = NULL;
    r->current = NO_NODE;
    s->ready = true;
    r->computed++;
    if (!s->been) {
        s->been = true;
        if (is_forward(r, n))
            s->hash = run_hash_values(s->values, graph_cells(r->graph, n));
        r->done += work_of(r, n);
    }
}

/* Computes n, whose inputs are all there. */
static bool compute(Run *r, NodeId n, int64_t deadline)
{
    const Node *node = graph_node(r->graph, n);
    if (r->current != n) {
        drop_job(r); /* another request came first: that node starts again later, with the same bits */
        const float *in[NODE_INPUTS] = {0};
        for (int k = 0; k < op_inputs(node->op); k++)
            in[k] = run_peek(r, node->in[k]);
        size_t cells = graph_cells(r->graph, n);
        r->slots[n].values = xfloats(cells);
        r->bytes += cells * sizeof(float);
        r->job = job_new(r->graph, n, in, r->slots[n].values, pool_threads(r->pool));
        r->current = n;
    }
    if (!job_step(r->job, r->pool, deadline))
        return false;
    finish(r, n);
    return true;
}

/* Marks what n needs and nobody has, in r->need[0 … n]. */
static void mark_missing(Run *r, NodeId n)
{
    memset(r->need, 0, (size_t)n + 1);
    r->need[n] = true;
    for (NodeId i = n; i >= 0; i--) {
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
            r->need[node->in[k]] = true;
    }
}

static bool ensure(Run *r, NodeId n, int64_t deadline)
{
    if (run_peek(r, n))
        return true;
    mark_missing(r, n);
    for (NodeId i = 0; i <= n; i++) {
        if (!r->need[i])
            continue;
        const Node *node = graph_node(r->graph, i);
        if (shared_with_base(r, i) != NO_NODE) {
            if (!run_step(r->base, node->origin, deadline))
                return false;
        } else if (node->op != OP_VIEW && !compute(r, i, deadline))
            return false;
        if (i < n && clock_ns() >= deadline)
            return false;
    }
    return true;
}

bool run_step(Run *r, NodeId n, int64_t deadline_ns)
{
    bool there = ensure(r, n, deadline_ns);
    ask(r, n);
    return there;
}

bool run_step_all(Run *r, int64_t deadline_ns)
{
    if (r->base && !run_step_all(r->base, deadline_ns))
        return false;
    for (NodeId n = 0; n < r->graph->count; n++) {
        if (!is_forward(r, n) || r->slots[n].been || shared_with_base(r, n) != NO_NODE)
            continue;
        if (!ensure(r, n, deadline_ns))
            return false;
        if (clock_ns() >= deadline_ns)
            return run_complete(r);
    }
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
    if (r->job && r->work > 0)
        share += job_progress(r->job) * work_of(r, r->current) / r->work;
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
    return r->current;
}

void run_trim(Run *r)
{
    const Graph *g = r->graph;
    if (r->job) /* its inputs may be the base run's */
        for (int k = 0; k < op_inputs(graph_node(g, r->current)->op); k++)
            ask(r, graph_node(g, r->current)->in[k]);
    memset(r->need, 0, (size_t)g->count);
    for (NodeId n = 0; n < g->count; n++) /* inputs of nodes still to come stay */
        if (!(graph_node(g, n)->flags & NODE_PROBE) && graph_node(g, n)->op != OP_LEAF && graph_node(g, n)->op != OP_VIEW &&
            !r->slots[n].been && shared_with_base(r, n) == NO_NODE)
            for (int k = 0; k < op_inputs(graph_node(g, n)->op); k++)
                r->need[holder(r, graph_node(g, n)->in[k])] = true;
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

/* FNV-1a's multiply with a rotation, four independent streams over little-endian 32-bit words so that long tensors are not
 * bound by one chain of multiplications; streams and length are mixed at the end. Not cryptographic: it tells runs apart. */
static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x100000001b3u;
    return h ^ (h >> 29);
}

uint64_t run_hash_values(const float *values, size_t n)
{
    uint64_t lane[4] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u, 0x9ce484222325cbf2u, 0x2325cbf29ce48422u};
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        lane[i % 4] = mix(lane[i % 4], word);
    }
    uint64_t h = mix(0xcbf29ce484222325u, n);
    for (int l = 0; l < 4; l++)
        h = mix(mix(h, lane[l] & 0xffffffffu), lane[l] >> 32);
    return h;
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
    return origin != NO_NODE ? value_hash(r->base, origin) : r->slots[n].hash;
}

bool run_hash(const Run *r, uint64_t *hash)
{
    if (!run_complete(r))
        return false;
    const Graph *g = r->graph;
    uint64_t h = 0xcbf29ce484222325u;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        bool input = node->op == OP_LEAF && node->leaf.kind == LEAF_INPUT;
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
