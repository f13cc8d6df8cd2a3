/* The tables that kernels.c chooses from, one per source file. Inside core/kernels and its tests only. */
#ifndef VITRINE_KERNELS_VARIANTS_H
#define VITRINE_KERNELS_VARIANTS_H
#include <stdint.h>
#include <string.h>

#include "core/kernels/kernels.h"

extern const Kernels kernels_portable; /* plain C, an fma made of double arithmetic where the machine may have none */
PackKernel portable_pack;
HashKernel portable_hash;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512;
PackKernel x86_pack;                     /* needs AVX2 */
extern const Kernels kernels_scalar_fma; /* the same C with the fma instruction */
float kernel_fma_instruction(float a, float b, float c);
#elif defined(__aarch64__)
extern const Kernels kernels_neon;
#endif

/* A correctly rounded float fma for machines without one: the same bits as the instruction, NaN payloads aside. */
/* The product of two floats is exact in double. The sum is rounded to odd (Boldo and Melquiond, "Emulation of FMA and
 * Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008), so that rounding it again to float is
 * rounding once. */
static inline float fma_portable(float a, float b, float c)
{
    double p = (double)a * (double)b, d = (double)c, s = p + d;
    double t = s - p,
           rest = (p - (s - t)) + (d - t); /* s + rest = p + d exactly (Knuth's TwoSum); NaN beside an infinity */
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if ((rest > 0 || rest < 0) && !(bits & 1))
        bits += (rest > 0) == (s > 0) ? 1 : UINT64_MAX;
    memcpy(&s, &bits, sizeof s);
    return (float)s;
}
#endif
