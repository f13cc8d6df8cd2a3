/* A training run on disk: the state to go on from, and the folder of the finished model. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/train/history_parts.h"
#include "core/train/progress_file.h"
#include "core/train/trainer_parts.h"

enum { PATH = 1100 };
static const char *const NAMES[] = {"state.weights", "state.first_moment", "state.second_moment"};

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

static Progress progress_of(const Trainer *t, const Buf *text)
{
    return (Progress){.name = NAMES,
                      .block = {t->model.block, t->descent.first, t->descent.second},
                      .blocks = sizeof NAMES / sizeof *NAMES,
                      .cells = t->model.block_cells,
                      .step = t->step,
                      .steps = t->recipe.steps,
                      .identity = buf_str(text),
                      .named = "recipe, model or folder of pictures"};
}

bool trainer_save(const Trainer *t, const char *path, Err *err)
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

bool trainer_resume(Trainer *t, const char *path, Err *err)
{
    TensorFile f;
    History h;
    Buf text = {0};
    int step;
    if (!tensors_open(&f, path, err))
        return false;
    history_init(&h, &t->model.vit);
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
