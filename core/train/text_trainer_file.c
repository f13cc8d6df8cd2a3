/* A text model's training in files: interrupted, and finished. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/io/tensors.h"
#include "core/train/history_parts.h"
#include "core/train/progress_file.h"
#include "core/train/text_trainer_parts.h"

enum { PATH = 1200 };
static const char *const NAMES[] = {"state.weights", "state.first", "state.second", "state.mean"};

/* What must be equal for a run to go on: recipe and model, as they are written. */
static void identity(const TextTrainer *t, Buf *out)
{
    text_recipe_write(&t->recipe, &t->model.text, out);
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
    TensorOut rows[HISTORY_TENSORS];
    Arena arena = {0};
    Buf text = {0};
    identity(t, &text);
    const Progress p = progress_of(t, &text);
    bool ok = progress_write(&p, rows, history_tensors(&t->history, &arena, rows), path, err);
    arena_free(&arena);
    buf_free(&text);
    return ok;
}

bool text_trainer_resume(TextTrainer *t, const char *path, Err *err)
{
    TensorFile f;
    History h;
    Buf text = {0};
    int step = 0;
    if (!tensors_open(&f, path, err))
        return false;
    history_init_text(&h, &t->model.text);
    identity(t, &text);
    const Progress p = progress_of(t, &text);
    float *blocks = xfloats(size_mul((size_t)p.blocks, p.cells));
    bool ok = progress_read(&p, &f, blocks, &step, err) && history_take(&h, &f, err);
    tensors_close(&f);
    if (ok) {
        progress_take(&p, blocks);
        t->step = step;
        history_free(&t->history);
        t->history = h;
    }
    free(blocks);
    buf_free(&text);
    return ok;
}

bool text_trainer_write(const TextTrainer *t, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    if (!text_model_save(&t->model, folder, err))
        return false;
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    if (!history_write(&t->history, path, err))
        return false;
    text_recipe_write(&t->recipe, &t->model.text, &text);
    snprintf(path, sizeof path, "%s/recipe.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    return ok;
}
