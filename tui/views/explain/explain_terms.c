/* The terms of a sum, largest first, as a table that drops columns before it drops a digit; and the operands of an
 * operation that reads one cell of each, below one another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/explain.h"

enum { ROLE = 15, MARK = 2, GAP = 2, BAR_LEAST = 8, BAR_MOST = 24, HEADER_MOST = 24 };

static const char PRODUCT[] = "product";

size_t explain_most(const Session *s, size_t terms, int height)
{
    return explain_term_here(s, terms) + (size_t)(height > 0 ? height : 1) + 1;
}

static int header_lines(Rect r)
{
    return r.h >= 3;
}

/* Lines of the table that r has room for, and the first one shown. */
static size_t explain_rows(const Session *s, const Explanation *e, Rect r, size_t *first)
{
    int room = r.h - header_lines(r);
    *first = 0;
    if (room < 1)
        return 0;
    size_t rows = (size_t)room;
    if (e->terms > rows && rows > 1)
        rows--; /* "9 more" */
    if (rows > e->terms)
        rows = e->terms;
    *first = scroll_first(e->terms, explain_term_here(s, e->terms), rows);
    if (*first + rows > e->line_count)
        rows = e->line_count > *first ? e->line_count - *first : 0;
    return rows;
}

/* Columns of the table; a width of 0: dropped, because digits never are. */
typedef struct Columns {
    int operands;
    bool marked;                       /* room for the cursor's mark */
    int label, value[2], product, bar; /* widths */
    int label_x, value_x[2], product_x, bar_x;
    char header[2][96];
} Columns;

static const char *term_text(const Graph *g, Dims reduced, size_t term, char *out, size_t size)
{
    int index[DIMS_MAX] = {0};
    size_t used = 0;
    out[0] = '\0';
    dims_unravel(g->axes, reduced, term, index);
    for (int i = 0; i < reduced.n && used < size; i++) {
        char label[40];
        int more = snprintf(out + used, size - used, "%s%s", i ? "," : "",
                            axis_label(&g->axes[reduced.axis[i]], index[i], label, sizeof label));
        used += more > 0 ? (size_t)more : 0;
    }
    return out;
}

static int total(const Columns *c)
{
    int n = MARK + c->label;
    for (int k = 0; k < c->operands; k++)
        n += c->value[k] ? c->value[k] + GAP : 0;
    return n + (c->product ? c->product + GAP : 0);
}

/* What the terms come to that are not among those rows. */
static float rest_of(const Explanation *e, size_t first, size_t rows)
{
    float rest = e->rest;
    for (size_t i = 0; i < e->line_count; i++)
        rest += i < first || i >= first + rows ? e->lines[i].contribution : 0;
    return rest;
}

/* How wide the columns must be for what is listed. */
static void measure(const Explanation *e, const Graph *g, size_t first, size_t rows, Columns *c)
{
    Dims reduced = graph_reduced(g, e->node);
    char text[96];
    c->operands = rows ? e->lines[first].operands : 0;
    c->operands = c->operands > 2 ? 2 : c->operands;
    if (c->operands == 2)
        c->product = (int)strlen(PRODUCT);
    if (c->product && ref_number_cells(rest_of(e, first, rows)) > c->product)
        c->product = ref_number_cells(rest_of(e, first, rows));
    for (size_t i = first; i < first + rows; i++) {
        const ExplainLine *l = &e->lines[i];
        int n = utf8_cells(term_text(g, reduced, l->term, text, sizeof text));
        c->label = n > c->label ? n : c->label;
        for (int k = 0; k < c->operands; k++) {
            n = ref_number_cells(l->value[k]);
            c->value[k] = n > c->value[k] ? n : c->value[k];
        }
        n = ref_number_cells(l->contribution);
        if (c->product && n > c->product)
            c->product = n;
    }
    for (int k = 0; k < c->operands; k++)
        cell_brief(g, e->lines[first].ref[k].node, e->lines[first].ref[k].cell, reduced, c->header[k],
                   sizeof c->header[k]);
}

static Columns columns_make(const Session *s, const Explanation *e, const Graph *g, size_t first, size_t rows, Rect r)
{
    Columns c = {0};
    measure(e, g, first, rows, &c);
    int here = explain_operand_here(s, c.operands);
    if (total(&c) > r.w)
        c.product = 0;
    if (total(&c) > r.w)
        c.label = 0;
    if (total(&c) > r.w && c.operands == 2)
        c.value[1 - here] = 0;
    int spare = r.w - total(&c);
    if (spare >= BAR_LEAST + GAP) {
        c.bar = spare - GAP < BAR_LEAST + 4 ? spare - GAP : BAR_LEAST + 4;
        spare -= c.bar + GAP;
    }
    for (int k = 0; k < c.operands && spare > 0; k++) { /* room for the operands' names */
        int wish = utf8_cells(c.header[k]) < HEADER_MOST ? utf8_cells(c.header[k]) : HEADER_MOST,
            more = wish - c.value[k];
        if (!c.value[k] || more <= 0)
            continue;
        more = more < spare ? more : spare;
        c.value[k] += more;
        spare -= more;
    }
    if (c.bar && spare > 0)
        c.bar = c.bar + spare < BAR_MOST ? c.bar + spare : BAR_MOST;
    bool bare = total(&c) > r.w; /* not even one number behind the mark: the number alone, if that fits */
    int x = bare ? r.x - GAP : r.x + MARK;
    c.marked = !bare;
    c.label_x = x;
    x += c.label;
    for (int k = 0; k < c.operands; k++) {
        c.value_x[k] = x + GAP;
        if (bare && c.value[k] > r.w)
            c.value[k] = 0;
        x += c.value[k] ? c.value[k] + GAP : 0;
    }
    c.product_x = x + GAP;
    x += c.product ? c.product + GAP : 0;
    c.bar_x = x + GAP;
    return c;
}

static bool has_negative(const Explanation *e)
{
    for (size_t i = 0; i < e->line_count; i++)
        if (e->lines[i].contribution < 0)
            return true;
    return false;
}

static void draw_header(const Paint *p, const Explanation *e, const Graph *g, const Columns *c, int y)
{
    Buf letters = {0};
    shown_axes(g, graph_reduced(g, e->node), &letters);
    canvas_right(p->c, y, c->label_x, c->label, STYLE_AXIS, buf_str(&letters));
    buf_free(&letters);
    for (int k = 0; k < c->operands; k++) {
        const char *name = c->header[k];
        if (c->value[k] && utf8_cells(name) > c->value[k]) /* the name alone rather than half its axes */
            name = node_name(graph_node(g, e->lines[0].ref[k].node));
        canvas_right(p->c, y, c->value_x[k], c->value[k], STYLE_AXIS, name);
    }
    canvas_right(p->c, y, c->product_x, c->product, STYLE_AXIS, PRODUCT);
    if (!has_negative(e))
        canvas_text(p->c, y, c->bar_x, c->bar, STYLE_AXIS, "size");
    else if (c->bar >= BAR_LEAST) /* over the zero line of the bars below */
        canvas_text(p->c, y, canvas_bar_zero(c->bar_x, c->bar) - 2, 5, STYLE_AXIS, "− 0 +");
}

static float largest(const Explanation *e)
{
    float most = 0;
    for (size_t i = 0; i < e->line_count; i++)
        if (isfinite(e->lines[i].contribution) && fabsf(e->lines[i].contribution) > most)
            most = fabsf(e->lines[i].contribution);
    return most;
}

static void draw_line(const Paint *p, const Explanation *e, const Graph *g, const Columns *c, size_t i, int y,
                      bool focus)
{
    const ExplainLine *l = &e->lines[i];
    Op op = graph_node(g, e->node)->op;
    bool here = i == explain_term_here(p->s, e->terms),
         maximum = op == OP_MAX && memcmp(&l->contribution, &e->stored, sizeof e->stored) == 0;
    int operand = explain_operand_here(p->s, l->operands);
    char text[96];
    if (here && c->marked)
        canvas_text(p->c, y, c->label_x - MARK, 1, STYLE_CURSOR, "▸");
    canvas_right(p->c, y, c->label_x, c->label, here ? STYLE_STRONG : STYLE_AXIS,
                 term_text(g, graph_reduced(g, e->node), l->term, text, sizeof text));
    for (int k = 0; k < c->operands; k++) {
        ref_number(p, l->value[k], l->ref[k], y, c->value_x[k], c->value[k],
                   here && k == operand ? STYLE_CURSOR : STYLE_TEXT);
        if (here && k == operand)
            focus_cursor(p, focus, y, c->value_x[k] + c->value[k] - 1);
    }
    Style style = l->contribution < 0 ? STYLE_NEGATIVE : STYLE_TEXT;
    if (c->product)
        ref_number(p, l->contribution, (Ref){0}, y, c->product_x, c->product, style);
    float most = largest(e);
    if (maximum)
        canvas_text(p->c, y, c->bar_x, c->bar, STYLE_GOOD, "the largest");
    else if (c->bar > 1 && op != OP_MAX && most > 0 && isfinite(l->contribution)) {
        double share = (double)l->contribution / (double)most;
        if (has_negative(e))
            canvas_bar_signed(p->c, y, c->bar_x, c->bar, share, STYLE_TEXT, STYLE_NEGATIVE, (Ref){0});
        else
            canvas_bar(p->c, y, c->bar_x, c->bar, share, STYLE_TEXT, (Ref){0});
    }
}

void explain_table(const Paint *p, const Explanation *e, Rect r, bool focus)
{
    const Graph *g = shown_graph(p->s, e->side);
    size_t first, rows = explain_rows(p->s, e, r, &first);
    if (!rows)
        return;
    Columns c = columns_make(p->s, e, g, first, rows, r);
    int y = r.y;
    if (header_lines(r))
        draw_header(p, e, g, &c, y++);
    for (size_t i = first; i < first + rows; i++)
        draw_line(p, e, g, &c, i, y++, focus);
    size_t more = e->terms - first - rows;
    if (!more || y >= r.y + r.h)
        return;
    canvas_printf(p->c, y, r.x + MARK, r.w - MARK, STYLE_DIM, "%zu more%s", more, first ? ", some above" : "");
    if (c.product && graph_node(g, e->node)->op != OP_MAX && c.product_x - r.x > 24) {
        canvas_fill(p->c, (Rect){y, c.product_x, 1, c.product}, STYLE_TEXT, ' ');
        ref_number(p, rest_of(e, first, rows), (Ref){0}, y, c.product_x, c.product, STYLE_DIM);
    }
}

bool explain_table_hit(const Paint *p, const Explanation *e, Rect r, int y, int x, size_t *term, int *operand)
{
    const Graph *g = shown_graph(p->s, e->side);
    size_t first, rows = explain_rows(p->s, e, r, &first);
    int line = y - r.y - header_lines(r);
    if (!rect_has(r, y, x) || line < 0 || (size_t)line >= rows)
        return false;
    Columns c = columns_make(p->s, e, g, first, rows, r);
    *operand = explain_operand_here(p->s, c.operands);
    for (int k = 0; k < c.operands; k++)
        if (c.value[k] && x >= c.value_x[k] && x < c.value_x[k] + c.value[k])
            *operand = k;
    *term = first + (size_t)line;
    return true;
}

/* What an operand is for: the mask of a choice, and which of the two was taken. */
static const char *role(Op op, const ExplainLine *l, int k)
{
    if (op != OP_WHERE)
        return "";
    if (k == 0)
        return l->value[0] != 0.0F ? "not 0: the first" : "0: the second";
    return (l->value[0] != 0.0F) == (k == 1) ? "taken" : "not taken";
}

/* The operands' names in the longest form that fits: with axis letters, with labels only, cut. */
static int operand_names(const Explanation *e, const Graph *g, int room, char name[NODE_INPUTS][200])
{
    const ExplainLine *l = &e->lines[0];
    int longest = 0;
    for (int k = 0; k < l->operands; k++) {
        cell_name(g, e->node, l->ref[k].node, l->ref[k].cell, name[k], sizeof name[k]);
        if (utf8_cells(name[k]) > room)
            cell_brief(g, l->ref[k].node, l->ref[k].cell, DIMS_SCALAR, name[k], sizeof name[k]);
        longest = utf8_cells(name[k]) > longest ? utf8_cells(name[k]) : longest;
    }
    return longest < room ? longest : room > 2 ? room : 0;
}

void explain_operands(const Paint *p, const Explanation *e, Rect r, bool focus)
{
    const Graph *g = shown_graph(p->s, e->side);
    if (!e->line_count)
        return;
    const ExplainLine *l = &e->lines[0];
    Op op = graph_node(g, e->node)->op;
    char name[NODE_INPUTS][200];
    int here = explain_operand_here(p->s, l->operands), digits = 0, first = l->operands > r.h ? here : 0;
    for (int k = 0; k < l->operands; k++)
        digits = ref_number_cells(l->value[k]) > digits ? ref_number_cells(l->value[k]) : digits;
    int roles = op == OP_WHERE && r.w >= 50 ? ROLE + GAP : 0;
    int wide = operand_names(e, g, r.w - MARK - digits - GAP - roles, name), x = r.x + MARK + (wide ? wide + GAP : 0);
    if (!wide && digits + MARK > r.w)
        x = r.x;
    for (int k = first; k < l->operands && k - first < r.h; k++) {
        int y = r.y + k - first;
        if (k == here)
            canvas_text(p->c, y, r.x, 1, STYLE_CURSOR, "▸");
        canvas_text(p->c, y, r.x + MARK, wide, k == here ? STYLE_STRONG : STYLE_TEXT, name[k]);
        ref_number(p, l->value[k], l->ref[k], y, x, digits < r.x + r.w - x ? digits : r.x + r.w - x,
                   k == here ? STYLE_CURSOR : STYLE_TEXT);
        canvas_text(p->c, y, x + digits + GAP, r.x + r.w - x - digits - GAP, STYLE_DIM, role(op, l, k));
        if (k == here)
            focus_cursor(p, focus, y, x + digits - 1);
    }
}

bool explain_operands_hit(const Paint *p, const Explanation *e, Rect r, int y, int x, int *operand)
{
    if (!rect_has(r, y, x) || !e->line_count)
        return false;
    *operand = y - r.y + (e->lines[0].operands > r.h ? explain_operand_here(p->s, e->lines[0].operands) : 0);
    return *operand < e->lines[0].operands;
}
