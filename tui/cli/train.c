/* `vitrine train`: a small model of what the recipe's kind learns, saved as a folder that can be opened. Its folder,
 * the lines that say how far it is, what is kept meanwhile, and what is said when it is interrupted or the disk is
 * full. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/interval.h"
#include "core/base/machine.h"
#include "core/base/stop.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/train/trainer.h"
#include "tui/cli/verbs.h"
#include "tui/cli/work.h"

enum { CONFIG_MAX = 1 << 20, HELD_OUT = 1000, REPORTS = 20 };
#define SAVE_NS 60000000000

typedef struct Course {
    Work *w;
    const char *folder;
    Recipe recipe;
    void *config; /* of the model, and what it learns from: of the recipe's kind */
    void *examples;
    Pool *pool;
    Trainer *trainer;
    Workplace place;
    /* of the run in progress */
    int64_t began, saved;
    int first; /* step it began at */
    bool said; /* how many steps */
} Course;

/* What is left of the time, from the steps of this run. */
static void time_left(const Course *c, int done, char *out, size_t n)
{
    int steps = done - c->first, left = c->recipe.steps - done;
    double seconds = steps > 0 ? (double)(clock_ns() - c->began) / 1e9 / steps * left : 0;
    if (steps < 2)
        *out = 0;
    else if (seconds < 90)
        utf8_print(out, n, "%.0f s left", seconds);
    else
        utf8_print(out, n, "%.0f min left", seconds / 60);
}

/* One line for people: on a terminal it is drawn over the last one, else written now and then. */
static bool report(const Course *c, const TrainStep *s)
{
    char line[160], left[32];
    utf8_print(line, sizeof line, "step %d of %d  loss %.3f  %s %.3f", s->step, c->recipe.steps, s->loss,
               c->recipe.kind->right, s->accuracy);
    int every = c->recipe.steps / REPORTS > 0 ? c->recipe.steps / REPORTS : 1;
    if (!isatty(STDERR_FILENO) && s->step % every == 0) {
        time_left(c, s->step, left, sizeof left);
        char guess[32] = "";
        if (s->guess >= 0)
            utf8_print(guess, sizeof guess, "  guess %.3f", s->guess);
        char full[320];
        utf8_print(full, sizeof full, "%s%s  gradient %.3f%s%s", line, guess, s->gradient_norm, *left ? "  " : "",
                   left);
        tell_line(full);
    }
    return work_progress(c->w, line, (double)s->step / c->recipe.steps);
}

/* Said here: the signal that interrupts ends the program before an error is. */
static int interrupted(const Course *c)
{
    Err said = {{0}};
    stop_take();
    if (trainer_save(c->trainer, c->place.state, &said))
        err_set(&said, "interrupted after step %d of %d; the same command goes on from there", c->trainer->step,
                c->recipe.steps);
    work_complain(c->w, said.text);
    return STATUS_BAD;
}

static void tell_result(const Course *c, Buf *out)
{
    const TaskKind *k = c->recipe.kind;
    size_t held = k->held ? k->held(c->trainer) : 0, count = held && held < HELD_OUT ? held : HELD_OUT,
           right = trainer_right(c->trainer, TASK_HELD_OUT, count);
    count = trainer_asked(c->trainer, count);
    const Interval i = interval_wilson(right, count);
    buf_printf(out, "%s: a %s of %zu weights, %d steps of %d %s\n", c->folder, k->thing, k->params(c->config),
               c->recipe.steps, c->recipe.batch, k->examples);
    if (k->tell)
        k->tell(c->trainer, out);
    buf_printf(out, "it %s %zu of %zu %s: %.1f %% (95 %% interval %.1f–%.1f)\n", k->does, right, count, k->held_out,
               100 * (double)right / (double)count, 100 * i.low, 100 * i.high);
    buf_printf(out, "open it: vitrine -m %s\n", c->folder);
}

static int finish(const Course *c, Err *err)
{
    bool kept = trainer_save(c->trainer, c->place.state, NULL); /* what the same command finishes on a full disk */
    if (!trainer_write(c->trainer, c->folder, err)) {
        size_t n = strlen(err->text);
        if (stop_asked())
            return interrupted(c);
        utf8_print(err->text + n, sizeof err->text - n, " The same command then goes on%s.",
                   kept ? " from here" : " from where it last saved");
        return STATUS_BAD;
    }
    c->w->written = true;
    unlink(c->place.state);
    tell_result(c, &c->w->out);
    return STATUS_DONE;
}

static int course_run(Course *c, Err *err)
{
    if (c->place.resumes && !trainer_resume(c->trainer, c->place.state, err))
        return STATUS_BAD;
    c->began = c->saved = clock_ns();
    c->first = c->trainer->step;
    if (!trainer_save(c->trainer, c->place.state, err)) /* the disk takes it, now and so probably later */
        return STATUS_BAD;
    while (c->trainer->step < c->recipe.steps) {
        const TrainStep s = trainer_step(c->trainer);
        if (!isfinite(s.loss) || !isfinite(s.gradient_norm)) {
            err_set(err,
                    "step %d: the loss or its gradient is no number any more; a lower \"rate\" or a longer \"warmup\" "
                    "keeps it small",
                    s.step);
            return STATUS_BAD;
        }
        if (!report(c, &s))
            return interrupted(c);
        if (clock_ns() - c->saved > SAVE_NS) {
            if (!trainer_save(c->trainer, c->place.state, err))
                return STATUS_BAD;
            c->saved = clock_ns();
        }
    }
    return finish(c, err);
}

static bool reading(void *context, size_t done, size_t total)
{
    return work_progress(context, "reading what it learns from", total ? (double)done / (double)total : 0);
}

static bool read_config(Course *c, const Options *o, Err *err)
{
    Json *j = o->config ? json_read(o->config, CONFIG_MAX, err) : NULL;
    if (o->config && !j)
        return false;
    const TaskKind *k = o->text && !json_get(j, "kind") ? &DECODER_TASK : task_of(j);
    const bool reads = k == &DECODER_TASK;
    Recipe *r = &c->recipe;
    *r = k->recipe(0);
    c->said = o->steps || json_get(j, "steps");
    c->config = xcalloc(1, k->config_bytes);
    k->bundled(c->config);
    bool ok = !j || (recipe_read(r, j, err) && recipe_model(r, c->config, j, err));
    json_free(j);
    if (!ok)
        return err_prefix(err, "%s", o->config);
    if (reads ? o->pictures != NULL : o->text != NULL)
        return err_set(
            err,
            reads ? "a decoder learns from a text: leave out --pictures"
                  : "only a decoder learns from a text: take \"kind\": \"decoder\" in the recipe, or leave out --text");
    if (o->steps)
        recipe_shorten(r, (int)o->steps);
    return recipe_check(r, err);
}

/* What it learns from, and how many steps that is worth where nobody said. */
static bool find_examples(Course *c, Err *err)
{
    const Options *o = c->w->options;
    const TaskKind *k = c->recipe.kind;
    if (!k->find(o->text ? o->text : o->pictures, &c->recipe, c->config, &c->examples, reading, c->w, err))
        return false;
    if (k->fit)
        k->fit(&c->recipe, c->config, c->examples, c->said);
    return recipe_check(&c->recipe, err);
}

/* Refuses what the machine has no memory for. Held at the least: the weights, two moments, a gradient of every
 * micro-batch and their sum; the sum of the weights where some are averaged. */
static bool fits(const Course *c, Err *err)
{
    const Recipe *r = &c->recipe;
    double copies = (double)r->batch / r->kind->micro + 4 + (r->average > 1);
    return machine_holds(copies * (double)r->kind->params(c->config) * sizeof(float), "training",
                         "take a smaller model or a smaller \"batch\"", err);
}

static bool begin(Course *c, Err *err)
{
    const Options *o = c->w->options;
    if (!read_config(c, o, err) || !workplace_open(&c->place, c->folder, err) || !find_examples(c, err) ||
        !fits(c, err))
        return false;
    c->pool = pool_new((int)o->threads);
    c->trainer = trainer_new(&c->recipe, c->config, c->examples, c->pool);
    return true;
}

static int run(Work *w, Err *err)
{
    Course c = {.w = w, .folder = w->options->output, .place = WORKPLACE_NONE};
    int status = begin(&c, err) ? course_run(&c, err) : STATUS_BAD;
    trainer_free(c.trainer);
    if (c.examples)
        c.recipe.kind->leave(c.examples);
    free(c.config);
    pool_free(c.pool);
    workplace_close(&c.place);
    return status;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (!o->output)
        return err_set(err, "name the folder of the new model: vitrine train -o FOLDER");
    return true;
}

const Verb VERB_TRAIN = {
    .name = "train",
    .usage = "train [--config FILE] [--pictures FOLDER | --text FILE] -o FOLDER",
    .summary = "trains a small model and saves it",
    .details = "Without --pictures it learns from the drawn shapes, without --config with the bundled model's recipe. "
               "--pictures FOLDER has a folder of pictures for each class; one picture in ten is held out, chosen by "
               "its pixels, and learnt.txt in the new folder lists the others. --config FILE is JSON: {\"steps\": 800, "
               "\"rate\": 1e-3, \"model\": {\"width\": 64, \"layers\": 2, …}}; recipe.json in the new folder shows "
               "every key. {\"kind\": \"text\"} trains a translator from the English and French grammar instead; "
               "--text FILE trains a decoder that continues texts like that one, whose words it learns too and whose "
               "last tenth is held out. --steps N cuts a recipe short. The same recipe gives the same bytes on every "
               "machine, with any number of threads. After an interruption the same command goes on from there.",
    .example = "vitrine train --steps 500 -o my-model",
    .flags = VERB_ALONE,
    .words = 1,
    .check = check,
    .run = run,
};
