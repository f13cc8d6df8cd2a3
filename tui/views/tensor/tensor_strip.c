/* The focused row of a plane as one long strip of colours over several lines, below it the same values as numbers, and
 * where there is room left all rows, or the bars of a vector. */
#include "tui/canvas/plot.h"
#include "tui/views/heat.h"
#include "tui/views/tensor/tensor.h"

enum { NUMBER_W = 9, PER_LINE_STEP = 8, OTHERS_LEAST = 5 };

/* A sequence broken into lines: `per` values of `cell_w` columns each, `lines` lines from line `first` on. */
typedef struct Wrapped {
    Rect cells;
    int cell_w;
    size_t per, first, lines;
} Wrapped;

typedef struct Fit {
    int label_w;
    Wrapped heat, numbers; /* lines = 0: none */
    Rect others;           /* h = 0: no room */
} Fit;

static size_t per_line(int width, int cell_w)
{
    size_t per = width >= cell_w ? (size_t)(width / cell_w) : 1;
    return per >= PER_LINE_STEP ? per - per % PER_LINE_STEP : per;
}

static Wrapped wrap(Rect r, int cell_w, size_t n, size_t cursor)
{
    Wrapped w = {.cells = r, .cell_w = cell_w, .per = per_line(r.w, cell_w)};
    size_t all = (n + w.per - 1) / w.per, room = r.h > 0 ? (size_t)r.h : 0;
    w.lines = all < room ? all : room;
    w.first = w.lines ? scroll_first(all, cursor / w.per, w.lines) : 0;
    w.cells.h = (int)w.lines;
    return w;
}

static Fit fit(Rect r, const Tensor *t)
{
    Fit f = {0};
    size_t n = t->plane.col_count;
    int last = shown_widest(t->v.graph, t->plane.cols);
    Rect all = r;
    if (r.w >= 20)
        f.label_w = (last < 8 ? last : 8) + 1;
    rect_cut(&r, 'l', f.label_w);
    Rect top = r;
    top.h = r.h > 3 ? (r.h + 1) / 2 : r.h;
    int cell_w = 1;
    for (int wider = 2; wider <= 6; wider += 2) /* as large as half the pane allows */
        if ((n + per_line(r.w, wider) - 1) / per_line(r.w, wider) <= (size_t)top.h)
            cell_w = wider;
    f.heat = wrap(top, cell_w, n, t->col);
    rect_cut(&r, 't', f.heat.cells.h + 1);
    if (r.h > 0)
        f.numbers = wrap(r, r.w < NUMBER_W ? (r.w > 0 ? r.w : 1) : NUMBER_W, n, t->col);
    int used = r.y - all.y + (int)f.numbers.lines + 1;
    if (f.numbers.lines && all.h - used >= OTHERS_LEAST && all.w >= 20)
        f.others = (Rect){all.y + used, all.x, all.h - used, all.w};
    return f;
}

/* Index mark of a line: the label of its first value. */
static void draw_mark(const Paint *p, const Fit *f, const Wrapped *w, const Tensor *t, size_t line)
{
    char label[64];
    size_t col = (w->first + line) * w->per;
    Style style = t->col / w->per == w->first + line ? STYLE_STRONG : STYLE_AXIS;
    if (f->label_w && col < t->plane.col_count)
        canvas_text(p->c, w->cells.y + (int)line, w->cells.x - f->label_w, f->label_w - 1, style,
                    shown_label(t->v.graph, t->plane.cols, col, label, sizeof label));
}

static void draw_pixels(const Paint *p, const Tensor *t, const ColourScale *scale, size_t cell, Rect at, bool focus)
{
    float x = t->v.values[cell];
    for (int i = 0; i < at.w; i++)
        canvas_pixel(p->c, at.y, at.x + i, -1, colour_scale_colour(scale, x), colour_scale_level(scale, x),
                     colour_scale_sign(scale, x), shown_ref(&t->v, cell));
    if (cell == t->v.cell) {
        heat_mark(p, at.y, at.x, 1, at.w, shown_ref(&t->v, cell));
        focus_cursor(p, focus, at.y, at.x);
    }
}

/* scale NULL: as numbers. */
static void draw_wrapped(const Paint *p, const Fit *f, const Wrapped *w, const Tensor *t, const ColourScale *scale,
                         bool focus)
{
    int gap = w->cell_w > 1;
    for (size_t line = 0; line < w->lines; line++) {
        draw_mark(p, f, w, t, line);
        for (size_t k = 0, col = (w->first + line) * w->per; k < w->per && col < t->plane.col_count; k++, col++) {
            size_t cell = tensor_cell(t, t->row, col);
            Rect at = {w->cells.y + (int)line, w->cells.x + (int)k * w->cell_w, 1, w->cell_w};
            if (scale)
                draw_pixels(p, t, scale, cell, at, focus);
            else
                shown_number_right(p, &t->v, cell, at.y, at.x + gap, at.w - gap,
                                   cell == t->v.cell ? STYLE_CURSOR : STYLE_TEXT);
        }
    }
}

/* The rows below: with a mark at this one. */
static Tensor others_of(const Tensor *t)
{
    Tensor all = *t;
    all.lit = true;
    return all;
}

static float bar_value(const void *of, int i, Ref *ref)
{
    const Tensor *t = of;
    size_t cell = tensor_cell(t, t->row, (size_t)i);
    *ref = shown_ref(&t->v, cell);
    return t->v.values[cell];
}

static void draw_others(const Paint *p, const Fit *f, const Tensor *t)
{
    Rect r = f->others;
    if (r.h < 1)
        return;
    Rect head = rect_cut(&r, 't', 1);
    bool rows = t->plane.row_count > 1;
    canvas_text(p->c, head.y, head.x, head.w, STYLE_DIM, rows ? "all rows, > at this one" : "as bars");
    if (rows) {
        Tensor all = others_of(t);
        TENSOR_HEAT.draw(p, r, &all, false);
        return;
    }
    rect_cut(&r, 'l', f->label_w);
    CanvasBars b = {
        .value = bar_value, .of = t, .n = (int)t->plane.col_count, .style = STYLE_TEXT, .negative = STYLE_NEGATIVE};
    b.low = t->spread.least < 0 ? (double)t->spread.least : 0;
    b.high = t->spread.most > 0 ? (double)t->spread.most : 0;
    bars_draw(p->c, r, &b);
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Fit f = fit(r, t);
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    draw_wrapped(p, &f, &f.heat, t, &scale, focus);
    draw_wrapped(p, &f, &f.numbers, t, NULL, focus);
    draw_others(p, &f, t);
}

static bool hit_in(const Wrapped *w, const Tensor *t, int y, int x, size_t *cell)
{
    if (!w->lines || !rect_has(w->cells, y, x))
        return false;
    size_t k = (size_t)((x - w->cells.x) / w->cell_w), col = (w->first + (size_t)(y - w->cells.y)) * w->per + k;
    if (k >= w->per || col >= t->plane.col_count)
        return false;
    *cell = tensor_cell(t, t->row, col);
    return true;
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    Fit f = fit(r, t);
    if (f.others.h && t->plane.row_count > 1 && y > f.others.y) {
        Tensor all = others_of(t);
        return TENSOR_HEAT.hit(p, (Rect){f.others.y + 1, f.others.x, f.others.h - 1, f.others.w}, &all, y, x, cell);
    }
    return hit_in(&f.heat, t, y, x, cell) || hit_in(&f.numbers, t, y, x, cell);
}

static void put_part(const Wrapped *w, const char *what, size_t n, Buf *out)
{
    const size_t from = w->first * w->per, end = from + w->lines * w->per;
    if (w->lines && end - from < n)
        buf_printf(out, ", %s %zu–%zu of %zu", what, from, (end < n ? end : n) - 1, n);
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    char label[64];
    Fit f = fit(r, t);
    if (t->plane.rows.n)
        buf_printf(out, "row %s", shown_label(t->v.graph, t->plane.rows, t->row, label, sizeof label));
    if (out->len) {
        put_part(&f.heat, "colours", t->plane.col_count, out);
        put_part(&f.numbers, "numbers", t->plane.col_count, out);
        if (f.others.h > 1 && t->plane.row_count > 1) { /* what a cell of all rows holds, where it is several */
            Tensor all = others_of(t);
            Buf cell = {0};
            TENSOR_HEAT.caption(p, (Rect){f.others.y + 1, f.others.x, f.others.h - 1, f.others.w}, &all, &cell);
            if (cell.len)
                buf_printf(out, "; below %s", buf_str(&cell));
            buf_free(&cell);
        }
    }
}

const TensorHow TENSOR_STRIP = {.draw = draw, .hit = hit, .caption = caption, .bar = true, .plane = true};
