#include "core/graph/walk.h"

#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"

static bool merges(const Walk *w, size_t len, const size_t stride[WALK_OPERANDS])
{
    if (w->n == 0)
        return false;
    for (int k = 0; k < WALK_OPERANDS; k++)
        if (w->stride[k][w->n - 1] != stride[k] * len)
            return false;
    return true;
}

Walk walk_make(const Axis *axes, Dims over, const Dims *operands, int operand_count)
{
    REQUIRE(operand_count <= WALK_OPERANDS);
    Walk w = {.count = 1};
    for (int i = 0; i < over.n; i++) {
        size_t len = (size_t)axes[over.axis[i]].n, stride[WALK_OPERANDS] = {0};
        if (len == 1)
            continue;
        for (int k = 0; k < operand_count; k++)
            stride[k] = dims_stride(axes, operands[k], over.axis[i]);
        int level = merges(&w, len, stride) ? w.n - 1 : w.n++;
        w.len[level] = (level == w.n - 1 && w.len[level] ? w.len[level] : 1) * len;
        for (int k = 0; k < WALK_OPERANDS; k++)
            w.stride[k][level] = stride[k];
        w.count = size_mul(w.count, len);
    }
    return w;
}

void walk_at(const Walk *w, size_t i, size_t offset[WALK_OPERANDS])
{
    for (int k = 0; k < WALK_OPERANDS; k++)
        offset[k] = 0;
    for (int level = w->n - 1; level >= 0; level--) {
        size_t q = level ? i % w->len[level] : i;
        i = level ? i / w->len[level] : 0;
        for (int k = 0; k < WALK_OPERANDS; k++)
            offset[k] += q * w->stride[k][level];
    }
}

WalkPlace walk_place(const Walk *w, size_t i)
{
    WalkPlace p = {{0}, {0}};
    walk_at(w, i, p.offset);
    for (int level = w->n - 1; level >= 0; level--) {
        p.index[level] = level ? i % w->len[level] : i;
        i /= w->len[level];
    }
    return p;
}

static void move_by(const Walk *w, WalkPlace *p, int level, size_t steps, bool back)
{
    for (int k = 0; k < WALK_OPERANDS; k++)
        p->offset[k] += back ? 0 - steps * w->stride[k][level] : steps * w->stride[k][level];
}

static void step(const Walk *w, WalkPlace *p, int level)
{
    for (; level >= 0; level--) {
        move_by(w, p, level, 1, false);
        if (++p->index[level] < w->len[level] || level == 0)
            return;
        move_by(w, p, level, p->index[level], true);
        p->index[level] = 0;
    }
}

void walk_next_cell(const Walk *w, WalkPlace *p)
{
    step(w, p, w->n - 1);
}

void walk_next_run(const Walk *w, WalkPlace *p)
{
    int last = w->n - 1;
    if (last < 0)
        return;
    move_by(w, p, last, p->index[last], true);
    p->index[last] = 0;
    step(w, p, last - 1);
}

void walk_skip_runs(const Walk *w, WalkPlace *p, size_t runs)
{
    const int level = w->n - 2;
    move_by(w, p, level, runs, false);
    p->index[level] += runs;
}

Moved moved_make(const Graph *g, NodeId id)
{
    const Node *n = graph_node(g, id);
    Dims in = graph_node(g, n->in[0])->dims;
    Moved m = {.along = 1, .inner = 1};
    if (n->op == OP_VIEW) { /* one row of all cells */
        m.inner = graph_cells(g, id);
        m.in_along[0] = 1;
        return m;
    }
    if (n->op == OP_SCATTER) {
        m.inner = dims_stride(g->axes, n->dims, n->axis);
        m.in_along[0] = n->in_axis[0] == AXIS_NONE ? 1 : (size_t)g->axes[n->in_axis[0]].n;
        m.along = (size_t)g->axes[n->axis].n;
        return m;
    }
    m.inner = dims_stride(g->axes, in, n->in_axis[0]);
    m.in_along[0] = (size_t)g->axes[n->in_axis[0]].n;
    if (n->op == OP_CONCAT)
        m.in_along[1] = (size_t)g->axes[n->in_axis[1]].n;
    if (n->axis != AXIS_NONE)
        m.along = (size_t)g->axes[n->axis].n;
    return m;
}

size_t moved_row(const Graph *g, NodeId id, const Moved *m, size_t row, int *which)
{
    const Node *n = graph_node(g, id);
    size_t outer = row / m->along, k = row % m->along;
    *which = 0;
    switch (n->op) {
    case OP_VIEW: return 0;
    case OP_SLICE: k += (size_t)n->start; break;
    case OP_GATHER: k = (size_t)n->index[k]; break;
    case OP_CONCAT:
        if (k >= m->in_along[0]) {
            *which = 1;
            k -= m->in_along[0];
        }
        break;
    default: UNREACHABLE("a node that moves cells");
    }
    return (outer * m->in_along[*which] + k) * m->inner;
}

const int *scatter_inputs(const Graph *g, NodeId id, size_t q, size_t *count)
{
    const Node *n = graph_node(g, id);
    size_t inputs = n->in_axis[0] == AXIS_NONE ? 1 : (size_t)g->axes[n->in_axis[0]].n;
    const int *first = n->index + inputs, *sorted = first + g->axes[n->axis].n + 1;
    *count = (size_t)(first[q + 1] - first[q]);
    return sorted + first[q];
}

/* The sum's sixteen lanes over rows first … first + count − 1, each a row of n columns, from +0; then its tree, into y,
 * which may be the lanes. The additions are those of the kernel `sum`, made for all columns side by side. NaN is
 * canonical earlier here, which a sum of it does not show. */
static void sum_block(const Kernels *k, float *y, const float *x, const Walk *rows, size_t first, size_t count,
                      size_t n, float *lanes)
{
    ZipKernel *add = k->zip[ZIP_ADD];
    const float zero = 0.0f;
    WalkPlace place = walk_place(rows, first);
    const size_t used = min_size(count, COLUMN_LANES);
    for (size_t i = 0; i < used; i++, walk_next_cell(rows, &place))
        add(lanes + i * n, &zero, 0, x + place.offset[0], 1, n);
    memset(lanes + used * n, 0, (COLUMN_LANES - used) * n * sizeof *lanes);
    for (size_t i = used; i < count; i++, walk_next_cell(rows, &place)) {
        float *lane = lanes + i % COLUMN_LANES * n;
        add(lane, lane, 1, x + place.offset[0], 1, n);
    }
    for (size_t half = COLUMN_LANES / 2; half > 1; half /= 2)
        add(lanes, lanes, 1, lanes + half * n, 1, half * n);
    add(y, lanes, 1, lanes + n, 1, n);
}

/* n columns, block by block as kernel_sum has it. */
static void some_columns(const Kernels *k, float *y, const float *x, const Walk *rows, size_t n, float *lanes)
{
    size_t block = rows->count <= KERNEL_SUM ? rows->count : KERNEL_SUM_BLOCK;
    sum_block(k, y, x, rows, 0, block, n, lanes);
    for (size_t done = block; done < rows->count; done += block) {
        sum_block(k, lanes, x, rows, done, min_size(rows->count - done, block), n, lanes);
        k->zip[ZIP_ADD](y, y, 1, lanes, 1, n);
    }
}

void column_sum(const Kernels *k, float *y, const float *x, const Walk *rows, size_t columns, float *lanes)
{
    for (size_t first = 0, n; first < columns; first += n) {
        n = min_size(columns - first, COLUMN_WIDTH);
        some_columns(k, y + first, x + first, rows, n, lanes);
    }
}
