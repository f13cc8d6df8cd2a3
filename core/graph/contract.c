#include "core/graph/contract.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

/* An item is up to ROW_BLOCK rows by GROUP panels. Its panels (one k block of them) and what it writes stay in a second-level
 * cache. COPY_STRIDE keeps the rows of a copied tile out of each other's cache sets. */
enum { ROW_BLOCK = 512, GROUP = 8, COPY_STRIDE = KERNEL_K + 16, PANEL = KERNEL_K * KERNEL_COLS, LINE = 16 };

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where the cells of every index over `axes` are in the operand `in`. */
static Offsets offsets_make(const Graph *g, Dims axes, Dims in)
{
    Walk w = walk_make(g->axes, axes, &in, 1);
    if (w.n <= 1)
        return (Offsets){.step = w.n ? w.stride[0][0] : 1};
    size_t *table = xmalloc(size_mul(w.count, sizeof *table));
    WalkPlace place = walk_place(&w, 0);
    for (size_t i = 0; i < w.count; i++) {
        table[i] = place.offset[0];
        walk_next_cell(&w, &place);
    }
    return (Offsets){.table = table};
}

static inline size_t offset(const Offsets *o, size_t i)
{
    return o->table ? o->table[i] : i * o->step;
}

static Dims both(Dims a, Dims b)
{
    return dims_minus(a, dims_minus(a, b));
}

Dims contraction_columns(const Graph *g, NodeId id)
{
    const Node *node = graph_node(g, id);
    return dims_minus(both(node->dims, graph_node(g, node->in[1])->dims), graph_node(g, node->in[0])->dims);
}

/* A bias that lies in order is read where it is. */
static void find_bias(Contraction *c, const Graph *g, Dims n, const float *bias, Dims bias_dims)
{
    c->bias = kernel_no_bias;
    if (!bias)
        return;
    Offsets at = offsets_make(g, n, bias_dims);
    c->bias = bias;
    c->bias_step = 1;
    if (at.table || (at.step != 1 && c->n > 1)) {
        c->bias = c->bias_made = xfloats(c->n);
        for (size_t j = 0; j < c->n; j++)
            c->bias_made[j] = bias[offset(&at, j)];
    }
    free(at.table);
}

static void make_items(Contraction *c, int threads)
{
    size_t all = size_mul(c->batches, c->panels), workers = (size_t)threads, rows = min_size(c->m, ROW_BLOCK);
    c->group = min_size(GROUP, min_size(c->panels, all / (8 * workers) + 1)); /* several items for each worker: none waits long */
    c->row_blocks = (c->m + ROW_BLOCK - 1) / ROW_BLOCK;
    c->col_groups = (c->panels + c->group - 1) / c->group;
    c->items = size_mul(size_mul(c->batches, c->row_blocks), c->col_groups);
    c->scratch_floats = c->group * PANEL;
    if (!c->a_direct)
        c->scratch_floats += (size_t)KERNEL_ROWS * COPY_STRIDE;
    if (!c->out_direct || c->k > KERNEL_K)
        c->scratch_floats += c->group * rows * KERNEL_COLS;
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
    c->a_row = offsets_make(g, m, da);
    c->out_row = offsets_make(g, m, node->dims);
    c->b_col = offsets_make(g, n, db);
    c->out_col = offsets_make(g, n, node->dims);
    c->a_k = offsets_make(g, k, da);
    c->b_k = offsets_make(g, k, db);
    find_bias(c, g, n, bias, bias_dims);
    /* rows a multiple of 4 KiB apart would all fall into the same cache sets: those are copied closer together */
    c->a_direct = !c->a_row.table && !c->a_k.table && (c->a_k.step != 1 || c->a_row.step % 1024 != 0);
    c->out_direct = !c->out_row.table && !c->out_col.table && (c->out_col.step == 1 || c->n == 1);
    c->panels = (c->n + KERNEL_COLS - 1) / KERNEL_COLS;
    make_items(c, threads);
}

void contraction_free(Contraction *c)
{
    free(c->a_row.table);
    free(c->out_row.table);
    free(c->b_col.table);
    free(c->out_col.table);
    free(c->a_k.table);
    free(c->b_k.table);
    free(c->bias_made);
    *c = (Contraction){0};
}

/* What one item works on. */
typedef struct Block {
    size_t row, rows, panel, panels; /* first and count */
    const float *a, *b;
    float *out;
    float *packed, *copy, *sums;     /* [panels][KERNEL_K][KERNEL_COLS], [KERNEL_ROWS][COPY_STRIDE], [panels][rows][KERNEL_COLS] */
} Block;

static size_t columns_of(const Contraction *c, size_t panel)
{
    return min_size(KERNEL_COLS, c->n - panel * KERNEL_COLS);
}

static void pack(const Contraction *c, const Block *o, size_t panel, size_t k0, size_t depth)
{
    size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    float *to = o->packed + (panel - o->panel) * PANEL;
    if (!c->b_col.table && !c->b_k.table) {
        c->kernels->pack(to, o->b + first * c->b_col.step + k0 * c->b_k.step, c->b_col.step, c->b_k.step, (int)columns, depth);
        return;
    }
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + j] = j < columns ? o->b[offset(&c->b_col, first + j) + offset(&c->b_k, k0 + k)] : 0.0f;
}

/* Asks for part of what is packed next, so that it comes from memory while the kernel runs. Only columns that lie along k.
 * The empty statement is for compilers that leave out calls without effect, as a prefetch is to them. */
static void prefetch(const Contraction *c, const Block *o, size_t k0, size_t part, size_t parts)
{
    size_t columns = o->panels * KERNEL_COLS, first = o->panel * KERNEL_COLS;
    if (c->b_k.table || c->b_k.step != 1)
        return;
    if (k0 >= c->k) { /* the next item's first block */
        k0 = 0;
        first += columns;
    }
    size_t depth = min_size(KERNEL_K, c->k - k0), end = min_size(first + columns * (part + 1) / parts, c->n);
    for (size_t j = first + columns * part / parts; j < end; j++) {
        const float *column = o->b + offset(&c->b_col, j) + k0;
        __asm__ volatile("");
        for (size_t k = 0; k < depth; k += LINE)
            __builtin_prefetch(column + k, 0, 2);
    }
}

/* Copies rows first … first+rows-1 of a, k0 … k0+depth-1, to where their k cells are contiguous. */
static void copy_rows(const Contraction *c, const Block *o, size_t first, size_t rows, size_t k0, size_t depth)
{
    bool contiguous = !c->a_k.table && c->a_k.step == 1;
    for (size_t r = 0; r < rows; r++) {
        const float *from = o->a + offset(&c->a_row, first + r) + (contiguous ? k0 : 0);
        float *to = o->copy + r * COPY_STRIDE;
        size_t k = 0;
        for (; contiguous && depth - k >= LINE; k += LINE)
            memcpy(to + k, from + k, LINE * sizeof *to); /* a size known here becomes a few moves */
        for (; k < depth; k++)
            to[k] = from[contiguous ? k : offset(&c->a_k, k0 + k)];
    }
}

static void scatter(const Contraction *c, const Block *o, const float *from, size_t row, size_t rows, size_t panel)
{
    size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    for (size_t r = 0; r < rows; r++) {
        float *to = o->out + offset(&c->out_row, row + r);
        for (size_t j = 0; j < columns; j++)
            to[offset(&c->out_col, first + j)] = from[r * KERNEL_COLS + j];
    }
}

/* A tile of rows by one panel. Sums go to the scratch, where rows are close together, and in the last block to their place. */
static void tile(const Contraction *c, const Block *o, ContractTile t, size_t r, size_t panel, size_t k0)
{
    size_t p = panel - o->panel, first = panel * KERNEL_COLS;
    bool last = k0 + (size_t)t.depth == c->k, direct = last && c->out_direct;
    float *sums = o->sums + (p * o->rows + r) * KERNEL_COLS;
    t.b = o->packed + p * PANEL;
    t.columns = (int)columns_of(c, panel);
    t.from = k0 ? sums : kernel_zeros;
    t.from_row = k0 ? KERNEL_COLS : 0;
    t.to = direct ? o->out + (o->row + r) * c->out_row.step + first : sums;
    t.to_row = direct ? c->out_row.step : KERNEL_COLS;
    t.bias = last ? c->bias + first * c->bias_step : NULL;
    for (int i = 0; direct && i < t.rows; i++)
        for (int j = 0; j < t.columns; j += LINE)
            __builtin_prefetch(t.to + (size_t)i * t.to_row + j, 1, 3);
    c->kernels->contract(&t);
    if (last && !direct)
        scatter(c, o, sums, o->row + r, (size_t)t.rows, panel);
}

/* One k block of all rows: tiles of nearly equal height (197 rows are tiles of 13 and 14, not 14 × 14 and 1). */
static void k_block(const Contraction *c, const Block *o, size_t k0, size_t depth)
{
    size_t tiles = (o->rows + KERNEL_ROWS - 1) / KERNEL_ROWS;
    for (size_t p = 0; p < o->panels; p++)
        pack(c, o, o->panel + p, k0, depth);
    for (size_t i = 0; i < tiles; i++) {
        size_t r = o->rows * i / tiles, count = o->rows * (i + 1) / tiles - r;
        ContractTile t = {.rows = (int)count, .depth = (int)depth, .a = o->copy, .a_row = COPY_STRIDE, .a_k = 1};
        if (c->a_direct) {
            t.a = o->a + (o->row + r) * c->a_row.step + k0 * c->a_k.step;
            t.a_row = c->a_row.step;
            t.a_k = c->a_k.step;
        } else
            copy_rows(c, o, o->row + r, count, k0, depth);
        for (size_t p = 0; p < o->panels; p++) {
            prefetch(c, o, k0 + depth, i * o->panels + p, tiles * o->panels);
            tile(c, o, t, r, o->panel + p, k0);
        }
    }
}

void contraction_item(void *contraction, size_t item, int worker)
{
    const Contraction *c = contraction;
    size_t at[WALK_OPERANDS], block = item / c->col_groups % c->row_blocks;
    walk_at(&c->batch, item / c->col_groups / c->row_blocks, at);
    Block o = {.panel = item % c->col_groups * c->group, .out = c->out + at[0], .a = c->a + at[1], .b = c->b + at[2]};
    o.panels = min_size(c->group, c->panels - o.panel);
    o.row = c->m * block / c->row_blocks;
    o.rows = c->m * (block + 1) / c->row_blocks - o.row;
    o.packed = c->scratch + (size_t)worker * c->scratch_floats;
    o.copy = o.packed + o.panels * PANEL;
    o.sums = o.copy + (c->a_direct ? 0 : (size_t)KERNEL_ROWS * COPY_STRIDE);
    for (size_t k = 0; k < c->k; k += KERNEL_K)
        k_block(c, &o, k, min_size(KERNEL_K, c->k - k));
}
