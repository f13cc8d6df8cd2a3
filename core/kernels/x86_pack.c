/* Packing by transposing blocks of 8 × 8 in registers: x86-64 with AVX2. */
#include "core/kernels/variants.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE __attribute__((always_inline, target("avx2"))) static inline
enum { BLOCK = 8 };

/* Four k cells of rows j and j+4 beside each other, then pairs of rows, then fours: so half a block needs eight
 * registers. Written out so that every compiler keeps them. */
#define LOAD(j)                                                                                                        \
    __m256 row##j = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + j * step)),                        \
                                         _mm_loadu_ps(from + (j + 4) * step), 1)
#define PAIR(j, k) __m256 low##j = _mm256_unpacklo_ps(row##j, row##k), high##j = _mm256_unpackhi_ps(row##j, row##k)
#define STORE(k, part, order) _mm256_storeu_ps(to + k * KERNEL_COLS, _mm256_shuffle_ps(part##0, part##2, order))

/* to[k·KERNEL_COLS + j] = from[j·step + k] for j < 8, k < 4 */
INLINE void transpose_half(float *to, const float *from, size_t step)
{
    LOAD(0);
    LOAD(1);
    LOAD(2);
    LOAD(3);
    PAIR(0, 1);
    PAIR(2, 3);
    STORE(0, low, 0x44);
    STORE(1, low, 0xee);
    STORE(2, high, 0x44);
    STORE(3, high, 0xee);
}

/* for j, k < 8 */
INLINE void transpose(float *to, const float *from, size_t step)
{
    transpose_half(to, from, step);
    transpose_half(to + BLOCK / 2 * KERNEL_COLS, from + BLOCK / 2, step);
}

/* The same for the first few columns only, zeros for the others. */
INLINE void transpose_some(float *to, const float *from, size_t step, int columns)
{
    float block[BLOCK][BLOCK] = {{0}};
    for (int j = 0; j < columns; j++)
        memcpy(block[j], from + (size_t)j * step, sizeof block[j]);
    transpose(to, block[0], BLOCK);
}

static void one_by_one(float *to, const float *from, size_t column_step, size_t k_step, int columns, size_t from_k,
                       size_t depth)
{
    for (size_t k = from_k; k < depth; k++)
        for (int j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + (size_t)j] = j < columns ? from[(size_t)j * column_step + k * k_step] : 0.0f;
}

/* A cache line of each of eight columns is read whole before the next eight, since columns a multiple of 4 KiB apart
 * share a cache set; sixteen columns fill the lines that are written. */
TARGET static void pack_transposed(float *to, const float *from, size_t column_step, int columns, size_t depth)
{
    enum { LINE = 2 * BLOCK };
    const size_t blocks = depth / BLOCK * BLOCK;
    const int whole = columns / BLOCK * BLOCK;
    for (int half = 0; half < whole; half += LINE)
        for (size_t line = 0; line < blocks; line += LINE)
            for (int j = half; j < whole && j < half + LINE; j += BLOCK)
                for (size_t k = line; k < blocks && k < line + LINE; k += BLOCK)
                    transpose(to + k * KERNEL_COLS + j, from + (size_t)j * column_step + k, column_step);
    for (int j = whole; j < KERNEL_COLS; j += BLOCK)
        for (size_t k = 0; k < blocks; k += BLOCK)
            transpose_some(to + k * KERNEL_COLS + j, from + (size_t)j * column_step + k, column_step, columns - j);
    one_by_one(to, from, column_step, 1, columns, blocks, depth);
}

/* Columns side by side, as they are. */
TARGET static void pack_rows(float *to, const float *from, size_t k_step, int columns, size_t depth)
{
    enum { VECTORS = KERNEL_COLS / BLOCK };
    __m256i mask[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        mask[v] = _mm256_cmpgt_epi32(_mm256_set1_epi32(columns - v * BLOCK), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (size_t k = 0; k < depth; k++, to += KERNEL_COLS, from += k_step)
        for (int v = 0; v < VECTORS; v++)
            _mm256_storeu_ps(to + v * BLOCK, _mm256_maskload_ps(from + v * BLOCK, mask[v]));
}

TARGET void x86_pack(float *to, const float *from, size_t column_step, size_t k_step, int columns, size_t depth)
{
    if (k_step == 1 && column_step != 1)
        pack_transposed(to, from, column_step, columns, depth);
    else if (column_step == 1)
        pack_rows(to, from, k_step, columns, depth);
    else
        one_by_one(to, from, column_step, k_step, columns, 0, depth);
}
#endif
