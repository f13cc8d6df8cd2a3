/* A text model's training in files: interrupted, and finished. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/io/json.h"
#include "core/io/tensors.h"
#include "core/train/text_trainer_parts.h"

enum { PATH = 1200, BLOCKS = 4, STATE_TENSORS = BLOCKS + 2 };
static const char *const NAMES[BLOCKS] = {"state.weights", "state.first", "state.second", "state.mean"};

static float *block_of(const TextTrainer *t, int i)
{
    float *const blocks[BLOCKS] = {t->model.block, t->first, t->second, t->mean};
    return blocks[i];
}

/* What must be equal for a run to go on: recipe and model, as they are written. */
static void identity(const TextTrainer *t, Buf *out)
{
    text_recipe_write(&t->recipe, &t->model.config, out);
}

/* An array of no rows is written as one row of zeros: a tensor without cells is none. */
static TensorOut history_tensor(const TextHistory *h, float none[TEXT_FIGURE_COUNT])
{
    memset(none, 0, TEXT_FIGURE_COUNT * sizeof *none);
    return (TensorOut){.name = "rows",
                       .rank = 2,
                       .shape = {h->rows ? (size_t)h->rows : 1, TEXT_FIGURE_COUNT},
                       .data = h->rows ? h->row : none};
}

bool text_trainer_save(const TextTrainer *t, const char *path, Err *err)
{
    TensorOut out[STATE_TENSORS];
    float step = (float)t->step, none[TEXT_FIGURE_COUNT];
    Buf text = {0};
    identity(t, &text);
    for (int i = 0; i < BLOCKS; i++)
        out[i] = (TensorOut){.name = NAMES[i], .rank = 1, .shape = {t->model.block_cells}, .data = block_of(t, i)};
    out[BLOCKS] = (TensorOut){.name = "state.step", .rank = 1, .shape = {1}, .data = &step};
    out[BLOCKS + 1] = history_tensor(&t->history, none);
    const char *const metadata[] = {"recipe", buf_str(&text), NULL};
    bool ok = tensors_write(path, TF_SAFETENSORS, out, STATE_TENSORS, metadata, err);
    buf_free(&text);
    return ok;
}

static bool same_identity(const TextTrainer *t, const TensorFile *f, Err *err)
{
    Buf text = {0};
    Json *j = f->metadata ? json_parse(f->path, f->metadata, strlen(f->metadata), err) : NULL;
    identity(t, &text);
    bool same = strcmp(json_text(json_get(j, "recipe"), ""), buf_str(&text)) == 0;
    json_free(j);
    buf_free(&text);
    return same || err_set(err,
                           "%s: was interrupted under another recipe or model. Go on with those, or remove the file to "
                           "start afresh.",
                           f->path);
}

static bool read_tensor(const TensorFile *f, const char *name, float *out, size_t cells, Err *err)
{
    const TensorInfo *info = tensors_find(f, name);
    if (!info || info->cells != cells)
        return err_set(err, "%s: is no interrupted training of this model. Remove it to start afresh.", f->path);
    return tensors_read_f32(f, info, out, err);
}

/* The history's rows up to `step`; NULL and err when there are others. */
static float *read_rows(const TensorFile *f, float step, int *rows, Err *err)
{
    const TensorInfo *info = tensors_find(f, "rows");
    *rows = 0;
    if (!info || info->rank != 2 || info->shape[1] != TEXT_FIGURE_COUNT || info->shape[0] > 1 << 24) {
        err_set(err, "%s: has no history. Remove it to start afresh.", f->path);
        return NULL;
    }
    float *row = xcalloc(info->cells + 1, sizeof *row);
    if (!tensors_read_f32(f, info, row, err)) {
        free(row);
        return NULL;
    }
    *rows = row[0] > 0 && step > 0 ? (int)info->shape[0] : 0;
    return row;
}

bool text_trainer_resume(TextTrainer *t, const char *path, Err *err)
{
    TensorFile f;
    float step = 0, *row = NULL;
    int rows = 0;
    size_t cells = t->model.block_cells;
    if (!tensors_open(&f, path, err))
        return false;
    float *blocks = xfloats(size_mul(BLOCKS, cells));
    bool ok = same_identity(t, &f, err) && read_tensor(&f, "state.step", &step, 1, err);
    for (int i = 0; ok && i < BLOCKS; i++)
        ok = read_tensor(&f, NAMES[i], blocks + (size_t)i * cells, cells, err);
    if (ok && !(step >= 0 && step <= (float)t->recipe.steps))
        ok = err_set(err, "%s: is damaged: step %g of %d. Remove it to start afresh.", path, (double)step,
                     t->recipe.steps);
    ok = ok && (row = read_rows(&f, step, &rows, err)) != NULL;
    tensors_close(&f);
    if (ok) {
        for (int i = 0; i < BLOCKS; i++)
            memcpy(block_of(t, i), blocks + (size_t)i * cells, cells * sizeof *blocks);
        t->step = (int)step;
        free(t->history.row);
        t->history = (TextHistory){row, rows, (size_t)rows};
    }
    free(blocks);
    return ok;
}

bool text_trainer_write(const TextTrainer *t, const char *folder, Err *err)
{
    char path[PATH];
    float none[TEXT_FIGURE_COUNT];
    Buf text = {0};
    TensorOut rows = history_tensor(&t->history, none);
    if (!text_model_save(&t->model, folder, err))
        return false;
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    if (!tensors_write(path, TF_SAFETENSORS, &rows, 1, NULL, err))
        return false;
    text_recipe_write(&t->recipe, &t->model.config, &text);
    snprintf(path, sizeof path, "%s/recipe.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    return ok;
}
