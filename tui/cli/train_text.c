#include "tui/cli/train_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/tell.h"
#include "core/eval/translation.h"
#include "core/train/text_batch.h"
#include "core/train/text_trainer.h"

enum { PATH = 1100, CONFIG_MAX = 1 << 20, HELD_OUT = 1000, REPORTS = 20 };
#define SAVE_NS 30000000000

typedef struct Training {
    Work *w;
    TextRecipe recipe;
    Seq2seqConfig model;
    Pool *pool;
    TextTrainer *trainer;
    const char *folder;
    char state[PATH]; /* what an interrupted run goes on from */
    int64_t saved;
} Training;

bool train_text_asked(const Options *o)
{
    Json *j = o->config ? json_read(o->config, CONFIG_MAX, NULL) : NULL;
    bool text = strcmp(json_text(json_get(j, "kind"), ""), "text") == 0;
    json_free(j);
    return text;
}

static bool read_config(Training *t, const Options *o, Err *err)
{
    t->recipe = text_recipe_default();
    t->model = text_model_bundled_config();
    Json *j = json_read(o->config, CONFIG_MAX, err);
    bool ok = j && text_recipe_read(&t->recipe, j, err) && text_recipe_model(&t->model, j, err);
    json_free(j);
    if (!ok)
        return err_prefix(err, "%s", o->config);
    if (o->pictures)
        return err_set(err, "a translator learns from sentences: leave --pictures away");
    if (o->steps) {
        TextRecipe shorter = text_recipe_short((int)o->steps);
        t->recipe.steps = shorter.steps;
        t->recipe.warmup = t->recipe.warmup < shorter.warmup ? t->recipe.warmup : shorter.warmup;
    }
    double copies = (double)t->recipe.batch / TEXT_MICRO + 5,
           bytes = copies * (double)seq2seq_params(&t->model) * sizeof(float), memory = (double)machine_memory();
    return text_recipe_check(&t->recipe, err) &&
           (bytes < memory ||
            err_set(err, "training needs %.1f GB or more, and there are %.1f GB: take a smaller model or \"batch\"",
                    bytes / 1e9, memory / 1e9));
}

static bool open_folder(Training *t, Err *err)
{
    char path[PATH];
    snprintf(path, sizeof path, "%.1000s/model.safetensors", t->folder);
    snprintf(t->state, sizeof t->state, "%.1000s/training.safetensors", t->folder);
    if (mkdir(t->folder, 0777) != 0 && errno != EEXIST)
        return err_set(err, "%.300s: cannot be made (%s). Name a folder whose parent exists with -o.", t->folder,
                       strerror(errno));
    if (!file_is_dir(t->folder))
        return err_set(err, "%.300s: is no folder. Name another with -o.", t->folder);
    if (file_exists(path) && !file_exists(t->state))
        return err_set(err, "%.300s: holds a model already. Name another folder with -o, or remove it.", t->folder);
    return true;
}

static bool report(Training *t, const TextStep *s)
{
    char line[160];
    int every = t->recipe.steps / REPORTS > 0 ? t->recipe.steps / REPORTS : 1;
    snprintf(line, sizeof line, "step %d of %d  loss %.3f  words right %.3f", s->step, t->recipe.steps, s->loss,
             s->words);
    if (!isatty(STDERR_FILENO) && s->step % every == 0) {
        char full[200];
        snprintf(full, sizeof full, "%s  gradient %.3f", line, s->gradient_norm);
        tell_line(full);
    }
    return work_progress(t->w, line, (double)s->step / t->recipe.steps);
}

/* Said here: the signal that interrupts ends the program before an error is. */
static int interrupted(Training *t)
{
    Err said = {{0}};
    if (text_trainer_save(t->trainer, t->state, &said))
        err_set(&said, "interrupted after step %d of %d; the same command goes on from there",
                text_trainer_steps_done(t->trainer), t->recipe.steps);
    work_complain(t->w, said.text);
    return STATUS_BAD;
}

static int finish(Training *t, Err *err)
{
    if (!text_trainer_write(t->trainer, t->folder, err))
        return STATUS_BAD;
    unlink(t->state);
    Tally exact = {text_trainer_exact(t->trainer, SENTENCES_COMBINATIONS, 0, HELD_OUT), HELD_OUT};
    Interval i = tally_interval(exact);
    buf_printf(&t->w->out, "%s: a translator of %zu weights, %d steps of %d sentences\n", t->folder,
               seq2seq_params(&t->model), t->recipe.steps, t->recipe.batch);
    buf_printf(&t->w->out,
               "it translates %zu of %d sentences of unseen combinations without a fault: %.1f %% (95 %%: %.1f–%.1f)\n",
               exact.right, HELD_OUT, 100 * tally_share(exact), 100 * i.low, 100 * i.high);
    buf_printf(&t->w->out, "use it: vitrine translate -m %s \"the cat is tired\"\n", t->folder);
    t->w->written = true;
    return STATUS_DONE;
}

static int learn(Training *t, Err *err)
{
    t->saved = clock_ns();
    while (!text_trainer_done(t->trainer)) {
        TextStep s = text_trainer_step(t->trainer);
        if (!isfinite(s.loss) || !isfinite(s.gradient_norm)) {
            err_set(err,
                    "step %d: the loss or its gradient is no number any more; a lower \"rate\" or a longer \"warmup\" "
                    "keeps it small",
                    s.step);
            return STATUS_BAD;
        }
        if (!report(t, &s))
            return interrupted(t);
        if (clock_ns() - t->saved > SAVE_NS) {
            if (!text_trainer_save(t->trainer, t->state, err))
                return STATUS_BAD;
            t->saved = clock_ns();
        }
    }
    return finish(t, err);
}

int train_text(Work *w, Err *err)
{
    Training t = {.w = w, .folder = w->options->output};
    int status = STATUS_BAD;
    if (read_config(&t, w->options, err) && open_folder(&t, err)) {
        t.pool = pool_new((int)w->options->threads);
        t.trainer = text_trainer_new(&t.recipe, &t.model, t.pool);
        if (!file_exists(t.state) || text_trainer_resume(t.trainer, t.state, err))
            status = learn(&t, err);
    }
    text_trainer_free(t.trainer);
    pool_free(t.pool);
    return status;
}
