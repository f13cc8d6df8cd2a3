#include "core/graph/eval.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

/* An item is up to ROW_BLOCK rows by GROUP panels. Its panels (one k block of them) and what it writes stay in a
 * second-level cache. Rows a multiple of ALIAS floats apart fall into the same cache sets. COPY_ROWS are copied in one
 * item. */
enum {
    ROW_BLOCK = 512,
    GROUP = 8,
    PANEL = KERNEL_K * KERNEL_COLS,
    LINE = 16,
    ALIAS = 1024,
    COPY_ROWS = 16,
    WIDE = KERNEL_K + LINE
};

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
    c->bias_from = bias;
    if (!bias)
        return;
    c->bias_step = 1;
    c->bias_at = offsets_make(g, n, bias_dims);
    if (c->bias_at.table || (c->bias_at.step != 1 && c->n > 1))
        c->bias_made = xfloats(c->n);
    contraction_read_bias(c);
}

void contraction_read_bias(Contraction *c)
{
    for (size_t j = 0; c->bias_made && j < c->n; j++)
        c->bias_made[j] = c->bias_from[offset(&c->bias_at, j)];
    if (c->bias_from)
        c->bias = c->bias_made ? c->bias_made : c->bias_from;
}

static void find_half(Contraction *c, const Node *leaf)
{
    if (!leaf)
        return;
    c->half = leaf->store.half;
    c->widen = c->kernels->widen[leaf->store.form == LEAF_F16 ? HALF_F16 : HALF_BF16];
    REQUIRE(c->b || c->half);
}

/* One row that lies in order, and columns that do: nothing has to be packed. */
static void find_row(Contraction *c, const Node *leaf)
{
    const bool in_order = !c->a_k.table && c->a_k.step == 1 && !c->b_k.table && c->b_k.step == 1 && !c->b_col.table;
    const int form = c->b || !leaf ? 0 : 1 + (leaf->store.form == LEAF_F16 ? HALF_F16 : HALF_BF16);
    c->row = c->m == 1 && in_order && c->kernels->row ? c->kernels->row[form] : NULL;
}

static size_t share(size_t n, size_t parts)
{
    return (n + parts - 1) / parts;
}

/* Several items for each worker, so that none waits long for another and a clock is looked at often. */
static void make_items(Contraction *c, int threads)
{
    size_t workers = c->workers = (size_t)threads, rest = c->panels;
    if (workers == 1)
        c->group = size_mul(c->batches, c->panels) / 8 + 1;
    else if (c->batches == 1) {
        c->singles = min_size(2 * workers, c->panels);
        rest = c->panels - c->singles;
        c->group = share(rest, 2 * workers);
    } else
        c->group = share(c->panels, share(2 * workers, c->batches));
    c->group = min_size(min_size(c->group, c->panels), GROUP);
    c->group = c->group ? c->group : 1;
    c->groups = share(rest, c->group);
    c->row_blocks = share(c->m, ROW_BLOCK);
    c->items = size_mul(size_mul(c->batches, c->row_blocks), c->groups + c->singles);
    c->scratch_floats = c->group * PANEL;
    if (!c->out_direct || c->k > KERNEL_K)
        c->scratch_floats += c->group * min_size(c->m, ROW_BLOCK) * KERNEL_COLS;
    c->wide = c->scratch_floats;
    c->scratch_floats += c->half ? KERNEL_COLS * WIDE : 0;
    if (c->a_direct)
        return;
    c->copy_row = share(c->k, LINE) * LINE + LINE;
    c->copy_row += c->copy_row % ALIAS ? 0 : LINE;
    c->copy_floats = size_mul(size_mul(c->batches, c->m), c->copy_row);
    c->prepares = size_mul(c->batches, share(c->m, COPY_ROWS));
    c->items += c->prepares;
}

void contraction_init(Contraction *c, const Graph *g, NodeId id, const float *a, const float *b, const float *bias,
                      Dims bias_dims, float *out, int threads)
{
    const Node *node = graph_node(g, id);
    Dims da = graph_node(g, node->in[0])->dims, db = graph_node(g, node->in[1])->dims;
    Dims k = graph_reduced(g, id), batch = both(both(node->dims, da), db);
    Dims m = dims_minus(both(node->dims, da), batch), n = contraction_columns(g, id);
    Dims operands[] = {node->dims, da, db};
    *c = (Contraction){
        .a = a, .b = b, .out = out, .kernels = kernels(), .batch = walk_make(g->axes, batch, operands, 3)};
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
    find_half(c, graph_stored(g, node->in[1]));
    find_row(c, graph_stored(g, node->in[1]));
    c->a_direct = !c->a_row.table && !c->a_k.table && (c->a_k.step != 1 || c->a_row.step % ALIAS != 0 || c->m == 1);
    c->out_direct = !c->out_row.table && !c->out_col.table && (c->out_col.step == 1 || c->n == 1);
    c->panels = share(c->n, KERNEL_COLS);
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
    free(c->bias_at.table);
    free(c->bias_made);
    *c = (Contraction){0};
}

/* What one item works on. */
typedef struct Block {
    size_t row, rows, panel, panels; /* first and count */
    const float *a, *b;              /* row `row` of a, or of its copy; b NULL: half */
    const uint16_t *half;
    size_t a_row, a_k;
    float *out;
    float *packed, *sums; /* [panels][KERNEL_K][KERNEL_COLS], [panels][rows][KERNEL_COLS] */
    float *wide;          /* [KERNEL_COLS][WIDE] */
} Block;

static size_t columns_of(const Contraction *c, size_t panel)
{
    return min_size(KERNEL_COLS, c->n - panel * KERNEL_COLS);
}

/* Floats of 16 bits on the way: a column's, or where columns are neighbours a row's, at once. */
static void pack_half(const Contraction *c, const Block *o, size_t panel, size_t k0, size_t depth)
{
    const size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    const bool along_k = !c->b_k.table && c->b_k.step == 1, side_by_side = !c->b_col.table && c->b_col.step == 1;
    float *to = o->packed + (panel - o->panel) * PANEL;
    for (size_t j = 0; along_k && j < columns; j++)
        c->widen(o->wide + j * WIDE, o->half + offset(&c->b_col, first + j) + k0, depth);
    if (along_k) {
        c->kernels->pack(to, o->wide, WIDE, 1, (int)columns, depth);
        return;
    }
    for (size_t k = 0; k < depth; k++, to += KERNEL_COLS) {
        const uint16_t *from = o->half + offset(&c->b_k, k0 + k);
        memset(to, 0, KERNEL_COLS * sizeof *to);
        if (side_by_side)
            c->widen(to, from + first, columns);
        for (size_t j = 0; !side_by_side && j < columns; j++)
            c->widen(to + j, from + offset(&c->b_col, first + j), 1);
    }
}

static void pack(const Contraction *c, const Block *o, size_t panel, size_t k0, size_t depth)
{
    size_t first = panel * KERNEL_COLS, columns = columns_of(c, panel);
    float *to = o->packed + (panel - o->panel) * PANEL;
    if (!o->b) {
        pack_half(c, o, panel, k0, depth);
        return;
    }
    if (!c->b_col.table && !c->b_k.table) {
        c->kernels->pack(to, o->b + first * c->b_col.step + k0 * c->b_k.step, c->b_col.step, c->b_k.step, (int)columns,
                         depth);
        return;
    }
    for (size_t k = 0; k < depth; k++)
        for (size_t j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + j] = j < columns ? o->b[offset(&c->b_col, first + j) + offset(&c->b_k, k0 + k)] : 0.0f;
}

/* Asks for part of what is packed next, so that it comes from memory while the kernel runs. Only columns that lie along
 * k. The empty statement is for compilers that leave out calls without effect, as a prefetch is to them. */
static void prefetch(const Contraction *c, const Block *o, size_t k0, size_t part, size_t parts)
{
    size_t columns = o->panels * KERNEL_COLS, first = o->panel * KERNEL_COLS;
    if (c->b_k.table || c->b_k.step != 1)
        return;
    if (k0 >= c->k) { /* the first block of what this worker probably does next */
        k0 = 0;
        first += columns * c->workers;
    }
    size_t depth = min_size(KERNEL_K, c->k - k0), end = min_size(first + columns * (part + 1) / parts, c->n);
    const size_t size = o->b ? sizeof *o->b : sizeof *o->half;
    const char *b = o->b ? (const char *)o->b : (const char *)o->half;
    for (size_t j = first + columns * part / parts; j < end; j++) {
        const char *column = b + (offset(&c->b_col, j) + k0) * size;
        __asm__ volatile("");
        for (size_t at = 0; at < depth * size; at += LINE * sizeof(float))
            __builtin_prefetch(column + at, 0, 2);
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

/* A tile of rows by one panel. Sums go to the scratch, where rows are close together, and in the last block to their
 * place. */
static void tile(const Contraction *c, const Block *o, ContractTile *t, size_t r, size_t panel, size_t k0)
{
    size_t p = panel - o->panel, first = panel * KERNEL_COLS;
    bool last = k0 + (size_t)t->depth == c->k, direct = last && c->out_direct;
    float *sums = o->sums + (p * o->rows + r) * KERNEL_COLS;
    t->b = o->packed + p * PANEL;
    t->columns = (int)columns_of(c, panel);
    t->from = k0 ? sums : kernel_zeros;
    t->from_row = k0 ? KERNEL_COLS : 0;
    t->to = direct ? o->out + (o->row + r) * c->out_row.step + first : sums;
    t->to_row = direct ? c->out_row.step : KERNEL_COLS;
    t->bias = last ? c->bias + first * c->bias_step : NULL;
    for (int i = 0; direct && i < t->rows; i++)
        for (int j = 0; j < t->columns; j += LINE)
            __builtin_prefetch(t->to + (size_t)i * t->to_row + j, 1, 3);
    c->kernels->contract(t);
    if (last && !direct)
        scatter(c, o, sums, o->row + r, (size_t)t->rows, panel);
}

/* One k block of all rows: tiles of nearly equal height (197 rows are tiles of 13 and 14, not 14 × 14 and 1). */
static void k_block(const Contraction *c, const Block *o, size_t k0, size_t depth)
{
    size_t tiles = (o->rows + KERNEL_ROWS - 1) / KERNEL_ROWS;
    for (size_t p = 0; p < o->panels; p++)
        pack(c, o, o->panel + p, k0, depth);
    for (size_t i = 0; i < tiles; i++) {
        size_t r = o->rows * i / tiles, count = o->rows * (i + 1) / tiles - r;
        ContractTile t = {.a = o->a + r * o->a_row + k0 * o->a_k,
                          .a_row = o->a_row,
                          .a_k = o->a_k,
                          .rows = (int)count,
                          .depth = (int)depth};
        for (size_t p = 0; p < o->panels; p++) {
            prefetch(c, o, k0 + depth, i * o->panels + p, tiles * o->panels);
            tile(c, o, &t, r, o->panel + p, k0);
        }
    }
}

/* Rows of a, one after the other with their k cells side by side. */
static void copy_rows(const Contraction *c, size_t item)
{
    const size_t blocks = share(c->m, COPY_ROWS), batch = item / blocks, first = item % blocks * COPY_ROWS;
    const bool contiguous = !c->a_k.table && c->a_k.step == 1;
    size_t at[WALK_OPERANDS];
    walk_at(&c->batch, batch, at);
    for (size_t r = first; r < c->m && r < first + COPY_ROWS; r++) {
        const float *from = c->a + at[1] + offset(&c->a_row, r);
        float *to = c->copy + (batch * c->m + r) * c->copy_row;
        if (contiguous)
            memcpy(to, from, c->k * sizeof *to);
        for (size_t k = 0; !contiguous && k < c->k; k++)
            to[k] = from[offset(&c->a_k, k)];
    }
}

/* Which panels: groups, then single ones. */
static void choose_panels(const Contraction *c, Block *o, size_t n)
{
    o->panels = n < c->groups ? c->group : 1;
    o->panel = n < c->groups ? n * c->group : c->panels - c->singles + (n - c->groups);
    size_t end = n < c->groups ? c->panels - c->singles : c->panels;
    o->panels = min_size(o->panels, end - o->panel);
}

static void one_row(const Contraction *c, const Block *o)
{
    float sums[KERNEL_COLS];
    for (size_t p = o->panel; p < o->panel + o->panels; p++) {
        const size_t first = p * KERNEL_COLS, from = first * c->b_col.step;
        c->row(&(ContractRow){.a = o->a,
                              .bias = c->bias + first * c->bias_step,
                              .b = o->b ? (const void *)(o->b + from) : (const void *)(o->half + from),
                              .to = c->out_direct ? o->out + first : sums,
                              .column_step = c->b_col.step,
                              .depth = c->k,
                              .columns = (int)columns_of(c, p)});
        if (!c->out_direct)
            scatter(c, o, sums, 0, 1, p);
    }
}

void contraction_item(void *contraction, size_t item, int worker)
{
    const Contraction *c = contraction;
    if (item < c->prepares) {
        copy_rows(c, item);
        return;
    }
    item -= c->prepares;
    const size_t in_block = c->groups + c->singles, block = item / in_block % c->row_blocks,
                 batch = item / in_block / c->row_blocks;
    size_t at[WALK_OPERANDS];
    walk_at(&c->batch, batch, at);
    Block o = {.out = c->out + at[0],
               .b = c->b ? c->b + at[2] : NULL,
               .half = c->b ? NULL : c->half + at[2],
               .row = c->m * block / c->row_blocks};
    choose_panels(c, &o, item % in_block);
    o.rows = c->m * (block + 1) / c->row_blocks - o.row;
    o.a_row = c->a_direct ? c->a_row.step : c->copy_row;
    o.a_k = c->a_direct ? c->a_k.step : 1;
    o.a = (c->a_direct ? c->a + at[1] : c->copy + batch * c->m * c->copy_row) + o.row * o.a_row;
    if (c->row) {
        one_row(c, &o);
        return;
    }
    o.packed = c->scratch + (size_t)worker * c->scratch_floats;
    o.sums = o.packed + o.panels * PANEL;
    o.wide = c->scratch + (size_t)worker * c->scratch_floats + c->wide;
    for (size_t k = 0; k < c->k; k += KERNEL_K)
        k_block(c, &o, k, min_size(KERNEL_K, c->k - k));
}
