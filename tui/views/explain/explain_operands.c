/* The one, two or three operands of an operation that reads one cell of each, below one another. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/explain.h"

enum { MARK = 2, GAP = 2, ROLE = 15 };

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
