#include "core/session/cursor.h"

#include <stdio.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/graph/explain.h"
#include "core/session/ask/closeup.h"
#include "core/session/edit/slider.h"
#include "core/session/learned/decoding.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/word_film.h"
#include "core/session/place.h"
#include "core/session/playing.h"
#include "core/session/screens.h"

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* A token or place over the patch grid, the prefix tokens in a line below it. */
static void move_on_grid(Session *s, AxisRole role, int dy, int dx)
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

static void move_axis(Session *s, AxisRole role, int by)
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
    plane_set(g, p.rows, (size_t)clamp((int)row + dy, 0, (int)p.row_count - 1), s->place.at);
    plane_set(g, p.cols, (size_t)clamp((int)col + dx, 0, (int)p.col_count - 1), s->place.at);
    static const AxisRole FOLLOWED[] = {ROLE_QUERY, ROLE_PLACE, ROLE_PLACE_ROW};
    Dims d = dims_union(p.rows, p.cols);
    for (size_t k = 0; k < sizeof FOLLOWED / sizeof *FOLLOWED; k++)
        session_sync(s, dims_role(g, d, FOLLOWED[k]));
}

void move_on_worked(Session *s, int dy, int dx)
{
    playing_end(s);
    move_on_plane(s, dy, dx);
}

void move_in_terms(Session *s, int dy, int dx)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE)
        return;
    const Graph *g = session_graph(s, SIDE_B);
    Explain e = explain_open(g, n, session_cell(s, SIDE_B, n));
    int inputs = op_inputs(graph_node(g, n)->op), last = e.terms > 1000000 ? 1000000 : (int)e.terms;
    if (last == 1) /* one term: its operands stand below each other */
        dx += dy;
    s->place.term = (size_t)clamp((int)s->place.term + dy, 0, last ? last - 1 : 0);
    s->place.operand = clamp(s->place.operand + dx, 0, inputs ? inputs - 1 : 0);
}

/* Lines below each other, the cells of a row beside each other. */
void move_in_closeup(Session *s, int dy, int dx)
{
    Closeup c;
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE || !closeup_open(s, side, n, session_cell(s, side, n), &c))
        return;
    int to = clamp((int)closeup_index_here(s, &c) + dx, 0, (int)c.terms - 1);
    s->place.operand = clamp(closeup_line_here(s, &c) + dy, 0, c.count - 1);
    Err past; /* the cursor is B's: where B is shorter it stays */
    if (dx && !session_point(s, side, c.along, (size_t)to, s->place.at, &past))
        session_say(s, "%s", past.text);
    closeup_free(&c);
}

/* The same kind of node in another block, where that block has it. */
static void move_to_block(Session *s, int block)
{
    char path[SESSION_PATH];
    session_in_block(session_graph(s, SIDE_B), s->place.path, block, path);
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return;
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    place_find_box(s);
}

/* Heads of all blocks: blocks are rows. */
void move_on_heads(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_HEAD, dx);
    if (dy)
        move_to_block(s, clamp(session_block(s) + dy, 0, session_blocks(s) - 1));
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

/* Attentions are rows: over all stacks, or inside one. */
static void move_over(Session *s, int dy, int dx, bool one_stack)
{
    const Graph *g = session_graph(s, SIDE_B);
    int here = anatomy_attention_number(g, session_attention(s, g, -1)), last = anatomy_attentions(g) - 1;
    move_axis(s, ROLE_HEAD, dx);
    if (!dy || here < 0)
        return;
    int to = clamp(here + dy, 0, last);
    const char *stack = anatomy_part(g, anatomy_attention(g, here))->stack;
    while (one_stack && strcmp(anatomy_part(g, anatomy_attention(g, to))->stack, stack) != 0)
        to += to < here ? 1 : -1;
    session_to_attention(s, to);
}

void move_on_attentions(Session *s, int dy, int dx)
{
    move_over(s, dy, dx, false);
}

void move_in_ledger(Session *s, int dy, int dx)
{
    move_over(s, dy, dx, true);
}

/* Along the film, and through the patches column by column, so that two keys reach every one. */
void move_in_training(Session *s, int dy, int dx)
{
    const History *h = session_history_shown(s);
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), row, col;
    WordFilm film;
    if (dy && session_word_film(s, &film)) /* of text: through the words that ask */
        move_axis(s, ROLE_QUERY, dy);
    if (h && h->snapshot_count)
        s->look.training.snapshot = clamp(s->look.training.snapshot + dx, 0, h->snapshot_count - 1);
    if (!dy || p == AXIS_NONE || !axis_patch(&g->axes[p], s->place.at[p], &row, &col))
        return;
    int rows = g->axes[p].n / g->axes[p].cols, at = clamp(col * rows + row + dy, 0, g->axes[p].n - 1);
    s->place.at[p] = at % rows * g->axes[p].cols + at / rows;
    session_sync(s, p);
}

void move_on_tiles(Session *s, int dy, int dx)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE || graph_node(session_graph(s, SIDE_B), n)->dims.n == 0)
        return;
    const Graph *g = session_graph(s, SIDE_B);
    int axis = graph_node(g, n)->dims.axis[0]; /* filters[d,…], components[k,…] */
    s->place.at[axis] = clamp(s->place.at[axis] + dx + dy * MEASURES_TILES_ACROSS, 0, g->axes[axis].n - 1);
}

/* Rows are what would be named before the first block, −1, after each block, and the answer itself. */
void move_in_lens(Session *s, int dy, int dx)
{
    const Graph *g = session_graph(s, SIDE_B);
    int last = session_blocks(s) - 1, block = session_block(s);
    const char *start = lens_path(s, LENS_START);
    int here = start && strcmp(s->place.path, start) == 0 ? LENS_START : block < 0 ? last + 1 : block;
    int row = clamp(here + dy, start ? LENS_START : 0, last + 1);
    const char *path = row > last ? NULL : lens_path(s, row);
    path = path ? path : site_path_any(g, SITE_PROBS);
    move_axis(s, ROLE_ANSWER, dx);
    if (path)
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    place_find_box(s);
}

void move_slider(Session *s, int dy, int dx)
{
    Err err;
    s->look.laboratory.reach = clamp(s->look.laboratory.reach + dy, 0, REACH_COUNT - 1);
    if (dx && !slider_set(s, slider_notch(s) + clamp(dx, -MEASURES_FACTORS, MEASURES_FACTORS), &err))
        session_say(s, "%s", err.text);
}

void move_on_patches(Session *s, int dy, int dx)
{
    move_on_grid(s, ROLE_PLACE, dy, dx);
}

void move_on_keys(Session *s, int dy, int dx)
{
    move_on_grid(s, ROLE_KEY, dy, dx);
}

void move_on_matrix(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_QUERY, dy);
    move_axis(s, ROLE_KEY, dx);
}

void move_on_classes(Session *s, int dy, int dx)
{
    (void)dx;
    move_axis(s, ROLE_ANSWER, dy);
}

/* Rows are the words that were read; the answer's words go along. */
void move_in_writing(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_QUERY, dy);
    move_axis(s, ROLE_ANSWER, dx);
}

void move_in_decoding(Session *s, int dy, int dx)
{
    Err err;
    decoding_all(s, &err); /* on the screen it is done long before a key comes */
    const Decoding *d = session_decoding(s, session_side(s) == SIDE_A ? SIDE_A : SIDE_B);
    int last = d && d->lines ? d->lines - 1 : 0, at = d ? decoding_line(s, d) : 0;
    int depth = d && d->lines ? d->line[at].depth : 0;
    if (!dx)
        s->look.decoding.line = clamp(at + dy, 0, last);
    else /* to the next line, or the one before, of a column that is no further in */
        for (int i = at + (dx > 0 ? 1 : -1); i >= 0 && i <= last; i += dx > 0 ? 1 : -1)
            if (d->line[i].depth <= depth) {
                s->look.decoding.line = i;
                break;
            }
}

void move_cursor(Session *s, int dy, int dx)
{
    screen_now(s)->move(s, dy, dx);
}
