/* The reference against the definitions of kernels.h, written out once more without regard to speed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/kernels/variants.h"

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static void assert_same(float a, float b)
{
    uint32_t u, v;
    memcpy(&u, &a, sizeof u);
    memcpy(&v, &b, sizeof v);
    assert_int_equal(u, v);
}

/* Equal bits, any NaN equal to any other. */
static bool equal_but_nan(float a, float b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static float any(Rng *r, int kind)
{
    switch (kind) {
    case 0: return rng_range(r, -1, 1);
    case 1: /* results near the smallest normal and below */
        return ldexpf(rng_range(r, -1, 1), -60 - (int)rng_below(r, 90));
    case 2: return ldexpf(rng_range(r, -1, 1), (int)rng_below(r, 6) - 3);
    default: return from_bits(rng_u32(r));
    }
}

static void check_fma(float a, float b, float c)
{
    float exact = fmaf(a, b, c);
    if (!equal_but_nan(fma_portable(a, b, c), exact) || !equal_but_nan(kernel_fma(a, b, c), exact))
        fail_msg("fma(%a, %a, %a) is %a: portable %a, kernel_fma %a", (double)a, (double)b, (double)c, (double)exact,
                 (double)fma_portable(a, b, c), (double)kernel_fma(a, b, c));
}

/* a·b so close below half a unit in the last place of c that a double cannot tell: rounding twice goes wrong where c is
 * odd. */
static void check_near_halfway(Rng *r)
{
    const bool subnormal = rng_below(r, 4) == 0;
    const float c = subnormal ? from_bits(rng_below(r, 0x800000))
                              : ldexpf(from_bits(0x3f800000 | rng_below(r, 0x800000)), (int)rng_below(r, 80) - 40);
    int e = -125;
    if (!subnormal)
        frexpf(c, &e);
    const int half = e - 25, left = half / 2 - (int)rng_below(r, 20); /* 2^half is half a unit of c */
    const float d = (float)(1 + rng_below(r, 150)) * 0x1p-23f, sign = rng_below(r, 2) ? 1 : -1;
    const float a = ldexpf(1 + d, left), b = sign * ldexpf(1 - d, half - left);
    check_fma(a, b, c);
    check_fma(a, b, -c);
}

static void fma_is_correctly_rounded(void **state)
{
    (void)state;
    Rng r = rng_seed(1, 1);
    for (int i = 0; i < 6000000; i++) {
        float a = any(&r, i & 3), b = any(&r, i & 3), c = any(&r, i & 3);
        if (i & 64) /* heavy cancellation: c close to −a·b, and halfway cases */
            c = (i & 128 ? 1.0f : 0.5f) * -(a * b);
        check_fma(a, b, c);
        if (i % 8 == 0)
            check_near_halfway(&r);
    }
    static const float special[] = {
        0.0f,     -0.0f,          1,          -1,        INFINITY,         -INFINITY,
        NAN,      0x1p-149f,      -0x1p-149f, 0x1p-126f, 0x1.fffffep+127f, -0x1.fffffep+127f,
        0x1p+24f, 0x1.000002p+0f, 0x1p-24f,   0x1p-75f};
    enum { N = sizeof special / sizeof special[0] };
    for (int i = 0; i < N * N * N; i++)
        check_fma(special[i % N], special[i / N % N], special[i / N / N]);
}

/* k block after k block, the sums beside the output or in it, with and without a bias; a's k cells neighbours or its
 * rows. */
static void contract_is_one_chain_per_block(void **state)
{
    (void)state;
    enum { STRIDE = 300 };
    static float a[KERNEL_K * STRIDE], b[KERNEL_K * KERNEL_COLS];
    Rng r = rng_seed(2, 1);
    for (int trial = 0; trial < 300; trial++) {
        float y[KERNEL_ROWS * KERNEL_COLS], from[KERNEL_COLS * KERNEL_ROWS], bias[KERNEL_COLS],
            before[KERNEL_ROWS * KERNEL_COLS];
        ContractTile t = {
            .a = a, .b = b, .to = y, .to_row = KERNEL_COLS, .from = trial % 3 ? y : from, .from_row = KERNEL_COLS};
        t.rows = 1 + (int)rng_below(&r, KERNEL_ROWS);
        t.columns = 1 + (int)rng_below(&r, KERNEL_COLS);
        t.depth = trial % 5 ? (int)rng_below(&r, KERNEL_K + 1) : trial % 2 * KERNEL_K;
        t.a_row = trial % 4 < 2 ? STRIDE : 1;
        t.a_k = trial % 4 < 2 ? 1 : STRIDE;
        t.bias = trial % 2 ? bias : NULL;
        for (size_t i = 0; i < sizeof a / sizeof a[0]; i++)
            a[i] = any(&r, trial % 4);
        for (size_t i = 0; i < sizeof b / sizeof b[0]; i++)
            b[i] = any(&r, trial % 4);
        for (int j = 0; j < KERNEL_COLS; j++)
            bias[j] = any(&r, trial % 4);
        for (int i = 0; i < KERNEL_ROWS * KERNEL_COLS; i++)
            before[i] = y[i] = from[i] = i % 3 ? -0.0f : any(&r, trial % 4);
        kernels_reference()->contract(&t);
        for (int i = 0; i < KERNEL_ROWS * KERNEL_COLS; i++) {
            int row = i / KERNEL_COLS, column = i % KERNEL_COLS;
            float chain = 0;
            for (int k = 0; k < t.depth; k++)
                chain = fmaf(a[(size_t)row * t.a_row + (size_t)k * t.a_k], b[k * KERNEL_COLS + column], chain);
            float sum = t.bias ? before[i] + chain + bias[column] : before[i] + chain;
            assert_true(equal_but_nan(y[i], row < t.rows && column < t.columns ? sum : before[i]));
            float canonical = kernel_canonical(y[i]);
            if (t.bias && row < t.rows && column < t.columns)
                assert_memory_equal(&y[i], &canonical, sizeof canonical);
        }
    }
}

static void sum_has_sixteen_lanes(void **state)
{
    (void)state;
    float x[400];
    Rng r = rng_seed(3, 1);
    for (size_t n = 0; n <= 300; n++) {
        float lane[16] = {0};
        for (size_t i = 0; i < 400; i++)
            x[i] = i < n ? any(&r, (int)(n % 4)) : 0;
        for (size_t i = 0; i < n; i++)
            lane[i % 16] += x[i];
        for (int half = 8; half > 0; half /= 2)
            for (int l = 0; l < half; l++)
                lane[l] += lane[l + half];
        float sum = kernels_reference()->sum(x, n);
        assert_same(sum, isnan(lane[0]) ? from_bits(0x7fc00000) : lane[0]);
        assert_same(kernels_reference()->sum(x, n + rng_below(&r, 100)), sum); /* trailing zeros */
    }
    const float minus_zero[] = {-0.0f, -0.0f};
    assert_same(kernels_reference()->sum(minus_zero, 2), 0.0f);
    assert_same(kernels_reference()->sum(NULL, 0), 0.0f);
}

static void max_orders_zeros_and_keeps_nan(void **state)
{
    (void)state;
    Rng r = rng_seed(4, 1);
    float x[64];
    for (int trial = 0; trial < 5000; trial++) {
        size_t n = rng_below(&r, 65);
        bool nan = false, plus_zero = false;
        float best = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            x[i] = trial % 3 == 0 ? any(&r, 3) : trial % 3 == 1 ? -(float)rng_below(&r, 3) : -any(&r, 0) * any(&r, 0);
            if (trial % 7 == 0 && x[i] == 0)
                x[i] = 0;
            nan |= isnan(x[i]);
            plus_zero |= x[i] == 0 && !signbit(x[i]);
            best = x[i] > best || (x[i] == best && !signbit(x[i])) ? x[i] : best;
        }
        if (best == 0)
            best = plus_zero ? 0.0f : -0.0f;
        assert_same(kernels_reference()->max(x, n), nan ? from_bits(0x7fc00000) : best);
    }
    const float negative_nan[] = {1, from_bits(0xffc00001), 2};
    assert_same(kernels_reference()->max(negative_nan, 3), from_bits(0x7fc00000));
    assert_same(kernels_reference()->max(NULL, 0), -INFINITY);
}

static float plain_zip(ZipFn f, float a, float b)
{
    float y = f == ZIP_ADD ? a + b : f == ZIP_SUB ? a - b : f == ZIP_MUL ? a * b : a / b;
    return isnan(y) ? from_bits(0x7fc00000) : y;
}

static void zips(void **state)
{
    (void)state;
    Rng r = rng_seed(5, 1);
    float a[40], b[40], y[40];
    for (int trial = 0; trial < 4000; trial++) {
        const ZipFn f = (ZipFn)(trial % ZIP_COUNT);
        const size_t n = rng_below(&r, 41), a_step = (size_t)trial / 4 % 2, b_step = (size_t)trial / 8 % 2;
        for (size_t i = 0; i < 40; i++) {
            a[i] = any(&r, trial % 3 ? 3 : 0);
            b[i] = any(&r, trial % 3 ? 3 : 0);
        }
        kernels_reference()->zip[f](y, a, a_step, b, b_step, n);
        for (size_t i = 0; i < n; i++)
            assert_same(y[i], plain_zip(f, a[i * a_step], b[i * b_step]));
        assert_same(zip_apply(f, a[1], b[1]), plain_zip(f, a[1], b[1]));
    }
    kernels_reference()->zip[ZIP_ADD](y, NULL, 0, NULL, 0, 0);
}

static void pack_by_its_formula(void **state)
{
    (void)state;
    static float from[4000], to[40 * KERNEL_COLS];
    for (size_t i = 0; i < 4000; i++)
        from[i] = (float)i + 1;
    for (int columns = 1; columns <= KERNEL_COLS; columns++)
        for (size_t depth = 0; depth <= 40; depth += 5) {
            const size_t steps[][2] = {{1, 40}, {43, 1}, {3, 50}};
            for (size_t s = 0; s < 3; s++) {
                kernels_reference()->pack(to, from, steps[s][0], steps[s][1], columns, depth);
                for (size_t i = 0; i < depth * KERNEL_COLS; i++) {
                    const size_t j = i % KERNEL_COLS, k = i / KERNEL_COLS;
                    assert_same(to[i], j < (size_t)columns ? from[j * steps[s][0] + k * steps[s][1]] : 0);
                }
            }
        }
}

static void canonical_nan(void **state)
{
    (void)state;
    assert_same(kernel_canonical(from_bits(0xff800001)), from_bits(0x7fc00000));
    assert_same(kernel_canonical(from_bits(0x7fffffff)), from_bits(0x7fc00000));
    assert_same(kernel_canonical(-0.0f), -0.0f);
    assert_same(kernel_canonical(-INFINITY), -INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fma_is_correctly_rounded),
        cmocka_unit_test(contract_is_one_chain_per_block),
        cmocka_unit_test(sum_has_sixteen_lanes),
        cmocka_unit_test(max_orders_zeros_and_keeps_nan),
        cmocka_unit_test(zips),
        cmocka_unit_test(pack_by_its_formula),
        cmocka_unit_test(canonical_nan),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
