#include "core/graph/eval.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/contract.h"
#include "core/graph/fuse.h"
#include "core/graph/source.h"
#include "core/graph/walk.h"

/* About how many cells (times reduced cells) of the widest node one item handles: with its neighbours they stay in cache, and an
 * item takes well under a millisecond in portable C. */
enum { ITEM_CELLS = 8192, LINE = 16 };

/* The cells of one part that an item computes, and where they and their inputs are. */
typedef struct Span {
    size_t first, count;       /* in the node's cells */
    float *out;                /* cell `first` */
    const float *in[NODE_INPUTS];
    size_t start[NODE_INPUTS]; /* the input cell that in[k] points at */
    float *gather;             /* reductions of scattered cells: room for one row */
} Span;

/* One node of a job. */
typedef struct Part Part;
typedef void SpanFn(const Job *j, const Part *p, const Span *s);
struct Part {
    JobNode is;
    const Node *node;
    SpanFn *fn;
    int from[NODE_INPUTS]; /* the part that makes the input, or -1 */
    size_t width;          /* cells of one row */
    size_t scratch;        /* out NULL: where a worker's scratch has its cells */
    Walk walk;             /* elementwise: out, a, b, c; reductions: over the output: out, a */
    Walk inner;            /* reductions: the reduced cells in a */
    bool contiguous;       /* reductions: one after the other */
    Moved moved;
};

struct Job {
    const Graph *graph;
    const Kernels *kernels;
    Pool *pool;
    int parts;
    Part part[FUSE_MAX];
    bool contracts;
    Contraction contraction;
    size_t rows, per_item; /* rows in all and in one item */
    size_t gather;         /* where a worker's scratch has room for a gathered row */
    size_t scratch_floats, shared_floats, scratch_total; /* of every worker; of all together; in all */
    float *scratch;
    PoolFn fn;
    void *context;
    size_t prepares, items, next; /* the first items prepare the others */
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The cells of a span cut into runs in which every operand has one constant step. */
typedef void RunFn(const Job *j, const Part *p, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n);

static void each_run(const Job *j, const Part *p, const Span *s, RunFn *fn)
{
    const Walk *w = &p->walk;
    const int inputs = op_inputs(p->node->op);
    size_t len = w->n ? w->len[w->n - 1] : 1, step[NODE_INPUTS] = {0};
    for (int k = 0; k < inputs; k++)
        step[k] = w->n ? w->stride[k + 1][w->n - 1] : 0;
    WalkPlace place = walk_place(w, s->first);
    for (size_t done = 0, n; done < s->count; done += n) {
        n = min_size(w->n ? len - place.index[w->n - 1] : 1, s->count - done);
        const float *x[NODE_INPUTS] = {0};
        for (int k = 0; k < inputs; k++)
            x[k] = s->in[k] + (place.offset[k + 1] - s->start[k]);
        fn(j, p, s->out + done, x, step, n);
        walk_next_run(w, &place);
    }
}

static void zip_run(const Job *j, const Part *p, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n)
{
    ZipFn f = (ZipFn)(p->node->op - OP_ADD);
    if (step[0] <= 1 && step[1] <= 1) {
        j->kernels->zip[f](y, x[0], step[0], x[1], step[1], n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = kernel_canonical(zip_apply(f, x[0][i * step[0]], x[1][i * step[1]]));
}

static void where_run(const Job *j, const Part *p, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n)
{
    (void)j, (void)p;
    for (size_t i = 0; i < n; i++)
        y[i] = x[0][i * step[0]] != 0.0f ? x[1][i * step[1]] : x[2][i * step[2]];
}

static void zip_span(const Job *j, const Part *p, const Span *s)
{
    each_run(j, p, s, zip_run);
}

static void where_span(const Job *j, const Part *p, const Span *s)
{
    each_run(j, p, s, where_run);
}

static void map_span(const Job *j, const Part *p, const Span *s)
{
    j->kernels->map[p->node->map](s->out, s->in[0] + (s->first - s->start[0]), s->count);
}

static void reduce_span(const Job *j, const Part *p, const Span *s)
{
    ReduceKernel *reduce = p->node->op == OP_SUM ? j->kernels->sum : j->kernels->max;
    WalkPlace place = walk_place(&p->walk, s->first);
    for (size_t i = 0; i < s->count; i++) {
        const float *x = s->in[0] + (place.offset[1] - s->start[0]);
        if (!p->contiguous) {
            size_t at[WALK_OPERANDS];
            for (size_t k = 0; k < p->inner.count; k++) {
                walk_at(&p->inner, k, at);
                s->gather[k] = x[at[0]];
            }
            x = s->gather;
        }
        s->out[i] = reduce(x, p->inner.count);
        walk_next_cell(&p->walk, &place);
    }
}

static void move_span(const Job *j, const Part *p, const Span *s)
{
    size_t inner = p->moved.inner;
    for (size_t i = 0; i < s->count; i += inner) {
        int which;
        size_t from = moved_row(j->graph, p->is.id, &p->moved, (s->first + i) / inner, &which);
        memcpy(s->out + i, s->in[which] + from, inner * sizeof *s->out);
    }
}

static void rows_item(void *job, size_t item, int worker)
{
    const Job *j = job;
    size_t row = item * j->per_item, rows = min_size(j->per_item, j->rows - row);
    float *scratch = j->scratch ? j->scratch + (size_t)worker * j->scratch_floats : NULL;
    for (int i = 0; i < j->parts; i++) {
        const Part *p = &j->part[i];
        Span s = {.first = row * p->width, .count = rows * p->width, .gather = scratch ? scratch + j->gather : NULL};
        s.out = p->is.out ? p->is.out + s.first : scratch + p->scratch;
        for (int k = 0; k < op_inputs(p->node->op); k++) {
            const Part *from = p->from[k] >= 0 ? &j->part[p->from[k]] : NULL;
            bool hidden = from && !from->is.out;
            s.in[k] = hidden ? scratch + from->scratch : from ? from->is.out : p->is.in[k];
            s.start[k] = hidden ? row * from->width : 0;
        }
        p->fn(j, p, &s);
    }
}

/* --- planning --- */

static SpanFn *const SPAN_FN[OP_COUNT] = {
    [OP_ADD] = zip_span,   [OP_SUB] = zip_span,    [OP_MUL] = zip_span,    [OP_DIV] = zip_span,  [OP_WHERE] = where_span,
    [OP_MAP] = map_span,   [OP_SUM] = reduce_span, [OP_MAX] = reduce_span, [OP_CONCAT] = move_span,
    [OP_SLICE] = move_span, [OP_GATHER] = move_span,
};

static void find_sources(Job *j, Part *p)
{
    for (int k = 0; k < NODE_INPUTS; k++) {
        p->from[k] = -1;
        if (k >= op_inputs(p->node->op) || p->is.in[k])
            continue;
        for (int i = 0; i < j->parts; i++)
            if (j->part[i].is.id == fuse_holder(j->graph, p->node->in[k]))
                p->from[k] = i;
        REQUIRE(p->from[k] >= 0);
    }
}

static void plan_walks(const Graph *g, Part *p)
{
    Dims d[WALK_OPERANDS] = {p->node->dims};
    const int inputs = op_inputs(p->node->op);
    for (int k = 0; k < inputs; k++)
        d[k + 1] = graph_node(g, p->node->in[k])->dims;
    if (p->fn == move_span) {
        p->moved = moved_make(g, p->is.id);
        return;
    }
    p->walk = walk_make(g->axes, p->node->dims, d, inputs + 1);
    if (p->fn == reduce_span) {
        p->inner = walk_make(g->axes, graph_reduced(g, p->is.id), &d[1], 1);
        p->contiguous = p->inner.n == 0 || (p->inner.n == 1 && p->inner.stride[0][0] == 1);
    }
}

static size_t to_lines(size_t floats)
{
    return size_add(floats, LINE - 1) / LINE * LINE;
}

static void plan_scratch(Job *j)
{
    size_t floats = 0, row = 0;
    for (int i = 0; i < j->parts; i++) {
        Part *p = &j->part[i];
        p->scratch = floats;
        if (!p->is.out)
            floats = size_add(floats, to_lines(size_mul(j->per_item, p->width)));
        if (p->fn == reduce_span && !p->contiguous)
            row = max_size(row, p->inner.count);
    }
    j->gather = floats;
    j->scratch_floats = to_lines(size_add(floats, row));
}

static void plan_rows(Job *j, const NodeId *ids)
{
    const Graph *g = j->graph;
    Dims rows = fuse_rows(g, ids, j->parts);
    size_t widest = 1;
    j->rows = graph_dims_cells(g, rows);
    for (int i = 0; i < j->parts; i++) {
        Part *p = &j->part[i];
        p->fn = SPAN_FN[p->node->op];
        REQUIRE(p->fn);
        find_sources(j, p);
        plan_walks(g, p);
        p->width = graph_cells(g, p->is.id) / j->rows;
        if (p->fn == move_span) { /* alone in its job */
            p->width = p->moved.inner;
            j->rows = graph_cells(g, p->is.id) / p->width;
        }
        widest = max_size(widest, size_mul(p->width, p->fn == reduce_span ? p->inner.count : 1));
    }
    j->per_item = max_size(ITEM_CELLS / widest, 1);
    plan_scratch(j);
    j->fn = rows_item;
    j->context = j;
    j->items = (j->rows + j->per_item - 1) / j->per_item;
}

static void plan_contraction(Job *j)
{
    const JobNode *n = &j->part[0].is, *sum = j->parts > 1 ? &j->part[1].is : NULL;
    Dims bias = sum ? graph_node(j->graph, j->part[1].node->in[1])->dims : DIMS_SCALAR;
    j->contracts = true;
    contraction_init(&j->contraction, j->graph, n->id, n->in[0], n->in[1], sum ? sum->in[1] : NULL, bias, sum ? sum->out : n->out,
                     pool_threads(j->pool));
    j->fn = contraction_item;
    j->context = &j->contraction;
    j->prepares = j->contraction.prepares;
    j->items = j->contraction.items;
    j->scratch_floats = j->contraction.scratch_floats;
    j->shared_floats = j->contraction.copy_floats;
}

Job *job_new(const Graph *g, const JobNode *nodes, int count, Pool *pool)
{
    REQUIRE(count >= 1 && count <= FUSE_MAX);
    Job *j = xcalloc(1, sizeof *j);
    NodeId ids[FUSE_MAX];
    j->graph = g;
    j->kernels = kernels();
    j->pool = pool;
    j->parts = count;
    for (int i = 0; i < count; i++) {
        ids[i] = nodes[i].id;
        j->part[i].is = nodes[i];
        j->part[i].node = graph_node(g, nodes[i].id);
    }
    if (j->part[0].node->op == OP_CONTRACT)
        plan_contraction(j);
    else
        plan_rows(j, ids);
    size_t workers = size_mul(j->scratch_floats, (size_t)pool_threads(pool));
    j->scratch_total = size_add(workers, j->shared_floats);
    if (j->scratch_total)
        j->scratch = pool_take(pool, j->scratch_total);
    j->contraction.scratch = j->scratch;
    j->contraction.copy = j->scratch ? j->scratch + workers : NULL;
    return j;
}

bool job_step(Job *j, int64_t deadline_ns)
{
    if (j->next < j->prepares)
        j->next = pool_run(j->pool, j->next, j->prepares, j->fn, j->context, deadline_ns);
    if (j->next >= j->prepares && j->next < j->items)
        j->next = pool_run(j->pool, j->next, j->items, j->fn, j->context, deadline_ns);
    return j->next >= j->items;
}

double job_progress(const Job *j)
{
    return j->items ? (double)j->next / (double)j->items : 1;
}

void job_free(Job *j)
{
    if (!j)
        return;
    if (j->contracts)
        contraction_free(&j->contraction);
    pool_give(j->pool, j->scratch, j->scratch_total);
    free(j);
}
