/* A worked example: its nodes in a column, one of them as a table, and the arithmetic of the cell under the cursor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "tui/canvas/export.h"
#include "tui/views/lesson/lesson_views.h"
#include "tui/views/view.h"

enum { CELL = 10, NAMES = 20, TABLE_MOST = 9, TEXT_ROWS = 4 };

static Plane plane_of(const Example *e, NodeId n)
{
    return plane_make(e->graph, n);
}

static void indices(const Example *e, const WorkedPlace *at, int out[64])
{
    int index[DIMS_MAX];
    Dims d = graph_node(e->graph, at->node)->dims;
    memset(out, 0, 64 * sizeof *out);
    dims_unravel(e->graph->axes, d, at->cell, index);
    for (int i = 0; i < d.n; i++)
        out[d.axis[i]] = index[i];
}

static const float *values_of(const void *run, NodeId n)
{
    return run_peek(run, n);
}

void worked_needs(const Example *e, const WorkedPlace *at)
{
    const Node *n = graph_node(e->graph, at->node);
    run_step(e->run, at->node, CLOCK_NEVER);
    for (int i = 0; i < op_inputs(n->op); i++)
        run_step(e->run, n->in[i], CLOCK_NEVER);
}

int worked_terms(const Example *e, const WorkedPlace *at)
{
    if (graph_node(e->graph, at->node)->op == OP_LEAF)
        return 0;
    Explain x = explain_open(e->graph, at->node, at->cell);
    return (int)x.terms;
}

bool worked_move(const Example *e, WorkedPlace *at, int rows, int columns)
{
    int index[64];
    size_t row, column;
    Plane p = plane_of(e, at->node);
    indices(e, at, index);
    plane_cursor(e->graph, &p, index, &row, &column);
    long r = (long)row + rows, c = (long)column + columns;
    if (r < 0 || c < 0 || r >= (long)p.row_count || c >= (long)p.col_count)
        return false;
    at->cell = plane_cell(e->graph, at->node, &p, index, (size_t)r, (size_t)c);
    at->operand = 0;
    return true;
}

bool worked_in(const Example *e, WorkedPlace *at)
{
    const Node *n = graph_node(e->graph, at->node);
    if (n->op == OP_LEAF || !worked_terms(e, at))
        return false;
    worked_needs(e, at); /* keys come faster than frames: what this cell is made of may not have been drawn yet */
    Explain x = explain_open(e->graph, at->node, at->cell);
    size_t best = 0;
    float most = -1;
    for (size_t i = 0; i < x.terms; i++) {
        float c = explain_contribution(&x, i, values_of, e->run), size = c < 0 ? -c : c;
        if (size > most) {
            most = size;
            best = i;
        }
    }
    Term t = explain_term(&x, best);
    if (!t.operands)
        return false;
    *at = (WorkedPlace){t.node[0], t.cell[0], 0, -1};
    return true;
}

void worked_node(const Example *e, WorkedPlace *at, int by)
{
    long n = (long)at->node + by;
    while (n >= 0 && n < e->graph->count && (graph_node(e->graph, (NodeId)n)->flags & NODE_PROBE) && by < 0)
        n += by;
    if (n >= 0 && n < e->graph->count)
        *at = (WorkedPlace){(NodeId)n, 0, 0, -1};
}

static void draw_names(Canvas *c, Rect r, const Example *e, const WorkedPlace *at)
{
    char title[40];
    snprintf(title, sizeof title, "%s", e->name);
    Rect in = canvas_box(c, r, title, false);
    int first = at->node - in.h / 2;
    if (first > e->graph->count - in.h)
        first = e->graph->count - in.h;
    if (first < 0)
        first = 0;
    for (int i = 0; i < in.h && first + i < e->graph->count; i++) {
        bool here = first + i == at->node;
        canvas_text(c, in.y + i, in.x, in.w, here ? STYLE_SELECTED : STYLE_TEXT, graph_node(e->graph, first + i)->path);
    }
}

/* "t=a,e=0" of a cell. */
static void put_cell(const Example *e, NodeId n, size_t cell, Buf *out)
{
    Buf address = {0};
    address_put(e->graph, n, cell, &address);
    buf_puts(out, buf_str(&address));
    buf_free(&address);
}

static void row_label(const Example *e, Dims d, size_t joint, char *out, size_t size)
{
    int index[DIMS_MAX];
    *out = 0;
    dims_unravel(e->graph->axes, d, joint, index);
    for (int i = 0; i < d.n; i++) {
        char label[64];
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s=%s", i ? "," : "", e->graph->axes[d.axis[i]].sym,
                 axis_label(&e->graph->axes[d.axis[i]], index[i], label, sizeof label));
    }
}

/* Cells that show numbers of an example carry no Ref: those of the session's runs do. */
static int draw_table(Canvas *c, Rect r, const Example *e, const WorkedPlace *at)
{
    const float *x = run_peek(e->run, at->node);
    Plane p = plane_of(e, at->node);
    int index[64], columns = (r.w - CELL) / CELL, rows = r.h - 1;
    size_t row, column;
    if (!x || columns < 1 || rows < 1)
        return 0;
    indices(e, at, index);
    plane_cursor(e->graph, &p, index, &row, &column);
    size_t c0 = column >= (size_t)columns ? column - (size_t)columns + 1 : 0,
           r0 = row >= (size_t)rows ? row - (size_t)rows + 1 : 0;
    int used = 1;
    for (int j = 0; j < columns && c0 + (size_t)j < p.col_count; j++) {
        char label[64];
        row_label(e, p.cols, c0 + (size_t)j, label, sizeof label);
        canvas_right(c, r.y, r.x + CELL + j * CELL, CELL - 1, STYLE_AXIS, label);
    }
    for (int i = 0; i < rows && r0 + (size_t)i < p.row_count; i++, used++) {
        char label[64], number[32];
        row_label(e, p.rows, r0 + (size_t)i, label, sizeof label);
        canvas_text(c, r.y + 1 + i, r.x, CELL, STYLE_AXIS, label);
        for (int j = 0; j < columns && c0 + (size_t)j < p.col_count; j++) {
            bool here = r0 + (size_t)i == row && c0 + (size_t)j == column;
            size_t cell = plane_cell(e->graph, at->node, &p, index, r0 + (size_t)i, c0 + (size_t)j);
            number_text(number, sizeof number, x[cell], CELL - 1);
            canvas_right(c, r.y + 1 + i, r.x + CELL + j * CELL, CELL - 1, here ? STYLE_CURSOR : STYLE_TEXT, number);
        }
    }
    return used;
}

static void put_operands(const Example *e, const Term *t, Op op, Buf *out)
{
    static const char *const SIGNS[OP_COUNT] = {
        [OP_CONTRACT] = " · ", [OP_MUL] = " · ", [OP_ADD] = " + ", [OP_SUB] = " − ", [OP_DIV] = " / "};
    for (int i = 0; i < t->operands; i++) {
        const float *x = run_peek(e->run, t->node[i]);
        char number[32];
        if (i)
            buf_puts(out, SIGNS[op] ? SIGNS[op] : ", ");
        if (x)
            number_text(number, sizeof number, x[t->cell[i]], 9);
        buf_printf(out, "%s", x ? number : "?");
    }
    buf_puts(out, "   ");
    for (int i = 0; i < t->operands; i++) {
        buf_puts(out, i ? ", " : "");
        put_cell(e, t->node[i], t->cell[i], out);
    }
}

static void draw_terms(Canvas *c, Rect r, const Example *e, const WorkedPlace *at, const float *x)
{
    const Node *n = graph_node(e->graph, at->node);
    Explain why = explain_open(e->graph, at->node, at->cell);
    Buf line = {0};
    size_t shown = at->terms < 0 ? why.terms : (size_t)at->terms;
    size_t first = shown > (size_t)(r.h > 2 ? r.h - 2 : 0) ? shown - (size_t)(r.h > 2 ? r.h - 2 : 0) : 0;
    int y = r.y;
    if (at->terms < 0)
        first = 0;
    float sum = 0;
    for (size_t i = 0; i < shown; i++) {
        float contribution = explain_contribution(&why, i, values_of, e->run);
        sum += contribution;
        if (i < first || y >= r.y + r.h - 1)
            continue;
        Term t = explain_term(&why, i);
        buf_clear(&line);
        char number[32];
        number_text(number, sizeof number, contribution, 9);
        buf_printf(&line, "%9s = ", number);
        put_operands(e, &t, n->op, &line);
        canvas_text(c, y++, r.x, r.w, STYLE_TEXT, buf_str(&line));
    }
    char stored[32], so_far[32];
    number_text(stored, sizeof stored, x[at->cell], 12);
    number_text(so_far, sizeof so_far, sum, 12);
    if (at->terms >= 0 && shown < why.terms) {
        canvas_printf(c, y, r.x, r.w, STYLE_STRONG, "%s after %zu of %zu", so_far, shown, why.terms);
    } else {
        float folded = explain_fold(&why, values_of, e->run);
        bool equal = memcmp(&folded, &x[at->cell], sizeof folded) == 0;
        canvas_printf(c, y, r.x, r.w, equal ? STYLE_GOOD : STYLE_ERROR, "%s   %s", stored,
                      equal ? "derived again from these, bit for bit" : "is not what its terms give");
    }
    buf_free(&line);
}

static void draw_arithmetic(Canvas *c, Rect r, const Example *e, const WorkedPlace *at)
{
    const Node *n = graph_node(e->graph, at->node);
    const float *x = run_peek(e->run, at->node);
    Buf line = {0};
    if (!x || r.h < 2)
        return;
    put_cell(e, at->node, at->cell, &line);
    canvas_text(c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&line));
    r.y++;
    r.h--;
    if (n->op == OP_LEAF) {
        char number[32];
        number_text(number, sizeof number, x[at->cell], 12);
        canvas_printf(c, r.y, r.x, r.w, STYLE_TEXT, "%s   given: %s", number, n->leaf.origin ? n->leaf.origin : "");
    } else {
        draw_terms(c, r, e, at, x);
    }
    buf_free(&line);
}

void worked_draw(Canvas *c, Rect r, const Example *e, const WorkedPlace *at)
{
    Buf title = {0};
    Rect names = rect_cut(&r, 'l', r.w >= 60 ? NAMES : 0);
    if (names.w)
        draw_names(c, names, e, at);
    buf_puts(&title, graph_node(e->graph, at->node)->path);
    graph_shape_text(e->graph, graph_node(e->graph, at->node)->dims, &title);
    Rect in = canvas_box(c, r, buf_str(&title), true);
    Buf formula = {0};
    graph_formula(e->graph, at->node, &formula);
    Rect top = rect_cut(&in, 't', 2);
    canvas_text(c, top.y, top.x + 1, top.w - 1, STYLE_DIM, buf_str(&formula));
    Rect table = {in.y, in.x + 1,
                  in.h / 2 > TABLE_MOST + 1 && in.h > 24 ? in.h / 2
                  : in.h > 14                            ? TABLE_MOST + 1
                                                         : in.h / 2,
                  in.w - 1};
    int used = draw_table(c, table, e, at);
    rect_cut(&in, 't', used + 1);
    draw_arithmetic(c, (Rect){in.y, in.x + 1, in.h, in.w - 1}, e, at);
    buf_free(&title);
    buf_free(&formula);
}

void worked_text(const Example *e, const WorkedPlace *at, Canvas *c, Buf *out)
{
    Rect r = {0, 0, c->h, c->w};
    Buf formula = {0}, text = {0};
    buf_printf(out, "Shown: %s", graph_node(e->graph, at->node)->path);
    graph_shape_text(e->graph, graph_node(e->graph, at->node)->dims, out);
    graph_formula(e->graph, at->node, &formula);
    if (formula.len)
        buf_printf(out, ", %s", buf_str(&formula));
    buf_puts(out, ".\n");
    int used = draw_table(c, (Rect){r.y, r.x, TEXT_ROWS + 1, r.w}, e, at);
    rect_cut(&r, 't', used);
    draw_arithmetic(c, r, e, at);
    export_text(c, &text);
    size_t end = text.len;
    while (end && (text.data[end - 1] == '\n' || text.data[end - 1] == ' '))
        end--;
    buf_add(out, text.data, end);
    buf_putc(out, '\n');
    buf_free(&formula);
    buf_free(&text);
}

WorkedPlace worked_place(const Example *e, const Address *to)
{
    NodeId n = graph_find(e->graph, to->path);
    int index[DIMS_MAX] = {0};
    Dims dims = graph_node(e->graph, n)->dims;
    for (int i = 0; i < dims.n; i++)
        for (int k = 0; k < to->cells.n; k++)
            if (to->cells.range[k].axis == dims.axis[i])
                index[i] = to->cells.range[k].from;
    return (WorkedPlace){n, dims_ravel(e->graph->axes, dims, index), 0, -1};
}
