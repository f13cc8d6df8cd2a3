/* Packing by transposing blocks of 8 × 8 in registers: x86-64 with AVX2. */
#include "core/kernels/variants.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE __attribute__((always_inline, target("avx2"))) static inline
enum { BLOCK = 8 };

/* to[k·KERNEL_COLS + j] = from[j·step + k] for j, k < 8 */
INLINE void transpose(float *to, const float *from, size_t step)
{
    __m256 row[BLOCK], pair[BLOCK], quad[BLOCK];
    for (int j = 0; j < BLOCK; j++)
        row[j] = _mm256_loadu_ps(from + (size_t)j * step);
    for (int j = 0; j < BLOCK; j += 2) {
        pair[j] = _mm256_unpacklo_ps(row[j], row[j + 1]);
        pair[j + 1] = _mm256_unpackhi_ps(row[j], row[j + 1]);
    }
    for (int j = 0; j < BLOCK; j += 4)
        for (int i = 0; i < 2; i++) {
            quad[j + 2 * i] = _mm256_shuffle_ps(pair[j + i], pair[j + 2 + i], 0x44);
            quad[j + 2 * i + 1] = _mm256_shuffle_ps(pair[j + i], pair[j + 2 + i], 0xee);
        }
    for (int k = 0; k < BLOCK / 2; k++) {
        _mm256_storeu_ps(to + k * KERNEL_COLS, _mm256_permute2f128_ps(quad[k], quad[k + 4], 0x20));
        _mm256_storeu_ps(to + (k + BLOCK / 2) * KERNEL_COLS, _mm256_permute2f128_ps(quad[k], quad[k + 4], 0x31));
    }
}

static void one_by_one(float *to, const float *from, size_t column_step, size_t k_step, int first, int columns, size_t from_k, size_t depth)
{
    for (size_t k = from_k; k < depth; k++)
        for (int j = first; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + (size_t)j] = j < columns ? from[(size_t)j * column_step + k * k_step] : 0.0f;
}

TARGET static void pack_transposed(float *to, const float *from, size_t column_step, int columns, size_t depth)
{
    const size_t blocks = depth / BLOCK * BLOCK;
    const int whole = columns / BLOCK * BLOCK;
    for (size_t k = 0; k < blocks; k += BLOCK)
        for (int j = 0; j < whole; j += BLOCK)
            transpose(to + k * KERNEL_COLS + j, from + (size_t)j * column_step + k, column_step);
    one_by_one(to, from, column_step, 1, whole, columns, 0, blocks);
    one_by_one(to, from, column_step, 1, 0, columns, blocks, depth);
}

TARGET void x86_pack(float *to, const float *from, size_t column_step, size_t k_step, int columns, size_t depth)
{
    if (k_step == 1 && column_step != 1)
        pack_transposed(to, from, column_step, columns, depth);
    else if (column_step == 1 && columns == KERNEL_COLS)
        for (size_t k = 0; k < depth; k++)
            memcpy(to + k * KERNEL_COLS, from + k * k_step, KERNEL_COLS * sizeof *to);
    else
        one_by_one(to, from, column_step, k_step, 0, columns, 0, depth);
}
#endif
