/* A correctly rounded float fma for machines without one: the same bits as the instruction, NaN payloads aside. */
#ifndef VITRINE_KERNELS_FMA_H
#define VITRINE_KERNELS_FMA_H
#include <stdint.h>
#include <string.h>

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
