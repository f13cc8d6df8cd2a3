/* A model in several safetensors files: an index says which tensor lies in which of them. Index and files must agree
 * in both directions, or half a model would be taken for a whole one. */
#include <stdlib.h>
#include <string.h>

#include "core/io/json.h"
#include "core/io/tensor_parts.h"

enum { INDEX_MAX = 64 << 20, SHARDS_MAX = 1000 };

/* A name from the index must not lead out of the index's folder. */
static bool plain_name(const char *s)
{
    return *s && *s != '.' && !strchr(s, '/') && strlen(s) < 256;
}

static bool bad_entry(const TensorFile *f, const char *tensor, const char *problem, Err *err)
{
    Shown s;
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
    Shown s;
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
    Shown s;
    if (json_kind(map) != JK_OBJECT || !json_count(map))
        return err_set(err, "%s: has no \"weight_map\" of tensors. Check that it is the file you meant.",
                       tensor_shown(&s, f->path, NULL)->path);
    for (size_t i = 0; i < json_count(map); i++) {
        const char *tensor;
        const Json *entry = json_member(map, i, &tensor);
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
                return bad_entry(f, shard->tensors[t].name, "lies in a file that the index does not name for it", err);
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
