/* A training run on disk: the state to go on from, and the folder of the finished model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/train/history_parts.h"
#include "core/train/trainer_parts.h"

enum { PATH = 1100, BLOCKS = 3 };
static const char *const NAMES[BLOCKS] = {"state.weights", "state.first_moment", "state.second_moment"};

static float *block_of(const Trainer *t, int i)
{
    float *const blocks[BLOCKS] = {t->model.block, t->first, t->second};
    return blocks[i];
}

/* What a state must have been made with for going on to give the bytes of an uninterrupted run. */
static void identity(const Trainer *t, Buf *out)
{
    recipe_write(&t->recipe, &t->model.vit, out);
    buf_printf(out, "pictures: %zu of", pictures_count(t->pictures, PICTURES_TRAIN));
    for (int o = 0; o < pictures_classes(t->pictures); o++)
        buf_printf(out, " %s", pictures_names(t->pictures)[o]);
    if (pictures_learnt(t->pictures)) /* their number alone does not tell that others came in their place */
        buf_printf(out, ", %016llx", (unsigned long long)pictures_learnt_hash(t->pictures));
}

bool trainer_save(const Trainer *t, const char *path, Err *err)
{
    TensorOut out[BLOCKS + 1 + HISTORY_TENSORS];
    Arena arena = {0};
    Buf text = {0};
    float step = (float)t->step;
    size_t n = 0;
    identity(t, &text);
    for (int i = 0; i < BLOCKS; i++)
        out[n++] = (TensorOut){.name = NAMES[i], .rank = 1, .shape = {t->model.block_cells}, .data = block_of(t, i)};
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
    return same || err_set(err,
                           "%s: was interrupted under another recipe, model or folder of pictures. Go on with those, "
                           "or remove the file to start afresh.",
                           f->path);
}

static bool read_blocks(Trainer *t, const TensorFile *f, float *blocks, float *step, Err *err)
{
    size_t cells = t->model.block_cells;
    for (int i = 0; i <= BLOCKS; i++) {
        const TensorInfo *info = tensors_find(f, i < BLOCKS ? NAMES[i] : "state.step");
        if (!info || info->cells != (i < BLOCKS ? cells : 1))
            return err_set(err, "%s: is no interrupted training of this model. Remove it to start afresh.", f->path);
        if (!tensors_read_f32(f, info, i < BLOCKS ? blocks + (size_t)i * cells : step, err))
            return false;
    }
    if (!(*step >= 0 && *step <= (float)t->recipe.steps))
        return err_set(err, "%s: is damaged: step %g of %d. Remove it to start afresh.", f->path, (double)*step,
                       t->recipe.steps);
    return true;
}

bool trainer_resume(Trainer *t, const char *path, Err *err)
{
    TensorFile f;
    History h = {0};
    float step = 0;
    size_t cells = t->model.block_cells;
    if (!tensors_open(&f, path, err))
        return false;
    float *blocks = xfloats(size_mul(BLOCKS, cells));
    bool ok = same_identity(t, &f, err) && read_blocks(t, &f, blocks, &step, err) &&
              history_take(&h, &t->model.vit, &f, err);
    tensors_close(&f);
    if (ok) {
        for (int i = 0; i < BLOCKS; i++)
            memcpy(block_of(t, i), blocks + (size_t)i * cells, cells * sizeof *blocks);
        t->step = (int)step;
        history_free(&t->history);
        t->history = h;
    }
    free(blocks);
    return ok;
}

bool trainer_write(const Trainer *t, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    if (!model_save(&t->model, folder, err))
        return false;
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    if (!history_write(&t->history, path, err))
        return false;
    recipe_write(&t->recipe, &t->model.vit, &text);
    snprintf(path, sizeof path, "%s/recipe.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    snprintf(path, sizeof path, "%s/" TRAINER_LEARNT, folder);
    return ok && pictures_write_learnt(t->pictures, path, err);
}
