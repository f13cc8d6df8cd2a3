#include "core/session/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/drawn.h"
#include "core/session/address.h"
#include "core/session/ask/ledgers.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/gradient.h"
#include "core/session/learned/measures.h"
#include "core/session/log.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"

struct StateShot {
    Buf model, input, pinned, gradient, ledger,
        place; /* commands, each with its line end; pinned: that of A with its edits */
    Buf boxes; /* "box open PATH\n" or "box close PATH\n" of each */
    EditState edits;
    bool compares;
    Compare compare;
    LookAt look;
};

static const char *const COMPARE_WORDS[COMPARE_COUNT] = {"off", "sides", "a", "b", "diff"};

/* --- the place --- */

/* Where the address of node n with these cells leads a session just opened. */
static Place plain_place(const Session *s, NodeId n, size_t cell)
{
    Session *t = xmalloc(sizeof *t); /* the place alone is changed in it */
    const Graph *g = session_graph(s, SIDE_B);
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    *t = *s;
    session_start_place(t);
    dims_unravel(g->axes, d, cell, index);
    for (int i = 0; i < d.n; i++) {
        t->place.at[d.axis[i]] = index[i];
        session_sync(t, d.axis[i]);
    }
    for (int i = 0; i < d.n; i++) /* two axes of the node may be one to the cursor */
        t->place.at[d.axis[i]] = index[i];
    snprintf(t->place.path, sizeof t->place.path, "%s", graph_node(g, n)->path);
    t->place.screen = session_screen_for(s, t->place.path);
    place_find_box(t);
    Place place = t->place;
    free(t);
    return place;
}

/* "h" where it is the first axis of that letter, else its number. */
static void put_axis(const Graph *g, int axis, Buf *out)
{
    if (session_axis(g, g->axes[axis].sym) == axis)
        buf_puts(out, g->axes[axis].sym);
    else
        buf_printf(out, "%d", axis);
}

/* What the address of the place does not say: " screen=matrix at=h:2,t:5". */
static void put_place_rest(const Session *s, NodeId n, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Place *p = &s->place;
    Place plain = plain_place(s, n, session_cell(s, SIDE_B, n));
    if (p->screen != plain.screen)
        buf_printf(out, " screen=%s", screen_name(p->screen));
    bool any = false;
    for (int i = 0; i < g->axis_count && i < SESSION_AXES; i++)
        if (p->at[i] != plain.at[i]) {
            buf_puts(out, any ? "," : " at=");
            put_axis(g, i, out);
            buf_printf(out, ":%d", p->at[i]);
            any = true;
        }
    if (p->term)
        buf_printf(out, " term=%zu", p->term);
    if (p->operand)
        buf_printf(out, " operand=%d", p->operand);
    if (p->box != plain.box && p->box < s->stages.count)
        buf_printf(out, " box=%s", s->stages.boxes[p->box].path);
}

static void put_place(const Session *s, Buf *address, Buf *rest)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE)
        return;
    address_put(session_graph(s, SIDE_B), n, session_cell(s, SIDE_B, n), address);
    put_place_rest(s, n, rest);
}

static bool parse_index(const char **p, int *value)
{
    char *end;
    long n = strtol(*p, &end, 10);
    bool ok = **p >= '0' && **p <= '9' && n <= 1000000000;
    *value = ok ? (int)n : 0;
    *p = end;
    return ok;
}

/* "h:2,t:5" */
static bool parse_at(const Graph *g, const char *text, int *at, Err *err)
{
    for (const char *p = text; *p; p += *p == ',') {
        char sym[8];
        size_t n = strcspn(p, ":,");
        int axis, value;
        if (!n || n >= sizeof sym || p[n] != ':')
            return err_set(err, "at=%.60s: expected AXIS:INDEX,…", text);
        snprintf(sym, sizeof sym, "%.*s", (int)n, p);
        const char *number = sym;
        if (!parse_index(&number, &axis) || *number)
            axis = session_axis(g, sym);
        p += n + 1;
        if (axis < 0 || axis >= g->axis_count || axis >= SESSION_AXES)
            return err_set(err, "at=%.60s: there is no axis '%s'", text, sym);
        if (!parse_index(&p, &value) || (*p && *p != ',') || value >= g->axes[axis].n)
            return err_set(err, "at=%.60s: %s goes from 0 to %d", text, g->axes[axis].sym, g->axes[axis].n - 1);
        at[axis] = value;
    }
    return true;
}

static bool parse_screen(const Session *s, const char *word, Place *p, Err *err)
{
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (strcmp(screen_name((Screen)i), word) == 0) {
            bool attention = screen_spec((Screen)i)->group == GROUP_ATTENTION;
            if (attention && screen_spec(session_screen_for(s, p->path))->group != GROUP_ATTENTION)
                return err_set(err, "screen=%s: %s has no rows of tokens that look at tokens", word, p->path);
            p->screen = (Screen)i;
            return true;
        }
    return err_set(err, "there is no screen '%.40s'", word);
}

static bool parse_count(const Args *a, const char *name, int most, int *value, Err *err)
{
    const char *text = args_named(a, name), *p = text;
    return !text || (parse_index(&p, value) && !*p && *value <= most) ||
           err_set(err, "%s=%.40s: expected a number up to %d", name, text, most);
}

/* `place ADDRESS …`: the cursor, the screen and the step, all of them whatever they were. */
static bool run_place(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *at = args_named(a, "at"), *screen = args_named(a, "screen"), *box = args_named(a, "box");
    Address to;
    if (a->count != 1)
        return err_set(err, "expected one address");
    if (!address_word(s, g, a->word[0], a->column[0], &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "column %d: '%s' is a group of nodes: name one", a->column[0], to.path);
    NodeId n = graph_find(g, to.path);
    Place p = plain_place(s, n, address_cell(s, g, n, &to.cells));
    int term = 0, index = NO_BOX;
    if ((screen && !parse_screen(s, screen, &p, err)) || (at && !parse_at(g, at, p.at, err)) ||
        !parse_count(a, "term", 1000000000, &term, err) || !parse_count(a, "operand", NODE_INPUTS - 1, &p.operand, err))
        return false;
    if (box && (index = stages_find(&s->stages, box)) == NO_BOX)
        return err_set(err, "there is no box '%.80s'", box);
    p.box = box ? index : p.box;
    p.term = (size_t)term;
    if (p.screen == SCREEN_TRAINING)
        measures_read_history(s);
    s->place = p;
    s->changes++;
    return true;
}

/* --- the state in parts --- */

static void put_quoted(Buf *out, const char *verb, const char *text)
{
    buf_printf(out, "%s \"%s\"\n", verb, text);
}

static void put_lines(const EditState *e, Buf *out)
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
        put_lines(&s->pinned->lines, &t->pinned);
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
    put_place(s, &address, &rest);
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

static bool same(const Buf *a, const Buf *b)
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
        put_lines(&s->pinned->lines, out);
        buf_puts(out, s->pinned->lines.count ? "pin\nreset edits\n" : "pin\n");
    }
    if (other || (!pinned && (what & STATE_INPUT)))
        buf_add(out, t->input.data, t->input.len);
    put_lines(&t->edits, out);
}

/* Boxes that are not as they are at the start; whole: all. */
static void put_boxes(const Session *s, bool whole, Buf *out)
{
    for (int i = 0; i < s->stages.count; i++)
        if (s->stages.boxes[i].child != NO_BOX && (whole || s->open[i] != session_opens(s, i)))
            buf_printf(out, "box %s %s\n", s->open[i] ? "open" : "close", s->stages.boxes[i].path);
}

static void put_state(const Session *s, const StateShot *t, unsigned what, Buf *out)
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
    put_state(s, t, what, out);
    buf_add(out, t->place.data, t->place.len);
    state_shot_free(t);
}

void session_write_link(const Session *s, Buf *address, Buf *rest)
{
    StateShot *t = state_shot(s);
    Buf lines = {0}, more = {0};
    put_place(s, address, &more);
    put_state(s, t, 0, &lines);
    if (more.len)
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

/* --- from one state to another --- */

static bool edits_between(const EditState *from, const EditState *to, Buf *out)
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
    put_lines(&from->edits, &shown);
    bool was = same(&shown, &to->pinned);
    buf_free(&shown);
    return was;
}

void state_between(const Session *s, const StateShot *from, const StateShot *to, Buf *out)
{
    bool model = !same(&from->model, &to->model), pinned = !same(&from->pinned, &to->pinned);
    if (model || (pinned && to->pinned.len && !pinned_was_shown(from, to))) {
        put_state(s, to, STATE_WHOLE | STATE_INPUT | (model ? STATE_MODEL : 0u), out);
        buf_add(out, to->place.data, to->place.len);
        return;
    }
    Buf none = {0};
    bool moved = pinned;
    if (pinned)
        buf_puts(out, to->pinned.len ? "pin\n" : "pin off\n");
    if (!same(&from->input, &to->input)) {
        buf_add(out, to->input.data, to->input.len);
        moved = true;
    }
    moved = edits_between(&from->edits, &to->edits, out) || moved;
    if (!same(&from->gradient, &to->gradient)) {
        buf_add(out, to->gradient.data, to->gradient.len);
        moved = true;
    }
    if (!same(&from->ledger, &to->ledger)) {
        buf_add(out, to->ledger.data, to->ledger.len);
        moved = true;
    }
    if (to->compares && (moved || from->compare != to->compare))
        buf_printf(out, "compare %s\n", COMPARE_WORDS[to->compare]);
    look_write(&from->look, &to->look, out);
    bool boxes = moved || !same(&from->boxes, &to->boxes);
    if (boxes) /* on the way a box may have gone and come again, closed */
        lines_between(moved ? &none : &from->boxes, &to->boxes, moved ? "box open " : "", out);
    if (moved)
        lines_between(&from->boxes, &to->boxes, "box close ", out);
    buf_free(&none);
    if (moved || boxes || !same(&from->place, &to->place)) /* all of that may move a follower */
        buf_add(out, to->place.data, to->place.len);
}

/* --- reading --- */

/* What brings a session back to where it was without a file: pictures as they were decoded, edits with what they read.
 */
typedef struct Keep {
    char model_path[sizeof((Session *)0)->model_path];
    Input now, pinned;
    bool has_pinned;
    EditState edits, pinned_edits;
    GradTarget target;
    Compare compare;
    LookAt look;
    Place place;
    Place back[SESSION_BACK];
    int back_count, undo_count;
    Buf boxes;
} Keep;

static Image image_copy(const Image *from)
{
    Image im = *from;
    if (!from->data)
        return im;
    image_init(&im, from->width, from->height, from->channels);
    im.had_alpha = from->had_alpha;
    im.was_16_bit = from->was_16_bit;
    im.orientation = from->orientation;
    memcpy(im.data, from->data,
           size_mul(size_mul((size_t)im.width, (size_t)im.height), (size_t)im.channels) * sizeof *im.data);
    return im;
}

/* As it is, for the same model: nothing is resized again. */
static Input input_as_is(const Input *from)
{
    Input in = *from;
    in.original = image_copy(&from->original);
    in.resized = image_copy(&from->resized);
    in.arena = (Arena){0};
    for (int i = 0; i < TEXTS; i++)
        in.text[i] = text_copy(&in.arena, from->text[i]);
    if (from->values) {
        in.values = xfloats(in.cells);
        memcpy(in.values, from->values, in.cells * sizeof *in.values);
    }
    if (from->mask) {
        uint8_t *mask = xmalloc(DRAWN_SIDE * DRAWN_SIDE);
        memcpy(mask, from->mask, DRAWN_SIDE * DRAWN_SIDE);
        in.mask = mask;
    }
    return in;
}

static void keep(const Session *s, Keep *k)
{
    *k = (Keep){.has_pinned = session_pinned(s),
                .edits = edit_state_copy(&s->edits),
                .pinned_edits = session_pinned(s) ? edit_state_copy(&s->pinned->lines) : (EditState){0},
                .target = s->target,
                .compare = s->compare,
                .look = s->look,
                .place = s->place,
                .back_count = s->back_count,
                .undo_count = s->undo_count};
    memcpy(k->model_path, s->model_path, sizeof k->model_path);
    memcpy(k->back, s->back, sizeof k->back);
    for (int i = 0; i < s->stages.count; i++)
        if (s->open[i])
            buf_printf(&k->boxes, "%s\n", s->stages.boxes[i].path);
    k->now = input_as_is(session_input(s, SIDE_B));
    if (k->has_pinned)
        k->pinned = input_as_is(session_input(s, SIDE_A));
}

static void keep_free(Keep *k)
{
    input_free(&k->now);
    input_free(&k->pinned);
    edit_state_free(&k->edits);
    edit_state_free(&k->pinned_edits);
    buf_free(&k->boxes);
}

/* An exhibit of that input comes on show, with these edits. */
static bool show(Session *s, Input *in, const EditState *edits, Err *err)
{
    Exhibit *old = s->now;
    edit_state_free(&s->edits); /* what is pinned keeps what its own made */
    s->edits = (EditState){0};
    if (!session_show(s, session_add(s, &s->model, in), err))
        return false;
    if (old != s->pinned)
        session_drop(s, old);
    return edits_apply(s, edits, false, err);
}

static void open_boxes(Session *s, const char *paths)
{
    memset(s->open, 0, (size_t)s->stages.count * sizeof *s->open);
    for (const char *p = paths; *p; p += strcspn(p, "\n") + 1) {
        char path[SESSION_PATH];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(p, "\n"), p);
        int box = stages_find(&s->stages, path);
        if (box != NO_BOX)
            s->open[box] = true;
    }
}

static bool restore(Session *s, Keep *k, Err *err)
{
    const char *model = *k->model_path ? k->model_path : NULL;
    if (strcmp(s->model_path, k->model_path) != 0 && !session_open_model(s, model, err))
        return false;
    session_drop(s, s->pinned);
    GradTarget none = {{0}, 0};
    s->target = none;
    bool ok = true;
    if (k->has_pinned) {
        ok = show(s, &k->pinned, &k->pinned_edits, err);
        s->pinned = s->now;
        s->pinned->lines = edit_state_copy(&k->pinned_edits);
    }
    ok = show(s, &k->now, &k->edits, err) && ok;
    if (*k->target.path)
        ok = gradient_set(s, &k->target, err) && ok;
    s->compare = k->compare;
    s->look = k->look;
    open_boxes(s, buf_str(&k->boxes));
    s->place = k->place;
    memcpy(s->back, k->back, sizeof k->back);
    s->back_count = k->back_count;
    session_changed(s);
    while (s->undo_count > k->undo_count)
        edit_state_free(&s->undo[--s->undo_count]);
    return ok;
}

/* Can anything but the place and the look have changed? */
static bool subject_changed(const Session *s, const StateShot *before)
{
    StateShot *now = state_shot(s);
    Buf lines = {0};
    bool changed = !same(&now->model, &before->model) || !same(&now->input, &before->input) ||
                   !same(&now->pinned, &before->pinned) || !same(&now->gradient, &before->gradient) ||
                   edits_between(&before->edits, &now->edits, &lines);
    buf_free(&lines);
    state_shot_free(now);
    return changed;
}

/* Back from what a line did before the next one failed. */
static bool take_back(Session *s, Keep *k, const StateShot *before, Err *err)
{
    s->quit = false;
    if (subject_changed(s, before))
        return restore(s, k, err);
    s->look = k->look;
    s->compare = k->compare;
    open_boxes(s, buf_str(&k->boxes));
    s->place = k->place;
    memcpy(s->back, k->back, sizeof k->back);
    s->back_count = k->back_count;
    place_mend(s);
    s->changes++;
    return true;
}

bool session_read(Session *s, const Commands *c, const char *text, unsigned allowed, Err *err)
{
    Keep k;
    Err other = {{0}};
    if (!text[strspn(text, " \t\n;")])
        return true;
    LogMark mark = log_mark(s);
    StateShot *before = state_shot(s);
    keep(s, &k);
    log_hold(s, true);
    bool ok = command_do(s, c, text, allowed, err);
    log_hold(s, false);
    if (!ok && !take_back(s, &k, before, &other))
        err_prefix(err, "what was shown is lost (%s)", other.text);
    state_shot_free(before);
    keep_free(&k);
    log_changes(s, &mark, text, ok);
    return ok;
}

static const Command COMMANDS[] = {
    {"place", "go", "place ADDRESS [screen=NAME] [at=AXIS:N,…] [term=N] [operand=N] [box=BOX]",
     "to exactly this place: what a link or a replay goes by", 0, run_place, NULL},
    {"option", "look", "option NAME VALUE", "one way of seeing, by its name", 0, look_option_command,
     look_option_complete},
};

CommandTable session_commands_state(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
