#include "core/kernels/map_exact.h"

#include <math.h>
#include <string.h>

#include "core/base/dmath.h"

#define ROOT_2_PI 2.50662827463100050242               /* √(2π) */
static const double FLOAT_TOO_LARGE = 0x1.ffffffp+127; /* what is nearer to infinity than to the largest float */

static double e_to(double x)
{
    return x < -700 ? 0 : x > 700 ? (double)INFINITY : dm_exp(x);
}

/* 1 − Φ(z), z ≥ 0: the series of ½ − φ(z)·(z + z³/3 + z⁵/15 + …) near 0, Laplace's continued fraction φ(z)/(z + 1/(z +
 * 2/(z + …))) beyond (Abramowitz and Stegun 1964, 26.2.11 and 26.2.14). */
static double upper_tail(double z)
{
    double phi = e_to(-z * z / 2) / ROOT_2_PI;
    if (z < 2.5) {
        double term = z, sum = z;
        for (int k = 3; k < 80; k += 2) {
            term *= z * z / k;
            sum += term;
        }
        return 0.5 - phi * sum;
    }
    double below = z;
    for (int k = 200; k > 0; k--)
        below = z + k / below;
    return phi / below;
}

static double normal(double x)
{
    return x < 0 ? upper_tail(-x) : 1 - upper_tail(x);
}

static double sigmoid(double x)
{
    return x < 0 ? e_to(x) / (1 + e_to(x)) : 1 / (1 + e_to(-x));
}

static double tangent(double x)
{
    double z = fabs(x), s = x * x;
    if (z < 0.1) /* the difference below would cancel */
        return x * (1 - s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315 - s * (62.0 / 2835 - s * 1382.0 / 155925)))));
    double e = e_to(-2 * z);
    return (x < 0 ? -1 : 1) * (1 - e) / (1 + e);
}

/* x · share, where an infinite x must not make 0 · ∞. */
static double times_share(double x, double share)
{
    return share > 0 ? x * share : 0;
}

/* To the nearest multiple of `step`, ties to even: adding 1.5 · 2^52 steps leaves no bit for less. */
static double to_step(double x, double step)
{
    double c = 0x1.8p+52 * step;
    return (x + c) - c;
}

/* 2^e with 2^e ≤ |x| < 2^(e+1), x ≠ 0: the exponent of a double, which no float is subnormal in. */
static double power_below(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double rounded(double x, int bits, double smallest, double too_large)
{
    if (x == 0 || !isfinite(x))
        return x;
    double power = power_below(x), y = to_step(x, (power < smallest ? smallest : power) / (double)(1 << (bits - 1)));
    return fabs(y) >= too_large ? (x < 0 ? -(double)INFINITY : (double)INFINITY) : y;
}

double map_exact(MapFn f, double x)
{
    if (isnan(x))
        return x;
    switch (f) {
    case MAP_EXP: return e_to(x);
    case MAP_LOG: return x < 0 ? (double)NAN : x == 0 ? -(double)INFINITY : isinf(x) ? x : dm_log(x);
    case MAP_SQRT: return x < 0 ? (double)NAN : dm_sqrt(x);
    case MAP_RSQRT: return x < 0 ? (double)NAN : 1 / dm_sqrt(x);
    case MAP_SIGMOID: return sigmoid(x);
    case MAP_TANH: return tangent(x);
    case MAP_RELU: return x > 0 ? x : 0;
    case MAP_GELU: return times_share(x, normal(x));
    case MAP_GELU_TANH: return times_share(x, sigmoid(2 * dm_sqrt(2 / DM_PI) * (x + 0.044715 * x * x * x)));
    case MAP_QUICK_GELU: return times_share(x, sigmoid(1.702 * x));
    case MAP_SILU: return times_share(x, sigmoid(x));
    case MAP_XLOGX: return x < 0 ? (double)NAN : x == 0 ? 0 : isinf(x) ? x : x * dm_log(x);
    case MAP_GELU_GRAD: return map_exact_slope(MAP_GELU, x);
    case MAP_GELU_TANH_GRAD: return map_exact_slope(MAP_GELU_TANH, x);
    case MAP_QUICK_GELU_GRAD: return map_exact_slope(MAP_QUICK_GELU, x);
    case MAP_SILU_GRAD: return map_exact_slope(MAP_SILU, x);
    case MAP_RELU_GRAD: return x > 0;
    case MAP_ROUND_BF16: return rounded(x, 8, 0x1p-126, FLOAT_TOO_LARGE);
    case MAP_ROUND_F16: return rounded(x, 11, 0x1p-14, 65520);
    case MAP_COS: return fabs(x) <= (double)MAP_ANGLE ? dm_cos(x) : (double)NAN;
    case MAP_SIN: return fabs(x) <= (double)MAP_ANGLE ? dm_sin(x) : (double)NAN;
    case MAP_COUNT: break;
    }
    return (double)NAN;
}

/* --- derivatives --- */

static bool has_edges(MapFn f)
{
    return f == MAP_RELU || f == MAP_RELU_GRAD || f == MAP_ROUND_BF16 || f == MAP_ROUND_F16;
}

double map_exact_slope(MapFn f, double x)
{
    if (isnan(x))
        return x;
    if (has_edges(f))
        return f == MAP_RELU && x > 0;
    bool from_zero = f == MAP_LOG || f == MAP_SQRT || f == MAP_RSQRT || f == MAP_XLOGX; /* no smooth place at 0 */
    if (f == MAP_XLOGX && x == 0)
        return 0;
    if (f == MAP_COS || f == MAP_SIN)
        return f == MAP_SIN ? map_exact(MAP_COS, x) : -map_exact(MAP_SIN, x); /* turned by a quarter: no differences */
    if (fabs(x) > 80 && !from_zero)
        return f == MAP_EXP ? e_to(x) : f == MAP_SIGMOID || f == MAP_TANH || x < 0 ? 0 : 1;
    double h = (from_zero ? x : 1) * 0x1p-10;
    return (8 * (map_exact(f, x + h) - map_exact(f, x - h)) - (map_exact(f, x + 2 * h) - map_exact(f, x - 2 * h))) /
           (12 * h);
}

double map_exact_slope_size(MapFn f, double x)
{
    double slope = fabs(map_exact_slope(f, x));
    if (f == MAP_TANH || f == MAP_SIGMOID) /* made from the rounded result, as 1 − y² and y·(1 − y) */
        return slope > 1 ? slope : 1;
    if (f < MAP_GELU || f > MAP_SILU || x == 0)
        return slope;
    double first = fabs(map_exact(f, x) / x), second = fabs(map_exact_slope(f, x) - map_exact(f, x) / x);
    return slope > first ? (slope > second ? slope : second) : first > second ? first : second;
}

/* --- errors --- */

double map_bound(MapFn f)
{
    static const double BOUND[MAP_COUNT] = {
#define X(symbol, name, ulp) [MAP_##symbol] = ulp,
        MAP_FUNCTIONS(X)
#undef X
    };
    return BOUND[f];
}

static double unit_of(double x)
{
    double power = x == 0 ? 0 : power_below(x);
    return (power < 0x1p-126 ? 0x1p-126 : power) * 0x1p-23;
}

static MapFn derivative_of(MapFn f)
{
    switch (f) {
    case MAP_GELU_GRAD: return MAP_GELU;
    case MAP_GELU_TANH_GRAD: return MAP_GELU_TANH;
    case MAP_QUICK_GELU_GRAD: return MAP_QUICK_GELU;
    case MAP_SILU_GRAD: return MAP_SILU;
    default: return MAP_COUNT;
    }
}

double map_error(MapFn f, float x, float y)
{
    MapFn of = derivative_of(f);
    double exact = map_exact(f, (double)x);
    if (isnan(exact) || isnan(y))
        return isnan(exact) && isnan(y) ? 0 : (double)INFINITY;
    if (isinf(exact) || isinf(y)) {
        bool large = fabs(exact) >= FLOAT_TOO_LARGE && isinf(y) && (exact < 0) == (y < 0);
        return large || (double)y == exact ? 0 : (double)INFINITY;
    }
    if (of != MAP_COUNT && fabsf(x) > 80)
        return fabs((double)y - exact) / 0x1p-23;
    return fabs((double)y - exact) / unit_of(of == MAP_COUNT ? exact : map_exact_slope_size(of, (double)x));
}
