/* Any tensor, in four ways of drawing; and tensors of one step side by side. */
#include <stdio.h>

#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/screens.h"
#include "core/session/screens/beside.h"

bool tell_tensor(const Teller *t)
{
    size_t n = graph_cells(t->g, t->n), low = 0, high = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        low = t->x[i] < t->x[low] ? i : low;
        high = t->x[i] > t->x[high] ? i : high;
        sum += (double)t->x[i];
    }
    buf_puts(t->out, "All of it: from ");
    ask_put_short(t->out, t->x[low]);
    buf_puts(t->out, " at ");
    address_put(t->g, t->n, low, t->out);
    buf_puts(t->out, " to ");
    ask_put_short(t->out, t->x[high]);
    buf_puts(t->out, " at ");
    address_put(t->g, t->n, high, t->out);
    buf_puts(t->out, "; mean ");
    ask_put_short(t->out, (float)(sum / (double)n));
    buf_puts(t->out, ".\n");
    teller_put_row(t, "The row of the cursor");
    return true;
}

bool drawing_is_only(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    return s->place.screen == SCREEN_TENSOR && n != NO_NODE && anatomy_vocabulary(g, n) != AXIS_NONE;
}

/* After the last way of drawing a tensor that is attention comes the sheet of all heads; of one that stands beside
 * others, all of them. */
bool next_drawing(Session *s, Err *err)
{
    if (drawing_is_only(s)) {
        session_say(s, "These numbers are words of the vocabulary: they are shown as words, and in no other way.");
        return true;
    }
    s->look.view = (View)((s->look.view + 1) % VIEW_COUNT);
    Screen own = session_screen_for(s, s->place.path);
    if (s->look.view != VIEW_HEAT)
        return true;
    if (own == SCREEN_ROW || own == SCREEN_SENTENCE || own == SCREEN_MATRIX)
        return come_here(s, SCREEN_SHEET, err);
    return own != SCREEN_BESIDE || come_here(s, own, err);
}

SCREEN_SPEC(TENSOR, .name = "tensor", .about = "any tensor: heat, numbers, strip, histogram", .command = "view tensor",
            .come = come_here, .move = move_on_plane, .enter = enter_arithmetic, .next = next_drawing,
            .tell = tell_tensor);

/* --- side by side --- */

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

static bool fits_beside(const Graph *g, NodeId n)
{
    Beside b;
    return beside_of(g, n, &b);
}

static bool come_beside(Session *s, Screen to, Err *err)
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
static void move_beside(Session *s, int dy, int dx)
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
static bool next_beside(Session *s, Err *err)
{
    s->look.view = VIEW_HEAT;
    return come_here(s, SCREEN_TENSOR, err);
}

SCREEN_SPEC(BESIDE, .name = "beside",
            .about = "queries, keys and values side by side; or parts, and the tokens that they become",
            .command = "view beside", .come = come_beside, .fits = fits_beside, .move = move_beside,
            .enter = enter_arithmetic, .next = next_beside, .tell = tell_tensor, .drawn_alone = true);
