/* The error of every map against double libm, over a dense sample of all floats, and its values where it leaves the
 * ordinary. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/kernels/kernels.h"

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* x times a share that vanishes faster than x grows */
static double share(double x, double part)
{
    return x == -HUGE_VAL ? -0.0 : x * part;
}
static double logistic(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double exact_exp(double x)
{
    return exp(x);
}
static double exact_log(double x)
{
    return log(x);
}
static double exact_sqrt(double x)
{
    return sqrt(x);
}
static double exact_rsqrt(double x)
{
    return 1 / sqrt(x);
}
static double exact_sigmoid(double x)
{
    return logistic(x);
}
static double exact_tanh(double x)
{
    return tanh(x);
}
static double exact_relu(double x)
{
    return x > 0 ? x : 0;
}
static double exact_gelu(double x)
{
    return share(x, 0.5 * erfc(-x * sqrt(0.5)));
}
static double exact_gelu_tanh(double x)
{
    return share(x, logistic(2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
static double exact_quick_gelu(double x)
{
    return share(x, logistic(1.702 * x));
}
static double exact_silu(double x)
{
    return share(x, logistic(x));
}
static double exact_xlogx(double x)
{
    return x == 0 ? 0 : x * log(x);
}

/* Nothing of so large an angle is left in a float. */
static double exact_cos(double x)
{
    return fabs(x) <= (double)MAP_ANGLE ? cos(x) : (double)NAN;
}
static double exact_sin(double x)
{
    return fabs(x) <= (double)MAP_ANGLE ? sin(x) : (double)NAN;
}

/* To so many bits, none of them below 2^lowest; beyond `largest` infinite. nearbyint takes ties to even. */
static double rounded(double x, int bits, int lowest, double largest)
{
    int e;
    if (x == 0 || isinf(x) || isnan(x))
        return x;
    frexp(x, &e);
    int last = e - bits > lowest ? e - bits : lowest;
    double y = ldexp(nearbyint(ldexp(x, -last)), last);
    return fabs(y) > largest ? copysign(HUGE_VAL, x) : y;
}
static double exact_bf16(double x)
{
    return rounded(x, 8, -133, 0x1.fep127);
}
static double exact_f16(double x)
{
    return rounded(x, 11, -24, 65504);
}

static double normal(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}
static double gelu_slope(double x)
{
    return x * exp(-0.5 * x * x) / sqrt(2 * acos(-1.0));
}
/* x·σ(v) has the derivative σ(v) + x·v′·σ(v)·σ(−v); nothing but the signs of zero is left at the infinities. */
static double logistic_slope(double u, double v)
{
    return isinf(v) ? 0 : u * logistic(v) * logistic(-v);
}
static double tanh_argument(double x)
{
    return 2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x);
}
static double tanh_slope(double x)
{
    return logistic_slope(x * 2 * sqrt(2 / acos(-1.0)) * (1 + 3 * 0.044715 * x * x), tanh_argument(x));
}
static double exact_gelu_grad(double x)
{
    return isinf(x) ? (x > 0) : normal(x) + gelu_slope(x);
}
static double exact_gelu_tanh_grad(double x)
{
    return logistic(tanh_argument(x)) + tanh_slope(x);
}
static double exact_quick_gelu_grad(double x)
{
    return logistic(1.702 * x) + logistic_slope(1.702 * x, 1.702 * x);
}
static double exact_silu_grad(double x)
{
    return logistic(x) + logistic_slope(x, x);
}
static double exact_relu_grad(double x)
{
    return isnan(x) ? x : x > 0;
}

/* The larger part of a sum that may cancel; 0: the value itself. */
static double part_gelu(double x)
{
    return isinf(x) ? 0 : fmax(normal(x), fabs(gelu_slope(x)));
}
static double part_gelu_tanh(double x)
{
    return fmax(logistic(tanh_argument(x)), fabs(tanh_slope(x)));
}
static double part_quick_gelu(double x)
{
    return fmax(logistic(1.702 * x), fabs(logistic_slope(1.702 * x, 1.702 * x)));
}
static double part_silu(double x)
{
    return fmax(logistic(x), fabs(logistic_slope(x, x)));
}
static double (*const part[MAP_COUNT])(double) = {
    [MAP_GELU_GRAD] = part_gelu,
    [MAP_GELU_TANH_GRAD] = part_gelu_tanh,
    [MAP_QUICK_GELU_GRAD] = part_quick_gelu,
    [MAP_SILU_GRAD] = part_silu,
};

static double (*const exact[MAP_COUNT])(double) = {
    [MAP_EXP] = exact_exp,
    [MAP_LOG] = exact_log,
    [MAP_SQRT] = exact_sqrt,
    [MAP_RSQRT] = exact_rsqrt,
    [MAP_SIGMOID] = exact_sigmoid,
    [MAP_TANH] = exact_tanh,
    [MAP_RELU] = exact_relu,
    [MAP_GELU] = exact_gelu,
    [MAP_GELU_TANH] = exact_gelu_tanh,
    [MAP_QUICK_GELU] = exact_quick_gelu,
    [MAP_SILU] = exact_silu,
    [MAP_XLOGX] = exact_xlogx,
    [MAP_ROUND_BF16] = exact_bf16,
    [MAP_ROUND_F16] = exact_f16,
    [MAP_COS] = exact_cos,
    [MAP_SIN] = exact_sin,
    [MAP_GELU_GRAD] = exact_gelu_grad,
    [MAP_GELU_TANH_GRAD] = exact_gelu_tanh_grad,
    [MAP_QUICK_GELU_GRAD] = exact_quick_gelu_grad,
    [MAP_SILU_GRAD] = exact_silu_grad,
    [MAP_RELU_GRAD] = exact_relu_grad,
};

static const double promised[MAP_COUNT] = {
#define X(symbol, name, ulp) [MAP_##symbol] = ulp,
    MAP_FUNCTIONS(X)
#undef X
};

/* Distance in units of the last place that a float has at the exact value or at `larger` where that is larger,
 * subnormals included. */
static double ulps(float y, double value, double larger)
{
    if (isnan(value) || isnan(y))
        return isnan(value) && isnan(y) ? 0 : HUGE_VAL;
    float nearest = (float)value;
    if (isinf(y) || isinf(nearest))
        return y == nearest ? 0 : isinf(value) ? HUGE_VAL : 1; /* one of the two may be the largest float */
    int e;
    double size = fmax(fabs(value), larger);
    frexp(size, &e);
    return fabs((double)y - value) / ldexp(1, (size == 0 || e < -125 ? -125 : e) - 24);
}

enum { CHUNK = 4096 };

static void check_chunk(MapFn f, const float *x, double *worst, float *where)
{
    static float y[CHUNK];
    kernels()->map[f](y, x, CHUNK);
    for (int i = 0; i < CHUNK; i++) {
        double e = ulps(y[i], exact[f]((double)x[i]), part[f] ? part[f]((double)x[i]) : 0);
        if (e > *worst) {
            *worst = e;
            *where = x[i];
        }
    }
}

/* Every step-th float of both signs from 0 to the infinities; MAPS_STEP=1 takes them all (half an hour). */
static void error_in_ulp(void **state)
{
    (void)state;
    static float x[CHUNK];
    const char *stride = getenv("MAPS_STEP");
    const uint32_t step = stride && atoi(stride) > 0 ? (uint32_t)atoi(stride) : 1009;
    for (MapFn f = 0; f < MAP_COUNT; f++) {
        double worst = 0;
        float where = 0;
        uint64_t u = 0;
        while (u < 0xff800000u) {
            for (int i = 0; i < CHUNK; i++, u += step) {
                if (u > 0x7f800000u && u < 0x80000000u)
                    u = 0x80000000u;
                x[i] = from_bits(u < 0xff800000u ? (uint32_t)u : i & 1 ? 0xff800000u : 0x7f800000u);
            }
            check_chunk(f, x, &worst, &where);
        }
        print_message("  %-15s %.3f ulp at %a (%g), promised %.1f\n", map_name(f), worst, (double)where, (double)where,
                      promised[f]);
        assert_true(worst <= promised[f]);
    }
}

static const float NaN = NAN, Inf = INFINITY;

/* At −∞, −0, +0, +∞: bits, the sign of zero included. And every NaN becomes the canonical one. */
static void limits(void **state)
{
    (void)state;
    const float at[] = {-Inf, -0.0f, 0.0f, Inf};
    const float values[MAP_COUNT][4] = {
        [MAP_EXP] = {0, 1, 1, Inf},
        [MAP_LOG] = {NaN, -Inf, -Inf, Inf},
        [MAP_SQRT] = {NaN, -0.0f, 0, Inf},
        [MAP_RSQRT] = {NaN, -Inf, Inf, 0},
        [MAP_SIGMOID] = {0, 0.5f, 0.5f, 1},
        [MAP_TANH] = {-1, -0.0f, 0, 1},
        [MAP_RELU] = {0, 0, 0, Inf},
        [MAP_GELU] = {-0.0f, -0.0f, 0, Inf},
        [MAP_GELU_TANH] = {-0.0f, -0.0f, 0, Inf},
        [MAP_QUICK_GELU] = {-0.0f, -0.0f, 0, Inf},
        [MAP_SILU] = {-0.0f, -0.0f, 0, Inf},
        [MAP_XLOGX] = {NaN, 0, 0, Inf},
        [MAP_ROUND_BF16] = {-Inf, -0.0f, 0, Inf},
        [MAP_ROUND_F16] = {-Inf, -0.0f, 0, Inf},
        [MAP_COS] = {NaN, 1, 1, NaN},
        [MAP_SIN] = {NaN, -0.0f, 0, NaN},
        [MAP_GELU_GRAD] = {-0.0f, 0.5f, 0.5f, 1},
        [MAP_GELU_TANH_GRAD] = {-0.0f, 0.5f, 0.5f, 1},
        [MAP_QUICK_GELU_GRAD] = {-0.0f, 0.5f, 0.5f, 1},
        [MAP_SILU_GRAD] = {-0.0f, 0.5f, 0.5f, 1},
        [MAP_RELU_GRAD] = {0, 0, 0, 1},
    };
    const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff};
    for (int v = 0; kernels_variant(v); v++)
        for (MapFn f = 0; f < MAP_COUNT; f++) {
            float y[6];
            kernels_variant(v)->map[f](y, at, 4);
            for (int i = 0; i < 4; i++) {
                assert_int_equal(to_bits(y[i]), isnan(values[f][i]) ? 0x7fc00000 : to_bits(values[f][i]));
                assert_int_equal(to_bits(map_apply(f, at[i])), to_bits(y[i]));
            }
            for (int i = 0; i < 6; i++)
                y[i] = from_bits(nans[i]);
            kernels_variant(v)->map[f](y, y, 6);
            for (int i = 0; i < 6; i++)
                assert_int_equal(to_bits(y[i]), 0x7fc00000);
        }
}

/* Where the edges of the range are, to the last float. */
static void edges(void **state)
{
    (void)state;
    assert_true(isinf(map_apply(MAP_EXP, 0x1.62e430p+6f)) && !isinf(map_apply(MAP_EXP, 0x1.62e42ep+6f)));
    assert_true(map_apply(MAP_EXP, -0x1.9fe368p+6f) == 0x1p-149f && map_apply(MAP_EXP, -0x1.9fe36ap+6f) == 0);
    assert_true(map_apply(MAP_EXP, 0x1p-149f) == 1 && map_apply(MAP_EXP, 0x1p-30f) == 1);
    assert_true(map_apply(MAP_LOG, 1) == 0 && !signbit(map_apply(MAP_LOG, 1)));
    assert_true(map_apply(MAP_LOG, 0x1p-149f) == (float)log(0x1p-149) && isnan(map_apply(MAP_LOG, -0x1p-149f)));
    assert_true(map_apply(MAP_XLOGX, 1) == 0 && isnan(map_apply(MAP_XLOGX, -1)));
    for (uint32_t u = 1; u < 0x800000; u += 4099) { /* subnormal in, the same subnormal out */
        assert_true(map_apply(MAP_TANH, -from_bits(u)) == -from_bits(u) &&
                    map_apply(MAP_RELU, from_bits(u)) == from_bits(u));
        assert_true(fabsf(map_apply(MAP_GELU, from_bits(u)) - 0.5f * from_bits(u)) <= 0x1p-149f);
    }
    assert_true(isnan(map_apply(MAP_SIN, 0x1.000002p+17f)) && isnan(map_apply(MAP_COS, -0x1.000002p+17f)));
    assert_true(!isnan(map_apply(MAP_SIN, MAP_ANGLE)) && !isnan(map_apply(MAP_COS, -MAP_ANGLE)));
    for (int n = 1; n < 80000;
         n++) { /* the floats nearest to whole quarters of a turn, where one of the two vanishes */
        float x = (float)(n * acos(0.0));
        for (int near = -1; near <= 1; near++) {
            float at = near ? nextafterf(x, near < 0 ? -Inf : Inf) : x;
            assert_true(ulps(map_apply(MAP_SIN, at), sin((double)at), 0) <= promised[MAP_SIN]);
            assert_true(ulps(map_apply(MAP_COS, at), cos((double)at), 0) <= promised[MAP_COS]);
        }
    }
    float before = -1; /* monotone where it has flattened out */
    for (float x = 0; x < 20; x += 0.001f) {
        float y = map_apply(MAP_TANH, x);
        assert_true(y <= 1 && y >= before - 0x1p-23f);
        before = y;
    }
}

/* Ties, carries, subnormals and the largest values, bit by bit. */
static void rounding(void **state)
{
    (void)state;
    static const struct {
        MapFn f;
        float from, to;
    } cases[] = {
        {MAP_ROUND_BF16, 0x1.01p0f, 0x1p0f},
        {MAP_ROUND_BF16, 0x1.03p0f, 0x1.04p0f},
        {MAP_ROUND_BF16, 0x1.010002p0f, 0x1.02p0f},
        {MAP_ROUND_BF16, 0x1.ffp0f, 0x1p1f},
        {MAP_ROUND_BF16, 0x1.fffffep127f, INFINITY},
        {MAP_ROUND_BF16, 0x1.fefffep127f, 0x1.fep127f},
        {MAP_ROUND_BF16, 0x1p-149f, 0},
        {MAP_ROUND_BF16, 0x1p-134f, 0},
        {MAP_ROUND_BF16, 0x1.8p-133f, 0x1p-132f},
        {MAP_ROUND_F16, 0x1.002p0f, 0x1p0f},
        {MAP_ROUND_F16, 0x1.006p0f, 0x1.008p0f},
        {MAP_ROUND_F16, 0x1.ffep0f, 0x1p1f},
        {MAP_ROUND_F16, 65519.996f, 65504},
        {MAP_ROUND_F16, 65520, INFINITY},
        {MAP_ROUND_F16, 0x1p-25f, 0},
        {MAP_ROUND_F16, 0x1.8p-24f, 0x1p-23f},
        {MAP_ROUND_F16, 0x1.000002p-25f, 0x1p-24f},
        {MAP_ROUND_F16, 0x1.ffep-15f, 0x1p-14f},
        {MAP_ROUND_F16, 0x1.ff8p-15f, 0x1.ff8p-15f},
        {MAP_ROUND_F16, 0x1p-149f, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int sign = 0; sign < 2; sign++) {
            float x = sign ? -cases[i].from : cases[i].from, y = sign ? -cases[i].to : cases[i].to;
            assert_int_equal(to_bits(map_apply(cases[i].f, x)), to_bits(y));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_in_ulp),
        cmocka_unit_test(limits),
        cmocka_unit_test(edges),
        cmocka_unit_test(rounding),
    };
    return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
