/* A number that tells contents apart: equal ones show equal contents as far as 64 bits can. It is no signature. Begin
 * with DIGEST_START and mix in one value after the other. */
#ifndef VITRINE_BASE_DIGEST_H
#define VITRINE_BASE_DIGEST_H
#include <stddef.h>
#include <stdint.h>

#define DIGEST_START UINT64_C(0xcbf29ce484222325)
uint64_t digest_mix(uint64_t digest, uint64_t value);
uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n);
uint64_t digest_floats(uint64_t digest, const float *x, size_t n); /* bit for bit: −0 is not 0 */
#endif
