/* The close-up of an operation: its operands, products, running sum, exponentials and shares as rows of bars in the
 * order of computing, all at once or step by step. The cursor stands on one place of the row, in every line. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/plot.h"
#include "tui/views/explain/explain.h"
#include "tui/views/heat.h"

enum {
    LABEL_LEAST = 13,
    LABEL_NAMES = 20,
    LABEL_VALUES = 23, /* and a number */
    LABEL_MOST = 36,
    NUMBER = 12,
    CELL_MOST = 12,
    NUMBERS_FROM = 6,
    RANGED_FROM = 80, /* columns of a pane whose low rows have their ranges beside them */
    TALLEST = 7,
    RANGED = 3, /* lines of a row that has its range */
    NO_LINE = -1
};
/* The tensors that the operands are rows of, as maps below: a group's lines come first. */
enum { GROUP_LINES = 4, MAPS_LEAST = 8, MAPS_MOST = 18 };

/* A line of the screen, or several: one row of bars, or single numbers beside each other. */
typedef struct Group {
    int first, count, y, h;
} Group;

typedef struct Layout {
    int path_y, formula_y, ruler_y, term_y, stored_y, label_w;
    Rect bars; /* columns of the rows of bars; all lines of the body */
    Rect maps; /* empty where there is no room */
    Group group[CLOSEUP_LINES];
    int groups;
    bool ranged; /* low rows say from where to where they go */
} Layout;

/* --- where everything stands --- */

static int width_of(const Closeup *c, int line)
{
    return utf8_cells(node_name(graph_node(c->graph, c->line[line].node))) + 3 + NUMBER;
}

static void make_groups(const Closeup *c, int width, Layout *l)
{
    int used = 0;
    for (int i = 0; i < c->count; i++) {
        bool one = c->line[i].count == 1, joins = l->groups && c->line[i - 1].count == 1 && one;
        int w = width_of(c, i);
        if (joins && used + w <= width) {
            l->group[l->groups - 1].count++;
            used += w;
            continue;
        }
        l->group[l->groups++] = (Group){.first = i, .count = 1, .h = 1};
        used = w;
    }
}

static bool is_row(const Closeup *c, const Group *g)
{
    return c->line[g->first].count > 1;
}

static bool hangs(const Closeup *c, const Group *g)
{
    double low, high;
    closeup_range(&c->line[g->first], &low, &high);
    return low < 0;
}

/* Bars that hang are heavy and coarse: in a pane too low for two lines each a softmax' scores stay one line of colour,
 * and its exponentials and weights grow. */
static void grow_standing(const Closeup *c, Layout *l, int room, int *total)
{
    int standing = 0, hanging = 0;
    for (int i = 0; i < l->groups; i++)
        if (is_row(c, &l->group[i]))
            *(hangs(c, &l->group[i]) ? &hanging : &standing) += 1;
    if (!closeup_by_largest(c) || *total + standing + hanging <= room)
        return;
    for (int h = 2; h <= RANGED; h++)
        for (int i = l->groups - 1; i >= 0 && *total < room; i--)
            if (is_row(c, &l->group[i]) && !hangs(c, &l->group[i])) {
                l->group[i].h++;
                ++*total;
            }
}

/* Heights: one line each, then one more for every row of bars as long as there is room; what does not fit even so is
 * scrolled, the cursor's line in sight. */
static void place_groups(const Paint *p, const Closeup *c, Layout *l)
{
    int room = l->bars.h, here = closeup_line_here(p->s, c), at = 0, total = l->groups;
    grow_standing(c, l, room, &total);
    for (bool grown = true; grown && total < room;) {
        grown = false;
        for (int i = l->groups - 1; i >= 0 && total < room; i--) /* the result before the operands */
            if (is_row(c, &l->group[i]) && l->group[i].h < TALLEST) {
                l->group[i].h++;
                total++;
                grown = true;
            }
    }
    for (int i = 0; i < l->groups; i++)
        at = here >= l->group[i].first ? i : at;
    int first = total > room && room > 0 ? (int)scroll_first((size_t)l->groups, (size_t)at, (size_t)room) : 0;
    int y = l->bars.y;
    for (int i = 0; i < l->groups; i++) {
        Group *g = &l->group[i];
        bool fits = i >= first && y + g->h <= l->bars.y + room;
        g->y = fits ? y : NO_LINE;
        y += fits ? g->h : 0;
    }
}

/* The tensors whose rows the operation was given, and how many; one that is a single row is its strip already. */
static int tensors_of(const Paint *p, const Closeup *c, LitOperand of[NODE_INPUTS])
{
    int count = 0;
    for (int i = 0; i < c->count && count < NODE_INPUTS; i++) {
        const CloseupLine *l = &c->line[i];
        if (l->given && l->count > 1 && graph_cells(c->graph, l->node) > l->count)
            of[count++] = (LitOperand){l->node, l->cell[closeup_index_here(p->s, c)]};
    }
    return count;
}

static const char *line_name(const Closeup *c, int line, char *out, size_t n)
{
    const CloseupLine *l = &c->line[line];
    const Node *node = graph_node(c->graph, l->node);
    if (l->what == CLOSEUP_PRODUCTS)
        snprintf(out, n, "%s·%s", node_name(graph_node(c->graph, node->in[0])),
                 node_name(graph_node(c->graph, node->in[1])));
    else
        snprintf(out, n, "%s", l->what == CLOSEUP_RUNNING ? "sum so far" : node_name(node));
    return out;
}

/* Beside the rows: their names in full where they are not very long, a mark before them and the zero behind; where the
 * rows stay one line each the number at the cursor, too. */
static int label_least(const Paint *p, const Closeup *c, bool low, bool ranged)
{
    int least = LABEL_LEAST;
    char name[200], range[CLOSEUP_RANGE];
    for (int i = 0; i < c->count; i++) {
        const CloseupLine *l = &c->line[i];
        if (l->count < 2)
            continue;
        const int cells = utf8_cells(line_name(c, i, name, sizeof name)) + 3,
                  number = (low ? ref_number_cells(l->value[closeup_index_here(p->s, c)]) + 1 : 0) +
                           (ranged ? utf8_cells(closeup_range_text(l, range)) + 1 : 0);
        least = cells + number > least ? cells + number : least;
    }
    const int most = ranged ? LABEL_MOST : low ? LABEL_VALUES : LABEL_NAMES;
    return least < most ? least : most;
}

/* Is there no room for so many more lines of every row of bars? */
static bool is_low(const Closeup *c, const Layout *l, int more)
{
    int lines = l->groups;
    for (int i = 0; i < l->groups; i++)
        lines += more * is_row(c, &l->group[i]);
    return lines > l->bars.h;
}

/* rows: nothing but the rows and their ruler. */
static Layout layout(const Paint *p, const Closeup *c, Rect r, bool rows)
{
    Layout l = {NO_LINE, NO_LINE, NO_LINE, NO_LINE, NO_LINE, 0, r, {0}, {{0}}, 0, false};
    LitOperand of[NODE_INPUTS];
    int all = r.h;
    if (all >= 24 && !rows)
        l.path_y = l.bars.y++;
    if (all >= 3 && !rows)
        l.formula_y = l.bars.y++;
    if (all >= 6)
        l.ruler_y = l.bars.y++;
    l.bars.h = r.y + r.h - l.bars.y;
    if (all >= 2 && !rows)
        l.stored_y = l.bars.y + --l.bars.h;
    if (all >= 5 && !rows)
        l.term_y = l.bars.y + --l.bars.h;
    make_groups(c, r.w, &l);
    l.ranged = rows && r.w >= RANGED_FROM;
    const bool low = is_low(c, &l, 1);
    int n = (int)(c->terms < 100000 ? c->terms : 100000), least = label_least(p, c, low, l.ranged);
    if (!low && is_low(c, &l, 2) && n > r.w - least) /* a bar is several values in any case */
        least = closeup_label_ranged(p, c, least);
    int cell = (r.w - least) / n;
    cell = cell < 1 ? 1 : cell > CELL_MOST ? CELL_MOST : cell;
    l.label_w = r.w - n * cell;
    l.label_w = l.label_w > LABEL_MOST ? LABEL_MOST : l.label_w < least ? least : l.label_w;
    l.label_w = l.label_w > r.w / 2 ? r.w / 2 : l.label_w;
    l.bars.x += l.label_w;
    l.bars.w -= l.label_w;
    if (l.bars.w > n * cell && n * cell > 0)
        l.bars.w = n * cell;
    int spare = l.bars.h - l.groups * GROUP_LINES;
    if (!rows && spare >= MAPS_LEAST && tensors_of(p, c, of)) {
        l.maps = rect_cut(&l.bars, 'b', spare < MAPS_MOST ? spare : MAPS_MOST);
        l.maps.x = r.x;
        l.maps.w = r.w;
        rect_cut(&l.maps, 't', 1);
    }
    place_groups(p, c, &l);
    return l;
}

/* --- one line --- */

/* An operand's row says of which tensor it is which row: "q[r3c4,2,e]", where that fits. */
static const char *row_name(const Closeup *c, int line, int width, char *out, size_t n)
{
    const CloseupLine *l = &c->line[line];
    if (l->what == CLOSEUP_CELLS && l->given) {
        cell_brief(c->graph, l->node, l->cell[0], c->along, out, n);
        if (utf8_cells(out) <= width)
            return out;
    }
    return line_name(c, line, out, n);
}

typedef struct Row {
    const Closeup *c;
    const CloseupLine *line;
    size_t shown;
} Row;

static float row_value(const void *of, int i, Ref *ref)
{
    const Row *row = of;
    *ref = closeup_ref(row->c, row->line, (size_t)i);
    return (size_t)i < row->shown ? row->line->value[i] : NAN;
}

static void draw_label(const Paint *p, const Closeup *c, const Layout *l, const Group *g, bool here)
{
    const CloseupLine *line = &c->line[g->first];
    size_t index = closeup_index_here(p->s, c);
    bool there = index < closeup_shown(c, p->s->place.term, g->first);
    char name[200];
    char range[CLOSEUP_RANGE];
    const int x = l->bars.x - l->label_w, w = l->label_w - 1, /* a blank before the axis' 0 */
        room = g->h == 2 && there ? closeup_beside_range(p, line, index, w - 1) : 0,
              number = room && room < NUMBER ? room
                       : w - 1 < NUMBER      ? w - 1
                                             : NUMBER,
              beside = g->h == 1 && there ? ref_number_cells(line->value[index]) + 1 : 0,
              ranged = l->ranged && beside ? utf8_cells(closeup_range_text(line, range)) + 1 : 0;
    canvas_text(p->c, g->y, x, 1, STYLE_STRONG, here ? "▸" : " ");
    row_name(c, g->first, w - 1 - beside - ranged, name, sizeof name);
    canvas_label(p->c, g->y, x + 1, w - 1, here ? STYLE_STRONG : there ? STYLE_TEXT : STYLE_DIM, name);
    if (beside && w - 1 - utf8_cells(name) >= beside)
        ref_number(p, line->value[index], closeup_ref(c, line, index), g->y, x, w, STYLE_TEXT);
    if (ranged && ranged + utf8_cells(name) < w - beside) /* of its colours */
        canvas_right(p->c, g->y, x, w - beside, STYLE_DIM, range);
    if (g->h >= 2 && there)
        ref_number(p, line->value[index], closeup_ref(c, line, index), g->y + 1, x, number, STYLE_TEXT);
    if (g->h >= 3 && there)
        canvas_right(p->c, g->y + 2, x, number, STYLE_DIM, closeup_range_text(line, range));
    else if (room)
        canvas_right(p->c, g->y + 1, x, w - 1, STYLE_DIM, closeup_range_text(line, range));
    if (g->h >= 4 && w >= 20 && line->what == CLOSEUP_CELLS && !line->given) {
        Buf text = {0};
        closeup_formula(c->graph, line->node, g->h == 4 ? w : INT_MAX, &text);
        canvas_wrap(p->c, (Rect){g->y + 3, x + 1, g->h - 3, w - 1}, STYLE_DIM, buf_str(&text));
        buf_free(&text);
    }
}

static void draw_heat_row(const Paint *p, Rect r, const Row *row, int n)
{
    const ColourScale scale = closeup_scale(p, row->c, row->line);
    const bool largest = closeup_by_largest(row->c);
    int first, last;
    for (int x = r.x; bars_at(r, n, x, &first, &last); x++) {
        Ref ref, most = {0};
        float value = NAN;
        for (int i = first; i < last; i++) {
            float v = row_value(row, i, &ref);
            if (isnan(value) || (largest ? v > value : fabsf(v) > fabsf(value))) {
                value = v;
                most = ref;
            }
        }
        if (!isnan(value))
            canvas_pixel(p->c, r.y, x, -1, colour_scale_colour(&scale, value), colour_scale_level(&scale, value),
                         colour_scale_sign(&scale, value), most);
    }
}

static void draw_numbers(const Paint *p, Rect r, const Row *row, int n, size_t here)
{
    int width = bars_width(r, n);
    for (int i = 0; (size_t)i < row->shown; i++) {
        char text[32];
        number_text(text, sizeof text, row->line->value[i], width - 1);
        int cells = (int)strlen(text), x = bars_column(r, n, i);
        if (cells > width - 1)
            continue;
        canvas_text(p->c, r.y, x, cells, (size_t)i == here ? STYLE_CURSOR : STYLE_TEXT, text);
        canvas_ref(p->c, r.y, x, cells, closeup_ref(row->c, row->line, (size_t)i));
    }
}

/* after: right below another row, from whose bars its own keep a distance: a line, or a quarter of one. */
static void draw_row(const Paint *p, const Closeup *c, const Layout *l, const Group *g, bool after, bool here,
                     bool focus)
{
    size_t index = closeup_index_here(p->s, c);
    Row row = {c, &c->line[g->first], closeup_shown(c, p->s->place.term, g->first)};
    Rect r = {g->y, l->bars.x, g->h, l->bars.w};
    int n = (int)row.line->count, column = bars_column(r, n, (int)index);
    draw_label(p, c, l, g, here);
    if (r.w < 1)
        return;
    if (r.h >= 3 && bars_width(r, n) >= NUMBERS_FROM) {
        Rect under = rect_cut(&r, 'b', 1);
        draw_numbers(p, under, &row, n, index);
    }
    if (here)
        focus_cursor(p, focus, r.y, column);
    if (r.h == 1) {
        draw_heat_row(p, r, &row, n);
        if (index < row.shown)
            heat_mark(p, r.y, column, 1, bars_width(r, n), closeup_ref(c, row.line, index));
        return;
    }
    if (after && r.h > RANGED)
        rect_cut(&r, 't', 1);
    for (int y = 0; y < r.h; y++)
        canvas_glyph(p->c, r.y + y, column, STYLE_AXIS, 0x250a);
    CanvasBars bars = {.value = row_value,
                       .of = &row,
                       .n = n,
                       .style = STYLE_TEXT,
                       .negative = STYLE_NEGATIVE,
                       .largest = closeup_by_largest(c)};
    closeup_range(row.line, &bars.low, &bars.high);
    if (after && r.y == g->y)
        bars.high *= (double)(4 * r.h) / (4 * r.h - 1);
    bars_draw(p->c, r, &bars);
}

/* "row_max 2.31   width 64 …" */
static void draw_ones(const Paint *p, const Closeup *c, const Layout *l, const Group *g, int here, bool focus)
{
    int x = l->bars.x - l->label_w, end = x + l->label_w + l->bars.w;
    for (int i = g->first; i < g->first + g->count; i++) {
        const CloseupLine *line = &c->line[i];
        bool there = closeup_shown(c, p->s->place.term, i) > 0;
        char name[96];
        if (i == here)
            focus_cursor(p, focus, g->y, x);
        x += canvas_text(p->c, g->y, x, end - x, STYLE_STRONG, i == here ? "▸" : " ");
        x += canvas_text(p->c, g->y, x, end - x,
                         i == here ? STYLE_STRONG
                         : there   ? STYLE_TEXT
                                   : STYLE_DIM,
                         line_name(c, i, name, sizeof name));
        x++;
        int cells = ref_number_cells(line->value[0]);
        if (there && x + cells <= end)
            ref_number(p, line->value[0], closeup_ref(c, line, 0), g->y, x, cells, STYLE_TEXT);
        else if (!there)
            canvas_text(p->c, g->y, x, end - x, STYLE_DIM, "…");
        x += cells + 1;
    }
}

/* --- above and below --- */

/* What the steps are: products, several at once where there are many, and one for each line that comes of them. */
static void steps_text(const Closeup *c, Buf *out)
{
    size_t steps = closeup_steps(c), of = 0;
    for (size_t k = 1; k <= steps; k++)
        of += c->line[closeup_line_of(c, k)].what == CLOSEUP_PRODUCTS;
    buf_printf(out, " %zu products", c->terms);
    if (of && of < c->terms)
        buf_printf(out, " by %zu", (c->terms + of - 1) / of);
    buf_printf(out, " + %zu result%s: %zu steps", steps - of, steps - of == 1 ? "" : "s", steps);
    if (!of)
        buf_clear(out);
}

static void draw_formula(const Paint *p, const Closeup *c, const Layout *l, Rect r)
{
    Buf text = {0}, what = {0}, shared = {0};
    char said[80];
    size_t steps = closeup_steps(c);
    graph_formula(c->graph, c->node, &text);
    steps_text(c, &what);
    if (p->s->place.term)
        snprintf(said, sizeof said, " step %zu of %zu", p->s->place.term, steps);
    else if (what.len && utf8_cells(buf_str(&text)) + utf8_cells(buf_str(&what)) <= r.w)
        utf8_print(said, sizeof said, "%s", buf_str(&what));
    else
        snprintf(said, sizeof said, " all %zu steps", steps);
    buf_free(&what);
    closeup_shared(c, l->bars.w, &shared);
    if (shared.len && utf8_cells(buf_str(&text)) + utf8_cells(buf_str(&shared)) + utf8_cells(said) + 1 <= r.w)
        buf_printf(&shared, ";%s", said);
    else if (!shared.len)
        buf_puts(&shared, said);
    int w = utf8_cells(buf_str(&shared));
    w = r.w >= 2 * w || r.w >= w + utf8_cells(buf_str(&text)) ? w : 0;
    canvas_text(p->c, l->formula_y, r.x, r.w - w, STYLE_STRONG, buf_str(&text));
    if (w)
        canvas_right(p->c, l->formula_y, r.x, r.w, STYLE_DIM, buf_str(&shared));
    buf_free(&text);
    buf_free(&shared);
}

/* here: the line under the cursor, or -1. */
static void draw_groups(const Paint *p, const Closeup *c, const Layout *l, int here, bool focus)
{
    if (l->ruler_y != NO_LINE)
        closeup_ruler(p, c, (Rect){l->ruler_y, l->bars.x, 1, l->bars.w}, l->label_w);
    for (int i = 0; i < l->groups; i++) {
        const Group *g = &l->group[i];
        if (g->y == NO_LINE)
            continue;
        if (is_row(c, g))
            draw_row(p, c, l, g, i > 0 && is_row(c, g - 1) && g[-1].y + g[-1].h == g->y, here == g->first, focus);
        else
            draw_ones(p, c, l, g, here, focus);
    }
}

void closeup_rows(const Paint *p, const Closeup *c, Rect r)
{
    const Rect legend = rect_cut(&r, 't', 1);
    Layout l = layout(p, c, r, true);
    bool colours = false;
    for (int i = 0; i < l.groups; i++)
        colours |= is_row(c, &l.group[i]) && l.group[i].h == 1;
    closeup_legend(p, c, legend, l.bars.w, colours);
    draw_groups(p, c, &l, -1, false);
}

/* Is the cursor's row a line of colours? */
static bool in_colours(const Paint *p, const Closeup *c, const Layout *l)
{
    const int here = closeup_line_here(p->s, c);
    for (int i = 0; i < l->groups; i++)
        if (l->group[i].first == here)
            return is_row(c, &l->group[i]) && l->group[i].h == 1;
    return false;
}

static void draw_closeup(const Paint *p, const Closeup *c, Rect r, bool focus)
{
    const Explanation *e = explained_cell(p->s, c->side, c->node, c->cell, 1);
    Layout l = layout(p, c, r, false);
    if (l.path_y != NO_LINE)
        explain_path(p, c->side, (Rect){l.path_y, r.x, 1, r.w});
    if (l.formula_y != NO_LINE)
        draw_formula(p, c, &l, r);
    draw_groups(p, c, &l, closeup_line_here(p->s, c), focus);
    LitOperand of[NODE_INPUTS];
    if (l.maps.h)
        explain_lit(p, l.maps, c->side, c->along, of, tensors_of(p, c, of));
    if (l.term_y != NO_LINE)
        closeup_term(p, c, l.term_y, r.x, r.w, in_colours(p, c, &l));
    if (e && l.stored_y != NO_LINE && (!p->s->place.term || closeup_shown(c, p->s->place.term, c->count - 1)))
        explain_stored(p, e, (Rect){l.stored_y, r.x, 1, r.w});
}

static Side side_of(Side side)
{
    return side == SIDE_DIFF ? SIDE_B : side;
}

/* Of the cell in focus: true when it is known, *c NULL where there is none. */
static bool close_up_here(const Session *s, Side side, const Closeup **c)
{
    side = side_of(side);
    NodeId n = session_node(s, side, s->place.path);
    *c = NULL;
    return n == NO_NODE || explained_closeup(s, side, n, session_cell(s, side, n), c);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    const Closeup *c;
    if (!close_up_here(p->s, side, &c))
        shown_computing(p, r);
    else if (!c)
        canvas_wrap(p->c, r, STYLE_DIM, "This number is not a sum here: `view formula` shows what it is made of.");
    else if (side == SIDE_DIFF)
        explain_difference(p, r);
    else
        draw_closeup(p, c, r, focus);
}

void closeup_needs(const Session *s, Side of, Needs *out)
{
    Closeup c;
    NodeId n = session_node(s, of, s->place.path);
    if (n == NO_NODE)
        return;
    size_t cell = session_cell(s, of, n);
    if (closeup_open(s, of, n, cell, &c)) {
        for (int i = 0; i < c.count; i++)
            needs_add(out, of, graph_node(c.graph, c.line[i].node)->path);
        const Node *node = graph_node(c.graph, n);
        for (int k = 0; k < op_inputs(node->op); k++)
            needs_add(out, of, graph_node(c.graph, node->in[k])->path);
        closeup_free(&c);
        needs_ask(out, of, s->place.path, NEED_EXPLANATION, cell, 1);
    }
    needs_ask(out, of, s->place.path, NEED_CLOSEUP, cell, 0);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    explain_needs(s, side, out);
    closeup_needs(s, side_of(side), out);
}

static bool hit(const Paint *p, const Closeup *c, Rect r, int y, int x, int *line, size_t *index)
{
    Layout l = layout(p, c, r, false);
    for (int i = 0; i < l.groups; i++) {
        const Group *g = &l.group[i];
        int first, last;
        if (g->y == NO_LINE || y < g->y || y >= g->y + g->h)
            continue;
        *line = g->first;
        *index = closeup_index_here(p->s, c);
        if (is_row(c, g) && bars_at(l.bars, (int)c->terms, x, &first, &last))
            *index = (size_t)first;
        return true;
    }
    return false;
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    const Closeup *c;
    int line = 0;
    size_t index = 0;
    LitOperand of[NODE_INPUTS];
    if (side == SIDE_DIFF || !close_up_here(p->s, side, &c) || !c)
        return false;
    if (explain_lit_click(p, layout(p, c, r, false).maps, c->side, c->along, of, tensors_of(p, c, of), y, x, command))
        return true;
    if (!hit(p, c, r, y, x, &line, &index))
        return false;
    size_t from = closeup_index_here(p->s, c);
    int at = closeup_line_here(p->s, c);
    if (line == at && index == from) {
        buf_puts(command, "in");
        return true;
    }
    if (line != at)
        buf_printf(command, "move %s %d", line < at ? "up" : "down", line < at ? at - line : line - at);
    if (index != from)
        buf_printf(command, "%smove %s %zu", line != at ? "; " : "", index < from ? "left" : "right",
                   index < from ? from - index : index - from);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    explain_title("close-up ", s, side, out);
}

static const KeyBinding KEYS[] = {{"Space", "play next", "step",
                                   "the operation one step further; from the whole it begins anew", 0, 1, NULL},
                                  {"p", "play prev", "prev", "one step of the operation less", 0, 2, NULL},
                                  {".", "play", "play", "its steps one after the other by themselves; again: stop", 0,
                                   3, NULL},
                                  {.key = NULL}};

VIEW_SPEC(CLOSEUP, .name = "close-up", .traits = VIEW_TRACED | VIEW_WIDE, .sides = SIDES_ONE, .keys = KEYS);
