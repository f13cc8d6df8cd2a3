/* The arithmetic of one cell: its terms by size, the operation step by step, and a table with it below. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/explain.h"
#include "core/models/names.h"
#include "core/session/ask/closeup.h"
#include "core/session/ask/say.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/play.h"
#include "core/session/screens.h"

/* Of sums a close-up, of all else the formula. */
bool enter_arithmetic(Session *s, Err *err)
{
    return session_go(s, s->place.path, closeup_there(s) ? SCREEN_CLOSEUP : SCREEN_EXPLAIN, err);
}

/* The close-up in the order of computing, or the terms by size; the place stays. */
static bool next_arithmetic(Session *s, Err *err)
{
    if (s->place.screen == SCREEN_CLOSEUP)
        s->place.screen = SCREEN_EXPLAIN;
    else if (closeup_there(s))
        s->place.screen = SCREEN_CLOSEUP;
    else
        return enter_tensor(s, err);
    s->place.term = 0;
    s->place.operand = 0;
    return true;
}

/* --- its terms by size --- */

static void move_in_terms(Session *s, int dy, int dx)
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

/* The operand that the cursor of the arithmetic is on. */
static bool operand_under_cursor(Session *s, Side side, Ref *to, Err *err)
{
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE)
        return err_set(err, "'%s' is not on this side", s->place.path);
    if (graph_node(session_graph(s, side), n)->op == OP_LEAF) {
        session_say(s, "This is where the arithmetic begins: a weight, a constant or the picture itself.");
        return false;
    }
    Explanation e;
    if (!ask_need_inputs(s, side, n, err))
        return false;
    bool there = ask_explain(s, side, n, session_cell(s, side, n), s->place.term + 1, &e);
    REQUIRE(there);
    bool found = e.line_count > 0;
    if (found) {
        const ExplainLine *line = &e.lines[s->place.term < e.line_count ? s->place.term : e.line_count - 1];
        *to = line->ref[s->place.operand < line->operands ? s->place.operand : line->operands - 1];
    }
    explanation_free(&e);
    return found || err_set(err, "there are no terms here: a sum of nothing");
}

/* To a cell of a side, from which `u` comes back. The place is B's: what only A has cannot be stood on. */
static bool go_to_cell(Session *s, Side side, NodeId n, size_t cell, Err *err)
{
    const Node *node = graph_node(session_graph(s, side), n);
    int at[SESSION_AXES];
    memcpy(at, s->place.at, sizeof at);
    if (session_node(s, SIDE_B, node->path) == NO_NODE)
        return err_set(err, "B has no %s", node->path);
    if (!session_point(s, side, node->dims, cell, at, err))
        return false;
    place_push(s);
    memcpy(s->place.at, at, sizeof at);
    snprintf(s->place.path, sizeof s->place.path, "%s", node->path);
    s->place.term = 0;
    s->place.operand = 0;
    return true;
}

/* Into that operand's own arithmetic. */
static bool enter_operand(Session *s, Err *err)
{
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    Ref to = {0};
    if (!operand_under_cursor(s, side, &to, err))
        return s->said.len > 0;
    if (!go_to_cell(s, side, to.node, to.cell, err))
        return false;
    place_find_box(s);
    return true;
}

static bool tell_arithmetic(const Teller *t)
{
    return ask_explain_text(t->s, t->side, graph_node(t->g, t->n)->path, t->cell, t->out, false, t->err);
}

SCREEN_SPEC(EXPLAIN, .name = "explain", .about = "the arithmetic of one cell", .group = GROUP_ARITHMETIC,
            .command = "view formula", .come = come_here, .move = move_in_terms, .enter = enter_operand,
            .next = next_arithmetic, .tell = tell_arithmetic);

/* --- step by step --- */

/* The focused number's own, else that of the focused block's pattern. */
static bool come_closeup(Session *s, Screen to, Err *err)
{
    const char *path = attention_here(s, SITE_PATTERN);
    if (closeup_there(s))
        return come_here(s, to, err);
    if (!path)
        return err_set(err, "this number is not a sum: `view formula` shows what it is made of");
    return session_go(s, path, to, err);
}

/* The side whose arithmetic is on show. */
static bool open_closeup(const Session *s, Closeup *c)
{
    Side side = ask_side(session_side(s));
    NodeId n = session_node(s, side, s->place.path);
    return n != NO_NODE && closeup_open(s, side, n, session_cell(s, side, n), c);
}

/* Lines below each other, the cells of a row beside each other. */
static void move_in_closeup(Session *s, int dy, int dx)
{
    Closeup c;
    if (!open_closeup(s, &c))
        return;
    int to = clamp((int)closeup_index_here(s, &c) + dx, 0, (int)c.terms - 1);
    s->place.operand = clamp(closeup_line_here(s, &c) + dy, 0, c.count - 1);
    Err past; /* the cursor is B's: where B is shorter it stays */
    if (dx && !session_point(s, c.side, c.along, (size_t)to, s->place.at, &past))
        session_say(s, "%s", past.text);
    closeup_free(&c);
}

/* Into the number that the cursor of the close-up is on. */
static bool enter_closeup(Session *s, Err *err)
{
    Closeup c;
    if (!open_closeup(s, &c))
        return enter_operand(s, err);
    Side side = c.side;
    NodeId n = session_node(s, side, s->place.path);
    const CloseupLine l = c.line[closeup_line_here(s, &c)];
    size_t index = closeup_index_here(s, &c), cell = l.cell ? l.cell[l.count > 1 ? index : 0] : 0;
    closeup_free(&c);
    if (!l.cell) {
        session_say(s, "Made on the way, by the operation itself: no tensor of the trace has it. Its operands do.");
        return true;
    }
    if (l.node == n && cell == session_cell(s, side, n))
        return next_arithmetic(s, err);
    if (!go_to_cell(s, side, l.node, cell, err))
        return false;
    s->place.screen = closeup_there(s) ? SCREEN_CLOSEUP : SCREEN_EXPLAIN;
    place_find_box(s);
    return true;
}

/* One line or a few terms more, backwards less; what it works on is under the cursor. From the whole it begins anew. */
static bool play_closeup(Session *s)
{
    Closeup c;
    if (!open_closeup(s, &c))
        return false;
    size_t steps = closeup_steps(&c), was = s->place.term,
           step = !s->look.backwards ? (was >= steps ? 0 : was + 1) : (was && was <= steps ? was : steps) - 1;
    int line = closeup_line_of(&c, step);
    s->place.term = step == steps ? 0 : step;
    if (line >= 0) {
        s->place.operand = line;
        size_t shown = closeup_shown(&c, step, line);
        Err past;
        if (!c.line[line].cell && shown) /* the term that was just added, where B has it too */
            session_point(s, c.side, c.along, shown - 1, s->place.at, &past);
    }
    bool more = s->place.term > 0;
    closeup_free(&c);
    s->changes++;
    return more;
}

/* The lines of a close-up, each at the place of the row that the cursor is on; then the terms. */
static bool tell_closeup(const Teller *t)
{
    Closeup c;
    if (!ask_need_inputs(t->s, t->side, t->n, t->err))
        return false;
    if (!closeup_open(t->s, t->side, t->n, t->cell, &c))
        return tell_arithmetic(t);
    bool ok = true;
    for (int i = 0; ok && i < c.count; i++)
        ok = c.line[i].given ? ask_need(t->s, t->side, c.line[i].node, t->err) != NULL
                             : ask_need_inputs(t->s, t->side, c.line[i].node, t->err);
    size_t index = closeup_index_here(t->s, &c);
    if (ok && closeup_values(t->s, &c))
        for (int i = 0; i < c.count; i++) {
            const CloseupLine *l = &c.line[i];
            static const char *const WHAT[] = {"", "products for ", "sum so far, towards "};
            buf_printf(t->out, "%s%s", WHAT[l->what], node_name(graph_node(c.graph, l->node)));
            if (l->count > 1)
                buf_printf(t->out, ", number %zu of %zu", index + 1, l->count);
            buf_puts(t->out, ": ");
            ask_put_number(t->out, l->value[l->count > 1 ? index : 0]);
            buf_puts(t->out, ".\n");
        }
    closeup_free(&c);
    return ok && tell_arithmetic(t);
}

SCREEN_SPEC(CLOSEUP, .name = "close-up", .about = "the operation that a number comes from, step by step",
            .group = GROUP_ARITHMETIC, .command = "view close-up", .come = come_closeup, .move = move_in_closeup,
            .enter = enter_closeup, .next = next_arithmetic, .play = play_closeup, .tell = tell_closeup);

/* --- a table, and the arithmetic of one of its cells below it --- */

/* Named matrices, made into a graph without a model. */
static bool fits_worked(const Graph *g, NodeId n)
{
    (void)n;
    return !anatomy_count(g);
}

int playing_terms(const Session *s)
{
    enum { MOST = 1000000 };
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE || graph_node(g, n)->op == OP_LEAF)
        return 0;
    Explain e = explain_open(g, n, session_cell(s, SIDE_B, n));
    return e.terms > MOST ? MOST : (int)e.terms;
}

void playing_end(Session *s)
{
    s->look.worked.terms = 0;
    play_stop(s);
}

/* One term more, from the first on; behind the last one all are shown. */
static bool play_worked(Session *s)
{
    int terms = playing_terms(s), shown = s->look.worked.terms;
    s->look.worked.terms = shown <= 0 || shown >= terms ? 1 : shown + 1;
    bool more = s->look.worked.terms < terms;
    if (!more)
        s->look.worked.terms = 0;
    s->changes++;
    return more;
}

static void move_on_worked(Session *s, int dy, int dx)
{
    playing_end(s);
    move_on_plane(s, dy, dx);
}

/* Its terms by size. */
static bool enter_terms(Session *s, Err *err)
{
    return session_go(s, s->place.path, SCREEN_EXPLAIN, err);
}

/* A table and the arithmetic of one of its cells. */
static bool tell_worked(const Teller *t)
{
    return tell_tensor(t) && tell_arithmetic(t);
}

static bool terms_there(Session *s, int value, Err *err)
{
    (void)s;
    return value >= 0 || err_set(err, "the first so many terms; 0 shows all");
}

static const LookOption WORKED_OPTIONS[] = {
    {.name = "terms", .kind = OPTION_NUMBER, .at = LOOK(worked.terms), .there = terms_there}, {.name = NULL}};

SCREEN_SPEC(WORKED, .name = "worked", .about = "a tensor as a table, and the arithmetic of one of its cells below it",
            .command = "view worked", .come = come_here, .fits = fits_worked, .move = move_on_worked,
            .enter = enter_terms, .next = enter_tensor, .play = play_worked, .tell = tell_worked,
            .options = WORKED_OPTIONS);
