#include "core/train/progress_file.h"

#include <string.h>

#include "core/base/mem.h"
#include "core/io/json.h"

enum { EXTRA = 6 };

bool progress_write(const Progress *p, const TensorOut *extra, size_t extras, const char *path, Err *err)
{
    TensorOut out[PROGRESS_BLOCKS + 1 + EXTRA];
    float step = (float)p->step;
    size_t n = 0;
    REQUIRE(extras <= EXTRA);
    for (int i = 0; i < p->blocks; i++)
        out[n++] = (TensorOut){.name = p->name[i], .rank = 1, .shape = {p->cells}, .data = p->block[i]};
    out[n++] = (TensorOut){.name = "state.step", .rank = 1, .shape = {1}, .data = &step};
    for (size_t i = 0; i < extras; i++)
        out[n++] = extra[i];
    const char *const metadata[] = {"recipe", p->identity, NULL};
    return tensors_write(path, TF_SAFETENSORS, out, n, metadata, err);
}

static bool same_identity(const Progress *p, const TensorFile *f, Err *err)
{
    Json *j = f->metadata ? json_parse(f->path, f->metadata, strlen(f->metadata), err) : NULL;
    bool same = strcmp(json_text(json_get(j, "recipe"), ""), p->identity) == 0;
    json_free(j);
    return same || err_set(err,
                           "%s: was interrupted under another %s. Go on with those, or remove the file to start "
                           "afresh.",
                           f->path, p->named);
}

static bool read_tensor(const TensorFile *f, const char *name, float *out, size_t cells, Err *err)
{
    const TensorInfo *info = tensors_find(f, name);
    if (!info || info->cells != cells)
        return err_set(err, "%s: is no interrupted training of this model. Remove it to start afresh.", f->path);
    return tensors_read_f32(f, info, out, err);
}

bool progress_read(const Progress *p, const TensorFile *f, float *blocks, int *step, Err *err)
{
    float at = 0;
    if (!same_identity(p, f, err) || !read_tensor(f, "state.step", &at, 1, err))
        return false;
    for (int i = 0; i < p->blocks; i++)
        if (!read_tensor(f, p->name[i], blocks + (size_t)i * p->cells, p->cells, err))
            return false;
    if (!(at >= 0 && at <= (float)p->steps))
        return err_set(err, "%s: is damaged: step %g of %d. Remove it to start afresh.", f->path, (double)at, p->steps);
    *step = (int)at;
    return true;
}

void progress_take(const Progress *p, const float *blocks)
{
    for (int i = 0; i < p->blocks; i++)
        memcpy(p->block[i], blocks + (size_t)i * p->cells, p->cells * sizeof *blocks);
}
