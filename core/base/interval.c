#include "core/base/interval.h"

#include "core/base/dmath.h"

static const double Z = 1.959963984540054; /* of the normal distribution, 2.5 % lie beyond it on either side */

/* 2.5 % of Student's distribution lie beyond it: of few degrees of freedom from the tables, then by Fisher's expansion
 * around the normal one (Abramowitz and Stegun 26.7.5), to some millionths. */
static double student(double degrees)
{
    static const double FEW[] = {12.7062047364, 4.3026527299, 3.1824463053, 2.7764451052,
                                 2.5705818356,  2.4469118488, 2.3646242510, 2.3060041350};
    const double z2 = Z * Z, by = 1 / degrees;
    if (degrees < sizeof FEW / sizeof *FEW + 0.5)
        return FEW[(int)degrees - 1];
    return Z * (1 + by * ((z2 + 1) / 4 +
                          by * ((5 * z2 * z2 + 16 * z2 + 3) / 96 +
                                by * ((((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384 +
                                      by * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160))));
}

static double margin_of(double squares, double n)
{
    return n > 1 ? student(n - 1) * dm_sqrt(squares / (n - 1) / n) : 0;
}

MeanOver mean_over(const double *x, size_t n, size_t step)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i * step];
    MeanOver m = {n ? sum / (double)n : 0, 0};
    for (size_t i = 0; i < n; i++)
        squares += (x[i * step] - m.mean) * (x[i * step] - m.mean);
    m.margin = margin_of(squares, (double)n);
    return m;
}

MeanOver ratio_over(const double *x, const double *y, size_t n)
{
    double above = 0, below = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        above += x[i];
        below += y[i];
    }
    const double ratio = above / below;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - ratio * y[i]) * (x[i] - ratio * y[i]);
    return (MeanOver){ratio, margin_of(squares, (double)n) * (double)n / below};
}

Interval interval_wilson(size_t right, size_t n)
{
    if (!n)
        return (Interval){0, 1};
    double m = (double)n, p = (double)right / m, widened = 1 + Z * Z / m, middle = (p + Z * Z / (2 * m)) / widened,
           half = Z / widened * dm_sqrt(p * (1 - p) / m + Z * Z / (4 * m * m));
    /* the ends are exact where all or none are right: rounding must not cut them off */
    return (Interval){right ? middle - half : 0, right < n ? middle + half : 1};
}

double tally_share(Tally t)
{
    return t.n ? (double)t.right / (double)t.n : 0;
}

Interval tally_interval(Tally t)
{
    return interval_wilson(t.right, t.n);
}

Paired paired_count(const int *label, const int *first, const int *second, size_t n)
{
    Paired p = {.n = n};
    for (size_t i = 0; i < n; i++) {
        p.lost += first[i] == label[i] && second[i] != label[i];
        p.won += first[i] != label[i] && second[i] == label[i];
    }
    return p;
}

double paired_lost(Paired p)
{
    return p.n ? ((double)p.lost - (double)p.won) / (double)p.n : 0;
}

double paired_margin(Paired p)
{
    double n = (double)p.n + 2, both = (double)p.lost + (double)p.won + 1, apart = (double)p.lost - (double)p.won;
    return Z * dm_sqrt(both - apart * apart / n) / n;
}

Interval paired_interval(Paired p)
{
    double middle = ((double)p.lost - (double)p.won) / ((double)p.n + 2), half = paired_margin(p);
    return (Interval){middle - half, middle + half};
}

bool paired_differs(Paired p)
{
    Interval i = paired_interval(p);
    return i.low > 0 || i.high < 0;
}

void interval_places(const Interval *of, int count, int i, int *first, int *last)
{
    *first = 1;
    *last = count;
    for (int k = 0; k < count; k++) {
        *first += k != i && of[k].low > of[i].high;
        *last -= k != i && of[k].high < of[i].low;
    }
}
