#include "core/base/rng.h"

uint32_t rng_u32(Rng *r)
{
    uint64_t old = r->state;
    r->state = old * 6364136223846793005u + r->inc;
    uint32_t xorshifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t rot = (uint32_t)(old >> 59);
    return (xorshifted >> rot) | (xorshifted << ((32 - rot) & 31));
}

Rng rng_seed(uint64_t seed, uint64_t sequence)
{
    Rng r = {0, (sequence << 1) | 1};
    rng_u32(&r);
    r.state += seed;
    rng_u32(&r);
    return r;
}

float rng_unit(Rng *r)
{
    return (float)(rng_u32(r) >> 8) * 0x1p-24f;
}

float rng_range(Rng *r, float a, float b)
{
    return a + (b - a) * rng_unit(r);
}

uint32_t rng_below(Rng *r, uint32_t n)
{
    return (uint32_t)(((uint64_t)rng_u32(r) * n) >> 32);
}

float rng_normal(Rng *r)
{
    uint32_t sum = 0; /* 12 terms of 24 bits fit: exact until the one conversion */
    for (int i = 0; i < 12; i++)
        sum += rng_u32(r) >> 8;
    return (float)((double)sum * 0x1p-24 - 6.0);
}
