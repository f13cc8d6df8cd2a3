/* A text model's training in files: interrupted, and finished. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/io/tensors.h"
#include "core/train/progress_file.h"
#include "core/train/text_trainer_parts.h"

enum { PATH = 1200 };
static const char *const NAMES[] = {"state.weights", "state.first", "state.second", "state.mean"};

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

static Progress progress_of(const TextTrainer *t, const Buf *text)
{
    return (Progress){.name = NAMES,
                      .block = {t->model.block, t->descent.first, t->descent.second, t->mean},
                      .blocks = sizeof NAMES / sizeof *NAMES,
                      .cells = t->model.block_cells,
                      .step = t->step,
                      .steps = t->recipe.steps,
                      .identity = buf_str(text),
                      .named = "recipe or model"};
}

bool text_trainer_save(const TextTrainer *t, const char *path, Err *err)
{
    float none[TEXT_FIGURE_COUNT];
    Buf text = {0};
    identity(t, &text);
    const Progress p = progress_of(t, &text);
    const TensorOut rows = history_tensor(&t->history, none);
    bool ok = progress_write(&p, &rows, 1, path, err);
    buf_free(&text);
    return ok;
}

/* The history's rows up to `step`; NULL and err when there are others. */
static float *read_rows(const TensorFile *f, int step, int *rows, Err *err)
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
    Buf text = {0};
    float *row = NULL;
    int rows = 0, step = 0;
    if (!tensors_open(&f, path, err))
        return false;
    identity(t, &text);
    const Progress p = progress_of(t, &text);
    float *blocks = xfloats(size_mul((size_t)p.blocks, p.cells));
    bool ok = progress_read(&p, &f, blocks, &step, err) && (row = read_rows(&f, step, &rows, err)) != NULL;
    tensors_close(&f);
    if (ok) {
        progress_take(&p, blocks);
        t->step = step;
        free(t->history.row);
        t->history = (TextHistory){row, rows, (size_t)rows};
    }
    free(blocks);
    buf_free(&text);
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
