/* Writing: which format, what may be written, and where the bytes go. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/io/tensor_parts.h"

enum { FLOATS = 4096 };

static const struct {
    const char *suffix;
    bool single; /* holds exactly one tensor */
} formats[] = {
    [TF_SAFETENSORS] = {"safetensors", false},
    [TF_NPZ] = {"npz", false},
    [TF_NPY] = {"npy", true},
    [TF_CSV] = {"csv", true},
    [TF_JSON] = {"json", false},
};
enum { FORMATS = sizeof formats / sizeof *formats };

bool tensor_format(const char *path, TensorFormat *f, Err *err)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcasecmp(file_suffix(path), formats[i].suffix) == 0) {
            *f = (TensorFormat)i;
            return true;
        }
    TensorShown s;
    return err_set(err, "%s: its ending names no format. End it in .safetensors, .npz, .npy, .csv or .json.",
                   tensor_shown(&s, path, NULL)->path);
}

size_t tensor_cells(const TensorOut *t)
{
    size_t n = 1;
    REQUIRE(t->rank >= 0 && t->rank <= TENSOR_RANK_MAX);
    for (int i = 0; i < t->rank; i++)
        n = size_mul(n, t->shape[i]);
    return n;
}

bool sink_bytes(Sink *s, const void *data, size_t n, Err *err)
{
    if (s->file)
        return file_append(s->file, data, n, err);
    buf_add(s->memory, data, n);
    return true;
}

bool sink_floats(Sink *s, const float *data, size_t n, Err *err)
{
    uint8_t chunk[FLOATS * sizeof(float)];
    for (size_t done = 0, k; done < n; done += k) {
        k = n - done < FLOATS ? n - done : FLOATS;
        put_floats(chunk, data + done, k);
        if (!sink_bytes(s, chunk, k * sizeof(float), err))
            return false;
    }
    return true;
}

const float *sink_values(Sink *s, const TensorOut *t, Err *err)
{
    REQUIRE(t->data || s->values);
    return t->data ? t->data : s->values(s->context, (size_t)(t - s->tensors), err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_differ(const TensorOut *tensors, size_t count, Err *err)
{
    const char **names = xmalloc(size_mul(count, sizeof *names));
    for (size_t i = 0; i < count; i++)
        names[i] = tensors[i].name;
    qsort(names, count, sizeof *names, by_name);
    TensorShown s;
    bool ok = true;
    for (size_t i = 1; ok && i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            ok = err_set(err, "two tensors are named '%s'. Write them to two files.",
                         tensor_shown(&s, NULL, names[i])->name);
    free(names);
    return ok;
}

/* Tensors as text: CSV and JSON. Nine digits bring every float32 back exactly. */

enum { FLUSH = 1 << 16 };

/* %.9g with a point whatever LC_NUMERIC says; non-finite values by the three names given. */
static void put_number(Buf *b, float x, const char *const names[3])
{
    if (!isfinite(x)) {
        buf_puts(b, isnan(x) ? names[0] : names[x < 0 ? 2 : 1]);
        return;
    }
    size_t before = b->len;
    buf_printf(b, "%.9g", (double)x);
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 || !*point ? NULL : strstr(b->data + before, point);
    if (found) {
        size_t n = strlen(point);
        *found = '.';
        memmove(found + 1, found + n, strlen(found + n) + 1);
        b->len -= n - 1;
    }
}

static bool flush(Sink *s, Buf *b, size_t from, Err *err)
{
    if (b->len < from)
        return true;
    bool ok = sink_bytes(s, b->data, b->len, err);
    buf_clear(b);
    return ok;
}

/* A label in quotes unless it is a number. */
static void csv_label(Buf *b, const char *label)
{
    (*label && !label[strspn(label, "0123456789")] ? buf_puts : buf_csv)(b, label);
}

/* The names of the axes but the last, and what its cells are called. */
static void csv_head(Buf *b, const TensorOut *t, size_t width)
{
    for (int k = 0; t->axis && k + 1 < t->rank; k++) {
        buf_csv(b, t->axis[k].name);
        buf_putc(b, ',');
    }
    for (size_t i = 0; i < width; i++) {
        buf_puts(b, i ? "," : "");
        if (t->axis && t->rank)
            csv_label(b, t->axis[t->rank - 1].label[i]);
        else
            buf_printf(b, "%zu", i);
    }
    buf_putc(b, '\n');
}

/* Which row this is: a label of each axis but the last. */
static void csv_row(Buf *b, const TensorOut *t, size_t row)
{
    size_t rows = 1;
    for (int k = 0; k + 1 < t->rank; k++)
        rows *= t->shape[k];
    for (int k = 0; k + 1 < t->rank; k++) {
        rows /= t->shape[k];
        csv_label(b, t->axis[k].label[row / rows % t->shape[k]]);
        buf_putc(b, ',');
    }
}

static bool csv_write(Sink *s, const TensorOut *t, Err *err)
{
    static const char *const names[3] = {"nan", "inf", "-inf"};
    Buf b = {0};
    const float *x = sink_values(s, t, err);
    size_t width = t->rank ? t->shape[t->rank - 1] : 1, cells = tensor_cells(t);
    bool ok = x != NULL;
    csv_head(&b, t, width);
    for (size_t i = 0; ok && i < cells; i++) {
        if (t->axis && i % width == 0)
            csv_row(&b, t, i / width);
        put_number(&b, x[i], names);
        buf_putc(&b, (i + 1) % width ? ',' : '\n');
        ok = flush(s, &b, FLUSH, err);
    }
    ok = ok && flush(s, &b, 1, err);
    buf_free(&b);
    return ok;
}

static void put_head(Buf *b, const TensorOut *t)
{
    json_open(b, NULL, '{');
    json_put_text(b, "name", t->name);
    json_open(b, "shape", '[');
    for (int i = 0; i < t->rank; i++)
        json_put(b, NULL, "%zu", t->shape[i]);
    buf_putc(b, ']');
    json_put_text(b, "axes", t->axes);
    json_open(b, "data", '[');
}

static bool json_write(Sink *s, const TensorOut *tensors, size_t count, const char *const *metadata, Err *err)
{
    static const char *const names[3] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
    Buf b = {0};
    bool ok = true;
    buf_puts(&b, "{\"metadata\":{");
    for (const char *const *m = metadata; m && *m; m += 2)
        json_put_text(&b, m[0], m[1]);
    buf_puts(&b, "},\"tensors\":[");
    for (size_t i = 0; ok && i < count; i++) {
        json_line(&b);
        put_head(&b, &tensors[i]);
        const float *x = sink_values(s, &tensors[i], err);
        ok = x != NULL;
        for (size_t k = 0, n = tensor_cells(&tensors[i]); ok && k < n; k++) {
            if (k)
                buf_putc(&b, ',');
            put_number(&b, x[k], names);
            ok = flush(s, &b, FLUSH, err);
        }
        buf_puts(&b, "]}");
    }
    buf_puts(&b, "\n]}\n");
    ok = ok && flush(s, &b, 1, err);
    buf_free(&b);
    return ok;
}

/* npz with stored members. The date is fixed: the same tensors give the same bytes. */

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

static bool npz_fits(const TensorOut *tensors, size_t count, Err *err)
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

static bool npz_write(Sink *s, const TensorOut *tensors, size_t count, Err *err)
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

/* Whatever would make a file that our own reader refuses. */
static bool may_write(TensorFormat f, const TensorOut *tensors, size_t count, Err *err)
{
    if (count < 1 || count > TENSORS_MAX || (formats[f].single && count != 1))
        return err_set(err, "%zu tensors can't go into one .%s file. Name %s.", count, formats[f].suffix,
                       count > 1 && formats[f].single ? "one tensor, or end the file's name in .npz or .safetensors"
                                                      : "at least one tensor, or fewer");
    for (size_t i = 0; i < count; i++) {
        TensorShown s;
        size_t n = strlen(tensors[i].name);
        if (!n || n > TENSOR_NAME_MAX || strcmp(tensors[i].name, "__metadata__") == 0)
            return err_set(err, "a tensor can't be named '%s'. Take a name of 1 to %d bytes.",
                           tensor_shown(&s, NULL, tensors[i].name)->name, TENSOR_NAME_MAX);
    }
    return names_differ(tensors, count, err) && (f != TF_NPZ || npz_fits(tensors, count, err));
}

static bool npy_write(Sink *s, const TensorOut *t, Err *err)
{
    Buf header = {0};
    npy_header(&header, t);
    const float *x = sink_values(s, t, err);
    bool ok = x && sink_bytes(s, header.data, header.len, err) && sink_floats(s, x, tensor_cells(t), err);
    buf_free(&header);
    return ok;
}

static bool put_all(Sink *s, TensorFormat f, const TensorOut *tensors, size_t count, const char *const *metadata,
                    Err *err)
{
    switch (f) {
    case TF_SAFETENSORS: return safetensors_write(s, tensors, count, metadata, err);
    case TF_NPZ: return npz_write(s, tensors, count, err);
    case TF_NPY: return npy_write(s, tensors, err);
    case TF_CSV: return csv_write(s, tensors, err);
    case TF_JSON: break;
    }
    return json_write(s, tensors, count, metadata, err);
}

bool tensors_encode(Buf *out, TensorFormat f, const TensorOut *tensors, size_t count, const char *const *metadata,
                    Err *err)
{
    size_t before = out->len;
    Sink s = {.memory = out};
    bool ok = may_write(f, tensors, count, err) && put_all(&s, f, tensors, count, metadata, err);
    if (!ok && out->data) {
        out->len = before;
        out->data[before] = 0;
    }
    return ok;
}

bool tensors_write_each(const char *path, TensorFormat f, const TensorOut *tensors, size_t count,
                        const char *const *metadata, TensorValues *values, void *context, Err *err)
{
    TensorShown shown;
    FileOut file;
    if (!may_write(f, tensors, count, err))
        return err_prefix(err, "%s", tensor_shown(&shown, path, NULL)->path);
    if (!file_create(&file, path, err))
        return false;
    Sink s = {.file = &file, .tensors = tensors, .values = values, .context = context};
    bool ok = put_all(&s, f, tensors, count, metadata, err) && file_commit(&file, err);
    file_abandon(&file);
    return ok;
}

bool tensors_write(const char *path, TensorFormat f, const TensorOut *tensors, size_t count,
                   const char *const *metadata, Err *err)
{
    return tensors_write_each(path, f, tensors, count, metadata, NULL, NULL, err);
}
