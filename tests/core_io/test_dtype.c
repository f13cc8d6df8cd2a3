/* float16 and bfloat16: every value, every halfway point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/io/tensors.h"

static uint32_t bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

/* The definition: sign, exponent, mantissa. */
static double f16_by_definition(unsigned h)
{
    int exponent = (int)(h >> 10 & 31), mantissa = (int)(h & 1023);
    double v = exponent == 0    ? ldexp(mantissa, -24)
               : exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                                : ldexp(1024 + mantissa, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static void every_f16_is_exact_and_returns(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        float x = f16_to_f32((uint16_t)h);
        double want = f16_by_definition(h);
        if (isnan(want) ? !isnan(x) : bits(x) != bits((float)want))
            fail_msg("f16 %04x is %g", h, (double)x);
        if (f32_to_f16(x) != h)
            fail_msg("f16 %04x returns as %04x", h, f32_to_f16(x));
    }
}

static void every_bf16_is_exact_and_returns(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        float x = bf16_to_f32((uint16_t)h);
        if (bits(x) != (uint32_t)h << 16 || f32_to_bf16(x) != h)
            fail_msg("bf16 %04x returns as %04x", h, f32_to_bf16(x));
    }
}

/* Between neighbours h and h+1 of either sign: the middle goes to the even one, its float neighbours to the nearer one.
 */
static void check_middle(unsigned h, float low, float high, uint16_t (*round)(float), const char *name)
{
    float middle = (float)(((double)low + (double)high) / 2);
    for (unsigned sign = 0; sign <= 0x8000; sign += 0x8000) {
        float s = sign ? -1.0f : 1.0f;
        unsigned even = h & 1 ? h + 1 : h;
        if (round(s * middle) != (sign | even) || round(s * nextafterf(middle, 0)) != (sign | h) ||
            round(s * nextafterf(middle, INFINITY)) != (sign | (h + 1)))
            fail_msg("%s %04x: middle rounds to %04x, below %04x, above %04x", name, h, round(s * middle),
                     round(s * nextafterf(middle, 0)), round(s * nextafterf(middle, INFINITY)));
    }
}

static void rounding_is_to_nearest_even(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 0x7bff; h++)
        check_middle(h, f16_to_f32((uint16_t)h), f16_to_f32((uint16_t)(h + 1)), f32_to_f16, "f16");
    for (unsigned h = 0; h < 0x7f7f; h++)
        check_middle(h, bf16_to_f32((uint16_t)h), bf16_to_f32((uint16_t)(h + 1)), f32_to_bf16, "bf16");
}

static void the_ends_round_as_ieee_says(void **state)
{
    (void)state;
    assert_int_equal(f32_to_f16(65504.0f), 0x7bff);
    assert_int_equal(f32_to_f16(nextafterf(65520.0f, 0)), 0x7bff);
    assert_int_equal(f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(f32_to_f16(-3e38f), 0xfc00);
    assert_int_equal(f32_to_f16(INFINITY), 0x7c00);
    assert_int_equal(f32_to_f16(0x1p-25f), 0);
    assert_int_equal(f32_to_f16(nextafterf(0x1p-25f, 1)), 1);
    assert_int_equal(f32_to_f16(0x1p-149f), 0);
    assert_int_equal(f32_to_f16(-0.0f), 0x8000);
    assert_int_equal(f32_to_bf16(3.4028234e38f), 0x7f80);
    assert_int_equal(f32_to_bf16(-INFINITY), 0xff80);
    static const uint32_t payloads[] = {0x7f800001, 0x7fc00000, 0xff800001, 0x7fffffff, 0x7f802000, 0x7f8fffff};
    for (size_t i = 0; i < 6; i++) { /* a NaN stays one, whichever payload bits are lost */
        float x;
        memcpy(&x, &payloads[i], 4);
        assert_true(isnan(f16_to_f32(f32_to_f16(x))));
        assert_true(isnan(bf16_to_f32(f32_to_bf16(x))));
        assert_int_equal(f32_to_f16(x) >> 15, payloads[i] >> 31);
    }
}

static void types_have_names_and_sizes(void **state)
{
    (void)state;
    static const char *const names[] = {"F64", "F32", "F16", "BF16", "I64", "I32",  "I16",
                                        "I8",  "U64", "U32", "U16",  "U8",  "BOOL", "OTHER"};
    static const size_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1, 0};
    for (int d = 0; d <= DT_OTHER; d++) {
        assert_string_equal(dtype_name((Dtype)d), names[d]);
        assert_int_equal(dtype_size((Dtype)d), sizes[d]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_is_exact_and_returns), cmocka_unit_test(every_bf16_is_exact_and_returns),
        cmocka_unit_test(rounding_is_to_nearest_even),    cmocka_unit_test(the_ends_round_as_ieee_says),
        cmocka_unit_test(types_have_names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
