#include "core/base/digest.h"

#include <string.h>

uint64_t digest_mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * 0x9e3779b97f4a7c15u;
    return digest ^ digest >> 29;
}

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        digest = digest_mix(digest, p[i]);
    return digest;
}

uint64_t digest_floats(uint64_t digest, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        digest = digest_mix(digest, bits);
    }
    return digest;
}
