/* `vitrine train`: a small model from drawn pictures or a folder of labelled ones, saved as a folder that can be
 * opened. */
#include "core/eval/interval.h"
#include "core/train/trainer.h"
#include "tui/cli/course.h"
#include "tui/cli/train_text.h"
#include "tui/cli/verbs.h"

enum { CONFIG_MAX = 1 << 20, HELD_OUT = 1000 };

typedef struct Training {
    Course course;
    Recipe recipe;
    VitConfig model;
    Pictures *pictures;
    Pool *pool;
    Trainer *trainer;
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
    t->pictures = o->pictures ? pictures_folder(o->pictures, &p, reading, t->course.w, err)
                              : pictures_drawn(&p, t->recipe.seed);
    if (t->pictures)
        t->model.classes = pictures_classes(t->pictures);
    return t->pictures != NULL && vit_check(&t->model, err);
}

/* --- as a course --- */

static CourseStep step(void *trainer)
{
    const TrainStep s = trainer_step(trainer);
    return (CourseStep){s.step, s.loss, s.gradient_norm, s.accuracy, s.guess};
}

static int steps_done(const void *trainer)
{
    return trainer_steps_done(trainer);
}

static bool save(const void *trainer, const char *path, Err *err)
{
    return trainer_save(trainer, path, err);
}

static bool resume(void *trainer, const char *path, Err *err)
{
    return trainer_resume(trainer, path, err);
}

static bool write_model(const void *trainer, const char *folder, Err *err)
{
    return trainer_write(trainer, folder, err);
}

static void tell_result(void *training, Buf *out)
{
    Training *t = training;
    const size_t held = pictures_count(t->pictures, PICTURES_HELD_OUT),
                 count = held && held < HELD_OUT ? held : HELD_OUT, learnt = pictures_learnt(t->pictures);
    double right = trainer_accuracy(t->trainer, PICTURES_HELD_OUT, 0, count);
    const Interval i = interval_wilson((size_t)(right * (double)count + 0.5), count);
    buf_printf(out, "%s: a model of %zu weights, %d steps of %d pictures\n", t->course.folder, vit_params(&t->model),
               t->recipe.steps, t->recipe.batch);
    if (learnt)
        buf_printf(out,
                   "%zu pictures were learned from, %zu held out by their pixels; " TRAINER_LEARNT
                   " lists the former\n",
                   learnt, held);
    buf_printf(out, "it names %.1f %% of %zu held-out pictures right (95 %% interval %.1f–%.1f)\n", right * 100, count,
               100 * i.low, 100 * i.high);
    buf_printf(out, "open it: vitrine -m %s\n", t->course.folder);
}

static const CourseKind PICTURES_COURSE = {.right = "right",
                                           .step = step,
                                           .steps_done = steps_done,
                                           .save = save,
                                           .resume = resume,
                                           .write = write_model,
                                           .tell = tell_result};

static bool begin(Training *t, Err *err)
{
    const Options *o = t->course.w->options;
    /* held at the least: the weights, two moments, a gradient of every micro-batch and their sum */
    if (!read_config(t, o, err) || !workplace_open(&t->course.place, t->course.folder, err) ||
        !open_pictures(t, o, err) ||
        !course_fits((double)t->recipe.batch / MICRO_BATCH + 4, vit_params(&t->model), err))
        return false;
    t->pool = pool_new((int)o->threads);
    t->course.trainer = t->trainer = trainer_new(&t->recipe, &t->model, t->pictures, t->pool);
    t->course.steps = t->recipe.steps;
    return true;
}

static int run(Work *w, Err *err)
{
    if (train_text_asked(w->options))
        return train_text(w, err);
    Training t = {.course = {.w = w, .kind = &PICTURES_COURSE, .folder = w->options->output, .place = WORKPLACE_NONE}};
    t.course.owner = &t;
    int status = begin(&t, err) ? course_run(&t.course, err) : STATUS_BAD;
    trainer_free(t.trainer);
    pictures_free(t.pictures);
    pool_free(t.pool);
    workplace_close(&t.course.place);
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
        "Without --pictures it learns from the drawn shapes, and without --config by the recipe of the bundled "
        "model. --pictures FOLDER has a folder of pictures for each class; one picture in ten is held out, chosen by "
        "its pixels, and learnt.txt in the new folder lists the others. --config FILE is JSON: {\"steps\": 800, "
        "\"rate\": 1e-3, \"model\": {\"width\": 64, \"layers\": 2, …}}; recipe.json in the new folder shows every "
        "key. {\"kind\": \"text\"} trains a translator from the English and French grammar instead. --steps N cuts a "
        "recipe short. The same recipe gives the same bytes on every machine, with any number of threads. "
        "Interrupted, it goes on where it was when the same command is given again.",
    .example = "vitrine train --steps 500 -o my-model",
    .flags = VERB_ALONE,
    .check = check,
    .run = run,
};
