#include "core/graph/eval.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/contract.h"
#include "core/graph/source.h"
#include "core/graph/walk.h"

/* About how many cells (times reduced cells) one item handles: well under a millisecond in portable C. */
enum { ITEM_CELLS = 32768 };

struct Job {
    const Graph *graph;
    NodeId id;
    const Node *node;
    const Kernels *kernels;
    const float *in[NODE_INPUTS];
    float *out;
    size_t cells;
    /* phases: only CONTRACT has two */
    PoolFn fn[2];
    void *context;
    size_t items[2], next[2];
    int phase, phases;
    Contraction contraction;
    Walk walk;           /* elementwise: out, a, b, c; reductions: over the output: out, a */
    Walk inner;          /* reductions: the reduced cells in a */
    Moved moved;
    size_t per_item;     /* cells or rows of one item */
    float *scratch;      /* reductions with scattered cells: one row per worker */
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Cells [first, end) of an elementwise node, cut into runs in which every operand has one constant step. */
typedef void RunFn(const Job *j, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n);

static void each_run(const Job *j, size_t item, RunFn *fn)
{
    const Walk *w = &j->walk;
    size_t len = w->n ? w->len[w->n - 1] : 1;
    size_t end = min_size((item + 1) * j->per_item, j->cells);
    for (size_t cell = item * j->per_item; cell < end;) {
        size_t within = cell % len, n = min_size(len - within, end - cell), at[WALK_OPERANDS];
        const float *x[NODE_INPUTS] = {0};
        size_t step[NODE_INPUTS] = {0};
        walk_at(w, cell, at);
        for (int k = 0; k < op_inputs(j->node->op); k++) {
            x[k] = j->in[k] + at[k + 1];
            step[k] = w->n ? w->stride[k + 1][w->n - 1] : 0;
        }
        fn(j, j->out + cell, x, step, n);
        cell += n;
    }
}

static void zip_run(const Job *j, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n)
{
    ZipFn f = (ZipFn)(j->node->op - OP_ADD);
    if (step[0] <= 1 && step[1] <= 1) {
        j->kernels->zip[f](y, x[0], step[0], x[1], step[1], n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = kernel_canonical(zip_apply(f, x[0][i * step[0]], x[1][i * step[1]]));
}

static void where_run(const Job *j, float *y, const float *const x[NODE_INPUTS], const size_t step[NODE_INPUTS], size_t n)
{
    (void)j;
    for (size_t i = 0; i < n; i++)
        y[i] = x[0][i * step[0]] != 0.0f ? x[1][i * step[1]] : x[2][i * step[2]];
}

static void zip_item(void *job, size_t item, int worker)
{
    (void)worker;
    each_run(job, item, zip_run);
}

static void where_item(void *job, size_t item, int worker)
{
    (void)worker;
    each_run(job, item, where_run);
}

static void map_item(void *job, size_t item, int worker)
{
    (void)worker;
    const Job *j = job;
    size_t first = item * j->per_item;
    j->kernels->map[j->node->map](j->out + first, j->in[0] + first, min_size(j->per_item, j->cells - first));
}

static void reduce_item(void *job, size_t item, int worker)
{
    const Job *j = job;
    ReduceKernel *reduce = j->node->op == OP_SUM ? j->kernels->sum : j->kernels->max;
    size_t n = j->inner.count, end = min_size((item + 1) * j->per_item, j->cells);
    bool contiguous = j->inner.n == 0 || (j->inner.n == 1 && j->inner.stride[0][0] == 1);
    float *row = j->scratch ? j->scratch + (size_t)worker * n : NULL;
    for (size_t cell = item * j->per_item; cell < end; cell++) {
        size_t at[WALK_OPERANDS], in[WALK_OPERANDS];
        walk_at(&j->walk, cell, at);
        const float *x = j->in[0] + at[1];
        if (!contiguous) {
            for (size_t i = 0; i < n; i++) {
                walk_at(&j->inner, i, in);
                row[i] = x[in[0]];
            }
            x = row;
        }
        j->out[cell] = reduce(x, n);
    }
}

static void move_item(void *job, size_t item, int worker)
{
    (void)worker;
    const Job *j = job;
    size_t rows = j->cells / j->moved.inner, end = min_size((item + 1) * j->per_item, rows);
    for (size_t row = item * j->per_item; row < end; row++) {
        int which;
        size_t from = moved_row(j->graph, j->id, &j->moved, row, &which);
        memcpy(j->out + row * j->moved.inner, j->in[which] + from, j->moved.inner * sizeof *j->out);
    }
}

static void one_phase(Job *j, PoolFn fn, size_t units, size_t cells_per_unit)
{
    j->per_item = ITEM_CELLS / (cells_per_unit ? cells_per_unit : 1);
    if (j->per_item == 0)
        j->per_item = 1;
    j->fn[0] = fn;
    j->context = j;
    j->items[0] = (units + j->per_item - 1) / j->per_item;
    j->phases = 1;
}

static void plan_elementwise(Job *j, PoolFn fn)
{
    Dims d[WALK_OPERANDS] = {j->node->dims};
    int inputs = op_inputs(j->node->op);
    for (int k = 0; k < inputs; k++)
        d[k + 1] = graph_node(j->graph, j->node->in[k])->dims;
    j->walk = walk_make(j->graph->axes, j->node->dims, d, inputs + 1);
    one_phase(j, fn, j->cells, 1);
}

static void plan_reduce(Job *j, int threads)
{
    Dims in = graph_node(j->graph, j->node->in[0])->dims, d[] = {j->node->dims, in};
    j->walk = walk_make(j->graph->axes, j->node->dims, d, 2);
    j->inner = walk_make(j->graph->axes, graph_reduced(j->graph, j->id), &in, 1);
    if (j->inner.n > 1 || (j->inner.n == 1 && j->inner.stride[0][0] != 1))
        j->scratch = xfloats(size_mul(j->inner.count, (size_t)threads));
    one_phase(j, reduce_item, j->cells, j->inner.count);
}

static void plan_contract(Job *j, int threads)
{
    contraction_init(&j->contraction, j->graph, j->id, j->in[0], j->in[1], j->out, threads);
    j->context = &j->contraction;
    j->fn[0] = contraction_pack;
    j->items[0] = j->contraction.pack_items;
    j->fn[1] = contraction_tile;
    j->items[1] = j->contraction.tile_items;
    j->phases = 2;
}

Job *job_new(const Graph *g, NodeId id, const float *const in[NODE_INPUTS], float *out, int threads)
{
    Job *j = xcalloc(1, sizeof *j);
    j->graph = g;
    j->id = id;
    j->node = graph_node(g, id);
    j->kernels = kernels();
    memcpy(j->in, in, sizeof j->in);
    j->out = out;
    j->cells = graph_cells(g, id);
    switch (j->node->op) {
    case OP_CONTRACT: plan_contract(j, threads); break;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV: plan_elementwise(j, zip_item); break;
    case OP_WHERE: plan_elementwise(j, where_item); break;
    case OP_MAP: one_phase(j, map_item, j->cells, 1); break;
    case OP_SUM:
    case OP_MAX: plan_reduce(j, threads); break;
    case OP_CONCAT:
    case OP_SLICE:
    case OP_GATHER:
        j->moved = moved_make(g, id);
        one_phase(j, move_item, j->cells / j->moved.inner, j->moved.inner);
        break;
    default: UNREACHABLE("a node that is computed");
    }
    return j;
}

bool job_step(Job *j, Pool *pool, int64_t deadline_ns)
{
    while (j->phase < j->phases) {
        int p = j->phase;
        j->next[p] = pool_run(pool, j->next[p], j->items[p], j->fn[p], j->context, deadline_ns);
        if (j->next[p] < j->items[p])
            return false;
        j->phase++;
    }
    return true;
}

double job_progress(const Job *j)
{
    int last = j->phases - 1; /* packing is a small share */
    return j->items[last] ? (double)j->next[last] / (double)j->items[last] : 1;
}

void job_free(Job *j)
{
    if (!j)
        return;
    contraction_free(&j->contraction);
    free(j->scratch);
    free(j);
}
