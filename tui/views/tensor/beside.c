/* Tensors side by side, a row of cells per token: queries, keys and values; or the patches, the learned tokens in front
 * of them, and what they become together. The row of the token under the cursor is marked in each. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/names.h"
#include "core/session/screens/beside.h"
#include "tui/views/tensor/tensor.h"

enum { GAP = 2, GAP_JOINS = 3, LEAST = 10, TITLED = 6, PREFIX_MOST = 4, VALUE = 6, PARTS_MOST = 2 * BESIDE_MOST };

/* Rows of one tensor, drawn by themselves: a prefix token is never pooled with patches. */
typedef struct Rows {
    Tensor t;
    Rect r;
    bool here; /* has the cursor of the screen */
} Rows;

/* Empty rectangles have no room. */
typedef struct Column {
    Rect title, bar;
    const Tensor *t;
    int front; /* rows of another tensor that stand above its own */
} Column;

typedef struct Arrangement {
    Beside of;
    Tensor tensor[BESIDE_MOST];
    Rows rows[PARTS_MOST];
    Column column[BESIDE_MOST];
    int count, columns;
    Rect arrow, note; /* of what is joined: between the two; what stands in front of the patches */
    int value;        /* row of the canvas, −1: none */
} Arrangement;

static int prefix_of(const Tensor *t)
{
    const Axis *a = t->plane.rows.n ? &t->v.graph->axes[t->plane.rows.axis[0]] : NULL;
    return !a ? 0 : a->kind == AXIS_TOKEN ? a->prefix : a->role == ROLE_PREFIX ? a->n : 0;
}

/* Puts the row of tensor t where that of the token is: token `index` of the rows of `of`, counted from its first patch
 * (below 0: a prefix token). */
static void stand_on(Tensor *t, int token)
{
    int row = token + prefix_of(t);
    const Axis *a = &t->v.graph->axes[t->plane.rows.axis[0]];
    if (a->role == ROLE_PREFIX)
        row = token < 0 ? a->n + token : -1;
    t->row = row < 0 ? t->plane.row_count : (size_t)row;
    if (t->row < t->plane.row_count)
        t->v.cell = tensor_cell(t, t->row, t->col);
}

static bool same_tokens(const Graph *g, NodeId a, NodeId b)
{
    int x = beside_tokens(g, a), y = beside_tokens(g, b);
    return x != AXIS_NONE && y != AXIS_NONE && g->axes[x].sequence == g->axes[y].sequence;
}

/* The tensors, each standing on the token that the one in focus stands on. False where this side has none of it. */
static bool open_all(const Session *s, Side side, Beside *of, Tensor t[BESIDE_MOST], int *focus)
{
    const Graph *g = shown_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE || !beside_of(g, n, of))
        return false;
    *focus = 0;
    for (int i = 0; i < of->count; i++) {
        if (!tensor_open(s, side, graph_node(g, of->node[i])->path, &t[i]))
            return false;
        if (of->node[i] == n)
            *focus = i;
    }
    int token = (int)t[*focus].row - prefix_of(&t[*focus]);
    for (int i = 0; i < of->count; i++)
        if (i != *focus && (of->joins || same_tokens(g, n, of->node[i])))
            stand_on(&t[i], token);
    if (of->joins) /* the same numbers, the same colours */
        t[0].spread = t[1].spread = t[2].spread;
    return true;
}

/* A tensor in r: labels of its columns, prefix tokens a line each, then the others in `lines` lines (0: all there are).
 */
static void add_tensor(Arrangement *a, const Tensor *t, Rect r, bool labels, int lines, bool here)
{
    int prefix = prefix_of(t);
    bool apart = prefix > 0 && prefix <= PREFIX_MOST && r.h >= prefix + 4;
    Rows whole = {.t = *t, .r = r, .here = here};
    whole.t.no_rows = !labels;
    whole.t.lit = true;
    if (!apart) {
        a->rows[a->count++] = whole;
        return;
    }
    Rows front = whole, rest = whole;
    front.t = tensor_rows(&whole.t, 0, (size_t)prefix);
    front.t.columns = true;
    front.r = rect_cut(&r, 't', prefix + 1);
    rest.t = tensor_rows(&whole.t, (size_t)prefix, t->plane.row_count - (size_t)prefix);
    rest.t.no_columns = true;
    rect_cut(&r, 't', lines > 0); /* beside the note at the left: equal rows in one line */
    rest.r = r;
    rest.r.h = lines > 0 && lines < r.h ? lines : r.h;
    a->rows[a->count++] = front;
    if (rest.t.plane.row_count && rest.r.h > 0)
        a->rows[a->count++] = rest;
}

static void add_column(Arrangement *a, const Tensor *t, Rect *r, Rect bar)
{
    a->column[a->columns++] = (Column){.title = rect_cut(r, 't', r->h > TITLED), .bar = bar, .t = t};
}

/* Queries, keys and values: the first has the labels of all, unless the others are about other tokens. */
static void arrange_row(Arrangement *a, Rect r, Rect bar, int focus)
{
    const Graph *g = a->tensor[0].v.graph;
    int label[BESIDE_MOST] = {0}, room = r.w - GAP * (a->of.count - 1), x = r.x;
    for (int i = 0; i < a->of.count; i++) {
        if (i == 0 || !same_tokens(g, a->of.node[i - 1], a->of.node[i]))
            label[i] = tensor_label_width(&a->tensor[i], r.w / 2);
        room -= label[i];
    }
    int each = room / a->of.count;
    for (int i = 0; i < a->of.count; i++)
        label[i] = each + label[i] < TENSOR_LABELS_FROM ? 0 : label[i];
    for (int i = 0; i < a->of.count; i++) {
        Rect column = {r.y, x, r.h, each + label[i]};
        int left = r.x + r.w - x - label[i]; /* the last one has no gap behind it */
        add_column(a, &a->tensor[i], &column,
                   (Rect){bar.y, x + label[i], bar.h, left < each + GAP - 1 ? left : each + GAP - 1});
        add_tensor(a, &a->tensor[i], column, label[i] > 0, 0, i == focus);
        x += column.w + GAP;
    }
}

/* Patches and what stands in front of them at the left, all of them together at the right: patches have as many lines
 * here as there, so that their rows look alike. */
static void arrange_joined(Arrangement *a, Rect r, Rect bar)
{
    const Tensor *t = a->tensor;
    int labels = tensor_label_width(&t[2], (r.w - GAP_JOINS) / 2), each = (r.w - GAP_JOINS - 2 * labels) / 2,
        prefix = (int)t[0].plane.row_count;
    Rect left = {r.y, r.x, r.h, each + labels}, right = {r.y, r.x + each + labels + GAP_JOINS, r.h, each + labels};
    add_column(a, &t[1], &left, (Rect){bar.y, left.x, bar.h, left.w});
    add_column(a, &t[2], &right, (Rect){bar.y, right.x, bar.h, right.w});
    a->arrow = (Rect){left.y, left.x + left.w, left.h, GAP_JOINS};
    int lines = left.h - (prefix + 1) - 1;
    if (prefix > PREFIX_MOST || lines <= 3) {
        add_tensor(a, &t[1], left, true, 0, false);
        add_tensor(a, &t[2], right, true, 0, true);
        return;
    }
    add_tensor(a, &t[0], rect_cut(&left, 't', prefix + 1), true, 0, false);
    a->rows[a->count - 1].t.columns = true;
    a->rows[a->count - 1].t.label_least = tensor_label_width(&t[1], left.w);
    a->note = rect_cut(&left, 't', 1);
    a->column[0].front = prefix;
    add_tensor(a, &t[1], left, true, 0, false);
    a->rows[a->count - 1].t.no_columns = true;
    add_tensor(a, &t[2], right, true, lines, true);
}

/* False where this side has none of it. */
static bool arrange(const Session *s, Side side, Rect r, Arrangement *a)
{
    int focus;
    *a = (Arrangement){.value = -1};
    if (!open_all(s, side, &a->of, a->tensor, &focus))
        return false;
    if (r.h > 1)
        a->value = rect_cut(&r, 'b', 1).y;
    Rect bar = rect_cut(&r, 'b', r.h > 8);
    int columns = a->of.joins ? 2 : a->of.count;
    if (r.w < columns * (LEAST + GAP)) { /* the one in focus alone */
        add_column(a, &a->tensor[focus], &r, bar);
        add_tensor(a, &a->tensor[focus], r, true, 0, true);
    } else if (a->of.joins)
        arrange_joined(a, r, bar);
    else
        arrange_row(a, r, bar, focus);
    return true;
}

/* "queries q 0.743  65×4×16"; where it is drawn alone "queries q  1 of 3 →"; of what is joined "64 patches". */
static void draw_title(const Paint *p, Rect r, const Shown *v, const Beside *of, bool alone)
{
    const Graph *g = v->graph;
    const NodeId n = v->node;
    const NodeText *text = node_text(graph_node(g, n)->path);
    const char *label = text ? text->label : node_name(graph_node(g, n)),
               *symbol = text ? node_words(g, text->symbol) : "";
    char shape[64];
    int rows = beside_tokens(g, n);
    if (of->joins && rows != AXIS_NONE) {
        int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "%d %s", g->axes[rows].n, label);
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "  %s", symbol);
        return;
    }
    int i = 0;
    while (i + 1 < of->count && of->node[i] != n)
        i++;
    if (alone)
        snprintf(shape, sizeof shape, "%s%d of %d%s", i ? p->c->ascii ? "< " : "← " : "", i + 1, of->count,
                 i + 1 == of->count ? ""
                 : p->c->ascii      ? " >"
                                    : " →");
    else
        shown_lengths(g, graph_node(g, n)->dims, shape, sizeof shape);
    const bool here = n == session_node(p->s, v->side, p->s->place.path) && !alone; /* each has a mark */
    int used = canvas_printf(p->c, r.y, r.x, r.w, here ? STYLE_CURSOR : STYLE_STRONG, "%s", label);
    if (v->values && !alone && used + 1 + VALUE <= r.w) {
        shown_number(p, v, v->cell, r.y, r.x + used + 1, VALUE, STYLE_TEXT);
        used += 1 + VALUE;
    }
    if (used + 2 + utf8_cells(shape) <= r.w)
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "  %s", shape);
}

static const char *joining_note(const Graph *g, const Beside *of, int width, char out[64])
{
    int count = graph_node(g, of->node[0])->dims.n ? g->axes[graph_node(g, of->node[0])->dims.axis[0]].n : 0;
    snprintf(out, 64, "+ %d learned, no patch", count);
    return utf8_cells(out) <= width ? out : "+";
}

static void draw_rows(const Paint *p, const Rows *rows, bool focus)
{
    if (rows->r.h < 1 || rows->r.w < 1)
        return;
    if (rows->t.v.values)
        TENSOR_HEAT.draw(p, rows->r, &rows->t, focus && rows->here);
    else
        shown_computing(p, rows->r);
}

static void draw_column(const Paint *p, const Arrangement *a, const Column *c)
{
    Rect title = c->title;
    if (title.h && c->front)
        rect_cut(&title, 'l', canvas_printf(p->c, title.y, title.x, title.w, STYLE_STRONG, "%d + ", c->front));
    if (title.h)
        draw_title(p, title, &c->t->v, &a->of, a->columns < a->of.count);
    if (!c->bar.h || !c->t->v.values)
        return;
    ColourScale scale = colour_scale_of_spread(p, c->t->v.side, &c->t->spread);
    colour_scale_bar(p, &scale, c->bar.y, c->bar.x, c->bar.w);
}

/* At the right end of the line what a dot or cell holds, where it is several values. Returns the cells used. */
static int put_note(const Paint *p, Rect line, const Arrangement *a)
{
    enum { VALUE_LEAST = 32 };
    Buf note = {0};
    int used = 0;
    for (int i = 0; i < a->count && !note.len; i++)
        if (a->rows[i].here)
            TENSOR_HEAT.caption(p, a->rows[i].r, &a->rows[i].t, &note);
    if (strncmp(buf_str(&note), "1 ", 2) == 0 && line.w - utf8_cells(buf_str(&note)) >= VALUE_LEAST) {
        canvas_right(p->c, line.y, line.x, line.w, STYLE_DIM, buf_str(&note));
        used = utf8_cells(buf_str(&note)) + 2;
    }
    buf_free(&note);
    return used;
}

static void draw_all(const Paint *p, Rect r, Side side, const Arrangement *a, bool focus)
{
    Shown v;
    char note[64];
    for (int i = 0; i < a->count; i++)
        draw_rows(p, &a->rows[i], focus);
    for (int i = 0; i < a->columns; i++)
        draw_column(p, a, &a->column[i]);
    if (a->note.h)
        canvas_text(p->c, a->note.y, a->note.x, a->note.w, STYLE_AXIS,
                    joining_note(a->tensor[0].v.graph, &a->of, a->note.w, note));
    if (a->arrow.h > 2) {
        canvas_glyph(p->c, a->arrow.y + 1, a->arrow.x + 1, STYLE_AXIS, 0x2192);
        canvas_glyph(p->c, a->arrow.y + a->arrow.h / 2, a->arrow.x + 1, STYLE_AXIS, 0x2192);
    }
    if (a->value < 0 || !shown_open(p->s, side, p->s->place.path, &v))
        return;
    const int noted = put_note(p, (Rect){a->value, r.x, 1, r.w}, a);
    tensor_value_line(p, a->value, r.x, r.w - noted, &v);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Arrangement a;
    if (r.h > 0 && r.w > 0) {
        if (arrange(p->s, side, r, &a))
            draw_all(p, r, side, &a, focus);
        else
            canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "this side has no such node");
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    Beside of;
    const Graph *g = shown_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    needs_add(out, side, s->place.path);
    if (n != NO_NODE && beside_of(g, n, &of))
        for (int i = 0; i < of.count; i++)
            needs_add(out, side, graph_node(g, of.node[i])->path);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Arrangement a;
    size_t cell;
    if (!arrange(p->s, side, r, &a))
        return false;
    for (int i = 0; i < a.count; i++)
        if (rect_has(a.rows[i].r, y, x) && a.rows[i].t.v.values &&
            TENSOR_HEAT.hit(p, a.rows[i].r, &a.rows[i].t, y, x, &cell)) {
            click_cell(p, &a.rows[i].t.v, cell, command);
            return true;
        }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    const Graph *g = shown_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    Beside of;
    if (n == NO_NODE || !beside_of(g, n, &of)) {
        buf_puts(out, s->place.path);
        return;
    }
    for (int i = 0; i < of.count; i++)
        buf_printf(out, "%s%s",
                   !i          ? ""
                   : !of.joins ? ", "
                   : i == 1    ? " + "
                               : " = ",
                   node_name(graph_node(g, of.node[i])));
}

VIEW_SPEC(BESIDE, .name = "beside", .traits = VIEW_TELLS);
