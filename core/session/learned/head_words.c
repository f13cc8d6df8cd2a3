#include "core/session/learned/head_words.h"

#include <math.h>

#include "core/graph/anatomy.h"

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

static void put_words(const WordPlacesResult *r, int cell, Buf *out)
{
    static const char *const PLACES[WORD_PLACES] = {[WORD_ITSELF] = "its own place",
                                                    [WORD_BEFORE] = "the place before",
                                                    [WORD_AFTER] = "the place after",
                                                    [WORD_MARK] = "the start or the end",
                                                    [WORD_FARTHER] = "words farther off"};
    int attention = cell / r->heads;
    WordPlace most = word_places_most(r, attention, cell % r->heads);
    buf_printf(out, "looks %.1f places ±%.1g away (all alike: %.1f)", r->distance[cell].mean, r->distance[cell].margin,
               r->uniform[attention]);
    if (most == WORD_PLACES)
        buf_puts(out, ", at nothing more than if it looked at all alike");
    else
        buf_printf(out, ", at %s: %.0f %% ±%.1g of a word's weight (all alike: %.0f %%)", PLACES[most],
                   100 * r->share[cell][most].mean, 100 * r->share[cell][most].margin, 100 * r->even[attention][most]);
    buf_printf(out, "; over %zu sentences of unseen combinations, as trained", r->sentences);
}

/* "Block 0, head 1: looks 7.8 ±0.1 px away (all alike: 24.8), at neighbours: …; over 500 pictures." */
static void put_looks(const Session *s, int cell, Buf *out)
{
    const WordPlacesResult *words = session_word_places(s);
    const HeadPlacesResult *r = session_head_places(s);
    const Measure *m = session_measure(s, MEASURE_LOOKS, NULL);
    if (words && cell < words->attentions * words->heads)
        put_words(words, cell, out);
    else if (r && cell < r->layers * r->heads) {
        buf_printf(out, "looks %.1f px ±%.1g away (all alike: %.1f)", r->distance[cell].mean, r->distance[cell].margin,
                   r->uniform);
        put_place(s, r, cell, out);
        buf_printf(out, "; over %zu held-out pictures, as trained", r->pictures);
    } else if (m && m->done)
        buf_printf(out, "where it looks is being measured, %zu of %zu %s", m->done, m->total, session_measured_over(s));
    else
        buf_printf(out, "where it looks over many %s is not measured yet (:heads measure)", session_measured_over(s));
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

void head_words_looks(const Session *s, int row, int head, Buf *out)
{
    const char *why = head_words_why(s);
    if (why)
        buf_printf(out, "nothing over many inputs: %s", why);
    else
        put_looks(s, row * session_heads(s) + head, out);
    buf_putc(out, '.');
}

void head_words_put(const Session *s, int row, int head, Buf *out)
{
    char name[ATTENTION_NAME];
    const Graph *g = session_base(s);
    if (session_text_model(s))
        buf_printf(out, "%s, head %d: ", session_attention_name(g, anatomy_attention(g, row), name), head);
    else
        buf_printf(out, "Block %d, head %d: ", row, head);
    head_words_looks(s, row, head, out);
    if (!head_words_why(s))
        put_loss(s, row * session_heads(s) + head, out);
}

int head_words_rows(const Session *s)
{
    return session_text_model(s) ? anatomy_attentions(session_base(s)) : session_blocks(s);
}

int head_words_row(const Session *s)
{
    const Graph *g = session_base(s);
    int block = session_block(s), number = anatomy_attention_number(g, session_attention(s, g, -1));
    return session_text_model(s) ? (number < 0 ? 0 : number) : block < 0 ? 0 : block;
}

bool head_words_all(Session *s, Buf *out, Err *err)
{
    if (!session_measure_all(s, MEASURE_LOOKS, 1, err) || !session_measure_all(s, MEASURE_CENSUS, 1, err))
        return false;
    for (int b = 0; b < head_words_rows(s); b++)
        for (int h = 0; h < session_heads(s); h++) {
            head_words_put(s, b, h, out);
            buf_putc(out, '\n');
        }
    return true;
}
