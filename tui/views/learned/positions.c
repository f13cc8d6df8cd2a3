/* Cosine similarity of position embeddings: the picked patch against all, or every patch's map at its place. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/lattice.h"
#include "tui/views/learned/positions_fit.h"
#include "tui/views/shown.h"

enum { SQUARE_MOST = 16 };

typedef struct Positions {
    Shown v;
    const Axis *p;
    Lattice l;
    int at, row, col; /* the picked patch */
    int other;        /* and the one that the cursor's value compares it with */
    const char *other_sym;
    size_t p_step, other_step;
} Positions;

static Site site_of(const Session *s, Side side)
{
    if (s->look.positions.fitted && shown_site(s, side, SITE_FIT_BICUBIC))
        return SITE_FIT_BICUBIC;
    return s->look.positions.centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE;
}

/* The node that is drawn, whatever is in focus. */
static const char *path_of(const Session *s, Side side)
{
    return shown_site(s, side, site_of(s, side));
}

static bool open_positions(const Session *s, Side side, Positions *out)
{
    Positions q = {0};
    if (!shown_open(s, side, path_of(s, side), &q.v))
        return false;
    Dims d = graph_node(q.v.graph, q.v.node)->dims;
    int p = dims_role(q.v.graph, d, ROLE_PLACE), other = dims_role(q.v.graph, d, ROLE_OTHER_PLACE);
    if (p == AXIS_NONE || other == AXIS_NONE)
        return false;
    q.p = &q.v.graph->axes[p];
    q.l = lattice_of(q.p);
    q.at = q.v.at[p];
    q.other = q.v.at[other];
    q.other_sym = q.v.graph->axes[other].sym;
    q.p_step = dims_stride(q.v.graph->axes, d, p);
    q.other_step = dims_stride(q.v.graph->axes, d, other);
    axis_patch(q.p, q.at, &q.row, &q.col);
    *out = q;
    return true;
}

static size_t cell_of(const Positions *q, int patch, int other)
{
    return (size_t)patch * q->p_step + (size_t)other * q->other_step;
}

typedef struct Map {
    const Positions *q;
    int patch;
} Map;

static float map_value(const void *context, int row, int col, Ref *ref)
{
    const Map *m = context;
    size_t cell = cell_of(m->q, m->patch, row * m->q->l.cols + col);
    *ref = shown_ref(&m->q->v, cell);
    return m->q->v.values[cell];
}

/* Where everything goes; the maps' rectangle is what the lines around leave. */
typedef struct Layout {
    Rect room;
    int value_y, bar_y;
    int cols_y, rows_x; /* of many maps: where their columns and rows are named; −1: nowhere */
} Layout;

enum { ROW_NAME = 3, GRID_NAMED = 10 };

static Layout layout(Rect r, bool grids)
{
    Layout l = {r, -1, -1, -1, -1};
    if (l.room.h > 1)
        l.value_y = l.room.y + --l.room.h;
    if (l.room.h > 3)
        l.bar_y = l.room.y + --l.room.h;
    if (grids && l.room.h > GRID_NAMED)
        l.cols_y = rect_cut(&l.room, 't', 1).y;
    if (grids && l.room.w > GRID_NAMED * ROW_NAME)
        l.rows_x = rect_cut(&l.room, 'l', ROW_NAME + 1).x; /* and the first map's mark */
    return l;
}

/* Thumbnails that fit, the picked patch's among them. */
typedef struct Grid {
    int lines, gap, down, across, row, col;
} Grid;

static Grid grid_make(const Paint *p, Rect room, const Positions *q)
{
    bool halves = heat_halves(p);
    Grid g = {.lines = halves ? (q->l.rows + 1) / 2 : q->l.rows};
    g.gap = halves && q->l.rows % 2 ? 0 : 1;
    g.down = (room.h + g.gap) / (g.lines + g.gap);
    g.across = (room.w + 1) / (q->l.cols + 1);
    g.down = g.down < 1 ? 1 : g.down > q->l.rows ? q->l.rows : g.down;
    g.across = g.across < 1 ? 1 : g.across > q->l.cols ? q->l.cols : g.across;
    g.row = (int)scroll_first((size_t)q->l.rows, (size_t)q->row, (size_t)g.down);
    g.col = (int)scroll_first((size_t)q->l.cols, (size_t)q->col, (size_t)g.across);
    return g;
}

static Rect grid_rect(const Grid *g, Rect room, const Positions *q, int row, int col)
{
    return (Rect){room.y + (row - g->row) * (g->lines + g->gap), room.x + (col - g->col) * (q->l.cols + 1), g->lines,
                  q->l.cols};
}

/* "c2" above a column of maps, "r3" beside a row. */
static void draw_grid_names(const Paint *p, const Positions *q, const Layout *l, const Grid *g)
{
    for (int i = g->col; l->cols_y >= 0 && i < g->col + g->across; i++)
        canvas_printf(p->c, l->cols_y, grid_rect(g, l->room, q, g->row, i).x, q->l.cols,
                      i == q->col ? STYLE_CURSOR : STYLE_AXIS, "c%d", i);
    for (int i = g->row; l->rows_x >= 0 && i < g->row + g->down; i++)
        canvas_printf(p->c, grid_rect(g, l->room, q, i, g->col).y, l->rows_x, ROW_NAME,
                      i == q->row ? STYLE_CURSOR : STYLE_AXIS, "r%d", i);
}

static void draw_grid(const Paint *p, const Positions *q, const Layout *l, const ColourScale *scale, bool focus)
{
    const Rect room = l->room;
    Grid g = grid_make(p, room, q);
    draw_grid_names(p, q, l, &g);
    for (int row = g.row; row < g.row + g.down; row++)
        for (int col = g.col; col < g.col + g.across; col++) {
            Map m = {q, row * q->l.cols + col};
            Rect box = grid_rect(&g, room, q, row, col);
            heat_draw(p, box, q->l.rows, q->l.cols, (HeatSize){q->l.rows, q->l.cols}, scale, map_value, &m);
        }
    Rect here = grid_rect(&g, room, q, q->row, q->col);
    for (int y = here.y; y < here.y + here.h; y++) {
        if (here.x > room.x || l->rows_x >= 0)
            canvas_glyph(p->c, y, here.x - 1, STYLE_CURSOR, '[');
        if (y < room.y + room.h && here.x + here.w < room.x + room.w)
            canvas_glyph(p->c, y, here.x + here.w, STYLE_CURSOR, ']');
    }
    focus_cursor(p, focus, here.y + q->row * g.lines / q->l.rows, here.x + q->col);
}

static void draw_one(const Paint *p, const Positions *q, Rect room, const ColourScale *scale, bool focus)
{
    LatticeMap m = lattice_map(p, room, q->l.rows, q->l.cols, SQUARE_MOST, q->row, q->col);
    lattice_map_draw(p, &m, scale, map_value, &(Map){q, q->at});
    int row = q->row, col = q->col;
    if (q->other != q->at) {
        lattice_map_mark(p, &m, row, col, "><o", STYLE_STRONG, shown_ref(&q->v, cell_of(q, q->at, q->at)));
        axis_patch(q->p, q->other, &row, &col);
    }
    lattice_map_mark(p, &m, row, col, "[]!", STYLE_CURSOR, shown_ref(&q->v, cell_of(q, q->at, q->other)));
    Rect patch = lattice_map_patch(&m, row, col);
    focus_cursor(p, focus, patch.y + (patch.h > 0 ? (patch.h - 1) / 2 : 0), patch.x);
}

/* How many of the maps are on show, where not all are: on a free line below them, else at the right of the value's.
 * Columns of that which it takes. */
static int draw_shown(const Paint *p, const Positions *q, const Layout *l, Rect r)
{
    Grid g = grid_make(p, l->room, q);
    char text[64];
    snprintf(text, sizeof text, "%d of %d maps", g.down * g.across, q->p->n);
    const int cells = (int)strlen(text);
    if (g.down * g.across >= q->p->n || cells > r.w)
        return 0;
    Rect last = grid_rect(&g, l->room, q, g.row + g.down - 1, g.col);
    bool free_line = last.y + last.h < l->room.y + l->room.h;
    canvas_text(p->c, free_line ? l->room.y + l->room.h - 1 : l->value_y, r.x + r.w - cells, cells, STYLE_AXIS, text);
    return free_line ? 0 : cells + 1;
}

/* The most and the least alike of the others. */
static void draw_values(const Paint *p, const Positions *q, int y, int x, int width)
{
    int best = -1, worst = -1;
    for (int i = 0; i < q->p->n; i++) {
        float v = q->v.values[cell_of(q, q->at, i)];
        if (i == q->at)
            continue;
        if (best < 0 || v > q->v.values[cell_of(q, q->at, best)])
            best = i;
        if (worst < 0 || v < q->v.values[cell_of(q, q->at, worst)])
            worst = i;
    }
    char here[32], label[32], number[32];
    axis_label(q->p, q->at, here, sizeof here);
    int used = width >= 40 ? canvas_printf(p->c, y, x, width, STYLE_TEXT, "%s: ", here) : 0;
    for (int k = 0; k < 2; k++) {
        int i = k ? worst : best;
        if (i < 0)
            break;
        size_t cell = cell_of(q, q->at, i);
        number_text(number, sizeof number, q->v.values[cell], 9);
        axis_label(q->p, i, label, sizeof label);
        char text[64];
        utf8_print(text, sizeof text, width >= 40 ? "%s like %s " : "%.0s%s ", k ? "least" : "most", label);
        if (used + (int)strlen(text) + (int)strlen(number) > width)
            break;
        used += canvas_text(p->c, y, x + used, width - used, STYLE_DIM, text);
        used += shown_number(p, &q->v, cell, y, x + used, 9, STYLE_STRONG);
        used += canvas_text(p->c, y, x + used, width - used, STYLE_DIM, k ? "" : "   ");
    }
}

/* Why there is nothing to see: another model may know places all the same. */
static const char *absent(const Session *s, Side side)
{
    const Graph *g = side == SIDE_DIFF ? NULL : session_graph(s, side);
    if (!g)
        return "A and B have no position embeddings of one shape to subtract.";
    if (site_node_any(g, SITE_QUERY_ROPE) != NO_NODE)
        return "This model has no table of position embeddings: queries and keys are turned by their places instead.";
    if (site_node_any(g, SITE_SCORES_BIASED) != NO_NODE)
        return "This model has no table of position embeddings: scores get a bias for how far apart two tokens lie.";
    return "This model has no table of position embeddings: nothing here tells it where a patch was.";
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Positions q;
    if (r.h < 1 || r.w < 1 || positions_fit_draw(p, r, side, focus))
        return;
    if (!open_positions(p->s, side, &q))
        canvas_wrap(p->c, r, STYLE_TEXT, absent(p->s, side));
    else if (!q.v.values)
        shown_computing(p, r);
    else {
        Layout l = layout(r, p->s->look.positions.grids);
        ColourScale scale = colour_scale_of_range(p, -1, 1); /* a cosine */
        if (p->s->look.positions.grids)
            draw_grid(p, &q, &l, &scale, focus);
        else
            draw_one(p, &q, l.room, &scale, focus);
        if (l.bar_y >= 0)
            colour_scale_bar(p, &scale, l.bar_y, r.x, r.w);
        int said = l.value_y >= 0 && p->s->look.positions.grids ? draw_shown(p, &q, &l, r) : 0;
        if (l.value_y >= 0)
            draw_values(p, &q, l.value_y, r.x, r.w - said);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    if (!positions_fit_needs(s, side, out))
        needs_add(out, side, path_of(s, side));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Positions q;
    if (positions_fit_click(p, r, side, y, x, command))
        return command->len > 0;
    if (!open_positions(p->s, side, &q) || !q.v.values)
        return false;
    Layout l = layout(r, p->s->look.positions.grids);
    int row = -1, col = -1;
    if (p->s->look.positions.grids) {
        Grid g = grid_make(p, l.room, &q);
        for (int i = g.row; i < g.row + g.down; i++)
            for (int j = g.col; j < g.col + g.across; j++)
                if (rect_has(grid_rect(&g, l.room, &q, i, j), y, x)) {
                    row = i;
                    col = j;
                }
    } else {
        LatticeMap m = lattice_map(p, l.room, q.l.rows, q.l.cols, SQUARE_MOST, q.row, q.col);
        lattice_map_hit(&m, y, x, &row, &col);
    }
    if (row < 0)
        return false;
    char label[32];
    int patch = row * q.l.cols + col;
    if (patch == q.at)
        buf_puts(command, "in");
    else
        buf_printf(command, "goto %s[%s=%s,%s=%s]", path_of(p->s, side), q.p->sym,
                   axis_label(q.p, patch, label, sizeof label), q.other_sym, label);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Positions q;
    char label[32];
    const char *kind = s->look.positions.centred ? "mean removed" : "raw",
               *more = s->look.positions.centred ? "" : ": the mean not taken away";
    if (positions_fit_title(s, side, out))
        return;
    if (!open_positions(s, side, &q))
        buf_puts(out, "positions");
    else if (s->look.positions.grids)
        buf_printf(out, "cosine of all with all, %s%s\ncosine of all with all, %s", kind, more, kind);
    else {
        axis_label(q.p, q.at, label, sizeof label);
        buf_printf(out, "cosine of %s with all, %s%s\ncosine of %s with all, %s", label, kind, more, label, kind);
    }
}

static const ViewWay WAYS[] = {{"raw        cosine of the embeddings as they are", "view raw"},
                               {"centred    cosine after the mean embedding is removed", "view centred"},
                               {"grids      every position's map at once", "view grids"},
                               {"one        one position against all", "view one"},
                               {"fitted     the table before and after it is fitted to another grid", "view fitted"},
                               {NULL, NULL}};

VIEW_SPEC(POSITIONS, .name = "positions", .cursor = path_of, .ways = WAYS);
