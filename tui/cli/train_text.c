#include "tui/cli/train_text.h"

#include <string.h>

#include "core/eval/translation.h"
#include "core/train/text_batch.h"
#include "core/train/text_trainer.h"
#include "tui/cli/course.h"

enum { CONFIG_MAX = 1 << 20, HELD_OUT = 1000 };

typedef struct Training {
    Course course;
    TextRecipe recipe;
    Seq2seqConfig model;
    Pool *pool;
    TextTrainer *trainer;
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
    return text_recipe_check(&t->recipe, err) &&
           course_fits((double)t->recipe.batch / TEXT_MICRO + 5, seq2seq_params(&t->model), err);
}

/* --- as a course --- */

static CourseStep step(void *trainer)
{
    const TextStep s = text_trainer_step(trainer);
    return (CourseStep){s.step, s.loss, s.gradient_norm, s.words, -1};
}

static int steps_done(const void *trainer)
{
    return text_trainer_steps_done(trainer);
}

static bool save(const void *trainer, const char *path, Err *err)
{
    return text_trainer_save(trainer, path, err);
}

static bool resume(void *trainer, const char *path, Err *err)
{
    return text_trainer_resume(trainer, path, err);
}

static bool write_model(const void *trainer, const char *folder, Err *err)
{
    return text_trainer_write(trainer, folder, err);
}

static void tell_result(void *training, Buf *out)
{
    Training *t = training;
    Tally exact = {text_trainer_exact(t->trainer, SENTENCES_COMBINATIONS, 0, HELD_OUT), HELD_OUT};
    Interval i = tally_interval(exact);
    buf_printf(out, "%s: a translator of %zu weights, %d steps of %d sentences\n", t->course.folder,
               seq2seq_params(&t->model), t->recipe.steps, t->recipe.batch);
    buf_printf(out,
               "it translates %zu of %d sentences of unseen combinations without a fault: %.1f %% (95 %%: %.1f–%.1f)\n",
               exact.right, HELD_OUT, 100 * tally_share(exact), 100 * i.low, 100 * i.high);
    buf_printf(out, "use it: vitrine translate -m %s \"the cat is tired\"\n", t->course.folder);
}

static const CourseKind TEXT_COURSE = {.right = "words right",
                                       .step = step,
                                       .steps_done = steps_done,
                                       .save = save,
                                       .resume = resume,
                                       .write = write_model,
                                       .tell = tell_result};

int train_text(Work *w, Err *err)
{
    Training t = {.course = {.w = w, .kind = &TEXT_COURSE, .folder = w->options->output, .place = WORKPLACE_NONE}};
    int status = STATUS_BAD;
    t.course.owner = &t;
    if (read_config(&t, w->options, err) && workplace_open(&t.course.place, t.course.folder, err)) {
        t.pool = pool_new((int)w->options->threads);
        t.course.trainer = t.trainer = text_trainer_new(&t.recipe, &t.model, t.pool);
        t.course.steps = t.recipe.steps;
        status = course_run(&t.course, err);
    }
    text_trainer_free(t.trainer);
    pool_free(t.pool);
    workplace_close(&t.course.place);
    return status;
}
