/* Where it looked: four maps of one number per patch, side by side. */
#include "core/session/screens/where.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/eval/figures.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/learned/gradient.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/play.h"
#include "core/session/screens.h"

const char *where_word(WhereMethod m)
{
    static const char *const WORDS[WHERE_METHODS] = {"rollout", "attention", "gradient", "occlusion"};
    return WORDS[m];
}

int where_depth(const Session *s, int blocks)
{
    return s->look.where.depth > 0 && s->look.where.depth < blocks ? s->look.where.depth : blocks;
}

const char *where_path(const Session *s, Side side, WhereMethod m)
{
    const int blocks = session_blocks_on(s, side), depth = where_depth(s, blocks);
    if (m == WHERE_ROLLOUT && depth < blocks)
        return session_attention_site(s, session_graph(s, side), depth - 1, SITE_ROLLOUT_SO_FAR);
    static const Site SITES[WHERE_METHODS] = {SITE_ROLLOUT_PATCHES, SITE_WHERE_ATTENTION_MEAN, SITE_WHERE_GRADIENT,
                                              SITE_WHERE_ANSWER};
    bool head = m == WHERE_ATTENTION && s->look.where.one_head;
    return site_path_any(session_graph(s, side), head ? SITE_WHERE_ATTENTION : SITES[m]);
}

const char *where_mass_path(const Session *s, Side side, WhereMethod m)
{
    static const Site SITES[WHERE_OCCLUSION] = {SITE_WHERE_ROLLOUT_MASS, SITE_WHERE_MEAN_MASS,
                                                SITE_WHERE_GRADIENT_MASS};
    if (m >= WHERE_OCCLUSION ||
        (m == WHERE_ROLLOUT && where_depth(s, session_blocks_on(s, side)) < session_blocks_on(s, side)))
        return NULL;
    bool head = m == WHERE_ATTENTION && s->look.where.one_head;
    return site_path_any(session_graph(s, side), head ? SITE_WHERE_HEAD_MASS : SITES[m]);
}

WhereOccluded where_occlusion(const Session *s, Side side)
{
    WhereOccluded o = {.of = NULL};
    if (side != SIDE_DIFF) {
        const bool a = side == SIDE_A && session_compares(s);
        o.of = session_measure(s, a ? MEASURE_OCCLUSION_A : MEASURE_OCCLUSION, &o.why);
        return o;
    }
    const WhereOccluded a = where_occlusion(s, SIDE_A), b = where_occlusion(s, SIDE_B);
    o.why = a.why ? a.why : b.why;
    if (a.of && b.of) {
        o.of = a.of;
        o.less = b.of;
    }
    return o;
}

float where_drop(const Measure *m, int patch)
{
    return patch < m->rows * m->cols ? m->base - m->value[patch] : NAN;
}

float where_fall(const WhereOccluded *o, int patch)
{
    if (!o->of)
        return NAN;
    return o->less ? where_drop(o->of, patch) - where_drop(o->less, patch) : where_drop(o->of, patch);
}

bool where_occluded_progress(const WhereOccluded *o, size_t *done, size_t *total)
{
    const Measure *behind = o->less && o->less->done < o->of->done ? o->less : o->of;
    *done = behind ? behind->done : 0;
    *total = behind ? behind->total : 0;
    return behind != NULL;
}

bool where_drop_mass(const Measure *m, const float *object, float *mass)
{
    double on = 0, all = 0;
    if (!object || m->done < m->total)
        return false;
    for (int i = 0; i < m->rows * m->cols; i++) {
        float drop = where_drop(m, i);
        if (!(drop > 0))
            continue;
        all += (double)drop;
        on += object[i] != 0.0f ? (double)drop : 0;
    }
    *mass = all > 0 ? (float)(on / all) : 0;
    return all > 0;
}

bool where_occluded_mass(const Session *s, Side side, float *mass)
{
    float a, b;
    if (side == SIDE_DIFF) {
        bool both = where_occluded_mass(s, SIDE_A, &a) && where_occluded_mass(s, SIDE_B, &b);
        *mass = both ? a - b : 0;
        return both;
    }
    const WhereOccluded o = where_occlusion(s, side);
    const float *object = session_peek(s, side, site_path_any(session_graph(s, side), SITE_WHERE_OBJECT));
    return o.of && where_drop_mass(o.of, object, mass);
}

/* --- of a text: numbers for its tokens, on the screens of the nodes that hold them --- */

/* The attention of the focused stack to itself in that block. */
static int self_attention(const Session *s, const Graph *g, int block)
{
    const int here = session_attention(s, g, -1);
    if (here == NO_PART)
        return NO_PART;
    const int part = anatomy_block(g, anatomy_part(g, here)->stack, block);
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_ATTENTION, part)) != NO_PART;)
        if (site_path(g, p, SITE_ROLLOUT))
            return p;
    return NO_PART;
}

/* The gradients of the answer after the token in focus, unless others are in force. */
static bool gradient_of_words(Session *s, Err *err)
{
    LedgerTarget answer;
    GradTarget of = {.cell = 0};
    if (*s->target.path)
        return true;
    if (site_node_any(session_graph(s, SIDE_B), SITE_LOGITS) == NO_NODE)
        return err_set(err,
                       "%s: `gradient embedding[d=0]` takes the gradients of one of its numbers, and `where "
                       "gradient` then shows what each word adds to it",
                       session_no_answer(s, SIDE_B));
    if (!ledger_rivals(s, SIDE_B, -1, -1, &answer, err))
        return false;
    snprintf(of.path, sizeof of.path, "%s", answer.path);
    of.cell = answer.cell;
    return gradient_set(s, &of, err);
}

static bool words_gradient(Session *s, int attention, Err *err)
{
    if (!gradient_of_words(s, err))
        return false;
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = NULL;
    for (int e = NO_PART; (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;)
        if (strcmp(anatomy_part(g, e)->stack, anatomy_part(g, attention)->stack) == 0)
            path = site_path(g, e, SITE_WHERE_GRADIENT);
    return path && session_node(s, SIDE_B, path) != NO_NODE
               ? session_go(s, path, SCREEN_TENSOR, err)
               : err_set(err, "the gradients in force do not reach the words of the %s: `gradient off` ends them",
                         anatomy_part(session_graph(s, SIDE_B), attention)->stack);
}

/* Tokens in a line, whose maps are rows: a picture has its rollout on the grid of its patches. */
static bool in_a_line(const Session *s)
{
    return !site_path_any(session_graph(s, SIDE_B), SITE_ROLLOUT_PATCHES);
}

static bool where_words(Session *s, WhereMethod m, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const int blocks = session_blocks(s), depth = m == WHERE_ROLLOUT ? where_depth(s, blocks) : blocks,
              part = self_attention(s, g, depth - 1);
    if (part == NO_PART)
        return err_set(err, "this model has no attention of words to themselves");
    if (m == WHERE_OCCLUSION)
        return err_set(err, "a word can't be painted grey: `word OLD NEW` puts another in its place, and `patching "
                            "tokens` measures what each token then changes");
    if (m == WHERE_GRADIENT)
        return words_gradient(s, part, err);
    if (m == WHERE_ATTENTION && s->look.where.one_head)
        return session_go(s, site_path(g, part, SITE_PATTERN), SCREEN_ROW, err);
    return session_go(s, site_path(g, part, m == WHERE_ROLLOUT ? SITE_ROLLOUT : SITE_MEAN_PATTERN), SCREEN_ROW, err);
}

/* To the screen, or another map on it. The first time the gradients of the answer's logit are added, unless others are
 * in force. */
static bool where_go(Session *s, WhereMethod m, Err *err)
{
    s->look.where.method = (int)m;
    if (in_a_line(s))
        return where_words(s, m, err);
    if (!gradient_answer(s, err))
        return false;
    const char *path = where_path(s, SIDE_B, m);
    if (!path || session_node(s, SIDE_B, path) == NO_NODE)
        path = where_path(s, SIDE_B, WHERE_ROLLOUT);
    if (!path || session_node(s, SIDE_B, path) == NO_NODE)
        return err_set(err, "this model has no attention to look at");
    return screen_go(s, SCREEN_WHERE, path, err);
}

/* The map behind the one on show: of a text all but occlusion. */
static WhereMethod where_after(const Session *s)
{
    return (WhereMethod)((s->look.where.method + 1) % (in_a_line(s) ? WHERE_OCCLUSION : WHERE_METHODS));
}

/* `depth N, +1, -1, all`: the rollout through the first N blocks. */
static bool run_depth(Session *s, const Args *a, Err *err)
{
    const int blocks = session_blocks(s), before = s->look.where.depth;
    const char *word = a->count > 1 ? a->word[1] : "";
    int value = blocks;
    bool relative = false;
    if (strcmp(word, "all") != 0 &&
        (!args_number(word, &value, &relative) || (!relative && (value < 1 || value > blocks))))
        return err_set(err, "column %d: expected through how many blocks, 1 to %d, all, +1 or -1, found '%s'",
                       a->column[a->count > 1], blocks, word);
    s->look.where.depth = clamp(relative ? where_depth(s, blocks) + value : value, 1, blocks);
    if (where_go(s, WHERE_ROLLOUT, err))
        return true;
    s->look.where.depth = before;
    return false;
}

static bool run_where(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "depth") == 0)
        return run_depth(s, a, err);
    const char *word = a->count ? a->word[0] : where_word((WhereMethod)s->look.where.method);
    int value, method = strcmp(word, "next") == 0 ? (int)where_after(s) : look_option_value("method", word);
    bool relative, known = method >= 0;
    if (!known && args_number(a->word[0], &value, &relative)) {
        method = relative ? clamp(s->look.where.method + value, 0, WHERE_METHODS - 1) : value;
        if (method < 0 || method >= WHERE_METHODS)
            return err_set(err, "column %d: there is no map %d: they go from 0 to %d", a->column[0], method,
                           WHERE_METHODS - 1);
        known = true;
    }
    if (!known)
        return err_set(
            err, "column %d: expected rollout, attention, gradient, occlusion, next, depth N or 0 to %d, found '%s'",
            a->column[0], WHERE_METHODS - 1, a->word[0]);
    return where_go(s, (WhereMethod)method, err) && screen_patch_word(s, a, 1, err);
}

/* Block after block, from the first. */
static bool play_where(Session *s)
{
    const int blocks = session_blocks(s);
    int at = where_depth(s, blocks) - 1;
    bool more = play_index(s, &at, blocks);
    s->look.where.depth = at + 1;
    const char *path = where_path(s, SIDE_B, WHERE_ROLLOUT);
    if (s->look.where.method == WHERE_ROLLOUT && path)
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    return more;
}

static bool next_where(Session *s, Err *err)
{
    return where_go(s, where_after(s), err);
}

/* The class token's map has the mean as its first form. */
static bool average_where(Session *s, bool on, Err *err)
{
    s->look.where.one_head = !on;
    return where_go(s, WHERE_ATTENTION, err);
}

/* What lies on the object in many pictures, and what would lie there whatever the model had learned. */
static void put_base_rates(Buf *out)
{
    buf_printf(
        out,
        " Over %d held-out pictures rollout has %.3f there on average; before any training %.3f (%.3f to %.3f, %d "
        "seeds), the mean of all rollouts, the same for each picture, %.3f, brightness above the picture's mean "
        "%.3f.",
        (int)FIGURES_PICTURES, figures_mean(FIGURE_MEAN_ROLLOUT), figures_mean(FIGURE_MEAN_ROLLOUT_RANDOM),
        figures_mean(FIGURE_MEAN_ROLLOUT_RANDOM_LEAST), figures_mean(FIGURE_MEAN_ROLLOUT_RANDOM_MOST),
        (int)RANDOM_SEEDS, figures_mean(FIGURE_MEAN_ROLLOUT_FIXED), figures_mean(FIGURE_MEAN_BRIGHTNESS));
    char share[48], fixed[48], bright[48];
    const RandomSpread peak = figures_random_peak();
    buf_printf(
        out,
        " The heaviest patch is one of those in %s of the pictures; before any training in %.1f %% (%.1f to %.1f "
        "by seed), the patch most often the object's in %s, the brightest patch in %s.",
        measure_share_text(figures_get(FIGURE_PEAK, 0).right, FIGURES_PICTURES, share, sizeof share), 100 * peak.mean,
        100 * peak.least, 100 * peak.most,
        measure_share_text(figures_get(FIGURE_PEAK_FIXED, 0).right, FIGURES_PICTURES, fixed, sizeof fixed),
        measure_share_text(figures_get(FIGURE_PEAK_BRIGHT, 0).right, FIGURES_PICTURES, bright, sizeof bright));
}

/* Of photographs no object is known: what is lost where a quarter of the patches is painted grey, by this map and by
 * others. */
static void put_greyed(Buf *out)
{
    static const char *const WHICH[GREYED_COUNT] = {[GREYED_ROLLOUT] = "that rollout gives most",
                                                    [GREYED_COLOUR] = "farthest from the picture's mean colour",
                                                    [GREYED_LOT] = "drawn by lot",
                                                    [GREYED_LEAST] = "that rollout gives least"};
    buf_printf(out, " Over %zu held-out photographs a quarter of the patches was painted grey:", photos_pictures());
    for (int g = 0; g < GREYED_COUNT; g++) {
        const Paired lost = photos_greyed((PhotosGreyed)g);
        buf_printf(out, "%s %s costs %.1f ±%.1f points", g ? "," : " the quarter", WHICH[g], 100 * paired_lost(lost),
                   100 * paired_margin(lost));
    }
    buf_putc(out, '.');
}

static void put_mass(const Teller *t, const float *mass)
{
    float share;
    if (!mass || !teller_there(t, teller_model(t, SITE_WHERE_OBJECT_SHARE), &share))
        return;
    bool positive = t->s->look.where.method == WHERE_GRADIENT || t->s->look.where.method == WHERE_OCCLUSION;
    buf_printf(t->out, " Of all that lies on patches%s ", positive ? " (negative ones as 0)" : "");
    ask_put_short(t->out, *mass);
    buf_puts(t->out, " lies on those that the object covers to more than 8 %; they are ");
    ask_put_short(t->out, share);
    buf_puts(t->out, " of all patches.");
    if (!*t->s->model_path && t->s->look.where.method == WHERE_ROLLOUT)
        put_base_rates(t->out);
}

static bool say_occlusion(const Teller *t)
{
    const WhereOccluded o = where_occlusion(t->s, t->side);
    char label[64];
    int patch = teller_index(t, ROLE_PLACE);
    float drop = where_fall(&o, patch), mass;
    if (isnan(drop)) {
        buf_printf(t->out, "Occlusion: %s.", o.why ? o.why : "not measured yet");
        return true;
    }
    buf_printf(t->out, "With patch %s painted grey the answer's logit %s by ",
               teller_label(t, ROLE_PLACE, patch, label), drop < 0 ? "rises" : "falls");
    ask_put_short(t->out, fabsf(drop));
    buf_putc(t->out, '.');
    if (session_exhibit(t->s, t->side)->model->vit.input == VIT_INPUT_PER_IMAGE)
        buf_puts(t->out, " The grey picture is standardised anew, so that every patch changes a little.");
    put_mass(t, where_occluded_mass(t->s, t->side, &mass) ? &mass : NULL);
    return true;
}

static void begin_map(const Teller *t, WhereMethod m, const char *label)
{
    const int blocks = session_blocks_on(t->s, t->side), depth = where_depth(t->s, blocks);
    char through[40] = "all blocks";
    if (depth < blocks)
        snprintf(through, sizeof through, depth > 1 ? "blocks 0 to %d" : "block %d", depth - 1);
    if (m == WHERE_ROLLOUT)
        buf_printf(t->out, "By attention rollout (½ mean of heads + ½ itself, through %s) patch %s gets ", through,
                   label);
    else if (m == WHERE_ATTENTION && t->s->look.where.one_head)
        buf_printf(t->out, "In head %d of the last block patch %s gets ", teller_index(t, ROLE_HEAD), label);
    else if (m == WHERE_ATTENTION)
        buf_printf(t->out, "In the mean of the last block's heads patch %s gets ", label);
    else
        buf_printf(t->out, "Gradient times input, added up over patch %s, is ", label);
}

static bool say_where(const Teller *t)
{
    WhereMethod m = (WhereMethod)t->s->look.where.method;
    const char *path = where_path(t->s, t->side, m);
    char label[64];
    float x, mass;
    if (m == WHERE_OCCLUSION)
        return say_occlusion(t);
    if (session_node(t->s, t->side, path) == NO_NODE) {
        buf_puts(t->out, "There are no gradients of the picture: `where` adds those of the answer's logit.");
        return true;
    }
    if (!teller_value(t, path, &x))
        return false;
    begin_map(t, m, teller_label(t, ROLE_PLACE, teller_index(t, ROLE_PLACE), label));
    ask_put_short(t->out, x);
    if (m == WHERE_GRADIENT) {
        buf_puts(t->out, ": what its values would add to ");
        if (site_is(t->g, t->s->target.path, SITE_WHERE_ANSWER))
            buf_puts(t->out, "the answer's logit");
        else
            gradient_text(t->s, t->out);
        buf_puts(t->out, ", were all linear");
    }
    buf_putc(t->out, '.');
    put_mass(t, teller_there(t, where_mass_path(t->s, t->side, m), &mass) ? &mass : NULL);
    if (m == WHERE_ROLLOUT && session_photos(t->s))
        put_greyed(t->out);
    return true;
}

static bool tell_where(const Teller *t)
{
    const PictureGrid grid = model_grid(session_exhibit(t->s, t->side)->model);
    const char *path = where_path(t->s, t->side, (WhereMethod)t->s->look.where.method);
    NodeId n;
    if (!grid.rows || session_node(t->s, t->side, path) == NO_NODE || t->s->look.where.method == WHERE_OCCLUSION)
        return true;
    const float *x = teller_values(t, path, &n);
    if (!x)
        return false;
    int patches = grid_patches(&grid);
    size_t from = graph_cells(t->g, n) == (size_t)patches
                      ? 0
                      : session_cell(t->s, t->side, n) / (size_t)patches * (size_t)patches;
    buf_printf(t->out, "%s, a number for every patch:\n", path);
    teller_put_patches(t, x + from, grid.rows, grid.columns);
    return true;
}

static const char *method_word(int i)
{
    return i < WHERE_METHODS ? where_word((WhereMethod)i) : NULL;
}

static bool depth_there(Session *s, int value, Err *err)
{
    (void)s;
    return value >= 0 || err_set(err, "the rollout through the first so many blocks; 0: through all");
}

static const LookOption OPTIONS[] = {
    {.name = "method", .kind = OPTION_WORD, .at = LOOK(where.method), .word = method_word},
    {.name = "one-head", .kind = OPTION_SWITCH, .at = LOOK(where.one_head)},
    {.name = "depth", .kind = OPTION_NUMBER, .at = LOOK(where.depth), .there = depth_there},
    {.name = NULL}};

static const Command OWN = COMMAND(
    "where", "learned", "where [rollout, attention, gradient, occlusion, next, depth N] [PLACE]",
    "show where the model looked: four answers side by side; depth N: the rollout through N blocks", COMMAND_SESSION,
    run_where, NULL);

SCREEN_SPEC(WHERE, .name = "where", .about = "where did it look: rollout, class token, gradient × input, occlusion",
            .group = GROUP_LEARNED, .command = "where", .own = {&OWN, 1, NULL}, .move = move_on_patches,
            .enter = enter_arithmetic, .next = next_where, .one_head = LOOK(where.one_head), .average = average_where,
            .off = OFF_PATCH, .work = measures_step_occlusion, .play = play_where, .say = say_where, .tell = tell_where,
            .options = OPTIONS);
