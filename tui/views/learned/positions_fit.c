#include "tui/views/learned/positions_fit.h"

#include <math.h>

#include "tui/views/lattice.h"
#include "tui/views/shown.h"

enum { MAPS = 4, SQUARE_MOST = 16, MAP_LEAST = 8 };

/* In the order in which they stand: the table as it is stored, then what each way makes of it. */
static const struct {
    Site site;
    const char *word;
    VitFit fit;
} WAYS[MAPS] = {{SITE_FIT_OLD, "stored", VIT_FIT_BICUBIC},
                {SITE_FIT_NEAREST, "nearest", VIT_FIT_NEAREST},
                {SITE_FIT_BILINEAR, "bilinear", VIT_FIT_BILINEAR},
                {SITE_FIT_BICUBIC, "bicubic", VIT_FIT_BICUBIC}};

typedef struct Grid {
    Shown v;
    int rows, cols, number; /* of the embedding's numbers the one under the cursor */
    int row, col;           /* the place under the cursor */
    size_t row_step, col_step, first;
} Grid;

static bool is_on(const Session *s, Side side)
{
    return s->look.positions.fitted && shown_site(s, side, SITE_FIT_OLD) != NULL;
}

static bool open_grid(const Session *s, Side side, int map, Grid *out)
{
    Grid g = {.number = 0};
    if (!shown_open(s, side, shown_site(s, side, WAYS[map].site), &g.v))
        return false;
    const Axis *axes = g.v.graph->axes;
    Dims d = graph_node(g.v.graph, g.v.node)->dims;
    int row = d.axis[0], col = d.axis[1], width = d.axis[2], p = graph_role(g.v.graph, ROLE_PLACE, SEQUENCE_ANY);
    g.rows = axes[row].n;
    g.cols = axes[col].n;
    g.number = g.v.at[width];
    g.row_step = dims_stride(axes, d, row);
    g.col_step = dims_stride(axes, d, col);
    g.first = (size_t)g.number * dims_stride(axes, d, width);
    int new_cols = axes[p].cols, new_rows = axes[p].n / new_cols; /* the same place on a grid of another size */
    g.row = g.v.at[p] / new_cols * g.rows / new_rows;
    g.col = g.v.at[p] % new_cols * g.cols / new_cols;
    *out = g;
    return true;
}

static size_t cell_at(const Grid *g, int row, int col)
{
    return g->first + (size_t)row * g->row_step + (size_t)col * g->col_step;
}

static float value_at(const void *context, int row, int col, Ref *ref)
{
    const Grid *g = context;
    *ref = shown_ref(&g->v, cell_at(g, row, col));
    return g->v.values[cell_at(g, row, col)];
}

/* Beside each other where that leaves them room, else two by two. */
static Rect map_rect(Rect r, int map)
{
    int across = r.w / MAPS >= 3 * MAP_LEAST || r.h < 2 * MAP_LEAST ? MAPS : 2, down = MAPS / across;
    int w = (r.w + 1) / across, h = r.h / down;
    return (Rect){r.y + map / across * h, r.x + map % across * w, h, w - 1};
}

static Rect below_title(Rect r)
{
    return (Rect){r.y + 1, r.x, r.h - 2, r.w};
}

static Rect maps_room(Rect r)
{
    return (Rect){r.y, r.x, r.h > 3 ? r.h - 2 : r.h, r.w};
}

static void draw_map(const Paint *p, Rect r, int map, const Grid *g, const ColourScale *scale, bool used)
{
    char number[32];
    canvas_printf(p->c, r.y, r.x, r.w, used ? STYLE_STRONG : STYLE_DIM, "%s %d×%d%s", WAYS[map].word, g->cols, g->rows,
                  used ? ", used" : "");
    LatticeMap m = lattice_map(p, below_title(r), g->rows, g->cols, SQUARE_MOST, g->row, g->col);
    size_t cell = cell_at(g, g->row, g->col);
    lattice_map_draw(p, &m, scale, value_at, g);
    lattice_map_mark(p, &m, g->row, g->col, "[]!", STYLE_CURSOR, shown_ref(&g->v, cell));
    if (r.h > 2) {
        number_text(number, sizeof number, g->v.values[cell], 9);
        int used_cells = canvas_printf(p->c, r.y + r.h - 1, r.x, r.w, STYLE_DIM, "r%dc%d ", g->row, g->col);
        shown_number(p, &g->v, cell, r.y + r.h - 1, r.x + used_cells, 9, STYLE_TEXT);
    }
}

bool positions_fit_draw(const Paint *p, Rect r, Side side, bool focus)
{
    Grid g[MAPS];
    float most = 0;
    if (!is_on(p->s, side))
        return false;
    Rect old = canvas_clip(p->c, r), room = maps_room(r);
    for (int i = 0; i < MAPS; i++)
        if (!open_grid(p->s, side, i, &g[i]) || !g[i].v.values) {
            shown_computing(p, r);
            p->c->clip = old;
            return true;
        }
    for (int y = 0; y < g[0].rows; y++)
        for (int x = 0; x < g[0].cols; x++) {
            float v = fabsf(g[0].v.values[cell_at(&g[0], y, x)]);
            most = v > most ? v : most;
        }
    const PictureGrid grid = model_grid(&p->s->model);
    ColourScale scale = colour_scale_of_range(p, -most, most);
    for (int i = 0; i < MAPS; i++)
        draw_map(p, map_rect(room, i), i, &g[i], &scale, i > 0 && grid.rows && grid.fit == WAYS[i].fit);
    if (room.h < r.h) {
        colour_scale_bar(p, &scale, r.y + r.h - 2, r.x, r.w);
        canvas_text(p->c, r.y + r.h - 1, r.x, r.w, STYLE_DIM,
                    "rows of tokens in front of the patches stay as they are");
    }
    focus_cursor(p, focus, map_rect(room, MAPS - 1).y, map_rect(room, MAPS - 1).x);
    p->c->clip = old;
    return true;
}

bool positions_fit_needs(const Session *s, Side side, Needs *out)
{
    if (!is_on(s, side))
        return false;
    for (int i = 0; i < MAPS; i++)
        needs_add(out, side, shown_site(s, side, WAYS[i].site));
    return true;
}

bool positions_fit_click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Grid g;
    int row, col;
    if (!is_on(p->s, side))
        return false;
    for (int i = 0; i < MAPS; i++) {
        Rect at = map_rect(maps_room(r), i);
        if (!rect_has(at, y, x) || !open_grid(p->s, side, i, &g) || !g.v.values)
            continue;
        LatticeMap m = lattice_map(p, below_title(at), g.rows, g.cols, SQUARE_MOST, g.row, g.col);
        if (lattice_map_hit(&m, y, x, &row, &col))
            click_cell(p, &g.v, cell_at(&g, row, col), command);
    }
    return true;
}

bool positions_fit_title(const Session *s, Side side, Buf *out)
{
    Grid old, fitted;
    if (!is_on(s, side) || !open_grid(s, side, 0, &old) || !open_grid(s, side, 1, &fitted))
        return false;
    buf_printf(out, "positions from %d×%d to %d×%d, number %d", old.cols, old.rows, fitted.cols, fitted.rows,
               old.number);
    return true;
}
