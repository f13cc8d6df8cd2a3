#include "core/graph/contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

/* A tile is up to ROW_BLOCK rows by GROUP panels: small enough to stop at within milliseconds, large enough to hide its set-up. */
enum { ROW_BLOCK = 4 * KERNEL_ROWS, GROUP = 4 };

/* Cell offsets of every index over `axes` in the operand `in`. */
static size_t *offsets(const Graph *g, Dims axes, Dims in)
{
    Walk w = walk_make(g->axes, axes, &in, 1);
    size_t *table = xmalloc(size_mul(w.count, sizeof *table));
    for (size_t i = 0; i < w.count; i++) {
        size_t at[WALK_OPERANDS];
        walk_at(&w, i, at);
        table[i] = at[0];
    }
    return table;
}

/* The common step of a table of offsets; 0 if there is none. A single entry has step 1. */
static size_t uniform_step(const size_t *table, size_t n)
{
    if (n < 2)
        return 1;
    for (size_t i = 1; i < n; i++)
        if (table[i] < table[i - 1] || table[i] - table[i - 1] != table[1] - table[0])
            return 0;
    return table[1] - table[0];
}

static Dims both(Dims a, Dims b)
{
    return dims_minus(a, dims_minus(a, b));
}

void contraction_init(Contraction *c, const Graph *g, NodeId id, const float *a, const float *b, float *out, int threads)
{
    const Node *node = graph_node(g, id);
    Dims da = graph_node(g, node->in[0])->dims, db = graph_node(g, node->in[1])->dims;
    Dims k = graph_reduced(g, id), batch = both(both(node->dims, da), db);
    Dims m = dims_minus(both(node->dims, da), batch), n = dims_minus(both(node->dims, db), batch);
    Dims operands[] = {node->dims, da, db};
    *c = (Contraction){.a = a, .b = b, .out = out, .kernels = kernels(), .batch = walk_make(g->axes, batch, operands, 3)};
    c->batches = c->batch.count;
    c->m = graph_dims_cells(g, m);
    c->n = graph_dims_cells(g, n);
    c->k = graph_dims_cells(g, k);
    c->a_row = offsets(g, m, da);
    c->out_row = offsets(g, m, node->dims);
    c->b_col = offsets(g, n, db);
    c->out_col = offsets(g, n, node->dims);
    c->a_k = offsets(g, k, da);
    c->b_k = offsets(g, k, db);
    size_t row_step = uniform_step(c->a_row, c->m);
    /* rows a multiple of 1 KiB apart would all fall into a few cache sets: those are copied closer together */
    c->a_direct = uniform_step(c->a_k, c->k) == 1 && row_step > 0 && row_step % 256 != 0;
    c->copy_stride = size_add(c->k, c->k % 256 ? 0 : 16);
    c->out_contiguous = uniform_step(c->out_col, c->n) == 1;
    c->b_col_step = uniform_step(c->b_col, c->n);
    c->b_k_step = uniform_step(c->b_k, c->k);
    c->panels = (c->n + KERNEL_COLS - 1) / KERNEL_COLS;
    size_t panel = size_mul(c->k, KERNEL_COLS);
    c->packed = xfloats(size_mul(size_mul(c->batches, c->panels), panel));
    c->scratch_floats = size_add(size_mul(KERNEL_ROWS, KERNEL_COLS), c->a_direct ? 0 : size_mul(ROW_BLOCK, c->copy_stride));
    c->scratch = xfloats(size_mul(c->scratch_floats, (size_t)threads));
    c->row_blocks = (c->m + ROW_BLOCK - 1) / ROW_BLOCK;
    c->col_groups = (c->panels + GROUP - 1) / GROUP;
    c->pack_items = size_mul(c->batches, c->panels);
    c->tile_items = size_mul(size_mul(c->batches, c->row_blocks), c->col_groups);
}

void contraction_free(Contraction *c)
{
    free(c->a_row);
    free(c->out_row);
    free(c->b_col);
    free(c->out_col);
    free(c->a_k);
    free(c->b_k);
    free(c->packed);
    free(c->scratch);
    *c = (Contraction){0};
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

void contraction_pack(void *contraction, size_t item, int worker)
{
    (void)worker;
    Contraction *c = contraction;
    size_t at[WALK_OPERANDS], panel = item % c->panels, first = panel * KERNEL_COLS;
    size_t columns = min_size(KERNEL_COLS, c->n - first);
    walk_at(&c->batch, item / c->panels, at);
    float *to = c->packed + item * c->k * KERNEL_COLS;
    const float *from = c->b + at[2];
    if (c->b_col_step && c->b_k_step) {
        c->kernels->pack(to, from + c->b_col[first], c->b_col_step, c->b_k_step, (int)columns, c->k);
        return;
    }
    for (size_t k = 0; k < c->k; k++)
        for (size_t j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + j] = j < columns ? from[c->b_col[first + j] + c->b_k[k]] : 0.0f;
}

/* Rows first … first+rows-1 of a as a matrix whose k cells are contiguous; *stride is its row stride. */
static const float *rows_of_a(const Contraction *c, size_t a_at, size_t first, size_t rows, float *scratch, size_t *stride)
{
    const float *a = c->a + a_at;
    if (c->a_direct) {
        *stride = c->m > 1 ? c->a_row[1] - c->a_row[0] : c->k;
        return a + c->a_row[first];
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < c->k; k++)
            scratch[r * c->copy_stride + k] = a[c->a_row[first + r] + c->a_k[k]];
    *stride = c->copy_stride;
    return scratch;
}

static void store(const Contraction *c, const float *total, size_t out_at, size_t row, size_t rows, size_t panel)
{
    size_t first = panel * KERNEL_COLS, columns = min_size(KERNEL_COLS, c->n - first);
    const float nan = kernel_canonical(NAN);
    for (size_t r = 0; r < rows; r++) {
        float *to = c->out + out_at + c->out_row[row + r];
        const float *from = total + r * KERNEL_COLS;
        if (c->out_contiguous)
            for (size_t j = 0; j < columns; j++)
                to[c->out_col[first] + j] = isnan(from[j]) ? nan : from[j];
        else
            for (size_t j = 0; j < columns; j++)
                to[c->out_col[first + j]] = isnan(from[j]) ? nan : from[j];
    }
}

void contraction_tile(void *contraction, size_t item, int worker)
{
    Contraction *c = contraction;
    float *total = c->scratch + (size_t)worker * c->scratch_floats, *copy = total + KERNEL_ROWS * KERNEL_COLS;
    size_t group = item % c->col_groups, block = item / c->col_groups % c->row_blocks;
    size_t batch = item / c->col_groups / c->row_blocks, at[WALK_OPERANDS], stride;
    walk_at(&c->batch, batch, at);
    size_t row0 = block * ROW_BLOCK, rows = min_size(ROW_BLOCK, c->m - row0);
    const float *a = rows_of_a(c, at[1], row0, rows, copy, &stride);
    size_t end = min_size((group + 1) * GROUP, c->panels), tiles = (rows + KERNEL_ROWS - 1) / KERNEL_ROWS;
    for (size_t panel = group * GROUP; panel < end; panel++) {
        const float *b = c->packed + (batch * c->panels + panel) * c->k * KERNEL_COLS;
        for (size_t t = 0; t < tiles; t++) { /* balanced: 197 rows are tiles of 13 and 14, not 14 × 14 and 1 */
            size_t r = rows * t / tiles, count = rows * (t + 1) / tiles - r;
            memset(total, 0, count * KERNEL_COLS * sizeof *total);
            for (size_t k = 0; k < c->k; k += KERNEL_K)
                c->kernels->contract(total, a + r * stride + k, stride, b + k * KERNEL_COLS, (int)count,
                                     (int)min_size(KERNEL_K, c->k - k));
            store(c, total, at[0], row0 + r, count, panel);
        }
    }
}
