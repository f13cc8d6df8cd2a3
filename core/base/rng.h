/* PCG32 (O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", XSH-RR 64/32).
 * The state is explicit, the sequence is the same on every machine. */
#ifndef VITRINE_BASE_RNG_H
#define VITRINE_BASE_RNG_H
#include <stdint.h>

typedef struct Rng {
    uint64_t state, inc;
} Rng;

Rng rng_seed(uint64_t seed, uint64_t sequence);
uint32_t rng_u32(Rng *r);
float rng_unit(Rng *r); /* [0,1), multiples of 2^-24 */
float rng_range(Rng *r, float a, float b);
uint32_t rng_below(Rng *r, uint32_t n); /* 0 … n-1, n > 0 */
float rng_normal(Rng *r); /* sum of 12 uniforms − 6: mean 0, variance 1, |x| ≤ 6; exact arithmetic, no libm */
#endif
