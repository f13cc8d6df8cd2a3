/* A tensor as a table, its numbers on the colours of a heat map, and the arithmetic of the cell under its cursor below
 * it, in the order in which it is computed: the screen of worked examples. The terms may come one after the other
 * (playing.h). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/explain.h"
#include "core/session/address.h"
#include "tui/canvas/export.h"
#include "tui/views/explain/explain.h"
#include "tui/views/shown.h"

static const size_t EVERY_TERM = SIZE_MAX;
enum { CELL = 10, CELL_CUT = 8, CELL_LEAST = 6, LABEL = 10 };
enum { TABLE_MOST = 9, TERM = 10, LEAF_LINES = 4, TERMS_LEAST = 1, ROWS_LEAST = 8 };
enum { SCALE_LEAST = 8, SCALE_MOST = 32 };

typedef struct Parts {
    Rect formula, table, arithmetic;
} Parts;

/* One row of several numbers: bars stand below them. */
static bool is_vector(const Plane *plane)
{
    return plane->row_count == 1 && plane->col_count > 1;
}

/* Lines that the arithmetic of its cell takes: the address, the terms, what they come to. */
static size_t arithmetic_lines(const Shown *v)
{
    bool leaf = graph_node(v->graph, v->node)->op == OP_LEAF;
    return leaf ? LEAF_LINES : explain_open(v->graph, v->node, v->cell).terms + 2;
}

/* The table has half of the room. Where it has more rows, all that the arithmetic leaves; a small one is whole beside
 * the first term of it. */
static Parts parts_of(const Shown *v, const Plane *plane, Rect r)
{
    Parts p = {.formula = rect_cut(&r, 't', r.h > 4 ? 1 : 0)};
    size_t lines = plane->row_count + is_vector(plane) + 1, need = arithmetic_lines(v);
    int most = r.h / 2 < TABLE_MOST + 1 ? r.h / 2 : r.h > 24 ? r.h / 2 : TABLE_MOST + 1;
    need = lines <= TABLE_MOST + 1 && need > TERMS_LEAST + 2 ? TERMS_LEAST + 2 : need;
    bool fits = lines <= (size_t)most, tight = !fits && lines + need <= (size_t)r.h;
    rect_cut(&r, 't', r.h > 12 && fits ? 1 : 0); /* rather a term more than a blank line */
    p.table = rect_cut(&r, 't', fits || tight ? (int)lines : most + (r.h > 8));
    rect_cut(&r, 't', tight ? (size_t)r.h > need : r.h > 6 ? 1 : 0);
    p.arithmetic = r;
    return p;
}

/* Which part of the table is seen. */
typedef struct Window {
    Plane plane;
    size_t row, col, row0, col0;
    int rows, cols, label, cell; /* label, cell: columns of the rows' names, and of a number */
    bool bare;                   /* columns are named without their axis: not all have room for it */
} Window;

/* Columns of "t=". */
static int axis_width(const Shown *v, Dims d)
{
    Buf axes = {0};
    shown_axes(v->graph, d, &axes);
    int n = utf8_cells(buf_str(&axes)) + 1;
    buf_free(&axes);
    return n;
}

/* No wider than its names are, "t=fear#2". */
static int label_width(const Shown *v, Dims rows)
{
    int n = axis_width(v, rows) + shown_widest(v->graph, rows) + 1;
    return n < LABEL ? n : LABEL;
}

static Window window_of(const Shown *v, Rect r)
{
    Window w = {.plane = plane_make(v->graph, v->node)};
    plane_cursor(v->graph, &w.plane, v->at, &w.row, &w.col);
    w.rows = r.h > 1 ? r.h - 1 : 0;
    w.label = w.plane.rows.n ? LABEL : 0;
    size_t all = w.plane.col_count;
    if (w.label && all > (size_t)(r.w > LABEL ? r.w - LABEL : 0) / CELL) /* rather narrow than out of sight */
        w.label = label_width(v, w.plane.rows);
    int room = r.w > w.label ? r.w - w.label : 0;
    w.cell = all * CELL <= (size_t)room ? CELL : all * CELL_LEAST <= (size_t)room ? room / (int)all : CELL_CUT;
    w.cols = room / w.cell;
    w.row0 = scroll_first(w.plane.row_count, w.row, (size_t)w.rows);
    w.col0 = scroll_first(w.plane.col_count, w.col, (size_t)w.cols);
    w.bare = axis_width(v, w.plane.cols) + shown_widest(v->graph, w.plane.cols) >= w.cell;
    w.rows = (size_t)w.rows < w.plane.row_count ? w.rows : (int)w.plane.row_count;
    w.cols = (size_t)w.cols < w.plane.col_count ? w.cols : (int)w.plane.col_count;
    return w;
}

static void draw_label(const Paint *p, const Shown *v, Dims d, size_t joint, Rect at, bool right, bool bare, bool here)
{
    char label[64], text[80];
    Buf axes = {0};
    if (!d.n)
        return;
    shown_axes(v->graph, d, &axes);
    utf8_print(text, sizeof text, "%.12s=%.60s", buf_str(&axes), shown_label(v->graph, d, joint, label, sizeof label));
    buf_free(&axes);
    if (bare) /* the name itself is worth more than that of its axis */
        utf8_print(text, sizeof text, "%.60s", label);
    if (right)
        canvas_right(p->c, at.y, at.x, at.w - 1, here ? STYLE_STRONG : STYLE_AXIS, text);
    else
        canvas_text(p->c, at.y, at.x, at.w - 1, here ? STYLE_STRONG : STYLE_AXIS, text);
}

/* The heat map: a number's colour behind it, on terminals that have enough of them. */
static void draw_ground(const Paint *p, Rect at, Colour colour)
{
    for (int x = at.x; x < at.x + at.w; x++) {
        Cell *k = canvas_at(p->c, at.y, x);
        if (k)
            k->bg = colour;
    }
}

/* A vector has its bars below it, over the same columns, each from a zero line where some number is negative. */
static void draw_bars(const Paint *p, const Shown *v, const Window *w, const ColourScale *scale, int y, int x)
{
    float most = fmaxf(fabsf(scale->low), fabsf(scale->high));
    for (int j = 0; j < w->cols && most > 0; j++) {
        size_t cell = plane_cell(v->graph, v->node, &w->plane, v->at, w->row, w->col0 + (size_t)j);
        float share = v->values[cell] / most;
        if (!isfinite(share))
            continue;
        if (scale->low < 0)
            canvas_bar_signed(p->c, y, x + j * w->cell + 1, w->cell - 1, (double)share, STYLE_GOOD, STYLE_WARNING,
                              shown_ref(v, cell));
        else
            canvas_bar(p->c, y, x + j * w->cell + 1, w->cell - 1, (double)share, STYLE_GOOD, shown_ref(v, cell));
    }
}

/* Arrows where there is more of it than what is seen. */
static void draw_more(const Paint *p, const Window *w, Rect r)
{
    int right = r.x + w->label + w->cols * w->cell, bottom = r.y + w->rows, left = r.x + w->label - 1;
    if (w->col0 + (size_t)w->cols < w->plane.col_count)
        canvas_text(p->c, r.y, right < r.x + r.w ? right : r.x + r.w - 1, 1, STYLE_KEY, "→");
    if (w->col0)
        canvas_text(p->c, r.y, left >= r.x ? left : r.x, 1, STYLE_KEY, "←");
    if (w->row0 + (size_t)w->rows < w->plane.row_count && w->label)
        canvas_text(p->c, bottom, left, 1, STYLE_KEY, "↓");
    if (w->row0 && w->label)
        canvas_text(p->c, r.y + 1, left, 1, STYLE_KEY, "↑");
}

/* Of the cells that are seen: on a scale of all of them a few rows of weights are of one shade. */
static ColourScale scale_seen(const Paint *p, const Shown *v, const Window *w)
{
    const size_t cols = (size_t)w->cols, count = (size_t)w->rows * cols;
    float *seen = xmalloc(size_mul(count + 1, sizeof *seen));
    for (size_t i = 0; i < count; i++)
        seen[i] = v->values[plane_cell(v->graph, v->node, &w->plane, v->at, w->row0 + i / cols, w->col0 + i % cols)];
    ColourScale scale = colour_scale_for(p, v->side, v->node, seen, count);
    free(seen);
    return scale;
}

/* Behind the formula, what the ends of the colours are. */
static void draw_scale(const Paint *p, const Shown *v, Rect table, Rect line)
{
    Window w = window_of(v, table);
    ColourScale scale = scale_seen(p, v, &w);
    const int width = line.w < SCALE_MOST ? line.w : SCALE_MOST;
    if (width >= SCALE_LEAST && (p->mode == MODE_256 || p->mode == MODE_TRUE))
        colour_scale_bar(p, &scale, line.y, line.x + line.w - width, width);
}

void worked_table(const Paint *p, const Shown *v, Rect r, bool focus)
{
    Window w = window_of(v, r);
    ColourScale scale = colour_scale_for(p, v->side, v->node, v->values, graph_cells(v->graph, v->node));
    if (is_vector(&w.plane) && r.h > 2)
        draw_bars(p, v, &w, &scale, r.y + 2, r.x + w.label);
    scale = scale_seen(p, v, &w);
    for (int j = 0; j < w.cols; j++)
        draw_label(p, v, w.plane.cols, w.col0 + (size_t)j, (Rect){r.y, r.x + w.label + j * w.cell, 1, w.cell}, true,
                   w.bare, w.col0 + (size_t)j == w.col);
    for (int i = 0; i < w.rows; i++) {
        draw_label(p, v, w.plane.rows, w.row0 + (size_t)i, (Rect){r.y + 1 + i, r.x, 1, w.label}, false, false,
                   w.row0 + (size_t)i == w.row);
        for (int j = 0; j < w.cols; j++) {
            int y = r.y + 1 + i, x = r.x + w.label + j * w.cell;
            size_t cell = plane_cell(v->graph, v->node, &w.plane, v->at, w.row0 + (size_t)i, w.col0 + (size_t)j);
            bool here = cell == v->cell;
            if (here)
                canvas_fill(p->c, (Rect){y, x, 1, w.cell}, STYLE_CURSOR, ' ');
            shown_number_right(p, v, cell, y, x + 1, w.cell - 1, here ? STYLE_CURSOR : STYLE_TEXT);
            if (!here && scale.low != scale.high)
                draw_ground(p, (Rect){y, x + 1, 1, w.cell - 1}, colour_scale_colour(&scale, v->values[cell]));
            if (here)
                focus_cursor(p, focus, y, x);
        }
    }
    draw_more(p, &w, r);
}

const char *worked_sign(Op op)
{
    static const char *const SIGNS[OP_COUNT] = {
        [OP_CONTRACT] = "·", [OP_MUL] = "·", [OP_ADD] = "+", [OP_SUB] = "−", [OP_DIV] = "/"};
    return SIGNS[op] ? SIGNS[op] : ",";
}

/* "e=10": which of the terms that are summed, where an operand has an axis that the sum has not. */
static void put_summed(const Graph *g, NodeId sum, const ExplainLine *l, Buf *out)
{
    const Dims d = graph_node(g, l->ref[0].node)->dims;
    char label[64];
    for (int i = 0; i < d.n; i++) {
        const Axis *a = &g->axes[d.axis[i]];
        if (dims_find(graph_node(g, sum)->dims, d.axis[i]) >= 0)
            continue;
        const size_t index = l->ref[0].cell / dims_stride(g->axes, d, d.axis[i]) % (size_t)a->n;
        buf_printf(out, "%s%s=%s", out->len ? ", " : "", a->sym, axis_label(a, (int)index, label, sizeof label));
    }
}

/* The operands' addresses, or short where those are too long: "exp[2,qu',street], row_sum[2,qu']", "exp, row_sum"; of
 * a sum "q, k: e=10". */
static void put_where(const Graph *g, NodeId sum, const ExplainLine *l, int room, Buf *out)
{
    for (int i = 0; i < l->operands; i++) {
        buf_puts(out, i ? ", " : "");
        address_put(g, l->ref[i].node, l->ref[i].cell, out);
    }
    for (int brief = 1; brief >= 0 && utf8_cells(buf_str(out)) > room; brief--) {
        buf_clear(out);
        for (int i = 0; i < l->operands; i++) {
            char name[200];
            const Ref *at = &l->ref[i];
            buf_printf(out, "%s%s", i ? ", " : "",
                       brief ? cell_brief(g, at->node, at->cell, DIMS_SCALAR, name, sizeof name)
                             : node_name(graph_node(g, at->node)));
        }
    }
    Buf summed = {0};
    if (*buf_str(out) && !strchr(buf_str(out), '['))
        put_summed(g, sum, l, &summed);
    if (summed.len)
        buf_printf(out, ": %s", buf_str(&summed));
    buf_free(&summed);
}

/* One term: what it adds, its operands, where they stand. single: it is all. */
static void draw_term(const Paint *p, const Shown *v, const ExplainLine *l, bool single, int y, Rect r)
{
    const Node *node = graph_node(v->graph, v->node);
    const Op op = node->op;
    char number[32];
    Buf where = {0};
    number_text(number, sizeof number, l->contribution, TERM);
    canvas_right(p->c, y, r.x, TERM, STYLE_TEXT, number);
    canvas_text(p->c, y, r.x + TERM, 3, STYLE_DIM, " = ");
    int x = r.x + TERM + 3;
    if (op == OP_MAP)
        x += canvas_text(p->c, y, x, r.w, STYLE_DIM, map_name(node->map)) + 1;
    for (int i = 0; i < l->operands; i++) {
        const float *values = session_peek(p->s, v->side, graph_node(v->graph, l->ref[i].node)->path);
        Shown o = {.side = v->side, .graph = v->graph, .node = l->ref[i].node, .values = values};
        if (i)
            canvas_text(p->c, y, x, 3, STYLE_DIM, worked_sign(op));
        x += i ? 2 : 0;
        if (values && single) /* which is reckoned after: no digits are lost */
            x += shown_full(p, &o, l->ref[i].cell, y, x, TERM, STYLE_TEXT) + 1 - TERM;
        else if (values)
            shown_number_right(p, &o, l->ref[i].cell, y, x, TERM - 1, STYLE_TEXT);
        x += TERM;
    }
    put_where(v->graph, v->node, l, r.x + r.w - x - 1, &where);
    canvas_text(p->c, y, x + 1, r.x + r.w - x - 1, STYLE_DIM, buf_str(&where));
    buf_free(&where);
}

const ExplainLine *worked_line(const Explanation *e, size_t term)
{
    size_t i = 0;
    while (i < e->line_count && e->lines[i].term != term)
        i++;
    return &e->lines[i];
}

/* How far the terms have come that are shown one after the other. */
static void draw_so_far(const Paint *p, const Explanation *e, size_t shown, int y, Rect r)
{
    char number[32] = "";
    if (e->running)
        number_full_text(number, sizeof number, e->running[shown - 1], 12);
    canvas_printf(p->c, y, r.x, r.w, STYLE_STRONG, "%s after %zu of %zu terms", number, shown, e->terms);
}

/* The next of the `most` largest terms in the order of the sum: the first from `from` on. They are the first lines. */
static size_t next_large(const Explanation *e, size_t most, size_t from)
{
    size_t next = e->terms;
    for (size_t i = 0; i < most && i < e->line_count; i++)
        next = e->lines[i].term >= from && e->lines[i].term < next ? e->lines[i].term : next;
    return next;
}

/* Where not all have room the largest ones, in their order; of those that come one after the other the last ones. */
static void draw_terms(const Paint *p, const Shown *v, const Explanation *e, Rect r)
{
    int counted = p->s->look.worked.terms, y = r.y;
    size_t shown = counted > 0 && (size_t)counted < e->terms ? (size_t)counted : e->terms;
    size_t room = r.h > 1 ? (size_t)r.h - 1 : 0, first = counted > 0 && shown > room ? shown - room : 0;
    for (size_t i = first; i < shown && (size_t)(y - r.y) < room; i++) {
        i = counted > 0 || shown <= room ? i : next_large(e, room, i);
        if (i < shown)
            draw_term(p, v, worked_line(e, i), e->terms == 1, y++, r);
    }
    if (shown < e->terms) {
        draw_so_far(p, e, shown, y, r);
        return;
    }
    char number[32];
    number_full_text(number, sizeof number, e->stored, 12);
    const size_t seen = (size_t)(y - r.y);
    if (e->equal && seen < shown)
        canvas_printf(p->c, y, r.x, r.w, STYLE_GOOD, "%s   bit for bit; %s%zu of %zu terms shown", number,
                      counted > 0 || !seen ? "" : "largest ", seen, shown);
    else
        canvas_printf(p->c, y, r.x, r.w, e->equal ? STYLE_GOOD : STYLE_ERROR, "%s   %s", number,
                      e->equal ? "derived again from these, bit for bit" : "is not what its terms give");
}

/* rows: and where there is room below a single term, all that led to it, as bars. */
static void draw_arithmetic(const Paint *p, const Shown *v, Rect r, bool rows)
{
    Buf line = {0};
    if (r.h < 2)
        return;
    address_put(v->graph, v->node, v->cell, &line);
    canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, buf_str(&line));
    rect_cut(&r, 't', 1);
    if (graph_node(v->graph, v->node)->op == OP_LEAF) {
        explain_leaf(p, v, r);
    } else {
        const Explanation *e = explained_cell(p->s, v->side, v->node, v->cell, EVERY_TERM);
        const Closeup *c;
        if (!e)
            shown_computing(p, r);
        else {
            draw_terms(p, v, e, r);
            rect_cut(&r, 't', e->terms < (size_t)r.h ? (int)e->terms + 2 : r.h);
            if (rows && r.h >= ROWS_LEAST && e->terms == 1 && explained_closeup(p->s, v->side, v->node, v->cell, &c) &&
                c)
                closeup_rows(p, c, (Rect){r.y - 1, r.x, r.h + 1, r.w}); /* its legend on the blank line */
        }
    }
    buf_free(&line);
}

static void draw_all(const Paint *p, Rect r, Side side, bool focus, bool rows)
{
    Shown v;
    if (!shown_open(p->s, side, p->s->place.path, &v)) {
        canvas_wrap(p->c, r, STYLE_DIM, "This node does not exist on this side.");
        return;
    }
    if (!v.values) {
        shown_computing(p, r);
        return;
    }
    if (p->hall && worked_hall(p, &v, r))
        return;
    Plane plane = plane_make(v.graph, v.node);
    Parts parts = parts_of(&v, &plane, r);
    Buf formula = {0};
    graph_formula(v.graph, v.node, &formula);
    if (parts.formula.h) {
        int used = canvas_text(p->c, parts.formula.y, r.x, r.w, STYLE_DIM, buf_str(&formula)) + 2;
        draw_scale(p, &v, parts.table, (Rect){parts.formula.y, r.x + used, 1, r.w - used});
    }
    buf_free(&formula);
    worked_table(p, &v, parts.table, focus);
    if (side == SIDE_DIFF)
        canvas_wrap(p->c, parts.arithmetic, STYLE_DIM,
                    "The arithmetic is shown for one side: compare a, or compare b.");
    else
        draw_arithmetic(p, &v, parts.arithmetic, rows);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    draw_all(p, r, side, focus, true);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, s->place.path);
    const Graph *g = session_graph(s, side);
    NodeId n = side == SIDE_DIFF ? NO_NODE : session_node(s, side, s->place.path);
    for (int k = 0; n != NO_NODE && k < op_inputs(graph_node(g, n)->op); k++)
        needs_add(out, side, graph_node(g, graph_node(g, n)->in[k])->path);
    if (n != NO_NODE && graph_node(g, n)->op != OP_LEAF)
        needs_ask(out, side, s->place.path, NEED_EXPLANATION, session_cell(s, side, n), EVERY_TERM);
    if (n != NO_NODE)
        closeup_needs(s, side, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Shown v;
    if (!shown_open(p->s, side, p->s->place.path, &v) || !v.values)
        return false;
    Plane plane = plane_make(v.graph, v.node);
    Rect t = parts_of(&v, &plane, r).table;
    Window w = window_of(&v, t);
    int row = y - t.y - 1, col = x < t.x + w.label ? -1 : (x - t.x - w.label) / w.cell;
    if (row < 0 || row >= w.rows || col < 0 || col >= w.cols)
        return false;
    click_cell(p, &v, plane_cell(v.graph, v.node, &w.plane, v.at, w.row0 + (size_t)row, w.col0 + (size_t)col), command);
    return true;
}

/* ": 2 u × 4 e": [u=2,e=4] would be a cell's address among those of the cells. */
static void put_sizes(const Graph *g, Dims d, Buf *out)
{
    for (int i = 0; i < d.n; i++)
        buf_printf(out, "%s%d %s", i ? " × " : ": ", g->axes[d.axis[i]].n, g->axes[d.axis[i]].sym);
}

static void title(const Session *s, Side side, Buf *out)
{
    const Graph *g = shown_graph(s, side);
    NodeId n = graph_find(g, s->place.path);
    buf_puts(out, s->place.path);
    if (n != NO_NODE)
        put_sizes(g, graph_node(g, n)->dims, out);
}

void worked_text(const Paint *p, Buf *out)
{
    Shown v;
    Buf formula = {0}, text = {0};
    if (!shown_open(p->s, SIDE_B, p->s->place.path, &v))
        return;
    graph_formula(v.graph, v.node, &formula);
    buf_printf(out, "Shown: %s", p->s->place.path);
    put_sizes(v.graph, graph_node(v.graph, v.node)->dims, out);
    buf_printf(out, "%s%s.\n", formula.len ? ", " : "", buf_str(&formula));
    draw_all(p, (Rect){-1, 0, p->c->h + 1, p->c->w}, SIDE_B, false, false); /* the formula's line is above the canvas */
    export_text(p->c, &text);
    size_t begin = 0, end = text.len;
    while (begin < end && (text.data[begin] == '\n' || text.data[begin] == ' '))
        begin++;
    while (begin && text.data[begin - 1] != '\n')
        begin--;
    while (end > begin && (text.data[end - 1] == '\n' || text.data[end - 1] == ' '))
        end--;
    buf_add(out, text.data + begin, end - begin);
    buf_putc(out, '\n');
    buf_free(&formula);
    buf_free(&text);
}

static const KeyBinding KEYS[] = {
    {".", "play", "play", "play its arithmetic term by term, stop it", 0, 5, NULL},
    {",", "play next", "step", "one term more", 0, 6, NULL},
    {.key = NULL},
};

VIEW_SPEC(WORKED, .name = "worked", .traits = VIEW_TRACED | VIEW_TELLS, .sides = SIDES_ONE, .keys = KEYS);
