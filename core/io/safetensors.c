/* safetensors: u64 length n, n bytes of JSON {name: {dtype, shape, data_offsets}}, data. The offsets must tile the data
 * exactly, in some order. Format: https://huggingface.co/docs/safetensors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/json.h"
#include "core/io/tensor_parts.h"

enum { PREFIX = 8, HEADER_MAX = 16 << 20 };

static bool bad_tensor(const TensorFile *f, const char *name, const char *problem, Err *err)
{
    TensorShown s;
    return err_set(err, "%s: tensor '%s': %s. The file is damaged or hostile: fetch it again.",
                   tensor_shown(&s, f->path, name)->path, s.name, problem);
}

/* A count that must fit in memory sizes: an integer ≥ 0. */
static bool natural(const Json *v, uint64_t *out)
{
    int64_t i;
    if (!json_int(v, &i) || i < 0)
        return false;
    *out = (uint64_t)i;
    return true;
}

static bool parse_shape(const TensorFile *f, const Json *shape, TensorInfo *t, Err *err)
{
    if (json_kind(shape) != JK_ARRAY)
        return bad_tensor(f, t->name, "has no shape", err);
    if (json_count(shape) > TENSOR_RANK_MAX)
        return bad_tensor(f, t->name, "has more than 8 axes", err);
    t->rank = (int)json_count(shape);
    for (int i = 0; i < t->rank; i++) {
        uint64_t length;
        if (!natural(json_at(shape, (size_t)i), &length) || length > SIZE_MAX)
            return bad_tensor(f, t->name, "has an axis whose length is no whole number from 0 on", err);
        t->shape[i] = (size_t)length;
    }
    return tensor_count(t) ? true : bad_tensor(f, t->name, "has a shape whose product overflows", err);
}

static bool parse_tensor(TensorFile *f, size_t *cap, const char *name, const Json *v, uint64_t begin_of_data, Err *err)
{
    TensorInfo t = {.name = name};
    unsigned bits;
    if (json_kind(v) != JK_OBJECT)
        return bad_tensor(f, name, "is not described by an object", err);
    if (!dtype_named(json_text(json_get(v, "dtype"), ""), &t.dtype, &t.type, &bits))
        return bad_tensor(f, name, "has no dtype that the format knows", err);
    if (!parse_shape(f, json_get(v, "shape"), &t, err))
        return false;
    const Json *offsets = json_get(v, "data_offsets");
    uint64_t begin, end, room = f->size - begin_of_data;
    if (json_count(offsets) != 2 || !natural(json_at(offsets, 0), &begin) || !natural(json_at(offsets, 1), &end))
        return bad_tensor(f, name, "its data_offsets are not two whole numbers from 0 on", err);
    if (begin > end)
        return bad_tensor(f, name, "its data end before they begin", err);
    if (end > room)
        return bad_tensor(f, name,
                          "its data lie beyond the end of the file, which may be a download that stopped early", err);
    size_t width;
    if (!size_mul_ok(t.cells, bits, &width))
        return bad_tensor(f, name, "has a shape whose size in bits overflows", err);
    if (width % 8 || end - begin != width / 8)
        return bad_tensor(f, name, "its shape and its data_offsets disagree", err);
    t.offset = begin_of_data + begin;
    t.bytes = end - begin;
    return tensor_add(f, cap, &t, err);
}

static int by_offset(const void *a, const void *b)
{
    const TensorInfo *s = a, *t = b;
    if (s->offset != t->offset)
        return s->offset < t->offset ? -1 : 1;
    if (s->bytes != t->bytes)
        return s->bytes < t->bytes ? -1 : 1;
    return strcmp(s->name, t->name); /* empty tensors may share a place: a fixed order all the same */
}

static bool check_tiling(TensorFile *f, uint64_t begin_of_data, Err *err)
{
    uint64_t at = begin_of_data;
    if (f->count)
        qsort(f->tensors, f->count, sizeof *f->tensors, by_offset);
    for (size_t i = 0; i < f->count; i++) {
        const TensorInfo *t = &f->tensors[i];
        if (t->offset != at)
            return bad_tensor(f, t->name,
                              t->offset < at ? "shares bytes with another tensor"
                                             : "bytes before it belong to no tensor",
                              err);
        at += t->bytes;
    }
    TensorShown s;
    return at == f->size
               ? true
               : err_set(
                     err,
                     "%s: %llu bytes at its end belong to no tensor. The file is damaged or hostile: fetch it again.",
                     tensor_shown(&s, f->path, NULL)->path, (unsigned long long)(f->size - at));
}

static bool keep_metadata(TensorFile *f, const Json *v, Err *err)
{
    TensorShown s;
    Buf text = {0};
    bool ok = json_kind(v) == JK_OBJECT;
    const char *key = NULL;
    buf_putc(&text, '{');
    for (const Json *at; ok && (at = json_next(v, &key));) {
        const char *value = json_text(at, NULL);
        ok = value != NULL;
        json_put_text(&text, key, ok ? value : "");
    }
    buf_putc(&text, '}');
    if (ok)
        f->metadata = xstrdup(buf_str(&text));
    buf_free(&text);
    return ok ? true
              : err_set(err,
                        "%s: its __metadata__ is not an object of strings. Save it again with a current safetensors "
                        "library.",
                        tensor_shown(&s, f->path, NULL)->path);
}

static bool parse_header(TensorFile *f, const Json *root, uint64_t begin_of_data, Err *err)
{
    size_t cap = 0;
    const char *key = NULL;
    for (const Json *v; (v = json_next(root, &key));) {
        if (strcmp(key, "__metadata__") == 0 ? !keep_metadata(f, v, err)
                                             : !parse_tensor(f, &cap, key, v, begin_of_data, err))
            return false;
    }
    return check_tiling(f, begin_of_data, err);
}

bool safetensors_read_header(TensorFile *f, Err *err)
{
    TensorShown s;
    uint8_t prefix[PREFIX];
    tensor_shown(&s, f->path, NULL);
    if (!tensor_read_at(f, prefix, PREFIX, 0, err))
        return false;
    uint64_t n = le64(prefix);
    if (n > f->size - PREFIX)
        return err_set(err,
                       "%s: its header claims %llu bytes but the file has only %llu. The download stopped early or the "
                       "file is damaged: fetch it again.",
                       s.path, (unsigned long long)n, (unsigned long long)f->size);
    if (n > HEADER_MAX)
        return err_set(err, "%s: its header has %llu bytes; at most %d are read. Check that it is the file you meant.",
                       s.path, (unsigned long long)n, HEADER_MAX);
    char *text = xmalloc((size_t)n), named[PATH_SHOWN + 10];
    snprintf(named, sizeof named, "%s (header)", s.path);
    Json *root = tensor_read_at(f, text, (size_t)n, PREFIX, err) ? json_parse(named, text, (size_t)n, err) : NULL;
    free(text);
    bool ok = root && parse_header(f, root, PREFIX + n, err);
    json_free(root);
    return ok;
}

static void header_text(Buf *h, const TensorOut *tensors, size_t count, const char *const *metadata)
{
    buf_putc(h, '{');
    Buf pairs = {0};
    json_open(&pairs, NULL, '{');
    for (; metadata && *metadata; metadata += 2)
        json_put_text(&pairs, metadata[0], metadata[1]);
    for (size_t i = 0; i < count; i++)
        if (tensors[i].axes) {
            Buf key = {0};
            buf_printf(&key, "axes:%s", tensors[i].name);
            json_put_text(&pairs, buf_str(&key), tensors[i].axes);
            buf_free(&key);
        }
    if (pairs.len > 1)
        buf_printf(h, "\"__metadata__\":%s}", buf_str(&pairs));
    buf_free(&pairs);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const TensorOut *t = &tensors[i];
        size_t bytes = size_mul(tensor_cells(t), sizeof(float));
        json_open(h, t->name, '{');
        json_put_text(h, "dtype", "F32");
        json_open(h, "shape", '[');
        for (int k = 0; k < t->rank; k++)
            json_put(h, NULL, "%zu", t->shape[k]);
        buf_putc(h, ']');
        json_put(h, "data_offsets", "[%zu,%zu]}", at, size_add(at, bytes));
        at += bytes;
    }
    buf_putc(h, '}');
    while (h->len % 8)
        buf_putc(h, ' ');
}

bool safetensors_write(Sink *s, const TensorOut *tensors, size_t count, const char *const *metadata, Err *err)
{
    Buf header = {0}, prefix = {0};
    header_text(&header, tensors, count, metadata);
    put_le(&prefix, header.len, PREFIX);
    bool ok = header.len <= HEADER_MAX
                  ? true
                  : err_set(err, "a header of %zu bytes is more than any reader takes. Write fewer tensors.",
                            header.len);
    ok = ok && sink_bytes(s, prefix.data, prefix.len, err) && sink_bytes(s, header.data, header.len, err);
    for (size_t i = 0; ok && i < count; i++) {
        const float *x = sink_values(s, &tensors[i], err);
        ok = x && sink_floats(s, x, tensor_cells(&tensors[i]), err);
    }
    buf_free(&prefix);
    buf_free(&header);
    return ok;
}

/* A model in several safetensors files: an index says which tensor lies in which of them. Index and files must agree
 * in both directions, or half a model would be taken for a whole one. */

enum { INDEX_MAX = 64 << 20, SHARDS_MAX = 1000 };

/* A name from the index must not lead out of the index's folder. */
static bool plain_name(const char *s)
{
    return *s && *s != '.' && !strchr(s, '/') && strlen(s) < 256;
}

static bool bad_entry(const TensorFile *f, const char *tensor, const char *problem, Err *err)
{
    TensorShown s;
    return err_set(err, "%s: tensor '%s' %s. Fetch the index and all its files again.",
                   tensor_shown(&s, f->path, tensor)->path, s.name, problem);
}

static const TensorFile *shard_named(const TensorFile *f, const char *path)
{
    for (int i = 0; i < f->shard_count; i++)
        if (strcmp(f->shards[i].path, path) == 0)
            return &f->shards[i];
    return NULL;
}

static const char *beside(TensorFile *f, const char *name)
{
    const char *slash = strrchr(f->path, '/');
    return arena_printf(&f->arena, "%.*s%s", slash ? (int)(slash - f->path) + 1 : 0, f->path, name);
}

/* The shard that an entry of the index names, opened where it is the first to name it. */
static const TensorFile *open_named(TensorFile *f, size_t *cap, const char *tensor, const Json *entry, Err *err)
{
    TensorShown s;
    const char *name = json_text(entry, "");
    if (!plain_name(name)) {
        bad_entry(f, tensor, "is in no file of this folder", err);
        return NULL;
    }
    const char *path = beside(f, name);
    const TensorFile *known = shard_named(f, path);
    if (known)
        return known;
    if (f->shard_count == SHARDS_MAX) {
        err_set(err, "%s: names more than %d files. Check that it is the file you meant.",
                tensor_shown(&s, f->path, NULL)->path, SHARDS_MAX);
        return NULL;
    }
    f->shards = grow(f->shards, cap, (size_t)f->shard_count, sizeof *f->shards);
    TensorFile *shard = &f->shards[f->shard_count];
    if (!tensors_open(shard, path, err))
        return NULL;
    f->shard_count++;
    return shard;
}

static bool read_map(TensorFile *f, const Json *map, Err *err)
{
    size_t cap = 0;
    TensorShown s;
    if (json_kind(map) != JK_OBJECT || !json_count(map))
        return err_set(err, "%s: has no \"weight_map\" of tensors. Check that it is the file you meant.",
                       tensor_shown(&s, f->path, NULL)->path);
    const char *tensor = NULL;
    for (const Json *entry; (entry = json_next(map, &tensor));) {
        const TensorFile *shard = open_named(f, &cap, tensor, entry, err);
        if (!shard)
            return false;
        if (!tensors_find(shard, tensor))
            return bad_entry(f, tensor, "is not in the file that the index names", err);
    }
    return true;
}

/* All tensors of all files as one list, file by file. */
static bool gather(TensorFile *f, const Json *map, Err *err)
{
    size_t cap = 0;
    for (int i = 0; i < f->shard_count; i++) {
        const TensorFile *shard = &f->shards[i];
        const char *slash = strrchr(shard->path, '/'), *base = slash ? slash + 1 : shard->path;
        for (size_t t = 0; t < shard->count; t++) {
            if (strcmp(json_text(json_get(map, shard->tensors[t].name), ""), base) != 0)
                return bad_entry(f, shard->tensors[t].name, "is in another shard than the index says", err);
            if (!tensor_add(f, &cap, &shard->tensors[t], err))
                return false;
        }
    }
    return true;
}

bool tensors_open_shards(TensorFile *f, const char *path, Err *err)
{
    *f = (TensorFile){.fd = -1, .path = xstrdup(path)};
    Json *index = json_read(path, INDEX_MAX, err);
    const Json *map = json_get(index, "weight_map");
    bool ok = index && read_map(f, map, err) && gather(f, map, err) && tensors_index(f, err);
    json_free(index);
    if (!ok)
        tensors_close(f);
    return ok;
}

const TensorFile *tensor_shard(const TensorFile *f, const TensorInfo *t)
{
    size_t at = (size_t)(t - f->tensors);
    for (int i = 0; i < f->shard_count; i++) {
        if (at < f->shards[i].count)
            return &f->shards[i];
        at -= f->shards[i].count;
    }
    return f;
}
