#include "core/base/dmath.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NOT_A_NUMBER ((double)NAN)
#define INFINITE ((double)INFINITY)

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* −1022 ≤ n ≤ 1023 */
static double power_of_two(int n)
{
    return from_bits((uint64_t)(n + 1023) << 52);
}

/* c[0] + c[1]·x + … */
static double polynomial(double x, const double *c, size_t n)
{
    double p = c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        p = p * x + c[i];
    return p;
}

double dm_abs(double x)
{
    return from_bits(bits_of(x) & ~(UINT64_C(1) << 63));
}

double dm_sqrt(double x)
{
    return sqrt(x);
}

double dm_floor(double x)
{
    if (!(dm_abs(x) < 0x1p52))
        return x;
    double whole = (double)(int64_t)x;
    if (whole == x)
        return x; /* keeps −0 */
    return whole > x ? whole - 1 : whole;
}

/* ln 2 in two parts; the first has 32 bits, so that a multiple up to 2^21 of it is exact. */
static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;

/* e^(x + rest), rest far below x: x = k·ln 2 + r, then the series of e^r on |r| ≤ 0.35. */
static double exp_of_sum(double x, double rest)
{
    static const double series[] = {
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    if (x != x)
        return x;
    if (x > 720)
        return INFINITE;
    if (x < -760)
        return 0;
    double k = dm_floor(x * 0x1.71547652b82fep+0 + 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW + rest;
    int half = (int)k / 2;
    return polynomial(r, series, COUNT(series)) * power_of_two(half) * power_of_two((int)k - half);
}

double dm_exp(double x)
{
    return exp_of_sum(x, 0);
}

/* x = 2^k·m with m in [√½, √2]; x > 0 and finite */
static double mantissa(double x, double *k)
{
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t u = bits_of(x);
    double m = from_bits((u & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52));
    e += (int)(u >> 52) - 1023;
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    *k = e;
    return m;
}

/* log m = 2 artanh s, s = (m−1)/(m+1): the series in s² from its term s^(2n+1)/(2n+1), n = 1 … on, over s³. */
static const double artanh_series[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                       1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};

double dm_log(double x)
{
    if (x != x || x < 0)
        return NOT_A_NUMBER;
    if (x == 0)
        return -INFINITE;
    if (x == INFINITE)
        return x;
    double k, m = mantissa(x, &k), f = m - 1, s = f / (2 + f), z = s * s;
    double near = f - s * (f - 2 * z * polynomial(z, artanh_series, COUNT(artanh_series))); /* 2s = f − s·f */
    return k * LN2_HIGH + (k * LN2_LOW + near);
}

/* A number in two parts, about 106 bits (Dekker 1971, "A Floating-Point Technique for Extending the Available
 * Precision"). */
typedef struct Wide {
    double high, low;
} Wide;

static Wide wide_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return (Wide){s, (a - (s - t)) + (b - t)};
}

static Wide wide_product(double a, double b)
{
    const double splitter = 0x1p27 + 1;
    double p = a * splitter, a1 = p - (p - a), a2 = a - a1, q = b * splitter, b1 = q - (q - b), b2 = b - b1,
           high = a * b;
    return (Wide){high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2};
}

static Wide wide_multiply(Wide a, Wide b)
{
    Wide p = wide_product(a.high, b.high);
    return wide_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static Wide wide_add(Wide a, Wide b)
{
    Wide s = wide_sum(a.high, b.high);
    return wide_sum(s.high, s.low + (a.low + b.low));
}

/* log x to about 65 bits: the terms s and s³/3 in two parts, the rest is below 2^-12 of them. */
static Wide wide_log(double x)
{
    double k, m = mantissa(x, &k), f = m - 1;
    Wide below = wide_sum(2, f);
    double s0 = f / below.high;
    Wide back = wide_product(s0, below.high);
    Wide s = wide_sum(s0, ((f - back.high) - back.low - s0 * below.low) / below.high);
    Wide z = wide_multiply(s, s), third = {1.0 / 3, 0x1.5555555555555p-56};
    Wide cube = wide_multiply(s, wide_multiply(z, third));
    double rest = s.high * z.high * z.high * polynomial(z.high, artanh_series + 1, COUNT(artanh_series) - 1);
    Wide half = wide_add(s, wide_add(cube, (Wide){rest, 0}));
    return wide_add(wide_sum(k * LN2_HIGH, k * LN2_LOW), (Wide){2 * half.high, 2 * half.low});
}

double dm_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (!(x > 0 && x < INFINITE) || !(dm_abs(y) < INFINITE))
        return NOT_A_NUMBER;
    Wide l = wide_log(x);
    if (dm_abs(y * l.high) > 800)
        return exp_of_sum(y * l.high, 0);
    Wide p = wide_product(y, l.high);
    return exp_of_sum(p.high, p.low + y * l.low);
}

/* x = k·π/2 + r, |r| ≤ π/4; π/2 in parts of 33, 33 and 53 bits, so that k times the first two is exact. Returns k
 * mod 4. */
static int quarter(double x, double *r)
{
    double k = dm_floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    *r = ((x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34) - k * 0x1.3198a2e037073p-69;
    return (int)((int64_t)k & 3);
}

static double near_sin(double r)
{
    static const double series[] = {-1.0 / 6,
                                    1.0 / 120,
                                    -1.0 / 5040,
                                    1.0 / 362880,
                                    -1.0 / 39916800,
                                    1.0 / 6227020800.0,
                                    -1.0 / 1307674368000.0,
                                    1.0 / 355687428096000.0};
    double z = r * r;
    return r + r * z * polynomial(z, series, COUNT(series));
}

static double near_cos(double r)
{
    static const double series[] = {1.0 / 24,        -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
                                    1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    double z = r * r, h = 1 - 0.5 * z;
    return h + (((1 - h) - 0.5 * z) + z * z * polynomial(z, series, COUNT(series)));
}

static double wave(double x, int shift)
{
    if (!(dm_abs(x) <= 1e6))
        return NOT_A_NUMBER;
    double r;
    int q = (quarter(x, &r) + shift) & 3;
    double y = q & 1 ? near_cos(r) : near_sin(r);
    return q & 2 ? -y : y;
}

double dm_sin(double x)
{
    return dm_abs(x) < 0x1p-27 ? x : wave(x, 0);
}

double dm_cos(double x)
{
    return wave(x, 1);
}
