/* The scale laboratory: a factor on 1/√d_k on a slider, and the places where taking it away tells most. */
#include "core/session/screens/laboratory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/eval/figures.h"
#include "core/session/ask/say.h"
#include "core/session/edit/edits.h"
#include "core/session/edit/verbs.h"
#include "core/session/exhibit.h"
#include "core/session/learned/gradient.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/train/task.h"

/* The block in focus, else the first; NO_PART in a model without blocks. */
static int slider_block(const Session *s)
{
    int block = anatomy_block_of(session_base(s), s->place.path);
    return block == NO_PART ? anatomy_next(session_base(s), NO_PART, PART_BLOCK) : block;
}

/* What follows the factor in the line: "", " at=blocks.1", " at=blocks.1[h=2]". */
static void suffix(const Session *s, char *out, size_t n)
{
    const Graph *g = session_base(s);
    int block = slider_block(s), head = graph_role(g, ROLE_HEAD, SEQUENCE_ANY);
    *out = 0;
    if (block == NO_PART || s->look.laboratory.reach == REACH_ALL)
        return;
    if (s->look.laboratory.reach == REACH_BLOCK)
        snprintf(out, n, " at=%s", anatomy_part(g, block)->scope);
    else if (head != AXIS_NONE)
        snprintf(out, n, " at=%s[%s=%d]", anatomy_part(g, block)->scope, g->axes[head].sym, session_head(s));
}

const char *slider_text(const Session *s, char *out, size_t n)
{
    char name[64];
    int block = slider_block(s);
    if (block == NO_PART || s->look.laboratory.reach == REACH_ALL) {
        snprintf(out, n, "every block");
        return out;
    }
    edit_block_name(session_base(s), block, name, sizeof name);
    if (s->look.laboratory.reach == REACH_BLOCK)
        snprintf(out, n, "%s", name);
    else
        snprintf(out, n, "%s, head %d", name, session_head(s));
    return out;
}

/* Is it a factor on the scale, of just this reach? *factor is set then. */
static bool is_line(const Session *s, const char *line, float *factor)
{
    static const char START[] = "set scale ";
    char end[SESSION_PATH], *after;
    suffix(s, end, sizeof end);
    if (strncmp(line, START, sizeof START - 1) != 0)
        return false;
    const char *how = line + sizeof START - 1;
    if (strncmp(how, "off", 3) == 0 && strcmp(how + 3, end) == 0) {
        *factor = 1 / session_scale(s);
        return true;
    }
    if (*how != 'x')
        return false;
    *factor = strtof(how + 1, &after);
    return after != how + 1 && strcmp(after, end) == 0;
}

float slider_factor(const Session *s)
{
    float factor, now = 1;
    for (int i = 0; i < s->edits.count; i++)
        if (is_line(s, s->edits.line[i], &factor))
            now = factor;
    return now;
}

int slider_notch(const Session *s)
{
    float factor = slider_factor(s), best = INFINITY;
    int nearest = MEASURES_FACTORS / 2;
    for (int i = 0; factor > 0 && i < MEASURES_FACTORS; i++) {
        float at = measures_factor(s, i), ratio = at > factor ? at / factor : factor / at;
        if (ratio < best) {
            best = ratio;
            nearest = i;
        }
    }
    return factor > 0 ? nearest : 0;
}

static void tell_factor(Session *s, float factor)
{
    char what[64];
    double off = 1 / (double)session_scale(s);
    slider_text(s, what, sizeof what);
    if (factor == 1.0f)
        session_say(s, "The scale of %s is as it was trained.", what);
    else
        session_say(s, "The scale of %s times %.4g%s.", what, (double)factor,
                    fabs((double)factor / off - 1) < 1e-6 ? ": no scale at all" : "");
}

/* To notch number `notch` (clamped). A factor of 1 takes the line away. */
static bool slider_set(Session *s, int notch, Err *err)
{
    char line[EDIT_LINE], end[SESSION_PATH];
    float factor = measures_factor(s, notch < 0 ? 0 : notch >= MEASURES_FACTORS ? MEASURES_FACTORS - 1 : notch), old;
    EditState next = edit_state_copy(&s->edits);
    suffix(s, end, sizeof end);
    for (int i = next.count - 1; i >= 0; i--)
        if (is_line(s, next.line[i], &old))
            edit_state_remove(&next, i);
    if (factor == 1 / session_scale(s))
        snprintf(line, sizeof line, "set scale off%s", end);
    else
        snprintf(line, sizeof line, "set scale x%.9g%s", (double)factor, end);
    if (factor != 1.0f)
        edit_state_add(&next, line);
    bool ok = edits_prune(s, &next, err) && edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok && session_edited(s) && s->compare == COMPARE_OFF)
        s->compare = COMPARE_SIDES;
    if (ok)
        tell_factor(s, factor);
    return ok;
}

#define PLACE(picture, block, head, query) {picture, block, head, query},
#define SEARCHED(pictures, changed)
const ScalePlace TELLING[SCALE_PLACES] = {
#include "core/session/screens/scale_places.def"
};
#undef PLACE
#undef SEARCHED

#define PLACE(picture, block, head, query)
#define SEARCHED(pictures, changed)                                                                                    \
    {                                                                                                                  \
        pictures, changed                                                                                              \
    }
const ScaleSearched SCALE_SEARCHED =
#include "core/session/screens/scale_places.def"
    ;
#undef PLACE
#undef SEARCHED

/* A is the model as trained, so that nothing may be pinned. */
static bool scale_off(Session *s, Err *err)
{
    session_drop(s, s->pinned);
    session_changed(s);
    EditState state = {0};
    edit_state_add(&state, "set scale off");
    bool ok = edits_apply(s, &state, true, err);
    edit_state_free(&state);
    if (ok)
        s->compare = COMPARE_SIDES;
    return ok;
}

/* The pattern of that block's attention; "" where it has none. */
static const char *pattern_of(const Session *s, int block)
{
    const Graph *g = session_base(s);
    const char *path = session_attention_site(s, g, block, SITE_PATTERN);
    return path && graph_find(g, path) != NO_NODE ? path : "";
}

static void stand_on(Session *s, const ScalePlace *p)
{
    const Graph *g = session_base(s);
    int h = graph_role(g, ROLE_HEAD, SEQUENCE_ANY), t = graph_role(g, ROLE_QUERY, SEQUENCE_ANY),
        u = graph_role(g, ROLE_KEY, SEQUENCE_ANY), query;
    if (h != AXIS_NONE && p->head < g->axes[h].n)
        s->place.at[h] = p->head;
    if (t == AXIS_NONE || u == AXIS_NONE || !axis_parse(&g->axes[t], p->query, &query))
        return;
    s->place.at[u] = query;
    s->place.at[t] = query;
    session_sync(s, t);
}

/* Is it the row in focus? Those who come by hand may look at another one. */
static bool stands_on(const Session *s, const ScalePlace *p)
{
    const Graph *g = session_base(s);
    int h = graph_role(g, ROLE_HEAD, SEQUENCE_ANY), t = graph_role(g, ROLE_QUERY, SEQUENCE_ANY), query;
    return h != AXIS_NONE && t != AXIS_NONE && s->place.at[h] == p->head && axis_parse(&g->axes[t], p->query, &query) &&
           s->place.at[t] == query;
}

/* Short: it stands on one line of a small screen. */
static void tell_place(Session *s, int which)
{
    const ScalePlace *p = &TELLING[which];
    if (!stands_on(s, p)) {
        session_say(s, "Most is seen in row %s of head %d here: `showcase %d` goes there.  u undoes", p->query, p->head,
                    which + 1);
        return;
    }
    const int all = SCALE_SEARCHED.pictures, changed = SCALE_SEARCHED.changed;
    if (which == 0)
        session_say(s, "Of %d pictures this row collapses most; %d answers change.  :showcase 2", all, changed);
    else if (which == 1)
        session_say(s, "The median of %d pictures: rows sharpen; %d answers stay the same.  :showcase 3", all,
                    all - changed);
    else
        session_say(s, "Of %d pictures the rows of this one change least, and this row least of all.", all);
}

/* What the row in focus does now, on one line of a small screen, and how to go back. */
static void tell_row(Session *s, float largest)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int query = node_role(g, n, ROLE_QUERY), key = node_role(g, n, ROLE_KEY);
    char from[32], to[32];
    session_say(s, "1/√d_k is off: %s gives %s %.1f %% of its weight.  s undoes, ⌫ goes back",
                axis_label(&g->axes[query], s->place.at[query], from, sizeof from),
                axis_label(&g->axes[key], s->place.at[key], to, sizeof to), 100 * (double)largest);
}

bool scale_places_tell(Session *s)
{
    char input[32];
    for (int i = 0; i < SCALE_PLACES && !*s->model_path; i++) {
        snprintf(input, sizeof input, "#%u", TELLING[i].picture);
        if (strcmp(session_input(s, SIDE_B)->path, input) != 0 ||
            strcmp(s->place.path, pattern_of(s, TELLING[i].block)) != 0)
            continue;
        tell_place(s, i);
        return true;
    }
    return false;
}

const char *scale_places_input(char *out, size_t n)
{
    snprintf(out, n, "#%u", TELLING[0].picture);
    return out;
}

bool scale_places_door(const Session *s)
{
    char input[32];
    return !*s->model_path && !s->edits.count && !session_pinned(s) && strcmp(s->place.path, session_first(s)) == 0 &&
           s->place.screen == SCREEN_PICTURE &&
           strcmp(session_input(s, SIDE_B)->path, scale_places_input(input, sizeof input)) == 0;
}

/* To place `which` with the scale taken away and nothing else changed, A beside B. Only the bundled model has such
 * places: another one goes to the first block's pattern of the picture that is open. */
static bool scale_places_go(Session *s, int which, Err *err)
{
    char input[32];
    bool bundled = !*s->model_path, new = scale_places_door(s);
    const ScalePlace *p = &TELLING[which];
    snprintf(input, sizeof input, "#%u", p->picture);
    if ((bundled && strcmp(session_input(s, SIDE_B)->path, input) != 0 && !session_open_input(s, input, err)) ||
        !scale_off(s, err))
        return false;
    const char *path = pattern_of(s, bundled ? p->block : 0);
    if (!*path)
        return err_set(err, "this model has no attention");
    s->look.average = false;
    if (!session_go(s, path, SCREEN_ROW, err))
        return false;
    if (bundled) {
        float largest;
        int seen;
        stand_on(s, p);
        tell_place(s, which);
        if (place_on_largest(s, false, &largest, &seen) && new &&which == 0)
            tell_row(s, largest);
    } else
        session_say(s, model_grid(s->now->model).rows
                           ? "1/√d_k is taken away. `vitrine evaluate --showcase` finds where that changes most."
                           : "1/√d_k is taken away in every attention.  u undoes");
    return true;
}

static const char *reach_word(int i)
{
    static const char *const WORDS[] = {"all", "block", "head"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == REACH_COUNT, "a word for each reach");
    return i < REACH_COUNT ? WORDS[i] : NULL;
}

/* What the factor is put on, or which factor: reach is −1 where it is a number. */
static bool laboratory_word(const char *word, int *reach, int *value, bool *relative)
{
    *reach = look_option_value("reach", word);
    return *reach >= 0 || args_number(word, value, relative);
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
        if (!pattern || session_node(s, SIDE_B, pattern) == NO_NODE)
            return err_set(err, "this model has no attention");
        snprintf(path, sizeof path, "%s", pattern); /* gradients make the graph anew */
        if (!gradient_answer(s, err))
            return false;
        if (!screen_go(s, SCREEN_LABORATORY, path, err))
            return false;
    }
    for (int i = 0; i < a->count; i++) {
        laboratory_word(a->word[i], &reach, &value, &relative);
        if (reach >= 0)
            s->look.laboratory.reach = reach;
        else if (!slider_set(s, relative ? slider_notch(s) + value : value, err))
            return false;
    }
    return true;
}

static void move_slider(Session *s, int dy, int dx)
{
    Err err;
    s->look.laboratory.reach = clamp(s->look.laboratory.reach + dy, 0, REACH_COUNT - 1);
    if (dx && !slider_set(s, slider_notch(s) + clamp(dx, -MEASURES_FACTORS, MEASURES_FACTORS), &err))
        session_say(s, "%s", err.text);
}

const char *say_right_of(const Session *s)
{
    return session_task(s)->well;
}

static void put_accuracy(const Teller *t)
{
    const Measure *m = session_measure(t->s, MEASURE_SCALE, NULL);
    int notch = slider_notch(t->s);
    if (!m || isnan(m->base) || isnan(m->value[notch]))
        return;
    char now[48], before[48];
    if (m->nats) {
        buf_printf(t->out,
                   " With that factor %zu tokens of %s surprise by %.3f ±%.3f nats each, as trained by %.3f ±%.3f: "
                   "%+.3f ±%.3f over the same %zu windows.",
                   m->tokens, session_texts(t->s), m->nats[notch].mean, m->nats[notch].margin, m->base_nats.mean,
                   m->base_nats.margin, m->more[notch].mean, m->more[notch].margin, m->pictures);
        return;
    }
    buf_printf(t->out, " With that factor %s of %zu %s, as trained %s.",
               measure_share_text(m->right[notch], m->pictures, now, sizeof now), m->pictures, say_right_of(t->s),
               measure_share_text(m->base_right, m->pictures, before, sizeof before));
}

/* What the row in focus has at a site on A and on B. */
static bool before_and_after(const Teller *t, Site site, float *before, float *after)
{
    const char *path = teller_site(t, site);
    NodeId n = path && !session_pinned(t->s) ? graph_find(session_graph(t->s, SIDE_A), path) : NO_NODE;
    const float *x = n == NO_NODE ? NULL : ask_need(t->s, SIDE_A, n, t->err);
    if (!x || !teller_value(t, path, after))
        return false;
    *before = x[session_cell(t->s, SIDE_A, n)];
    return true;
}

/* What taking the factor away shows, and what it does not. */
void say_without_scale(const Teller *t)
{
    float before, after, scale = session_scale(t->s);
    if (t->side != SIDE_B || t->s->edits.count != 1 || strcmp(t->s->edits.line[0], "set scale off") != 0)
        return;
    if (before_and_after(t, SITE_SCORE_VARIANCE, &before, &after)) {
        double ratio = (double)after / (double)before, squared = 1 / ((double)scale * (double)scale);
        buf_printf(t->out, " Its scores have ×%.3g the variance of before", ratio);
        if (fabs(ratio / squared - 1) < 1e-3)
            buf_puts(t->out, ", the factor squared.");
        else
            buf_printf(t->out, ". The factor alone would make it ×%.3g, but earlier blocks changed too.", squared);
    }
    buf_puts(t->out, " Taken from a model that was trained with it, the factor is a change of temperature");
    if (before_and_after(t, SITE_ENTROPY, &before, &after))
        buf_puts(t->out, fabsf(after - before) < 0.05F ? ": as a rule rows get sharper, this one hardly changes"
                         : after < before              ? ": this row gets sharper"
                                                       : ": as a rule rows get sharper, this one gets more even");
    buf_puts(t->out, ". What it is for, the spread of scores before training, this does not show");
    if (!session_figures_known(t->s) || session_photos(t->s)) {
        buf_putc(t->out, '.');
        return;
    }
    char with[48], twin[48];
    buf_printf(t->out,
               ": a twin of this model, trained without it, names %s of %d held-out pictures right, this model %s.",
               measure_share_text(figures_get(FIGURE_TWIN, 0).right, FIGURES_PICTURES, twin, sizeof twin),
               (int)FIGURES_PICTURES,
               measure_share_text(figures_get(FIGURE_TRAINED, 0).right, FIGURES_PICTURES, with, sizeof with));
}

/* In how many heads the mean norm of softmax's Jacobian is larger than before, and why. */
static void put_jacobians(const Teller *t)
{
    int rises = 0, all = 0;
    for (int p = NO_PART; (p = anatomy_next(t->g, p, PART_ATTENTION)) != NO_PART;) {
        const char *path = site_path(t->g, p, SITE_JACOBIAN_MEAN);
        NodeId na = path ? graph_find(session_graph(t->s, SIDE_A), path) : NO_NODE,
               nb = path ? graph_find(t->g, path) : NO_NODE;
        const float *a = na == NO_NODE ? NULL : ask_need(t->s, SIDE_A, na, t->err),
                    *now = nb == NO_NODE || !a ? NULL : ask_need(t->s, SIDE_B, nb, t->err);
        for (size_t h = 0; now && h < graph_cells(t->g, nb); h++, all++)
            rises += now[h] > a[h];
    }
    if (all)
        buf_printf(t->out,
                   " The norm, the mean over a head's rows, is larger than before in %d of %d heads: it is "
                   "small where a row is even, grows as weight gathers on a few tokens, and falls again where one has "
                   "nearly all, which the largest factors reach.",
                   rises, all);
}

static bool say_scale(const Teller *t)
{
    static const Site PROBES[] = {SITE_SCORE_VARIANCE, SITE_LARGEST, SITE_ENTROPY, SITE_JACOBIAN};
    float x[4];
    char what[64];
    bool now = t->side == SIDE_B && slider_factor(t->s) != 1.0F;
    for (int i = 0; i < 4; i++)
        if (!teller_value(t, teller_site(t, PROBES[i]), &x[i]))
            return false;
    if (now)
        buf_printf(t->out, "%s is times %.3g in %s: ", anatomy_inside_block(t->g, teller_site(t, SITE_SCALE)),
                   (double)slider_factor(t->s), slider_text(t->s, what, sizeof what));
    else
        buf_puts(t->out, session_compares(t->s) && t->side == SIDE_A ? "Before the change: " : "As it is: ");
    buf_printf(t->out, "in head %d of block %d the row of ", teller_index(t, ROLE_HEAD), session_block(t->s));
    teller_put_token(t, ROLE_QUERY);
    buf_puts(t->out, " has scores of variance ");
    ask_put_short(t->out, x[0]);
    buf_puts(t->out, ", a largest weight of ");
    ask_put_short(t->out, x[1]);
    buf_printf(t->out, ", an entropy of %.2f of at most %.2f nats; its softmax has a Jacobian of norm ", (double)x[2],
               dm_log((double)teller_length(t, ROLE_KEY)));
    ask_put_short(t->out, x[3]);
    buf_putc(t->out, '.');
    if (now && session_compares(t->s) && !session_pinned(t->s))
        put_jacobians(t);
    if (now && t->s->look.laboratory.reach == REACH_ALL)
        put_accuracy(t);
    say_without_scale(t);
    return true;
}

static const LookOption OPTIONS[] = {
    {.name = "reach", .kind = OPTION_WORD, .at = LOOK(laboratory.reach), .word = reach_word}, {.name = NULL}};

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
    if (!args_number(a->word[0], &value, &relative) || relative || value < 1 || value > SCALE_PLACES)
        return err_set(err,
                       "column %d: expected 1, where taking the scale away changes most, 2, the typical picture, 3, "
                       "where least, or "
                       "next, found '%s'",
                       a->column[0], a->word[0]);
    return scale_places_go(s, value - 1, err);
}

static const Command COMMANDS[] = {
    COMMAND("laboratory", "learned", "laboratory [all, block, head] [N, +1, -1]",
            "put a factor on 1/√d_k with a slider, and see its effects", COMMAND_SESSION, run_laboratory, NULL),
    COMMAND("showcase", "go", "showcase [1, 2, 3, next]",
            "take 1/√d_k away on the picture where that changes most (1), on the median one (2), or where least (3)",
            COMMAND_EDIT | COMMAND_PICTURES, run_showcase, NULL)};

SCREEN_SPEC(LABORATORY, .name = "laboratory", .about = "a factor on the scale of attention, on a slider",
            .group = GROUP_LEARNED, .shipped = true, .command = "laboratory", .own = {COMMANDS, 2, NULL},
            .move = move_slider, .enter = enter_pattern, .next = enter_tensor, .work = measures_step_scale,
            .say = say_scale, .tell = tell_matrix, .options = OPTIONS);
