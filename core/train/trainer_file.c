/* A training on disk: the state to go on from, blocks of weights and moments, the step and what identifies the run; and
 * the folder of the finished model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/io/json.h"
#include "core/models/family.h"
#include "core/train/history_parts.h"
#include "core/train/trainer.h"

enum { PATH = 1100, BLOCKS = 4 };
static const char *const NAMES[BLOCKS] = {"state.weights", "state.first_moment", "state.second_moment", "state.mean"};

/* The blocks of a state in the order of their names; the last is NULL where no weights are averaged. */
static void blocks_of(const Trainer *t, float *block[BLOCKS])
{
    block[0] = t->model.block;
    block[1] = t->descent.first;
    block[2] = t->descent.second;
    block[3] = t->mean;
}

/* What a state must have been made with for going on to give the bytes of an uninterrupted run. */
static void identity(const Trainer *t, Buf *out)
{
    recipe_write(&t->recipe, t->config, out);
    if (t->recipe.kind->identity)
        t->recipe.kind->identity(t, out);
}

bool trainer_save(const Trainer *t, const char *path, Err *err)
{
    TensorOut out[BLOCKS + 1 + HISTORY_TENSORS];
    Arena arena = {0};
    Buf text = {0};
    float step = (float)t->step, *block[BLOCKS];
    size_t n = 0;
    blocks_of(t, block);
    identity(t, &text);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i])
            out[n++] = (TensorOut){.name = NAMES[i], .rank = 1, .shape = {t->model.block_cells}, .data = block[i]};
    out[n++] = (TensorOut){.name = "state.step", .rank = 1, .shape = {1}, .data = &step};
    n += history_tensors(&t->history, &arena, out + n);
    const char *const metadata[] = {"recipe", buf_str(&text), NULL};
    bool ok = tensors_write(path, TF_SAFETENSORS, out, n, metadata, err);
    arena_free(&arena);
    buf_free(&text);
    return ok;
}

static bool same_identity(const Trainer *t, const TensorFile *f, Err *err)
{
    Buf text = {0};
    Json *j = f->metadata ? json_parse(f->path, f->metadata, strlen(f->metadata), err) : NULL;
    identity(t, &text);
    bool same = strcmp(json_text(json_get(j, "recipe"), ""), buf_str(&text)) == 0;
    json_free(j);
    buf_free(&text);
    return same ||
           err_set(err,
                   "%s: was interrupted under another recipe, model or folder of pictures. Go on with those, or "
                   "remove the file to start afresh.",
                   f->path);
}

static bool read_tensor(const TensorFile *f, const char *name, float *out, size_t cells, Err *err)
{
    const TensorInfo *info = tensors_find(f, name);
    if (!info || info->cells != cells)
        return err_set(err, "%s: is no interrupted training of this model. Remove it to start afresh.", f->path);
    return tensors_read_f32(f, info, out, err);
}

/* An open file into `read` (BLOCKS of the model's cells) and *step, after comparing what identifies it. */
static bool read_state(const Trainer *t, const TensorFile *f, float *const block[BLOCKS], float *read, int *step,
                       Err *err)
{
    float at = 0;
    size_t cells = t->model.block_cells;
    if (!same_identity(t, f, err) || !read_tensor(f, "state.step", &at, 1, err))
        return false;
    for (size_t i = 0; i < BLOCKS; i++)
        if (block[i] && !read_tensor(f, NAMES[i], read + i * cells, cells, err))
            return false;
    if (!(at >= 0 && at <= (float)t->recipe.steps))
        return err_set(err, "%s: is damaged: step %g of %d. Remove it to start afresh.", f->path, (double)at,
                       t->recipe.steps);
    *step = (int)at;
    return true;
}

bool trainer_resume(Trainer *t, const char *path, Err *err)
{
    TensorFile f;
    History h = {.vit = t->history.vit, .text = t->history.text};
    float *block[BLOCKS];
    size_t cells = t->model.block_cells;
    int step = 0;
    if (!tensors_open(&f, path, err))
        return false;
    blocks_of(t, block);
    float *read = xfloats(size_mul(BLOCKS, cells));
    bool ok = read_state(t, &f, block, read, &step, err) && history_take(&h, &f, err);
    tensors_close(&f);
    for (size_t i = 0; ok && i < BLOCKS; i++)
        if (block[i])
            memcpy(block[i], read + i * cells, cells * sizeof *read);
    if (ok) {
        t->step = step;
        history_free(&t->history);
        t->history = h;
    }
    free(read);
    return ok;
}

bool trainer_write(const Trainer *t, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    if (!t->model.family->save(&t->model, folder, err))
        return false;
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    if (!history_write(&t->history, path, err))
        return false;
    recipe_write(&t->recipe, t->config, &text);
    snprintf(path, sizeof path, "%s/recipe.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    return ok && (!t->recipe.kind->write || t->recipe.kind->write(t, folder, err));
}
