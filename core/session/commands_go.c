/* Commands that move the reader: the data cursor, steps, blocks, heads, into things and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/verbs.h"
#include "core/session/place.h"
#include "core/session/screens.h"

static bool step_by(Session *s, int by)
{
    int box = s->place.box;
    for (int i = 0; i < (by < 0 ? -by : by); i++) {
        int to = by > 0 ? stages_after(&s->stages, s->open, box) : stages_before(&s->stages, s->open, box);
        if (to == NO_BOX)
            break;
        box = to;
    }
    if (box == s->place.box && session_screen_for(s, s->place.path) == s->place.screen) {
        session_say(s, by > 0 ? "This is the last step: the answer." : "This is the first step: here it begins.");
        return true;
    }
    place_on_box(s, box);
    return true;
}

static bool run_steps(Session *s, const Args *a, Err *err)
{
    int n = 1;
    s->sought.on = false;
    bool relative, back = strcmp(a->command->name, "prev") == 0;
    if (a->count && (!args_number(a->word[0], &n, &relative) || n < 1))
        return err_set(err, "column %d: expected a number of steps, found '%s'", a->column[0], a->word[0]);
    return step_by(s, back ? -n : n);
}

/* Of an answer whose token is named and whose class is not: onto that token's answer. */
static void set_cells(Session *s, const Selection *cells)
{
    const Graph *g = session_base(s);
    bool named = cells->n == 0;
    for (int i = 0; i < cells->n; i++) {
        named |= g->axes[cells->range[i].axis].role == ROLE_ANSWER;
        s->place.at[cells->range[i].axis] = cells->range[i].from;
        session_sync(s, cells->range[i].axis);
    }
    if (named && cells->n)
        s->place.due = 0;
    else if (!named && place_at_answer(s))
        place_on_answer(s);
}

static bool go_step(Session *s, int step, Err *err)
{
    int box = stages_step(&s->stages, step);
    if (box == NO_BOX)
        return err_set(err, "there is no step %d: steps go from 1 to %d", step, s->stages.steps);
    place_on_box(s, box);
    return true;
}

static bool run_goto(Session *s, const Args *a, Err *err)
{
    int n;
    bool relative;
    char example[SESSION_PATH];
    if (a->count < 1)
        return err_set(err, "expected an address such as %s, a step number, first or last",
                       edit_example(session_base(s), SITE_PATTERN, ROLE_HEAD, example, sizeof example));
    const char *w = a->word[0];
    if (strcmp(w, "first") == 0)
        return go_step(s, 1, err);
    if (strcmp(w, "last") == 0)
        return go_step(s, s->stages.steps, err);
    if (strcmp(w, "step") == 0 && a->count > 1)
        w = a->word[1];
    if (args_number(w, &n, &relative) && !relative)
        return go_step(s, n, err);
    Address to;
    int row = session_node(s, SIDE_B, w) == NO_NODE ? stages_find(&s->stages, w) : NO_BOX;
    if (row != NO_BOX) { /* as completion names it: "patches", "blocks.0.softmax" */
        place_push(s);
        place_on_box(s, row);
        return true;
    }
    if (a->count > 1 && w == a->word[0]) { /* "raw scores": as the map calls it */
        char name[SESSION_PATH] = "";
        for (int i = 0; i < a->count; i++)
            utf8_print(name + strlen(name), sizeof name - strlen(name), "%s%s", i ? " " : "", a->word[i]);
        return find_named(s, name, false, err);
    }
    Err none;
    if (session_node(s, SIDE_B, w) == NO_NODE && find_named(s, w, true, &none))
        return true;
    if (!address_word(s, session_graph(s, SIDE_B), w, a->column[w == a->word[0] ? 0 : 1], &to, err))
        return find_named(s, w, false, &none);
    if (!to.is_node) { /* a scope: its box, else its first node */
        int box = stages_find(&s->stages, to.path);
        if (box == NO_BOX)
            return err_set(err, "'%s' is a group of nodes: name one of them", to.path);
        place_push(s);
        place_on_box(s, box);
        return true;
    }
    Screen screen = session_screen_for(s, to.path);
    if (!session_go(s, to.path, screen, err))
        return false;
    set_cells(s, &to.cells);
    return true;
}

static bool axis_change(Session *s, AxisRole role, const Args *a, const char *what, Err *err)
{
    const Graph *g = session_base(s);
    int axis = session_role(s, role), value;
    bool relative;
    if (axis == AXIS_NONE)
        return err_set(err, "this model has no %s", what);
    if (a->count < 1)
        return err_set(err, "expected a %s, 0 to %d", what, g->axes[axis].n - 1);
    if (args_number(a->word[0], &value, &relative) && relative)
        value = clamp(s->place.at[axis] + value, 0, g->axes[axis].n - 1);
    else if (!axis_parse(&g->axes[axis], a->word[0], &value)) {
        char low[32], high[32];
        int last = g->axes[axis].n - 1;
        axis_label(&g->axes[axis], 0, low, sizeof low);
        axis_label(&g->axes[axis], last, high, sizeof high);
        if (strcmp(low, "0") == 0)
            return err_set(err, "column %d: there is no %s '%.24s': %ss go from 0 to %d", a->column[0], what,
                           a->word[0], what, last);
        return err_set(err, "column %d: there is no %s '%.24s': %ss go from '%s' to '%s', or 0 to %d", a->column[0],
                       what, a->word[0], what, low, high, last);
    }
    session_set_index(s, axis, value);
    session_sync(s, axis);
    return true;
}

static bool run_block(Session *s, const Args *a, Err *err)
{
    int block = session_block(s), value, last = session_blocks(s) - 1;
    bool relative;
    char path[SESSION_PATH];
    const Graph *g = session_graph(s, SIDE_B);
    if (a->count < 1 || !args_number(a->word[0], &value, &relative))
        return err_set(err, "expected a block, 0 to %d, or +1 / -1", last);
    if (!relative && (value < 0 || value > last))
        return err_set(err, "column %d: there is no block %d: blocks go from 0 to %d", a->column[0], value, last);
    if (block < 0) { /* outside the blocks: into the first or last one's attention */
        block = relative && value < 0 ? last : relative ? 0 : value;
        const char *pattern = session_attention_site(s, g, block, SITE_PATTERN);
        if (!pattern || graph_find(g, pattern) == NO_NODE)
            return err_set(err, "this model has no attention to go to");
        return session_go(s, pattern, session_screen_for(s, pattern), err);
    }
    value = relative ? clamp(block + value, 0, last) : value;
    session_in_block(g, s->place.path, value, path);
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return err_set(err, "block %d has no '%s'", value, path);
    place_carry(s, path);
    return true;
}

/* By its scope, or the number that stands before or behind. */
static int attention_word(const Graph *g, const char *word, int here)
{
    int value, n = anatomy_attentions(g);
    bool relative;
    for (int i = 0; i < n; i++)
        if (strcmp(anatomy_part(g, anatomy_attention(g, i))->scope, word) == 0)
            return i;
    if (!args_number(word, &value, &relative))
        return -1;
    return relative ? clamp(here + value, 0, n - 1) : value < n ? value : -1;
}

static bool run_attention(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    int here = anatomy_attention_number(g, session_attention(s, g, -1)), n = anatomy_attentions(g);
    if (!n)
        return err_set(err, "this model has no attention to go to");
    int to = a->count == 1 ? attention_word(g, a->word[0], here) : -1;
    if (to < 0)
        return err_set(err, "column %d: expected an attention such as %s, its number, 0 to %d, or +1 / -1",
                       a->count ? a->column[a->count > 1] : 1, anatomy_part(g, anatomy_attention(g, 0))->scope, n - 1);
    return session_to_attention(s, to) || err_set(err, "this attention has no pattern to go to");
}

static void complete_attention(const Session *s, int index, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    for (int i = 0; index == 0 && i < anatomy_attentions(g); i++)
        buf_printf(out, "%s\n", anatomy_part(g, anatomy_attention(g, i))->scope);
}

static bool run_head(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "all") == 0) {
        s->look.average = true;
        return true;
    }
    s->look.average = false;
    if (screen_now(s)->average && !screen_now(s)->average(s, false, err))
        return false;
    return axis_change(s, ROLE_HEAD, a, "head", err);
}

/* "query largest", "looked largest" */
static bool to_largest(Session *s, bool any_row, Err *err)
{
    float value;
    int seen = 1;
    if (!place_on_largest(s, any_row, &value, &seen))
        return err_set(err, "only a row of attention has a largest weight; `block 0` goes to one");
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int head = node_role(g, n, ROLE_HEAD), query = node_role(g, n, ROLE_QUERY), key = node_role(g, n, ROLE_KEY);
    char whose[24] = "The", from[32], to[32];
    if (head != AXIS_NONE)
        snprintf(whose, sizeof whose, "Head %d's", s->place.at[head]);
    axis_label(&g->axes[query], s->place.at[query], from, sizeof from);
    axis_label(&g->axes[key], s->place.at[key], to, sizeof to);
    if (any_row && site_is(g, s->place.path, SITE_PATTERN))
        session_say(s, "%s row furthest above uniform: %s gives %s %.1f %%, %.1f times 1/%d.", whose, from,
                    strcmp(from, to) == 0 ? "itself" : to, 100 * (double)value, (double)value * seen, seen);
    return true;
}

/* Unless that is what a token is called. */
static bool asks_largest(const Session *s, AxisRole role, const Args *a)
{
    int axis = session_role(s, role), value;
    return a->count && strcmp(a->word[0], "largest") == 0 &&
           (axis == AXIS_NONE || !axis_parse(&session_base(s)->axes[axis], a->word[0], &value));
}

static bool run_query(Session *s, const Args *a, Err *err)
{
    if (asks_largest(s, ROLE_QUERY, a))
        return to_largest(s, true, err);
    return axis_change(s, ROLE_QUERY, a, "token", err);
}

static bool run_looked(Session *s, const Args *a, Err *err)
{
    if (asks_largest(s, ROLE_KEY, a))
        return to_largest(s, false, err);
    return axis_change(s, ROLE_KEY, a, "token", err);
}

static bool run_move(Session *s, const Args *a, Err *err)
{
    static const struct {
        const char *word;
        int dy, dx;
    } DIRECTIONS[] = {{"up", -1, 0},        {"down", 1, 0},     {"left", 0, -1},     {"right", 0, 1},
                      {"home", 0, -100000}, {"end", 0, 100000}, {"top", -100000, 0}, {"bottom", 100000, 0}};
    int times = 1;
    bool relative;
    if (a->count > 1 && (!args_number(a->word[1], &times, &relative) || times < 0))
        return err_set(err, "column %d: expected how often, found '%s'", a->column[1], a->word[1]);
    for (size_t i = 0; a->count && i < sizeof DIRECTIONS / sizeof *DIRECTIONS; i++)
        if (strcmp(a->word[0], DIRECTIONS[i].word) == 0) {
            int dy = clamp(DIRECTIONS[i].dy * times, -100000, 100000),
                dx = clamp(DIRECTIONS[i].dx * times, -100000, 100000);
            if (s->look.steps_focused)
                return dy ? step_by(s, dy) : true;
            screen_now(s)->move(s, dy, dx);
            return true;
        }
    return err_set(err, "expected up, down, left, right, home, end, top or bottom, and perhaps how often");
}

/* Who stood in what closes stands on it. */
static bool set_box(Session *s, int box, bool open)
{
    bool inside = false;
    for (int up = s->stages.boxes[s->place.box].parent; up != NO_BOX && !open; up = s->stages.boxes[up].parent)
        inside = inside || up == box;
    s->open[box] = open;
    if (inside)
        place_on_box(s, box);
    return true;
}

static bool run_in(Session *s, const Args *a, Err *err)
{
    (void)a;
    const Box *b = &s->stages.boxes[s->place.box];
    bool closed = b->child != NO_BOX && !s->open[s->place.box];
    bool is_block = stages_is_block(&s->stages, s->place.box);
    if (s->look.steps_focused) {
        if (b->child == NO_BOX)
            s->look.steps_focused = false; /* a step: into its tensor */
        else
            set_box(s, s->place.box, closed);
        return true;
    }
    if (closed && is_block && s->place.screen == SCREEN_TENSOR)
        return set_box(s, s->place.box, true);
    return screen_now(s)->enter(s, err);
}

static bool run_back(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    if (place_back(s))
        return true;
    session_say(s, "There is no earlier place. q twice leaves.");
    return true;
}

static bool run_forward(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    if (!place_forward(s))
        session_say(s, "There is no place to go forward to: `back` came from none.");
    return true;
}

static bool run_box(Session *s, const Args *a, Err *err)
{
    int box = s->place.box;
    if (a->count > 1) {
        box = stages_find(&s->stages, a->word[1]);
        if (box == NO_BOX)
            return err_set(err, "column %d: there is no box '%s'; a box is for example %s", a->column[1], a->word[1],
                           s->stages.boxes[s->place.box].path);
    }
    if (a->count < 1 || (strcmp(a->word[0], "open") != 0 && strcmp(a->word[0], "close") != 0))
        return err_set(err, "expected open or close, and perhaps which box");
    if (s->stages.boxes[box].child == NO_BOX) {
        if (strcmp(a->word[0], "close") == 0 && s->stages.boxes[box].parent != NO_BOX)
            box = s->stages.boxes[box].parent; /* the box around it */
        else
            return err_set(err, "that step has nothing inside it");
    }
    return set_box(s, box, strcmp(a->word[0], "open") == 0);
}

static bool run_map(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->look.steps_focused = !s->look.steps_focused;
    s->look.zoomed = false;
    return true;
}

static bool run_mark(Session *s, const Args *a, Err *err)
{
    const char *name = a->count ? a->word[0] : "here";
    int i = 0;
    while (i < s->mark_count && strcmp(s->marks[i].name, name) != 0)
        i++;
    if (a->count > 1 && strcmp(a->word[1], "go") == 0) {
        if (i == s->mark_count)
            return err_set(err, "column %d: there is no mark '%s'", a->column[0], name);
        const int text = s->place.text; /* a mark leads to a place, whatever is read there */
        place_push(s);
        s->place = s->marks[i].place;
        s->place.text = text;
        place_mend(s);
        return true;
    }
    if (strlen(name) >= sizeof s->marks[0].name)
        return err_set(err, "column %d: the name of a mark has at most %zu characters", a->column[0],
                       sizeof s->marks[0].name - 1);
    if (i == (int)(sizeof s->marks / sizeof *s->marks))
        return err_set(err, "there is room for %d marks", i);
    if (i == s->mark_count)
        s->mark_count++;
    snprintf(s->marks[i].name, sizeof s->marks[i].name, "%s", name);
    s->marks[i].place = s->place;
    session_say(s, "Marked. `mark %s go` comes back here.", s->marks[i].name);
    return true;
}

static void complete_role(const Session *s, AxisRole role, int index, Buf *out)
{
    int axis = session_role(s, role);
    char label[64];
    for (int i = 0; index == 0 && axis != AXIS_NONE && i < session_base(s)->axes[axis].n; i++)
        buf_printf(out, "%s\n", axis_label(&session_base(s)->axes[axis], i, label, sizeof label));
}

static void complete_head(const Session *s, int index, Buf *out)
{
    complete_role(s, ROLE_HEAD, index, out);
}

static void complete_query(const Session *s, int index, Buf *out)
{
    complete_role(s, ROLE_QUERY, index, out);
}

static void complete_key(const Session *s, int index, Buf *out)
{
    complete_role(s, ROLE_KEY, index, out);
}

static void complete_block(const Session *s, int index, Buf *out)
{
    for (int i = 0; index == 0 && i < session_blocks(s); i++)
        buf_printf(out, "%d\n", i);
}

static void complete_mark(const Session *s, int index, Buf *out)
{
    for (int i = 0; index == 0 && i < s->mark_count; i++)
        buf_printf(out, "%s\n", s->marks[i].name);
}

static const Command COMMANDS[] = {
    COMMAND("next", "go", "next [N]", "go to the next step of the forward pass", COMMAND_SESSION, run_steps, NULL),
    COMMAND("prev", "go", "prev [N]", "go to the step before", COMMAND_SESSION, run_steps, NULL),
    COMMAND("goto", "go", "goto ADDRESS, NAME, step N, first, last",
            "go to a node, cell, box or step; NAME: as the map calls it, or an answer", COMMAND_SESSION, run_goto,
            NULL),
    COMMAND("step", "go", "step N", "go to step N", COMMAND_SESSION, run_goto, NULL),
    COMMAND("block", "go", "block N, +1, -1", "show the same in another block", COMMAND_SESSION, run_block,
            complete_block),
    COMMAND("attention", "go", "attention NAME, N, +1, -1", "show the same in another attention", COMMAND_SESSION,
            run_attention, complete_attention),
    COMMAND("head", "go", "head N, +1, -1, all", "show another head; all: the mean of all heads", COMMAND_SESSION,
            run_head, complete_head),
    COMMAND("query", "go", "query TOKEN, +1, -1, largest",
            "choose the query: the token that asks; largest: the head's row furthest above uniform", COMMAND_SESSION,
            run_query, complete_query),
    COMMAND("looked", "go", "looked TOKEN, +1, -1, largest",
            "choose the key: the token looked at; largest: the row's largest weight", COMMAND_SESSION, run_looked,
            complete_key),
    COMMAND("move", "go", "move up, down, left, right, home, end, top, bottom [N]", "move the cursor", COMMAND_SESSION,
            run_move, NULL),
    COMMAND("in", "go", "in", "open what is under the cursor: box, tensor, head, row, arithmetic, operand",
            COMMAND_EDIT | COMMAND_READ, run_in, NULL),
    COMMAND("back", "go", "back", "return to the place before", COMMAND_SESSION, run_back, NULL),
    COMMAND("forward", "go", "forward", "to where `back` came from", COMMAND_SESSION, run_forward, NULL),
    COMMAND("box", "go", "box open, close [BOX]", "open or close a box of the map", COMMAND_SESSION, run_box, NULL),
    COMMAND("map", "go", "map", "show the map of all steps alone, and go back", COMMAND_SESSION, run_map, NULL),
    COMMAND("find", "go", "find TEXT, value>X, value<X, next, prev",
            "go to a step, node or answer by name, or to the next such value; next, prev: the same once more",
            COMMAND_SESSION, find_command, find_complete),
    COMMAND("mark", "go", "mark [NAME] [go]", "remember this place under a name, or go there", COMMAND_SESSION,
            run_mark, complete_mark),
};

CommandTable session_commands_go(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
