#include "core/session/learned/head_words.h"

#include <math.h>

static const char *place_word(const Session *s, HeadPlace place)
{
    static const char *const PLACES[HEAD_PLACES] = {[PLACE_ITSELF] = "the patch itself",
                                                    [PLACE_NEIGHBOURS] = "neighbours",
                                                    [PLACE_ROW] = "its row",
                                                    [PLACE_COLUMN] = "its column",
                                                    [PLACE_PREFIX] = "tokens that are no patches",
                                                    [PLACE_FARTHER] = "patches farther off"};
    const VitConfig *c = session_vit(s);
    return place == PLACE_PREFIX && c && c->cls && vit_prefix(c) == 1 ? "the class token" : PLACES[place];
}

static void put_place(const Session *s, const HeadPlacesResult *r, int cell, Buf *out)
{
    HeadPlace most = head_places_most(r, cell);
    if (most == HEAD_PLACES) {
        buf_puts(out, ", at nothing more than if it looked at all alike");
        return;
    }
    MeanOver m = r->share[cell][most];
    buf_printf(out, ", at %s: %.0f %% ±%.1g of a patch's weight", place_word(s, most), 100 * m.mean, 100 * m.margin);
    buf_printf(out, " (all alike: %.0f %%)", 100 * r->even[most]);
}

/* "Block 0, head 1: looks 7.8 ±0.1 px away (all alike: 24.8), at neighbours: …; over 500 pictures." */
static void put_looks(const Session *s, int cell, Buf *out)
{
    const HeadPlacesResult *r = session_head_places(s);
    const Measure *m = session_measure(s, MEASURE_LOOKS, NULL);
    if (r && cell < r->layers * r->heads) {
        buf_printf(out, "looks %.1f px ±%.1g away (all alike: %.1f)", r->distance[cell].mean, r->distance[cell].margin,
                   r->uniform);
        put_place(s, r, cell, out);
        buf_printf(out, "; over %zu held-out pictures, as trained", r->pictures);
    } else if (m && m->done)
        buf_printf(out, "where it looks is being measured, %zu of %zu pictures", m->done, m->total);
    else
        buf_puts(out, "where it looks over many pictures is not measured yet (:heads measure)");
}

static void put_loss(const Session *s, int cell, Buf *out)
{
    const Measure *m = session_measure(s, MEASURE_CENSUS, NULL);
    char share[48];
    if (!m || cell >= m->rows * m->cols || isnan(m->value[cell]) || !m->pair) {
        buf_puts(out, " What is lost without it is not measured yet (:heads measure).");
        return;
    }
    Paired pair = m->pair[cell];
    buf_printf(out, " Without it %.1f ±%.1f points are lost of %s right, over %zu%s.", 100 * paired_lost(pair),
               100 * paired_margin(pair), measure_share_text(m->base_right, m->pictures, share, sizeof share),
               m->pictures, paired_differs(pair) ? "" : ": it may be nothing");
}

const char *head_words_why(const Session *s)
{
    const char *why;
    session_measure(s, MEASURE_LOOKS, &why);
    return why;
}

void head_words_looks(const Session *s, int block, int head, Buf *out)
{
    const char *why = head_words_why(s);
    if (why)
        buf_printf(out, "nothing over many inputs: %s", why);
    else
        put_looks(s, block * session_heads(s) + head, out);
    buf_putc(out, '.');
}

void head_words_put(const Session *s, int block, int head, Buf *out)
{
    buf_printf(out, "Block %d, head %d: ", block, head);
    head_words_looks(s, block, head, out);
    if (!head_words_why(s))
        put_loss(s, block * session_heads(s) + head, out);
}

bool head_words_all(Session *s, Buf *out, Err *err)
{
    if (!session_measure_all(s, MEASURE_LOOKS, 1, err) || !session_measure_all(s, MEASURE_CENSUS, 1, err))
        return false;
    for (int b = 0; b < session_blocks(s); b++)
        for (int h = 0; h < session_heads(s); h++) {
            head_words_put(s, b, h, out);
            buf_putc(out, '\n');
        }
    return true;
}
