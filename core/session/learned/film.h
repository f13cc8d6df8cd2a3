/* What the places of patches learned, over a training run: for every snapshot how alike their vectors are. Made from
 * the table of positions as it was recorded, in double with + − × ÷ and sqrt only; the last snapshot agrees with
 * pos.probe.cosine but for rounding. */
#ifndef VITRINE_SESSION_LEARNED_FILM_H
#define VITRINE_SESSION_LEARNED_FILM_H
#include <stdint.h>

#include "core/session/session.h"
#include "core/train/history.h"
#include "core/train/sentences.h"

typedef enum PositionFilmKind {
    FILM_RAW,
    FILM_CENTRED,
    FILM_KINDS
} PositionFilmKind; /* as stored; with the mean of all places taken away */

typedef struct PositionFilmFrame {
    float *cosine[FILM_KINDS]; /* [p,p0]; NaN where a place has no length */
} PositionFilmFrame;

typedef struct PositionFilm {
    const History *history;   /* not owned; must outlive the film */
    int rows, cols;           /* patches */
    PositionFilmFrame *frame; /* [snapshot_count]; cosine NULL until made */
    int made;                 /* how many are */
} PositionFilm;

/* True when the history has positions of patches: else nothing is to be freed. */
bool position_film_init(PositionFilm *f, const History *h);
void position_film_free(PositionFilm *f); /* zeroed allowed */
/* Makes frames, those nearest to `first` first, until the deadline (clock_ns). True when all are there. */
bool position_film_step(PositionFilm *f, int first, int64_t deadline_ns);
/* NULL until it is made. */
const PositionFilmFrame *position_film_frame(const PositionFilm *f, int snapshot);

/* What a text model's training left behind, as a film: the attention of one head in one text at every snapshot. The
 * head is the one in focus, the text the one that was recorded, whatever text is open. */

/* The recorded text as the model reads and writes it. */
typedef struct WordFilmText {
    const char *source[SENTENCE_WORDS + 1],
        *target[SENTENCE_WORDS + 1]; /* of the lexicon, the end, the start with them; of a decoder alone of its words */
} WordFilmText;
/* words: of the model; they must outlive it. */
void word_film_text(const HistoryText *t, const Vocabulary *words, WordFilmText *out);

typedef struct WordFilm {
    const History *history;
    const WordFilmText *text;
    int part;            /* the attention, of the graph that B shows */
    int attention, head; /* its number, and the head's */
    int queries, keys;   /* tokens */
    int row;             /* which of those that ask is picked: the data cursor's, inside this sentence */
    Seq2seqTexts texts;
} WordFilm;

/* False where no training of a text model is known, or its record has no snapshot. */
bool session_word_film(const Session *s, WordFilm *out);
/* A word that asks, or one that is looked at. */
const char *word_film_asks(const WordFilm *f, int row);
const char *word_film_key(const WordFilm *f, int col);
/* [queries, keys] of a snapshot, 0 … history->snapshot_count - 1. */
const float *word_film_pattern(const WordFilm *f, int snapshot);
/* The token that the picked row gives its largest weight. */
int word_film_most(const WordFilm *f, int snapshot);
#endif
