/* What an array of values ranges over: one pass, nothing stored. */
#ifndef VITRINE_TUI_VIEWS_SPREAD_H
#define VITRINE_TUI_VIEWS_SPREAD_H
#include "tui/views/view.h"

typedef struct Spread {
    size_t count, finite, zeros, nans, infinities;
    size_t at_min, at_max; /* cells of the first smallest and first largest finite value; valid when finite > 0 */
    float min, max;        /* 0 when nothing is finite */
    bool whole;            /* every finite value is a whole number under a million */
} Spread;
Spread spread_of(const float *values, size_t count);
/* Mean and population standard deviation of the finite values, in double. */
void spread_moments(const float *values, size_t count, double *mean, double *deviation);
/* colour_scale_for from what is known of the values already. */
ColourScale colour_scale_of_spread(const Paint *p, Side side, const Spread *s);
#endif
