/* The classes or words of an answer in the order in which they are listed. Nothing is sorted: drawing allocates
 * nothing. */
#ifndef VITRINE_SESSION_SCREENS_ANSWER_H
#define VITRINE_SESSION_SCREENS_ANSWER_H
#include <stdbool.h>
#include <stddef.h>

/* Larger values stand first, NaN last, equal ones in the order of the classes. n ≥ 1. by_size: larger by |v|, as
 * differences are listed. */
typedef struct Ranking {
    const float *v;
    size_t n;
    bool by_size;
} Ranking;
size_t ranking_best(Ranking r);
size_t ranking_rank(Ranking r, size_t which);         /* 0 = the best */
size_t ranking_next(Ranking r, size_t which);         /* n after the last */
size_t ranking_previous(Ranking r, size_t which);     /* n before the best */
size_t ranking_move(Ranking r, size_t which, int by); /* so many lines down the list, or up, stopping at its ends */
#endif
