/* base/dmath against long double libm: the promised 4 ulp over the stated ranges, and the edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"

enum { SAMPLES = 200000 };

static double error_ulp(double y, long double exact)
{
    if (isnan(y) || isnan((double)exact))
        return isnan(y) && isnan((double)exact) ? 0 : HUGE_VAL;
    int e;
    frexpl(exact, &e);
    return (double)(fabsl((long double)y - exact) / ldexpl(1, (e < -1021 ? -1021 : e) - 53));
}

static double unit(Rng *r)
{
    return ((double)rng_u32(r) * 0x1p-32 + (double)rng_u32(r)) * 0x1p-32;
}

static double between(Rng *r, double a, double b)
{
    return a + (b - a) * unit(r);
}

/* 2^a … 2^b, uniform in the exponent */
static double magnitude(Rng *r, int a, int b)
{
    return ldexp(1 + unit(r), a + (int)rng_below(r, (uint32_t)(b - a)));
}

static double worst;

static void note(double y, long double exact)
{
    double e = error_ulp(y, exact);
    if (!(e <= worst))
        worst = e;
}

static void report(const char *name)
{
    print_message("  %-6s %.2f ulp\n", name, worst);
    assert_true(worst <= 4);
    worst = 0;
}

static void within_4_ulp(void **state)
{
    (void)state;
    Rng r = rng_seed(1, 2);
    for (int i = 0; i < SAMPLES; i++) {
        double x = i & 1 ? between(&r, -700, 700) : magnitude(&r, -40, 3) * (i & 2 ? 1 : -1);
        note(dm_exp(x), expl((long double)x));
    }
    report("exp");
    for (int i = 0; i < SAMPLES; i++) {
        double x = i & 1 ? magnitude(&r, -1022, 1023) : 1 + magnitude(&r, -50, -1) * (i & 2 ? 1 : -0.5);
        note(dm_log(x), logl((long double)x));
    }
    report("log");
    for (int i = 0; i < SAMPLES; i++) {
        double k = (double)(int)rng_below(&r, 600000), x = i % 3 == 0 ? between(&r, -1e6, 1e6)
                                                           : i % 3 == 1
                                                               ? magnitude(&r, -60, 10)
                                                               : (k * DM_PI / 2) * (1 + magnitude(&r, -53, -40));
        note(dm_sin(x), sinl((long double)x));
        note(dm_cos(x), cosl((long double)x));
    }
    report("sincos");
    for (int i = 0; i < SAMPLES; i++) {
        double x = i & 1 ? magnitude(&r, -1000, 1000) : 1 + between(&r, -0.3, 0.4);
        double y = between(&r, -699, 699) / log(x);
        note(dm_pow(x, y), powl((long double)x, (long double)y));
    }
    report("pow");
}

static void floors(void **state)
{
    (void)state;
    Rng r = rng_seed(3, 4);
    for (int i = 0; i < SAMPLES; i++) {
        double x = magnitude(&r, -5, 52) * (i & 1 ? 1 : -1);
        assert_true(dm_floor(x) == floor(x));
        x = floor(x);
        assert_true(dm_floor(x) == x);
    }
    assert_true(signbit(dm_floor(-0.0)) && dm_floor(-0.5) == -1 && dm_floor(0.5) == 0);
    assert_true(dm_floor(0x1p60) == 0x1p60 && isnan(dm_floor((double)NAN)) && dm_floor(-HUGE_VAL) == -HUGE_VAL);
}

static void edges(void **state)
{
    (void)state;
    assert_true(dm_exp(0) == 1 && dm_exp(-HUGE_VAL) == 0 && dm_exp(HUGE_VAL) == HUGE_VAL && isnan(dm_exp((double)NAN)));
    assert_true(dm_exp(710) == HUGE_VAL && dm_exp(-746) == 0 && dm_exp(-740) > 0);
    assert_true(dm_log(1) == 0 && dm_log(0) == -HUGE_VAL && isnan(dm_log(-1)) && dm_log(HUGE_VAL) == HUGE_VAL);
    assert_true(dm_pow(7, 0) == 1 && dm_pow(1, 1e300) == 1 && isnan(dm_pow(-1, 2)) && dm_pow(2, 2000) == HUGE_VAL);
    assert_true(dm_pow(2, -3000) == 0);
    for (int i = -1000; i < 1000; i++)
        assert_true(dm_pow(2, i) == ldexp(1, i));
    assert_true(dm_sin(0) == 0 && dm_cos(0) == 1 && signbit(dm_sin(-0.0)));
    assert_true(isnan(dm_sin(HUGE_VAL)) && isnan(dm_cos((double)NAN)) && isnan(dm_sin(2e6)));
    assert_true(dm_sqrt(2) == sqrt(2.0) && dm_abs(-3) == 3 && !signbit(dm_abs(-0.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_4_ulp),
        cmocka_unit_test(floors),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests_name("dmath", tests, NULL, NULL);
}
