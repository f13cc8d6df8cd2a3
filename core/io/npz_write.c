/* npz with stored members. The date is fixed: the same tensors give the same bytes. */
#include <string.h>
#include <zlib.h>

#include "core/io/tensor_parts.h"

enum {
    STORED = 0,
    VERSION = 20,
    UTF8_NAME = 1 << 11,
    DATE_1980 = 1 << 5 | 1,
    LOCAL = 30,
    CENTRAL = 46,
    CHUNK = 4096,
    MEMBERS_MAX = 0xfffe
};

static uint64_t member_bytes(const TensorOut *t, const Buf *header)
{
    return header->len + (uint64_t)tensor_cells(t) * sizeof(float);
}

bool npz_fits(const TensorOut *tensors, size_t count, Err *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (uint64_t)tensor_cells(&tensors[i]) * sizeof(float) + LOCAL + CENTRAL +
                 2 * (strlen(tensors[i].name) + 4) + 512;
    return count <= MEMBERS_MAX && total < 0xffffffff ? true
                                                      : err_set(err,
                                                                "%zu tensors of %llu bytes are more than a .npz holds "
                                                                "(4 GB, 65534 members). Write .safetensors instead.",
                                                                count, (unsigned long long)total);
}

static uint32_t checksum(const TensorOut *t, const float *values, const Buf *header)
{
    uint8_t chunk[CHUNK * sizeof(float)];
    uLong crc = crc32(crc32(0, NULL, 0), (const Bytef *)header->data, (uInt)header->len);
    for (size_t done = 0, n, all = tensor_cells(t); done < all; done += n) {
        n = all - done < CHUNK ? all - done : CHUNK;
        put_floats(chunk, values + done, n);
        crc = crc32(crc, chunk, (uInt)(n * sizeof(float)));
    }
    return (uint32_t)crc;
}

/* What the local header and the directory's entry have in common, from "version needed" to the length of the extra
 * field. */
static void put_common(Buf *b, const TensorOut *t, uint32_t crc, uint64_t size)
{
    bool ascii = true;
    for (const char *c = t->name; *c; c++)
        ascii = ascii && (unsigned char)*c < 0x80;
    put_le(b, VERSION, 2);
    put_le(b, ascii ? 0 : UTF8_NAME, 2);
    put_le(b, STORED, 2);
    put_le(b, 0, 2);
    put_le(b, DATE_1980, 2);
    put_le(b, crc, 4);
    put_le(b, size, 4);
    put_le(b, size, 4);
    put_le(b, strlen(t->name) + 4, 2);
    put_le(b, 0, 2);
}

static bool put_member(Sink *s, Buf *directory, uint64_t *at, const TensorOut *t, Err *err)
{
    Buf header = {0}, local = {0};
    const float *values = sink_values(s, t, err);
    if (!values)
        return false;
    npy_header(&header, t);
    uint32_t crc = checksum(t, values, &header);
    uint64_t size = member_bytes(t, &header);
    buf_add(&local, "PK\3\4", 4);
    put_common(&local, t, crc, size);
    buf_printf(&local, "%s.npy", t->name);
    buf_add(directory, "PK\1\2", 4);
    put_le(directory, VERSION, 2);
    put_common(directory, t, crc, size);
    put_le(directory, 0, 2 + 2 + 2 + 4); /* comment, disk, attributes */
    put_le(directory, *at, 4);
    buf_printf(directory, "%s.npy", t->name);
    *at += local.len + size;
    bool ok = sink_bytes(s, local.data, local.len, err) && sink_bytes(s, header.data, header.len, err) &&
              sink_floats(s, values, tensor_cells(t), err);
    buf_free(&local);
    buf_free(&header);
    return ok;
}

bool npz_write(Sink *s, const TensorOut *tensors, size_t count, Err *err)
{
    Buf directory = {0};
    uint64_t at = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = put_member(s, &directory, &at, &tensors[i], err);
    size_t length = directory.len;
    buf_add(&directory, "PK\5\6\0\0\0\0", 8);
    put_le(&directory, count, 2);
    put_le(&directory, count, 2);
    put_le(&directory, length, 4);
    put_le(&directory, at, 4);
    put_le(&directory, 0, 2);
    ok = ok && sink_bytes(s, directory.data, directory.len, err);
    buf_free(&directory);
    return ok;
}
