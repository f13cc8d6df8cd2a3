#include "tui/views/spread.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

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
    s.least = s.min;
    s.most = s.max;
    return s;
}

void spread_share(Spread *s, const float *values, size_t count)
{
    Spread other = spread_of(values, count);
    if (!other.finite || !s->finite)
        return;
    s->shared = true;
    s->least = other.min < s->least ? other.min : s->least;
    s->most = other.max > s->most ? other.max : s->most;
}

/* Sorted into bins by the upper bits of what they are stored as: eight to a power of two. */
float spread_common(const float *values, size_t count, double per_cell)
{
    enum { SHIFT = 20, BINS = 0x80000000u >> SHIFT };
    uint32_t bin[BINS] = {0}, bits;
    size_t step = count / SPREAD_SAMPLE + 1, n = 0, beyond = 0;
    for (size_t i = 0; i < count; i += step)
        if (isfinite(values[i])) {
            memcpy(&bits, &values[i], sizeof bits);
            bin[(bits & 0x7fffffffu) >> SHIFT]++;
            n++;
        }
    for (uint32_t k = BINS; k-- > 0;) {
        beyond += bin[k];
        if ((double)beyond * 50 * per_cell <= (double)n)
            continue;
        float edge;
        bits = (k + 1) << SHIFT;
        memcpy(&edge, &bits, sizeof edge);
        return k && isfinite(edge) ? edge : 0;
    }
    return 0;
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
