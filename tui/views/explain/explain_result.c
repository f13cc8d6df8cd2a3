/* What the terms of an explanation come to, whether that is what is stored, and who reads it. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/explain.h"

enum { LABEL = 30, BRIEF = 7, NUMBER = 12 };

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
    snprintf(text, sizeof text, "difference %.2g", (double)e->stored - e->second);
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
