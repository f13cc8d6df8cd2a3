/* Commands that change how something is shown, never a value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/edit/verbs.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/play.h"
#include "core/session/screens.h"

/* Words of `view` that are no screen: ways of drawing a tensor, and settings of maps of positions. */
static const struct {
    const char *word;
    View view;
} DRAWINGS[] = {{"heat", VIEW_HEAT}, {"numbers", VIEW_NUMBERS}, {"strip", VIEW_STRIP}, {"histogram", VIEW_HISTOGRAM}};
static const struct {
    const char *word;
    bool grids, value; /* all positions at once or one, else the mean removed or not */
} MAPS_OF_POSITIONS[] = {{"raw", false, false}, {"centred", false, true}, {"grids", true, true}, {"one", true, false}};

static const char VIEW_COMMAND[] = "view ";

/* What follows "view " in the command of a screen, or NULL. */
static const char *view_word(Screen screen)
{
    const ScreenSpec *spec = screen_spec(screen);
    return spec->come && strncmp(spec->command, VIEW_COMMAND, sizeof VIEW_COMMAND - 1) == 0
               ? spec->command + sizeof VIEW_COMMAND - 1
               : NULL;
}

static bool run_view(Session *s, const Args *a, Err *err)
{
    const char *word = a->count ? a->word[0] : "next";
    if (strcmp(word, "next") == 0)
        return screen_now(s)->next(s, err);
    for (size_t i = 0; i < sizeof DRAWINGS / sizeof *DRAWINGS; i++)
        if (strcmp(word, DRAWINGS[i].word) == 0) {
            s->look.view = DRAWINGS[i].view;
            return !screen_now(s)->drawn_alone || come_here(s, SCREEN_TENSOR, err);
        }
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (view_word((Screen)i) && strcmp(word, view_word((Screen)i)) == 0)
            return screen_spec((Screen)i)->come(s, (Screen)i, err);
    if (strcmp(word, "fitted") == 0) {
        s->look.positions.fitted = positions_fitted_there(s, err);
        return s->look.positions.fitted;
    }
    for (size_t i = 0; i < sizeof MAPS_OF_POSITIONS / sizeof *MAPS_OF_POSITIONS; i++)
        if (strcmp(word, MAPS_OF_POSITIONS[i].word) == 0) {
            s->look.positions.fitted = false;
            if (MAPS_OF_POSITIONS[i].grids)
                s->look.positions.grids = MAPS_OF_POSITIONS[i].value;
            else
                s->look.positions.centred = MAPS_OF_POSITIONS[i].value;
            return graph_role(session_graph(s, SIDE_B), ROLE_PLACE, SEQUENCE_ANY) != AXIS_NONE ||
                   come_positions(s, SCREEN_POSITIONS, err);
        }
    return err_set(
        err,
        "column %d: expected heat, numbers, strip, histogram, tensor, beside, picture, sheet, matrix, row, sentence, "
        "formula, close-up, positions, raw, centred, "
        "grids, one, fitted, waves, answer, writing, tokens, stream or next, found '%s'",
        a->column[0], word);
}

static bool run_pool(Session *s, const Args *a, Err *err)
{
    static const int STEPS[] = {0, 1, 2, 4, 7, 8, 14, 16, 32};
    enum { COUNT = sizeof STEPS / sizeof *STEPS };
    for (int i = 0; i < a->count; i++) {
        const char *w = a->word[i];
        int at = 0, kind = look_option_value("pool-by", w);
        bool known = kind >= 0;
        while (at < COUNT - 1 && STEPS[at] != s->look.pool)
            at++;
        if (known)
            s->look.pool_kind = (PoolKind)kind;
        if (strcmp(w, "auto") == 0) {
            s->look.pool = 0;
            known = true;
        } else if (strcmp(w, "finer") == 0 || strcmp(w, "coarser") == 0) {
            at += *w == 'f' ? -1 : 1;
            s->look.pool = at >= COUNT ? 0 : STEPS[at < 1 ? 1 : at]; /* beyond the coarsest: all of it again */
            known = true;
        }
        int n = atoi(w);
        for (int k = 1; k < COUNT; k++)
            if (n == STEPS[k] && w[strspn(w, "0123456789")] == 0) {
                s->look.pool = n;
                known = true;
            }
        if (!known)
            return err_set(
                err,
                "column %d: expected 1, 2, 4, 7, 8, 14, 16, 32, auto, finer, coarser, max, mean or absmax, found '%s'",
                a->column[i], w);
    }
    return a->count > 0 ||
           err_set(err, "expected 1, 2, 4, 7, 8, 14, 16, 32, auto, finer or coarser, and perhaps max, mean or absmax");
}

static bool run_average(Session *s, const Args *a, Err *err)
{
    const ScreenSpec *now = screen_now(s);
    if (now->one_head && (!a->count || strcmp(a->word[0], "on") == 0 || strcmp(a->word[0], "off") == 0)) {
        bool *one = (bool *)((char *)&s->look + now->one_head), on = a->count ? a->word[0][1] == 'n' : *one;
        if (now->average && !now->average(s, on, err))
            return false;
        *one = !on;
        session_say(s, on ? "All heads together." : "One head.");
        return true;
    }
    if (!a->count)
        s->look.average = !s->look.average;
    else if (strcmp(a->word[0], "on") == 0 || strcmp(a->word[0], "off") == 0)
        s->look.average = a->word[0][1] == 'n';
    else
        return err_set(err, "column %d: expected on or off, found '%s'", a->column[0], a->word[0]);
    session_say(s, s->look.average ? "The mean over all heads of the block." : "One head.");
    return true;
}

static bool lock_scale(Session *s, Err *err)
{
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    const float *v = session_need(s, side, s->place.path, err);
    if (!v)
        return false;
    size_t n = graph_cells(session_graph(s, side), session_node(s, side, s->place.path));
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        low = v[i] < low ? v[i] : low;
        high = v[i] > high ? v[i] : high;
    }
    if (low > high)
        return err_set(err, "there is no finite number here to make a scale from");
    s->look.locked = true;
    s->look.low = low;
    s->look.high = high;
    session_say(s, "Colours are locked: %.3g … %.3g. `colours free` undoes it.", (double)low, (double)high);
    return true;
}

/* With two sides each its own; of one, on the sheet one for all heads, each of which has its own else. */
static int next_range(const Session *s)
{
    const bool two = session_compares(s), sheet = screen_now(s)->head_scales;
    switch (s->look.range) {
    case RANGE_SHARED: return two ? RANGE_OWN : sheet ? RANGE_HEADS : RANGE_LOG;
    case RANGE_OWN:
    case RANGE_HEADS: return RANGE_LOG;
    default: return RANGE_SHARED;
    }
}

static void say_range(Session *s)
{
    static const char *const SAY[RANGES] = {"A and B have one scale: the same colour is the same value in both.",
                                            "Each has its own scale.",
                                            "The scale goes by powers of ten, six of them: what is small shows too.",
                                            "The sheet has one scale: the same colour is the same value in all heads."};
    const bool each = s->look.range == RANGE_SHARED && screen_now(s)->head_scales && !session_compares(s);
    session_say(s, "%s", each ? "Each head has its own scale: where it looks most is bright." : SAY[s->look.range]);
}

static bool run_colours(Session *s, const Args *a, Err *err)
{
    const char *w = a->count ? a->word[0] : "next";
    if (strcmp(w, "free") == 0) {
        s->look.locked = false;
        return true;
    }
    if (strcmp(w, "lock") == 0) {
        if (s->look.locked) {
            s->look.locked = false;
            session_say(s, "The colour scale is fitted to each tensor.");
            return true;
        }
        return lock_scale(s, err);
    }
    const int range = strcmp(w, "scale") == 0 ? next_range(s) : look_option_value("scale-of", w);
    if (range >= 0) {
        s->look.range = range;
        say_range(s);
        return true;
    }
    int now = *s->look.map ? look_option_value("colours", s->look.map) : 0, map = look_option_value("colours", w);
    if (strcmp(w, "next") == 0)
        map = look_option_map(now + 1) ? now + 1 : 0;
    if (map >= 0) {
        snprintf(s->look.map, sizeof s->look.map, "%s", map ? look_option_map(map) : "");
        session_say(s, "Colours: %s. c goes on to the next, :colours auto back to this step's own.",
                    look_option_map(map));
        return true;
    }
    return err_set(
        err,
        "column %d: expected next, lock, free, own, shared, heads, log, scale, auto, magma, viridis, cividis, "
        "grey, grey-light, blue-light, blue-orange or vik, found '%s'",
        a->count ? a->column[0] : 0, w);
}

static void say_compare(Session *s)
{
    static const char *const SAY[COMPARE_COUNT] = {"One side: the model with its changes.",
                                                   "A, B and A − B side by side.", "A: before the change.",
                                                   "B: after the change.", "A − B: above 0 where A is larger."};
    static const char *const SAY_PINNED[COMPARE_COUNT] = {[COMPARE_OFF] = "One side: B, what came after the pin.",
                                                          [COMPARE_A] = "A: what was pinned.",
                                                          [COMPARE_B] = "B: what came after the pin."};
    const char *pinned = session_pinned(s) ? SAY_PINNED[s->compare] : NULL;
    if (s->compare == COMPARE_SIDES && s->look.range == RANGE_SHARED)
        session_say(s, "A, B and A − B side by side; the same colour is the same value in A and B.");
    else
        session_say(s, "%s", pinned ? pinned : SAY[s->compare]);
}

static bool run_compare(Session *s, const Args *a, Err *err)
{
    static const char *const WORDS_[COMPARE_COUNT] = {"off", "sides", "a", "b", "diff"};
    if (!session_compares(s))
        return err_set(
            err,
            "there is nothing to compare yet: `s` takes the scale away, `x` switches a head off, `B` pins this as A");
    if (!a->count || strcmp(a->word[0], "next") == 0) {
        s->compare = (Compare)((s->compare + 1) % COMPARE_COUNT);
        say_compare(s);
        return true;
    }
    for (int i = 0; i < COMPARE_COUNT; i++)
        if (strcmp(a->word[0], WORDS_[i]) == 0) {
            s->compare = (Compare)i;
            say_compare(s);
            return true;
        }
    return err_set(err, "column %d: expected a, b, diff, sides, off or next, found '%s'", a->column[0], a->word[0]);
}

/* What is on screen becomes A; the reader goes on with a fresh copy of it as B. */
static bool run_pin(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "off") == 0) {
        session_drop(s, s->pinned);
        if (!session_compares(s))
            s->compare = COMPARE_OFF;
        session_say(s, "Nothing is pinned.");
        return true;
    }
    Exhibit *was = s->now;
    Input in;
    if (!was->model)
        return err_set(err, "a worked example can't be pinned: it has no model to go on with");
    if (!input_copy(&in, &was->input, was->model, err) || !session_beside(s, &in, err))
        return false;
    session_say(s, "Pinned as A. Open another picture or change something: that is B.");
    return true;
}

static bool run_grid(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->look.picture.grid = !s->look.picture.grid;
    return true;
}

static bool run_overlay(Session *s, const Args *a, Err *err)
{
    static const char *const SAY[ROW_OVERLAYS] = {"Colours and outlines alone.",
                                                  "Numbers: the share in percent; what rounds to nothing is left out."};
    int i = a->count ? look_option_value("overlay", a->word[0]) : (s->look.row.overlay + 1) % ROW_OVERLAYS;
    if (i < 0)
        return err_set(err, "column %d: expected numbers or off, found '%.40s'", a->column[0], a->word[0]);
    s->look.row.overlay = i;
    session_say(s, "%s", SAY[i]);
    return true;
}

static bool run_onward(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_WAVE_ROTATION);
    if (n == NO_NODE)
        return err_set(err, "this model's positions are no sinusoids: no rotation leads onward");
    const char *w = a->count ? a->word[0] : "";
    int last = g->axes[graph_node(g, n)->dims.axis[0]].n - 1;
    char *end;
    long k = strtol(w, &end, 10);
    if (end == w || *end)
        return err_set(err, "expected how many positions on, 0 to %d, or +1 / -1", last);
    if (*w == '+' || *w == '-') {
        k = k > last ? last : k < -last ? -last : k;
        k += s->look.waves.onward;
        k = k < 0 ? 0 : k > last ? last : k;
    }
    if (k < 0 || k > last)
        return err_set(err, "column %d: the rotations lead 0 to %d positions on", a->column[0], last);
    s->look.waves.onward = (int)k;
    return true;
}

/* The row of the map that a word names: a step's number, a stage, a node. */
static bool box_named(Session *s, const Args *a, int at, int *box, Err *err)
{
    Address to;
    int n;
    bool relative;
    const char *w = a->word[at];
    *box = args_number(w, &n, &relative) && !relative ? stages_step(&s->stages, n) : stages_find(&s->stages, w);
    if (*box != NO_BOX)
        return true;
    if (!address_word(s, session_graph(s, SIDE_B), w, a->column[at], &to, err))
        return false;
    *box = stages_find(&s->stages, to.path);
    return *box != NO_BOX || err_set(err, "column %d: '%s' is no step of the forward pass", a->column[at], w);
}

static bool run_play(Session *s, const Args *a, Err *err)
{
    enum { NEXT, PREV, ON, BACK, ROWS, OFF, SLOWER, FASTER, TO, WORDS };
    static const char *const WORD[WORDS] = {"next", "prev", "on", "back", "rows", "off", "slower", "faster", "to"};
    const char *word = a->count ? a->word[0] : WORD[s->look.playing ? OFF : ON];
    int i = 0;
    while (i < WORDS && strcmp(word, WORD[i]) != 0)
        i++;
    if (i == WORDS)
        return err_set(err, "column %d: expected next, prev, on, to, back, rows, off, slower or faster, found '%s'",
                       a->column[0], word);
    if (i == SLOWER || i == FASTER) {
        s->look.pace = clamp(s->look.pace + (i == FASTER ? 1 : -1), PLAY_SLOWEST, PLAY_FASTEST);
        session_say(s, "A step takes %g s.", play_step_ms(s) / 1000.0);
    } else if (i == OFF) {
        session_say(s, s->look.playing ? "Stopped. `.` plays on from here, `,` backwards." : "Nothing plays.");
        play_stop(s);
    } else if (i == ROWS || i == TO) {
        int box = NO_BOX;
        char example[SESSION_PATH];
        if (i == TO && a->count < 2)
            return err_set(err, "play to which step? play to %s",
                           edit_example(session_base(s), SITE_PATTERN, ROLE_HEAD, example, sizeof example));
        if (i == TO && !box_named(s, a, 1, &box, err))
            return false;
        if (!(i == TO ? play_to(s, box, err) : play_rows(s, err)))
            return false;
        s->look.playing = play_frame(s);
    } else if (i > PREV) {
        play_begin(s, i == BACK);
        s->look.playing = play_frame(s);
    } else if (screen_now(s)->play) {
        play_stop(s);
        s->look.backwards = i == PREV;
        screen_now(s)->play(s);
        s->look.backwards = false;
    } else {
        s->look.backwards = i == PREV;
        play_frame(s);
    }
    return true;
}

static void complete_maps(const Session *s, int index, Buf *out)
{
    (void)s;
    for (int i = 0; index == 0 && look_option_map(i); i++)
        buf_printf(out, "%s\n", look_option_map(i));
}

static void complete_views(const Session *s, int index, Buf *out)
{
    (void)s;
    if (index > 0)
        return;
    for (size_t i = 0; i < sizeof DRAWINGS / sizeof *DRAWINGS; i++)
        buf_printf(out, "%s\n", DRAWINGS[i].word);
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (view_word((Screen)i))
            buf_printf(out, "%s\n", view_word((Screen)i));
    for (size_t i = 0; i < sizeof MAPS_OF_POSITIONS / sizeof *MAPS_OF_POSITIONS; i++)
        buf_printf(out, "%s\n", MAPS_OF_POSITIONS[i].word);
}

static const Command COMMANDS[] = {
    COMMAND("view", "look",
            "view [heat, numbers, strip, histogram, tensor, picture, sheet, matrix, row, sentence, worked, formula, "
            "close-up, positions, raw, centred, grids, one, fitted, waves, answer, writing, tokens, stream, next]",
            "show this in another way", COMMAND_SESSION, run_view, complete_views),
    COMMAND("pool", "look", "pool 1, 2, 4, 7, auto, finer, coarser [max, mean, absmax]",
            "set how many numbers one drawn cell stands for", COMMAND_SESSION, run_pool, NULL),
    COMMAND("average", "look", "average [on, off]", "attention: show the mean over all heads, or one head",
            COMMAND_SESSION, run_average, NULL),
    COMMAND("colours", "look", "colours [MAP, next, lock, free, own, shared, heads, log, scale]",
            "choose the colour map; lock the scale or free it; own, shared or log scale of A and B, one for all heads "
            "of the sheet (scale: the next of them)",
            COMMAND_SESSION, run_colours, complete_maps),
    COMMAND("compare", "look", "compare [a, b, diff, sides, off, next]", "show A, B, both, or A − B", COMMAND_SESSION,
            run_compare, NULL),
    COMMAND("pin", "look", "pin [off]", "keep what is shown as A, and compare what follows with it", COMMAND_SESSION,
            run_pin, NULL),
    COMMAND("onward", "look", "onward N, +1, -1", "sinusoids: choose how many positions further the rotation leads",
            COMMAND_SESSION, run_onward, NULL),
    COMMAND("play", "look", "play [next, prev, on, to ADDRESS, back, rows, off, slower, faster]",
            "play the forward pass from here, as far as a step, or back; in a close-up its operation alone; next and "
            "prev are one step of it, or one frame",
            COMMAND_SESSION, run_play, NULL),
    COMMAND("overlay", "look", "overlay [numbers, off]",
            "a row of attention: write its weights on the patches, in percent", COMMAND_SESSION | COMMAND_PICTURES,
            run_overlay, NULL),
    COMMAND("grid", "look", "grid", "show or hide the patch grid over the picture; small patches have none",
            COMMAND_SESSION | COMMAND_PICTURES, run_grid, NULL),
};

CommandTable session_commands_look(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
