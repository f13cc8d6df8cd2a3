/* Vectors of 4 floats and 32 registers: AArch64, which always has them. */
#include "core/kernels/variants.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#define TARGET
#define INLINE __attribute__((always_inline)) static inline
#define LANES 4
typedef float32x4_t V;
typedef int32x4_t VI;
typedef uint32x4_t VM;

INLINE V v_set(float c)
{
    return vdupq_n_f32(c);
}
INLINE V v_load(const float *p)
{
    return vld1q_f32(p);
}
INLINE V v_repeat(const float *p)
{
    return vld1q_dup_f32(p);
}
INLINE void v_store(float *p, V a)
{
    vst1q_f32(p, a);
}
INLINE V v_load_part(const float *p, size_t n, float rest)
{
    float lane[LANES] = {rest, rest, rest, rest};
    for (size_t i = 0; i < n && i < LANES; i++)
        lane[i] = p[i];
    return vld1q_f32(lane);
}
INLINE void v_store_part(float *p, size_t n, V a)
{
    float lane[LANES];
    vst1q_f32(lane, a);
    for (size_t i = 0; i < n && i < LANES; i++)
        p[i] = lane[i];
}
INLINE VI v_bits(V a)
{
    return vreinterpretq_s32_f32(a);
}
INLINE V v_from_bits(VI i)
{
    return vreinterpretq_f32_s32(i);
}
INLINE V v_fma(V a, V b, V c)
{
    return vfmaq_f32(c, a, b);
}
INLINE V v_add(V a, V b)
{
    return vaddq_f32(a, b);
}
INLINE V v_sub(V a, V b)
{
    return vsubq_f32(a, b);
}
INLINE V v_mul(V a, V b)
{
    return vmulq_f32(a, b);
}
INLINE V v_div(V a, V b)
{
    return vdivq_f32(a, b);
}
INLINE V v_sqrt(V a)
{
    return vsqrtq_f32(a);
}
INLINE V v_max(V a, V b)
{
    return vmaxq_f32(a, b);
}
INLINE V v_min(V a, V b)
{
    return vminq_f32(a, b);
}
INLINE VM v_less(V a, V b)
{
    return vcltq_f32(a, b);
}
INLINE VM v_equal(V a, V b)
{
    return vceqq_f32(a, b);
}
INLINE VM v_negative(V a)
{
    return vcltzq_s32(v_bits(a));
}
INLINE V v_select(VM m, V yes, V no)
{
    return vbslq_f32(m, yes, no);
}
INLINE V v_from_int(VI i)
{
    return vcvtq_f32_s32(i);
}
INLINE VI vi_set(int32_t i)
{
    return vdupq_n_s32(i);
}
INLINE VI vi_add(VI a, VI b)
{
    return vaddq_s32(a, b);
}
INLINE VI vi_sub(VI a, VI b)
{
    return vsubq_s32(a, b);
}
INLINE VI vi_and(VI a, VI b)
{
    return vandq_s32(a, b);
}
INLINE VI vi_xor(VI a, VI b)
{
    return veorq_s32(a, b);
}
INLINE VI vi_max(VI a, VI b)
{
    return vmaxq_s32(a, b);
}
INLINE VI vi_half(VI a)
{
    return vshrq_n_s32(a, 1);
}
INLINE VI vi_exponent(VI a)
{
    return vshrq_n_s32(a, 23);
}
INLINE VI vi_sign(VI a)
{
    return vshrq_n_s32(a, 31);
}
INLINE VI vi_to_exponent(VI a)
{
    return vshlq_n_s32(a, 23);
}
INLINE VI vi_up13(VI a)
{
    return vshlq_n_s32(a, 13);
}
INLINE VI vi_up16(VI a)
{
    return vshlq_n_s32(a, 16);
}
INLINE VI vi_load_16(const uint16_t *p)
{
    return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)));
}

#define TILE_ROWS 14 /* 28 accumulators, two vectors of b, one of a */
#include "core/kernels/arrays.inc"
#include "core/kernels/contract.inc"

const Kernels kernels_neon = KERNEL_TABLE("neon", portable_pack, portable_hash, NULL);
#endif
