/* What the places of patches learned, over a training run: for every snapshot how alike their vectors are. Made from
 * the table of positions as it was recorded, in double with + − × ÷ and sqrt only; the last snapshot agrees with
 * pos.probe.cosine but for rounding. */
#ifndef VITRINE_SESSION_LEARNED_POSITION_FILM_H
#define VITRINE_SESSION_LEARNED_POSITION_FILM_H
#include <stdint.h>

#include "core/train/history.h"

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
#endif
