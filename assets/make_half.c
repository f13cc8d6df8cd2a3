/* make_half FROM TO: writes a safetensors file again with every number in 16 bits (F16, to the nearest), in the same
 * order and shapes: half the bytes in the binary. Refused where a number does not fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/tensors.h"

enum { HEADER_STEP = 8, LENGTH_BYTES = 8, F16_BYTES = 2 };

static void put_header(const TensorFile *f, Buf *out)
{
    Buf json = {0};
    uint64_t at = 0;
    buf_puts(&json, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < f->count; i++) {
        const TensorInfo *t = &f->tensors[i];
        buf_puts(&json, ",");
        buf_json(&json, t->name);
        buf_puts(&json, ":{\"dtype\":\"F16\",\"shape\":[");
        for (int k = 0; k < t->rank; k++)
            buf_printf(&json, "%s%zu", k ? "," : "", t->shape[k]);
        buf_printf(&json, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                   (unsigned long long)(at + F16_BYTES * t->cells));
        at += F16_BYTES * t->cells;
    }
    buf_puts(&json, "}");
    while (json.len % HEADER_STEP)
        buf_putc(&json, ' ');
    for (int i = 0; i < LENGTH_BYTES; i++)
        buf_putc(out, (char)((uint64_t)json.len >> (8 * i) & 0xff));
    buf_add(out, json.data, json.len);
    buf_free(&json);
}

static bool put_values(const TensorFile *f, const TensorInfo *t, Buf *out, Err *err)
{
    float *x = xfloats(t->cells);
    bool ok = tensors_read_f32(f, t, x, err);
    for (size_t i = 0; ok && i < t->cells; i++) {
        uint16_t half = f32_to_f16(x[i]);
        if (!isfinite(f16_to_f32(half)))
            ok = err_set(err, "tensor '%.100s': %g does not fit into 16 bits", t->name, (double)x[i]);
        buf_putc(out, (char)(half & 0xff));
        buf_putc(out, (char)(half >> 8));
    }
    free(x);
    return ok;
}

int main(int argc, char **argv)
{
    TensorFile f = {0};
    Buf out = {0};
    Err err = {""};
    if (argc != 3) {
        fprintf(stderr, "usage: make_half FROM.safetensors TO.safetensors\n");
        return 2;
    }
    bool ok = tensors_open(&f, argv[1], &err);
    if (ok)
        put_header(&f, &out);
    for (size_t i = 0; ok && i < f.count; i++)
        ok = put_values(&f, &f.tensors[i], &out, &err);
    ok = ok && file_write(argv[2], out.data, out.len, &err);
    if (!ok)
        fprintf(stderr, "make_half: %s: %s\n", argv[1], err.text);
    tensors_close(&f);
    buf_free(&out);
    return ok ? 0 : 1;
}
