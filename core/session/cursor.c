/* The data cursor: how nodes are laid out in two dimensions, and which block, attention and head it is in. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/session/place.h"

static bool is_role(const Graph *g, int axis, AxisRole role)
{
    return g->axes[axis].role == role;
}

/* The axes of one of two roles, in their order. */
static Dims take(const Graph *g, Dims d, AxisRole one, AxisRole other)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < d.n; i++)
        if (is_role(g, d.axis[i], one) || is_role(g, d.axis[i], other))
            r.axis[r.n++] = d.axis[i];
    return r;
}

Plane plane_make(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    Plane p = {.rows = DIMS_SCALAR, .cols = DIMS_SCALAR, .held = DIMS_SCALAR};
    if (d.n >= 5 && is_role(g, d.axis[0], ROLE_CHANNEL)) { /* a picture: one channel, pixel rows × pixel columns */
        p.held = take(g, d, ROLE_CHANNEL, ROLE_CHANNEL);
        p.rows = take(g, d, ROLE_PLACE_ROW, ROLE_PIXEL_ROW);
        p.cols = take(g, d, ROLE_PLACE_COL, ROLE_PIXEL_COL);
    } else if (d.n == 3 && is_role(g, d.axis[0], ROLE_HEAD) && dims_role(g, d, ROLE_QUERY) != AXIS_NONE) {
        p.held = (Dims){.n = 1, .axis = {d.axis[0]}}; /* scores: one head */
        p.rows = (Dims){.n = 1, .axis = {d.axis[1]}};
        p.cols = (Dims){.n = 1, .axis = {d.axis[2]}};
    } else if (d.n == 3 && is_role(g, d.axis[0], ROLE_HEAD)) { /* weights of the heads: [h,e,d] */
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

/* The cursor is B's: on a side whose axes are shorter it stands on their last index. */
static size_t joint_index(const Graph *g, Dims dims, const int *at)
{
    int index[DIMS_MAX];
    for (int i = 0; i < dims.n; i++) {
        int a = dims.axis[i], last = g->axes[a].n - 1, k = a < SESSION_AXES ? at[a] : 0;
        index[i] = k < 0 ? 0 : k > last ? last : k;
    }
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

int session_role(const Session *s, AxisRole role)
{
    const Graph *g = session_base(s);
    int own = node_role(g, graph_find(g, s->place.path), role);
    return own != AXIS_NONE ? own : graph_role(g, role, SEQUENCE_ANY);
}

void session_set_index(Session *s, int axis, int index)
{
    const Graph *g = session_base(s);
    const Axis *a = &g->axes[axis];
    REQUIRE(g->axis_count <= SESSION_AXES && index >= 0 && index < a->n);
    for (int i = 0; i < g->axis_count; i++)
        if (g->axes[i].role == a->role && g->axes[i].sequence == a->sequence && g->axes[i].n == a->n)
            s->place.at[i] = index;
}

/* Where an axis is among tokens or places of the picture: has a grid, and asks or is looked for. */
static bool follows_picture(const Axis *a)
{
    return a->cols > 0 && (a->role == ROLE_PLACE || a->role == ROLE_QUERY);
}

void session_sync(Session *s, int changed)
{
    const Graph *g = session_base(s);
    int *at = s->place.at, y = graph_role(g, ROLE_PLACE_ROW, SEQUENCE_ANY),
        x = graph_role(g, ROLE_PLACE_COL, SEQUENCE_ANY), row, col;
    if (changed < 0 || changed >= g->axis_count || y == AXIS_NONE || x == AXIS_NONE)
        return;
    const Axis *a = &g->axes[changed];
    if (a->role == ROLE_PLACE_ROW || a->role == ROLE_PLACE_COL) {
        row = at[y];
        col = at[x];
    } else if (!follows_picture(a) || !axis_patch(a, at[changed], &row, &col))
        return; /* a prefix token has no place in the picture */
    for (int i = 0; i < g->axis_count; i++) {
        const Axis *b = &g->axes[i];
        int index = b->role == ROLE_PLACE_ROW   ? row
                    : b->role == ROLE_PLACE_COL ? col
                    : follows_picture(b)        ? (b->kind == AXIS_TOKEN ? b->prefix : 0) + row * b->cols + col
                                                : -1;
        if (index >= 0 && index < b->n)
            at[i] = index;
    }
}

int session_block(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_block_of(g, s->place.path);
    return part == NO_PART ? -1 : anatomy_part(g, part)->block;
}

/* The stack of the focus, or the first one. */
static const char *stack_here(const Session *s, const Graph *g)
{
    int part = anatomy_block_of(g, s->place.path);
    part = part == NO_PART ? anatomy_next(g, NO_PART, PART_BLOCK) : part;
    return part == NO_PART ? NULL : anatomy_part(g, part)->stack;
}

static int blocks_of(const Session *s, const Graph *g)
{
    const char *stack = stack_here(s, g);
    return stack ? anatomy_blocks(g, stack) : 0;
}

int session_blocks(const Session *s)
{
    return blocks_of(s, session_base(s));
}

int session_blocks_on(const Session *s, Side side)
{
    return blocks_of(s, session_graph(s, side));
}

int session_attention(const Session *s, const Graph *g, int block)
{
    int own = anatomy_of(g, s->place.path), around = anatomy_block_of(g, s->place.path);
    const char *stack = stack_here(s, g), *kind = NULL;
    if (own != NO_PART && anatomy_part(g, own)->kind == PART_ATTENTION)
        kind = anatomy_part(g, own)->word;
    int number = block >= 0 ? block : around == NO_PART ? 0 : anatomy_part(g, around)->block;
    int in = anatomy_block(g, stack, number);
    if (in == NO_PART)
        return NO_PART;
    for (int i = NO_PART; kind && (i = anatomy_next_in(g, i, PART_ATTENTION, in)) != NO_PART;)
        if (strcmp(anatomy_part(g, i)->word, kind) == 0)
            return i;
    return anatomy_next_in(g, NO_PART, PART_ATTENTION, in);
}

const char *session_attention_name(const Graph *g, int part, char out[ATTENTION_NAME])
{
    const Part *p = anatomy_part(g, part);
    int word = (int)strcspn(p->word, "- ");
    if (*p->stack)
        snprintf(out, ATTENTION_NAME, "%.3s %d %.*s", p->stack, p->block, word > 8 ? 8 : word, p->word);
    else
        snprintf(out, ATTENTION_NAME, "block %d", p->block);
    return out;
}

const char *session_attention_site(const Session *s, const Graph *g, int block, Site site)
{
    return site_path(g, session_attention(s, g, block), site);
}

int session_head(const Session *s)
{
    int h = session_role(s, ROLE_HEAD);
    return h == AXIS_NONE ? 0 : s->place.at[h];
}

const char *session_in_block(const Graph *g, const char *path, int block, char out[SESSION_PATH])
{
    int from = anatomy_block_of(g, path);
    int to = from == NO_PART ? NO_PART : anatomy_block(g, anatomy_part(g, from)->stack, block);
    if (to == NO_PART || !anatomy_carry(g, path, from, to, out, SESSION_PATH))
        snprintf(out, SESSION_PATH, "%s", path);
    return out;
}

bool session_to_attention(Session *s, int number)
{
    const Graph *g = session_graph(s, SIDE_B);
    int from = anatomy_of(g, s->place.path), to = anatomy_attention(g, number);
    char path[SESSION_PATH];
    if (to == NO_PART)
        return false;
    bool carried = from != NO_PART && anatomy_part(g, from)->kind == PART_ATTENTION &&
                   anatomy_carry(g, s->place.path, from, to, path, sizeof path) &&
                   session_node(s, SIDE_B, path) != NO_NODE;
    if (!carried) /* the focus was elsewhere, or is on what that attention lacks */
        snprintf(path, sizeof path, "%s", site_path(g, to, SITE_PATTERN));
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return false;
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    place_find_box(s);
    return true;
}
