/* Changed PNGs with right checksums: without them no change gets past the first check. */
#ifndef VITRINE_TESTS_CORE_IO_PNG_SEAL_H
#define VITRINE_TESTS_CORE_IO_PNG_SEAL_H
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>

#include "core/base/buf.h"

static inline void put32be(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Writes every checksum anew, as far as the chunks can be followed. */
static inline void seal_png(uint8_t *bytes, size_t n)
{
    for (size_t i = 8; n >= 8 && n - i >= 12;) {
        size_t length = (size_t)bytes[i] << 24 | (size_t)bytes[i + 1] << 16 | (size_t)bytes[i + 2] << 8 | bytes[i + 3];
        if (length > n - i - 12)
            return;
        put32be(bytes + i + 8 + length, (uint32_t)crc32(0, bytes + i + 4, (uInt)length + 4));
        i += length + 12;
    }
}

static inline void add_chunk(Buf *b, const char *type, const void *data, size_t n)
{
    uint8_t number[4];
    size_t start = b->len + 4;
    put32be(number, (uint32_t)n);
    buf_add(b, number, 4);
    buf_add(b, type, 4);
    if (n)
        buf_add(b, data, n);
    put32be(number, (uint32_t)crc32(0, (const Bytef *)b->data + start, (uInt)n + 4));
    buf_add(b, number, 4);
}
#endif
