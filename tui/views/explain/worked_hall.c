/* The worked example in a hall: its numbers in large digits, with bars as long as they are, as large as all of it fits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "tui/canvas/letters.h"
#include "tui/views/explain/explain.h"

enum {
    DIGITS = 7,       /* of a number, … */
    TERM_DIGITS = 6,  /* … and of one of many */
    FEW = 4,          /* terms that are drawn where all of them would be too small, or too many */
    LARGE_MOST = 48,  /* numbers of a table that are still read from the last bench */
    SMALL_MOST = 5,   /* rows of a table that is only to say where the arithmetic is from */
    CHART_MOST = 14,  /* rows of the bars above a vector, … */
    CHART_LEAST = 3,  /* … fewer are no picture */
    BAR_LEAST = 10,   /* columns of a bar beside a term */
    TEXT_SCALE = 0,   /* ordinary letters */
    LETTERS_ASCII = 2 /* the smallest that can be read without half blocks */
};

static int rows_at(int scale)
{
    return scale ? letters_rows(scale) : 1;
}

static int columns_at(const char *text, int scale)
{
    return scale ? letters_columns(text, scale) : utf8_cells(text);
}

static void put(const Paint *p, int y, int x, int width, Style style, const char *text, int scale)
{
    if (scale)
        letters_line(p->c, y, x, width, style, text, scale);
    else
        canvas_text(p->c, y, x, width, style, text);
}

static void tag(const Paint *p, Rect r, Ref ref)
{
    for (int i = 0; i < r.h; i++)
        canvas_ref(p->c, r.y + i, r.x, r.w, ref);
}

/* --- the tensor --- */

typedef struct Table {
    const Shown *v;
    Plane plane;
    int label, cell; /* columns of the rows' names, and of a number with the gap before it */
    bool large;      /* all of it can be shown in large digits */
} Table;

static size_t cell_at(const Table *t, size_t row, size_t col)
{
    return plane_cell(t->v->graph, t->v->node, &t->plane, t->v->at, row, col);
}

static Table table_open(const Shown *v)
{
    Table t = {.v = v, .plane = plane_make(v->graph, v->node)};
    t.label = t.plane.rows.n ? shown_widest(v->graph, t.plane.rows) + 4 : 0;
    t.large = t.plane.row_count <= LARGE_MOST && t.plane.col_count <= LARGE_MOST &&
              t.plane.row_count * t.plane.col_count <= LARGE_MOST;
    for (size_t i = 0; t.large && i < t.plane.row_count; i++)
        for (size_t j = 0; j < t.plane.col_count; j++) {
            char text[32];
            number_text(text, sizeof text, v->values[cell_at(&t, i, j)], DIGITS);
            int n = utf8_cells(text);
            t.cell = n > t.cell ? n : t.cell;
        }
    return t;
}

/* A vector: bars stand on its numbers. */
static bool is_vector(const Table *t)
{
    return t->plane.row_count == 1 && t->plane.col_count > 1;
}

static int cell_columns(const Table *t, int scale)
{
    char widest[32];
    snprintf(widest, sizeof widest, "%*s", t->cell + 1, "");
    return columns_at(widest, scale) + scale;
}

static int table_rows(const Table *t, int scale)
{
    int rows = (int)t->plane.row_count;
    rows = scale || rows < SMALL_MOST ? rows : SMALL_MOST;
    return scale ? 1 + rows * rows_at(scale) + (rows - 1) : 1 + rows + is_vector(t);
}

static bool table_fits(const Table *t, int scale, int width)
{
    return !scale || (t->large && t->label + (int)t->plane.col_count * cell_columns(t, scale) <= width);
}

static void put_axis(const Table *t, Dims d, size_t at, Buf *out)
{
    char label[64];
    buf_clear(out);
    if (!d.n)
        return;
    shown_axes(t->v->graph, d, out);
    buf_printf(out, "=%s", shown_label(t->v->graph, d, at, label, sizeof label));
}

/* Colours are black and white in a hall: what is below zero is grey. */
enum { BELOW_ZERO = 0x2592 };

/* One number's bar in r, from the line of zero on, in eighths of a row; whole rows below zero. */
static void draw_column(const Paint *p, Rect r, double low, double high, double x, Ref ref)
{
    enum { EIGHTH = 0x2581 };
    const int zero = (int)lround((0 - low) / (high - low) * r.h); /* rows below it */
    const double rows = fabs(x) / (high - low) * r.h;
    for (int i = 0; i < r.h; i++) {
        double part = rows - i;
        int y = x < 0 ? r.y + r.h - zero + i : r.y + r.h - zero - 1 - i;
        int eighths = part >= 1 ? 8 : (int)lround(part * 8);
        eighths = x < 0 && eighths ? 8 : eighths;
        if (eighths < 1 || y < r.y || y >= r.y + r.h)
            continue;
        uint32_t glyph = x < 0 ? BELOW_ZERO : EIGHTH + (uint32_t)eighths - 1;
        for (int k = 0; k < r.w; k++)
            canvas_glyph(p->c, y, r.x + k, x < 0 ? STYLE_WARNING : STYLE_GOOD,
                         !p->c->ascii ? glyph
                         : x < 0      ? '-'
                                      : '#');
    }
    tag(p, r, ref);
}

static void draw_chart(const Paint *p, const Table *t, Rect r, int cell, int gap)
{
    double low = 0, high = 0;
    for (size_t j = 0; j < t->plane.col_count; j++) {
        double x = (double)t->v->values[cell_at(t, 0, j)];
        low = isfinite(x) && x < low ? x : low;
        high = isfinite(x) && x > high ? x : high;
    }
    for (size_t j = 0; j < t->plane.col_count && high > low; j++) {
        size_t at = cell_at(t, 0, j);
        Rect column = {r.y, r.x + (int)j * cell + gap, r.h, cell - gap};
        if (isfinite(t->v->values[at]))
            draw_column(p, column, low, high, (double)t->v->values[at], shown_ref(t->v, at));
    }
}

/* chart: rows of bars above the numbers of a vector, or 0. */
static void draw_large(const Paint *p, const Table *t, Rect r, int scale, int chart)
{
    const int cell = cell_columns(t, scale), gap = 2 * scale, tall = rows_at(scale);
    Buf name = {0};
    if (chart)
        draw_chart(p, t, (Rect){r.y + 1, r.x + t->label, chart - 1, r.w - t->label}, cell, gap);
    rect_cut(&r, 't', chart);
    for (size_t i = 0; i < t->plane.row_count; i++)
        for (size_t j = 0; j < t->plane.col_count; j++) {
            char text[32];
            size_t at = cell_at(t, i, j);
            bool here = at == t->v->cell;
            Rect box = {r.y + 1 + (int)i * (tall + 1), r.x + t->label + (int)j * cell + gap, tall, cell - gap};
            put_axis(t, t->plane.cols, j, &name);
            if (i == 0)
                canvas_right(p->c, r.y, box.x, box.w, STYLE_STRONG, buf_str(&name));
            put_axis(t, t->plane.rows, i, &name);
            if (j == 0 && t->label)
                canvas_text(p->c, box.y + tall / 2, r.x, t->label, STYLE_STRONG, buf_str(&name));
            number_text(text, sizeof text, t->v->values[at], DIGITS);
            if (here)
                canvas_fill(p->c, box, STYLE_CURSOR, ' ');
            int wide = columns_at(text, scale);
            put(p, box.y, box.x + box.w - wide, wide, here ? STYLE_CURSOR : STYLE_STRONG, text, scale);
            tag(p, box, shown_ref(t->v, at));
            if (here)
                focus_cursor(p, true, box.y, box.x);
        }
    buf_free(&name);
}

/* --- its arithmetic --- */

/* A line of arithmetic as letters, and which of them are the numbers. */
typedef struct Sum {
    char text[120];
    int count, first[4], letters[4]; /* of each number: where it begins, and how long it is */
    Ref ref[4];                      /* run 0: no node's */
} Sum;

static void add_text(Sum *s, const char *text)
{
    size_t n = strlen(s->text);
    utf8_print(s->text + n, sizeof s->text - n, "%s", text);
}

/* wide: one of several terms, which stand below each other: right-aligned in so many letters. 0: with all its digits.
 */
static void add_number(Sum *s, float x, int wide, Ref ref)
{
    char text[32], padded[48];
    if (wide)
        number_text(text, sizeof text, x, wide);
    else
        number_full_text(text, sizeof text, x, DIGITS);
    snprintf(padded, sizeof padded, "%*s%s", wide > letters_count(text) ? wide - letters_count(text) : 0, "", text);
    s->first[s->count] = letters_count(s->text) + letters_count(padded) - letters_count(text);
    s->letters[s->count] = letters_count(text);
    s->ref[s->count++] = ref;
    add_text(s, padded);
}

static Sum sum_of(const Shown *v, const Explanation *e, size_t term)
{
    const Node *node = graph_node(v->graph, v->node);
    const ExplainLine *l = worked_line(e, term);
    const int wide = e->terms > 1 ? TERM_DIGITS : 0;
    Sum s = {.count = 0};
    add_number(&s, l->contribution, wide, e->terms > 1 ? (Ref){0} : shown_ref(v, v->cell));
    add_text(&s, " = ");
    if (node->op == OP_MAP) {
        add_text(&s, map_name(node->map));
        add_text(&s, " ");
    }
    for (int i = 0; i < l->operands; i++) {
        if (i) {
            char sign[16];
            snprintf(sign, sizeof sign, " %s ", worked_sign(node->op));
            add_text(&s, sign);
        }
        add_number(&s, l->value[i], wide, l->ref[i]);
    }
    return s;
}

static void draw_row_bar(const Paint *p, Rect r, double share, bool below_zero)
{
    const int wide = (int)ceil(share * r.w);
    for (int i = 0; i < r.h; i++)
        for (int k = 0; k < wide && below_zero; k++)
            canvas_glyph(p->c, r.y + i, r.x + k, STYLE_WARNING, p->c->ascii ? '-' : BELOW_ZERO);
    for (int i = 0; i < r.h && !below_zero; i++)
        canvas_bar(p->c, r.y + i, r.x, r.w, share, STYLE_GOOD, (Ref){0});
}

/* The line, below large numbers where they stand, and behind it a bar as long as its share of the largest. */
static void draw_sum(const Paint *p, const Shown *v, const Explanation *e, size_t term, Rect r, int scale)
{
    const Sum s = sum_of(v, e, term);
    const float most = fabsf(e->lines[0].contribution), x = worked_line(e, term)->contribution;
    const int pitch = scale ? 4 * scale : 1, tall = rows_at(scale), wide = columns_at(s.text, scale);
    put(p, r.y, r.x, r.w, STYLE_STRONG, s.text, scale);
    for (int i = 0; i < s.count; i++) {
        Buf where = {0};
        int at = r.x + s.first[i] * pitch, next = i + 1 < s.count ? r.x + s.first[i + 1] * pitch : r.x + r.w;
        if (!s.ref[i].run)
            continue;
        tag(p, (Rect){r.y, at, tall, s.letters[i] * pitch}, s.ref[i]);
        if (!scale)
            continue;
        address_put(v->graph, s.ref[i].node, s.ref[i].cell, &where);
        canvas_label(p->c, r.y + tall, at, next - at - 1, STYLE_STRONG, buf_str(&where));
        buf_free(&where);
    }
    Rect bar = {r.y, r.x + wide + 2 * pitch, tall, r.w - wide - 2 * pitch};
    if (e->terms > 1 && bar.w >= BAR_LEAST && most > 0 && isfinite(x / most))
        draw_row_bar(p, bar, (double)fminf(fabsf(x) / most, 1), x < 0);
}

static size_t terms_shown(const Paint *p, const Explanation *e)
{
    const int counted = p->s->look.worked.terms;
    return counted > 0 && (size_t)counted < e->terms ? (size_t)counted : e->terms;
}

static bool sums_fit(const Shown *v, const Explanation *e, int scale, int width, bool few)
{
    for (size_t i = 0; i < e->terms && (few || i < LARGE_MOST); i++)
        if (columns_at(sum_of(v, e, i).text, scale) > width)
            return false;
    return few ? e->terms > FEW : e->terms <= LARGE_MOST;
}

/* Of several terms the address, the terms, their sum; of one, which says its address itself, that; what is said. */
static int sums_rows(const Explanation *e, int scale, int result, bool few)
{
    const int terms = few ? FEW : e->terms < LARGE_MOST ? (int)e->terms : LARGE_MOST;
    return few + terms * (rows_at(scale) + (scale > 0)) + (e->terms > 1 ? rows_at(result) + 2 : 0) + 1;
}

static void draw_result(const Paint *p, const Shown *v, const Explanation *e, Rect r, int scale)
{
    char number[32] = "", said[80];
    const size_t shown = terms_shown(p, e);
    const bool all = shown == e->terms;
    if (e->terms > 1 && (all || e->running)) {
        rect_cut(&r, 't', 1);
        number_full_text(number, sizeof number, all ? e->stored : e->running[shown - 1], DIGITS);
        put(p, r.y, r.x, r.w, STYLE_STRONG, number, scale);
        if (all)
            tag(p, (Rect){r.y, r.x, rows_at(scale), columns_at(number, scale)}, shown_ref(v, v->cell));
        rect_cut(&r, 't', rows_at(scale));
    }
    snprintf(said, sizeof said, "after %zu of %zu terms", shown, e->terms);
    canvas_text(p->c, r.y, r.x, r.w, e->equal ? STYLE_GOOD : STYLE_ERROR,
                !all       ? said
                : e->equal ? "derived again from these, bit for bit"
                           : "is not what its terms give");
}

/* few: the last ones of those that came, and how many there are besides. */
static void draw_arithmetic(const Paint *p, const Shown *v, const Explanation *e, Rect r, int scale, int result,
                            bool few)
{
    const size_t shown = terms_shown(p, e), all = shown == e->terms, most = few && shown > FEW ? FEW : shown,
                 first = few && !all ? shown - most : 0;
    Buf line = {0};
    address_put(v->graph, v->node, v->cell, &line);
    if (e->terms > 1) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&line));
        rect_cut(&r, 't', 1);
    }
    buf_free(&line);
    for (size_t i = first; i < first + most; i++) {
        draw_sum(p, v, e, i, r, scale);
        rect_cut(&r, 't', rows_at(scale) + (scale > 0));
    }
    if (few && shown > most)
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "… and %zu terms more", shown - most);
    rect_cut(&r, 't', few);
    draw_result(p, v, e, r, result);
}

/* --- together --- */

typedef struct Scales {
    int table, terms, result;
    bool few; /* not all terms are drawn */
} Scales;

enum { FORMULA_ROWS = 2, BETWEEN = 1 };

static int rows_in_all(const Table *t, const Explanation *e, Scales s)
{
    return FORMULA_ROWS + table_rows(t, s.table) + BETWEEN + (e ? sums_rows(e, s.terms, s.result, s.few) : 0);
}

static bool fits(const Table *t, const Shown *v, const Explanation *e, Rect r, Scales s)
{
    return table_fits(t, s.table, r.w) && (!e || sums_fit(v, e, s.terms, r.w, s.few)) && rows_in_all(t, e, s) <= r.h;
}

/* The largest that fits, from `least` on: all of it, else what is reckoned, else its result alone, else that and a few
 * of the terms. False: not even that. */
static bool choose(const Table *t, const Shown *v, const Explanation *e, Rect r, int least, Scales *out)
{
    enum { WAYS = 4 };
    for (int way = 0; way < WAYS; way++)
        for (int scale = LETTERS_SCALES; scale >= least; scale--) {
            Scales s = {way == 0 ? scale : TEXT_SCALE, way != 2 ? scale : TEXT_SCALE, scale, way == 3};
            if ((s.few && !e) || !fits(t, v, e, r, s))
                continue;
            for (Scales more = s; e && more.terms && more.terms < LETTERS_SCALES;) {
                more.terms++;
                more.result++;
                s = fits(t, v, e, r, more) ? more : s;
            }
            *out = s;
            return true;
        }
    return false;
}

bool worked_hall(const Paint *p, const Shown *v, Rect r)
{
    const bool leaf = graph_node(v->graph, v->node)->op == OP_LEAF;
    const Explanation *e = leaf ? NULL : explained_cell(p->s, v->side, v->node, v->cell, SIZE_MAX);
    const Table t = table_open(v);
    Scales s;
    Buf formula = {0};
    rect_cut(&r, 'l', 1);
    if (v->side == SIDE_DIFF || (!leaf && !e) || !choose(&t, v, e, r, p->c->ascii ? LETTERS_ASCII : 1, &s))
        return false;
    int spare = r.h - rows_in_all(&t, e, s), chart = is_vector(&t) && s.table ? spare : 0;
    chart = chart < CHART_LEAST ? 0 : chart > CHART_MOST ? CHART_MOST : chart;
    spare -= chart;
    graph_formula(v->graph, v->node, &formula);
    canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&formula));
    buf_free(&formula);
    rect_cut(&r, 't', FORMULA_ROWS + spare / 3);
    Rect table = rect_cut(&r, 't', chart + table_rows(&t, s.table));
    rect_cut(&r, 't', BETWEEN + spare / 3);
    if (s.table)
        draw_large(p, &t, table, s.table, chart);
    else
        worked_table(p, v, table, true);
    if (e)
        draw_arithmetic(p, v, e, r, s.terms, s.result, s.few);
    else
        explain_leaf(p, v, r);
    return true;
}
