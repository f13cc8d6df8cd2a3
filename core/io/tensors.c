#include "core/io/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/io/llama2c.h"
#include "core/io/tensor_parts.h"

enum { CHUNK = 1 << 16, HEAD = 512, LARGE = 1 << 27 }; /* LARGE: cells, half a gigabyte */

const TensorShown *tensor_shown(TensorShown *s, const char *path, const char *name)
{
    utf8_clean(s->path, sizeof s->path, path ? path : "");
    utf8_clean(s->name, sizeof s->name, name ? name : "");
    return s;
}

bool tensor_add(TensorFile *f, size_t *cap, const TensorInfo *t, Err *err)
{
    TensorShown s;
    size_t length = strlen(t->name);
    if (!length && !f->nameless) /* a module tree's root is called so where names are members' names */
        return err_set(err, "%s: a tensor's name has 0 bytes. Give it one, such as logits, or write an .npz.",
                       tensor_shown(&s, f->path, NULL)->path);
    if (length > TENSOR_NAME_MAX)
        return err_set(
            err,
            "%s: a tensor's name has %zu bytes; 1 to %d are allowed. The file is damaged or hostile: fetch it again.",
            tensor_shown(&s, f->path, NULL)->path, length, TENSOR_NAME_MAX);
    if (f->count == TENSORS_MAX)
        return err_set(err, "%s: has more than %d tensors. Check that it is the file you meant.",
                       tensor_shown(&s, f->path, NULL)->path, TENSORS_MAX);
    if (t->cells >= LARGE) { /* a file with holes in it claims what it likes */
        char what[sizeof s.path + sizeof s.name + 16];
        tensor_shown(&s, f->path, t->name);
        snprintf(what, sizeof what, "%s: tensor '%s'", s.path, s.name);
        if (!machine_holds(2 * (double)t->cells * sizeof(float), what, "save it in smaller parts", err))
            return false;
    }
    f->tensors = grow(f->tensors, cap, f->count, sizeof *f->tensors);
    f->tensors[f->count] = *t;
    f->tensors[f->count++].name = arena_strdup(&f->arena, t->name);
    return true;
}

bool tensor_count(TensorInfo *t)
{
    t->cells = 1;
    for (int i = 0; i < t->rank; i++)
        if (!size_mul_ok(t->cells, t->shape[i], &t->cells))
            return false;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const TensorInfo *const *)a)->name, (*(const TensorInfo *const *)b)->name);
}

bool tensors_index(TensorFile *f, Err *err)
{
    f->by_name = xmalloc(size_mul(f->count, sizeof *f->by_name));
    for (size_t i = 0; i < f->count; i++)
        f->by_name[i] = &f->tensors[i];
    if (f->count)
        qsort(f->by_name, f->count, sizeof *f->by_name, by_name);
    for (size_t i = 1; i < f->count; i++) {
        TensorShown s;
        if (by_name(&f->by_name[i - 1], &f->by_name[i]) == 0)
            return err_set(err, "%s: has two tensors named '%s'. The file is damaged or hostile: fetch it again.",
                           tensor_shown(&s, f->path, f->by_name[i]->name)->path, s.name);
    }
    return true;
}

typedef bool (*Reader)(TensorFile *f, Err *err);

static bool is_safetensors(const uint8_t *head, size_t n)
{
    return n >= 9 && head[8] == '{' && le64(head) <= 100000000;
}

static bool begins(const uint8_t *head, size_t n, const char *magic, size_t length)
{
    return n >= length && memcmp(head, magic, length) == 0;
}

static bool is_html(const uint8_t *head, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", head[i]) && head[i])
        i++;
    static const char *const tags[] = {"<!doctype", "<html", "<head", "<?xml"};
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
        if (n - i >= strlen(tags[k]) && strncasecmp((const char *)head + i, tags[k], strlen(tags[k])) == 0)
            return true;
    return false;
}

/* Kinds that are not read, each with what to do about it. Called when the file is none of ours. */
static bool refuse(const TensorFile *f, const uint8_t *head, size_t n, Err *err)
{
    static const struct {
        const char *magic;
        unsigned char length;
        const char *text;
    } kinds[] = {
        {"\x80\x02", 2, NULL},
        {"\x80\x03", 2, NULL},
        {"\x80\x04", 2, NULL},
        {"\x80\x05", 2, NULL},
        {"version https://git-lfs", 23, "is a git-LFS pointer, not the weights. Fetch them with 'git lfs pull'."},
        {"GGUF", 4, "is a GGUF file. Take the safetensors version of the model."},
        {"\x89HDF\r\n\x1a\n", 8, "is an HDF5 file (Keras). Save the weights as .npz or .safetensors."},
        {"\x1f\x8b", 2, "is compressed with gzip. Run gunzip on it first."},
        {"\xfd"
         "7zXZ",
         5, "is compressed with xz. Run unxz on it first."},
    };
    TensorShown s;
    tensor_shown(&s, f->path, NULL);
    if (is_html(head, n))
        return err_set(err,
                       "%s: is a web page, not weights. The download went wrong: fetch the file itself (its 'raw' or "
                       "'resolve' link).",
                       s.path);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins(head, n, kinds[i].magic, kinds[i].length))
            return kinds[i].text ? err_set(err, "%s: %s", s.path, kinds[i].text) : pickle_refused(f->path, err);
    if (file_is(f->path, "safetensors"))
        return n < 9
                   ? err_set(err, "%s: has %zu bytes, too few for a safetensors file. Fetch it again.", s.path, n)
                   : err_set(err, "%s: does not begin like a safetensors file (header of %llu bytes). Fetch it again.",
                             s.path, (unsigned long long)le64(head));
    if (llama2c_refuse(s.path, head, n, f->size, err))
        return false;
    return err_set(
        err,
        "%s: holds no tensors that are known here. Take a .safetensors, .npz or .npy file, or a folder of .npy files.",
        s.path);
}

bool pickle_refused(const char *path, Err *err)
{
    TensorShown s;
    return err_set(err,
                   "%s: is a PyTorch pickle, which could run any code and is never read. Convert it: python3 -c "
                   "\"import sys, torch, "
                   "safetensors.torch as s; d = torch.load(sys.argv[1], 'cpu', weights_only=True); s.save_file({k: "
                   "v.contiguous().clone() for k, v "
                   "in d.get('model', d).items()}, 'model.safetensors')\" FILE",
                   tensor_shown(&s, path, NULL)->path);
}

bool script_refused(const char *path, Err *err)
{
    TensorShown s;
    return err_set(err,
                   "%s: is a TorchScript archive, a program with its weights, and is never run. Take the weights out: "
                   "python3 -c \"import sys, torch, safetensors.torch as s; d = torch.jit.load(sys.argv[1], "
                   "'cpu').state_dict(); s.save_file({k: v.float().contiguous().clone() for k, v in d.items()}, "
                   "'model.safetensors')\" FILE",
                   tensor_shown(&s, path, NULL)->path);
}

bool tensor_read_at(const TensorFile *f, void *out, size_t n, uint64_t offset, Err *err)
{
    if (!f->memory)
        return file_read_at(f->fd, f->path, out, n, offset, err);
    if (offset > f->size || n > f->size - offset)
        return err_set(err, "%s: ends too early.", f->path);
    memcpy(out, f->memory + offset, n);
    return true;
}

static bool read_headers(TensorFile *f, Err *err)
{
    uint8_t head[HEAD];
    TensorShown s;
    size_t n = f->size < HEAD ? (size_t)f->size : HEAD;
    if (!n)
        return err_set(err, "%s: is empty. Check that it was saved or copied completely.",
                       tensor_shown(&s, f->path, NULL)->path);
    if (!file_read_at(f->fd, f->path, head, n, 0, err))
        return false;
    /* safetensors first: a header of 640 bytes begins like a pickle. */
    Reader reader = llama2c_is(head, n, f->size)                                   ? llama2c_read_header
                    : is_safetensors(head, n)                                      ? safetensors_read_header
                    : begins(head, n, "\x93NUMPY", 6)                              ? npy_read_header
                    : begins(head, n, "PK\3\4", 4) || begins(head, n, "PK\5\6", 4) ? npz_read_headers
                                                                                   : NULL;
    if (!reader)
        return refuse(f, head, n, err);
    return reader(f, err);
}

bool tensors_open(TensorFile *f, const char *path, Err *err)
{
    *f = (TensorFile){.fd = -1, .path = xstrdup(path)};
    bool ok;
    if (file_is_dir(path)) {
        ok = npy_folder(f, err);
    } else {
        f->fd = file_open(path, &f->size, err);
        ok = f->fd >= 0 && read_headers(f, err);
    }
    ok = ok && tensors_index(f, err);
    if (!ok)
        tensors_close(f);
    return ok;
}

bool tensors_open_bytes(TensorFile *f, const char *name, const void *bytes, size_t n, Err *err)
{
    TensorShown s;
    *f = (TensorFile){.fd = -1, .memory = bytes, .path = xstrdup(name), .size = n};
    bool ok = n < HEAD || !is_safetensors(bytes, HEAD)
                  ? err_set(err, "%s: is not a safetensors file.", tensor_shown(&s, name, NULL)->path)
                  : safetensors_read_header(f, err) && tensors_index(f, err);
    if (!ok)
        tensors_close(f);
    return ok;
}

void tensors_close(TensorFile *f)
{
    if (!f->path)
        return;
    if (f->fd >= 0)
        close(f->fd);
    for (int i = 0; i < f->shard_count; i++)
        tensors_close(&f->shards[i]);
    free(f->shards);
    free(f->path);
    free(f->tensors);
    free(f->by_name);
    free(f->metadata);
    arena_free(&f->arena);
    *f = (TensorFile){0};
}

const TensorInfo *tensors_find(const TensorFile *f, const char *name)
{
    const TensorInfo key = {.name = name}, *wanted = &key;
    const TensorInfo **found = f->count ? bsearch(&wanted, f->by_name, f->count, sizeof *f->by_name, by_name) : NULL;
    return found ? *found : NULL;
}

/* Where a tensor's bytes come from: a file, memory, a member of a zip. */
typedef struct Bytes {
    int fd;
    bool own; /* fd is this tensor's alone: a file of a folder */
    NpzStream *zip;
} Bytes;

static bool bytes_begin(Bytes *b, const TensorFile *f, const TensorInfo *t, Err *err)
{
    *b = (Bytes){.fd = f->fd};
    if (t->member)
        return (b->zip = npz_begin(f, t, err)) != NULL;
    b->own = f->fd < 0 && !f->memory;
    if (b->own)
        b->fd = npy_in_folder(f, t, err);
    return !b->own || b->fd >= 0;
}

static bool bytes_next(Bytes *b, const TensorFile *f, uint64_t at, void *out, size_t n, Err *err)
{
    if (b->zip)
        return npz_next(b->zip, out, n, err);
    if (f->memory)
        return tensor_read_at(f, out, n, at, err);
    return stop_asked() ? stop_refuse(err) : file_read_at(b->fd, f->path, out, n, at, err);
}

static void bytes_end(Bytes *b)
{
    npz_end(b->zip);
    if (b->own)
        close(b->fd);
}

/* What numbers become in memory; those of 16 bits may stay as they are. */
typedef enum As { AS_F32, AS_F64, AS_16 } As;
static const size_t WIDTH[] = {[AS_F32] = sizeof(float), [AS_F64] = sizeof(double), [AS_16] = sizeof(uint16_t)};

static void convert(As as, Dtype d, const uint8_t *bytes, size_t n, void *out, size_t at)
{
    switch (as) {
    case AS_F32: dtype_to_f32(d, bytes, n, (float *)out + at); return;
    case AS_F64: dtype_to_f64(d, bytes, n, (double *)out + at); return;
    case AS_16:
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)out)[at + i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
        return;
    }
}

static bool read_cells(const TensorFile *f, const TensorInfo *t, size_t cells, As as, void *out, Err *err)
{
    f = tensor_shard(f, t);
    TensorShown s;
    size_t size = dtype_size(t->dtype);
    Bytes from;
    REQUIRE(cells <= t->cells);
    if (!size)
        return err_set(err, "%s: tensor '%s' is of a number type that is not read. Save it as float32.",
                       tensor_shown(&s, f->path, t->name)->path, s.name);
    if (!bytes_begin(&from, f, t, err))
        return false;
    uint8_t chunk[CHUNK];
    bool ok = true;
    for (size_t done = 0, n; ok && done < cells; done += n) {
        n = cells - done < CHUNK / size ? cells - done : CHUNK / size;
        ok = bytes_next(&from, f, t->offset + (uint64_t)done * size, chunk, n * size, err);
        if (ok)
            convert(as, t->dtype, chunk, n, out, done);
    }
    bytes_end(&from);
    return ok;
}

/* From the order in which the first axis runs fastest to the one in which the last does: in[cells] to out[count]. */
static void by_rows(const TensorInfo *t, const void *in, void *out, size_t count, size_t size)
{
    size_t index[TENSOR_RANK_MAX] = {0}, stride[TENSOR_RANK_MAX], at = 0;
    for (int k = 0; k < t->rank; k++)
        stride[k] = k ? stride[k - 1] * t->shape[k - 1] : 1;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)out + i * size, (const char *)in + at * size, size);
        for (int k = t->rank - 1; k >= 0; k--) {
            at += stride[k];
            if (++index[k] < t->shape[k])
                break;
            at -= stride[k] * t->shape[k];
            index[k] = 0;
        }
    }
}

/* read_cells for either order. */
static bool read_rows(const TensorFile *f, const TensorInfo *t, size_t cells, As as, void *out, Err *err)
{
    if (!t->columns)
        return read_cells(f, t, cells, as, out, err);
    void *all = xmalloc(size_mul(t->cells, WIDTH[as]));
    bool ok = read_cells(f, t, t->cells, as, all, err);
    if (ok)
        by_rows(t, all, out, cells, WIDTH[as]);
    free(all);
    return ok;
}

bool tensors_read_f32(const TensorFile *f, const TensorInfo *t, float *out, Err *err)
{
    return read_rows(f, t, t->cells, AS_F32, out, err);
}

bool tensors_read_16(const TensorFile *f, const TensorInfo *t, uint16_t *out, Err *err)
{
    REQUIRE(dtype_size(t->dtype) == sizeof *out);
    return read_rows(f, t, t->cells, AS_16, out, err);
}

bool tensors_read_first_f32(const TensorFile *f, const TensorInfo *t, float *out, size_t cells, Err *err)
{
    return read_rows(f, t, cells, AS_F32, out, err);
}

bool tensors_unchecked(const TensorInfo *t, size_t cells)
{
    return t->member && cells < t->cells;
}

bool tensors_read_f64(const TensorFile *f, const TensorInfo *t, double *out, Err *err)
{
    return read_rows(f, t, t->cells, AS_F64, out, err);
}
