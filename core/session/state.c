#include "core/session/state.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/ask/ledgers.h"
#include "core/session/input.h"
#include "core/session/learned/gradient.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/state_parts.h"

static const char *const COMPARE_WORDS[COMPARE_COUNT] = {"off", "sides", "a", "b", "diff"};

static void put_quoted(Buf *out, const char *verb, const char *text)
{
    buf_printf(out, "%s ", verb);
    command_quote(text, out);
    buf_putc(out, '\n');
}

/* The lines of the edits, each with its line end; appended. */
static void put_edits(const EditState *e, Buf *out)
{
    for (int i = 0; i < e->count; i++)
        buf_printf(out, "%s\n", e->line[i]);
}

StateShot *state_shot(const Session *s)
{
    StateShot *t = xcalloc(1, sizeof *t);
    Buf address = {0}, rest = {0};
    put_quoted(&t->model, "model", *s->model_path ? s->model_path : "bundled");
    put_quoted(&t->input, "open", session_input(s, SIDE_B)->path);
    t->edits = edit_state_copy(&s->edits);
    if (session_pinned(s)) {
        put_quoted(&t->pinned, "open", session_input(s, SIDE_A)->path);
        put_edits(&s->pinned->lines, &t->pinned);
    }
    gradient_text(s, &rest);
    buf_printf(&t->gradient, "gradient %s\n", rest.len ? buf_str(&rest) : "off");
    ledger_put_command(s, &t->ledger);
    t->compares = session_compares(s);
    t->compare = s->compare;
    t->look = s->look;
    for (int i = 0; i < s->stages.count; i++)
        if (s->stages.boxes[i].child != NO_BOX)
            buf_printf(&t->boxes, "box %s %s\n", s->open[i] ? "open" : "close", s->stages.boxes[i].path);
    buf_clear(&rest);
    state_put_place(s, &address, &rest);
    buf_printf(&t->place, "place %s%s\n", buf_str(&address), buf_str(&rest));
    buf_free(&address);
    buf_free(&rest);
    return t;
}

void state_shot_free(StateShot *t)
{
    Buf *const bufs[] = {&t->model, &t->input, &t->pinned, &t->gradient, &t->ledger, &t->place, &t->boxes};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        buf_free(bufs[i]);
    edit_state_free(&t->edits);
    free(t);
}

bool state_same(const Buf *a, const Buf *b)
{
    return a->len == b->len && strcmp(buf_str(a), buf_str(b)) == 0;
}

/* --- writing --- */

/* A and then B: pictures and edits. */
static void put_pictures(const Session *s, const StateShot *t, unsigned what, Buf *out)
{
    bool pinned = session_pinned(s),
         other = pinned && strcmp(session_input(s, SIDE_A)->path, session_input(s, SIDE_B)->path) != 0;
    if (pinned && (other || (what & STATE_INPUT)))
        put_quoted(out, "open", session_input(s, SIDE_A)->path);
    if (pinned) {
        put_edits(&s->pinned->lines, out);
        buf_puts(out, s->pinned->lines.count ? "pin\nreset edits\n" : "pin\n");
    }
    if (other || (!pinned && (what & STATE_INPUT)))
        buf_add(out, t->input.data, t->input.len);
    put_edits(&t->edits, out);
}

/* Is that the block around the place, which opens itself? */
static bool opens_itself(const Session *s, int box)
{
    int up = s->stages.boxes[s->place.box].parent;
    while (up != NO_BOX && up != box)
        up = s->stages.boxes[up].parent;
    return up == box && stages_is_block(&s->stages, box);
}

/* Boxes that are not as they are at the start; whole: all. */
static void put_boxes(const Session *s, bool whole, Buf *out)
{
    const int opens = session_opens(s);
    for (int i = 0; i < s->stages.count; i++)
        if (s->stages.boxes[i].child != NO_BOX && (whole || (s->open[i] != (i == opens) && !opens_itself(s, i))))
            buf_printf(out, "box %s %s\n", s->open[i] ? "open" : "close", s->stages.boxes[i].path);
}

/* All of shot t but its place, which is that of s; what: STATE_…; appended. */
static void put(const Session *s, const StateShot *t, unsigned what, Buf *out)
{
    LookAt start = look_start();
    bool whole = what & STATE_WHOLE;
    if (what & STATE_MODEL)
        buf_add(out, t->model.data, t->model.len);
    if (whole)
        buf_puts(out, "pin off\nreset edits\n");
    put_pictures(s, t, what, out);
    if (whole || *s->target.path)
        buf_add(out, t->gradient.data, t->gradient.len);
    if (whole || s->place.screen == SCREEN_LEDGER || ledger_is_path(s->place.path))
        buf_add(out, t->ledger.data, t->ledger.len);
    if (t->compares && (whole || session_pinned(s) || t->compare != COMPARE_SIDES))
        buf_printf(out, "compare %s\n", COMPARE_WORDS[t->compare]);
    look_write(whole ? NULL : &start, &t->look, out);
    put_boxes(s, whole, out);
}

void session_write(const Session *s, unsigned what, Buf *out)
{
    StateShot *t = state_shot(s);
    put(s, t, what & ~(unsigned)STATE_TRAIL, out);
    if (what & STATE_TRAIL)
        state_put_trail(s, out);
    else
        buf_add(out, t->place.data, t->place.len);
    state_shot_free(t);
}

void session_write_link(const Session *s, Buf *address, Buf *rest)
{
    StateShot *t = state_shot(s);
    Buf lines = {0}, more = {0};
    state_put_place(s, address, &more);
    put(s, t, 0, &lines);
    if (session_has_trail(s))
        state_put_trail(s, &lines);
    else if (more.len)
        buf_add(&lines, t->place.data, t->place.len);
    for (size_t i = 0; i + 1 < lines.len; i++)
        if (lines.data[i] == '\n')
            buf_puts(rest, "; ");
        else
            buf_putc(rest, lines.data[i]);
    buf_free(&lines);
    buf_free(&more);
    state_shot_free(t);
}

void session_write_words(const Session *s, Buf *place, Buf *lines)
{
    StateShot *t = state_shot(s);
    Buf address = {0};
    state_put_place(s, &address, place);
    put(s, t, 0, lines);
    buf_free(&address);
    state_shot_free(t);
}

static const Command COMMANDS[] = {
    COMMAND("place", "go", "place ADDRESS [screen=NAME] [at=AXIS:N,…] [term=N] [operand=N] [box=BOX] [after=last]",
            "to exactly this place: what a link or a replay goes by; after=last: down from the one before",
            COMMAND_SESSION, state_place_command, NULL),
    COMMAND("option", "look", "option NAME VALUE", "one way of seeing, by its name", COMMAND_SESSION,
            look_option_command, look_option_complete),
};

CommandTable session_commands_state(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}

/* From one state to another: the lines that lead there. */

bool state_edits_between(const EditState *from, const EditState *to, Buf *out)
{
    int same_lines = 0;
    while (same_lines < from->count && same_lines < to->count &&
           strcmp(from->line[same_lines], to->line[same_lines]) == 0)
        same_lines++;
    if (!same_lines && from->count)
        buf_puts(out, "reset edits\n");
    else
        for (int i = from->count; i > same_lines; i--)
            buf_printf(out, "edits drop %d\n", i);
    for (int i = same_lines; i < to->count; i++)
        buf_printf(out, "%s\n", to->line[i]);
    return same_lines != from->count || same_lines != to->count;
}

/* The lines of b that a lacks and that begin so. */
static void lines_between(const Buf *a, const Buf *b, const char *begin, Buf *out)
{
    const char *old = buf_str(a);
    for (const char *p = buf_str(b); *p;) {
        size_t n = strcspn(p, "\n") + 1;
        bool there = strncmp(p, begin, strlen(begin)) != 0;
        for (const char *q = old; *q && !there; q += strcspn(q, "\n") + 1)
            there = strncmp(p, q, n) == 0;
        if (!there)
            buf_add(out, p, n);
        p += n;
    }
}

/* Is A what was on show? */
static bool pinned_was_shown(const StateShot *from, const StateShot *to)
{
    Buf shown = {0};
    buf_add(&shown, from->input.data, from->input.len);
    put_edits(&from->edits, &shown);
    bool was = state_same(&shown, &to->pinned);
    buf_free(&shown);
    return was;
}

void state_between(const Session *s, const StateShot *from, const StateShot *to, Buf *out)
{
    bool model = !state_same(&from->model, &to->model), pinned = !state_same(&from->pinned, &to->pinned);
    if (model || (pinned && to->pinned.len && !pinned_was_shown(from, to))) {
        put(s, to, STATE_WHOLE | STATE_INPUT | (model ? STATE_MODEL : 0u), out);
        buf_add(out, to->place.data, to->place.len);
        return;
    }
    Buf none = {0};
    bool moved = pinned;
    if (pinned)
        buf_puts(out, to->pinned.len ? "pin\n" : "pin off\n");
    if (!state_same(&from->input, &to->input)) {
        buf_add(out, to->input.data, to->input.len);
        moved = true;
    }
    moved = state_edits_between(&from->edits, &to->edits, out) || moved;
    if (!state_same(&from->gradient, &to->gradient)) {
        buf_add(out, to->gradient.data, to->gradient.len);
        moved = true;
    }
    if (!state_same(&from->ledger, &to->ledger)) {
        buf_add(out, to->ledger.data, to->ledger.len);
        moved = true;
    }
    if (to->compares && (moved || from->compare != to->compare))
        buf_printf(out, "compare %s\n", COMPARE_WORDS[to->compare]);
    look_write(&from->look, &to->look, out);
    bool boxes = moved || !state_same(&from->boxes, &to->boxes);
    if (boxes) /* on the way a box may have gone and come again, closed */
        lines_between(moved ? &none : &from->boxes, &to->boxes, moved ? "box open " : "", out);
    if (moved)
        lines_between(&from->boxes, &to->boxes, "box close ", out);
    buf_free(&none);
    if (moved || boxes || !state_same(&from->place, &to->place)) /* all of that may move a follower */
        buf_add(out, to->place.data, to->place.len);
}

void log_follow(Session *s, void (*fn)(void *context, const char *lines), void *context)
{
    s->log.follow = fn;
    s->log.context = context;
}

void log_hold(Session *s, bool hold)
{
    s->log.held += hold ? 1 : -1;
}

LogMark log_mark(const Session *s)
{
    return s->log.held ? NULL : state_shot(s);
}

void log_changes(Session *s, LogMark *mark, const char *typed, bool ok)
{
    if (!*mark)
        return;
    StateShot *now = state_shot(s);
    Buf lines = {0};
    state_between(s, *mark, now, &lines);
    typed += strspn(typed, " \t");
    if (s->log.follow && (lines.len || (ok && *typed)))
        s->log.follow(s->log.context, buf_str(&lines));
    buf_free(&lines);
    state_shot_free(now);
    state_shot_free(*mark);
    *mark = NULL;
}
