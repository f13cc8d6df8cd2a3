#include "core/graph/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/graph/eval.h"

enum { LINE = 16, NO_USE = -1, FOR_GOOD = INT_MAX };

/* A place where a job reads a leaf, and the next place where the same leaf is read (NO_USE: none). */
typedef struct Use {
    int job, node, input, next;
} Use;

/* A leaf that is read: where its data are, and who must know when they are elsewhere. */
typedef struct Source {
    NodeId leaf;
    const float *given; /* by plan_leaf, or NULL: as the graph says */
    float *made;        /* floats of a leaf that is stored otherwise, where somebody wants them; the plan's */
    const float *now;   /* what the jobs were told */
    int uses;           /* the first of them, or NO_USE */
} Source;

struct Plan {
    const Graph *graph;
    Job **jobs;
    int job_count, next; /* next: of plan_step */
    bool begun;          /* a computation that stopped half way */
    Source *sources;
    int source_count;
    Use *uses;
    NodeId *holder; /* [nodes] of wanted nodes: who has their values; else NO_NODE */
    size_t *at;     /* [nodes] where in values the cells of a stored node are */
    int *source_of; /* [nodes] of leaves, or -1 */
    size_t floats, scratch_floats;
    float *values, *scratch;
};

/* --- planning --- */

/* What plan_new knows of the nodes, and then throws away. */
typedef struct Sketch {
    const Graph *graph;
    bool *need;       /* [nodes] */
    NodeId *last;     /* [nodes] the last node that reads it; the number of nodes where it is wanted */
    int *job, *until; /* [nodes] the job that makes it, the last job that reads it */
    NodeId *order;    /* the nodes of all jobs, one job after the other */
    int *first;       /* [jobs + 1] in order */
    int jobs;
} Sketch;

static void want(Sketch *s, NodeId n, NodeId by)
{
    s->need[n] = true;
    if (s->last[n] < by)
        s->last[n] = by;
}

static void mark_needed(Sketch *s, const NodeId *wanted, int count)
{
    const Graph *g = s->graph;
    for (NodeId n = 0; n < g->count; n++)
        s->last[n] = NO_NODE;
    for (int i = 0; i < count; i++)
        want(s, wanted[i], g->count);
    for (NodeId n = g->count - 1; n >= 0; n--) {
        const Node *node = graph_node(g, n);
        for (int k = 0; s->need[n] && k < op_inputs(node->op); k++)
            if (!leaf_read_as_stored(g, n, k))
                want(s, node->in[k], node->op == OP_VIEW ? s->last[n] : n);
    }
}

static bool computed(const Graph *g, NodeId n)
{
    Op op = graph_node(g, n)->op;
    return op != OP_LEAF && op != OP_VIEW;
}

/* The same jobs that a run makes. */
static void group(Sketch *s)
{
    const Graph *g = s->graph;
    int all = 0;
    for (NodeId n = 0; n < g->count; n++)
        if (s->need[n] && computed(g, n))
            s->order[all++] = n;
    for (int i = 0; i < all; s->jobs++) {
        int count = fuse_count(g, s->order + i, all - i < FUSE_MAX ? all - i : FUSE_MAX, s->last);
        s->first[s->jobs] = i;
        for (int k = 0; k < count; k++)
            s->job[s->order[i + k]] = s->jobs;
        i += count;
    }
    s->first[s->jobs] = all;
    for (NodeId n = 0; n < g->count; n++)
        if (s->need[n] && computed(g, n))
            s->until[n] = s->last[n] == g->count ? FOR_GOOD : s->job[s->last[n]];
}

static Sketch sketch_make(const Graph *g, const NodeId *wanted, int count)
{
    const size_t n = (size_t)g->count;
    Sketch s = {.graph = g};
    s.need = xcalloc(n, sizeof *s.need);
    s.last = xcalloc(n, sizeof *s.last);
    s.job = xcalloc(n, sizeof *s.job);
    s.until = xcalloc(n, sizeof *s.until);
    s.order = xcalloc(n, sizeof *s.order);
    s.first = xcalloc(n + 1, sizeof *s.first);
    mark_needed(&s, wanted, count);
    group(&s);
    return s;
}

static void sketch_free(Sketch *s)
{
    free(s->need);
    free(s->last);
    free(s->job);
    free(s->until);
    free(s->order);
    free(s->first);
}

/* Floats in use, by their place. */
typedef struct Held {
    size_t first, count;
    int until;
} Held;

/* The lowest gap that is large enough: what is written is what was read a moment ago. */
static size_t find_room(Held *held, size_t *n, size_t count, int until)
{
    size_t first = 0, i = 0;
    for (; i < *n && held[i].first - first < count; i++)
        first = held[i].first + held[i].count;
    memmove(held + i + 1, held + i, (*n - i) * sizeof *held);
    held[i] = (Held){first, count, until};
    ++*n;
    return first;
}

static size_t let_go(Held *held, size_t n, int job)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (held[i].until != job)
            held[kept++] = held[i];
    return kept;
}

static void place_values(Plan *p, const Sketch *s)
{
    const int all = s->first[s->jobs];
    Held *held = xcalloc((size_t)all, sizeof *held);
    size_t n = 0;
    for (int j = 0; j < s->jobs; j++) {
        for (int i = s->first[j]; i < s->first[j + 1]; i++) {
            NodeId id = s->order[i];
            if (s->until[id] == j)
                continue; /* nobody else reads it */
            size_t count = size_add(graph_cells(p->graph, id), LINE - 1) / LINE * LINE;
            p->at[id] = find_room(held, &n, count, s->until[id]);
            p->floats = p->at[id] + count > p->floats ? p->at[id] + count : p->floats;
        }
        n = let_go(held, n, j);
    }
    free(held);
    p->values = xfloats(p->floats);
}

static const float *leaf_data(const Plan *p, const Source *s)
{
    return s->given ? s->given : s->made ? s->made : graph_node(p->graph, s->leaf)->leaf.data;
}

static void find_sources(Plan *p, const Sketch *s)
{
    for (NodeId n = 0; n < p->graph->count; n++) {
        p->source_of[n] = -1;
        if (!s->need[n] || graph_node(p->graph, n)->op != OP_LEAF)
            continue;
        const Node *node = graph_node(p->graph, n);
        const size_t cells = node->store.form == LEAF_FLOATS ? 0 : graph_cells(p->graph, n);
        graph_fill(p->graph, n, CLOCK_NEVER);
        p->source_of[n] = p->source_count;
        Source *made = &p->sources[p->source_count++];
        *made = (Source){.leaf = n, .made = cells ? xfloats(cells) : NULL, .uses = NO_USE};
        if (cells)
            leaf_read(p->graph, node, 0, cells, made->made);
        made->now = leaf_data(p, made);
    }
}

static void list_uses(Plan *p, const Sketch *s)
{
    const Graph *g = p->graph;
    int count = 0;
    p->uses = xcalloc(size_mul((size_t)s->first[s->jobs], NODE_INPUTS), sizeof *p->uses);
    for (int j = 0; j < s->jobs; j++)
        for (int i = s->first[j]; i < s->first[j + 1]; i++) {
            const Node *node = graph_node(g, s->order[i]);
            for (int k = 0; k < op_inputs(node->op); k++) {
                int from = p->source_of[fuse_holder(g, node->in[k])];
                if (from < 0 || leaf_read_as_stored(g, s->order[i], k))
                    continue;
                p->uses[count] = (Use){j, i - s->first[j], k, p->sources[from].uses};
                p->sources[from].uses = count++;
            }
        }
}

static void make_jobs(Plan *p, const Sketch *s)
{
    const Graph *g = p->graph;
    for (int j = 0; j < s->jobs; j++) {
        JobNode nodes[FUSE_MAX];
        const int count = s->first[j + 1] - s->first[j];
        for (int i = 0; i < count; i++) {
            NodeId id = s->order[s->first[j] + i];
            const Node *node = graph_node(g, id);
            nodes[i] = (JobNode){.id = id, .out = s->until[id] == j ? NULL : p->values + p->at[id]};
            for (int k = 0; k < op_inputs(node->op); k++) {
                NodeId from = fuse_holder(g, node->in[k]);
                nodes[i].in[k] = leaf_read_as_stored(g, id, k) ? NULL
                                 : p->source_of[from] >= 0     ? p->sources[p->source_of[from]].now
                                 : s->job[from] == j           ? NULL
                                                               : p->values + p->at[from];
            }
        }
        p->jobs[j] = job_plan(g, nodes, count);
        p->scratch_floats = job_scratch(p->jobs[j]) > p->scratch_floats ? job_scratch(p->jobs[j]) : p->scratch_floats;
    }
    p->job_count = s->jobs;
    p->scratch = xfloats(p->scratch_floats);
    for (int j = 0; j < p->job_count; j++)
        job_lend(p->jobs[j], p->scratch);
}

Plan *plan_new(const Graph *g, const NodeId *wanted, int count)
{
    Sketch s = sketch_make(g, wanted, count);
    const size_t n = (size_t)g->count;
    Plan *p = xcalloc(1, sizeof *p);
    p->graph = g;
    p->jobs = xcalloc((size_t)s.jobs, sizeof *p->jobs);
    p->sources = xcalloc(n, sizeof *p->sources);
    p->holder = xcalloc(n, sizeof *p->holder);
    p->at = xcalloc(n, sizeof *p->at);
    p->source_of = xcalloc(n, sizeof *p->source_of);
    for (NodeId i = 0; i < g->count; i++)
        p->holder[i] = s.last[i] == g->count ? fuse_holder(g, i) : NO_NODE;
    find_sources(p, &s);
    list_uses(p, &s);
    place_values(p, &s);
    make_jobs(p, &s);
    sketch_free(&s);
    return p;
}

void plan_free(Plan *p)
{
    if (!p)
        return;
    for (int j = 0; j < p->job_count; j++)
        job_free(p->jobs[j]);
    for (int i = 0; i < p->source_count; i++)
        free(p->sources[i].made);
    free(p->jobs);
    free(p->sources);
    free(p->uses);
    free(p->holder);
    free(p->at);
    free(p->source_of);
    free(p->values);
    free(p->scratch);
    free(p);
}

/* --- computing --- */

void plan_leaf(Plan *p, NodeId n, const float *data)
{
    REQUIRE(graph_node(p->graph, n)->op == OP_LEAF && !graph_stored(p->graph, n));
    if (p->source_of[n] >= 0) /* else nothing that is wanted depends on it */
        p->sources[p->source_of[n]].given = data;
}

static void point_at_leaves(Plan *p)
{
    for (int i = 0; i < p->source_count; i++) {
        Source *s = &p->sources[i];
        const float *data = leaf_data(p, s);
        if (data == s->now)
            continue;
        s->now = data;
        for (int u = s->uses; u != NO_USE; u = p->uses[u].next)
            job_point(p->jobs[p->uses[u].job], p->uses[u].node, p->uses[u].input, data);
    }
}

void plan_compute(Plan *p)
{
    p->next = 0;
    plan_step(p, CLOCK_NEVER);
}

bool plan_step(Plan *p, int64_t deadline_ns)
{
    if (!p->begun)
        point_at_leaves(p);
    p->begun = true;
    while (p->next < p->job_count) {
        if (!job_run(p->jobs[p->next], deadline_ns))
            return false;
        p->next++;
        if (deadline_ns != CLOCK_NEVER && p->next < p->job_count && clock_ns() >= deadline_ns)
            return false;
    }
    p->next = 0;
    p->begun = false;
    return true;
}

const float *plan_values(const Plan *p, NodeId n)
{
    REQUIRE(n >= 0 && n < p->graph->count && p->holder[n] != NO_NODE);
    const NodeId from = p->holder[n];
    return p->source_of[from] >= 0 ? leaf_data(p, &p->sources[p->source_of[from]]) : p->values + p->at[from];
}

size_t plan_bytes(const Plan *p)
{
    return (p->floats + p->scratch_floats) * sizeof(float);
}

size_t plan_jobs(const Plan *p)
{
    return (size_t)p->job_count;
}

/* The most cells of one row: what must be computed between two looks at the clock. */
enum { ROW_CELLS = 65536 };

NodeId fuse_holder(const Graph *g, NodeId n)
{
    while (graph_node(g, n)->op == OP_VIEW)
        n = graph_node(g, n)->in[0];
    return n;
}

bool fuse_by_rows(Op op)
{
    return (op >= OP_ADD && op <= OP_DIV) || op == OP_WHERE || op == OP_MAP || op == OP_SUM || op == OP_MAX;
}

static bool adds_bias(const Graph *g, NodeId contraction, NodeId n, const NodeId *last)
{
    const Node *c = graph_node(g, contraction), *node = graph_node(g, n);
    return (c->flags & NODE_DERIVED) && last[contraction] == n && node->op == OP_ADD && node->in[0] == contraction &&
           node->in[1] != contraction && dims_equal(node->dims, c->dims) &&
           dims_minus(graph_node(g, node->in[1])->dims, contraction_columns(g, contraction)).n == 0;
}

static Dims common_front(Dims a, Dims b)
{
    Dims d = DIMS_SCALAR;
    while (d.n < a.n && d.n < b.n && a.axis[d.n] == b.axis[d.n]) {
        d.axis[d.n] = a.axis[d.n];
        d.n++;
    }
    return d;
}

Dims fuse_rows(const Graph *g, const NodeId *nodes, int count)
{
    Dims rows = graph_node(g, nodes[0])->dims;
    for (int i = 1; i < count; i++)
        rows = common_front(rows, graph_node(g, nodes[i])->dims);
    return rows;
}

/* Cells that a row of n reads or writes. */
static size_t row_cells(const Graph *g, NodeId n, Dims rows)
{
    return graph_dims_cells(g, dims_minus(graph_node(g, n)->dims, rows)) * graph_dims_cells(g, graph_reduced(g, n));
}

/* A view renames axes: what is made in the job may be read through it only under the same shape. */
static bool reads_rows(const Graph *g, NodeId n, const NodeId *nodes, int count)
{
    const Node *node = graph_node(g, n);
    for (int k = 0; k < op_inputs(node->op); k++) {
        NodeId holder = fuse_holder(g, node->in[k]);
        for (int i = 0; i < count; i++)
            if (nodes[i] == holder && !dims_equal(graph_node(g, holder)->dims, graph_node(g, node->in[k])->dims))
                return false;
    }
    return true;
}

int fuse_count(const Graph *g, const NodeId *nodes, int count, const NodeId *last)
{
    if (count > 1 && graph_node(g, nodes[0])->op == OP_CONTRACT)
        return adds_bias(g, nodes[0], nodes[1], last) ? 2 : 1;
    if (!fuse_by_rows(graph_node(g, nodes[0])->op))
        return 1;
    Dims rows = graph_node(g, nodes[0])->dims;
    int n = 1;
    for (; n < count && n < FUSE_MAX; n++) {
        const Node *node = graph_node(g, nodes[n]);
        Dims fewer = common_front(rows, node->dims);
        if (!fuse_by_rows(node->op) || fewer.n == 0 || !reads_rows(g, nodes[n], nodes, n))
            break;
        bool small = true;
        for (int i = 0; i <= n; i++)
            small = small && row_cells(g, nodes[i], fewer) <= ROW_CELLS;
        if (!small)
            break;
        rows = fewer;
    }
    return n;
}
