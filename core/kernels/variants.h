/* The tables that kernels.c chooses from, one per source file. Inside core/kernels and its tests only. */
#ifndef VITRINE_KERNELS_VARIANTS_H
#define VITRINE_KERNELS_VARIANTS_H
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
#endif
