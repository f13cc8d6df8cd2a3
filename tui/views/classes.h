/* The classes of an answer in the order of their probabilities. Nothing is sorted: drawing allocates nothing. */
#ifndef VITRINE_TUI_VIEWS_CLASSES_H
#define VITRINE_TUI_VIEWS_CLASSES_H
#include "tui/views/shown.h"

/* Larger values stand first, NaN last, equal ones in the order of the classes. n ≥ 1. by_size: larger by |v|, as
 * differences are listed. */
typedef struct Ranking {
    const float *v;
    size_t n;
    bool by_size;
} Ranking;
size_t ranking_best(Ranking r);
size_t ranking_rank(Ranking r, size_t which);     /* 0 = the best */
size_t ranking_next(Ranking r, size_t which);     /* n after the last */
size_t ranking_previous(Ranking r, size_t which); /* n before the best */
size_t classes_best(const float *v, size_t n);
size_t classes_next(const float *v, size_t n, size_t which); /* n after the last */
/* Returns out. */
const char *classes_name(const Shown *v, size_t i, char *out, size_t n);
#endif
