#include "core/session/learned/word_film.h"

#include "core/graph/anatomy.h"
#include "core/models/lexicon.h"
#include "core/session/learned/measures_parts.h"

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
