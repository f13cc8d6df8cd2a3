/* The rows as a table, and what several of them are made of. */
#include "core/session/screens.h"

#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/session/learned/measures.h"

static const ScreenSpec *const SCREENS[SCREEN_COUNT] = {
#define SCREEN(symbol) [SCREEN_##symbol] = &SPEC_##symbol,
#include "core/session/screens.def"
#undef SCREEN
};

const ScreenSpec *screen_spec(Screen screen)
{
    REQUIRE((unsigned)screen < SCREEN_COUNT);
    return SCREENS[screen];
}

const ScreenSpec *screen_now(const Session *s)
{
    return screen_spec(s->place.screen);
}

const char *screen_name(Screen screen)
{
    return screen_spec(screen)->name;
}

Screen session_screen_for(const Session *s, const char *path)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, path);
    if (n == NO_NODE || anatomy_is_gradient(path)) /* a gradient is no picture, no row of shares */
        return SCREEN_TENSOR;
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (SCREENS[i]->fits && SCREENS[i]->fits(g, n))
            return (Screen)i;
    return SCREEN_TENSOR;
}

bool screen_is_site(const Graph *g, NodeId n, Site site)
{
    return site_is(g, graph_node(g, n)->path, site);
}

bool screen_leads_to(const Graph *g, NodeId n, Site site)
{
    const char *path = site_path_any(g, site);
    return path && strncmp(graph_node(g, n)->path, path, strlen(path)) == 0;
}

bool screen_go(Session *s, Screen screen, const char *path, Err *err)
{
    bool stays = s->place.screen == screen && path && session_node(s, SIDE_B, path) != NO_NODE;
    if (!stays && !session_go(s, path, screen, err))
        return false;
    if (stays && path != s->place.path)
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    if (screen_spec(screen)->shipped)
        measures_take_shipped(s);
    s->changes++;
    return true;
}

bool screen_patch_word(Session *s, const Args *a, int i, Err *err)
{
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), patch;
    char last[64];
    if (a->count <= i)
        return true;
    if (p == AXIS_NONE)
        return err_set(err, "column %d: '%s': this model looks at no picture, so there are no patches", a->column[i],
                       a->word[i]);
    if (!axis_parse(&g->axes[p], a->word[i], &patch))
        return err_set(err, "column %d: expected a patch such as %s, the last one, found '%s'", a->column[i],
                       axis_label(&g->axes[p], g->axes[p].n - 1, last, sizeof last), a->word[i]);
    s->place.at[p] = patch;
    session_sync(s, p);
    return true;
}

bool come_here(Session *s, Screen to, Err *err)
{
    return s->place.screen == to || session_go(s, s->place.path, to, err);
}

bool enter_tensor(Session *s, Err *err)
{
    return come_here(s, SCREEN_TENSOR, err);
}

/* --- the arrow keys --- */

void move_on_grid(Session *s, AxisRole role, int dy, int dx)
{
    const Graph *g = session_base(s);
    int axis = session_role(s, role), row, col;
    if (axis == AXIS_NONE)
        return;
    const Axis *a = &g->axes[axis];
    int i = s->place.at[axis], prefix = a->kind == AXIS_TOKEN ? a->prefix : 0;
    int rows = a->cols > 0 ? (a->n - prefix) / a->cols : 1;
    if (!axis_patch(a, i, &row, &col)) {
        if (dy < 0)
            i = prefix + (rows - 1) * a->cols + clamp(i, 0, a->cols - 1);
        else
            i = clamp(i + dx, 0, prefix ? prefix - 1 : a->n - 1);
    } else if (dy > 0 && row + dy >= rows && prefix) {
        i = clamp(col, 0, prefix - 1);
    } else
        i = prefix + clamp(row + dy, 0, rows - 1) * a->cols + clamp(col + dx, 0, a->cols - 1);
    s->place.at[axis] = i;
    session_sync(s, axis);
}

void move_axis(Session *s, AxisRole role, int by)
{
    const Graph *g = session_base(s);
    int axis = session_role(s, role);
    if (axis == AXIS_NONE)
        return;
    s->place.at[axis] = clamp(s->place.at[axis] + by, 0, g->axes[axis].n - 1);
    session_sync(s, axis);
}

void move_on_plane(Session *s, int dy, int dx)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE)
        return;
    const Graph *g = session_graph(s, SIDE_B);
    Plane p = plane_make(g, n);
    size_t row, col;
    plane_cursor(g, &p, s->place.at, &row, &col);
    if (anatomy_vocabulary(g, n) != AXIS_NONE) /* words stand one below the other */
        dx += dy;
    plane_set(g, p.rows, (size_t)clamp((int)row + dy, 0, (int)p.row_count - 1), s->place.at);
    plane_set(g, p.cols, (size_t)clamp((int)col + dx, 0, (int)p.col_count - 1), s->place.at);
    static const AxisRole FOLLOWED[] = {ROLE_QUERY, ROLE_PLACE, ROLE_PLACE_ROW};
    Dims d = dims_union(p.rows, p.cols);
    for (size_t k = 0; k < sizeof FOLLOWED / sizeof *FOLLOWED; k++)
        session_sync(s, dims_role(g, d, FOLLOWED[k]));
}

void move_on_patches(Session *s, int dy, int dx)
{
    move_on_grid(s, ROLE_PLACE, dy, dx);
}
