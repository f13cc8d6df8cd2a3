/* Vectors of 16 floats and 32 registers: x86-64 with AVX-512 F, DQ and VL. */
#include "core/kernels/variants.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f")))
#define INLINE __attribute__((always_inline, target("avx512f"))) static inline
#define LANES 16
typedef __m512 V;
typedef __m512i VI;
typedef __mmask16 VM;

INLINE VM first_lanes(size_t n)
{
    return (VM)((1u << (n < LANES ? n : LANES)) - 1);
}

INLINE V v_set(float c)
{
    return _mm512_set1_ps(c);
}
INLINE V v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
INLINE V v_repeat(const float *p)
{
    return _mm512_set1_ps(*p);
}
INLINE void v_store(float *p, V a)
{
    _mm512_storeu_ps(p, a);
}
INLINE V v_load_part(const float *p, size_t n, float rest)
{
    return _mm512_mask_loadu_ps(v_set(rest), first_lanes(n), p);
}
INLINE void v_store_part(float *p, size_t n, V a)
{
    _mm512_mask_storeu_ps(p, first_lanes(n), a);
}
INLINE VI v_bits(V a)
{
    return _mm512_castps_si512(a);
}
INLINE V v_from_bits(VI i)
{
    return _mm512_castsi512_ps(i);
}
INLINE V v_fma(V a, V b, V c)
{
    return _mm512_fmadd_ps(a, b, c);
}
INLINE V v_add(V a, V b)
{
    return _mm512_add_ps(a, b);
}
INLINE V v_sub(V a, V b)
{
    return _mm512_sub_ps(a, b);
}
INLINE V v_mul(V a, V b)
{
    return _mm512_mul_ps(a, b);
}
INLINE V v_div(V a, V b)
{
    return _mm512_div_ps(a, b);
}
INLINE V v_sqrt(V a)
{
    return _mm512_sqrt_ps(a);
}
INLINE V v_max(V a, V b)
{
    return _mm512_max_ps(a, b);
}
INLINE V v_min(V a, V b)
{
    return _mm512_min_ps(a, b);
}
INLINE VM v_less(V a, V b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
INLINE VM v_equal(V a, V b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
INLINE VM v_negative(V a)
{
    return _mm512_cmplt_epi32_mask(v_bits(a), _mm512_setzero_si512());
}
INLINE V v_select(VM m, V yes, V no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}
INLINE V v_from_int(VI i)
{
    return _mm512_cvtepi32_ps(i);
}
INLINE VI vi_set(int32_t i)
{
    return _mm512_set1_epi32(i);
}
INLINE VI vi_add(VI a, VI b)
{
    return _mm512_add_epi32(a, b);
}
INLINE VI vi_sub(VI a, VI b)
{
    return _mm512_sub_epi32(a, b);
}
INLINE VI vi_and(VI a, VI b)
{
    return _mm512_and_si512(a, b);
}
INLINE VI vi_xor(VI a, VI b)
{
    return _mm512_xor_si512(a, b);
}
INLINE VI vi_max(VI a, VI b)
{
    return _mm512_max_epi32(a, b);
}
INLINE VI vi_half(VI a)
{
    return _mm512_srai_epi32(a, 1);
}
INLINE VI vi_exponent(VI a)
{
    return _mm512_srai_epi32(a, 23);
}
INLINE VI vi_sign(VI a)
{
    return _mm512_srai_epi32(a, 31);
}
INLINE VI vi_to_exponent(VI a)
{
    return _mm512_slli_epi32(a, 23);
}
INLINE VI vi_up13(VI a)
{
    return _mm512_slli_epi32(a, 13);
}
INLINE VI vi_up16(VI a)
{
    return _mm512_slli_epi32(a, 16);
}
INLINE VI vi_load_16(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
}

#define TILE_ROWS 14 /* 28 accumulators, two vectors of b, one of a */
#include "core/kernels/arrays.inc"
#include "core/kernels/contract.inc"

#define PIECE(f) ((size_t)LINE)
#define SIDE_BY_SIDE(f) ((f) == FLOATS ? 1 : 2)
#define STREAMS(f) ((void)(f), 0)
#define ASKED(f) ((f) == FLOATS ? (size_t)4 : (size_t)3)
#include "core/kernels/row.inc"

/* Half a line each of two columns. */
INLINE V joined(const char *b, const char *b2)
{
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd((const void *)b)),
                                               _mm256_loadu_pd((const void *)b2), 1));
}

/* Both halves of a line of two columns as words: floats, or pairs of numbers of 16 bits. Halves put together while
 * they are read need no shuffle but twice the reads, of which floats, asked for more often, have none to spare. */
INLINE void halves(Form f, V *low, V *high, const char *b, const char *b2)
{
    const V x = _mm512_loadu_ps((const void *)b), y = _mm512_loadu_ps((const void *)b2);
    *low = f == FLOATS ? _mm512_shuffle_f32x4(x, y, 0x44) : joined(b, b2);
    *high = f == FLOATS ? _mm512_shuffle_f32x4(x, y, 0xee) : joined(b + LINE / 2, b2 + LINE / 2);
}

/* Four rows of 4 × 4 words transposed, each by itself. */
INLINE void transpose_four(V out[4], const V in[4])
{
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(in[0], in[1])),
                  b = _mm512_castps_pd(_mm512_unpackhi_ps(in[0], in[1])),
                  c = _mm512_castps_pd(_mm512_unpacklo_ps(in[2], in[3])),
                  d = _mm512_castps_pd(_mm512_unpackhi_ps(in[2], in[3]));
    out[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    out[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    out[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    out[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
}

/* A t-th of 2·QUARTERS of turning sixteen columns, word[k][j] being the k-th word of column j: half a line of eight
 * columns, four of them beside the other four, then four words of which each half holds two quarters. A line is read
 * at once: columns that are a multiple of 4096 bytes apart push each other out of the cache. */
enum { QUARTERS = 4 };
INLINE void turn(V word[LANES], V part[QUARTERS][4], Form f, const char *from, size_t step, size_t t)
{
    const size_t i = t % QUARTERS;
    const char *at = from + t / 2 * 8 * step;
    UNROLL
    for (size_t j = 0; j < 4; j++, at += step)
        if (t < QUARTERS && t % 2 == 0)
            halves(f, &part[t][j], &part[t + 1][j], at, at + 4 * step);
    if (t < QUARTERS) {
        transpose_four(part[t], part[t]);
        return;
    }
    UNROLL
    for (size_t h = 0; h < 2; h++) {
        word[8 * h + i] = _mm512_shuffle_f32x4(part[h][i], part[2 + h][i], 0x88);
        word[8 * h + 4 + i] = _mm512_shuffle_f32x4(part[h][i], part[2 + h][i], 0xdd);
    }
}

/* Two numbers a word, the first in its lower half, made floats; what becomes of a NaN's bits is no matter here. */
INLINE V lower(Form f, V word)
{
    const VI bits = v_bits(word);
    return f == F16 ? _mm512_cvtph_ps(_mm512_cvtepi32_epi16(bits)) : v_from_bits(vi_up16(bits));
}
INLINE V upper(Form f, V word)
{
    const VI bits = v_bits(word);
    return f == F16 ? _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)))
                    : v_from_bits(vi_and(bits, vi_set((int32_t)0xffff0000)));
}

INLINE V piece(Form f, V chain, const float *a, const char *b, size_t step, size_t count, const char *next)
{
    V word[LANES], part[QUARTERS][4];
    UNROLL
    for (size_t t = 0; t < 2 * QUARTERS; t++) {
        for (size_t i = 0; next && i < 2 * LINE; i += LINE)
            ask(f, next + t * 2 * LINE + i);
        turn(word, part, f, b, step, t);
    }
    UNROLL
    for (size_t k = 0; k < LANES; k++) {
        const size_t at = f == FLOATS ? k : 2 * k;
        chain = at < count ? v_fma(v_set(a[at]), f == FLOATS ? word[k] : lower(f, word[k]), chain) : chain;
        chain = f != FLOATS && at + 1 < count ? v_fma(v_set(a[at + 1]), upper(f, word[k]), chain) : chain;
    }
    return chain;
}

/* Of numbers of 16 bits. Each step turns a sixteenth of what the next piece of either block needs, while the chains
 * take what was turned before: the multiplications of one wait for each other, and the processor does not look far
 * enough ahead. */
INLINE V two_blocks(Form f, V total, const float *a, const char *b, size_t step, const char *next)
{
    const size_t each = PIECE(f) / size_of(f), block = KERNEL_K * size_of(f);
    V room[2][2][LANES], first = v_set(0.0f), second = v_set(0.0f);
    for (size_t n = 0; n < 2; n++) {
        V part[QUARTERS][4];
        UNROLL
        for (size_t t = 0; t < 2 * QUARTERS; t++)
            turn(room[0][n], part, f, b + n * block, step, t);
    }
    for (size_t k = 0; k < KERNEL_K; k += each) {
        V(*const now)[LANES] = room[k / each % 2], (*const then)[LANES] = room[1 - k / each % 2];
        V part[QUARTERS][4];
        const char *from = b + (k + each < KERNEL_K ? k + each : k) * size_of(f); /* the last turns itself once more */
        UNROLL
        for (size_t t = 0; t < 4 * QUARTERS; t++, next += 2 * LINE) {
            const float *at = a + k + 2 * t;
            ask(f, next);
            ask(f, next + LINE);
            turn(then[t / 8], part, f, from + t / 8 * block, step, t % 8);
            first = v_fma(v_set(at[0]), lower(f, now[0][t]), first);
            second = v_fma(v_set(at[KERNEL_K]), lower(f, now[1][t]), second);
            first = v_fma(v_set(at[1]), upper(f, now[0][t]), first);
            second = v_fma(v_set(at[KERNEL_K + 1]), upper(f, now[1][t]), second);
        }
    }
    return v_add(v_add(total, first), second);
}

#define HASHING __attribute__((target("avx512f,avx512dq,avx512vl")))

__attribute__((always_inline)) HASHING static inline __m256i hash_step(__m256i h, const float *x)
{
    __m256i word = _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)x));
    h = _mm256_mullo_epi64(_mm256_xor_si256(h, word), _mm256_set1_epi64x(0x100000001b3));
    return _mm256_xor_si256(h, _mm256_srli_epi64(h, 29));
}

/* Always four arrays: where there are fewer, the first one is done again and forgotten, in time that would be spent
 * waiting. */
HASHING static void avx512_hash(uint64_t *lane, const float *const *x, int arrays, size_t groups)
{
    _Static_assert(KERNEL_HASH_ARRAYS == 4, "written out");
    __m256i h[KERNEL_HASH_ARRAYS];
    const float *from[KERNEL_HASH_ARRAYS];
    for (int i = 0; i < KERNEL_HASH_ARRAYS; i++) {
        from[i] = x[i < arrays ? i : 0];
        h[i] = _mm256_loadu_si256((const void *)(lane + (i < arrays ? i : 0) * KERNEL_HASH));
    }
    __m256i a = h[0], b = h[1], c = h[2], d = h[3];
    for (size_t k = 0; k < groups * KERNEL_HASH; k += KERNEL_HASH) {
        a = hash_step(a, from[0] + k);
        b = hash_step(b, from[1] + k);
        c = hash_step(c, from[2] + k);
        d = hash_step(d, from[3] + k);
    }
    h[0] = a, h[1] = b, h[2] = c, h[3] = d;
    for (int i = 0; i < arrays; i++)
        _mm256_storeu_si256((void *)(lane + i * KERNEL_HASH), h[i]);
}

const Kernels kernels_avx512 = KERNEL_TABLE("avx512", x86_pack, avx512_hash, rows);
#endif
