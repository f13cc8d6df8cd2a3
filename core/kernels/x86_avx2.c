/* Vectors of 8 floats and 16 registers: x86-64 with AVX2 and FMA. */
#include "core/kernels/variants.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE __attribute__((always_inline, target("avx2,fma"))) static inline
#define LANES 8
typedef __m256 V;
typedef __m256i VI;
typedef __m256 VM; /* its sign bits */

INLINE VI first_lanes(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n < LANES ? (int)n : LANES), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE V v_set(float c)
{
    return _mm256_set1_ps(c);
}
INLINE V v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
INLINE V v_repeat(const float *p)
{
    return _mm256_set1_ps(*p);
}
INLINE void v_store(float *p, V a)
{
    _mm256_storeu_ps(p, a);
}
INLINE V v_load_part(const float *p, size_t n, float rest)
{
    VI m = first_lanes(n);
    return _mm256_blendv_ps(v_set(rest), _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m));
}
INLINE void v_store_part(float *p, size_t n, V a)
{
    _mm256_maskstore_ps(p, first_lanes(n), a);
}
INLINE VI v_bits(V a)
{
    return _mm256_castps_si256(a);
}
INLINE V v_from_bits(VI i)
{
    return _mm256_castsi256_ps(i);
}
INLINE V v_fma(V a, V b, V c)
{
    return _mm256_fmadd_ps(a, b, c);
}
INLINE V v_add(V a, V b)
{
    return _mm256_add_ps(a, b);
}
INLINE V v_sub(V a, V b)
{
    return _mm256_sub_ps(a, b);
}
INLINE V v_mul(V a, V b)
{
    return _mm256_mul_ps(a, b);
}
INLINE V v_div(V a, V b)
{
    return _mm256_div_ps(a, b);
}
INLINE V v_sqrt(V a)
{
    return _mm256_sqrt_ps(a);
}
INLINE V v_max(V a, V b)
{
    return _mm256_max_ps(a, b);
}
INLINE V v_min(V a, V b)
{
    return _mm256_min_ps(a, b);
}
INLINE VM v_less(V a, V b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
INLINE VM v_equal(V a, V b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
INLINE VM v_negative(V a)
{
    return a;
}
INLINE V v_select(VM m, V yes, V no)
{
    return _mm256_blendv_ps(no, yes, m);
}
INLINE V v_from_int(VI i)
{
    return _mm256_cvtepi32_ps(i);
}
INLINE VI vi_set(int32_t i)
{
    return _mm256_set1_epi32(i);
}
INLINE VI vi_add(VI a, VI b)
{
    return _mm256_add_epi32(a, b);
}
INLINE VI vi_sub(VI a, VI b)
{
    return _mm256_sub_epi32(a, b);
}
INLINE VI vi_and(VI a, VI b)
{
    return _mm256_and_si256(a, b);
}
INLINE VI vi_xor(VI a, VI b)
{
    return _mm256_xor_si256(a, b);
}
INLINE VI vi_max(VI a, VI b)
{
    return _mm256_max_epi32(a, b);
}
INLINE VI vi_half(VI a)
{
    return _mm256_srai_epi32(a, 1);
}
INLINE VI vi_exponent(VI a)
{
    return _mm256_srai_epi32(a, 23);
}
INLINE VI vi_sign(VI a)
{
    return _mm256_srai_epi32(a, 31);
}
INLINE VI vi_to_exponent(VI a)
{
    return _mm256_slli_epi32(a, 23);
}
INLINE VI vi_up13(VI a)
{
    return _mm256_slli_epi32(a, 13);
}
INLINE VI vi_up16(VI a)
{
    return _mm256_slli_epi32(a, 16);
}
INLINE VI vi_load_16(const uint16_t *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
}

#define TILE_ROWS 6 /* 12 accumulators, two vectors of b, one of a */
#include "core/kernels/arrays.inc"
#include "core/kernels/contract.inc"

#define PIECE(f) ((f) == FLOATS ? (size_t)16 : (size_t)16)
#define SIDE_BY_SIDE(f) ((f) == F16 ? 2 : 1)
#define STREAMS(f) ((f) == FLOATS)
#define ASKED(f) ((f) == FLOATS ? (size_t)0 : (f) == BF16 ? (size_t)4 : (size_t)1)
#define DEEP 2048
#include "core/kernels/row.inc"

/* Half a transposition: four words each of eight columns, four in the lower halves of registers, four in the upper. */
INLINE void transpose(V word[4], const char *from, size_t step)
{
    V c[4];
    UNROLL
    for (size_t j = 0; j < 4; j++)
        c[j] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps((const void *)(from + j * step))),
                                    _mm_loadu_ps((const void *)(from + (j + 4) * step)), 1);
    const V low = _mm256_unpacklo_ps(c[0], c[1]), low2 = _mm256_unpacklo_ps(c[2], c[3]),
            high = _mm256_unpackhi_ps(c[0], c[1]), high2 = _mm256_unpackhi_ps(c[2], c[3]);
    word[0] = _mm256_shuffle_ps(low, low2, 0x44);
    word[1] = _mm256_shuffle_ps(low, low2, 0xee);
    word[2] = _mm256_shuffle_ps(high, high2, 0x44);
    word[3] = _mm256_shuffle_ps(high, high2, 0xee);
}

INLINE V piece(Form f, V chain, const float *a, const char *b, size_t step, size_t count, const char *next)
{
    V word[4];
    for (size_t i = 0; next && i < LANES * PIECE(f); i += LINE)
        ask(f, next + i);
    transpose(word, b, step);
    if (f == FLOATS) {
        UNROLL
        for (size_t k = 0; k < 4; k++)
            chain = k < count ? v_fma(v_set(a[k]), word[k], chain) : chain;
        return chain;
    }
    UNROLL
    for (size_t k = 0; k < 4; k++) { /* two numbers a word, the first in its lower half */
        const VI bits = v_bits(word[k]), upper = vi_and(bits, vi_set((int32_t)0xffff0000));
        const V first = f == BF16 ? v_from_bits(vi_up16(bits)) : of_f16(vi_and(bits, vi_set(0xffff))),
                second = f == BF16 ? v_from_bits(upper) : of_f16(_mm256_srli_epi32(bits, 16));
        chain = 2 * k < count ? v_fma(v_set(a[2 * k]), first, chain) : chain;
        chain = 2 * k + 1 < count ? v_fma(v_set(a[2 * k + 1]), second, chain) : chain;
    }
    return chain;
}

INLINE V two_blocks(Form f, V total, const float *a, const char *b, size_t step, const char *next)
{
    const size_t each = PIECE(f) / size_of(f), line = LINE / size_of(f), block = KERNEL_K * size_of(f);
    V first = v_set(0.0f), second = v_set(0.0f);
    for (size_t k = 0; k < KERNEL_K; k += line)
        UNROLL
    for (size_t i = k; i < k + line; i += each, next += 2 * LANES * PIECE(f)) {
        const char *from = b + i * size_of(f);
        first = piece(f, first, a + i, from, step, each, next);
        second = piece(f, second, a + KERNEL_K + i, from + block, step, each, next + LANES * PIECE(f));
    }
    return v_add(v_add(total, first), second);
}

/* chain + the products of eight k with a turned piece, two numbers a word. */
INLINE V eight_k(V chain, const float *a, const V word[4])
{
    UNROLL
    for (size_t k = 0; k < 4; k++) {
        const VI bits = v_bits(word[k]);
        chain = v_fma(v_set(a[2 * k]), v_from_bits(vi_up16(bits)), chain);
        chain = v_fma(v_set(a[2 * k + 1]), v_from_bits(vi_and(bits, vi_set((int32_t)0xffff0000))), chain);
    }
    return chain;
}

/* Memory is read as it lies, in LANES long streams, which the processor reads ahead by itself; blocks read side by side
 * would end that. But a chain alone takes, every 4 cycles that its multiplication lasts, 2 bytes of 8 lanes: 4 bytes a
 * cycle, which is less than memory gives. So each block goes turned into a ring of two, where two chains run half a
 * block apart: one along the first half of block n, the other along the second half of block n − 1. The blocks of all
 * columns follow each other without a break; a step more ends the last one, and turns the first again for nothing.
 * Nobody reads ahead into the streams of the next call, LANES·step further: their beginnings are asked for in the last
 * two steps. Where nothing lies there, nothing comes of it. */
INLINE void deep_bf16(const ContractRow *r)
{
    enum { APART = KERNEL_COLS / LANES, BLOCK = KERNEL_K * sizeof(uint16_t), HALF = KERNEL_K / 2 / 8 };
    const size_t column = r->column_step * sizeof(uint16_t), step = APART * column, blocks = r->depth / KERNEL_K,
                 all = APART * blocks;
    V ring[2][2 * HALF][4], total = v_set(0.0f), last = total;
    float sums[KERNEL_COLS];
    memset(ring[1], 0, sizeof ring[1]);
    for (size_t n = 0; n <= all; n++) {
        const size_t place = n % blocks, before = (place ? place : blocks) - 1, passed = n / blocks;
        const float *a = r->a + place * KERNEL_K, *a_last = r->a + before * KERNEL_K + KERNEL_K / 2;
        const char *b = (const char *)r->b + passed % APART * column + place * BLOCK;
        const char *next = n + 1 < all ? NULL : (const char *)r->b + LANES * step + (n + 1 - all) * BLOCK;
        V(*const now)[4] = ring[n % 2], (*const then)[4] = ring[1 - n % 2], chain = v_set(0.0f);
        for (size_t i = 0; i < HALF; i++) {
            for (size_t j = 0; next && j < LANES / 2; j++) /* a line of half the streams */
                __asm__ volatile("prefetcht0 %0" : : "m"(next[i / 2 * LINE + (i % 2 * LANES / 2 + j) * step]));
            transpose(now[2 * i], b + 2 * i * PIECE(BF16), step);
            transpose(now[2 * i + 1], b + (2 * i + 1) * PIECE(BF16), step);
            chain = eight_k(chain, a + 8 * i, now[i]);
            last = eight_k(last, a_last + 8 * i, then[HALF + i]);
        }
        total = v_add(total, last); /* of block n − 1 */
        last = chain;
        if (place == 0) {
            float y[LANES];
            v_store(y, total);
            for (size_t j = 0; n && j < LANES; j++)
                sums[passed - 1 + j * APART] = y[j];
            total = v_set(0.0f);
        }
    }
    for (size_t j = 0; j < KERNEL_COLS; j += LANES)
        v_store(r->to + j, v_canonical(v_add(v_load(sums + j), v_load(r->bias + j))));
}

const Kernels kernels_avx2 = KERNEL_TABLE("avx2", x86_pack, portable_hash, rows);
#endif
