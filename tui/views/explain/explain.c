/* The arithmetic of the cell in focus: its formula, its terms by size, what they come to, and who reads the result. The
 * path that led here stays on the first line. */
#include "tui/views/explain/explain.h"

#include "core/base/utf8.h"
#include "core/graph/explain.h"

enum { NUMBER = 12, NO_LINE = -1 };
/* The operands as maps: beside a table of at least so many columns, below a list of operands. */
enum {
    TABLE_LEAST = 58,
    TABLE_WIDE = 74,
    WIDE = 110,
    MAPS_LEAST = 18,
    MAPS_LINES = 8,
    BELOW_LINES = 5,
    BELOW_WIDTH = 40,
    STEPS_LINES = 14, /* what the maps leave free shows the row's steps, as the close-up does */
    STEPS_WIDTH = 40
};

/* What is drawn where; NO_LINE where there is no room. */
typedef struct Layout {
    int path_y, formula_y, formula_h, order_y;
    Rect body, maps; /* maps: of the operands; empty where there is no room */
    int sum_y, stored_y, double_y, next_y;
} Layout;

static int formula_lines(Rect r, const char *formula)
{
    return r.h >= 11 && utf8_cells(formula) > r.w ? 2 : 1;
}

static Layout layout(Rect r, const char *formula, bool table)
{
    Layout l = {NO_LINE, NO_LINE, 0, NO_LINE, r, {0}, NO_LINE, NO_LINE, NO_LINE, NO_LINE};
    int all = r.h;
    if (all >= 9) {
        l.path_y = l.body.y++;
        l.body.h--;
    }
    if (all >= 3) {
        l.formula_h = formula_lines(r, formula);
        l.formula_y = l.body.y;
        l.body.y += l.formula_h;
        l.body.h -= l.formula_h;
    }
    if (all >= 15 && table) {
        l.order_y = l.body.y++;
        l.body.h--;
    }
    int *const foot[] = {&l.next_y, &l.double_y, &l.stored_y, &l.sum_y};
    static const int LEAST[] = {9, 10, 1, 8};
    for (int i = 0; i < 4; i++)
        if (all >= LEAST[i] && (i != 1 || table))
            *foot[i] = l.body.y + --l.body.h;
    int table_w = l.body.w < WIDE ? TABLE_LEAST : TABLE_WIDE, maps_w = l.body.w - table_w - 1;
    if (table && maps_w >= MAPS_LEAST && l.body.h >= MAPS_LINES)
        l.maps = rect_cut(&l.body, 'r', maps_w);
    else if (!table && l.body.w >= BELOW_WIDTH && l.body.h >= BELOW_LINES + NODE_INPUTS + 2) {
        Rect list = rect_cut(&l.body, 't', NODE_INPUTS);
        l.maps = l.body; /* few operations have as many operands: a blank line is left */
        l.body = list;
    }
    if (all >= 17 && !l.maps.h) /* a blank line before the results */
        l.body.h--;
    return l;
}

void explain_difference(const Paint *p, Rect r)
{
    static const char *const NAMES[] = {"A", "B", "A − B"};
    static const Style STYLES_OF[] = {STYLE_SIDE_A, STYLE_SIDE_B, STYLE_STRONG};
    for (int i = 0; i < 3 && i < r.h; i++) {
        Shown v;
        if (!shown_open(p->s, (Side)(SIDE_A + i), p->s->place.path, &v))
            continue;
        int used = r.w >= NUMBER + 7 ? 7 : 0;
        canvas_text(p->c, r.y + i, r.x, used, STYLES_OF[i], NAMES[i]);
        if (!session_cell_there(p->s, v.side, v.node))
            canvas_text(p->c, r.y + i, r.x + used, r.w - used, STYLE_DIM, "ends before this cell");
        else if (v.values)
            ref_number(p, v.values[v.cell], shown_ref(&v, v.cell), r.y + i, r.x + used,
                       r.w - used < NUMBER ? r.w - used : NUMBER, STYLE_TEXT);
        else
            canvas_text(p->c, r.y + i, r.x + used, r.w - used, STYLE_DIM, "computing…");
    }
    r.y += 4;
    r.h -= 4;
    canvas_wrap(p->c, r, STYLE_DIM, "The arithmetic is shown for one side: compare a, or compare b.");
}

static void draw_results(const Paint *p, const Shown *v, const Explanation *e, const Layout *l, Rect r)
{
    if (l->sum_y != NO_LINE)
        explain_sum(p, e, (Rect){l->sum_y, r.x, 1, r.w});
    if (l->stored_y != NO_LINE)
        explain_stored(p, e, (Rect){l->stored_y, r.x, 1, r.w});
    if (l->double_y != NO_LINE)
        explain_double(p, e, (Rect){l->double_y, r.x, 1, r.w});
    if (l->next_y != NO_LINE)
        explain_next(p, v, (Rect){l->next_y, r.x, 1, r.w});
}

/* In what order the terms stand, and were added. */
static void put_order(const Graph *g, const Node *n, Dims reduced, size_t terms, Buf *out)
{
    if (n->op == OP_MAX) {
        buf_puts(out, "terms, the largest first");
        return;
    }
    buf_puts(out, terms ? "terms, by size" : "nothing is put here: 0");
    if (!reduced.n)
        return;
    buf_puts(out, " (added in the order of ");
    shown_axes(g, reduced, out);
    buf_putc(out, ')');
}

/* What the table of that height shows, of the needs below. */
static const Explanation *explained(const Session *s, const Shown *v, int height)
{
    Explain open = explain_open(v->graph, v->node, v->cell);
    return explained_cell(s, v->side, v->node, v->cell, explain_most(s, open.terms, height));
}

/* What the term under the cursor reads, and how many tensors: two of a contraction or a product, one of a sum. */
static int operands_of(const Session *s, const Explanation *e, LitOperand of[NODE_INPUTS])
{
    size_t here = explain_term_here(s, e->terms);
    if (!e->line_count)
        return 0;
    const ExplainLine *line = &e->lines[here < e->line_count ? here : 0];
    for (int k = 0; k < line->operands; k++)
        of[k] = (LitOperand){line->ref[k].node, line->ref[k].cell};
    return line->operands;
}

/* Behind the formula, where it has room, the same in numbers: "   = 0.181 / 16.458". */
static void draw_in_numbers(const Paint *p, const Node *n, const Explanation *e, Rect r, int used)
{
    static const char *const BETWEEN[OP_COUNT] = {
        [OP_ADD] = " + ", [OP_SUB] = " − ", [OP_MUL] = " · ", [OP_DIV] = " / "};
    char left[32], right[32];
    if (!BETWEEN[n->op] || !e->line_count || e->lines[0].operands != 2)
        return;
    number_text(left, sizeof left, e->lines[0].value[0], NUMBER);
    number_text(right, sizeof right, e->lines[0].value[1], NUMBER);
    const int cells = 3 + 2 + utf8_cells(left) + 3 + utf8_cells(right);
    if (used + cells <= r.w)
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_TEXT, "   = %s%s%s", left, BETWEEN[n->op], right);
}

static void draw_arithmetic(const Paint *p, const Shown *v, Rect r, bool focus)
{
    const Node *n = graph_node(v->graph, v->node);
    bool table = explain_is_table(n->op);
    Buf text = {0};
    graph_formula(v->graph, v->node, &text);
    Layout l = layout(r, buf_str(&text), table);
    if (l.path_y != NO_LINE)
        explain_path(p, v->side, (Rect){l.path_y, r.x, 1, r.w});
    const Explanation *e = explained(p->s, v, l.body.h);
    if (!e) {
        buf_free(&text);
        shown_computing(p, l.body.h > 0 ? l.body : r);
        return;
    }
    if (table)
        buf_printf(&text, "   (%zu term%s)", e->terms, e->terms == 1 ? "" : "s");
    if (l.formula_y != NO_LINE)
        canvas_wrap(p->c, (Rect){l.formula_y, r.x, l.formula_h, r.w}, STYLE_STRONG, buf_str(&text));
    if (l.formula_y != NO_LINE && l.formula_h == 1 && !table)
        draw_in_numbers(p, n, e, (Rect){l.formula_y, r.x, 1, r.w}, utf8_cells(buf_str(&text)));
    buf_clear(&text);
    put_order(v->graph, n, graph_reduced(v->graph, v->node), e->terms, &text);
    if (l.order_y != NO_LINE)
        canvas_text(p->c, l.order_y, r.x, r.w, STYLE_DIM, buf_str(&text));
    buf_free(&text);
    if (l.body.h > 0 && table)
        explain_table(p, e, l.body, focus);
    else if (l.body.h > 0)
        explain_operands(p, e, l.body, focus);
    LitOperand of[NODE_INPUTS];
    const Rect spare = explain_lit(p, l.maps, v->side, graph_reduced(v->graph, v->node), of, operands_of(p->s, e, of));
    const Closeup *steps;
    if (!table && spare.h >= STEPS_LINES && spare.w >= STEPS_WIDTH &&
        explained_closeup(p->s, v->side, v->node, v->cell, &steps) && steps)
        closeup_rows(p, steps, spare);
    draw_results(p, v, e, &l, r);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Shown v;
    if (!shown_open(p->s, side, p->s->place.path, &v))
        canvas_wrap(p->c, r, STYLE_DIM, "This node does not exist on this side.");
    else if (side == SIDE_DIFF)
        explain_difference(p, r);
    else if (!v.values)
        shown_computing(p, r);
    else if (graph_node(v.graph, v.node)->op == OP_LEAF) {
        if (r.h >= 9) {
            explain_path(p, side, (Rect){r.y, r.x, 1, r.w});
            r.y += 2;
            r.h -= 2;
        }
        explain_leaf(p, &v, r);
        focus_cursor(p, focus, r.y, r.x);
    } else
        draw_arithmetic(p, &v, r, focus);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    explain_needs(s, side, out);
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE || side == SIDE_DIFF)
        return;
    const Graph *g = session_graph(s, side);
    const Node *node = graph_node(g, n);
    for (int k = 0; k < op_inputs(node->op); k++)
        needs_add(out, side, graph_node(g, node->in[k])->path);
    if (node->op != OP_LEAF) { /* no table is higher than its pane */
        Explain open = explain_open(g, n, session_cell(s, side, n));
        needs_ask(out, side, s->place.path, NEED_EXPLANATION, open.cell, explain_most(s, open.terms, r.h));
    }
    if (!explain_is_table(node->op) && r.h >= BELOW_LINES + STEPS_LINES)
        closeup_needs(s, side, out);
    NodeId next = explain_reader(g, n);
    if (next != NO_NODE)
        needs_add(out, side, graph_node(g, next)->path);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Shown v;
    if (side == SIDE_DIFF || !shown_open(p->s, side, p->s->place.path, &v) || !v.values)
        return false;
    Buf formula = {0};
    graph_formula(v.graph, v.node, &formula);
    Layout l = layout(r, buf_str(&formula), explain_is_table(graph_node(v.graph, v.node)->op));
    buf_free(&formula);
    const Explanation *e = explained(p->s, &v, l.body.h);
    if (!e)
        return false;
    LitOperand of[NODE_INPUTS];
    if (explain_lit_click(p, l.maps, side, graph_reduced(v.graph, v.node), of, operands_of(p->s, e, of), y, x, command))
        return true;
    size_t term = 0;
    int operand = 0;
    bool hit = explain_is_table(graph_node(v.graph, v.node)->op)
                   ? explain_table_hit(p, e, l.body, y, x, &term, &operand)
                   : explain_operands_hit(p, e, l.body, y, x, &operand);
    if (!hit)
        return false;
    if (term == p->s->place.term && operand == p->s->place.operand) {
        buf_puts(command, "in");
        return true;
    }
    buf_puts(command, "move top; move left 2"); /* from the first term and operand */
    if (term)
        buf_printf(command, "; move down %zu", term);
    if (operand)
        buf_printf(command, "; move right %d", operand);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    explain_title("explain ", s, side, out);
}

VIEW_SPEC(EXPLAIN, .name = "explain", .traits = VIEW_TRACED | VIEW_WIDE, .sides = SIDES_ONE);
