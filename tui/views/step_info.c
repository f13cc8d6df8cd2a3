/* Two small panes of facts: this step (formula, symbol, shape, range, cost) and the cell under the data cursor. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/names.h"
#include "tui/views/answer_table.h"
#include "tui/views/number.h"
#include "tui/views/pixels.h"
#include "tui/views/shown.h"
#include "tui/views/spread.h"

/* Lines of a pane from the top, as many as it has. */
typedef struct Lines {
    const Paint *p;
    Rect r;
} Lines;

static bool line_next(Lines *l, Rect *line)
{
    if (l->r.h <= 0)
        return false;
    *line = rect_cut(&l->r, 't', 1);
    return true;
}

static void line_text(Lines *l, Style style, const char *text)
{
    Rect line;
    if (line_next(l, &line))
        canvas_text(l->p->c, line.y, line.x, line.w, style, text);
}

/* Of A − B of the answer as many as its table has. */
static int points_decimals(const Session *s, const Shown *v)
{
    AnswerTable t;
    return answer_table_open(s, SIDE_DIFF, 0, &t) && t.compares && t.diff.node == v->node ? t.decimals : 1;
}

/* "word value", the value tagged; A − B of shares in points too, or, where both have no room, only so. */
static void line_value(Lines *l, const char *word, const Shown *v, size_t cell)
{
    Rect line;
    if (!line_next(l, &line))
        return;
    int used = canvas_text(l->p->c, line.y, line.x, line.w - 2, STYLE_DIM, word);
    if (v->side != SIDE_DIFF || !shown_is_share(v) || v->values[cell] == 0) {
        shown_full(l->p, v, cell, line.y, line.x + used, line.w - used, STYLE_TEXT);
        return;
    }
    char full[32], points[24], text[80], brief[48];
    number_full_text(full, sizeof full, v->values[cell], 12);
    points_text_to(points, sizeof points, v->values[cell], points_decimals(l->p->s, v));
    int cells = snprintf(text, sizeof text, "%s = %s points", full, points);
    snprintf(brief, sizeof brief, "%s points", points);
    cells = canvas_text(l->p->c, line.y, line.x + used, line.w - used, STYLE_TEXT,
                        used + cells <= line.w ? text : brief);
    canvas_ref(l->p->c, line.y, line.x + used, cells, shown_ref(v, cell));
}

static void line_range(Lines *l, const Shown *v)
{
    Spread s = spread_of(v->values, v->count);
    Rect line;
    if (shown_vocabulary(v))
        return;
    if (s.finite && line_next(l, &line)) {
        Canvas *c = l->p->c;
        int x = line.x, end = line.x + line.w;
        const bool diff = v->side == SIDE_DIFF;
        x += canvas_text(c, line.y, x, end - x, STYLE_DIM,
                         line.w >= 24 + 9 * diff ? (diff ? "range of A − B " : "range ")
                         : diff                  ? "A−B "
                                                 : "");
        int half = (end - x - 3) / 2;
        x += shown_number(l->p, v, s.at_min, line.y, x, half, STYLE_TEXT);
        x += canvas_text(c, line.y, x, end - x, STYLE_DIM, " … ");
        shown_number(l->p, v, s.at_max, line.y, x, end - x, STYLE_TEXT);
    }
    char text[64];
    snprintf(text, sizeof text, "%zu NaN, %zu infinite", s.nans, s.infinities);
    if (s.nans || s.infinities)
        line_text(l, STYLE_WARNING, text);
}

/* step: of the step that the node is a part of, as the list of steps has it; or NULL. */
static void line_cost(Lines *l, Cost c, const Cost *step)
{
    char a[32], b[32], all[32], of[96], text[144];
    amount_text(a, sizeof a, c.flops, "FLOP");
    amount_text(b, sizeof b, c.bytes, "B");
    snprintf(text, sizeof text, "%s, %s", a, b);
    if (step && step->flops > c.flops) {
        amount_text(all, sizeof all, step->flops, "FLOP");
        const int used = snprintf(of, sizeof of, "%s of the step's %s", a, all);
        const bool whole = used + 2 + utf8_cells(b) <= l->r.w;
        if (used <= l->r.w)
            snprintf(text, sizeof text, "%s%s%s", of, whole ? ", " : "", whole ? b : "");
    }
    line_text(l, STYLE_DIM, utf8_cells(text) <= l->r.w ? text : a);
    if (c.params > 0) {
        snprintf(text, sizeof text, "%s weights", count_text(a, sizeof a, (size_t)c.params));
        line_text(l, STYLE_DIM, text);
    }
}

/* The step that the cursor is in; the boxes are those of B's graph. */
static const Box *step_of(const Session *s, const Shown *v)
{
    const int box = s->place.box;
    return box < 0 || box >= s->stages.count || v->graph != session_graph(s, SIDE_B) ? NULL : &s->stages.boxes[box];
}

/* What the pane is about: the step's box where the focus is on its result, else the node in focus. */
static const Box *box_of(const Session *s, const Shown *v)
{
    const Box *step = step_of(s, v);
    return step && step->show == v->node ? step : NULL;
}

/* Is what stands there the name "out", which says nothing without its scope? */
static bool is_out(const char *name)
{
    return strncmp(name, "out", 3) == 0 && !isalnum((unsigned char)name[3]) && name[3] != '_' && name[3] != '.';
}

/* A formula without the indices of its tensors and the scopes of their names, "scores_raw = Σ_e q · k", but for
 * "mlp.out"; of a weight, that it is given. */
static void in_brief(const char *formula, Buf *out)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    static const char GIVEN[] = " is given";
    const char *given = strstr(formula, GIVEN), *end = given ? given + strlen(GIVEN) : formula + strlen(formula);
    int depth = 0;
    for (const char *c = formula; c < end; c++) {
        size_t n = strspn(c, LETTERS);
        bool name = n && !(*c >= '0' && *c <= '9'), scope = name && c[n] == '.', kept = scope && is_out(c + n + 1);
        depth += *c == '[';
        if (!depth && (!scope || kept))
            buf_add(out, c, name ? n + kept : 1);
        c += name ? n - (c[n] != '.') : 0; /* a scope goes with its point */
        depth -= *c == ']';
    }
}

/* The formula, whole: with its indices where there is room for all of it. */
static void line_formula(Lines *l, const Shown *v)
{
    Buf all = {0}, brief = {0};
    NodeId n = v->node; /* that axes are renamed says nothing: how what is renamed is computed */
    while (graph_node(v->graph, n)->op == OP_VIEW &&
           graph_node(v->graph, graph_node(v->graph, n)->in[0])->op != OP_LEAF)
        n = graph_node(v->graph, n)->in[0];
    graph_formula(v->graph, n, &all);
    in_brief(buf_str(&all), &brief);
    Rect rest = l->r;
    rest.h -= rest.h > 1; /* the shape stays; facts come after, as far as there is room */
    bool fits = canvas_wrap_rows(l->p->c, rest.w, buf_str(&all)) <= rest.h;
    const char *text = buf_str(fits ? &all : &brief);
    if (canvas_wrap_rows(l->p->c, rest.w, text) > rest.h)
        rest.h = l->r.h;
    rect_cut(&l->r, 't', canvas_wrap(l->p->c, rest, STYLE_TEXT, text));
    buf_free(&all);
    buf_free(&brief);
}

/* "[h=4,t=65,u=65]", or "4×65×65" where that has no room. */
static void line_shape(Lines *l, const Shown *v)
{
    Buf shape = {0};
    char lengths[96];
    Dims d = graph_node(v->graph, v->node)->dims;
    graph_shape_text(v->graph, d, &shape);
    bool fits = utf8_cells(buf_str(&shape)) <= l->r.w;
    line_text(l, STYLE_AXIS, fits ? buf_str(&shape) : shown_lengths(v->graph, d, lengths, sizeof lengths));
    buf_free(&shape);
}

static void draw_info(const Paint *p, Rect r, Side side, bool focus)
{
    Shown v;
    if (!shown_open(p->s, side, p->s->place.path, &v))
        return;
    focus_cursor(p, focus, r.y, r.x);
    Lines l = {p, r};
    const Box *box = box_of(p->s, &v);
    const NodeText *words = node_text(p->s->place.path);
    const char *label = box ? box->label : words ? words->label : node_name(graph_node(v.graph, v.node));
    const char *symbol = words ? node_words(v.graph, words->symbol) : "";
    char text[128];
    int room = r.w - utf8_cells(label) - utf8_cells(symbol);
    snprintf(text, sizeof text, "%s%s%s", label, *symbol ? room >= 3 ? "   " : " " : "", room >= 1 ? symbol : "");
    line_text(&l, STYLE_STRONG, text);
    line_formula(&l, &v);
    line_shape(&l, &v);
    snprintf(text, sizeof text, "%s %s%s", count_text((char[32]){0}, 32, v.count),
             shown_vocabulary(&v) ? "word" : "number", v.count == 1 ? "" : "s");
    line_text(&l, STYLE_DIM, text);
    if (v.values)
        line_range(&l, &v);
    else
        line_text(&l, STYLE_DIM, "computing…");
    const Box *step = box ? NULL : step_of(p->s, &v);
    line_cost(&l, box ? box->cost : graph_cost(v.graph, v.node), step ? &step->cost : NULL);
}

static void needs_focus(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, s->place.path);
}

static void title_info(const Session *s, Side side, Buf *out)
{
    (void)s, (void)side;
    buf_puts(out, "this step");
}

/* Place of the focused value among those of its row (its last axis), largest first. */
static void line_rank(Lines *l, const Shown *v)
{
    Dims d = graph_node(v->graph, v->node)->dims;
    const bool mask = graph_node(v->graph, v->node)->op == OP_LEAF &&
                      node_role(v->graph, v->node, ROLE_KEY) != AXIS_NONE;
    if (d.n == 0 || shown_vocabulary(v) || mask)
        return;
    if (v->side == SIDE_DIFF && v->values[v->cell] == 0) {
        line_text(l, STYLE_DIM, "no difference");
        return;
    }
    const Axis *last = &v->graph->axes[d.axis[d.n - 1]];
    size_t n = (size_t)last->n, first = v->cell - v->cell % n, rank = 1;
    for (size_t i = first; i < first + n; i++)
        rank += v->values[i] > v->values[v->cell] ||
                (i < v->cell && !(v->values[i] < v->values[v->cell]) && !(v->values[i] > v->values[v->cell]));
    char text[64];
    static const char *const OF_DIFF[] = {"rank %zu of %zu in A − B", "A−B rank %zu of %zu", "A−B rank %zu/%zu"},
                             *const OF_B[] = {"rank %zu of %zu in B", "B rank %zu of %zu", "B rank %zu/%zu"};
    int used = 0;
    for (int k = 0; k < 3 && (k == 0 || used > l->r.w); k++)
        used = utf8_print(text, sizeof text,
                          v->side == SIDE_DIFF                             ? OF_DIFF[k]
                          : v->side == SIDE_B && session_compares(l->p->s) ? OF_B[k]
                                                                           : "rank %zu of %zu",
                          rank, n);
    if (used + 7 + (int)strlen(last->sym) <= l->r.w)
        snprintf(text + strlen(text), sizeof text - strlen(text), " along %s", last->sym);
    line_text(l, STYLE_DIM, text);
}

/* "t=r3c4 token that asks": an index of the cell and what its letter means. Only where tokens are looked at does one
 * ask. */
static void line_axis(Lines *l, const Graph *g, Dims d, int k, const int *at)
{
    static const char *const BRIEF[ROLE_COUNT] = {
        [ROLE_QUERY] = "asks",           [ROLE_KEY] = "looked at",       [ROLE_HEAD_WIDTH] = "in head",
        [ROLE_CHANNEL] = "colour",       [ROLE_PIXEL_ROW] = "pixel row", [ROLE_PIXEL_COL] = "pixel col.",
        [ROLE_PLACE_COL] = "patch col.", [ROLE_WIDTH] = "of width",      [ROLE_HIDDEN] = "of MLP",
        [ROLE_EXPERT] = "expert"};
    const Axis *a = &g->axes[d.axis[k]];
    bool asks = false;
    char label[64], text[128];
    for (int i = 0; i < d.n; i++)
        asks = asks || g->axes[d.axis[i]].role == ROLE_KEY;
    const char *means = a->role == ROLE_QUERY && !asks ? "token" : a->name;
    axis_label(a, at[d.axis[k]], label, sizeof label);
    int used = snprintf(text, sizeof text, "%s=%s ", a->sym, label);
    if (used + utf8_cells(means) > l->r.w && BRIEF[a->role] && means == a->name)
        means = BRIEF[a->role];
    snprintf(text + used, sizeof text - (size_t)used, "%s", means);
    line_text(l, STYLE_AXIS, text);
}

/* All indices of the cell: a line each, with what they mean, or as many in a line as there is room for. */
static void line_axes(Lines *l, const Graph *g, Dims d, const int *at)
{
    Buf text = {0};
    char label[64];
    const bool lines = l->r.h >= d.n;
    for (int k = 0; k < d.n; k++) {
        const Axis *a = &g->axes[d.axis[k]];
        if (lines)
            line_axis(l, g, d, k, at);
        else
            buf_printf(&text, "%s%s=%s", k ? " " : "", a->sym, axis_label(a, at[d.axis[k]], label, sizeof label));
    }
    if (text.len)
        rect_cut(&l->r, 't', canvas_wrap(l->p->c, l->r, STYLE_AXIS, buf_str(&text)));
    buf_free(&text);
}

/* What the cursor is on: what the view says, else the node in focus. */
static const char *cursor_path(const Session *s, Side side)
{
    const ViewSpec *view = view_now(s);
    const char *path = view->cursor ? view->cursor(s, side) : NULL;
    return session_node(s, SIDE_A, path) != NO_NODE ? path : s->place.path;
}

static void line_side(Lines *l, const Session *s, Side side, const char *word)
{
    Shown v;
    if (shown_open(s, side, cursor_path(s, side), &v) && v.values)
        line_value(l, word, &v, v.cell);
}

static void draw_cursor(const Paint *p, Rect r, Side side, bool focus)
{
    Shown v;
    if (!shown_open(p->s, side, cursor_path(p->s, side), &v))
        return;
    focus_cursor(p, focus, r.y, r.x);
    Lines l = {p, r};
    line_text(&l, STYLE_STRONG, node_name(graph_node(v.graph, v.node)));
    if (!v.values)
        line_text(&l, STYLE_DIM, "computing…");
    else if (session_compares(p->s)) {
        line_side(&l, p->s, SIDE_A, "A    ");
        line_side(&l, p->s, SIDE_B, "B    ");
        line_side(&l, p->s, SIDE_DIFF, "A−B  ");
    } else
        line_value(&l, "= ", &v, v.cell);
    line_axes(&l, v.graph, graph_node(v.graph, v.node)->dims, v.at);
    Pixels px;
    if (pixels_open(p->s, side, p->s->place.path, &px)) {
        char text[64];
        snprintf(text, sizeof text, "pixel y %d x %d", pixels_row(&px), pixels_col(&px));
        line_text(&l, STYLE_DIM, text);
    } else if (v.values)
        line_rank(&l, &v);
}

static void needs_cursor(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, cursor_path(s, side));
    for (int k = SIDE_A; k <= SIDE_DIFF && session_compares(s); k++)
        needs_add(out, (Side)k, cursor_path(s, side));
}

static void title_cursor(const Session *s, Side side, Buf *out)
{
    (void)s, (void)side;
    buf_puts(out, "cursor");
}

const ViewSpec VIEW_STEP_INFO = {.name = "step", .draw = draw_info, .needs = needs_focus, .title = title_info};
const ViewSpec VIEW_CURSOR = {.name = "cursor", .draw = draw_cursor, .needs = needs_cursor, .title = title_cursor};
