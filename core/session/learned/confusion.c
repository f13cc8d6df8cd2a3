#include "core/session/learned/confusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/learned/shipped.h"
#include "core/train/trainer.h"

enum { DRAWN_PICTURES = 5000 };

struct ConfusionWork {
    Pictures *pictures; /* a folder's, or drawn ones */
    bool folder, part;
    Dataset *dataset;
    Accuracy *exam;
    char of[200];
    char problem[sizeof(((Err *)0)->text)];
};

void confusion_free(struct ConfusionWork *w)
{
    if (!w)
        return;
    accuracy_free(w->exam);
    dataset_free(w->dataset);
    pictures_free(w->pictures);
    free(w);
}

static const char *impossible(const Session *s)
{
    const struct ConfusionWork *w = s->measures ? s->measures->confusion : NULL;
    if (!model_grid(s->now->model).rows)
        return "this is for picture models";
    if (!model_grid(&s->model).classes)
        return "this model names no classes";
    if (w && *w->problem)
        return w->problem;
    if (!(w && w->folder) && !session_photos(s) && !dataset_suits_drawn(&s->model, NULL))
        return "no labelled pictures are known for this model: `confusion FOLDER`";
    return NULL;
}

static struct ConfusionWork *work_of(Session *s)
{
    struct Measures *m = measures_of(s);
    if (!m->confusion) {
        m->confusion = xcalloc(1, sizeof *m->confusion);
        snprintf(m->confusion->of, sizeof m->confusion->of, "held-out drawn pictures");
    }
    return m->confusion;
}

static bool known(const Session *s, const struct ConfusionWork *w)
{
    return session_photos(s) && !(w && w->folder) && model_grid(&s->model).classes == PHOTOS_CLASSES;
}

bool session_confusion(const Session *s, Confusion *out, const char **why)
{
    const struct ConfusionWork *w = s->measures ? s->measures->confusion : NULL;
    const AccuracyResult *r = w && w->exam ? accuracy_result(w->exam) : NULL;
    const char *reason = impossible(s);
    *out = (Confusion){.classes = model_grid(&s->model).classes};
    if (why)
        *why = reason;
    if (!reason && known(s, w)) {
        out->of = "held-out photographs";
        out->count = photos_confusion();
        out->pictures = photos_pictures();
    }
    if (reason || !w || known(s, w))
        return !reason;
    out->of = w->of;
    out->opens = w->folder;
    out->part = w->part;
    if (r) {
        out->count = r->confusion;
        out->pictures = r->pictures;
    } else if (w->exam)
        out->share = (double)accuracy_pictures_done(w->exam) / (double)dataset_count(w->dataset);
    return true;
}

const char *session_confused(const Session *s, int label, int named, const char *after)
{
    const struct ConfusionWork *w = s->measures ? s->measures->confusion : NULL;
    const AccuracyResult *r = w && w->folder && w->exam ? accuracy_result(w->exam) : NULL;
    const char *first = NULL;
    bool next = false;
    for (size_t i = 0; r && i < r->pictures; i++) {
        if (r->label[i] != label || r->named[i] != named)
            continue;
        const char *path = pictures_path(w->pictures, PICTURES_HELD_OUT, i);
        if (next)
            return path;
        first = first ? first : path;
        next = after && strcmp(path, after) == 0;
    }
    return first;
}

static bool reading(void *context, size_t done, size_t total)
{
    const Session *s = context;
    return !s->progress || s->progress(s->progress_context, "reading the pictures", (double)done / (double)total);
}

/* Those that the model's own list does not have, where there is one beside it; else one in ten, which no training
 * takes. */
static Pictures *read_folder(Session *s, const char *folder, bool all, bool *part, Err *err)
{
    char path[1200];
    uint64_t *list = NULL;
    FolderRule rule = {.split = all ? FOLDER_ALL : FOLDER_BY_CONTENT};
    utf8_print(path, sizeof path, "%.1000s/" TRAINER_LEARNT, s->model_path);
    if (!all && *s->model_path && !model_in_program(s->model_path) && file_exists(path)) {
        rule.split = FOLDER_UNLEARNT;
        if (!folder_read_learnt(path, &list, &rule.learnt_count, err))
            return NULL;
        rule.learnt = list;
    }
    *part = rule.split == FOLDER_BY_CONTENT;
    Pictures *p = pictures_folder_by(folder, &s->model.preprocess, &rule, reading, s, err);
    free(list);
    return p;
}

bool session_confusion_over(Session *s, const char *folder, bool all, Err *err)
{
    char clean[100];
    bool part;
    if (!model_grid(s->now->model).rows || !model_grid(&s->model).classes)
        return err_set(err, "%s", impossible(s));
    Pictures *p = read_folder(s, folder, all, &part, err);
    if (!p)
        return false;
    if (!dataset_suits(&s->model, p, err)) {
        pictures_free(p);
        return false;
    }
    confusion_free(measures_of(s)->confusion);
    s->measures->confusion = NULL;
    struct ConfusionWork *w = work_of(s);
    w->pictures = p;
    w->folder = true;
    w->part = part;
    utf8_print(w->of, sizeof w->of, "%s of %s", all ? "pictures" : "held-out pictures",
               utf8_clean(clean, sizeof clean, folder));
    s->changes++;
    return true;
}

static bool begin(Session *s, struct ConfusionWork *w)
{
    Err err = {{0}};
    if (!w->pictures)
        w->pictures = pictures_drawn(&s->model.preprocess, 0);
    size_t held = pictures_count(w->pictures, PICTURES_HELD_OUT);
    w->dataset = dataset_new(w->pictures, &s->model, PICTURES_HELD_OUT, 0, held ? held : DRAWN_PICTURES);
    w->exam = accuracy_new(&(AccuracySetup){.model = &s->model, .dataset = w->dataset, .pool = s->pool}, &err);
    if (!w->exam)
        utf8_print(w->problem, sizeof w->problem, "%s", err.text);
    return w->exam != NULL;
}

bool measures_step_confusion(Session *s, int64_t deadline_ns)
{
    if (impossible(s) || known(s, s->measures ? s->measures->confusion : NULL))
        return true;
    struct ConfusionWork *w = work_of(s);
    if (!w->exam && !begin(s, w))
        return true;
    bool was = accuracy_result(w->exam) != NULL, done = was || accuracy_step(w->exam, deadline_ns);
    s->changes += !was;
    return done;
}
