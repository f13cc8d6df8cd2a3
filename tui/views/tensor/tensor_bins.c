#include "tui/views/tensor/tensor_bins.h"

#include <math.h>

#include "core/base/utf8.h"
#include "tui/canvas/plot.h"
#include "tui/views/heat.h"

enum { BARS_LEAST = 6, BARS_MOST = 12, COLUMNS_LEAST = 16, NUMBER_LEAST = 5 };

TensorBins tensor_bins_of(const Graph *g, Dims merged, size_t n, size_t room, int pool)
{
    TensorBins b = {.n = n, .inner = merged.n > 1 ? (size_t)g->axes[merged.axis[merged.n - 1]].n : n};
    if (pool > 0) {
        b.pool = (size_t)pool < n ? (size_t)pool : n;
        b.drawn = (n + b.pool - 1) / b.pool;
        return b;
    }
    if (b.inner < n && room / (n / b.inner) == 0) /* not even a cell for each */
        b.inner = n;
    b.per = room / (n / b.inner);
    b.per = b.per < b.inner ? b.per : b.inner;
    b.drawn = n / b.inner * b.per;
    return b;
}

size_t tensor_bin_from(const TensorBins *b, size_t k)
{
    return b->pool ? k * b->pool : k / b->per * b->inner + heat_first(k % b->per, b->inner, b->per);
}

size_t tensor_bin_end(const TensorBins *b, size_t k)
{
    size_t end = b->pool ? (k + 1) * b->pool : k / b->per * b->inner + heat_first(k % b->per + 1, b->inner, b->per);
    return end < b->n ? end : b->n;
}

size_t tensor_bin_of(const TensorBins *b, size_t i)
{
    return b->pool ? i / b->pool : i / b->inner * b->per + heat_part(i % b->inner, b->inner, b->per);
}

static float row_value(const void *of, int i, Ref *ref)
{
    const TensorRow *row = of;
    const Tensor *t = row->t;
    const size_t k = row->col0 + (size_t)i, end = tensor_bin_end(row->across, k);
    size_t best = tensor_cell(t, t->row, tensor_bin_from(row->across, k));
    if (t->col < t->plane.col_count && tensor_bin_of(row->across, t->col) == k) { /* the cursor is on it */
        best = tensor_cell(t, t->row, t->col);
        *ref = shown_ref(&t->v, best);
        return t->v.values[best];
    }
    for (size_t c = tensor_bin_from(row->across, k); c < end; c++) {
        const size_t cell = tensor_cell(t, t->row, c);
        if (isnan(t->v.values[cell]) || fabsf(t->v.values[cell]) > fabsf(t->v.values[best]))
            best = cell;
    }
    *ref = shown_ref(&t->v, best);
    return t->v.values[best];
}

static void draw_end(const Paint *p, Rect at, double end)
{
    char number[32];
    number_text(number, sizeof number, (float)end, at.w);
    if (at.w >= NUMBER_LEAST && end != 0)
        canvas_right(p->c, at.y, at.x, at.w, STYLE_AXIS, number);
}

/* "1 bar: the largest of 2–3 columns …", in the line above the bars. */
static void draw_joined(const Paint *p, Rect at, const TensorBins *b)
{
    const size_t least = b->pool ? b->pool : b->inner / b->per,
                 most = b->pool ? b->pool : (b->inner + b->per - 1) / b->per;
    char columns[48], text[128];
    if (most < 2)
        return;
    utf8_print(columns, sizeof columns, least < most ? "%zu–%zu columns" : "%zu columns", least, most);
    utf8_print(text, sizeof text, "1 bar: of %s the one farthest from 0, or the cursor's", columns);
    if (utf8_cells(text) > at.w)
        utf8_print(text, sizeof text, "1 bar: the largest of %s, or cursor's", columns);
    if (utf8_cells(text) <= at.w)
        canvas_text(p->c, at.y, at.x, at.w, STYLE_DIM, text);
}

void tensor_row_bars(const Paint *p, Rect r, int label, const TensorRow *row, int here)
{
    CanvasBars bars = {.value = row_value, .of = row, .n = row->cols, .style = STYLE_TEXT, .negative = STYLE_NEGATIVE};
    char name[64];
    r.h = r.h < BARS_MOST ? r.h : BARS_MOST;
    if (r.h < BARS_LEAST || row->cols < COLUMNS_LEAST)
        return;
    for (int i = 0; i < bars.n; i++) {
        Ref ref;
        const double x = (double)row_value(row, i, &ref);
        if (!isfinite(x))
            return;
        bars.low = x < bars.low ? x : bars.low;
        bars.high = x > bars.high ? x : bars.high;
    }
    if (bars.low >= bars.high)
        return;
    if (row->t->spread.shared) { /* A's and B's bars are as long as each other's */
        bars.low = fmin(0, (double)row->t->spread.least);
        bars.high = fmax(0, (double)row->t->spread.most);
    }
    shown_label(row->t->v.graph, row->t->plane.rows, row->t->row0 + row->t->row, name, sizeof name);
    canvas_label(p->c, r.y, r.x - label, label - 1, STYLE_STRONG, name);
    draw_joined(p, (Rect){r.y - 1, r.x, 1, r.w}, row->across);
    draw_end(p, (Rect){r.y + 1, r.x - label, 1, label - 1}, bars.high);
    draw_end(p, (Rect){r.y + r.h - 1, r.x - label, 1, label - 1}, bars.low);
    for (int y = 0; y < r.h; y++)
        canvas_glyph(p->c, r.y + y, bars_column(r, bars.n, here), STYLE_AXIS, 0x250a);
    bars_draw(p->c, r, &bars);
}
