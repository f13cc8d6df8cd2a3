/* Commands that change how something is shown, never a value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/where.h"
#include "core/session/place.h"

static void show(Session *s, Screen screen)
{
    if (s->place.screen != screen)
        session_go(s, s->place.path, screen);
}

/* Attention screens need a node with rows and columns of tokens: the focused block's pattern, if the focus is something
 * else. */
static void show_attention(Session *s, Screen screen)
{
    char path[SESSION_PATH];
    int block = session_block(s);
    if (session_screen_for(s, s->place.path) == SCREEN_ROW) {
        show(s, screen);
        return;
    }
    snprintf(path, sizeof path, "blocks.%d.attn.pattern", block < 0 ? 0 : block);
    session_go(s, path, screen);
}

typedef struct ViewWord {
    const char *word;
    void (*apply)(Session *s);
} ViewWord;

static void view_heat(Session *s)
{
    s->look.view = VIEW_HEAT;
}
static void view_numbers(Session *s)
{
    s->look.view = VIEW_NUMBERS;
}
static void view_strip(Session *s)
{
    s->look.view = VIEW_STRIP;
}
static void view_histogram(Session *s)
{
    s->look.view = VIEW_HISTOGRAM;
}
static void view_tensor(Session *s)
{
    show(s, SCREEN_TENSOR);
}
static void view_picture(Session *s)
{
    if (session_screen_for(s, s->place.path) == SCREEN_ROW)
        show(s, SCREEN_ROW);
    else
        session_go(s, session_first(s), SCREEN_PICTURE);
}
static void view_sheet(Session *s)
{
    show_attention(s, SCREEN_SHEET);
}
static void view_matrix(Session *s)
{
    show_attention(s, SCREEN_MATRIX);
}
static void view_row(Session *s)
{
    show_attention(s, SCREEN_ROW);
}
static void view_formula(Session *s)
{
    show(s, SCREEN_EXPLAIN);
}

static void view_answer(Session *s)
{
    Err err;
    session_need(s, SIDE_B, "probs", &err); /* the cursor goes to the answer; cancelled, it stays where it was */
    session_go(s, "probs", SCREEN_ANSWER);
}

static void view_positions(Session *s)
{
    session_go(s, "pos_embed", SCREEN_POSITIONS);
}
static void view_raw(Session *s)
{
    s->look.centred = false;
}
static void view_centred(Session *s)
{
    s->look.centred = true;
}
static void view_grids(Session *s)
{
    s->look.grid_of_grids = true;
}
static void view_one(Session *s)
{
    s->look.grid_of_grids = false;
}

static const ViewWord WORDS[] = {{"heat", view_heat},
                                 {"numbers", view_numbers},
                                 {"strip", view_strip},
                                 {"histogram", view_histogram},
                                 {"tensor", view_tensor},
                                 {"picture", view_picture},
                                 {"sheet", view_sheet},
                                 {"matrix", view_matrix},
                                 {"row", view_row},
                                 {"formula", view_formula},
                                 {"answer", view_answer},
                                 {"raw", view_raw},
                                 {"positions", view_positions},
                                 {"centred", view_centred},
                                 {"grids", view_grids},
                                 {"one", view_one}};

/* Raw, centred; then the same of the twin where there is one. */
static void next_film(Session *s)
{
    if (s->look.centred && session_history_twin(s))
        s->look.twin = !s->look.twin;
    s->look.centred = !s->look.centred;
}

static void next_tiles(Session *s)
{
    const char *path = s->look.components ? "patch_embed.probe.filters" : "patch_embed.probe.components";
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return;
    s->look.components = !s->look.components;
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
}

/* The ways of seeing that follow one another under `view next`, for the screen that is on. */
static void next_view(Session *s)
{
    switch (s->place.screen) {
    case SCREEN_SHEET: show(s, SCREEN_MATRIX); break;
    case SCREEN_MATRIX: show(s, SCREEN_ROW); break;
    case SCREEN_ROW: show(s, SCREEN_TENSOR); break;
    case SCREEN_POSITIONS:
        if (s->look.centred)
            s->look.grid_of_grids = !s->look.grid_of_grids;
        s->look.centred = !s->look.centred;
        break;
    case SCREEN_TENSOR:
    case SCREEN_PICTURE:
        s->look.view = (View)((s->look.view + 1) % VIEW_COUNT);
        if (s->look.view == VIEW_HEAT && session_screen_for(s, s->place.path) == SCREEN_ROW)
            show(s, SCREEN_SHEET);
        break;
    case SCREEN_WHERE: where_go(s, (WhereMethod)((s->look.method + 1) % WHERE_METHODS), &(Err){{0}}); break;
    case SCREEN_TRAINING: next_film(s); break;
    case SCREEN_FILTERS: next_tiles(s); break;
    case SCREEN_HEADS: show(s, SCREEN_SHEET); break;
    default: show(s, SCREEN_TENSOR); break;
    }
}

static bool run_view(Session *s, const Args *a, Err *err)
{
    if (!a->count || strcmp(a->word[0], "next") == 0) {
        next_view(s);
        return true;
    }
    if ((strcmp(a->word[0], "positions") == 0) && session_node(s, SIDE_B, "pos_embed") == NO_NODE)
        return err_set(err, "this model has no table of position embeddings");
    if (strcmp(a->word[0], "answer") == 0 && session_node(s, SIDE_B, "probs") == NO_NODE)
        return err_set(err, "this model has no classes");
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(a->word[0], WORDS[i].word) == 0) {
            WORDS[i].apply(s);
            return true;
        }
    return err_set(err,
                   "column %d: expected heat, numbers, strip, histogram, tensor, picture, sheet, matrix, row, formula, "
                   "positions, raw, centred, "
                   "grids, one, answer or next, found '%s'",
                   a->column[0], a->word[0]);
}

static bool run_pool(Session *s, const Args *a, Err *err)
{
    static const int STEPS[] = {0, 1, 2, 4, 7, 8, 14, 16, 32};
    static const char *const KINDS[POOL_KINDS] = {"max", "mean", "absmax"};
    enum { COUNT = sizeof STEPS / sizeof *STEPS };
    for (int i = 0; i < a->count; i++) {
        const char *w = a->word[i];
        bool known = false;
        int at = 0;
        while (at < COUNT - 1 && STEPS[at] != s->look.pool)
            at++;
        for (int k = 0; k < POOL_KINDS; k++)
            if (strcmp(w, KINDS[k]) == 0) {
                s->look.pool_kind = (PoolKind)k;
                known = true;
            }
        if (strcmp(w, "auto") == 0) {
            s->look.pool = 0;
            known = true;
        } else if (strcmp(w, "finer") == 0 || strcmp(w, "coarser") == 0) {
            at += *w == 'f' ? -1 : 1;
            s->look.pool = STEPS[at < 1 ? 1 : at >= COUNT ? COUNT - 1 : at];
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

/* The class token's map has the mean as its first form: a switch of its own. */
static bool average_where(Session *s, const Args *a, Err *err)
{
    s->look.one_head = a->count ? strcmp(a->word[0], "off") == 0 : !s->look.one_head;
    session_say(s,
                s->look.one_head ? "The attention of one head." : "The mean attention of all heads of the last block.");
    return where_go(s, WHERE_ATTENTION, err);
}

static bool run_average(Session *s, const Args *a, Err *err)
{
    if (s->place.screen == SCREEN_WHERE &&
        (!a->count || strcmp(a->word[0], "on") == 0 || strcmp(a->word[0], "off") == 0))
        return average_where(s, a, err);
    if (!a->count)
        s->look.average = !s->look.average;
    else if (strcmp(a->word[0], "on") == 0 || strcmp(a->word[0], "off") == 0)
        s->look.average = a->word[0][1] == 'n';
    else
        return err_set(err, "column %d: expected on or off, found '%s'", a->column[0], a->word[0]);
    session_say(s, s->look.average ? "The mean over all heads of the block." : "One head.");
    return true;
}

/* Names as the colour maps have them; tui checks the name when it draws and falls back to automatic. */
static const char *const MAPS[] = {"auto", "magma", "viridis", "cividis", "grey", "grey-light", "blue-orange", "vik"};
enum { MAP_NAMES = sizeof MAPS / sizeof *MAPS };

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
    session_say(s, "Colours are locked to %g … %g. `colours free` lets every tensor choose again.", (double)low,
                (double)high);
    return true;
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
            session_say(s, "Colours are free: every tensor chooses its own scale.");
            return true;
        }
        return lock_scale(s, err);
    }
    int at = 0;
    for (int i = 0; i < MAP_NAMES; i++)
        if (strcmp(s->look.map, MAPS[i]) == 0)
            at = i;
    if (strcmp(w, "next") == 0)
        w = MAPS[(at + 1) % MAP_NAMES];
    for (int i = 0; i < MAP_NAMES; i++)
        if (strcmp(w, MAPS[i]) == 0) {
            snprintf(s->look.map, sizeof s->look.map, "%s", i ? MAPS[i] : "");
            session_say(s, "Colours: %s.", MAPS[i]);
            return true;
        }
    return err_set(err,
                   "column %d: expected next, lock, free, auto, magma, viridis, cividis, grey, grey-light, blue-orange "
                   "or vik, found '%s'",
                   a->count ? a->column[0] : 0, w);
}

static bool run_compare(Session *s, const Args *a, Err *err)
{
    static const char *const WORDS_[COMPARE_COUNT] = {"off", "sides", "a", "b", "diff"};
    static const char *const SAY[COMPARE_COUNT] = {"One side: the model with its changes.",
                                                   "A, B and A − B side by side.", "A: before the change.",
                                                   "B: after the change.", "A − B."};
    static const char *const SAY_PINNED[COMPARE_COUNT] = {[COMPARE_OFF] = "One side: B, what came after the pin.",
                                                          [COMPARE_A] = "A: what was pinned.",
                                                          [COMPARE_B] = "B: what came after the pin."};
    if (!session_compares(s))
        return err_set(
            err, "there is nothing to compare yet: s takes the scale away, x switches a head off, B pins this as A");
    if (!a->count || strcmp(a->word[0], "next") == 0) {
        s->compare = (Compare)((s->compare + 1) % COMPARE_COUNT);
        session_say(s, "%s", session_pinned(s) && SAY_PINNED[s->compare] ? SAY_PINNED[s->compare] : SAY[s->compare]);
        return true;
    }
    for (int i = 0; i < COMPARE_COUNT; i++)
        if (strcmp(a->word[0], WORDS_[i]) == 0) {
            s->compare = (Compare)i;
            session_say(s, "%s", session_pinned(s) && SAY_PINNED[i] ? SAY_PINNED[i] : SAY[i]);
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
    if (!input_copy(&in, &was->input, was->model, err))
        return false;
    Exhibit *e = session_add(s, was->model, &in);
    if (!session_show(s, e, err)) {
        session_drop(s, e);
        return false;
    }
    session_drop(s, s->pinned);
    was->lines = edit_state_copy(&s->edits);
    session_pin(s, was);
    session_say(s, "Pinned as A. Open another picture or change something: that is B.");
    return true;
}

static bool run_grid(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->look.grid = !s->look.grid;
    return true;
}

static void complete_maps(const Session *s, int index, Buf *out)
{
    (void)s;
    for (int i = 0; index == 0 && i < MAP_NAMES; i++)
        buf_printf(out, "%s\n", MAPS[i]);
}

static void complete_views(const Session *s, int index, Buf *out)
{
    (void)s;
    for (size_t i = 0; index == 0 && i < sizeof WORDS / sizeof *WORDS; i++)
        buf_printf(out, "%s\n", WORDS[i].word);
}

static const Command COMMANDS[] = {
    {"view", "look",
     "view [heat, numbers, strip, histogram, tensor, picture, sheet, matrix, row, formula, positions, raw, centred, "
     "grids, one, answer, next]",
     "another way to see this", 0, run_view, complete_views},
    {"pool", "look", "pool 1, 2, 4, 7, auto, finer, coarser [max, mean, absmax]",
     "how many numbers one drawn cell stands for", 0, run_pool, NULL},
    {"average", "look", "average [on, off]", "attention: the mean over all heads, or one head", 0, run_average, NULL},
    {"colours", "look", "colours [MAP, next, lock, free]", "colour map, and whether the scale stays", 0, run_colours,
     complete_maps},
    {"compare", "look", "compare [a, b, diff, sides, off, next]", "A, B and A − B", 0, run_compare, NULL},
    {"pin", "look", "pin [off]", "keep what is shown as A and compare what follows with it", 0, run_pin, NULL},
    {"grid", "look", "grid", "patch grid over the picture, on or off", 0, run_grid, NULL},
};

CommandTable session_commands_look(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS)};
}
