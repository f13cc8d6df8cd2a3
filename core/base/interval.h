/* How far a share, a mean or a ratio can be trusted: 95 % intervals, differences over the same pictures, and how far a
 * ranking holds. Only + − × ÷ and sqrt: the same figures on every machine. */
#ifndef VITRINE_BASE_INTERVAL_H
#define VITRINE_BASE_INTERVAL_H
#include <stdbool.h>
#include <stddef.h>

typedef struct Interval {
    double low, high;
} Interval;

/* Where the true share lies, 0 … 1, when `right` of n pictures were right (Wilson 1927): unlike p ± 2σ it is no point
 * at 0 % or 100 % and does not leave 0 … 1. n 0: nothing is known, 0 … 1. */
Interval interval_wilson(size_t right, size_t n);

/* A mean over pictures or sentences and half the width of its 95 % interval (Student 1908: of the mean, by their
 * spread; 0 where there is one). */
typedef struct MeanOver {
    double mean, margin;
} MeanOver;
/* Of x[0], x[step], … n numbers. */
MeanOver mean_over(const double *x, size_t n, size_t step);
/* Σx/Σy over n pairs, such as nats and bytes of n stretches: where the y differ, neither the mean of x/y nor its spread
 * is that of the ratio, so what is spread are the residuals x − ratio·y (Cochran 1977, "Sampling Techniques", 2.11).
 * NaN where Σy is 0. */
MeanOver ratio_over(const double *x, const double *y, size_t n);

/* A count out of n. */
typedef struct Tally {
    size_t right, n;
} Tally;
double tally_share(Tally t); /* 0 where n is 0 */
Interval tally_interval(Tally t);

/* Two namings of the same n pictures. What both got right or both wrong says nothing about their difference; the
 * discordant ones do (McNemar 1947). */
typedef struct Paired {
    size_t lost; /* right the first time, wrong the second */
    size_t won;  /* wrong the first time, right the second */
    size_t n;
} Paired;

Paired paired_count(const int *label, const int *first, const int *second, size_t n);
/* Share right the first time less share right the second, (lost − won) / n; 0 where n is 0. */
double paired_lost(Paired p);
/* Its 95 % interval: Wald's with half a picture added to each of the four cells (Agresti and Min 2005), which keeps its
 * promise where few pictures are discordant and is no point where none is. */
Interval paired_interval(Paired p);
double paired_margin(Paired p); /* half its width */
/* Does the interval leave out 0? */
bool paired_differs(Paired p);

/* Of count values with intervals, which places value i can have, 1 the largest: first[i] … last[i]. Values whose
 * intervals overlap have places in common. */
void interval_places(const Interval *of, int count, int i, int *first, int *last);
#endif
