/* Writing: which format, what may be written, and where the bytes go. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
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
    Shown s;
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
    Shown s;
    bool ok = true;
    for (size_t i = 1; ok && i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            ok = err_set(err, "two tensors are named '%s'. Write them to two files.",
                         tensor_shown(&s, NULL, names[i])->name);
    free(names);
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
        Shown s;
        size_t n = strlen(tensors[i].name);
        if (!n || n > TENSOR_NAME_MAX || strcmp(tensors[i].name, "__metadata__") == 0)
            return err_set(err, "a tensor can't be named '%s'. Take a name of 1 to %d bytes.",
                           tensor_shown(&s, NULL, tensors[i].name)->name, TENSOR_NAME_MAX);
    }
    return names_differ(tensors, count, err) && (f != TF_NPZ || npz_fits(tensors, count, err));
}

bool npy_write(Sink *s, const TensorOut *t, Err *err)
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
    Shown shown;
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
