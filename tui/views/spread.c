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

static bool is_whole(float x)
{
    return !isfinite(x) || (x > -1e6F && x < 1e6F && x == (float)(int)x);
}

/* Values are looked at by the group: most groups have nothing outside what was seen, and that is found without a branch
 * per value. */
enum { GROUP = 32 };

/* How many of a group are 0; *inside: are all of them in [min, max]? A NaN is not. */
static size_t look(const float x[GROUP], float min, float max, bool *inside)
{
    unsigned in = 1, zeros = 0;
    for (int k = 0; k < GROUP; k++) {
        in &= (unsigned)(x[k] >= min) & (unsigned)(x[k] <= max);
        zeros += x[k] == 0.0F;
    }
    *inside = in;
    return zeros;
}

Spread spread_of(const float *values, size_t count)
{
    Spread s = {.count = count, .min = INFINITY, .max = -INFINITY};
    size_t i = 0, whole = 0;
    for (; i + GROUP <= count; i += GROUP) {
        bool inside;
        s.zeros += look(values + i, s.min, s.max, &inside);
        for (size_t k = i; !inside && k < i + GROUP; k++)
            if (!(values[k] >= s.min && values[k] <= s.max))
                widen(&s, values[k], k);
    }
    for (; i < count; i++) {
        s.zeros += values[i] == 0.0F;
        if (!(values[i] >= s.min && values[i] <= s.max))
            widen(&s, values[i], i);
    }
    while (whole < count && is_whole(values[whole]))
        whole++;
    s.whole = whole == count;
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
