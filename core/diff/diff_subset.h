/* Which of a set of vectors add up to a given one: a sum of real numbers tells, when it has enough of them, which of
 * its terms were left out. Inside core/diff only. */
#ifndef VITRINE_DIFF_DIFF_SUBSET_H
#define VITRINE_DIFF_DIFF_SUBSET_H
#include <stdbool.h>
#include <stddef.h>

typedef enum SubsetAnswer {
    SUBSET_FOUND, /* these add up to it */
    SUBSET_NONE,  /* no subset does */
    SUBSET_OPEN   /* not told within the work allowed */
} SubsetAnswer;

typedef struct Subset {
    int count, rows;     /* vectors, and numbers in each */
    const double *terms; /* [count,rows] */
    const double *sum;   /* [rows] */
    double within;       /* of each number */
} Subset;

/* Fills taken[count], the nearest that was found where the answer is not SUBSET_FOUND. Terms that are too small to be
 * told are taken. *work counts floating-point operations up and the search ends beyond `most` of them. The relaxed
 * problem, shares from 0 to 1, is solved by active sets (Stark and Parker, Bounded-Variable Least-Squares, 1995); where
 * its solution is no subset the search branches. */
SubsetAnswer subset_find(const Subset *s, bool *taken, double *work, double most);

/* log2 of how many vectors can be told apart in the region where the sums of the terms lie, each taken with the
 * likelihood `share`: ½ log2 det(I + C / within²), C the sums' covariance. */
double subset_distinct(const Subset *s, double share);
/* log2 of how many subsets leave out at most `out` of n. */
double subset_choices(int n, int out);
#endif
