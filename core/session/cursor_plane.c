#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/session/session.h"

static Dims take(const Graph *g, Dims d, const char *syms)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < d.n; i++)
        for (const char *s = syms; *s; s++)
            if (g->axes[d.axis[i]].sym[0] == *s && !g->axes[d.axis[i]].sym[1])
                r.axis[r.n++] = d.axis[i];
    return r;
}

static bool starts_with(const Graph *g, Dims d, const char *sym)
{
    return d.n && strcmp(g->axes[d.axis[0]].sym, sym) == 0;
}

Plane plane_make(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    Plane p = {.rows = DIMS_SCALAR, .cols = DIMS_SCALAR, .held = DIMS_SCALAR};
    if (starts_with(g, d, "c") && d.n >= 5) { /* a picture: one channel, pixel rows × pixel columns */
        p.held = take(g, d, "c");
        p.rows = take(g, d, "yi");
        p.cols = take(g, d, "xj");
    } else if (starts_with(g, d, "h") && d.n == 3 && dims_find(d, session_axis(g, "t")) >= 0) { /* scores: one head */
        p.held = (Dims){.n = 1, .axis = {d.axis[0]}};
        p.rows = (Dims){.n = 1, .axis = {d.axis[1]}};
        p.cols = (Dims){.n = 1, .axis = {d.axis[2]}};
    } else if (starts_with(g, d, "h") && d.n == 3) { /* weights of the heads: [h,e,d] */
        p.rows = (Dims){.n = 2, .axis = {d.axis[0], d.axis[1]}};
        p.cols = (Dims){.n = 1, .axis = {d.axis[2]}};
    } else if (d.n == 1) {
        p.cols = d;
    } else if (d.n > 1) {
        p.rows = (Dims){.n = 1, .axis = {d.axis[0]}};
        p.cols = dims_minus(d, p.rows);
    }
    p.row_count = graph_dims_cells(g, p.rows);
    p.col_count = graph_dims_cells(g, p.cols);
    return p;
}

void plane_set(const Graph *g, Dims dims, size_t joint, int *at)
{
    int index[DIMS_MAX];
    dims_unravel(g->axes, dims, joint, index);
    for (int i = 0; i < dims.n; i++)
        at[dims.axis[i]] = index[i];
}

static size_t joint_index(const Graph *g, Dims dims, const int *at)
{
    int index[DIMS_MAX];
    for (int i = 0; i < dims.n; i++)
        index[i] = at[dims.axis[i]];
    return dims_ravel(g->axes, dims, index);
}

size_t plane_cell(const Graph *g, NodeId n, const Plane *p, const int *at, size_t row, size_t col)
{
    int moved[SESSION_AXES];
    REQUIRE(g->axis_count <= SESSION_AXES);
    memcpy(moved, at, sizeof moved);
    plane_set(g, p->rows, row, moved);
    plane_set(g, p->cols, col, moved);
    return joint_index(g, graph_node(g, n)->dims, moved);
}

void plane_cursor(const Graph *g, const Plane *p, const int *at, size_t *row, size_t *col)
{
    *row = joint_index(g, p->rows, at);
    *col = joint_index(g, p->cols, at);
}

int session_axis(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
}

/* All axes of one letter (a graph may have grown several) get the same index. */
static void set_letter(const Graph *g, const char *sym, int index, int *at)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0 && index < g->axes[i].n)
            at[i] = index;
}

void session_sync(Session *s, int changed)
{
    const Graph *g = session_base(s);
    if (changed < 0 || changed >= g->axis_count)
        return;
    const char *sym = g->axes[changed].sym;
    int *at = s->place.at, y = session_axis(g, "y"), x = session_axis(g, "x"), t = session_axis(g, "t"), row, col;
    if (y < 0 || x < 0 || t < 0 || !strchr("ptyx", sym[0]) || sym[1])
        return;
    int cols = g->axes[x].n, prefix = g->axes[t].kind == AXIS_TOKEN ? g->axes[t].prefix : 0;
    if (*sym == 'y' || *sym == 'x') {
        row = at[y];
        col = at[x];
    } else if (!axis_patch(&g->axes[changed], at[changed], &row, &col))
        return; /* a prefix token has no place in the picture */
    set_letter(g, "y", row, at);
    set_letter(g, "x", col, at);
    set_letter(g, "p", row * cols + col, at);
    set_letter(g, "t", prefix + row * cols + col, at);
}

static const char *block_number(const char *path)
{
    const char *b = strstr(path, "blocks.");
    return b ? b + strlen("blocks.") : NULL;
}

int session_block(const Session *s)
{
    const char *n = block_number(s->place.path);
    return n ? atoi(n) : -1;
}

int session_head(const Session *s)
{
    int h = session_axis(session_base(s), "h");
    return h < 0 ? 0 : s->place.at[h];
}

const char *session_in_block(const char *path, int block, char out[SESSION_PATH])
{
    const char *n = block_number(path), *rest = n ? n + strspn(n, "0123456789") : NULL;
    if (n)
        snprintf(out, SESSION_PATH, "%.*s%d%s", (int)(n - path), path, block, rest);
    else
        snprintf(out, SESSION_PATH, "%s", path);
    return out;
}
