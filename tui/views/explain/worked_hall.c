/* The worked example in a hall: its numbers in large digits, with bars as long as they are, as large as all of it fits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "tui/canvas/letters.h"
#include "tui/canvas/plot.h"
#include "tui/views/explain/explain.h"
#include "tui/views/explain/hall_table.h"

enum {
    TERM_DIGITS = 6, /* of one number of many */
    FEW = 4,         /* terms at least that are drawn where all of them would be too small, or too many */
    SUM_LINES = 4,   /* of one number's arithmetic: itself, and its operands */
    LARGE_MOST = 48, /* terms that are still read from the last bench */
    BARS_LEAST = 5,  /* rows of the bars of all that a number is one of, in a hall with few, … */
    BARS_TALL = 9,   /* … and in one that is high enough for large digits beside them */
    CHART_ROWS = 14, /* of the bars above a vector, where the row that a number is one of stands below */
    BAR_LEAST = 10   /* columns of a bar beside a term */
};

/* --- its arithmetic --- */

/* What is worked out, and how many letters its numbers take. */
typedef struct Example {
    const Shown *v;
    const Explanation *e; /* NULL: nothing, it is a leaf */
    int letters[4];       /* of several terms: what each comes to, and its operands */
    int result;           /* the longest of what they come to one after the other */
    bool plain;           /* its arithmetic says nothing: a copy, a sum with 0 */
} Example;

static int longer(int letters, float x, bool full, int most)
{
    char text[32];
    if (full)
        number_full_text(text, sizeof text, x, most);
    else
        number_text(text, sizeof text, x, most);
    return letters_count(text) > letters ? letters_count(text) : letters;
}

static bool says_nothing(const Shown *v, const Explanation *e)
{
    const Op op = graph_node(v->graph, v->node)->op;
    const ExplainLine *l = &e->lines[0];
    if (e->terms != 1 || e->line_count != 1)
        return false;
    if (l->operands == 1)
        return op != OP_MAP && l->value[0] == l->contribution;
    return op == OP_ADD && l->operands == 2 && (l->value[0] == 0 || l->value[1] == 0);
}

static Example example_of(const Shown *v, const Explanation *e)
{
    Example x = {.v = v, .e = e};
    if (!e)
        return x;
    x.plain = says_nothing(v, e);
    for (size_t i = 0; i < e->line_count && e->terms > 1; i++) {
        const ExplainLine *l = &e->lines[i];
        x.letters[0] = longer(x.letters[0], l->contribution, false, TERM_DIGITS);
        for (int k = 0; k < l->operands && k < 3; k++)
            x.letters[k + 1] = longer(x.letters[k + 1], l->value[k], false, TERM_DIGITS);
    }
    x.result = longer(0, e->stored, true, HALL_DIGITS);
    for (size_t i = 0; e->running && i < e->terms && x.result < HALL_DIGITS; i++)
        x.result = longer(x.result, e->running[i], true, HALL_DIGITS);
    return x;
}

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

/* wide: one of several terms, which stand below each other: right-aligned in so many letters, as many as the longest
 * of them takes. 0: with all its digits. */
static void add_number(Sum *s, float x, int wide, Ref ref)
{
    char text[32], padded[48];
    if (wide)
        number_text(text, sizeof text, x, TERM_DIGITS);
    else
        number_full_text(text, sizeof text, x, HALL_DIGITS);
    snprintf(padded, sizeof padded, "%*s%s", wide > letters_count(text) ? wide - letters_count(text) : 0, "", text);
    s->first[s->count] = letters_count(s->text) + letters_count(padded) - letters_count(text);
    s->letters[s->count] = letters_count(text);
    s->ref[s->count++] = ref;
    add_text(s, padded);
}

/* Where a line of arithmetic is broken: nowhere, behind its result, before every operand. */
typedef enum Breaks { BREAKS_NONE, BREAKS_RESULT, BREAKS_EACH, BREAKS_COUNT } Breaks;

/* Its lines; returns how many. */
static int sum_of(const Example *x, size_t term, Breaks breaks, Sum s[SUM_LINES])
{
    const Shown *v = x->v;
    const Explanation *e = x->e;
    const Node *node = graph_node(v->graph, v->node);
    const ExplainLine *l = worked_line(e, term);
    int n = 0;
    s[0] = (Sum){.count = 0};
    add_text(&s[0], breaks ? "  " : "");
    add_number(&s[0], l->contribution, x->letters[0], e->terms > 1 ? (Ref){0} : shown_ref(v, v->cell));
    if (breaks)
        s[++n] = (Sum){.count = 0};
    add_text(&s[n], breaks ? "= " : " = ");
    if (node->op == OP_MAP) {
        add_text(&s[n], map_name(node->map));
        add_text(&s[n], " ");
    }
    for (int i = 0; i < l->operands; i++) {
        if (i) {
            char sign[16];
            const bool broken = breaks == BREAKS_EACH && n + 1 < SUM_LINES;
            if (broken)
                s[++n] = (Sum){.count = 0};
            snprintf(sign, sizeof sign, "%s%s ", broken ? "" : " ", worked_sign(node->op));
            add_text(&s[n], sign);
        }
        add_number(&s[n], l->value[i], i < 3 ? x->letters[i + 1] : 0, l->ref[i]);
    }
    return n + 1;
}

/* Where a number stands in the trace, as much of it as there is room for: never half of it. */
static void put_place(const Shown *v, Ref ref, int room, Buf *out)
{
    char name[200];
    address_put(v->graph, ref.node, ref.cell, out);
    for (int brief = 0; brief < 3 && utf8_cells(buf_str(out)) > room; brief++) {
        buf_clear(out);
        buf_puts(out, brief == 0   ? cell_name(v->graph, v->node, ref.node, ref.cell, name, sizeof name)
                      : brief == 1 ? cell_brief(v->graph, ref.node, ref.cell, DIMS_SCALAR, name, sizeof name)
                                   : node_name(graph_node(v->graph, ref.node)));
    }
}

/* The line, below large numbers where they stand. */
static void draw_line(const Paint *p, const Shown *v, const Sum *s, Rect r, int scale)
{
    const int pitch = scale ? 4 * scale : 1, tall = hall_rows_at(scale);
    hall_put(p, r.y, r.x, r.w, STYLE_STRONG, s->text, scale);
    for (int i = 0; i < s->count; i++) {
        Buf where = {0};
        int at = r.x + s->first[i] * pitch, next = i + 1 < s->count ? r.x + s->first[i + 1] * pitch : r.x + r.w + 1;
        if (!s->ref[i].run)
            continue;
        hall_tag(p, (Rect){r.y, at, tall, s->letters[i] * pitch}, s->ref[i]);
        if (!scale)
            continue;
        put_place(v, s->ref[i], next - at - 1, &where);
        canvas_label(p->c, r.y + tall, at, next - at - 1, STYLE_STRONG, buf_str(&where));
        buf_free(&where);
    }
}

typedef struct Scales {
    int table, terms, result;
    int few;   /* so many terms are drawn; 0: all of them */
    bool tall; /* terms in ordinary letters have bars of two rows */
    Breaks breaks;
} Scales;

/* Rows from one term's line to the next. */
static int pitch_of(Scales s)
{
    return s.terms ? hall_rows_at(s.terms) + 1 : 1 + s.tall;
}

/* All its lines, and behind a single one a bar as long as its share of the largest. */
static void draw_sum(const Paint *p, const Example *example, size_t term, Rect r, Scales scales, Breaks breaks)
{
    const Explanation *e = example->e;
    Sum s[SUM_LINES];
    const int lines = sum_of(example, term, breaks, s), scale = scales.terms;
    const float most = fabsf(e->lines[0].contribution), x = worked_line(e, term)->contribution;
    const int pitch = scale ? 4 * scale : 1, wide = hall_columns_at(s[0].text, scale);
    for (int i = 0; i < lines; i++)
        draw_line(p, example->v, &s[i], (Rect){r.y + i * pitch_of(scales), r.x, r.h, r.w}, scale);
    Rect bar = {r.y, r.x + wide + 2 * pitch, scale ? hall_rows_at(scale) : pitch_of(scales), r.w - wide - 2 * pitch};
    if (example->plain) { /* where its number is from */
        const ExplainLine *l = &e->lines[0];
        Buf where = {0};
        put_place(example->v, l->ref[l->operands > 1 && l->value[0] == 0], bar.w, &where);
        canvas_label(p->c, bar.y, bar.x, bar.w, STYLE_STRONG, buf_str(&where));
        buf_free(&where);
    }
    if (e->terms > 1 && bar.w >= BAR_LEAST && most > 0 && isfinite(x / most))
        hall_lying(p, bar, (double)fminf(fabsf(x) / most, 1), x < 0, (Ref){0});
}

static size_t terms_shown(const Paint *p, const Explanation *e)
{
    const int counted = p->s->look.worked.terms;
    return counted > 0 && (size_t)counted < e->terms ? (size_t)counted : e->terms;
}

/* Beside large terms there is room for their bars. */
static bool sums_fit(const Example *x, int width, Scales s)
{
    Sum line[SUM_LINES];
    const Explanation *e = x->e;
    char result[HALL_DIGITS + 1];
    snprintf(result, sizeof result, "%*s", x->result, "");
    if (e->terms > 1 && hall_columns_at(result, s.result) > width)
        return false;
    if (s.few ? e->terms <= (size_t)s.few : e->terms > LARGE_MOST)
        return false;
    const int beside = e->terms > 1 && s.terms > 1 ? 8 * s.terms + BAR_LEAST : 0;
    for (size_t i = 0; i < e->terms; i++)
        for (int k = sum_of(x, i, s.breaks, line); k-- > 0;)
            if (hall_columns_at(line[k].text, s.terms) + beside > width)
                return false;
    return true;
}

/* Of several terms the address, the terms, their sum; of one, which says its address itself, that; what is said. */
static int sums_rows(const Example *x, Scales s)
{
    Sum line[SUM_LINES];
    const Explanation *e = x->e;
    const int terms = s.few ? s.few : e->terms < LARGE_MOST ? (int)e->terms : LARGE_MOST;
    const int lines = e->terms == 1 ? sum_of(x, 0, s.breaks, line) : terms;
    return (s.few > 0) + x->plain + lines * pitch_of(s) + (e->terms > 1 ? hall_rows_at(s.result) + 2 : 0) + 1;
}

static void draw_result(const Paint *p, const Shown *v, const Explanation *e, Rect r, int scale)
{
    char number[32] = "", said[80];
    const size_t shown = terms_shown(p, e);
    const bool all = shown == e->terms;
    if (e->terms > 1 && (all || e->running)) {
        rect_cut(&r, 't', 1);
        number_full_text(number, sizeof number, all ? e->stored : e->running[shown - 1], HALL_DIGITS);
        hall_put(p, r.y, r.x, r.w, STYLE_STRONG, number, scale);
        if (all)
            hall_tag(p, (Rect){r.y, r.x, hall_rows_at(scale), hall_columns_at(number, scale)}, shown_ref(v, v->cell));
        rect_cut(&r, 't', hall_rows_at(scale));
    }
    snprintf(said, sizeof said, "after %zu of %zu terms", shown, e->terms);
    canvas_text(p->c, r.y, r.x, r.w, e->equal ? STYLE_GOOD : STYLE_ERROR,
                !all       ? said
                : e->equal ? "derived again from these, bit for bit"
                           : "is not what its terms give");
}

/* Of few terms the last ones of those that came, and how many there are besides. */
static void draw_arithmetic(const Paint *p, const Example *x, Rect r, Scales s)
{
    const Shown *v = x->v;
    const Explanation *e = x->e;
    const size_t shown = terms_shown(p, e), all = shown == e->terms,
                 most = s.few && shown > (size_t)s.few ? (size_t)s.few : shown,
                 first = s.few && !all ? shown - most : 0;
    Buf line = {0};
    address_put(v->graph, v->node, v->cell, &line);
    if (e->terms > 1 || x->plain) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&line));
        rect_cut(&r, 't', 1);
    }
    buf_free(&line);
    if (e->terms == 1) {
        draw_sum(p, x, 0, r, s, s.breaks);
        rect_cut(&r, 't', sums_rows(x, s) - 1 - x->plain);
    }
    for (size_t i = first; e->terms > 1 && i < first + most; i++) {
        draw_sum(p, x, i, r, s, BREAKS_NONE);
        rect_cut(&r, 't', pitch_of(s));
    }
    if (s.few && shown > most)
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "… and %zu terms more", shown - most);
    rect_cut(&r, 't', s.few > 0);
    draw_result(p, v, e, r, s.result);
}

/* --- together --- */

enum { FORMULA_ROWS = 2, BETWEEN = 1, LEAF_ROWS = 4 };

static int rows_in_all(const HallTable *t, const Example *x, Scales s)
{
    return FORMULA_ROWS + hall_table_rows(t, s.table) + BETWEEN + (x->e ? sums_rows(x, s) : 0);
}

static bool fits(const HallTable *t, const Example *x, Rect r, Scales s)
{
    return rows_in_all(t, x, s) <= r.h && hall_table_fits(t, s.table, r.w) && (!x->e || sums_fit(x, r.w, s));
}

/* What is large, in the order in which it is tried; few: of the terms only as many as there is room for then. */
static const struct Way {
    bool table, terms, few, filled;
} WAYS[] = {
    {.table = true, .terms = true}, {.terms = true}, {.table = false}, {.terms = true, .few = true},
    {.few = true, .filled = true},
};

/* Broken only where a single term is, and as many terms as fit where their digits are small. */
static bool choose_at(const HallTable *t, const Example *x, Rect r, const struct Way *way, int scale, Scales *out)
{
    const Explanation *e = x->e;
    const int most = !way->few                         ? 0
                     : !way->filled || e->terms <= FEW ? FEW
                     : e->terms > LARGE_MOST           ? LARGE_MOST
                                                       : (int)e->terms - 1;
    for (int breaks = 0; breaks < (e && e->terms == 1 ? BREAKS_COUNT : 1); breaks++)
        for (int few = most; few >= (way->few ? FEW : 0); few--) {
            *out = (Scales){.table = way->table ? scale : HALL_TEXT,
                            .terms = way->terms ? scale : HALL_TEXT,
                            .result = scale,
                            .few = few,
                            .breaks = (Breaks)breaks};
            if (fits(t, x, r, *out))
                return true;
            if (rows_in_all(t, x, *out) <= r.h) /* too wide: fewer are as wide */
                break;
        }
    return false;
}

/* The largest that fits, from `least` on: all of it, else what is reckoned, else its result alone, else that and a few
 * of the terms. False: not even that. */
static bool choose(const HallTable *t, const Example *x, Rect r, int least, Scales *out)
{
    const Explanation *e = x->e;
    if (x->plain) {
        *out = (Scales){.table = LETTERS_SCALES};
        while (out->table && (out->table < least || !fits(t, x, r, *out)))
            out->table--;
        return fits(t, x, r, *out);
    }
    for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS; way++)
        for (int scale = LETTERS_SCALES; scale >= least; scale--) {
            Scales s;
            if ((WAYS[way].few && !e) || !choose_at(t, x, r, &WAYS[way], scale, &s))
                continue;
            for (Scales more = s; e && more.terms && more.terms < LETTERS_SCALES;) {
                more.terms++;
                more.result++;
                s = fits(t, x, r, more) ? more : s;
            }
            *out = s;
            return true;
        }
    return false;
}

/* --- the row that a number is one of --- */

/* A softmax' weights, a norm's numbers; NULL where it was made of no others. */
static const CloseupLine *row_behind(const Paint *p, const Shown *v, const Explanation *e, const Closeup **c)
{
    const CloseupLine *row = NULL;
    if (!e || e->terms != 1 || !explained_closeup(p->s, v->side, v->node, v->cell, c) || !*c)
        return NULL;
    for (int i = 0; i < (*c)->count; i++)
        if ((*c)->line[i].what == CLOSEUP_CELLS && (*c)->line[i].count > 1 && (*c)->line[i].node == v->node)
            row = &(*c)->line[i];
    return row;
}

typedef struct Row {
    const Closeup *c;
    const CloseupLine *line;
} Row;

static float row_value(const void *of, int i, Ref *ref)
{
    const Row *row = of;
    *ref = closeup_ref(row->c, row->line, (size_t)i);
    return row->line->value[i];
}

/* Its name, above the bars where the number stands, and they. */
static void draw_row_behind(const Paint *p, const Row *row, Rect r)
{
    const CloseupLine *l = row->line;
    const size_t here = closeup_index_here(p->s, row->c);
    CanvasBars bars = {.value = row_value,
                       .of = row,
                       .n = (int)l->count,
                       .style = STYLE_GOOD,
                       .negative = STYLE_WARNING,
                       .largest = closeup_by_largest(row->c)};
    char name[200], label[64];
    closeup_range(l, &bars.low, &bars.high);
    cell_brief(row->c->graph, l->node, l->cell[here], row->c->along, name, sizeof name);
    shown_label(row->c->graph, row->c->along, here, label, sizeof label);
    Rect top = rect_cut(&r, 't', 1);
    if (bars.low < 0) /* "0" beside its line */
        rect_cut(&r, 'l', 1);
    const int x = bars_column(r, bars.n, (int)here), wide = utf8_cells(label) + 2,
              at = x + wide <= r.x + r.w ? x : r.x + r.w - wide;
    if (at > top.x + utf8_cells(name))
        canvas_text(p->c, top.y, top.x, top.w, STYLE_STRONG, name);
    else
        canvas_right(p->c, top.y, top.x, top.w, STYLE_STRONG, name);
    canvas_printf(p->c, top.y, at, wide, STYLE_STRONG, at == x ? "▾ %s" : "%s ▾", label);
    for (int y = r.y; y < r.y + r.h; y++)
        canvas_glyph(p->c, y, x, STYLE_AXIS, 0x250a);
    bars_draw(p->c, r, &bars);
    hall_tone(p, r);
}

/* Rather bars and digits than larger digits. */
static bool choose_beside(const HallTable *t, const Example *x, Rect r, int least, bool bars, Scales *out)
{
    Rect above = r;
    rect_cut(&above, 'b', bars ? BARS_TALL : 0);
    return (bars && choose(t, x, above, least, out) && out->terms) || choose(t, x, r, least, out);
}

bool worked_hall(const Paint *p, const Shown *v, Rect r)
{
    const bool leaf = graph_node(v->graph, v->node)->op == OP_LEAF;
    const Explanation *e = leaf ? NULL : explained_cell(p->s, v->side, v->node, v->cell, SIZE_MAX);
    const Closeup *c = NULL;
    const CloseupLine *row = row_behind(p, v, e, &c);
    const HallTable t = hall_table_open(v, r.h);
    const Example x = example_of(v, e);
    Scales s;
    Buf formula = {0};
    rect_cut(&r, 'l', 1);
    if (v->side == SIDE_DIFF || (!leaf && !e) || !choose_beside(&t, &x, r, p->c->ascii ? HALL_ASCII : 1, row, &s))
        return false;
    const Scales taller = {s.table, s.terms, s.result, s.few, true, s.breaks};
    s = e && e->terms > 1 && fits(&t, &x, r, taller) ? taller : s;
    for (Scales more = s; more.table && more.table < LETTERS_SCALES;) { /* fewer letters than its arithmetic has */
        more.table++;
        s = fits(&t, &x, r, more) ? more : s;
    }
    const int free = r.h - rows_in_all(&t, &x, s) - (leaf ? LEAF_ROWS : 0), spare = free > 0 ? free : 0;
    int more = spare;                                                                   /* rows for the table */
    if (row && hall_table_bars(&t, s.table, hall_table_rows(&t, s.table) + spare, r.w)) /* the same ones */
        row = NULL;
    if (row && spare >= BARS_LEAST)
        more = !hall_table_is_vector(&t) ? 0 : spare < CHART_ROWS ? spare : CHART_ROWS;
    const int lines = hall_table_lines(&t, s.table, hall_table_rows(&t, s.table) + more, r.w),
              left = spare + hall_table_rows(&t, s.table) - lines;
    graph_formula(v->graph, v->node, &formula);
    canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&formula));
    buf_free(&formula);
    rect_cut(&r, 't', FORMULA_ROWS);
    hall_table_draw(p, &t, rect_cut(&r, 't', lines), s.table);
    rect_cut(&r, 't', BETWEEN);
    if (e)
        draw_arithmetic(p, &x, r, s);
    else
        explain_leaf(p, v, r);
    if (row && left >= BARS_LEAST) {
        rect_cut(&r, 't', sums_rows(&x, s) + 1);
        draw_row_behind(p, &(Row){c, row}, r);
    }
    return true;
}
