#include "core/session/beside.h"

#include <stdio.h>

#include "core/session/place.h"
#include "core/session/screens.h"

static bool of_attention(const Graph *g, NodeId n, Beside *out)
{
    static const Site SITES[BESIDE_MOST] = {SITE_QUERY, SITE_KEY, SITE_VALUE};
    int part = anatomy_of(g, graph_node(g, n)->path);
    bool one = false;
    *out = (Beside){.count = BESIDE_MOST};
    for (int i = 0; i < BESIDE_MOST && part != NO_PART; i++) {
        out->node[i] = site_node(g, part, SITES[i]);
        if (out->node[i] == NO_NODE)
            return false;
        one = one || out->node[i] == n;
    }
    return one;
}

/* Learned tokens in front of the patches. */
static bool of_tokens(const Graph *g, NodeId n, Beside *out)
{
    const Node *node = graph_node(g, n);
    if (node->op != OP_CONCAT || node_role(g, node->in[0], ROLE_PREFIX) == AXIS_NONE ||
        node_role(g, node->in[1], ROLE_PLACE) == AXIS_NONE || node_role(g, n, ROLE_QUERY) == AXIS_NONE)
        return false;
    *out = (Beside){.node = {node->in[0], node->in[1], n}, .count = BESIDE_MOST, .joins = true};
    return true;
}

bool beside_of(const Graph *g, NodeId n, Beside *out)
{
    return of_attention(g, n, out) || of_tokens(g, n, out);
}

int beside_tokens(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    return d.n > 1 && g->axes[d.axis[0]].sequence != SEQUENCE_NONE ? d.axis[0] : AXIS_NONE;
}

bool fits_beside(const Graph *g, NodeId n)
{
    Beside b;
    return beside_of(g, n, &b);
}

bool come_beside(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n != NO_NODE && fits_beside(g, n))
        return come_here(s, to, err);
    const char *path = site_path(g, session_attention(s, g, -1), SITE_QUERY);
    n = path ? graph_find(g, path) : NO_NODE;
    if (n == NO_NODE || !fits_beside(g, n))
        return err_set(err, "nothing here stands side by side: queries, keys and values of an attention do");
    return session_go(s, path, to, err);
}

/* One tensor after the other: past the last column of the queries stands the first of the keys, in the row of the same
 * token. */
void move_beside(Session *s, int dy, int dx)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    Beside b;
    if (n == NO_NODE || (dx != 1 && dx != -1) || !beside_of(g, n, &b) || b.joins) {
        move_on_plane(s, dy, dx);
        return;
    }
    Plane p = plane_make(g, n);
    size_t row, col;
    int at = 0;
    plane_cursor(g, &p, s->place.at, &row, &col);
    while (b.node[at] != n)
        at++;
    bool past = dx < 0 ? col == 0 : col + 1 == p.col_count;
    if (!past || at + dx < 0 || at + dx >= b.count) {
        move_on_plane(s, dy, dx);
        return;
    }
    NodeId next = b.node[at + dx];
    Plane q = plane_make(g, next);
    int from = beside_tokens(g, n), into = beside_tokens(g, next);
    snprintf(s->place.path, sizeof s->place.path, "%s", graph_node(g, next)->path);
    plane_set(g, q.cols, dx < 0 ? q.col_count - 1 : 0, s->place.at);
    if (from != AXIS_NONE && into != AXIS_NONE && g->axes[from].sequence == g->axes[into].sequence &&
        g->axes[from].n == g->axes[into].n)
        s->place.at[into] = s->place.at[from];
    move_on_plane(s, dy, 0); /* keeps what follows the token in step */
}

/* The tensor alone. */
bool next_beside(Session *s, Err *err)
{
    s->look.view = VIEW_HEAT;
    return come_here(s, SCREEN_TENSOR, err);
}
