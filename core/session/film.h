/* What the places of patches learned, over a training run: for every snapshot how alike their vectors are. Made from
 * the table of positions as it was recorded, in double with + − × ÷ and sqrt only; the last snapshot agrees with
 * pos.probe.cosine but for rounding. */
#ifndef VITRINE_SESSION_FILM_H
#define VITRINE_SESSION_FILM_H
#include <stdint.h>

#include "core/train/history.h"

typedef enum FilmKind {
    FILM_RAW,
    FILM_CENTRED,
    FILM_KINDS
} FilmKind; /* as stored; with the mean of all places taken away */

typedef struct FilmFrame {
    float *cosine[FILM_KINDS]; /* [p,p0]; NaN where a place has no length */
} FilmFrame;

typedef struct Film {
    const History *history; /* not owned; must outlive the film */
    int rows, cols;         /* patches */
    FilmFrame *frame;       /* [snapshot_count]; cosine NULL until made */
    int made;               /* how many are */
} Film;

/* True when the history has positions of patches: else nothing is to be freed. */
bool film_init(Film *f, const History *h);
void film_free(Film *f); /* zeroed allowed */
/* Makes frames, those nearest to `first` first, until the deadline (clock_ns). True when all are there. */
bool film_step(Film *f, int first, int64_t deadline_ns);
/* NULL until it is made. */
const FilmFrame *film_frame(const Film *f, int snapshot);
#endif
