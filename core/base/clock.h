/* Monotonic time. Only the app loop, run budgets and progress reports look at it: no value depends on it. */
#ifndef VITRINE_BASE_CLOCK_H
#define VITRINE_BASE_CLOCK_H
#include <stdint.h>

int64_t clock_ns(void);
#define CLOCK_NEVER INT64_MAX /* a deadline that does not come */

/* How long work that reports its share will still take, from what it took so far. */
/* A zeroed Pace has seen nothing. */
typedef struct Pace {
    int64_t began;
    double from, last;
} Pace;

/* share: 0 … 1, at now_ns (clock_ns). Whole seconds, at least 1; 0 while too little is known to say. A share that falls
 * is other work. */
int pace_left(Pace *p, double share, int64_t now_ns);
#endif
