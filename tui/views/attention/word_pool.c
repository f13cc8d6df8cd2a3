#include "tui/views/attention/word_pool.h"

#include <math.h>

#include "core/base/utf8.h"

enum { LABEL_MOST = 12, LABEL_CUT = 5, LABELLED = 30, FINE_MOST = 40000, BAR_LEAST = 12, BAR_SIGNED = 20 };

static int at_most(int x, int limit)
{
    return x < limit ? x : limit;
}

/* The first token of drawn cell k, of n tokens in `drawn` cells. */
static int first_of(const WordPool *l, int n, int drawn, int k)
{
    return l->per ? at_most(k * l->per, n) : (int)heat_first((size_t)k, (size_t)n, (size_t)drawn);
}

static int cell_of(const WordPool *l, int n, int drawn, int token)
{
    return l->per ? token / l->per : (int)heat_part((size_t)token, (size_t)n, (size_t)drawn);
}

WordPool word_pool(const Paint *p, Rect r, const Attend *a, int per)
{
    WordPool l = {.cells = r, .column_y = -1, .bar_y = -1, .value_y = -1, .per = per};
    int n = a->t_axis->n, m = a->u_axis->n;
    if (l.cells.h > 2)
        l.value_y = rect_cut(&l.cells, 'b', 1).y;
    if (l.cells.h > 3)
        l.bar_y = rect_cut(&l.cells, 'b', 1).y;
    int label = shown_axis_widest(a->t_axis, LABEL_MOST) + 1;
    if (r.w >= LABELLED || r.w >= label + m) /* every word that is looked at keeps its column */
        l.labels = label;
    else if (r.w >= LABEL_CUT + m) /* rather the beginnings of words than none */
        l.labels = LABEL_CUT;
    rect_cut(&l.cells, 'l', l.labels);
    if (l.cells.h > 3)
        l.column_y = rect_cut(&l.cells, 'b', 1).y;
    l.rows = at_most(per ? (n + per - 1) / per : n, heat_pixels(p, l.cells.h));
    l.cols = at_most(per ? (m + per - 1) / per : m, l.cells.w);
    if (l.rows < 1 || l.cols < 1)
        return l;
    if (per) {
        l.row0 = (int)scroll_first((size_t)(n + per - 1) / (size_t)per, (size_t)(a->at_t / per), (size_t)l.rows);
        l.col0 = (int)scroll_first((size_t)(m + per - 1) / (size_t)per, (size_t)(a->at_u / per), (size_t)l.cols);
    }
    l.size = heat_size(p, l.cells, l.rows, l.cols);
    l.column_y = l.column_y < 0 ? -1 : l.cells.y + (heat_halves(p) ? (l.size.tall + 1) / 2 : l.size.tall);
    return l;
}

float word_pool_value(const Attend *a, const WordPool *l, PoolKind kind, int row, int col, Ref *ref)
{
    int n = a->t_axis->n, m = a->u_axis->n, t0 = first_of(l, n, l->rows, l->row0 + row),
        t1 = first_of(l, n, l->rows, l->row0 + row + 1), u0 = first_of(l, m, l->cols, l->col0 + col),
        u1 = first_of(l, m, l->cols, l->col0 + col + 1);
    size_t best = attend_cell(a, a->head, t0, u0), count = 0;
    double sum = 0;
    for (int t = t0; t < t1; t++)
        for (int u = u0; u < u1; u++) {
            size_t cell = attend_cell(a, a->head, t, u);
            float x = a->v.values[cell], top = a->v.values[best];
            if (isinf(x) && x < 0) /* it is masked: no value */
                continue;
            if (!count++ || (!isnan(top) && (isnan(x) || (kind == POOL_ABSMAX ? fabsf(x) > fabsf(top) : x > top))))
                best = cell;
            sum += (double)x;
        }
    bool mean = kind == POOL_MEAN && count > 1;
    *ref = mean ? (Ref){0} : shown_ref(&a->v, best);
    return mean ? (float)(sum / (double)count) : a->v.values[best];
}

typedef struct Drawn {
    const Attend *a;
    const WordPool *l;
    PoolKind kind;
} Drawn;

static float drawn_value(const void *context, int row, int col, Ref *ref)
{
    const Drawn *d = context;
    return word_pool_value(d->a, d->l, d->kind, row, col, ref);
}

/* The same in the pixels behind, as fine as leaves a frame its time. */
static bool finer(const Paint *p, const Attend *a, const WordPool *l, WordPool *out)
{
    HeatSize pixels = heat_fine(p, l->size);
    *out = *l;
    if (l->per || !pixels.tall)
        return false;
    out->rows = at_most(a->t_axis->n, pixels.tall);
    out->cols = at_most(at_most(a->u_axis->n, pixels.wide), FINE_MOST / out->rows);
    return out->cols > l->cols;
}

/* The column in which a token's middle is drawn; whole: every token has its own pixels behind the cells. */
static int column_of(const Paint *p, const Attend *a, const WordPool *l, bool whole, int token)
{
    if (whole)
        return l->cells.x + (2 * token + 1) * l->size.wide / (2 * a->u_axis->n);
    return heat_cell(p, l->cells, l->rows, l->cols, l->size, 0, cell_of(l, a->u_axis->n, l->cols, token) - l->col0).x;
}

/* Each behind a corner in its column, the cursor's behind a mark, or before it at the end. */
static void draw_columns(const Paint *p, const Attend *a, const WordPool *l, bool whole, Rect r)
{
    char text[64];
    const int end = r.x + r.w, x = column_of(p, a, l, whole, a->at_u),
              first = first_of(l, a->u_axis->n, l->cols, l->col0),
              last = first_of(l, a->u_axis->n, l->cols, l->col0 + l->cols);
    axis_label(a->u_axis, a->at_u, text, sizeof text);
    const int wide = at_most(utf8_cells(text), LABEL_MOST), from = x + 1 + wide > end ? x - wide : x;
    canvas_glyph(p->c, l->column_y, x, STYLE_CURSOR, '^');
    canvas_label(p->c, l->column_y, from < x ? from : x + 1, wide, STYLE_CURSOR, text);
    for (int u = first, free_from = l->cells.x; u < last; u++) {
        const int left = column_of(p, a, l, whole, u);
        const int cells = at_most(utf8_cells(axis_label(a->u_axis, u, text, sizeof text)), LABEL_MOST);
        const bool begins = whole || u == first_of(l, a->u_axis->n, l->cols, cell_of(l, a->u_axis->n, l->cols, u));
        if (!begins || left < free_from || left + 1 + cells > end ||
            (left + 1 + cells >= from && left <= from + 1 + wide))
            continue;
        canvas_glyph(p->c, l->column_y, left, STYLE_AXIS, 0x2514);
        canvas_label(p->c, l->column_y, left + 1, cells, STYLE_AXIS, text);
        free_from = left + cells + 2;
    }
}

static void draw_labels(const Paint *p, const Attend *a, const WordPool *l, bool whole, Rect r)
{
    char text[64];
    int at = cell_of(l, a->t_axis->n, l->rows, a->at_t) - l->row0, last = -1;
    for (int k = 0; l->labels && k < l->rows; k++) {
        Rect cell = heat_cell(p, l->cells, l->rows, l->cols, l->size, k, 0);
        int y = cell.y + (cell.h - 1) / 2, token = first_of(l, a->t_axis->n, l->rows, l->row0 + k);
        if (y == last && k != at)
            continue;
        last = y;
        canvas_fill(p->c, (Rect){y, r.x, 1, l->labels - 1}, STYLE_TEXT, ' ');
        canvas_label(p->c, y, r.x, l->labels - 1, k == at ? STYLE_CURSOR : STYLE_AXIS,
                     axis_label(a->t_axis, k == at ? a->at_t : token, text, sizeof text));
        if (k == at) {
            canvas_glyph(p->c, y, l->cells.x - 1, STYLE_CURSOR, '>');
            k += k + 1 < l->rows && heat_cell(p, l->cells, l->rows, l->cols, l->size, k + 1, 0).y == y;
        }
    }
    if (l->column_y >= 0)
        draw_columns(p, a, l, whole, r);
}

/* "7", or "7–8" where cells differ. */
static void put_tokens(const WordPool *l, int n, int drawn, Buf *out)
{
    int most = l->per ? l->per : (n + drawn - 1) / drawn, least = l->per ? l->per : n / drawn;
    buf_printf(out, least < most ? "%d–%d" : "%d", least, most);
}

static void draw_bar(const Paint *p, const Attend *a, const WordPool *l, const ColourScale *scale, bool fine,
                     bool whole, Rect r)
{
    if (l->bar_y < 0)
        return;
    Buf text = {0};
    buf_puts(&text, "1 cell = ");
    put_tokens(l, a->t_axis->n, l->rows, &text);
    buf_puts(&text, "×");
    put_tokens(l, a->u_axis->n, l->cols, &text);
    buf_puts(&text, " tokens");
    char kind[64]; /* where it is whole */
    if (utf8_print(kind, sizeof kind, ", %s%s", colour_scale_pool_word(p, scale), fine ? ", pixels finer" : "") +
            utf8_cells(buf_str(&text)) <=
        r.w)
        buf_puts(&text, kind);
    if (whole) {
        buf_clear(&text);
        buf_puts(&text, "all drawn");
    }
    const char *keys = l->per ? "  + closer, - wider" : "  + closer";
    if (utf8_cells(buf_str(&text)) + utf8_cells(keys) + 24 <= r.w)
        buf_puts(&text, keys);
    const int bar = a->v.side == SIDE_DIFF ? BAR_SIGNED : BAR_LEAST;
    if (!whole && utf8_cells(buf_str(&text)) + 2 + bar > r.w) { /* in short, or not at all: the scale comes first */
        buf_free(&text);
        put_tokens(l, a->t_axis->n, l->rows, &text);
        if (l->cols == a->u_axis->n)
            buf_puts(&text, " rows");
        else {
            buf_puts(&text, "×");
            put_tokens(l, a->u_axis->n, l->cols, &text);
        }
        if (utf8_cells(buf_str(&text)) + 2 + bar > r.w)
            buf_free(&text);
    }
    int used = text.len ? canvas_text(p->c, l->bar_y, r.x, r.w, STYLE_TEXT, buf_str(&text)) + 2 : 0;
    buf_free(&text);
    if (r.w - used >= BAR_LEAST)
        colour_scale_bar(p, scale, l->bar_y, r.x + used, r.w - used);
}

void word_pool_draw(const Paint *p, Rect r, const Attend *a, const WordPool *l, bool focus)
{
    if (l->rows < 1 || l->cols < 1)
        return;
    ColourScale scale = attend_scale(p, a, false);
    Drawn d = {a, l, colour_scale_pool(p, &scale)};
    WordPool behind;
    bool fine = finer(p, a, l, &behind);
    heat_draw(p, l->cells, l->rows, l->cols, l->size, &scale, drawn_value, &d);
    if (fine)
        heat_draw_behind(p, l->cells, behind.rows, behind.cols, l->size, &scale, drawn_value,
                         &(Drawn){a, &behind, d.kind});
    const bool whole = fine && behind.rows == a->t_axis->n && behind.cols == a->u_axis->n;
    draw_labels(p, a, l, whole, r);
    draw_bar(p, a, l, &scale, fine, whole, r);
    if (l->value_y >= 0)
        attend_value_line(p, a, l->value_y, r.x, r.w);
    const int row = cell_of(l, a->t_axis->n, l->rows, a->at_t) - l->row0,
              col = cell_of(l, a->u_axis->n, l->cols, a->at_u) - l->col0;
    const Rect cell = heat_cell(p, l->cells, l->rows, l->cols, l->size, row, col);
    if (!l->labels || l->column_y < 0 || cell.w > 2) /* else marked at both borders, and not hidden */
        heat_mark_cell(p, l->cells, l->rows, l->cols, l->size, row, col,
                       shown_ref(&a->v, attend_cell(a, a->head, a->at_t, a->at_u)));
    focus_cursor(p, focus, cell.y, cell.x);
}

bool word_pool_hit(const Paint *p, const Attend *a, const WordPool *l, int y, int x, int *t, int *u)
{
    int row, col;
    Ref ref;
    if (l->rows < 1 || l->cols < 1 || !heat_hit(p, l->cells, l->rows, l->cols, l->size, y, x, &row, &col))
        return false;
    ColourScale scale = attend_scale(p, a, false);
    PoolKind kind = colour_scale_pool(p, &scale);
    word_pool_value(a, l, kind == POOL_MEAN ? POOL_ABSMAX : kind, row, col, &ref);
    size_t in = ref.cell - attend_cell(a, a->head, 0, 0);
    *t = (int)(in / a->t_step % (size_t)a->t_axis->n);
    *u = (int)(in / a->u_step % (size_t)a->u_axis->n);
    return true;
}
