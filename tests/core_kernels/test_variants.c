#define _GNU_SOURCE /* anonymous mappings */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/kernels/variants.h"
#include "tests/core_kernels/compare.h"

/* All that this processor runs, against plain C with an fma of double arithmetic. */
static void variants_equal_the_reference(void **state)
{
    (void)state;
    assert_string_equal(kernels_variant(0)->isa, "scalar");
    for (int i = 0; kernels_variant(i); i++) {
        const char *difference = compare_tables(&kernels_portable, kernels_variant(i));
        if (difference)
            fail_msg("%s", difference);
        print_message("  %s equals the reference\n", kernels_variant(i)->isa);
    }
}

/* The comparison itself: a table with one wrong kernel must not pass. */
static float wrong_sum(const float *x, size_t n)
{
    float s = 0;
    for (size_t i = 0; i < n; i++)
        s += x[i];
    return s;
}

static void wrong_contract(const ContractTile *t)
{
    for (int r = 0; r < t->rows; r++)
        for (int j = 0; j < t->columns; j++) {
            float s = 0;
            for (int k = 0; k < t->depth; k++)
                s += t->a[(size_t)r * t->a_row + (size_t)k * t->a_k] * t->b[k * KERNEL_COLS + j];
            s += t->from[(size_t)r * t->from_row + (size_t)j];
            t->to[(size_t)r * t->to_row + (size_t)j] = t->bias ? kernel_canonical(s + t->bias[j]) : s;
        }
}

/* Right in every value, but it writes past its columns. */
static void wide_contract(const ContractTile *t)
{
    kernels_reference()->contract(t);
    if (t->rows > 1 && (size_t)t->columns < t->to_row)
        t->to[t->columns] = 1;
}

static void wrong_relu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

static void wrong_hash(uint64_t *lane, const float *const *x, int arrays, size_t groups)
{
    for (size_t i = 0; i < groups * KERNEL_HASH * (size_t)arrays; i++)
        lane[i % KERNEL_HASH] = kernel_hash_step(lane[i % KERNEL_HASH], (uint64_t)(x[0][i / (size_t)arrays] > 0));
}

/* One chain over all of k, its blocks forgotten. */
static void wrong_row(const ContractRow *r)
{
    for (int j = 0; j < r->columns; j++) {
        float chain = 0;
        for (size_t k = 0; k < r->depth; k++)
            chain = kernel_fma(r->a[k], ((const float *)r->b)[(size_t)j * r->column_step + k], chain);
        r->to[j] = kernel_canonical(chain + r->bias[j]);
    }
}

static void the_comparison_notices(void **state)
{
    (void)state;
    Kernels k = *kernels_reference();
    k.sum = wrong_sum;
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    k.contract = wrong_contract;
    assert_non_null(compare_tables(&kernels_portable, &k));
    k.contract = wide_contract;
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    k.row = (RowKernel *const[ROW_FORMS]){wrong_row};
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    k.map[MAP_RELU] = wrong_relu;
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    k.hash = wrong_hash;
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    k.zip[ZIP_ADD] = k.zip[ZIP_SUB];
    assert_non_null(compare_tables(&kernels_portable, &k));
    k = *kernels_reference();
    assert_null(compare_tables(&kernels_portable, &k));
}

/* The bits of a float that a number of 16 bits is, from sign, exponent and fraction. */
static uint32_t widened(HalfFn f, uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (f == HALF_BF16)
        return h << 16;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent == 0 && fraction == 0)
        return sign;
    for (exponent += exponent == 0; fraction < 0x400 && !(h >> 10 & 31); exponent--)
        fraction <<= 1;
    return sign | (exponent + 112) << 23 | (fraction & 0x3ff) << 13;
}

/* Every number of 16 bits, in rows of every length up to some vectors, by every table. */
static void widening_is_exact(void **state)
{
    (void)state;
    enum { ALL = 0x10000, MOST = 40 };
    static uint16_t x[ALL + MOST];
    static float y[ALL + MOST + 1];
    for (uint32_t h = 0; h < ALL + MOST; h++)
        x[h] = (uint16_t)h;
    for (int i = 0; kernels_variant(i); i++)
        for (HalfFn f = (HalfFn)0; f < HALF_COUNT; f = (HalfFn)(f + 1))
            for (size_t first = 0, n = 0; first < ALL; first += n, n = (n + 1) % MOST) {
                y[n] = 7;
                kernels_variant(i)->widen[f](y, x + first, n);
                for (size_t k = 0; k <= n; k++) {
                    uint32_t bits;
                    memcpy(&bits, &y[k], sizeof bits);
                    if (bits != (k < n ? widened(f, x[first + k]) : 0x40e00000))
                        fail_msg("%s: number %zu of %zu, %04x, is %08x", kernels_variant(i)->isa, k, n, x[first + k],
                                 bits);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening_is_exact),
        cmocka_unit_test(variants_equal_the_reference),
        cmocka_unit_test(the_comparison_notices),
    };
    return cmocka_run_group_tests_name("variants", tests, NULL, NULL);
}
