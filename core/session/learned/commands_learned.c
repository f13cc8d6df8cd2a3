/* Commands that go to what the model learned: the screens of measures.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/edit/slider.h"
#include "core/session/learned/gradient.h"
#include "core/session/learned/head_words.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/scale_places.h"
#include "core/session/learned/where.h"

static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

/* A number such as 3, +1, -2; relative says which. */
static bool number(const char *text, int *value, bool *relative)
{
    char *end;
    long v = strtol(text, &end, 10);
    *relative = *text == '+' || *text == '-';
    *value = (int)clamp((int)(v > 100000 ? 100000 : v < -100000 ? -100000 : v), -100000, 100000);
    return end != text && !*end;
}

/* To a screen, standing on `path`; a screen that is on stays. */
static bool go(Session *s, Screen screen, const char *path, Err *err)
{
    bool stays = s->place.screen == screen && path && session_node(s, SIDE_B, path) != NO_NODE;
    if (!stays && !session_go(s, path, screen, err))
        return false;
    if (stays && path != s->place.path) /* another drawing of it is no other place: `back` leaves the screen */
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    if (screen == SCREEN_CENSUS || screen == SCREEN_HEADS || screen == SCREEN_LABORATORY || screen == SCREEN_LENS)
        measures_take_shipped(s);
    return true;
}

/* A node of the attention in focus, of the last block's where none is; NULL: the model has none. */
static const char *in_attention(const Session *s, Site site)
{
    const Graph *g = session_graph(s, SIDE_B);
    int block = session_block(s);
    const char *path = session_attention_site(s, g, block < 0 ? session_blocks(s) - 1 : block, site);
    return path && graph_find(g, path) != NO_NODE ? path : NULL;
}

static bool no_attention(Err *err)
{
    return err_set(err, "this model has no attention");
}

static bool has(const Session *s, const char *path)
{
    return session_node(s, SIDE_B, path) != NO_NODE;
}

/* --- training --- */

static bool training_word(Session *s, const char *word, int column, Err *err)
{
    int value;
    bool relative;
    const char *problem = session_history_problem(s);
    if (strcmp(word, "twin") == 0 || strcmp(word, "own") == 0) {
        if (*word == 't' && !session_history_twin(s))
            return err_set(err, "%s",
                           problem ? problem : "no twin, trained without the scale, is known for this model");
        s->look.training.twin = *word == 't';
        return true;
    }
    const History *h = session_history_shown(s);
    int last = h ? h->snapshot_count - 1 : -1, at = clamp(s->look.training.snapshot, 0, last < 0 ? 0 : last);
    bool first = strcmp(word, "first") == 0, end = strcmp(word, "last") == 0, counts = number(word, &value, &relative);
    if (!first && !end && !counts)
        return err_set(err,
                       "column %d: expected the number of a snapshot, +1, -1, first, last, twin or own, found '%s'",
                       column, word);
    if (last < 0)
        return err_set(err, "%s", problem ? problem : "no record of training is known for this model");
    if (counts && !relative && (value < 0 || value > last))
        return err_set(err, "column %d: there is no snapshot %d: they go from 0 to %d", column, value, last);
    s->look.training.snapshot = first ? 0 : end ? last : clamp(relative ? at + value : value, 0, last);
    return true;
}

/* What the film is of: the table of positions; of a text model the attention in focus, or the last one. */
static const char *film_path(const Session *s, const Graph *g)
{
    if (!session_text_model(s) || !anatomy_attentions(g))
        return site_path_any(g, site_node_any(g, SITE_POSITIONS) == NO_NODE ? SITE_EMBED : SITE_POSITIONS);
    int part = session_block(s) < 0 ? NO_PART : session_attention(s, g, -1);
    return site_path(g, part == NO_PART ? anatomy_attention(g, anatomy_attentions(g) - 1) : part, SITE_PATTERN);
}

static bool run_training(Session *s, const Args *a, Err *err)
{
    bool arrives = s->place.screen != SCREEN_TRAINING;
    bool read = session_history(s) != NULL;
    measures_read_history(s);
    if (!read && session_history(s)) /* the model that is on show is the last snapshot */
        s->look.training.snapshot = session_history(s)->snapshot_count - 1;
    const Graph *g = session_base(s);
    const char *patch = args_named(a, "patch");
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), at = 0;
    if (patch && (p == AXIS_NONE || !axis_parse(&g->axes[p], patch, &at)))
        return err_set(err, "patch=%s: this model has no such patch", patch);
    for (int i = 0; i < a->count; i++)
        if (!training_word(s, a->word[i], a->column[i], err))
            return false;
    if (patch) {
        s->place.at[p] = at;
        session_sync(s, p);
    }
    if (arrives && !go(s, SCREEN_TRAINING, film_path(s, g), err))
        return false;
    if (session_history_problem(s) && !session_history(s))
        session_say(s, "%s", session_history_problem(s));
    return true;
}

/* --- filters --- */

/* The axis along which the tiles stand. */
static int tile_axis(const Session *s)
{
    NodeId n = site_node_any(session_base(s), s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS);
    return n == NO_NODE ? AXIS_NONE : graph_node(session_base(s), n)->dims.axis[0];
}

static bool run_filters(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_base(s);
    const char *word = a->count ? a->word[0] : s->place.screen == SCREEN_FILTERS ? "" : "filters";
    int value, axis = tile_axis(s), last = axis == AXIS_NONE ? -1 : g->axes[axis].n - 1;
    bool relative, counts = number(word, &value, &relative);
    if (counts && relative && last >= 0)
        value = clamp(s->place.at[axis] + value, 0, last);
    if (counts && (value < 0 || value > last))
        return err_set(err, "column %d: there is no tile %d: they go from 0 to %d", a->column[0], value, last);
    if (strcmp(word, "components") == 0)
        s->look.filters.components = true;
    else if (strcmp(word, "filters") == 0)
        s->look.filters.components = false;
    else if (strcmp(word, "next") == 0)
        s->look.filters.components = !s->look.filters.components;
    else if (*word && !counts)
        return err_set(err, "column %d: expected filters, components, next or a tile's number, found '%s'",
                       a->column[0], word);
    Site site = s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS;
    if (!go(s, SCREEN_FILTERS, site_path_any(g, site_node_any(g, site) == NO_NODE ? SITE_EMBED : site), err))
        return false;
    if (counts)
        s->place.at[axis] = value;
    return true;
}

/* --- where --- */

/* A patch by its label, where there is one: the data cursor goes there. */
static bool patch_word(Session *s, const Args *a, int i, Err *err)
{
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), patch;
    char last[64];
    if (a->count <= i)
        return true;
    if (p == AXIS_NONE)
        return err_set(err, "column %d: '%s': this model looks at no picture, so there are no patches", a->column[i],
                       a->word[i]);
    if (!axis_parse(&g->axes[p], a->word[i], &patch))
        return err_set(err, "column %d: expected a patch such as %s, the last one, found '%s'", a->column[i],
                       axis_label(&g->axes[p], g->axes[p].n - 1, last, sizeof last), a->word[i]);
    s->place.at[p] = patch;
    session_sync(s, p);
    return true;
}

static bool run_where(Session *s, const Args *a, Err *err)
{
    int value, method = s->look.where.method;
    bool relative, known = !a->count;
    for (int i = 0; a->count && i < WHERE_METHODS; i++)
        if (strcmp(a->word[0], where_word((WhereMethod)i)) == 0) {
            method = i;
            known = true;
        }
    if (!known && strcmp(a->word[0], "next") == 0) {
        method = (method + 1) % WHERE_METHODS;
        known = true;
    }
    if (!known && number(a->word[0], &value, &relative)) {
        method = relative ? clamp(method + value, 0, WHERE_METHODS - 1) : value;
        if (method < 0 || method >= WHERE_METHODS)
            return err_set(err, "column %d: there is no map %d: they go from 0 to %d", a->column[0], method,
                           WHERE_METHODS - 1);
        known = true;
    }
    if (!known)
        return err_set(err, "column %d: expected rollout, attention, gradient, occlusion, next or 0 to %d, found '%s'",
                       a->column[0], WHERE_METHODS - 1, a->word[0]);
    return where_go(s, (WhereMethod)method, err) && patch_word(s, a, 1, err);
}

/* --- the others --- */

static bool no_words(const Args *a, Err *err)
{
    return !a->count || err_set(err, "column %d: '%.40s' means nothing here", a->column[0], a->word[0]);
}

static bool run_heads(Session *s, const Args *a, Err *err)
{
    const char *path = in_attention(s, SITE_PATTERN);
    bool measure = a->count == 1 && strcmp(a->word[0], "measure") == 0;
    if (a->count && !measure)
        return err_set(err, "column %d: expected measure or nothing, found '%s'", a->column[0], a->word[0]);
    if (measure) {
        Buf text = {0};
        bool ok = head_words_all(s, &text, err);
        if (ok)
            session_say(s, "%s", buf_str(&text));
        buf_free(&text);
        return ok;
    }
    if (!path)
        return no_attention(err);
    return go(s, SCREEN_HEADS, path, err);
}

/* The read-out that the first word names; that of the block in focus where there is none. NULL: the model has none. */
static bool lens_word(const Session *s, const Args *a, const char **path, Err *err)
{
    const char *answer = site_path_any(session_base(s), SITE_PROBS), *word = a->count ? a->word[0] : "";
    int block = session_block(s), last = session_blocks(s) - 1;
    bool relative, start = strcmp(word, "start") == 0, end = strcmp(word, "answer") == 0;
    if (*word && !start && !end && (!number(word, &block, &relative) || relative || block < 0 || block > last))
        return err_set(err, "column %d: expected start, a block, 0 to %d, or answer, found '%s'", a->column[0], last,
                       word);
    *path = end ? NULL : lens_path(s, start ? LENS_START : block < 0 ? last : block);
    *path = *path ? *path : answer;
    return true;
}

/* `lens [start, N, answer] [CLASS]` */
static bool run_lens(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_base(s);
    const char *path = NULL;
    int o = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY), picked = 0;
    if (!lens_word(s, a, &path, err))
        return false;
    if (!path || !has(s, path) || o == AXIS_NONE)
        return err_set(err, "this model has no classes");
    if (a->count > 1 && !axis_parse(&g->axes[o], a->word[1], &picked))
        return err_set(err, "column %d: there is no class '%s'", a->column[1], a->word[1]);
    const float *probs = a->count > 1 || s->place.screen == SCREEN_LENS
                             ? NULL
                             : session_need(s, SIDE_B, site_path_any(g, SITE_PROBS), err);
    for (int i = 0; probs && i < g->axes[o].n; i++) /* who comes without naming a class stands on the answer */
        picked = i == 0 || probs[i] > probs[picked] ? i : picked;
    if (!go(s, SCREEN_LENS, path, err))
        return false;
    if (a->count > 1 || probs)
        s->place.at[o] = picked;
    return true;
}

/* What the factor is put on, or which factor: reach is REACH_COUNT where it is a number. */
static bool laboratory_word(const char *word, int *reach, int *value, bool *relative)
{
    static const char *const REACHES[REACH_COUNT] = {"all", "block", "head"};
    for (*reach = 0; *reach < REACH_COUNT; ++*reach)
        if (strcmp(word, REACHES[*reach]) == 0)
            return true;
    return number(word, value, relative);
}

/* A block in the middle where none is in focus: of the last one only the row that the answer is read from is used. */
static bool run_laboratory(Session *s, const Args *a, Err *err)
{
    char path[SESSION_PATH];
    int reach, value, block = session_block(s), middle = (session_blocks(s) - 1) / 2;
    bool relative;
    for (int i = 0; i < a->count; i++)
        if (!laboratory_word(a->word[i], &reach, &value, &relative))
            return err_set(err,
                           "column %d: expected all, block, head, or the factor's number 0 to %d, +1, -1, found '%s'",
                           a->column[i], MEASURES_FACTORS - 1, a->word[i]);
    if (s->place.screen != SCREEN_LABORATORY) {
        const char *pattern = session_attention_site(s, session_base(s), block < 0 ? middle : block, SITE_PATTERN);
        if (!pattern || !has(s, pattern))
            return no_attention(err);
        snprintf(path, sizeof path, "%s", pattern); /* gradients make the graph anew */
        if (!gradient_answer(s, err))
            return false;
        if (!go(s, SCREEN_LABORATORY, path, err))
            return false;
    }
    for (int i = 0; i < a->count; i++) {
        laboratory_word(a->word[i], &reach, &value, &relative);
        if (reach < REACH_COUNT)
            s->look.laboratory.reach = reach;
        else if (!slider_set(s, relative ? slider_notch(s) + value : value, err))
            return false;
    }
    return true;
}

static bool run_census(Session *s, const Args *a, Err *err)
{
    const char *path = in_attention(s, SITE_Z);
    if (!no_words(a, err))
        return false;
    if (!path)
        return no_attention(err);
    return go(s, SCREEN_CENSUS, path, err);
}

static bool run_blanks(Session *s, const Args *a, Err *err)
{
    const char *guess = site_path_any(session_base(s), SITE_GUESS);
    if (!guess || !has(s, guess))
        return err_set(err, session_vit(s)
                                ? "this model never learned to guess hidden patches: it has no reconstruction head"
                                : "this model reads words, and there are no patches to hide; `word OLD NEW` "
                                  "puts another word into the sentence");
    return go(s, SCREEN_BLANKS, guess, err) && patch_word(s, a, 0, err);
}

/* Without a word the first place; next: from one to the one after it, else the first. */
static bool run_showcase(Session *s, const Args *a, Err *err)
{
    char at[32];
    int value, there = -1;
    bool relative, next = a->count && strcmp(a->word[0], "next") == 0;
    for (int i = 0; i < SCALE_PLACES && edits_has(s, "set scale off"); i++) {
        snprintf(at, sizeof at, "#%u", TELLING[i].picture);
        there = strcmp(session_input(s, SIDE_B)->path, at) == 0 ? i : there;
    }
    if (!a->count || next)
        return scale_places_go(s, next ? (there + 1) % SCALE_PLACES : 0, err);
    if (!number(a->word[0], &value, &relative) || relative || value < 1 || value > SCALE_PLACES)
        return err_set(err,
                       "column %d: expected 1, where taking the scale away changes most, 2, the typical picture, 3, "
                       "where least, or "
                       "next, found '%s'",
                       a->column[0], a->word[0]);
    return scale_places_go(s, value - 1, err);
}

static const Command COMMANDS[] = {
    COMMAND("training", "learned", "training [N, +1, -1, first, last] [twin, own] [patch=PATCH]",
            "how it learned, snapshot by snapshot: positions, curves", COMMAND_SESSION, run_training, NULL),
    COMMAND("filters", "learned", "filters [filters, components, next, N, +1, -1]",
            "what the patch filters look for; principal components", COMMAND_SESSION, run_filters, NULL),
    COMMAND("heads", "learned", "heads [measure]",
            "how far every head looks, and how evenly; measure: a sentence on each, over many pictures",
            COMMAND_SESSION, run_heads, NULL),
    COMMAND("where", "learned", "where [rollout, attention, gradient, occlusion, next] [PATCH]",
            "where it looked: four answers side by side", COMMAND_SESSION, run_where, NULL),
    COMMAND("lens", "learned", "lens [start, N, answer] [CLASS]",
            "what it would name after each block; class token or mean", COMMAND_SESSION, run_lens, NULL),
    COMMAND("laboratory", "learned", "laboratory [all, block, head] [N, +1, -1]",
            "the scale laboratory: a factor on 1/√d_k on a slider", COMMAND_SESSION, run_laboratory, NULL),
    COMMAND("census", "learned", "census", "accuracy lost with each head", COMMAND_SESSION, run_census, NULL),
    COMMAND("blanks", "learned", "blanks [PATCH]", "hidden patches and what the model guesses there", COMMAND_SESSION,
            run_blanks, NULL),
    COMMAND("showcase", "go", "showcase [1, 2, 3, next]",
            "1/√d_k taken away: where that changes most, the typical picture, and where least", COMMAND_EDIT,
            run_showcase, NULL),
};

CommandTable session_commands_learned(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
