#include "core/session/learned/film.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/models/lexicon.h"
#include "core/session/learned/measures_parts.h"

static size_t places_of(const PositionFilm *f)
{
    return size_mul((size_t)f->rows, (size_t)f->cols);
}

bool position_film_init(PositionFilm *f, const History *h)
{
    const VitConfig *c = &h->vit;
    *f = (PositionFilm){0};
    if (h->text.heads || !vit_has(c, VIT_POS) || h->snapshot_count < 1)
        return false;
    *f = (PositionFilm){.history = h, .rows = c->image_h / c->patch_h, .cols = c->image_w / c->patch_w};
    f->frame = xcalloc((size_t)h->snapshot_count, sizeof *f->frame);
    return true;
}

void position_film_free(PositionFilm *f)
{
    for (int i = 0; f->frame && i < f->history->snapshot_count; i++)
        for (int k = 0; k < FILM_KINDS; k++)
            free(f->frame[i].cosine[k]);
    free(f->frame);
    *f = (PositionFilm){0};
}

/* x[p,d] from the table's last rows, which are the patches'; their mean taken away for FILM_CENTRED. */
static void load(const PositionFilm *f, const float *table, PositionFilmKind kind, double *x)
{
    size_t shape[4], places = places_of(f);
    vit_role_shape(&f->history->vit, VIT_POS, shape);
    size_t width = shape[1];
    const float *patch = table + (shape[0] - places) * width;
    for (size_t d = 0; d < width; d++) {
        double mean = 0;
        for (size_t p = 0; p < places && kind == FILM_CENTRED; p++)
            mean += (double)patch[p * width + d];
        mean /= (double)places;
        for (size_t p = 0; p < places; p++)
            x[p * width + d] = (double)patch[p * width + d] - mean;
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static float *cosine(const double *x, size_t places, size_t width)
{
    float *out = xcalloc(size_mul(places, places), sizeof *out);
    double *length = xcalloc(places, sizeof *length);
    for (size_t p = 0; p < places; p++)
        length[p] = dm_sqrt(dot(x + p * width, x + p * width, width));
    for (size_t p = 0; p < places; p++)
        for (size_t q = p; q < places; q++) {
            double norms = length[p] * length[q];
            float c = norms > 0 ? (float)(dot(x + p * width, x + q * width, width) / norms) : NAN;
            out[p * places + q] = out[q * places + p] = c;
        }
    free(length);
    return out;
}

static void make(PositionFilm *f, int snapshot)
{
    PositionFilmFrame *frame = &f->frame[snapshot];
    size_t shape[4], places = places_of(f);
    vit_role_shape(&f->history->vit, VIT_POS, shape);
    double *x = xcalloc(size_mul(places, shape[1]), sizeof *x);
    for (int k = 0; k < FILM_KINDS; k++) {
        load(f, f->history->snapshot[snapshot].positions, (PositionFilmKind)k, x);
        frame->cosine[k] = cosine(x, places, shape[1]);
    }
    free(x);
    f->made++;
}

/* The nearest to `first` that is not made. */
static int next_of(const PositionFilm *f, int first)
{
    int count = f->history->snapshot_count;
    for (int by = 0; by < 2 * count; by++)
        for (int sign = -1; sign <= 1; sign += 2) {
            int i = first + sign * by;
            if (i >= 0 && i < count && !f->frame[i].cosine[0])
                return i;
        }
    return -1;
}

bool position_film_step(PositionFilm *f, int first, int64_t deadline_ns)
{
    int count = f->history->snapshot_count;
    first = first < 0 ? 0 : first >= count ? count - 1 : first;
    while (f->made < count) {
        make(f, next_of(f, first));
        if (clock_ns() >= deadline_ns)
            break;
    }
    return f->made == count;
}

const PositionFilmFrame *position_film_frame(const PositionFilm *f, int snapshot)
{
    bool there = f && snapshot >= 0 && snapshot < f->history->snapshot_count && f->frame[snapshot].cosine[0];
    return there ? &f->frame[snapshot] : NULL;
}

_Static_assert((int)HISTORY_WORDS <= SENTENCE_WORDS + 1, "room for the words of either history");

void word_film_text(const HistoryText *t, const Vocabulary *words, WordFilmText *out)
{
    for (int i = 0; !t->source && i < t->target; i++) {
        bool named = words->word && t->word[i] < words->n;
        out->target[i] = named ? words->word[t->word[i]] : "?";
    }
    if (!t->source)
        return;
    const Vocabulary *english = lexicon_english(), *french = lexicon_french();
    ParallelSentence pair[2];
    sentence_pair(0, pair);
    const ParallelSentence *s = &pair[0];
    *out = (WordFilmText){.target = {french->word[french->start]}};
    for (int i = 0; i < s->en_n; i++)
        out->source[i] = english->word[s->en[i]];
    out->source[s->en_n] = english->word[english->end];
    for (int i = 0; i < s->fr_n; i++)
        out->target[i + 1] = french->word[s->fr[i]];
}

bool session_word_film(const Session *s, WordFilm *out)
{
    const TrainingRecord *r = s->measures ? &s->measures->own : NULL;
    if (!r || !r->there || !r->history.text.heads || !r->history.snapshot_count)
        return false;
    const History *h = &r->history;
    const Graph *g = session_graph(s, SIDE_B);
    int attention = anatomy_attention_number(g, session_attention(s, g, -1)), head = session_head(s);
    bool known = attention >= 0 && attention < history_lines(h) && head < h->text.heads;
    *out = (WordFilm){.history = h, .text = &r->words, .attention = known ? attention : 0, .head = known ? head : 0};
    out->part = anatomy_attention(g, out->attention);
    history_pattern(h, 0, out->attention, out->head, &out->queries, &out->keys);
    out->texts = history_texts(&h->text, out->attention);
    NodeId n = site_node(g, out->part, SITE_PATTERN);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
    int row = axis == AXIS_NONE ? 0 : session_index_on(s, g, axis);
    out->row = row < out->queries ? row : out->queries - 1;
    return true;
}

const char *word_film_asks(const WordFilm *f, int row)
{
    return f->texts.target_queries ? f->text->target[row] : f->text->source[row];
}

const char *word_film_key(const WordFilm *f, int col)
{
    return f->texts.target_keys ? f->text->target[col] : f->text->source[col];
}

const float *word_film_pattern(const WordFilm *f, int snapshot)
{
    int queries, keys;
    return history_pattern(f->history, snapshot, f->attention, f->head, &queries, &keys);
}

int word_film_most(const WordFilm *f, int snapshot)
{
    const float *row = word_film_pattern(f, snapshot) + (size_t)f->row * (size_t)f->keys;
    int best = 0;
    for (int i = 1; i < f->keys; i++)
        best = row[i] > row[best] ? i : best;
    return best;
}
