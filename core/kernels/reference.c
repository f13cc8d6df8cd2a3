/* The reference: plain C that runs on every machine. */
#include "core/kernels/kernels.h"

#include <stdint.h>
#include <string.h>

#include "core/kernels/variants.h"

#define TARGET
#define INLINE __attribute__((always_inline)) static inline

INLINE float scalar_fma(float a, float b, float c)
{
#if defined(__FP_FAST_FMAF) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return fma_portable(a, b, c);
#endif
}

#include "core/kernels/scalar.inc"

void portable_pack(float *to, const float *from, size_t column_step, size_t k_step, int columns, size_t depth)
{
    for (size_t k = 0; k < depth; k++)
        for (int j = 0; j < KERNEL_COLS; j++)
            to[k * KERNEL_COLS + (size_t)j] = j < columns ? from[(size_t)j * column_step + k * k_step] : 0.0f;
}

/* Written out: the lanes stay in registers, and their chains of multiplications run side by side. */
static void hash_one(uint64_t *lane, const float *x, size_t groups)
{
    uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    for (; groups > 0; groups--, x += KERNEL_HASH) {
        uint32_t word[KERNEL_HASH];
        memcpy(word, x, sizeof word);
        a = kernel_hash_step(a, word[0]);
        b = kernel_hash_step(b, word[1]);
        c = kernel_hash_step(c, word[2]);
        d = kernel_hash_step(d, word[3]);
    }
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
}

void portable_hash(uint64_t *lane, const float *const *x, int arrays, size_t groups)
{
    for (int i = 0; i < arrays; i++)
        hash_one(lane + i * KERNEL_HASH, x[i], groups);
}

const Kernels kernels_portable = KERNEL_TABLE("scalar", portable_pack, portable_hash, NULL);
