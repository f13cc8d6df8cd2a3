/* The reference once more, compiled with the fma instruction, for x86-64 processors that have it. */
#include "core/kernels/variants.h"

#if defined(__x86_64__)
#include <stdint.h>
#include <string.h>

#define TARGET __attribute__((target("fma")))
#define INLINE __attribute__((always_inline, target("fma"))) static inline

INLINE float scalar_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

#include "core/kernels/scalar.inc"

const Kernels kernels_scalar_fma = KERNEL_TABLE("scalar", portable_pack, portable_hash, NULL);

TARGET float kernel_fma_instruction(float a, float b, float c)
{
    return scalar_fma(a, b, c);
}
#endif
