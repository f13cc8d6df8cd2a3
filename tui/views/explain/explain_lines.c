/* What stands around the terms of an explanation: names and numbers of cells, the path that led here, what the terms
 * come to and who reads it, and where the arithmetic begins. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "tui/views/explain/explain.h"
#include "tui/views/number.h"

enum { NUMBER = 12, LABEL = 30, BRIEF = 7 };

/* name[…]: an axis of `letters` stays its letter, of another its index stands there, `named` behind the letter. */
static const char *put_cell(const Graph *g, NodeId n, size_t cell, const char *name, Dims letters, bool named,
                            char *out, size_t size)
{
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX] = {0};
    dims_unravel(g->axes, d, cell, index);
    size_t used = (size_t)snprintf(out, size, "%s", name);
    for (int i = 0; i < d.n && used < size; i++) {
        const Axis *a = &g->axes[d.axis[i]];
        char label[40];
        bool letter = dims_find(letters, d.axis[i]) >= 0;
        int more = snprintf(out + used, size - used, "%s%s%s%s", i ? "," : "[", named ? a->sym : "", named ? "=" : "",
                            letter ? a->sym : axis_label(a, index[i], label, sizeof label));
        used += more > 0 ? (size_t)more : 0;
    }
    if (d.n && used < size)
        snprintf(out + used, size - used, "]");
    return out;
}

const char *cell_brief(const Graph *g, NodeId n, size_t cell, Dims letters, char *out, size_t size)
{
    return put_cell(g, n, cell, node_name(graph_node(g, n)), letters, false, out, size);
}

const char *cell_name(const Graph *g, NodeId from, NodeId n, size_t cell, char *out, size_t size)
{
    const char *path = graph_node(g, n)->path, *other = graph_node(g, from)->path;
    int block = anatomy_block_of(g, path);
    size_t scope = block == NO_PART ? 0 : strlen(anatomy_part(g, block)->scope);
    if (scope && block == anatomy_block_of(g, other) && strncmp(path, other, scope + 1) == 0 &&
        strncmp(path, anatomy_part(g, block)->scope, scope) == 0)
        path += scope + 1;
    return put_cell(g, n, cell, path, DIMS_SCALAR, true, out, size);
}

int ref_number_cells(float x)
{
    char text[32];
    number_text(text, sizeof text, x, NUMBER);
    return (int)strlen(text);
}

void ref_number(const Paint *p, float value, Ref ref, int y, int x, int width, Style style)
{
    char text[32];
    number_text(text, sizeof text, value, NUMBER);
    int n = (int)strlen(text);
    if (n > width)
        return; /* a number that is cut is another number */
    canvas_text(p->c, y, x + width - n, n, style, text);
    canvas_ref(p->c, y, x + width - n, n, ref);
}

bool explain_is_table(Op op)
{
    return op == OP_CONTRACT || op == OP_SUM || op == OP_MAX || op == OP_SCATTER;
}

size_t explain_term_here(const Session *s, size_t terms)
{
    return s->place.term < terms ? s->place.term : terms ? terms - 1 : 0;
}

int explain_operand_here(const Session *s, int operands)
{
    return s->place.operand < operands ? s->place.operand : operands ? operands - 1 : 0;
}

enum { CRUMBS = SESSION_BACK + 1 };

typedef struct Crumb {
    char text[72], number[16];
    Ref ref;
} Crumb;

static bool crumb_make(const Session *s, Side side, const Place *place, Crumb *out)
{
    NodeId n = session_node(s, side, place->path);
    if (n == NO_NODE)
        return false;
    const Graph *g = shown_graph(s, side);
    Dims d = graph_node(g, n)->dims;
    int at[SESSION_AXES], index[DIMS_MAX] = {0};
    session_at_place(s, side, place, at);
    for (int i = 0; i < d.n; i++)
        index[i] = at[d.axis[i]];
    size_t cell = dims_ravel(g->axes, d, index);
    const float *values = session_peek(s, side, place->path);
    cell_brief(g, n, cell, DIMS_SCALAR, out->text, sizeof out->text);
    out->ref = session_ref(side, n, cell);
    out->number[0] = '\0';
    if (values)
        number_text(out->number, sizeof out->number, values[cell], 8);
    return true;
}

static int crumb_cells(const Crumb *c)
{
    return utf8_cells(c->text) + 1 + utf8_cells(c->number);
}

/* The first place of the path, … , and as many of the last ones as fit. */
void explain_path(const Paint *p, Side side, Rect r)
{
    static const char BETWEEN[] = " ‹ ";
    const Session *s = p->s;
    Crumb crumbs[CRUMBS];
    int from = s->back_count, n = 0;
    while (from > 0 && screen_spec(s->back[from - 1].screen)->group == GROUP_ARITHMETIC)
        from--;
    for (int i = from; i <= s->back_count; i++)
        n += crumb_make(s, side, i < s->back_count ? &s->back[i] : &s->place, &crumbs[n]);
    int first = n, room = r.w;
    while (first > 0 && crumb_cells(&crumbs[first - 1]) + 3 <= room - (first > 1 ? crumb_cells(&crumbs[0]) + 8 : 0))
        room -= crumb_cells(&crumbs[--first]) + 3;
    int x = r.x;
    for (int i = 0; i < n; i++) {
        if (i > 0 && i < first) {
            if (i == 1)
                x += canvas_printf(p->c, r.y, x, r.x + r.w - x, STYLE_DIM, "%s…", BETWEEN);
            continue;
        }
        if (i > 0)
            x += canvas_text(p->c, r.y, x, r.x + r.w - x, STYLE_DIM, BETWEEN);
        x += canvas_text(p->c, r.y, x, r.x + r.w - x, i == n - 1 ? STYLE_STRONG : STYLE_TEXT, crumbs[i].text) + 1;
        int digits = (int)strlen(crumbs[i].number);
        if (x + digits > r.x + r.w)
            continue;
        canvas_text(p->c, r.y, x, digits, STYLE_DIM, crumbs[i].number);
        canvas_ref(p->c, r.y, x, digits, crumbs[i].ref);
        x += digits;
    }
}

static int label(const Paint *p, Rect r, const char *text, const char *brief)
{
    bool wide = r.w >= LABEL + 30;
    int skip = wide ? LABEL : r.w >= BRIEF + NUMBER ? BRIEF : 0;
    if (skip)
        canvas_text(p->c, r.y, r.x, skip - 1, STYLE_DIM, wide ? text : brief);
    return skip;
}

void explain_sum(const Paint *p, const Explanation *e, Rect r)
{
    Op op = graph_node(shown_graph(p->s, e->side), e->node)->op;
    char text[64];
    if (op == OP_MAX)
        snprintf(text, sizeof text, "the largest of %zu", e->terms);
    else if (explain_is_table(op))
        snprintf(text, sizeof text, "sum of all %zu, in order", e->terms);
    else
        snprintf(text, sizeof text, "worked out again");
    int x = label(p, r, text, op == OP_MAX ? "max" : explain_is_table(op) ? "sum" : "again");
    ref_number(p, e->folded, (Ref){0}, r.y, r.x + x, r.w - x < NUMBER ? r.w - x : NUMBER, STYLE_TEXT);
}

void explain_stored(const Paint *p, const Explanation *e, Rect r)
{
    uint32_t bits;
    char text[64];
    int x = label(p, r, "stored in the trace", "stored"), width = r.w - x < NUMBER ? r.w - x : NUMBER;
    ref_number(p, e->stored, session_ref(e->side, e->node, e->cell), r.y, r.x + x, width, STYLE_STRONG);
    memcpy(&bits, &e->stored, sizeof bits);
    int left = r.w - x - width - 2;
    if (e->equal) {
        snprintf(text, sizeof text, "equal, bit for bit ✓ (%08x)", (unsigned)bits);
        if (utf8_cells(text) > left)
            snprintf(text, sizeof text, "✓ %08x", (unsigned)bits);
        if (utf8_cells(text) > left)
            snprintf(text, sizeof text, "✓");
    } else
        snprintf(text, sizeof text, "DIFFERENT: %08x is stored", (unsigned)bits);
    canvas_text(p->c, r.y, r.x + x + width + 2, left, e->equal ? STYLE_GOOD : STYLE_ERROR, text);
}

void explain_double(const Paint *p, const Explanation *e, Rect r)
{
    Op op = graph_node(shown_graph(p->s, e->side), e->node)->op;
    if (op != OP_CONTRACT && op != OP_SUM)
        return;
    char text[64];
    int x = label(p, r, "in double, second route", "double");
    snprintf(text, sizeof text, "%.9g", e->second);
    if (utf8_cells(text) > r.w - x)
        return;
    int used = NUMBER > utf8_cells(text) ? NUMBER - utf8_cells(text) : 0;
    used = used + utf8_cells(text) > r.w - x ? 0 : used;
    used += canvas_text(p->c, r.y, r.x + x + used, r.w - x - used, STYLE_TEXT, text);
    char apart[16];
    number_text(apart, sizeof apart, (float)((double)e->stored - e->second), 8);
    snprintf(text, sizeof text, "difference %s", apart);
    if (utf8_cells(text) + 2 <= r.w - x - used)
        canvas_text(p->c, r.y, r.x + x + used + 2, r.w - x - used - 2, STYLE_DIM, text);
}

NodeId explain_reader(const Graph *g, NodeId n)
{
    NodeId found = NO_NODE;
    for (NodeId i = n + 1; i < g->count; i++) {
        const Node *node = graph_node(g, i);
        for (int k = 0; k < op_inputs(node->op); k++)
            if (node->in[k] == n) {
                if (!(node->flags & NODE_PROBE))
                    return i;
                found = found == NO_NODE ? i : found;
            }
    }
    return found;
}

/* Moves and renamings give a cell other indices: then only the node is named. */
static bool keeps_axes(Op op)
{
    return op != OP_VIEW && op != OP_CONCAT && op != OP_SLICE && op != OP_GATHER && op != OP_SCATTER;
}

void explain_next(const Paint *p, const Shown *v, Rect r)
{
    NodeId n = explain_reader(v->graph, v->node);
    int x = label(p, r, "next", "next"), width = r.w - x;
    Shown next;
    if (n == NO_NODE) {
        canvas_text(p->c, r.y, r.x + x, width, STYLE_DIM,
                    graph_node(v->graph, v->node)->flags & NODE_PROBE ? "nothing reads it: an analysis"
                                                                      : "nothing reads it: an answer");
        return;
    }
    char name[200], number[32];
    const char *path = graph_node(v->graph, n)->path;
    bool cell = keeps_axes(graph_node(v->graph, n)->op) && shown_open(p->s, v->side, path, &next) && next.node == n &&
                next.values;
    if (!cell) {
        canvas_text(p->c, r.y, r.x + x, width, STYLE_TEXT, path);
        return;
    }
    number_text(number, sizeof number, next.values[next.cell], NUMBER);
    cell_name(v->graph, v->node, n, next.cell, name, sizeof name);
    if (utf8_cells(name) + 3 + (int)strlen(number) > width)
        cell_brief(v->graph, n, next.cell, DIMS_SCALAR, name, sizeof name);
    int room = width - 3 - (int)strlen(number);
    if (room < 4)
        return;
    int used = canvas_text(p->c, r.y, r.x + x, room, STYLE_TEXT, name);
    used += canvas_text(p->c, r.y, r.x + x + used, 3, STYLE_DIM, " = ");
    shown_number(p, &next, next.cell, r.y, r.x + x + used, width - used, STYLE_TEXT);
}

/* Index of the cell on the axis of that role, −1 where the node lacks it; *length gets the axis' length. */
static int index_on(const Shown *v, AxisRole role, int *length)
{
    Dims d = graph_node(v->graph, v->node)->dims;
    int index[DIMS_MAX] = {0}, axis = dims_role(v->graph, d, role), at = dims_find(d, axis);
    if (axis == AXIS_NONE)
        return -1;
    dims_unravel(v->graph->axes, d, v->cell, index);
    *length = v->graph->axes[axis].n;
    return index[at];
}

static void put_weight(const Session *s, const Shown *v, Buf *out)
{
    const Node *n = graph_node(v->graph, v->node);
    const Model *m = session_exhibit(s, v->side)->model;
    char cells[32], number[32];
    if (m)
        buf_printf(out, "A weight, %s. ",
                   m->trained ? "learned in training" : "made from a seed: this model is untrained");
    if (m && strcmp(m->layout, "bundled") != 0 && strcmp(m->layout, "seeded") != 0)
        buf_printf(out, "The checkpoint calls its tensor\n%s\n", n->leaf.origin);
    graph_shape_text(v->graph, n->dims, out);
    buf_printf(out, ", %s numbers; this is number %s, counted from 0.\n", count_text(cells, sizeof cells, v->count),
               count_text(number, sizeof number, v->cell));
}

static void put_pixel(const Session *s, const Shown *v, Buf *out)
{
    const Input *in = session_input(s, v->side);
    int rows = 1, cols = 1, tall = 1, wide = 1, colours = 1;
    int y = index_on(v, ROLE_PLACE_ROW, &rows), x = index_on(v, ROLE_PLACE_COL, &cols),
        i = index_on(v, ROLE_PIXEL_ROW, &tall), j = index_on(v, ROLE_PIXEL_COL, &wide),
        c = index_on(v, ROLE_CHANNEL, &colours);
    char name[160];
    if (in->kind == INPUT_MATRICES) {
        buf_printf(out, "Given by the worked example '%s'.\n", in->name);
        return;
    }
    if (y < 0 || x < 0 || i < 0 || j < 0) {
        buf_puts(out, "Put in from outside.\n");
        return;
    }
    int py = y * tall + i, px = x * wide + j;
    static const char *const RGB[] = {"red", "green", "blue"};
    buf_printf(out, "A pixel of the picture that the model receives (%d × %d):\ncolumn %d, row %d", cols * wide,
               rows * tall, px, py);
    if (colours == 3 && c >= 0)
        buf_printf(out, ", %s", RGB[c]);
    buf_printf(out, "; it lies in patch r%dc%d.\n", y, x);
    snprintf(name, sizeof name, "%s", in->name);
    if (in->ready)
        buf_printf(out, "Its value was given ready in %s.\n", name);
    else if (in->original.data && session_exhibit(s, v->side)->model) {
        SourceRect r = preprocess_source(&session_exhibit(s, v->side)->model->preprocess, in->original.width,
                                         in->original.height, px, py);
        buf_printf(out, "In %s (%d × %d) it stands for columns %.1f to %.1f, rows %.1f to %.1f.\n", name,
                   in->original.width, in->original.height, r.x0, r.x1, r.y0, r.y1);
    }
}

void explain_leaf(const Paint *p, const Shown *v, Rect r)
{
    const Node *n = graph_node(v->graph, v->node);
    const char *origin = n->leaf.origin ? n->leaf.origin : "";
    bool named = *origin && strcmp(origin, "constant") != 0;
    Buf text = {0};
    if (r.h < 1)
        return;
    char name[200];
    cell_name(v->graph, v->node, v->node, v->cell, name, sizeof name);
    char number[32];
    number_full_text(number, sizeof number, v->values[v->cell], 12);
    int used = 0;
    if ((int)strlen(number) + 8 <= r.w)
        used = canvas_printf(p->c, r.y, r.x, r.w - (int)strlen(number), STYLE_TEXT, "%s = ", name);
    shown_full(p, v, v->cell, r.y, r.x + used, r.w - used, STYLE_STRONG);
    switch (n->leaf.kind) {
    case LEAF_TENSOR: put_weight(p->s, v, &text); break;
    case LEAF_INPUT: put_pixel(p->s, v, &text); break;
    case LEAF_CONST:
        buf_printf(&text, "A constant of the model's definition%s%s.\n", named ? ": " : "", named ? origin : "");
        break;
    case LEAF_HOST:
        if (shown_input(p->s, v->side)->kind == INPUT_MATRICES && !(n->flags & NODE_EDITED))
            buf_printf(&text, "Made for the worked example: %s.\n", origin);
        else
            buf_printf(&text, "Put in by %s.\n", *origin ? origin : "an edit");
        break;
    case LEAF_RUN: buf_printf(&text, "A value of another run: %s.\n", origin); break;
    }
    buf_puts(&text, "Here the arithmetic begins.");
    r.y++;
    r.h--;
    canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&text));
    buf_free(&text);
}

void explain_title(const char *what, const Session *s, Side side, Buf *out)
{
    Shown v;
    buf_puts(out, what);
    if (shown_open(s, side, s->place.path, &v))
        address_put(v.graph, v.node, v.cell, out);
    else
        buf_puts(out, s->place.path);
}

void explain_needs(const Session *s, Side side, Needs *out)
{
    needs_add(out, side, s->place.path);
    if (side == SIDE_DIFF) {
        needs_add(out, SIDE_A, s->place.path);
        needs_add(out, SIDE_B, s->place.path);
        return;
    }
    for (int i = s->back_count; i > 0 && screen_spec(s->back[i - 1].screen)->group == GROUP_ARITHMETIC; i--)
        needs_add(out, side, s->back[i - 1].path);
}
