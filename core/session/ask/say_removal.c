/* What can be said of a factor on the scale and of a head that is missed: figures of the run, shares of many pictures.
 */
#include <math.h>

#include "core/base/dmath.h"
#include "core/session/ask/say.h"
#include "core/session/edit/slider.h"
#include "core/session/learned/measures.h"

/* "of 500 held-out pictures" */
static void put_pictures(const Teller *t, const Measure *m)
{
    buf_printf(t->out, "of %zu held-out pictures", m->pictures);
}

static void put_accuracy(const Teller *t)
{
    const Measure *m = session_measure(t->s, MEASURE_SCALE, NULL);
    int notch = slider_notch(t->s);
    if (!m || isnan(m->base) || isnan(m->value[notch]))
        return;
    buf_puts(t->out, " With that factor ");
    put_pictures(t, m);
    buf_printf(t->out, " %.1f %% are named right, as trained %.1f %%.", 100 * (double)m->value[notch],
               100 * (double)m->base);
}

bool say_scale(const Teller *t)
{
    static const Site PROBES[] = {SITE_SCORE_VARIANCE, SITE_LARGEST, SITE_ENTROPY, SITE_JACOBIAN};
    float x[4];
    char what[64];
    bool now = t->side == SIDE_B;
    for (int i = 0; i < 4; i++)
        if (!teller_value(t, teller_site(t, PROBES[i]), &x[i]))
            return false;
    if (now)
        buf_printf(t->out, "attn.scale is times %.3g in %s: ", (double)slider_factor(t->s),
                   slider_text(t->s, what, sizeof what));
    else
        buf_puts(t->out, "Before the change: ");
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
    if (now && t->s->look.laboratory.reach == REACH_ALL)
        put_accuracy(t);
    return true;
}

bool say_census(const Teller *t)
{
    const char *why;
    const Measure *m = session_measure(t->s, MEASURE_CENSUS, &why);
    int block = session_block(t->s), head = teller_index(t, ROLE_HEAD);
    if (why) {
        buf_printf(t->out, "What a head is worth cannot be measured: %s.", why);
        return true;
    }
    float share = m ? m->value[block * m->cols + head] : NAN;
    if (isnan(share)) {
        buf_printf(t->out, "How much is lost without head %d of block %d is being measured.", head, block);
        return true;
    }
    int more = 0, all = m->rows * m->cols;
    for (int i = 0; i < all; i++)
        more += m->value[i] < share;
    buf_printf(t->out, "Without head %d of block %d %.1f %% ", head, block, 100 * (double)share);
    put_pictures(t, m);
    buf_printf(t->out, " are named right, with it %.1f %%: a difference of %.1f points.", 100 * (double)m->base,
               fabs(100 * ((double)m->base - (double)share)));
    if (m->done == m->total)
        buf_printf(t->out, " Of the %d heads %d %s missed more.", all, more, more == 1 ? "is" : "are");
    return true;
}
