/* What an array of values ranges over: one pass, nothing stored. */
#ifndef VITRINE_TUI_VIEWS_SPREAD_H
#define VITRINE_TUI_VIEWS_SPREAD_H
#include "tui/views/view.h"

typedef struct Spread {
    size_t count, finite, zeros, nans, infinities;
    size_t at_min, at_max; /* cells of the first smallest and first largest finite value; valid when finite > 0 */
    float min, max;        /* 0 when nothing is finite */
    float least, most;     /* the ends of the scale: these, or where it is shared those of A and B */
    bool shared;
    bool whole;   /* every finite value is a whole number under a million */
    float common; /* spread_common, where it was asked for; else 0 */
} Spread;
Spread spread_of(const float *values, size_t count);
/* What 98 of 100 cells of `per_cell` values each are not beyond by size, or a little more (under an eighth): at
 * most two in 100 have a value beyond it. Of at most SPREAD_SAMPLE values, evenly spaced. 0 where that is 0, or
 * none is finite. */
enum { SPREAD_SAMPLE = 1 << 20 };
float spread_common(const float *values, size_t count, double per_cell);
/* Mean and population standard deviation of the finite values, in double. */
void spread_moments(const float *values, size_t count, double *mean, double *deviation);
/* The scale is to serve these values too: those of the other side, shown beside it. */
void spread_share(Spread *s, const float *values, size_t count);
/* colour_scale_for from what is known of the values already. Where the largest is more than twice as far out as what is
 * common the scale is clipped there, unless it is locked. */
ColourScale colour_scale_of_spread(const Paint *p, Side side, const Spread *s);
#endif
