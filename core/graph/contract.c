#include "core/graph/contract.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

/* An item is up to ROW_BLOCK rows by GROUP panels. Its scratch (a k block of the panels, the sums so far and one tile of a) and
 * the rows of a that it reads stay in a second-level cache. COPY_STRIDE keeps the rows of a tile out of each other's cache sets. */
enum { ROW_BLOCK = 512, GROUP = 8, COPY_STRIDE = KERNEL_K + 16, PANEL = KERNEL_K * KERNEL_COLS, LINE = 16 };

/* Cell offsets of every index over `axes` in the operand `in`. */
static size_t *offsets(const Graph *g, Dims axes, Dims in)
{
    Walk w = walk_make(g->axes, axes, &in, 1);
    size_t *table = xmalloc(size_mul(w.count, sizeof *table));
    WalkPlace place = walk_place(&w, 0);
    for (size_t i = 0; i < w.count; i++) {
        table[i] = place.offset[0];
        walk_next_cell(&w, &place);
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

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

Dims contraction_columns(const Graph *g, NodeId id)
{
    const Node *node = graph_node(g, id);
    return dims_minus(both(node->dims, graph_node(g, node->in[1])->dims), graph_node(g, node->in[0])->dims);
}

static void make_bias(Contraction *c, const Graph *g, Dims n, const float *bias, Dims bias_dims)
{
    c->bias = xfloats(c->n);
    c->bias_from = bias;
    c->bias_at = bias ? offsets(g, n, bias_dims) : NULL;
    for (size_t j = 0; j < c->n; j++)
        c->bias[j] = -0.0f;
    contraction_read_bias(c);
}

void contraction_read_bias(Contraction *c)
{
    for (size_t j = 0; c->bias_from && j < c->n; j++)
        c->bias[j] = c->bias_from[c->bias_at[j]];
}

static void make_items(Contraction *c, int threads)
{
    size_t all = size_mul(c->batches, c->panels), workers = (size_t)threads, rows = min_size(c->m, ROW_BLOCK);
    c->group = min_size(GROUP, min_size(c->panels, all / (8 * workers) + 1)); /* several items for each worker: none waits long */
    c->row_blocks = (c->m + ROW_BLOCK - 1) / ROW_BLOCK;
    c->col_groups = (c->panels + c->group - 1) / c->group;
    c->items = size_mul(size_mul(c->batches, c->row_blocks), c->col_groups);
    c->scratch_floats = c->group * (PANEL + rows * KERNEL_COLS) + (size_t)KERNEL_ROWS * COPY_STRIDE;
}

void contraction_init(Contraction *c, const Graph *g, NodeId id, const float *a, const float *b, const float *bias, Dims bias_dims,
                      float *out, int threads)
{
    const Node *node = graph_node(g, id);
    Dims da = graph_node(g, node->in[0])->dims, db = graph_node(g, node->in[1])->dims;
    Dims k = graph_reduced(g, id), batch = both(both(node->dims, da), db);
    Dims m = dims_minus(both(node->dims, da), batch), n = contraction_columns(g, id);
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
    make_bias(c, g, n, bias, bias_dims);
    size_t row_step = uniform_step(c->a_row, c->m);
    /* rows a multiple of 4 KiB apart would all fall into the same cache sets: those are copied closer together */
    c->a_direct = uniform_step(c->a_k, c->k) == 1 && row_step > 0 && row_step % 1024 != 0;
    c->out_contiguous = uniform_step(c->out_col, c->n) == 1;
    c->b_col_step = uniform_step(c->b_col, c->n);
    c->b_k_step = uniform_step(c->b_k, c->k);
    c->panels = (c->n + KERNEL_COLS - 1) / KERNEL_COLS;
    make_items(c, threads);
}

void contraction_free(Contraction *c)
{
    free(c->a_row);
    free(c->out_row);
    free(c->b_col);
    free(c->out_col);
    free(c->a_k);
    free(c->b_k);
    free(c->bias);
    free(c->bias_at);
    *c = (Contraction){0};
}

/* What one item works on. */
typedef struct Block {
    size_t row, rows, panel, panels; /* first and count */
    size_t a_at, b_at, out_at;
    float *packed, *totals, *copy;   /* [panels][KERNEL_K][KERNEL_COLS], [panels][rows][KERNEL_COLS], [KERNEL_ROWS][COPY_STRIDE] */
} Block;

static size_t columns_of(const Contraction *c, size_t panel)
{
    return min_size(KERNEL_COLS, c->n - panel * KERNEL_COLS);
}

static void pack(const Contraction *c, const Block *o, size_t panel, size_t k0, size_t depth)
{
    size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    float *to = o->packed + (panel - o->panel) * PANEL;
    const float *from = c->b + o->b_at;
    if (c->b_col_step && c->b_k_step) {
        c->kernels->pack(to, from + c->b_col[first] + c->b_k[k0], c->b_col_step, c->b_k_step, (int)columns, depth);
        return;
    }
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + j] = j < columns ? from[c->b_col[first + j] + c->b_k[k0 + k]] : 0.0f;
}

/* Asks for part of what is packed next, so that it comes from memory while the kernel runs. Only columns that lie along k. */
static void prefetch(const Contraction *c, const Block *o, size_t k0, size_t part, size_t parts)
{
    size_t columns = o->panels * KERNEL_COLS, first = o->panel * KERNEL_COLS;
    if (c->b_k_step != 1)
        return;
    if (k0 >= c->k) { /* the next item's first block */
        k0 = 0;
        first += columns;
    }
    size_t depth = min_size(KERNEL_K, c->k - k0), end = min_size(first + columns * (part + 1) / parts, c->n);
    for (size_t j = first + columns * part / parts; j < end; j++)
        for (size_t k = 0; k < depth; k += LINE)
            __builtin_prefetch(c->b + o->b_at + c->b_col[j] + c->b_k[k0 + k], 0, 2);
}

/* Rows first … first+rows-1 of a, k0 … k0+depth-1, as a matrix whose k cells are contiguous; *stride is its row stride. */
static const float *rows_of_a(const Contraction *c, const Block *o, size_t first, size_t rows, size_t k0, size_t depth, size_t *stride)
{
    const float *a = c->a + o->a_at;
    if (c->a_direct) {
        *stride = c->m > 1 ? c->a_row[1] - c->a_row[0] : c->k;
        return a + c->a_row[first] + c->a_k[k0];
    }
    *stride = COPY_STRIDE;
    bool contiguous = c->a_k[k0 + depth - 1] - c->a_k[k0] == depth - 1; /* offsets never fall */
    for (size_t r = 0; r < rows; r++) {
        const float *from = a + c->a_row[first + r];
        float *to = o->copy + r * COPY_STRIDE;
        size_t k = 0;
        for (; contiguous && depth - k >= LINE; k += LINE)
            memcpy(to + k, from + c->a_k[k0] + k, LINE * sizeof *to); /* a size known here becomes a few moves */
        for (; k < depth; k++)
            to[k] = from[c->a_k[k0 + k]];
    }
    return o->copy;
}

static void store(const Contraction *c, const Block *o, const float *total, size_t row, size_t rows, size_t panel)
{
    size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    ZipKernel *add = c->kernels->zip[ZIP_ADD]; /* NaN becomes canonical in it */
    for (size_t r = 0; r < rows; r++) {
        float *to = c->out + o->out_at + c->out_row[row + r], line[KERNEL_COLS];
        const float *from = total + r * KERNEL_COLS;
        if (c->out_contiguous) {
            add(to + c->out_col[first], from, 1, c->bias + first, 1, columns);
            continue;
        }
        add(line, from, 1, c->bias + first, 1, columns);
        for (size_t j = 0; j < columns; j++)
            to[c->out_col[first + j]] = line[j];
    }
}

/* One k block of all rows: tiles of nearly equal height (197 rows are tiles of 13 and 14, not 14 × 14 and 1). */
static void k_block(const Contraction *c, const Block *o, size_t k0, size_t depth)
{
    size_t tiles = (o->rows + KERNEL_ROWS - 1) / KERNEL_ROWS, stride;
    for (size_t p = 0; p < o->panels; p++)
        pack(c, o, o->panel + p, k0, depth);
    for (size_t t = 0; t < tiles; t++) {
        size_t r = o->rows * t / tiles, count = o->rows * (t + 1) / tiles - r;
        const float *a = rows_of_a(c, o, o->row + r, count, k0, depth, &stride);
        for (size_t p = 0; p < o->panels; p++) {
            float *total = o->totals + (p * o->rows + r) * KERNEL_COLS;
            prefetch(c, o, k0 + depth, t * o->panels + p, tiles * o->panels);
            if (k0 == 0)
                memset(total, 0, count * KERNEL_COLS * sizeof *total);
            c->kernels->contract(total, a, stride, o->packed + p * PANEL, (int)count, (int)depth);
            if (k0 + depth == c->k)
                store(c, o, total, o->row + r, count, o->panel + p);
        }
    }
}

void contraction_item(void *contraction, size_t item, int worker)
{
    const Contraction *c = contraction;
    size_t at[WALK_OPERANDS], block = item / c->col_groups % c->row_blocks;
    walk_at(&c->batch, item / c->col_groups / c->row_blocks, at);
    Block o = {.panel = item % c->col_groups * c->group, .out_at = at[0], .a_at = at[1], .b_at = at[2]};
    o.panels = min_size(c->group, c->panels - o.panel);
    o.row = c->m * block / c->row_blocks;
    o.rows = c->m * (block + 1) / c->row_blocks - o.row;
    o.packed = c->scratch + (size_t)worker * c->scratch_floats;
    o.totals = o.packed + o.panels * PANEL;
    o.copy = o.totals + o.panels * o.rows * KERNEL_COLS;
    for (size_t k = 0; k < c->k; k += KERNEL_K)
        k_block(c, &o, k, min_size(KERNEL_K, c->k - k));
}
