#include "core/graph/eval.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/walk.h"

/* About how many cells (times reduced cells) of the widest node one item handles: with its neighbours they stay in
 * cache, and an item takes well under a millisecond in portable C. */
enum { ITEM_CELLS = 8192, ITEM_COLUMNS = 64, LINE = 16 };

/* The cells of one part that an item computes, and where they and their inputs are. */
typedef struct Span {
    size_t first, count; /* in the node's cells */
    float *out;          /* cell `first` */
    const float *in[NODE_INPUTS];
    size_t start[NODE_INPUTS]; /* the input cell that in[k] points at */
    float *gather;             /* reductions of scattered cells: room for one row, or for the lanes of columns */
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
    bool columns;          /* sums: neighbours in the output are neighbours in the input */
    Moved moved;
};

struct Job {
    const Graph *graph;
    const Kernels *kernels;
    Pool *pool;
    bool contracts;
    Contraction contraction;
    size_t rows, per_item;                               /* rows in all and in one item */
    size_t gather;                                       /* where a worker's scratch has room for a gathered row */
    size_t scratch_floats, shared_floats, scratch_total; /* of every worker; of all together; in all */
    float *scratch;
    PoolFn fn;
    void *context;
    size_t prepares, items, next; /* the first items prepare the others */
    int parts;
    Part part[];
};

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The cells of a span cut into runs in which every operand has one constant step; several runs that lie alike are given
 * at once. */
typedef struct Runs {
    float *y;
    const float *x[NODE_INPUTS];
    size_t step[NODE_INPUTS],
        hop[NODE_INPUTS]; /* from cell to cell, from run to run; in y the runs follow each other */
    size_t n, count;      /* cells of a run, runs */
} Runs;
typedef void RunsFn(const Job *j, const Part *p, Runs r);

static void each_run(const Job *j, const Part *p, const Span *s, RunsFn *fn)
{
    const Walk *w = &p->walk;
    const int inputs = op_inputs(p->node->op), last = w->n - 1;
    const size_t len = last >= 0 ? w->len[last] : 1;
    Runs r = {.y = s->out};
    for (int k = 0; k < inputs && last >= 0; k++) {
        r.step[k] = w->stride[k + 1][last];
        r.hop[k] = last > 0 ? w->stride[k + 1][last - 1] : 0;
    }
    WalkPlace place = walk_place(w, s->first);
    for (size_t done = 0; done < s->count; done += r.n * r.count) {
        r.n = last >= 0 ? min_size(len - place.index[last], s->count - done) : 1;
        r.count = last > 0 && r.n == len ? min_size(w->len[last - 1] - place.index[last - 1], (s->count - done) / len)
                                         : 1;
        for (int k = 0; k < inputs; k++)
            r.x[k] = s->in[k] + (place.offset[k + 1] - s->start[k]);
        fn(j, p, r);
        r.y += r.n * r.count;
        if (r.count > 1)
            walk_skip_runs(w, &place, r.count - 1);
        walk_next_run(w, &place);
    }
}

/* Steps other than 0 and 1: operands are gathered a little at a time. */
static void zip_scattered(ZipKernel *zip, const Runs *r)
{
    enum { SOME = 128 };
    float a[SOME], b[SOME];
    for (size_t first = 0, n; first < r->n; first += n) {
        n = min_size(r->n - first, SOME);
        for (size_t i = 0; i < n; i++) {
            a[i] = r->x[0][(first + i) * r->step[0]];
            b[i] = r->x[1][(first + i) * r->step[1]];
        }
        zip(r->y + first, a, 1, b, 1, n);
    }
}

static void zip_runs(const Job *j, const Part *p, Runs r)
{
    ZipKernel *zip = j->kernels->zip[p->node->op - OP_ADD];
    const bool plain = r.step[0] <= 1 && r.step[1] <= 1;
    for (; r.count > 0; r.count--) {
        if (plain)
            zip(r.y, r.x[0], r.step[0], r.x[1], r.step[1], r.n);
        else
            zip_scattered(zip, &r);
        r.y += r.n;
        r.x[0] += r.hop[0];
        r.x[1] += r.hop[1];
    }
}

static void repeat(float *y, const float *x, size_t step, size_t n)
{
    if (step == 1)
        memcpy(y, x, n * sizeof *y);
    for (size_t i = 0; step != 1 && i < n; i++)
        y[i] = x[i * step];
}

static void where_runs(const Job *j, const Part *p, Runs r)
{
    (void)j, (void)p;
    const size_t *step = r.step;
    for (; r.count > 0; r.count--) {
        if (step[0] == 0) { /* one answer for the whole run */
            int k = r.x[0][0] != 0.0f ? 1 : 2;
            repeat(r.y, r.x[k], step[k], r.n);
        }
        for (size_t i = 0; step[0] != 0 && i < r.n; i++)
            r.y[i] = r.x[0][i * step[0]] != 0.0f ? r.x[1][i * step[1]] : r.x[2][i * step[2]];
        r.y += r.n;
        for (int k = 0; k < 3; k++)
            r.x[k] += r.hop[k];
    }
}

/* The mask as it is stored, a little at a time. */
static void where_stored(const Job *j, const Part *p, const Span *s)
{
    enum { SOME = 256 };
    const Node *leaf = graph_stored(j->graph, p->node->in[0]);
    const Walk *w = &p->walk;
    const int last = w->n - 1;
    float mask[SOME];
    WalkPlace place = walk_place(w, s->first);
    for (size_t done = 0, n; done < s->count; done += n) {
        size_t step[NODE_INPUTS] = {0};
        const float *x[NODE_INPUTS] = {mask};
        for (int k = 0; k < 3; k++) {
            step[k] = last >= 0 ? w->stride[k + 1][last] : 0;
            x[k] = k ? s->in[k] + (place.offset[k + 1] - s->start[k]) : x[k];
        }
        n = min_size(last >= 0 ? w->len[last] - place.index[last] : 1, s->count - done);
        for (size_t i = 0, some; i < n; i += some) {
            some = step[0] == 1 ? min_size(n - i, SOME) : 1;
            leaf_read(j->graph, leaf, place.offset[1] + i * step[0], some, mask);
            for (size_t c = 0; c < some; c++)
                s->out[done + i + c] = mask[c] != 0.0f ? x[1][(i + c) * step[1]] : x[2][(i + c) * step[2]];
        }
        walk_next_run(w, &place);
    }
}

static void zip_span(const Job *j, const Part *p, const Span *s)
{
    each_run(j, p, s, zip_runs);
}

static void where_span(const Job *j, const Part *p, const Span *s)
{
    if (s->in[0])
        each_run(j, p, s, where_runs);
    else
        where_stored(j, p, s);
}

static void leaf_span(const Job *j, const Part *p, const Span *s)
{
    leaf_read(j->graph, p->node, s->first, s->count, s->out);
}

static void map_span(const Job *j, const Part *p, const Span *s)
{
    j->kernels->map[p->node->map](s->out, s->in[0] + (s->first - s->start[0]), s->count);
}

static void sum_columns(const Job *j, const Part *p, const Span *s)
{
    const Walk *w = &p->walk;
    const size_t last = (size_t)w->n - 1;
    WalkPlace place = walk_place(w, s->first);
    for (size_t done = 0, n; done < s->count; done += n) {
        n = min_size(w->len[last] - place.index[last], s->count - done);
        column_sum(j->kernels, s->out + done, s->in[0] + (place.offset[1] - s->start[0]), &p->inner, n, s->gather);
        walk_next_run(w, &place);
    }
}

static void reduce_span(const Job *j, const Part *p, const Span *s)
{
    bool sum = p->node->op == OP_SUM;
    if (p->columns) {
        sum_columns(j, p, s);
        return;
    }
    WalkPlace place = walk_place(&p->walk, s->first);
    for (size_t i = 0; i < s->count; i++) {
        const float *x = s->in[0] + (place.offset[1] - s->start[0]);
        if (!p->contiguous) {
            WalkPlace from = walk_place(&p->inner, 0);
            for (size_t k = 0; k < p->inner.count; k++, walk_next_cell(&p->inner, &from))
                s->gather[k] = x[from.offset[0]];
            x = s->gather;
        }
        s->out[i] = sum ? kernel_sum(j->kernels, x, p->inner.count) : j->kernels->max(x, p->inner.count);
        walk_next_cell(&p->walk, &place);
    }
}

static void move_span(const Job *j, const Part *p, const Span *s)
{
    size_t inner = p->moved.inner;
    for (size_t i = 0; i < s->count; i += inner) {
        int which;
        size_t from = moved_row(j->graph, p->is.id, &p->moved, (s->first + i) / inner, &which);
        if (s->in[which])
            memcpy(s->out + i, s->in[which] + from, inner * sizeof *s->out);
        else
            leaf_read(j->graph, graph_stored(j->graph, p->node->in[which]), from, inner, s->out + i);
    }
}

/* Rows of the node, each the sum of the input rows that go there. */
static void scatter_span(const Job *j, const Part *p, const Span *s)
{
    const Moved *m = &p->moved;
    for (size_t i = 0; i < s->count; i += m->inner) {
        size_t row = (s->first + i) / m->inner, outer = row / m->along, count;
        const int *from = scatter_inputs(j->graph, p->is.id, row % m->along, &count);
        memset(s->out + i, 0, m->inner * sizeof *s->out);
        for (size_t k = 0; k < count; k++)
            j->kernels->zip[ZIP_ADD](s->out + i, s->out + i, 1,
                                     s->in[0] + (outer * m->in_along[0] + (size_t)from[k]) * m->inner, 1, m->inner);
    }
}

/* A row here is a cell of the maximum: all cells that it was taken from, wherever they are. Alone in its job. */
static void first_span(const Job *j, const Part *p, const Span *s)
{
    (void)j;
    size_t width = p->inner.count;
    WalkPlace group = walk_place(&p->walk, s->first / width);
    for (size_t i = 0; i < s->count / width; i++, walk_next_cell(&p->walk, &group)) {
        const float *a = s->in[0] + group.offset[1], max = s->in[1][group.offset[0]];
        bool found = false;
        WalkPlace cell = walk_place(&p->inner, 0);
        for (size_t k = 0; k < width; k++, walk_next_cell(&p->inner, &cell)) {
            bool first = !found && a[cell.offset[0]] == max;
            p->is.out[group.offset[1] + cell.offset[0]] = first ? 1.0f : 0.0f;
            found = found || first;
        }
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
    [OP_ADD] = zip_span,     [OP_SUB] = zip_span,    [OP_MUL] = zip_span,     [OP_DIV] = zip_span,
    [OP_WHERE] = where_span, [OP_MAP] = map_span,    [OP_SUM] = reduce_span,  [OP_MAX] = reduce_span,
    [OP_CONCAT] = move_span, [OP_SLICE] = move_span, [OP_GATHER] = move_span, [OP_SCATTER] = scatter_span,
    [OP_FIRST] = first_span, [OP_LEAF] = leaf_span,
};

static void find_sources(Job *j, Part *p)
{
    for (int k = 0; k < NODE_INPUTS; k++) {
        p->from[k] = -1;
        if (k >= op_inputs(p->node->op) || p->is.in[k] || leaf_read_as_stored(j->graph, p->is.id, k))
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
    if (p->fn == move_span || p->fn == scatter_span) {
        p->moved = moved_make(g, p->is.id);
        return;
    }
    if (p->fn == first_span) {
        p->walk = walk_make(g->axes, d[2], (Dims[]){d[2], d[1]}, 2);
        p->inner = walk_make(g->axes, dims_minus(d[1], d[2]), &d[1], 1);
        return;
    }
    p->walk = walk_make(g->axes, p->node->dims, d, inputs + 1);
    if (p->fn == reduce_span) {
        p->inner = walk_make(g->axes, graph_reduced(g, p->is.id), &d[1], 1);
        p->contiguous = p->inner.n == 0 || (p->inner.n == 1 && p->inner.stride[0][0] == 1);
        p->columns = !p->contiguous && p->node->op == OP_SUM && p->walk.n > 0 && p->walk.stride[1][p->walk.n - 1] == 1;
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
            row = max_size(row, p->columns ? (size_t)COLUMN_SCRATCH : p->inner.count);
    }
    j->gather = floats;
    j->scratch_floats = to_lines(size_add(floats, row));
}

static void plan_rows(Job *j, const NodeId *ids)
{
    const Graph *g = j->graph;
    Dims rows = fuse_rows(g, ids, j->parts);
    size_t widest = 1, least = 1;
    j->rows = graph_dims_cells(g, rows);
    for (int i = 0; i < j->parts; i++) {
        Part *p = &j->part[i];
        p->fn = SPAN_FN[p->node->op];
        REQUIRE(p->fn);
        find_sources(j, p);
        plan_walks(g, p);
        p->width = graph_cells(g, p->is.id) / j->rows;
        if (p->fn == move_span || p->fn == scatter_span || p->fn == first_span) { /* alone in its job */
            p->width = p->fn == first_span ? p->inner.count : p->moved.inner;
            j->rows = graph_cells(g, p->is.id) / p->width;
        }
        widest = max_size(widest, size_mul(p->width, p->fn == reduce_span ? p->inner.count : 1));
        if (p->columns) /* side by side in whole lines of the cache */
            least = max_size(least, (ITEM_COLUMNS + p->width - 1) / p->width);
    }
    j->per_item = max_size(ITEM_CELLS / widest, least);
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
    contraction_init(&j->contraction, j->graph, n->id, n->in[0], n->in[1], sum ? sum->in[1] : NULL, bias,
                     sum ? sum->out : n->out, pool_threads(j->pool));
    j->fn = contraction_item;
    j->context = &j->contraction;
    j->prepares = j->contraction.prepares;
    j->items = j->contraction.items;
    j->scratch_floats = j->contraction.scratch_floats;
    j->shared_floats = j->contraction.copy_floats;
}

static Job *make(const Graph *g, const JobNode *nodes, int count, Pool *pool)
{
    REQUIRE(count >= 1 && count <= FUSE_MAX);
    Job *j = xcalloc(1, size_add(sizeof *j, size_mul((size_t)count, sizeof *j->part)));
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
    return j;
}

/* Every worker's part of the scratch comes first, then what they share. */
static void lend(Job *j, float *scratch, size_t workers)
{
    j->scratch = scratch;
    j->contraction.scratch = scratch;
    j->contraction.copy = scratch + workers;
}

Job *job_new(const Graph *g, const JobNode *nodes, int count, Pool *pool)
{
    Job *j = make(g, nodes, count, pool);
    size_t workers = size_mul(j->scratch_floats, (size_t)pool_threads(pool));
    j->scratch_total = size_add(workers, j->shared_floats);
    if (j->scratch_total)
        lend(j, xfloats(j->scratch_total), workers);
    return j;
}

Job *job_plan(const Graph *g, const JobNode *nodes, int count)
{
    return make(g, nodes, count, NULL);
}

size_t job_scratch(const Job *j)
{
    return size_add(j->scratch_floats, j->shared_floats);
}

void job_lend(Job *j, float *scratch)
{
    lend(j, scratch, j->scratch_floats);
}

void job_point(Job *j, int node, int input, const float *values)
{
    Contraction *c = &j->contraction;
    j->part[node].is.in[input] = values;
    if (j->contracts)
        *(node == 1 ? &c->bias_from : input == 0 ? &c->a : &c->b) = values;
}

bool job_step(Job *j, int64_t deadline_ns)
{
    if (j->next < j->prepares)
        j->next = pool_run(j->pool, j->next, j->prepares, j->fn, j->context, deadline_ns);
    if (j->next >= j->prepares && j->next < j->items)
        j->next = pool_run(j->pool, j->next, j->items, j->fn, j->context, deadline_ns);
    return j->next >= j->items;
}

bool job_run(Job *j, int64_t deadline_ns)
{
    if (j->contracts && !j->next)
        contraction_read_bias(&j->contraction);
    if (!job_step(j, deadline_ns))
        return false;
    j->next = 0;
    return true;
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
    if (j->scratch_total)
        free(j->scratch);
    free(j);
}
