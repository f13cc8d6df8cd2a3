/* What can be said of a factor on the scale and of a head that is missed: figures of the run, shares of many pictures.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/eval/figures.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/say.h"
#include "core/session/edit/slider.h"
#include "core/session/learned/head_words.h"
#include "core/session/learned/measures.h"

/* What is counted as right, behind a number. */
static const char *right_of(const Session *s)
{
    return session_text_model(s) ? "sentences of unseen combinations are translated without a fault"
                                 : "held-out pictures are named right";
}

static void put_accuracy(const Teller *t)
{
    const Measure *m = session_measure(t->s, MEASURE_SCALE, NULL);
    int notch = slider_notch(t->s);
    if (!m || isnan(m->base) || isnan(m->value[notch]))
        return;
    char now[48], before[48];
    buf_printf(t->out, " With that factor %s of %zu %s, as trained %s.",
               measure_share_text(m->right[notch], m->pictures, now, sizeof now), m->pictures, right_of(t->s),
               measure_share_text(m->base_right, m->pictures, before, sizeof before));
}

/* What taking the factor away shows, and what it does not. */
void say_without_scale(const Teller *t)
{
    float before, after, scale = session_scale(t->s);
    if (t->side != SIDE_B || t->s->edits.count != 1 || strcmp(t->s->edits.line[0], "set scale off") != 0)
        return;
    const char *path = teller_site(t, SITE_SCORE_VARIANCE);
    NodeId n = path ? graph_find(session_graph(t->s, SIDE_A), path) : NO_NODE;
    const float *x = n == NO_NODE || session_pinned(t->s) ? NULL : ask_need(t->s, SIDE_A, n, t->err);
    if (x && teller_value(t, path, &after)) {
        before = x[session_cell(t->s, SIDE_A, n)];
        double ratio = (double)after / (double)before, squared = 1 / ((double)scale * (double)scale);
        buf_printf(t->out, " Its scores have ×%.3g the variance of before: ×%.3g by the factor squared", ratio,
                   squared);
        buf_puts(t->out, fabs(ratio / squared - 1) < 1e-3 ? "." : ", the rest because earlier blocks changed too.");
    }
    buf_puts(t->out,
             " Taken from a model that was trained with it, the factor is a change of temperature: rows get sharper. "
             "What it is for, the spread of scores before training, this does not show");
    if (!session_shipped(t->s) || session_text_model(t->s)) {
        buf_putc(t->out, '.');
        return;
    }
    char with[48], twin[48];
    buf_printf(t->out, ": the twin, trained without it, names %s of %d held-out pictures right, this model %s.",
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

bool say_scale(const Teller *t)
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

bool say_census(const Teller *t)
{
    const char *why;
    const Measure *m = session_measure(t->s, MEASURE_CENSUS, &why);
    int row = head_words_row(t->s), head = teller_index(t, ROLE_HEAD);
    const Graph *g = session_base(t->s);
    char name[ATTENTION_NAME];
    if (why) {
        buf_printf(t->out, "What a head is worth cannot be measured: %s.", why);
        return true;
    }
    if (m && (row >= m->rows || head >= m->cols))
        return true; /* measured of B: nothing of what only A has */
    float share = m ? m->value[row * m->cols + head] : NAN;
    session_attention_name(g, anatomy_attention(g, row), name);
    if (isnan(share)) {
        buf_printf(t->out, "How much is lost without head %d of %s is being measured.", head, name);
        return true;
    }
    int all = m->rows * m->cols, first, last, cell = row * m->cols + head;
    char text[48];
    const char *what = session_measured_over(t->s);
    Paired pair = m->pair[cell];
    buf_printf(t->out, "Without head %d of %s %s of %zu %s", head, name,
               measure_share_text(m->right[cell], m->pictures, text, sizeof text), m->pictures, right_of(t->s));
    buf_printf(t->out, ": %.1f ±%.1f points less than with it (%zu %s only with it, %zu only without)",
               100 * paired_lost(pair), 100 * paired_margin(pair), pair.lost, what, pair.won);
    buf_puts(t->out, paired_differs(pair) ? "." : ", which may be nothing.");
    measure_places(m, cell, &first, &last);
    if (m->whole && first == last)
        buf_printf(t->out, " Of the %d heads it is number %d by what is lost.", all, first);
    else if (m->whole)
        buf_printf(t->out, " Of the %d heads it is one of numbers %d to %d: their intervals overlap.", all, first,
                   last);
    *name = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
    buf_printf(t->out, "\n%s, head %d: ", name, head);
    head_words_looks(t->s, row, head, t->out);
    return true;
}
