#include "tui/views/spread.h"

#include <math.h>

/* A value outside what was seen so far, or none at all. */
static void widen(Spread *s, float x, size_t i)
{
    if (isnan(x)) {
        s->nans++;
    } else if (isinf(x)) {
        s->infinities++;
    } else {
        bool first = s->min > s->max;
        if (first || x < s->min) {
            s->min = x;
            s->at_min = i;
        }
        if (first || x > s->max) {
            s->max = x;
            s->at_max = i;
        }
    }
}

Spread spread_of(const float *values, size_t count)
{
    Spread s = {.count = count, .min = INFINITY, .max = -INFINITY, .whole = true};
    for (size_t i = 0; i < count; i++) {
        float x = values[i];
        if (!(x >= s.min && x <= s.max))
            widen(&s, x, i);
        s.zeros += x == 0.0F;
        if (s.whole && isfinite(x))
            s.whole = x > -1e6F && x < 1e6F && x == (float)(int)x;
    }
    s.finite = count - s.nans - s.infinities;
    if (!s.finite)
        s.min = s.max = 0;
    return s;
}

void spread_moments(const float *values, size_t count, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += (double)values[i];
            n++;
        }
    *mean = n ? sum / (double)n : 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            double d = (double)values[i] - *mean;
            squares += d * d;
        }
    *deviation = n ? sqrt(squares / (double)n) : 0;
}
