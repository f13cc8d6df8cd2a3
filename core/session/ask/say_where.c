/* What can be said of where a model looked, of what it would name on the way, and of patches that it was not shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/eval/figures.h"
#include "core/models/text_model.h"
#include "core/session/ask/say.h"
#include "core/session/learned/gradient.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/where.h"

/* The one number of a scalar node, or the cell at the data cursor. False when it is absent or was cancelled. */
static bool number_of(const Teller *t, const char *path, float *x)
{
    return path && session_node(t->s, t->side, path) != NO_NODE && teller_value(t, path, x);
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

static void put_mass(const Teller *t, const float *mass)
{
    float share;
    if (!mass || !number_of(t, teller_model(t, SITE_WHERE_OBJECT_SHARE), &share))
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
    const char *why;
    const Measure *m = where_occlusion(t->s, t->side, &why);
    char label[64];
    int patch = teller_index(t, ROLE_PLACE);
    if (!m || isnan(where_drop(m, patch))) {
        buf_printf(t->out, "Occlusion: %s.", why ? why : "not measured yet");
        return true;
    }
    float drop = where_drop(m, patch), mass;
    buf_printf(t->out, "With patch %s painted grey the answer's logit %s by ",
               teller_label(t, ROLE_PLACE, patch, label), drop < 0 ? "rises" : "falls");
    ask_put_short(t->out, fabsf(drop));
    buf_puts(t->out, ". The grey picture is standardised anew, so that every patch changes a little.");
    const float *object = session_peek(t->s, t->side, teller_model(t, SITE_WHERE_OBJECT));
    put_mass(t, where_drop_mass(m, object, &mass) ? &mass : NULL);
    return true;
}

static void begin_map(const Teller *t, WhereMethod m, const char *label)
{
    if (m == WHERE_ROLLOUT)
        buf_printf(t->out, "By attention rollout (½ mean of heads + ½ itself, through all blocks) patch %s gets ",
                   label);
    else if (m == WHERE_ATTENTION && t->s->look.where.one_head)
        buf_printf(t->out, "In head %d of the last block patch %s gets ", teller_index(t, ROLE_HEAD), label);
    else if (m == WHERE_ATTENTION)
        buf_printf(t->out, "In the mean of the last block's heads patch %s gets ", label);
    else
        buf_printf(t->out, "Gradient times input, added up over patch %s, is ", label);
}

bool say_where(const Teller *t)
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
    put_mass(t, number_of(t, where_mass_path(t->s, t->side, m), &mass) ? &mass : NULL);
    return true;
}

/* Where every block ends in a norm (Vaswani et al. 2017) there is none behind the last one, and the lens has none. */
static bool has_last_norm(const Teller *t)
{
    const Model *m = session_exhibit(t->s, t->side)->model;
    const VitConfig *c = m ? model_vit(m) : NULL;
    return c ? c->final_norm : m && m->family == &FAMILY_TEXT && ((const TextModel *)m->data)->config.final_norm;
}

bool say_lens(const Teller *t)
{
    char best[64], here[64];
    int block = session_block(t->s), picked = teller_index(t, ROLE_ANSWER);
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count); /* of a text: that of the word at the cursor */
    size_t top = largest_of(row, count);
    bool readout = site_is(t->g, t->s->place.path, SITE_PROBS);
    const char *end = has_last_norm(t) ? "its own last norm and head" : "its own head";
    if (readout)
        buf_puts(t->out, "The answer names ");
    else if (block < 0)
        buf_printf(t->out, "Without any block, only with %s, the model would name ", end);
    else
        buf_printf(t->out, "If the model ended after block %d, with %s, it would name ", block, end);
    buf_printf(t->out, "%s with probability ", teller_label(t, ROLE_ANSWER, (int)top, best));
    ask_put_short(t->out, row[top]);
    if ((int)top != picked) {
        buf_printf(t->out, "; %s has ", teller_label(t, ROLE_ANSWER, picked, here));
        ask_put_short(t->out, t->x[t->cell]);
    }
    buf_putc(t->out, '.');
    int lens = readout ? FIGURES_BLOCKS : block + 1; /* −1: before the first */
    char share[48];
    if (!*t->s->model_path && lens <= FIGURES_BLOCKS)
        buf_printf(t->out, " Read off there it names %s of %d held-out pictures right.",
                   measure_share_text(figures_get(FIGURE_LENS, lens).right, FIGURES_PICTURES, share, sizeof share),
                   (int)FIGURES_PICTURES);
    return true;
}

bool say_blanks(const Teller *t)
{
    float error, flat, hidden = 0, count = 0, mean;
    char label[64];
    if (!number_of(t, teller_model(t, SITE_GUESS_ERROR), &error) ||
        !number_of(t, teller_model(t, SITE_GUESS_FLAT), &flat)) {
        buf_puts(t->out, "This model has no reconstruction head: it never learned to guess a hidden patch.");
        return true;
    }
    number_of(t, teller_model(t, SITE_GUESS_HIDDEN), &hidden);
    number_of(t, teller_model(t, SITE_GUESS_HIDDEN_COUNT), &count);
    buf_printf(t->out, "Patch %s is %s; the guess of it is off by ",
               teller_label(t, ROLE_PLACE, teller_index(t, ROLE_PLACE), label), hidden != 0.0f ? "hidden" : "seen");
    ask_put_short(t->out, error);
    buf_puts(t->out, " (mean square of standardised values), the mean colour would be by ");
    ask_put_short(t->out, flat);
    buf_putc(t->out, '.');
    if (count > 1 && number_of(t, teller_model(t, SITE_GUESS_HIDDEN_ERROR_MEAN), &mean) &&
        number_of(t, teller_model(t, SITE_GUESS_HIDDEN_FLAT_MEAN), &flat)) {
        buf_printf(t->out, " Over the %d hidden patches that is ", (int)count);
        ask_put_short(t->out, mean);
        buf_puts(t->out, " against ");
        ask_put_short(t->out, flat);
        buf_putc(t->out, '.');
    }
    return true;
}
