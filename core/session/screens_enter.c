/* How one comes to a screen, goes further into what it shows, and looks at the same in another way. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/closeup.h"
#include "core/session/ask/ledgers.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/where.h"
#include "core/session/learned/word_film.h"
#include "core/session/place.h"
#include "core/session/screens.h"

static const char NO_POSITIONS[] = "this model has no table of position embeddings";

static bool show(Session *s, Screen screen, Err *err)
{
    return s->place.screen == screen || session_go(s, s->place.path, screen, err);
}

/* --- coming --- */

bool come_here(Session *s, Screen to, Err *err)
{
    return show(s, to, err);
}

/* Where a node of attention is shown by itself: as a row over the picture, or between words. */
static bool attention_in_focus(const Session *s, Screen *screen)
{
    *screen = session_screen_for(s, s->place.path);
    return *screen == SCREEN_ROW || *screen == SCREEN_SENTENCE;
}

bool come_picture(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (session_screen_for(s, s->place.path) == SCREEN_ROW)
        return show(s, SCREEN_ROW, err);
    const char *image = site_path_any(g, SITE_IMAGE);
    if (!image)
        return err_set(err, "this model looks at no picture; `goto first` shows the words that it reads");
    return session_go(s, image, to, err);
}

/* Attention screens need a node with rows and columns of tokens: the focused block's pattern, if the focus is something
 * else. */
bool come_attention(Session *s, Screen to, Err *err)
{
    Screen own;
    if (attention_in_focus(s, &own))
        return show(s, to, err);
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = site_path(g, session_attention(s, g, -1), SITE_PATTERN);
    if (!path || graph_find(g, path) == NO_NODE)
        return err_set(err, "this model has no attention here");
    return session_go(s, path, to, err);
}

bool come_sentence(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE) == AXIS_NONE &&
        graph_role(g, ROLE_QUERY, SEQUENCE_TARGET) == AXIS_NONE)
        return err_set(err, "this model reads no words: `view row` lays attention over the picture");
    return come_attention(s, to, err);
}

bool come_waves(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_WAVE_LENGTH) == NO_NODE)
        return err_set(err, "this model's positions are no sinusoids%s",
                       site_node_any(g, SITE_POSITIONS) == NO_NODE ? "" : ": `view positions` shows what it learned");
    if (!site_is(g, s->place.path, SITE_POSITIONS))
        return session_go(s, site_path_any(g, SITE_POSITIONS), to, err);
    return show(s, to, err);
}

bool come_writing(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_PROBS);
    if (n == NO_NODE || node_role(g, n, ROLE_QUERY) == AXIS_NONE)
        return err_set(err, "this model writes no words: `view answer` shows its classes");
    return session_go(s, site_path_any(g, SITE_PROBS), to, err);
}

bool come_positions(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_WAVE_LENGTH) != NO_NODE)
        return come_waves(s, SCREEN_WAVES, err);
    if (site_node_any(g, SITE_POSITIONS) == NO_NODE)
        return err_set(err, NO_POSITIONS);
    return session_go(s, site_path_any(g, SITE_POSITIONS), to, err);
}

bool come_answer(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Err cancelled;
    if (site_node_any(g, SITE_PROBS) == NO_NODE)
        return err_set(err, "this model has no classes");
    const char *probs = site_path_any(g, SITE_PROBS);
    session_need(s, SIDE_B, probs, &cancelled); /* the cursor goes to the answer; cancelled, it stays where it was */
    return session_go(s, probs, to, err);
}

/* The focused number's own, else that of the focused block's pattern. */
bool come_closeup(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = site_path(g, session_attention(s, g, -1), SITE_PATTERN);
    if (closeup_there(s))
        return show(s, to, err);
    if (!path || graph_find(g, path) == NO_NODE)
        return err_set(err, "this number is not summed up from others: view formula shows what it is made of");
    return session_go(s, path, to, err);
}

/* --- into what the cursor is on --- */

bool enter_tensor(Session *s, Err *err)
{
    return come_here(s, SCREEN_TENSOR, err);
}

/* Of sums a close-up, of all else the formula. */
bool enter_arithmetic(Session *s, Err *err)
{
    return session_go(s, s->place.path, closeup_there(s) ? SCREEN_CLOSEUP : SCREEN_EXPLAIN, err);
}

/* Its terms by size. */
bool enter_terms(Session *s, Err *err)
{
    return session_go(s, s->place.path, SCREEN_EXPLAIN, err);
}

bool enter_sheet(Session *s, Err *err)
{
    return come_here(s, SCREEN_SHEET, err);
}

bool enter_matrix(Session *s, Err *err)
{
    return come_here(s, SCREEN_MATRIX, err);
}

bool enter_row(Session *s, Err *err)
{
    Screen own;
    return come_here(s, attention_in_focus(s, &own) ? own : SCREEN_ROW, err);
}

/* Into the residual: what the rotation misses of this number, so many places on. */
bool enter_wave(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_of(g, s->place.path);
    const char *path = site_path(g, part, SITE_WAVE_CARRIED);
    NodeId n = path ? graph_find(g, path) : NO_NODE;
    if (n == NO_NODE)
        return err_set(err, "this model has no sinusoids here");
    Dims d = graph_node(g, n)->dims; /* carried[place, places onward, pair, sine or cosine] */
    int width = graph_role(g, ROLE_WIDTH, SEQUENCE_ANY);
    s->place.at[d.axis[1]] = s->look.waves.onward < g->axes[d.axis[1]].n ? s->look.waves.onward
                                                                         : g->axes[d.axis[1]].n - 1;
    s->place.at[d.axis[2]] = s->place.at[width] / 2;
    s->place.at[d.axis[3]] = s->place.at[width] % 2;
    return session_go(s, path, SCREEN_EXPLAIN, err);
}

bool enter_answer(Session *s, Err *err)
{
    return come_answer(s, SCREEN_ANSWER, err);
}

/* The first pixel of the patch, in its first colour. */
bool enter_pixels(Session *s, Err *err)
{
    static const AxisRole ROLES[] = {ROLE_CHANNEL, ROLE_PIXEL_ROW, ROLE_PIXEL_COL};
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES; i++) {
        int axis = session_role(s, ROLES[i]);
        if (axis != AXIS_NONE)
            s->place.at[axis] = 0;
    }
    return session_go(s, s->place.path, SCREEN_TENSOR, err);
}

/* The head's own pattern. */
bool enter_pattern(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = site_path(g, session_attention(s, g, -1), SITE_PATTERN);
    if (!path || graph_find(g, path) == NO_NODE)
        return err_set(err, "this model has no attention here");
    s->look.average = false;
    return session_go(s, path, session_screen_for(s, path), err);
}

/* The same map, of the model as it is now. */
bool enter_positions(Session *s, Err *err)
{
    if (session_text_model(s))
        return enter_pattern(s, err);
    return come_positions(s, SCREEN_POSITIONS, err);
}

bool enter_cosine(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Site site = s->look.positions.centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE;
    if (s->look.positions.fitted && site_node_any(g, SITE_FIT_BICUBIC) != NO_NODE)
        site = SITE_FIT_BICUBIC;
    if (site_node_any(g, site) == NO_NODE)
        return err_set(err, NO_POSITIONS);
    return session_go(s, site_path_any(g, site), SCREEN_EXPLAIN, err);
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
bool enter_operand(Session *s, Err *err)
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

/* Into the number that the cursor of the close-up is on. */
bool enter_closeup(Session *s, Err *err)
{
    Closeup c;
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE || !closeup_open(s, side, n, session_cell(s, side, n), &c))
        return enter_operand(s, err);
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

/* One line or a few terms more; what it works on is under the cursor. From the whole it begins anew. */
bool play_closeup(Session *s)
{
    Closeup c;
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE || !closeup_open(s, side, n, session_cell(s, side, n), &c))
        return false;
    size_t steps = closeup_steps(&c), step = s->place.term >= steps ? 0 : s->place.term + 1;
    int line = closeup_line_of(&c, step);
    s->place.term = step == steps ? 0 : step;
    if (line >= 0) {
        s->place.operand = line;
        size_t shown = closeup_shown(&c, step, line);
        Err past;
        if (!c.line[line].cell && shown) /* the term that was just added, where B has it too */
            session_point(s, side, c.along, shown - 1, s->place.at, &past);
    }
    bool more = s->place.term > 0;
    closeup_free(&c);
    s->changes++;
    return more;
}

/* --- the same in another way --- */

/* The close-up in the order of computing, or the terms by size; the place stays. */
bool next_arithmetic(Session *s, Err *err)
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

/* After the last way of drawing a tensor that is attention comes the sheet of all heads; of one that stands beside
 * others, all of them. */
bool next_drawing(Session *s, Err *err)
{
    s->look.view = (View)((s->look.view + 1) % VIEW_COUNT);
    Screen own;
    if (s->look.view != VIEW_HEAT)
        return true;
    if (attention_in_focus(s, &own))
        return show(s, SCREEN_SHEET, err);
    return own != SCREEN_BESIDE || show(s, own, err);
}

bool positions_fitted_there(const Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (site_node_any(g, SITE_FIT_OLD) != NO_NODE)
        return true;
    if (site_node_any(g, SITE_POSITIONS) == NO_NODE)
        return err_set(err, "%s", NO_POSITIONS);
    if (site_node_any(g, SITE_SCORES_BIASED) != NO_NODE)
        return err_set(err, "this position table is used on the grid that it was made for, as the model's relative "
                            "positions are: neither is fitted to another");
    return err_set(err,
                   "this position table is used on the grid that it was made for: start with --resolution, such as "
                   "--resolution 72, to see it fitted to another");
}

/* Raw, centred; then the same of all positions at once; then the table fitted to another grid, where it is. */
bool next_positions(Session *s, Err *err)
{
    Err none;
    bool last = s->look.positions.centred && s->look.positions.grids;
    (void)err;
    if (s->look.positions.fitted || (last && positions_fitted_there(s, &none))) {
        s->look.positions.fitted = !s->look.positions.fitted;
        if (s->look.positions.fitted)
            return true;
    }
    if (s->look.positions.centred)
        s->look.positions.grids = !s->look.positions.grids;
    s->look.positions.centred = !s->look.positions.centred;
    return true;
}

/* Raw, centred; then the same of the twin where there is one. Of a text model the next head. */
bool next_film(Session *s, Err *err)
{
    WordFilm film;
    (void)err;
    if (session_word_film(s, &film)) { /* of text: the heads one after the other */
        session_set_index(s, session_role(s, ROLE_HEAD), (film.head + 1) % film.history->text.heads);
        return true;
    }
    if (s->look.positions.centred && session_history_twin(s))
        s->look.training.twin = !s->look.training.twin;
    s->look.positions.centred = !s->look.positions.centred;
    return true;
}

bool next_tiles(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    Site site = s->look.filters.components ? SITE_FILTERS : SITE_COMPONENTS;
    (void)err;
    if (site_node_any(g, site) == NO_NODE)
        return true;
    s->look.filters.components = !s->look.filters.components;
    snprintf(s->place.path, sizeof s->place.path, "%s", site_path_any(g, site));
    return true;
}

bool next_where(Session *s, Err *err)
{
    return where_go(s, (WhereMethod)((s->look.where.method + 1) % WHERE_METHODS), err);
}

/* The class token's map has the mean as its first form. */
bool average_where(Session *s, bool on, Err *err)
{
    s->look.where.one_head = !on;
    return where_go(s, WHERE_ATTENTION, err);
}

/* The sum over tokens that the entry in focus is. */
bool enter_ledger(Session *s, Err *err)
{
    const LedgerEntry *e = ledger_heads_here(s, SIDE_B);
    if (!e)
        return err_set(err, "no head of this block wrote into that number");
    return session_go(s, graph_node(session_graph(s, SIDE_B), e->heads)->path, SCREEN_EXPLAIN, err);
}

bool next_ledger(Session *s, Err *err)
{
    (void)err;
    s->look.ledger.one_head = !s->look.ledger.one_head;
    return true;
}

/* One head, all of them, their sum; then the matrix, from which one comes back. */
bool next_sentence(Session *s, Err *err)
{
    s->look.sentence.heads = (s->look.sentence.heads + 1) % SENTENCE_HEADS;
    return s->look.sentence.heads != SENTENCE_ONE || show(s, SCREEN_MATRIX, err);
}
