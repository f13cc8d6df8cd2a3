/* What can be said of what training left behind: the film of positions, the patch filters, how far heads look. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/ask/say.h"
#include "core/session/learned/head_words.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/word_film.h"

static void put_record(const Teller *t, const char *word, const char *what, const History *h, int snapshot, bool twin)
{
    const PositionGrid *g = session_history_grid(t->s, twin, snapshot);
    buf_printf(t->out, "%s step %d ", word, h->snapshot[snapshot].step);
    if (g)
        buf_printf(t->out, "%.0f %%%s", 100 * g->near4, what);
}

static void put_look(const WordFilm *f, int snapshot, Buf *out)
{
    int most = word_film_most(f, snapshot);
    buf_printf(out, "at step %d most at %s, ", f->history->snapshot[snapshot].step, word_film_key(f, most));
    ask_put_short(out, word_film_pattern(f, snapshot)[(size_t)f->row * (size_t)f->keys + (size_t)most]);
}

static void put_word_film(const Teller *t, const WordFilm *f, int at)
{
    char name[ATTENTION_NAME];
    int last = f->history->snapshot_count - 1;
    buf_printf(t->out, "Snapshot %d of %d. In %s head %d the word %s looks ", at + 1, last + 1,
               session_attention_name(t->g, f->part, name), f->head, word_film_asks(f, f->row));
    put_look(f, at, t->out);
    if (at < last) {
        buf_puts(t->out, "; ");
        put_look(f, last, t->out);
    }
    buf_printf(t->out, ". The sentence is the one that was recorded: %d words that look at %d.", f->asks, f->keys);
}

bool say_training(const Teller *t)
{
    const History *h = session_history_shown(t->s);
    if (!h || !h->snapshot_count) {
        buf_puts(t->out, "No record of this model's training is known.");
        return true;
    }
    bool twin = h == session_history_twin(t->s);
    int last = h->snapshot_count - 1, at = t->s->look.training.snapshot < 0      ? 0
                                           : t->s->look.training.snapshot > last ? last
                                                                                 : t->s->look.training.snapshot;
    WordFilm words;
    if (session_word_film(t->s, &words)) {
        put_word_film(t, &words, at);
        return true;
    }
    if (!session_history_grid(t->s, twin, at)) {
        buf_printf(t->out, "Snapshot %d of %d, at step %d%s.", at + 1, last + 1, h->snapshot[at].step,
                   twin ? ", of the twin without 1/√d_k" : "");
        return true;
    }
    put_record(t, twin ? "Without 1/√d_k, at" : "At", " of the places are most like one beside them on the grid", h, at,
               twin);
    if (at < last)
        put_record(t, ", at", "", h, last, twin);
    buf_printf(t->out, " (by chance %.0f %%).", 100 * session_history_grid(t->s, twin, at)->chance4);
    const PositionFilm *film = session_film(t->s, twin);
    if (film && !position_film_frame(film, at))
        measures_step(t->s, 0); /* makes one frame, that of the chosen snapshot first */
    const PositionFilmFrame *frame = film ? position_film_frame(film, at) : NULL;
    int p = teller_index(t, ROLE_PLACE), n = film ? film->rows * film->cols : 0;
    if (!frame || n < 2 || p >= n)
        return true;
    const float *row = frame->cosine[t->s->look.positions.centred ? FILM_CENTRED : FILM_RAW] + (size_t)p * (size_t)n;
    int best = p ? 0 : 1;
    for (int i = 0; i < n; i++)
        best = i != p && row[i] > row[best] ? i : best;
    char here[64], most[64];
    buf_printf(t->out, " The place of %s is most like that of %s then, cosine %.2f.",
               teller_label(t, ROLE_PLACE, p, here), teller_label(t, ROLE_PLACE, best, most), (double)row[best]);
    return true;
}

static bool say_component(const Teller *t)
{
    NodeId n;
    const float *share = teller_values(t, teller_model(t, SITE_COMPONENTS_EXPLAINED), &n);
    if (!share)
        return false;
    int k = teller_index(t, ROLE_COMPONENT), count = teller_length(t, ROLE_COMPONENT), half = 0;
    double sum = 0, to = 0;
    for (int i = 0; i < count; i++) {
        to += i <= k ? (double)share[i] : 0;
        sum += sum < 0.9 ? (double)share[i] : 0;
        half += sum < 0.9;
    }
    buf_printf(t->out, "Component %d of %d holds %.1f %% of how the filters differ", k, count, 100 * (double)share[k]);
    buf_printf(t->out, k ? ", with those before it %.1f %%." : ", more than any other.", 100 * to);
    if (sum >= 0.9)
        buf_printf(t->out, " Nine tenths are in the first %d.", half + 1);
    return true;
}

bool say_filters(const Teller *t)
{
    if (t->s->look.filters.components &&
        session_node(t->s, t->side, teller_model(t, SITE_COMPONENTS_EXPLAINED)) != NO_NODE)
        return say_component(t);
    NodeId n;
    const float *x = teller_values(t, teller_model(t, SITE_EMBED), &n);
    if (!x)
        return false;
    int d = teller_index(t, ROLE_WIDTH), patches = teller_length(t, ROLE_PLACE), least = 0, most = 0,
        down = graph_role(t->g, ROLE_PLACE, SEQUENCE_ANY), across = graph_role(t->g, ROLE_WIDTH, SEQUENCE_ANY);
    Dims dims = graph_node(t->g, n)->dims;
    if (dims_find(dims, down) < 0 || dims_find(dims, across) < 0)
        return say_anything(t);
    size_t step = dims_stride(t->g->axes, dims, down);
    const float *column = x + (size_t)d * dims_stride(t->g->axes, dims, across);
    for (int i = 1; i < patches; i++) {
        least = column[(size_t)i * step] < column[(size_t)least * step] ? i : least;
        most = column[(size_t)i * step] > column[(size_t)most * step] ? i : most;
    }
    char label[64];
    buf_printf(t->out, "Filter %d weighs the %d values of a patch into number %d of its vector: in this picture from ",
               d, teller_length(t, ROLE_CHANNEL) * teller_length(t, ROLE_PIXEL_ROW) * teller_length(t, ROLE_PIXEL_COL),
               d);
    ask_put_short(t->out, column[(size_t)least * step]);
    buf_printf(t->out, " at %s to ", teller_label(t, ROLE_PLACE, least, label));
    ask_put_short(t->out, column[(size_t)most * step]);
    buf_printf(t->out, " at %s.", teller_label(t, ROLE_PLACE, most, label));
    return true;
}

/* How many of all heads look less far. */
static bool count_nearer(const Teller *t, float distance, int *nearer, int *all)
{
    *nearer = *all = 0;
    for (int a = NO_PART; (a = anatomy_next(t->g, a, PART_ATTENTION)) != NO_PART;) {
        NodeId n;
        const char *path = site_path(t->g, a, SITE_DISTANCE);
        const float *x = path ? teller_values(t, path, &n) : NULL;
        if (!x)
            return false;
        for (size_t h = 0; h < graph_cells(t->g, n); h++, ++*all)
            *nearer += x[h] < distance;
    }
    return true;
}

/* The head in focus over many pictures. It is the model's as trained, so of B's heads only. */
bool say_head_over_pictures(const Teller *t)
{
    int head = teller_index(t, ROLE_HEAD);
    if (t->side == SIDE_A && session_pinned(t->s))
        return true;
    buf_puts(t->out, t->out->len ? "\n" : "");
    head_words_put(t->s, head_words_row(t->s), head, t->out);
    return true;
}

bool say_heads(const Teller *t)
{
    float distance, uniform, entropy;
    int nearer, all, block = session_block(t->s), head = teller_index(t, ROLE_HEAD);
    NodeId n;
    if (!*teller_site(t, SITE_DISTANCE)) {
        head_words_put(t->s, head_words_row(t->s), head, t->out);
        return true;
    }
    const float *x = teller_values(t, teller_site(t, SITE_DISTANCE), &n);
    if (!x || !teller_value(t, teller_model(t, SITE_DISTANCE_UNIFORM), &uniform))
        return false;
    head = head < (int)graph_cells(t->g, n) ? head : (int)graph_cells(t->g, n) - 1;
    distance = x[head];
    buf_printf(t->out, "Head %d of block %d looks ", head, block < 0 ? 0 : block);
    ask_put_short(t->out, distance);
    buf_puts(t->out, " pixels away on average; looking at all patches alike would be ");
    ask_put_short(t->out, uniform);
    buf_putc(t->out, '.');
    if (!count_nearer(t, distance, &nearer, &all))
        return false;
    buf_printf(t->out, " %d of all %d heads look less far.", nearer, all);
    if (session_node(t->s, t->side, teller_site(t, SITE_ENTROPY_SHARE_MEAN)) == NO_NODE)
        return say_head_over_pictures(t);
    x = teller_values(t, teller_site(t, SITE_ENTROPY_SHARE_MEAN), &n);
    if (!x)
        return false;
    entropy = x[head];
    buf_printf(t->out, " Its rows have %.0f %% of the entropy of even ones.", 100 * (double)entropy);
    return say_head_over_pictures(t);
}
