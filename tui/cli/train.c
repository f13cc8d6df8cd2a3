/* `vitrine train`: a small model from drawn pictures or a folder of labelled ones, saved as a folder that can be
 * opened. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/stop.h"
#include "core/base/tell.h"
#include "core/eval/interval.h"
#include "core/train/trainer.h"
#include "core/train/workplace.h"
#include "tui/cli/train_text.h"
#include "tui/cli/verbs.h"

enum { CONFIG_MAX = 1 << 20, HELD_OUT = 1000, REPORTS = 20 };
#define SAVE_NS 60000000000

typedef struct Training {
    Work *w;
    Recipe recipe;
    VitConfig model;
    Pictures *pictures;
    Pool *pool;
    Trainer *trainer;
    const char *folder;
    Workplace place;
    int64_t began, saved;
    int first; /* step this run began at */
} Training;

static bool reading(void *context, size_t done, size_t total)
{
    return work_progress(context, "reading the pictures", total ? (double)done / (double)total : 0);
}

static bool read_config(Training *t, const Options *o, Err *err)
{
    t->recipe = recipe_default();
    t->model = model_bundled_config();
    Json *j = o->config ? json_read(o->config, CONFIG_MAX, err) : NULL;
    if (o->config && !j)
        return false;
    bool ok = !j || (recipe_read(&t->recipe, j, err) && recipe_model(&t->model, j, err));
    json_free(j);
    if (!ok)
        return err_prefix(err, "%s", o->config);
    if (o->steps) {
        Recipe shorter = recipe_short((int)o->steps);
        t->recipe.steps = shorter.steps;
        t->recipe.warmup = t->recipe.warmup < shorter.warmup ? t->recipe.warmup : shorter.warmup;
        t->recipe.log_every = t->recipe.log_every < shorter.log_every ? t->recipe.log_every : shorter.log_every;
    }
    t->model.mask_token = t->model.reconstruct = t->recipe.guess_weight > 0;
    return recipe_check(&t->recipe, err);
}

static bool open_pictures(Training *t, const Options *o, Err *err)
{
    Preprocess p = preprocess_default(&t->model);
    t->pictures = o->pictures ? pictures_folder(o->pictures, &p, reading, t->w, err)
                              : pictures_drawn(&p, t->recipe.seed);
    if (t->pictures)
        t->model.classes = pictures_classes(t->pictures);
    return t->pictures != NULL && vit_check(&t->model, err);
}

/* What is held at the least: the weights, two moments, a gradient of every micro-batch and their sum. */
static bool fits(const Training *t, Err *err)
{
    double copies = (double)t->recipe.batch / MICRO_BATCH + 4,
           bytes = copies * (double)vit_params(&t->model) * sizeof(float), memory = (double)machine_memory();
    return bytes < memory ||
           err_set(err,
                   "training needs %.1f GB or more, and there are %.1f GB: take a smaller model or a smaller \"batch\"",
                   bytes / 1e9, memory / 1e9);
}

/* What is left of the time, from the steps of this run. */
static void time_left(const Training *t, int done, char *out, size_t n)
{
    int steps = done - t->first, left = t->recipe.steps - done;
    double seconds = steps > 0 ? (double)(clock_ns() - t->began) / 1e9 / steps * left : 0;
    if (steps < 2)
        *out = 0;
    else if (seconds < 90)
        snprintf(out, n, "%.0f s left", seconds);
    else
        snprintf(out, n, "%.0f min left", seconds / 60);
}

/* One line for people: on a terminal it is drawn over the last one, else written now and then. */
static bool report(Training *t, const TrainStep *s)
{
    char line[160], left[32];
    snprintf(line, sizeof line, "step %d of %d  loss %.3f  right %.3f", s->step, t->recipe.steps, s->loss, s->accuracy);
    int every = t->recipe.steps / REPORTS > 0 ? t->recipe.steps / REPORTS : 1;
    if (!isatty(STDERR_FILENO) && s->step % every == 0) {
        time_left(t, s->step, left, sizeof left);
        char guess[32] = "";
        if (s->guess >= 0)
            snprintf(guess, sizeof guess, "  guess %.3f", s->guess);
        char full[320];
        snprintf(full, sizeof full, "%s%s  gradient %.3f%s%s", line, guess, s->gradient_norm, *left ? "  " : "", left);
        tell_line(full);
    }
    return work_progress(t->w, line, (double)s->step / t->recipe.steps);
}

/* Said here: the signal that interrupts ends the program before an error is. */
static int interrupted(Training *t)
{
    Err said = {{0}};
    stop_take();
    if (trainer_save(t->trainer, t->place.state, &said))
        err_set(&said, "interrupted after step %d of %d; the same command goes on from there",
                trainer_steps_done(t->trainer), t->recipe.steps);
    work_complain(t->w, said.text);
    return STATUS_BAD;
}

static int finish(Training *t, Err *err)
{
    const size_t held = pictures_count(t->pictures, PICTURES_HELD_OUT),
                 count = held && held < HELD_OUT ? held : HELD_OUT;
    bool kept = trainer_save(t->trainer, t->place.state,
                             NULL); /* what the same command finishes, should the disk be full */
    if (!trainer_write(t->trainer, t->folder, err)) {
        size_t n = strlen(err->text);
        if (stop_asked())
            return interrupted(t);
        snprintf(err->text + n, sizeof err->text - n, " The same command then goes on%s.",
                 kept ? " from here" : " from where it last saved");
        return STATUS_BAD;
    }
    t->w->written = true;
    unlink(t->place.state);
    double right = trainer_accuracy(t->trainer, PICTURES_HELD_OUT, 0, count);
    buf_printf(&t->w->out, "%s: a model of %zu weights, %d steps of %d pictures\n", t->folder, vit_params(&t->model),
               t->recipe.steps, t->recipe.batch);
    const size_t learnt = pictures_learnt(t->pictures);
    const Interval i = interval_wilson((size_t)(right * (double)count + 0.5), count);
    if (learnt)
        buf_printf(&t->w->out,
                   "%zu pictures were learned from, %zu held out by their pixels; " TRAINER_LEARNT
                   " lists the former\n",
                   learnt, held);
    buf_printf(&t->w->out, "it names %.1f %% of %zu held-out pictures right (95 %% interval %.1f–%.1f)\n", right * 100,
               count, 100 * i.low, 100 * i.high);
    buf_printf(&t->w->out, "open it: vitrine -m %s\n", t->folder);
    return STATUS_DONE;
}

static int learn(Training *t, Err *err)
{
    t->began = t->saved = clock_ns();
    t->first = trainer_steps_done(t->trainer);
    if (!trainer_save(t->trainer, t->place.state, err)) /* the disk takes it, now and so probably later */
        return STATUS_BAD;
    while (!trainer_done(t->trainer)) {
        TrainStep s = trainer_step(t->trainer);
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
            if (!trainer_save(t->trainer, t->place.state, err))
                return STATUS_BAD;
            t->saved = clock_ns();
        }
    }
    return finish(t, err);
}

static bool begin(Training *t, Err *err)
{
    const Options *o = t->w->options;
    if (!read_config(t, o, err) || !workplace_open(&t->place, t->folder, err) || !open_pictures(t, o, err) ||
        !fits(t, err))
        return false;
    t->pool = pool_new((int)o->threads);
    t->trainer = trainer_new(&t->recipe, &t->model, t->pictures, t->pool);
    return !t->place.resumes || trainer_resume(t->trainer, t->place.state, err);
}

static int run(Work *w, Err *err)
{
    if (train_text_asked(w->options))
        return train_text(w, err);
    Training t = {.w = w, .folder = w->options->output, .place = WORKPLACE_NONE};
    int status = begin(&t, err) ? learn(&t, err) : STATUS_BAD;
    trainer_free(t.trainer);
    pictures_free(t.pictures);
    pool_free(t.pool);
    workplace_close(&t.place);
    return status;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (o->word_count > 1)
        return err_set(err, "train takes no '%.100s': see `vitrine train --help`", o->word[1]);
    if (!o->output)
        return err_set(err, "name the folder of the new model: vitrine train -o FOLDER");
    return true;
}

const Verb VERB_TRAIN = {
    .name = "train",
    .usage = "train [--config FILE] [--pictures FOLDER] -o FOLDER",
    .summary = "train a small model and save it",
    .details =
        "Without --pictures it learns from the drawn shapes, and without --config by the recipe of the bundled model. "
        "--pictures FOLDER has a folder of pictures for each class; one picture in ten is held out, chosen by its "
        "pixels, and learnt.txt in the new folder "
        "lists the others. "
        "--config FILE is JSON: {\"steps\": 800, \"rate\": 1e-3, \"model\": {\"width\": 64, \"layers\": 2, …}}; "
        "recipe.json "
        "in the new folder shows every key. {\"kind\": \"text\"} trains a translator from the English and French "
        "grammar "
        "instead. --steps N cuts a recipe short. The same recipe gives the same bytes on "
        "every "
        "machine, with any number of threads. Interrupted, it goes on where it was when the same command is given "
        "again.",
    .example = "vitrine train --steps 500 -o my-model",
    .flags = VERB_ALONE,
    .check = check,
    .run = run,
};
