/* A plane as colours, pooled so that all of it fits or, at a chosen pooling, panned so that the cursor is seen. One of
 * few rows is broken into bands below each other, as a text into lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/play.h"
#include "tui/views/heat.h"
#include "tui/views/spread.h"
#include "tui/views/tensor/tensor_bins.h"

typedef struct Fit {
    Rect cells;              /* where the data cells are */
    int label_w;             /* columns of row labels to their left */
    int head;                /* lines of column labels above them */
    TensorBins down, across; /* of all rows and columns */
    int rows, cols;          /* cells drawn */
    size_t row0, col0;       /* first of them, counted in drawn cells */
    HeatSize size;
} Fit;

static int at_most(int x, int limit)
{
    return x < limit ? x : limit;
}

static int at_least(int x, int limit)
{
    return x > limit ? x : limit;
}

static bool row_here(const Tensor *t)
{
    return t->row < t->plane.row_count;
}

static bool col_here(const Tensor *t)
{
    return t->col < t->plane.col_count;
}

/* Pixel rows by pixel columns. */
static bool is_picture(const Tensor *t)
{
    const Graph *g = t->v.graph;
    return dims_role(g, t->plane.rows, ROLE_PIXEL_ROW) != AXIS_NONE &&
           dims_role(g, t->plane.cols, ROLE_PIXEL_COL) != AXIS_NONE && t->plane.row_count && t->plane.col_count;
}

/* Are they the words of a text? Of those one would miss a label; of patches and numbers one counts on. */
static bool are_words(const Tensor *t, Dims d)
{
    const Axis *a = d.n == 1 ? &t->v.graph->axes[d.axis[0]] : NULL;
    return a && (a->sequence == SEQUENCE_SOURCE || a->sequence == SEQUENCE_TARGET);
}

static Fit fit_below(const Paint *p, Rect r, const Tensor *t, int head)
{
    const LookAt *look = &p->s->look;
    const Graph *g = t->v.graph;
    Fit f = {.cells = r, .head = head};
    f.label_w = tensor_label_width(t, r.w);
    rect_cut(&f.cells, 'l', f.label_w);
    rect_cut(&f.cells, 't', f.head);
    size_t room_r = (size_t)heat_pixels(p, at_least(f.cells.h, 1)), room_c = (size_t)at_least(f.cells.w, 1);
    if (is_picture(t)) { /* it keeps its form */
        const size_t unit = heat_halves(p) ? 1 : 2, rows = t->plane.row_count, cols = t->plane.col_count;
        const size_t tall = room_c * rows / (cols * unit), wide = room_r * cols * unit / rows;
        room_r = tall >= 1 && tall < room_r ? tall : room_r;
        room_c = wide >= 1 && wide < room_c ? wide : room_c;
    }
    f.down = tensor_bins_of(g, t->plane.rows, t->plane.row_count, room_r, look->pool);
    f.across = tensor_bins_of(g, t->plane.cols, t->plane.col_count, room_c, look->pool);
    f.rows = (int)(f.down.drawn < room_r ? f.down.drawn : room_r);
    f.cols = (int)(f.across.drawn < room_c ? f.across.drawn : room_c);
    f.row0 = scroll_first(f.down.drawn, row_here(t) ? tensor_bin_of(&f.down, t->row) : 0, (size_t)f.rows);
    f.col0 = scroll_first(f.across.drawn, col_here(t) ? tensor_bin_of(&f.across, t->col) : 0, (size_t)f.cols);
    /* beside others, of which none is broken into bands: where columns share a cell it has no shape to keep */
    enum { STRIP = 8 };
    const bool strips = t->lit && !look->pool && f.across.drawn < f.across.n;
    const int oblong = is_picture(t) ? 1 : strips ? STRIP : HEAT_OBLONG;
    f.size = heat_within(p, (HeatSize){heat_pixels(p, f.cells.h), f.cells.w}, f.rows, f.cols, oblong);
    return f;
}

static int label_step(const Fit *f, const Tensor *t, bool *outer);

static Fit fit(const Paint *p, Rect r, const Tensor *t)
{
    enum { STAIR = 3, ROOMY = 16 };
    bool outer;
    Fit f = fit_below(p, r, t, (r.h >= 4 || t->columns) && !t->no_columns);
    if (!f.head || t->columns || r.h < ROOMY || !are_words(t, t->plane.cols) || f.across.drawn < f.across.n ||
        (size_t)f.cols < f.across.n)
        return f;
    int step = label_step(&f, t, &outer);
    return step > 1 && step <= STAIR ? fit_below(p, r, t, step) : f;
}

/* The same values in the pixels behind the cells, where these hold more than one each and there are any. */
static bool fit_fine(const Paint *p, const Tensor *t, const Fit *f, Fit *out)
{
    enum { MOST = 40000 }; /* cells, each of several values: a frame must not take longer than a key is held */
    HeatSize pixels = heat_fine(p, f->size);
    bool pooled = f->down.drawn < f->down.n || f->across.drawn < f->across.n;
    if (!pixels.tall || !pooled || f->down.pool || (size_t)f->rows < f->down.drawn || (size_t)f->cols < f->across.drawn)
        return false;
    *out = *f;
    out->down = tensor_bins_of(t->v.graph, t->plane.rows, t->plane.row_count, (size_t)pixels.tall, 0);
    size_t wide = MOST / out->down.drawn < (size_t)pixels.wide ? MOST / out->down.drawn : (size_t)pixels.wide;
    out->across = tensor_bins_of(t->v.graph, t->plane.cols, t->plane.col_count, wide, 0);
    out->rows = (int)out->down.drawn;
    out->cols = (int)out->across.drawn;
    out->row0 = out->col0 = 0;
    return true;
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
    size_t line = h->f->row0 + (size_t)row, r0 = tensor_bin_from(&h->f->down, line), drawn = h->f->col0 + (size_t)col,
           c0 = tensor_bin_from(&h->f->across, drawn);
    Pooled p = {.best = tensor_cell(t, r0, c0)};
    float first = t->v.values[p.best];
    p.top = h->kind == POOL_ABSMAX ? fabsf(first) : first;
    bool whole = pool_block(&p, h, r0, tensor_bin_end(&h->f->down, line), c0, tensor_bin_end(&h->f->across, drawn));
    *ref = shown_ref(&t->v, p.best);
    return whole && h->kind == POOL_MEAN ? (float)(p.sum / (double)p.count) : t->v.values[p.best];
}

static PoolKind pool_kind(const Paint *p, const Tensor *t)
{
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    const PoolKind kind = colour_scale_pool(p, &scale);
    return t->upward && kind == POOL_ABSMAX ? POOL_MAX : kind;
}

/* Of very many values of which the positive are far the largest, as behind a GELU, the largest of each cell is large:
 * on a scale with zero in its middle every cell is as warm as the next. Then it runs from the least that is drawn. */
static ColourScale scale_of(const Paint *p, const Fit *f, const Tensor *t)
{
    enum { CROWDED = 8, MOST = 1 << 16, FAR = 8 };
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    Fit fine;
    if (fit_fine(p, t, f, &fine))
        f = &fine;
    HeatSource source = {t, f, colour_scale_pool(p, &scale)};
    size_t count = (size_t)f->rows * (size_t)f->cols;
    if (f->down.n / f->down.drawn * (f->across.n / f->across.drawn) < CROWDED || source.kind != POOL_ABSMAX ||
        t->v.side == SIDE_DIFF || t->spread.shared || p->s->look.pool > 0 || p->s->look.locked || *p->s->look.map ||
        count > MOST)
        return scale;
    float *drawn = xmalloc(size_mul(count, sizeof *drawn)), least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        Ref ref;
        drawn[i] = heat_value(&source, (int)(i / (size_t)f->cols), (int)(i % (size_t)f->cols), &ref);
        least = fminf(least, drawn[i]);
        most = fmaxf(most, drawn[i]);
    }
    const float common = spread_common(drawn, count, 1);
    free(drawn);
    if (!(-FAR * least < most) || !isfinite(most) || !(least < most))
        return scale;
    bool far = common > least && most > 2 * common;
    ColourScale own = colour_scale_of_range(p, least > 0 ? least : 0, far ? common : most);
    own.low = least;
    own.clipped = far;
    own.least = least;
    own.most = most;
    own.own = scale.own;
    own.nans = scale.nans;
    return own;
}

static size_t cursor_row(const Fit *f, const Tensor *t)
{
    return tensor_bin_of(&f->down, t->row) - f->row0;
}

static size_t cursor_col(const Fit *f, const Tensor *t)
{
    return tensor_bin_of(&f->across, t->col) - f->col0;
}

/* The words that share a line, "the, l'": all of them where there is room, of two the second cut, else how many more
 * there are: "the  +1". */
typedef struct WordLine {
    Buf all;
    char first[64]; /* or the cursor's */
    size_t count;
    int at; /* cells before it in `all` */
} WordLine;

static void draw_words_of(const Paint *p, const Fit *f, WordLine *w, bool words, int y, bool here)
{
    enum { PART_LEAST = 5 }; /* ", ab…" */
    const Rect at = {y, f->cells.x - f->label_w, 1, f->label_w - 1};
    const int cells = utf8_cells(w->first);
    const bool two = w->count == 2 && !w->at && cells + PART_LEAST <= at.w,
               whole = words && (two || utf8_cells(buf_str(&w->all)) <= at.w);
    char more[24] = "";
    if (words && !whole && w->count > 1)
        snprintf(more, sizeof more, "+%zu", w->count - 1);
    const int room = *more ? at.w - 1 - (int)strlen(more) : at.w;
    canvas_label(p->c, y, at.x, room, STYLE_AXIS, whole ? buf_str(&w->all) : w->first);
    if (here)
        canvas_label(p->c, y, at.x + (whole ? w->at : 0), room - (whole ? w->at : 0), STYLE_STRONG, w->first);
    if (*more)
        canvas_right(p->c, y, at.x, at.w, STYLE_DIM, more);
    buf_free(&w->all);
    *w = (WordLine){.count = 0};
}

/* Of words every row of cell k, of others its first one, or the cursor's. */
static void put_words_of(const Fit *f, const Tensor *t, int k, bool words, bool here, WordLine *w)
{
    const size_t from = tensor_bin_from(&f->down, f->row0 + (size_t)k),
                 end = tensor_bin_end(&f->down, f->row0 + (size_t)k);
    char label[64];
    for (size_t i = here && !words ? t->row : from, last = words ? end : i + 1; i < last; i++, w->count++) {
        shown_label(t->v.graph, t->plane.rows, t->row0 + i, label, sizeof label);
        if (!w->count || (here && i == t->row)) {
            snprintf(w->first, sizeof w->first, "%s", label);
            w->at = utf8_cells(buf_str(&w->all)) + (w->count ? 2 : 0);
        }
        buf_printf(&w->all, "%s%s", w->count ? ", " : "", label);
    }
}

/* The line in which the middle of a row of cells is: that of its mark. */
static int row_line(const Paint *p, const Fit *f, int k)
{
    return f->cells.y + ((2 * k + 1) * f->size.tall - 1) / (2 * f->rows) / (heat_halves(p) ? 2 : 1);
}

/* A label in every line, of the cell whose middle is first in it, or of the cursor's; of words all of them. */
static void draw_row_labels(const Paint *p, const Fit *f, const Tensor *t)
{
    const int cursor = row_here(t) ? (int)cursor_row(f, t) : -1;
    const bool words = are_words(t, t->plane.rows);
    WordLine line = {.count = 0};
    for (int k = 0; k < f->rows; k++) {
        const int y = row_line(p, f, k);
        put_words_of(f, t, k, words, k == cursor, &line);
        if (k + 1 == f->rows || row_line(p, f, k + 1) != y)
            draw_words_of(p, f, &line, words, y, cursor >= 0 && row_line(p, f, cursor) == y);
    }
}

/* The label of a column; `outer`: without the last of merged axes, "h1" where "h1e0" has no room in the cells of a
 * head. */
static int col_label(const Tensor *t, bool outer, size_t col, char label[64])
{
    const Graph *g = t->v.graph;
    Dims d = t->plane.cols;
    col += t->col0;
    shown_label(g, d, col, label, 64);
    if (!outer)
        return utf8_cells(label);
    const Axis *last = &g->axes[d.axis[d.n - 1]];
    char inner[64];
    axis_label(last, (int)(col % (size_t)last->n), inner, sizeof inner);
    size_t cut = strlen(inner) + (*inner >= '0' && *inner <= '9' ? strlen(last->sym) : 0), n = strlen(label);
    label[n > cut ? n - cut : n] = '\0';
    return utf8_cells(label);
}

/* Drawn columns between two labels: room for the widest, in step with the inner one of merged axes. */
static int label_step(const Fit *f, const Tensor *t, bool *outer)
{
    int wide = at_least(f->size.wide / f->cols, 1), step = (shown_widest(t->v.graph, t->plane.cols) + wide) / wide;
    int inner = t->plane.cols.n > 1 ? (int)(f->across.pool ? f->across.inner / f->across.pool : f->across.per) : 0;
    char label[64];
    *outer = inner > 0 && step > inner && col_label(t, true, f->across.n - 1, label) < inner * wide;
    if (*outer)
        return inner;
    while (inner > 0 && inner % step && step % inner) /* rounded up, with a blank */
        step++;
    return step;
}

/* Of every column, each on the next line until the first is free again, with a thin line down to it. */
static void draw_col_stair(const Paint *p, const Fit *f, const Tensor *t)
{
    int end = f->cells.x + f->cells.w, cursor = col_here(t) ? (int)cursor_col(f, t) : -1;
    for (int k = 0; k < f->cols; k++) {
        char label[64];
        int x = heat_cell(p, f->cells, f->rows, f->cols, f->size, 0, k).x, y = f->cells.y - f->head + k % f->head;
        col_label(t, false, f->col0 + (size_t)k, label);
        canvas_label(p->c, y, x, end - x, k == cursor ? STYLE_STRONG : STYLE_AXIS, label);
    }
    for (int k = 0; k < f->cols; k++) {
        int x = heat_cell(p, f->cells, f->rows, f->cols, f->size, 0, k).x;
        for (int y = f->cells.y - f->head + k % f->head + 1; y < f->cells.y; y++) {
            const Cell *cell = canvas_at(p->c, y, x);
            if (cell && cell->ch == ' ')
                canvas_glyph(p->c, y, x, STYLE_DIM, 0x2502);
        }
    }
}

/* Does one axis have more columns in the pixels behind than drawn ones, of a cell each? Then labels stand in the middle
 * over theirs: by its first cell the next one would be read. */
static bool centres(const Paint *p, const Tensor *t, const Fit *f)
{
    Fit fine;
    return f->across.inner == f->across.n && f->size.wide == f->cols && fit_fine(p, t, f, &fine);
}

/* The column that a label of w cells at drawn column `col` names. */
static size_t col_named(const TensorBins *b, bool centred, size_t col, int w)
{
    const size_t middle = (2 * col + (size_t)w) * b->n / (2 * b->drawn);
    return !centred ? tensor_bin_from(b, col) : middle < b->n ? middle : b->n - 1;
}

static void draw_col_labels(const Paint *p, const Fit *f, const Tensor *t)
{
    if (f->head > 1) {
        draw_col_stair(p, f, t);
        return;
    }
    bool outer;
    char label[64];
    const bool centred = centres(p, t, f);
    int y = f->cells.y - 1, step = label_step(f, t, &outer), end = f->cells.x + f->cells.w, from = end, width = 0;
    if (col_here(t)) {
        int at = (int)cursor_col(f, t);
        width = col_label(t, outer, t->col, label);
        if (outer) /* over the first of its group */
            at -= at_most((int)((f->col0 + (size_t)at) % (size_t)step), at);
        from = heat_cell(p, f->cells, f->rows, f->cols, f->size, 0, at).x;
        if (centred && f->col0 == 0)
            from = f->cells.x + (int)((2 * t->col + 1) * f->across.drawn / f->across.n + 1 - (size_t)width) / 2;
        from = at_least(at_most(from, end - width), f->cells.x);
        canvas_text(p->c, y, from, end - from, STYLE_STRONG, label);
    }
    for (int k = 0; k < f->cols; k++) {
        size_t col = f->col0 + (size_t)k;
        int x = heat_cell(p, f->cells, f->rows, f->cols, f->size, 0, k).x;
        if (col % (size_t)step)
            continue;
        int w = col_label(t, outer, tensor_bin_from(&f->across, col), label);
        w = col_label(t, outer, col_named(&f->across, centred, col, w), label);
        if (x + w <= end && (x + w < from || x > from + width))
            canvas_text(p->c, y, x, w, STYLE_AXIS, label);
    }
}

/* --- bands --- */

/* So many, one below the other, of `per` columns each but the last; one: all of it. */
typedef struct Bands {
    int count, lines; /* lines of one, with its head and without the gap behind it */
    size_t per;
    int wide; /* columns of the canvas that `per` of them take, with the labels */
} Bands;

/* The part of the plane that a band is, and where. */
static Tensor band_of(const Bands *b, const Tensor *t, Rect r, int k, Rect *at)
{
    size_t from = (size_t)k * b->per, left = t->plane.col_count - from, count = left < b->per ? left : b->per;
    if (b->count == 1) {
        *at = r;
        return *t;
    }
    int labels = tensor_label_width(t, r.w), cells = b->wide - labels;
    *at = (Rect){r.y + k * (b->lines + 1), r.x, b->lines, labels + (int)((size_t)cells * count / b->per)};
    return tensor_columns(t, from, count);
}

/* As many as fill the pane best, each row in a line of its own, where one would leave half of it empty. */
static Bands bands_of(const Paint *p, Rect r, const Tensor *t)
{
    enum { MOST = 16 };
    Bands best = {.count = 1, .lines = r.h, .per = t->plane.col_count, .wide = r.w};
    Fit f = fit(p, r, t);
    size_t n = t->plane.col_count, rows = t->plane.row_count, unit = f.across.inner < n ? f.across.inner : 1;
    long most = 2L * f.size.tall * f.size.wide - 1, room = (long)heat_pixels(p, f.cells.h) * f.cells.w;
    if (p->s->look.pool > 0 || t->lit || t->no_rows || t->columns || t->no_columns || !f.head || most > room)
        return best;
    for (int k = 2; k <= MOST && (size_t)k <= n / unit; k++) {
        size_t per = (n / unit + (size_t)k - 1) / (size_t)k * unit;
        int lines = (r.h - (k - 1)) / k, count = (int)((n + per - 1) / per);
        if (lines < 2 || rows > (size_t)lines - 1)
            continue;
        TensorBins across = tensor_bins_of(t->v.graph, t->plane.cols, per, (size_t)f.cells.w, 0);
        HeatSize size = heat_size(p, (Rect){0, 0, lines - 1, f.cells.w}, (int)rows, (int)across.drawn);
        long area = (long)size.tall * size.wide * (long)n / (long)per;
        if (area <= most || (size_t)size.tall < rows * (heat_halves(p) ? 2 : 1))
            continue;
        most = area;
        best = (Bands){.count = count,
                       .lines = (heat_halves(p) ? (size.tall + 1) / 2 : size.tall) + 1,
                       .per = per,
                       .wide = f.label_w + size.wide};
    }
    return best;
}

static ColourScale heat_scale(const Paint *p, Rect r, const Tensor *t)
{
    Fit f = fit(p, r, t);
    return bands_of(p, r, t).count > 1 ? colour_scale_of_spread(p, t->v.side, &t->spread) : scale_of(p, &f, t);
}

static void draw_band(const Paint *p, Rect r, const Tensor *t, const ColourScale *scale, bool focus)
{
    Fit f = fit(p, r, t);
    HeatSource source = {t, &f, pool_kind(p, t)};
    heat_draw(p, f.cells, f.rows, f.cols, f.size, scale, heat_value, &source);
    Fit fine;
    if (fit_fine(p, t, &f, &fine))
        heat_draw_behind(p, f.cells, fine.rows, fine.cols, f.size, scale, heat_value,
                         &(HeatSource){t, &fine, source.kind});
    if (f.label_w)
        draw_row_labels(p, &f, t);
    if (f.head && t->plane.cols.n)
        draw_col_labels(p, &f, t);
    if (!row_here(t))
        return;
    const Rect cell = heat_mark_cell(p, f.cells, f.rows, f.cols, f.size, (int)cursor_row(&f, t), (int)cursor_col(&f, t),
                                     shown_ref(&t->v, t->v.cell));
    if (t->lit)
        canvas_glyph(p->c, cell.y, f.cells.x - 1, STYLE_CURSOR, '>');
    focus_cursor(p, focus, cell.y, cell.x);
}

/* Where a map of vectors leaves lines, the one at the cursor stands below it as bars, each under its column. */
static void draw_row_below(const Paint *p, Rect r, const Tensor *t)
{
    const Fit f = fit(p, r, t);
    const int below = f.cells.y + (heat_halves(p) ? (f.size.tall + 1) / 2 : f.size.tall) + 1;
    if (play_share(p->s) < 1 || !row_here(t) || !f.label_w || is_picture(t) || t->lit || t->columns || t->no_columns ||
        t->plane.row_count < 2 || f.size.wide % f.cols)
        return;
    tensor_row_bars(p, (Rect){below, f.cells.x, r.y + r.h - below, f.size.wide}, f.label_w,
                    &(TensorRow){t, &f.across, f.cols, f.col0}, (int)cursor_col(&f, t));
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Bands b = bands_of(p, r, t);
    const ColourScale scale = t->scale ? *t->scale : heat_scale(p, r, t);
    for (int k = 0; k < b.count; k++) {
        Rect at;
        Tensor part = band_of(&b, t, r, k, &at);
        draw_band(p, at, &part, &scale, focus);
    }
    if (b.count == 1)
        draw_row_below(p, r, t);
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    Bands b = bands_of(p, r, t);
    for (int k = 0; k < b.count; k++) {
        Rect at;
        Tensor part = band_of(&b, t, r, k, &at);
        Fit f = fit(p, at, &part);
        int row, col;
        if (!heat_hit(p, f.cells, f.rows, f.cols, f.size, y, x, &row, &col))
            continue;
        HeatSource source = {&part, &f, pool_kind(p, &part)};
        Ref ref;
        heat_value(&source, row, col, &ref);
        *cell = ref.cell;
        return true;
    }
    return false;
}

/* "2", or "2–3" where cells differ. */
static void put_bin(const TensorBins *b, Buf *out)
{
    size_t least = b->pool ? b->pool : b->inner / b->per, most = b->pool ? b->pool : (b->inner + b->per - 1) / b->per;
    buf_printf(out, least < most ? "%zu–%zu" : "%zu", least, most);
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    if (!t->v.values || r.h < 1)
        return;
    Bands b = bands_of(p, r, t);
    Tensor part = band_of(&b, t, r, 0, &r);
    Fit f = fit(p, r, &part);
    static const char *const KINDS[POOL_KINDS] = {"max", "mean", "absmax"};
    if (f.down.drawn < f.down.n || f.across.drawn < f.across.n) {
        Fit fine;
        const bool dots = fit_fine(p, &part, &f, &fine),
                   all = dots && fine.down.drawn == f.down.n && fine.across.drawn == f.across.n;
        if (!all) {
            buf_printf(out, "1 %s = ", dots ? "dot" : "cell");
            put_bin(dots ? &fine.down : &f.down, out);
            buf_puts(out, "×");
            put_bin(dots ? &fine.across : &f.across, out);
        }
        buf_puts(out, !all ? ", " : play_shows(p->s) ? "" : "every value drawn"); /* not yet */
        buf_puts(out, all ? "" : KINDS[pool_kind(p, t)]);
    }
    if (b.count > 1)
        buf_printf(out, "%s%zu columns a band", out->len ? ", " : "", b.per);
}

static double per_cell(const Paint *p, Rect r, const Tensor *t)
{
    if (r.h < 1 || r.w < 1)
        return 1;
    Bands b = bands_of(p, r, t);
    Tensor part = band_of(&b, t, r, 0, &r);
    Fit f = fit(p, r, &part);
    return (double)f.down.n / (double)f.down.drawn * ((double)f.across.n / (double)f.across.drawn);
}

const TensorHow TENSOR_HEAT = {.draw = draw,
                               .hit = hit,
                               .caption = caption,
                               .per_cell = per_cell,
                               .scale = heat_scale,
                               .bar = true,
                               .plane = true};
