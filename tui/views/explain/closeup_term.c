/* The line over a close-up's rows that names their columns, and the one under them that says in numbers what the cursor
 * is on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "tui/canvas/plot.h"
#include "tui/views/explain/explain.h"

enum { SCALE_LEAST = 18, SCALE_WIDER = 8 }; /* of the row's colours, with their ends */
static const char SCALE_OF_ROW[] = "own scales; this row: ";

static const char *const BETWEEN[OP_COUNT] = {
    [OP_CONTRACT] = " · ", [OP_ADD] = " + ", [OP_SUB] = " − ", [OP_MUL] = " · ", [OP_DIV] = " / "};

Ref closeup_ref(const Closeup *c, const CloseupLine *l, size_t i)
{
    return l->cell ? session_ref(c->side, l->node, l->cell[l->count > 1 ? i : 0]) : (Ref){0};
}

void closeup_range(const CloseupLine *l, double *low, double *high)
{
    *low = *high = 0;
    for (size_t i = 0; i < l->count; i++) {
        double x = (double)l->value[i];
        if (isfinite(x) && x < *low)
            *low = x;
        if (isfinite(x) && x > *high)
            *high = x;
    }
}

const char *closeup_range_text(const CloseupLine *l, char out[CLOSEUP_RANGE])
{
    double low, high;
    char from[16], to[16];
    closeup_range(l, &low, &high);
    number_text(from, sizeof from, (float)low, 5);
    number_text(to, sizeof to, (float)high, 5);
    snprintf(out, CLOSEUP_RANGE, "%s…%s", from, to);
    return out;
}

static int range_cells(const Paint *p, const CloseupLine *l)
{
    char range[CLOSEUP_RANGE];
    return utf8_cells(closeup_range_text(l, range)) + (p->c->ascii ? 2 : 0);
}

int closeup_beside_range(const Paint *p, const CloseupLine *l, size_t index, int width)
{
    const int room = width - range_cells(p, l) - 1;
    return room >= ref_number_cells(l->value[index]) ? room : 0;
}

int closeup_label_ranged(const Paint *p, const Closeup *c, int least)
{
    enum { MOST = 25, MARKS = 4 }; /* blanks: before the number, between both, before the zero */
    for (int i = 0; i < c->count; i++) {
        const CloseupLine *l = &c->line[i];
        const int cells = l->count < 2 ? 0
                                       : ref_number_cells(l->value[closeup_index_here(p->s, c)]) + range_cells(p, l);
        least = cells && cells + MARKS > least && cells + MARKS <= MOST ? cells + MARKS : least;
    }
    return least;
}

void closeup_tighten(Buf *text)
{
    Buf out = {0};
    const char *at = buf_str(text);
    for (int i = 0; at[i]; i++)
        if (at[i] != ' ' || i < 2)
            buf_putc(&out, at[i]);
    buf_clear(text);
    buf_puts(text, buf_str(&out));
    buf_free(&out);
}

/* One map for all rows, so that the key of one is the key of each: signed where any goes below zero. */
ColourScale closeup_scale(const Paint *p, const Closeup *c, const CloseupLine *l)
{
    double low, high;
    bool below = false;
    for (int i = 0; i < c->count; i++) {
        closeup_range(&c->line[i], &low, &high);
        below |= low < 0 && c->line[i].count > 1;
    }
    closeup_range(l, &low, &high);
    return colour_scale_of_range(p, below && low >= 0 ? (float)-high : (float)low, (float)high);
}

bool closeup_by_largest(const Closeup *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->line[i].what == CLOSEUP_CELLS && graph_node(c->graph, c->line[i].node)->op == OP_MAX)
            return true;
    return false;
}

void closeup_shared(const Closeup *c, int width, Buf *out)
{
    const int n = (int)c->terms;
    if (width < 1 || width >= n)
        return;
    buf_printf(out, " 1 bar = %d", n / width);
    if (n % width)
        buf_printf(out, "–%d", n / width + 1);
    buf_printf(out, " %s, %s", dims_role(c->graph, c->along, ROLE_KEY) != AXIS_NONE ? "tokens" : "values",
               closeup_by_largest(c) ? "the largest" : "the farthest from 0");
}

/* "= exp / row_sum": the row's name stands above it, and its axes on the ruler. */
static void brief_formula(const Graph *g, NodeId n, Buf *out)
{
    Buf text = {0};
    graph_formula(g, n, &text);
    const char *from = strstr(buf_str(&text), " = ");
    for (const char *at = from ? from + 1 : buf_str(&text); *at; at++) {
        if (*at == '[' && strchr(at, ']'))
            at = strchr(at, ']');
        else
            buf_putc(out, *at);
    }
    buf_free(&text);
}

/* "= a − b" as "= a−b": closer, before it is cut. */
static void close_up(Buf *text)
{
    Buf out = {0};
    const char *at = buf_str(text);
    for (int i = 0; at[i]; i++)
        if (at[i] != ' ' || i < 2)
            buf_putc(&out, at[i]);
    buf_clear(text);
    buf_puts(text, buf_str(&out));
    buf_free(&out);
}

void closeup_formula(const Graph *g, NodeId n, int width, Buf *out)
{
    brief_formula(g, n, out);
    if (utf8_cells(buf_str(out)) >= width)
        close_up(out);
}

void closeup_legend(const Paint *p, const Closeup *c, Rect line, int bars, bool colours)
{
    Buf text = {0}, shared = {0};
    static const char *const FORMS[] = {"each row on its own scale: blue < 0, orange > 0",
                                        "own scale a row: blue < 0, orange > 0", "own scales, blue < 0 < orange"};
    int form = 0;
    while (form < 2 && utf8_cells(FORMS[form]) > line.w - 1)
        form++;
    if (colours)
        buf_puts(&text, *p->s->look.map || p->mode < MODE_256 ? "each row on its own scale" : FORMS[form]);
    closeup_shared(c, bars, &shared);
    if (utf8_cells(buf_str(&text)) + 2 + utf8_cells(buf_str(&shared)) <= line.w)
        buf_printf(&text, "%s%s", text.len && shared.len ? ";" : "", buf_str(&shared));
    canvas_text(p->c, line.y, line.x + 1, line.w - 1, STYLE_DIM, buf_str(&text));
    buf_free(&shared);
    buf_free(&text);
}

/* Text and numbers one after the other on a line, as far as there is room. */
typedef struct Writer {
    const Paint *p;
    int y, x, end;
} Writer;

static void put_text(Writer *w, Style style, const char *text)
{
    w->x += canvas_text(w->p->c, w->y, w->x, w->end - w->x, style, text);
}

static void put_number(Writer *w, float value, Ref ref)
{
    int cells = ref_number_cells(value);
    if (w->x + cells > w->end) {
        w->x = w->end;
        return;
    }
    ref_number(w->p, value, ref, w->y, w->x, cells, STYLE_TEXT);
    w->x += cells;
}

/* Operand k of a term; nothing while its node is not computed. */
static void put_operand(Writer *w, const Closeup *c, const Term *t, int k)
{
    const float *v = session_peek(w->p->s, c->side, graph_node(c->graph, t->node[k])->path);
    if (v)
        put_number(w, v[t->cell[k]], session_ref(c->side, t->node[k], t->cell[k]));
}

/* "e=5: 0.911 · 1.260 = 1.148   sum so far 3.02". After the products comes the running sum, then the contraction. */
static void put_product(Writer *w, const Closeup *c, int line, size_t index)
{
    const CloseupLine *l = &c->line[line];
    Explain e = explain_open(c->graph, l->node, c->line[line + 2].cell[0]);
    Term t = explain_term(&e, index);
    char name[200];
    Buf axes = {0};
    shown_axes(c->graph, c->along, &axes);
    put_text(w, STYLE_DIM, buf_str(&axes));
    buf_free(&axes);
    put_text(w, STYLE_DIM, "=");
    put_text(w, STYLE_DIM, shown_label(c->graph, c->along, index, name, sizeof name));
    put_text(w, STYLE_DIM, ": ");
    put_operand(w, c, &t, 0);
    put_text(w, STYLE_DIM, BETWEEN[OP_CONTRACT]);
    put_operand(w, c, &t, 1);
    put_text(w, STYLE_DIM, " = ");
    put_number(w, l->value[index], (Ref){0});
    put_text(w, STYLE_DIM, "   sum so far ");
    put_number(w, c->line[line + 1].value[index], (Ref){0});
}

/* "exp(0.5) = ", "1.2 − 3.4 = ": what a step that works cell by cell was made of. */
static void put_made_of(Writer *w, const Closeup *c, const CloseupLine *l, size_t index)
{
    const Node *n = graph_node(c->graph, l->node);
    Explain e = explain_open(c->graph, l->node, l->cell[index]);
    Term t = explain_term(&e, 0);
    bool map = n->op == OP_MAP;
    for (int k = 0; k < t.operands; k++) {
        if (k)
            put_text(w, STYLE_DIM, BETWEEN[n->op] ? BETWEEN[n->op] : ", ");
        put_text(w, STYLE_DIM, map ? map_name(n->map) : "");
        put_text(w, STYLE_DIM, map ? "(" : "");
        put_operand(w, c, &t, k);
        put_text(w, STYLE_DIM, map ? ")" : "");
    }
    put_text(w, STYLE_DIM, " = ");
}

/* "scores_raw[…] = the sum of 16 = 1.148" */
static void put_cell(Writer *w, const Closeup *c, const CloseupLine *l, size_t index)
{
    const Node *n = graph_node(c->graph, l->node);
    bool sum = n->op == OP_SUM || n->op == OP_CONTRACT;
    char text[200];
    put_text(w, STYLE_TEXT, cell_brief(c->graph, l->node, l->cell[index], DIMS_SCALAR, text, sizeof text));
    put_text(w, STYLE_DIM, " = ");
    if (!l->given && (sum || n->op == OP_MAX)) {
        snprintf(text, sizeof text, "the %s of %zu = ", sum ? "sum" : "largest", c->terms);
        put_text(w, STYLE_DIM, text);
    } else if (!l->given && n->op != OP_WHERE)
        put_made_of(w, c, l, index);
    put_number(w, l->value[index], closeup_ref(c, l, index));
}

/* What the colours or the bars of the row mean; every row has a scale of its own. */
static void put_scale(const Writer *w, const Closeup *c, const CloseupLine *l, bool colours)
{
    char range[CLOSEUP_RANGE], row[CLOSEUP_RANGE + 16];
    snprintf(row, sizeof row, "  the row: %s", closeup_range_text(l, range));
    const int room = w->end - w->x - 2, key = utf8_cells(SCALE_OF_ROW) + SCALE_LEAST;
    if (colours && room >= key) {
        const int cells = room < key + SCALE_WIDER ? room : key + SCALE_WIDER, x = w->end - cells;
        const ColourScale scale = closeup_scale(w->p, c, l);
        const int used = canvas_text(w->p->c, w->y, x, cells, STYLE_DIM, SCALE_OF_ROW);
        colour_scale_bar(w->p, &scale, w->y, x + used, cells - used);
    } else if (room >= utf8_cells(row))
        canvas_right(w->p->c, w->y, w->x, w->end - w->x, STYLE_DIM, row);
}

void closeup_term(const Paint *p, const Closeup *c, int y, int x, int width, bool colours)
{
    Writer w = {p, y, x, x + width};
    int here = closeup_line_here(p->s, c);
    const CloseupLine *l = &c->line[here];
    size_t index = l->count > 1 ? closeup_index_here(p->s, c) : 0;
    if (index >= closeup_shown(c, p->s->place.term, here))
        return;
    if (l->what == CLOSEUP_PRODUCTS)
        put_product(&w, c, here, index);
    else if (l->what == CLOSEUP_CELLS)
        put_cell(&w, c, l, index);
    else {
        char text[64];
        snprintf(text, sizeof text, "the first %zu of %zu, added in order: ", index + 1, l->count);
        put_text(&w, STYLE_DIM, text);
        put_number(&w, l->value[index], (Ref){0});
    }
    if (l->count > 1)
        put_scale(&w, c, l, colours);
}

enum { NAMED_LEAST = 3 }; /* columns of a bar, where each may have its name */

/* The name of a column above it, from its left edge on, else up to its right one, where that leaves a blank to the
 * names that stand there. */
static void put_name(const Paint *p, const Closeup *c, Rect at, int i)
{
    char label[64];
    const int n = (int)c->terms, w = utf8_cells(shown_label(c->graph, c->along, (size_t)i, label, sizeof label)),
              right = at.x + at.w, left = bars_column(at, n, i),
              x = left + w <= right ? left : left + bars_width(at, n) - w;
    bool free = x >= at.x;
    for (int k = x - 1; k <= x + w && free; k++) {
        const Cell *cell = k >= at.x && k < right ? canvas_at(p->c, at.y, k) : NULL;
        free = !cell || cell->ch == ' ';
    }
    if (free)
        canvas_text(p->c, at.y, x, w, STYLE_AXIS, label);
}

/* Of the last row, that of what the operation gives, the place that decides it. */
static int largest_of(const Closeup *c)
{
    int best = -1;
    for (int i = c->count - 1; i >= 0 && best < 0; i--) {
        const CloseupLine *l = &c->line[i];
        if (l->count < 2 || l->what == CLOSEUP_RUNNING)
            continue;
        for (size_t k = 0; k < l->count; k++)
            if (isfinite(l->value[k]) && (best < 0 || fabsf(l->value[k]) > fabsf(l->value[best])))
                best = (int)k;
    }
    return best;
}

void closeup_ruler(const Paint *p, const Closeup *c, Rect at, int label_w)
{
    char label[64];
    const int n = (int)c->terms, index = (int)closeup_index_here(p->s, c), x = bars_column(at, n, index),
              largest = largest_of(c);
    shown_label(c->graph, c->along, (size_t)index, label, sizeof label);
    const int w = utf8_cells(label), from = x + 1 + w <= at.x + at.w ? x + 1 : x - w;
    Buf axes = {0};
    shown_axes(c->graph, c->along, &axes);
    canvas_printf(p->c, at.y, at.x - label_w + 1, label_w - 2, STYLE_AXIS, "%s = %s", buf_str(&axes), label);
    buf_free(&axes);
    if (at.w < 1)
        return;
    canvas_glyph(p->c, at.y, x, STYLE_STRONG, 0x25be);
    if (from >= at.x)
        canvas_text(p->c, at.y, from, w, STYLE_STRONG, label);
    if (largest >= 0 && largest != index)
        put_name(p, c, at, largest);
    for (int k = -2; k < n; k++) { /* its ends come first */
        const int i = k == -2 ? 0 : k == -1 ? n - 1 : k;
        if (i != index && i != largest && (k < 0 || bars_width(at, n) >= NAMED_LEAST))
            put_name(p, c, at, i);
    }
}
