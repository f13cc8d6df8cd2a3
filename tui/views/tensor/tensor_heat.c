/* A plane as colours, pooled so that all of it fits or, at a chosen pooling, panned so that the cursor is seen. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/tensor/tensor.h"

typedef struct Fit {
    Rect cells;         /* where the data cells are */
    int label_w;        /* columns of row labels to their left */
    bool head;          /* a line of column labels above them */
    int pool_r, pool_c; /* tensor rows and columns in one drawn cell */
    int rows, cols;     /* cells drawn */
    size_t row0, col0;  /* first of them, counted in drawn cells */
    int cell_w, cell_h; /* as heat_draw takes them */
    /* Tensor.fill: so many columns of the tensor in so many drawn ones, per 0: pool_c each; all rows in so many */
    size_t inner, per, all_rows, rows_drawn;
} Fit;

/* The rows that drawn row k stands for, and the other way round. */
static size_t row_from(const Fit *f, size_t k)
{
    return f->rows_drawn ? k * f->all_rows / f->rows_drawn : k * (size_t)f->pool_r;
}

static size_t row_drawn(const Fit *f, size_t row)
{
    return f->rows_drawn ? ((row + 1) * f->rows_drawn - 1) / f->all_rows : row / (size_t)f->pool_r;
}

/* The columns that drawn column k stands for, [from, end) before the last column is looked at. */
static size_t col_from(const Fit *f, size_t k)
{
    return f->per ? k / f->per * f->inner + k % f->per * f->inner / f->per : k * (size_t)f->pool_c;
}

static size_t col_end(const Fit *f, size_t k)
{
    return f->per ? k / f->per * f->inner + (k % f->per + 1) * f->inner / f->per : (k + 1) * (size_t)f->pool_c;
}

static size_t col_drawn(const Fit *f, size_t col)
{
    return f->per ? col / f->inner * f->per + ((col % f->inner + 1) * f->per - 1) / f->inner : col / (size_t)f->pool_c;
}

/* Smallest pooling with which n fits into room. Where several axes are merged it is a divisor of the inner one if that
 * costs less than half the room, so that no drawn cell mixes two heads. */
static int pool_for(const Graph *g, Dims merged, size_t n, size_t room)
{
    size_t need = room ? (n + room - 1) / room : n;
    size_t inner = merged.n > 1 ? (size_t)g->axes[merged.axis[merged.n - 1]].n : 0;
    for (size_t k = need; k <= 2 * need && k <= inner; k++)
        if (inner % k == 0)
            return (int)k;
    return need ? (int)need : 1;
}

static size_t pooled(size_t n, int pool)
{
    return (n + (size_t)pool - 1) / (size_t)pool;
}

static int at_most(int x, int limit)
{
    return x < limit ? x : limit;
}

static int at_least(int x, int limit)
{
    return x > limit ? x : limit;
}

/* How large one drawn cell can be: about square (a terminal cell is twice as high as wide), at most 8 columns. */
static void grow_cells(Fit *f)
{
    int w = at_most(f->cells.w / at_least(f->cols, 1), 8), h = f->cells.h / at_least(f->rows, 1);
    f->cell_w = at_least(w, 1);
    f->cell_h = 0;
    if (h < 1) { /* two rows of data in one line */
        f->cell_w = 1;
        return;
    }
    f->cell_h = at_most(h, at_least((f->cell_w + 1) / 2, 1));
    f->cell_w = at_most(f->cell_w, 2 * f->cell_h);
}

static bool row_here(const Tensor *t)
{
    return t->row < t->plane.row_count;
}

static Fit fit(const Paint *p, Rect r, const Tensor *t)
{
    const LookAt *look = &p->s->look;
    const Graph *g = t->v.graph;
    Fit f = {.cells = r};
    f.label_w = tensor_label_width(t, r.w);
    f.head = (r.h >= 4 || t->columns) && !t->no_columns;
    rect_cut(&f.cells, 'l', f.label_w);
    if (f.head)
        rect_cut(&f.cells, 't', 1);
    size_t rows = t->plane.row_count, cols = t->plane.col_count;
    size_t room_r = (size_t)at_least(f.cells.h, 1) * (heat_halves(p) ? 2 : 1), room_c = (size_t)at_least(f.cells.w, 1);
    f.pool_r = look->pool > 0 ? at_most(look->pool, (int)rows) : pool_for(g, t->plane.rows, rows, room_r);
    f.pool_c = look->pool > 0 ? at_most(look->pool, (int)cols) : pool_for(g, t->plane.cols, cols, room_c);
    size_t all_r = pooled(rows, f.pool_r), all_c = pooled(cols, f.pool_c);
    if (t->fill && look->pool == 0 && rows > room_r) {
        f.all_rows = rows;
        f.rows_drawn = all_r = room_r;
    }
    if (t->fill && look->pool == 0 && cols > room_c) {
        f.inner = (size_t)g->axes[t->plane.cols.axis[t->plane.cols.n - 1]].n;
        f.per = room_c / (cols / f.inner);
        all_c = f.per ? f.per * (cols / f.inner) : all_c;
    }
    f.rows = (int)(all_r < room_r ? all_r : room_r);
    f.cols = (int)(all_c < room_c ? all_c : room_c);
    f.row0 = scroll_first(all_r, row_here(t) ? row_drawn(&f, t->row) : 0, (size_t)f.rows);
    f.col0 = scroll_first(all_c, col_drawn(&f, t->col), (size_t)f.cols);
    grow_cells(&f);
    return f;
}

typedef struct HeatSource {
    const Tensor *t;
    const Fit *f;
    PoolKind kind;
} HeatSource;

typedef struct Pooled {
    float top; /* by which the best is chosen: its value, or its size */
    size_t best, count;
    double sum;
} Pooled;

/* n more cells; false at a NaN, which is then the best. What is not at most the top is larger, or NaN: one comparison
 * tells both. */
static inline bool pool_max(Pooled *p, const float *values, size_t cell, size_t stride, size_t n, bool by_size)
{
    float top = p->top;
    for (size_t i = 0; i < n; i++, cell += stride) {
        float x = by_size ? fabsf(values[cell]) : values[cell];
        if (x <= top)
            continue;
        p->best = cell;
        if (isnan(x))
            return false;
        top = x;
    }
    p->top = top;
    return true;
}

static bool pool_mean(Pooled *p, const float *values, size_t cell, size_t stride, size_t n, size_t cursor)
{
    double sum = p->sum;
    for (size_t i = 0; i < n; i++, cell += stride) {
        float x = values[cell];
        if (cell == cursor || isnan(x))
            p->best = cell;
        if (isnan(x))
            return false;
        sum += (double)x;
    }
    p->sum = sum;
    p->count += n;
    return true;
}

static bool pool_more(Pooled *p, const HeatSource *h, size_t cell, size_t n)
{
    const Tensor *t = h->t;
    switch (h->kind) {
    case POOL_MEAN: return pool_mean(p, t->v.values, cell, t->col_stride, n, t->v.cell);
    case POOL_MAX: return pool_max(p, t->v.values, cell, t->col_stride, n, false);
    default: return pool_max(p, t->v.values, cell, t->col_stride, n, true);
    }
}

/* The rows and columns [r0, r1) × [c0, c1); a NaN is the last that is looked at. */
static bool pool_block(Pooled *p, const HeatSource *h, size_t r0, size_t r1, size_t c0, size_t c1)
{
    for (size_t r = r0; r < r1; r++) {
        if (h->t->linear) {
            if (!pool_more(p, h, tensor_cell(h->t, r, c0), c1 - c0))
                return false;
            continue;
        }
        for (size_t c = c0; c < c1; c++)
            if (!pool_more(p, h, tensor_cell(h->t, r, c), 1))
                return false;
    }
    return true;
}

/* One drawn cell: the largest (by size), or the mean, of the values pooled into it; the Ref is the value's own cell,
 * for a mean the cursor's where it is inside, else the first. A NaN is never pooled away. */
static float heat_value(const void *context, int row, int col, Ref *ref)
{
    const HeatSource *h = context;
    const Tensor *t = h->t;
    size_t line = h->f->row0 + (size_t)row, r0 = row_from(h->f, line), r1 = row_from(h->f, line + 1),
           drawn = h->f->col0 + (size_t)col, c0 = col_from(h->f, drawn), c1 = col_end(h->f, drawn);
    Pooled p = {.best = tensor_cell(t, r0, c0)};
    float first = t->v.values[p.best];
    p.top = h->kind == POOL_ABSMAX ? fabsf(first) : first;
    bool whole = pool_block(&p, h, r0, r1 < t->plane.row_count ? r1 : t->plane.row_count, c0,
                            c1 < t->plane.col_count ? c1 : t->plane.col_count);
    *ref = shown_ref(&t->v, p.best);
    return whole && h->kind == POOL_MEAN ? (float)(p.sum / (double)p.count) : t->v.values[p.best];
}

static PoolKind pool_kind(const Paint *p, const Tensor *t)
{
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    return colour_scale_pool(p, &scale);
}

static size_t cursor_row(const Fit *f, const Tensor *t)
{
    return row_drawn(f, t->row) - f->row0;
}

static size_t cursor_col(const Fit *f, const Tensor *t)
{
    return col_drawn(f, t->col) - f->col0;
}

static void draw_row_labels(const Paint *p, const Fit *f, const Tensor *t)
{
    int cursor = row_here(t) ? (int)cursor_row(f, t) : -1, step = f->cell_h > 0 ? 1 : 2;
    for (int k = 0; k < f->rows; k += step) {
        char label[64];
        bool here = cursor >= k && cursor < k + step;
        size_t row = t->row0 + (here ? t->row : row_from(f, f->row0 + (size_t)k));
        int y = f->cells.y + (f->cell_h > 0 ? k * f->cell_h : k / 2);
        canvas_text(p->c, y, f->cells.x - f->label_w, f->label_w - 1, here ? STYLE_STRONG : STYLE_AXIS,
                    shown_label(t->v.graph, t->plane.rows, row, label, sizeof label));
    }
}

/* Drawn columns between two labels: room for the widest, in step with the inner one of merged axes. */
static int label_step(const Fit *f, const Tensor *t)
{
    const Graph *g = t->v.graph;
    Dims d = t->plane.cols;
    int step = (shown_widest(g, d) + f->cell_w) / f->cell_w; /* rounded up, with a blank */
    int inner = d.n > 1 ? f->per ? (int)f->per : g->axes[d.axis[d.n - 1]].n / f->pool_c : 0;
    while (inner > 0 && inner % step && step % inner)
        step++;
    return step;
}

static void draw_col_labels(const Paint *p, const Fit *f, const Tensor *t)
{
    int y = f->cells.y - 1, step = label_step(f, t), end = f->cells.x + f->cells.w;
    char label[64];
    shown_label(t->v.graph, t->plane.cols, t->col, label, sizeof label);
    int width = utf8_cells(label), from = f->cells.x + (int)cursor_col(f, t) * f->cell_w;
    from = at_least(at_most(from, end - width), f->cells.x);
    canvas_text(p->c, y, from, end - from, STYLE_STRONG, label);
    for (int k = 0; k < f->cols; k++) {
        size_t col = f->col0 + (size_t)k;
        int x = f->cells.x + k * f->cell_w;
        if (col % (size_t)step)
            continue;
        shown_label(t->v.graph, t->plane.cols, col_from(f, col), label, sizeof label);
        int w = utf8_cells(label);
        if (x + w <= end && (x + w < from || x > from + width))
            canvas_text(p->c, y, x, w, STYLE_AXIS, label);
    }
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Fit f = fit(p, r, t);
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    HeatSource source = {t, &f, pool_kind(p, t)};
    heat_draw(p, f.cells, f.rows, f.cols, f.cell_w, f.cell_h, &scale, heat_value, &source);
    if (f.label_w)
        draw_row_labels(p, &f, t);
    if (f.head && t->plane.cols.n)
        draw_col_labels(p, &f, t);
    if (!row_here(t))
        return;
    int row = (int)cursor_row(&f, t), col = (int)cursor_col(&f, t);
    int y = f.cells.y + (f.cell_h > 0 ? row * f.cell_h : row / 2), x = f.cells.x + col * f.cell_w;
    heat_mark(p, y, x, at_least(f.cell_h, 1), f.cell_w, shown_ref(&t->v, t->v.cell));
    if (t->lit)
        canvas_glyph(p->c, y + (at_least(f.cell_h, 1) - 1) / 2, f.cells.x - 1, STYLE_CURSOR, '>');
    focus_cursor(p, focus, y + (at_least(f.cell_h, 1) - 1) / 2, x);
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    Fit f = fit(p, r, t);
    if (!rect_has(f.cells, y, x))
        return false;
    int row = f.cell_h > 0 ? (y - f.cells.y) / f.cell_h : 2 * (y - f.cells.y), col = (x - f.cells.x) / f.cell_w;
    if (row >= f.rows || col >= f.cols)
        return false;
    HeatSource source = {t, &f, pool_kind(p, t)};
    Ref ref;
    heat_value(&source, row, col, &ref);
    *cell = ref.cell;
    return true;
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    if (!t->v.values || r.h < 1)
        return;
    Fit f = fit(p, r, t);
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    if (f.pool_r > 1 || f.pool_c > 1)
        buf_printf(out, "1 cell = %d×%d, %s", f.pool_r, f.pool_c, colour_scale_pool_word(p, &scale));
}

const TensorHow TENSOR_HEAT = {.draw = draw, .hit = hit, .caption = caption, .bar = true, .plane = true};
