/* Which class is taken for which, over many pictures; of a folder the pictures of every cell can be opened. */

#include "core/session/screens/confusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/interval.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/options.h"
#include "core/session/screens.h"
#include "core/train/trainer.h"

/* --- what is counted --- */

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

/* Takes the pictures of a folder, one folder for each class: those that the model did not learn from, or all. */
static bool confusion_over(Session *s, const char *folder, bool all, Err *err)
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

/* --- the screen --- */

enum { SLICE_NS = 100000000 };

static bool run_confusion(Session *s, const Args *a, Err *err)
{
    const char *path = site_path_any(session_graph(s, SIDE_B), SITE_LOGITS), *why;
    Confusion c;
    const bool all = a->count == 2 && strcmp(a->word[1], "all") == 0;
    if (a->count > 1 + all)
        return err_set(err, "column %d: expected one folder, with a folder of pictures for each class, and perhaps all",
                       a->column[1]);
    if (!model_grid(s->now->model).rows || !path)
        return err_set(err,
                       model_grid(s->now->model).rows ? "this model names no classes" : "this is for picture models");
    if (a->count) {
        const char *folder = permit_read(s, a->word[0], err);
        if (folder && !file_is_dir(folder))
            return err_set(err, "column %d: expected a folder of pictures for each class, found '%.200s'", a->column[0],
                           a->word[0]);
        if (!folder || !confusion_over(s, folder, all, err))
            return false;
    } else if (!session_confusion(s, &c, &why))
        return err_set(err, "%s", why);
    return screen_go(s, SCREEN_CONFUSION, path, err);
}

static void move_on_classes(Session *s, int dy, int dx)
{
    const int last = session_classes(s) - 1;
    s->look.confusion.of = clamp(s->look.confusion.of + dy, 0, last);
    s->look.confusion.named = clamp(s->look.confusion.named + dx, 0, last);
}

/* The next picture of the cell. */
static bool enter_cell(Session *s, Err *err)
{
    const LookAt *l = &s->look;
    Confusion c;
    const char *why;
    if (!session_confusion(s, &c, &why))
        return err_set(err, "%s", why);
    if (!c.opens)
        return err_set(err,
                       "the pictures are not in the program: `confusion FOLDER` measures over a folder of your own "
                       "and opens them");
    while (!measures_step_confusion(s, clock_ns() + SLICE_NS))
        if (s->progress && session_confusion(s, &c, NULL) && !s->progress(s->progress_context, "measuring", c.share))
            return err_set(err, "cancelled");
    const char *path = session_confused(s, l->confusion.of, l->confusion.named, session_input(s, SIDE_B)->path);
    if (!path)
        return err_set(err, "there is no such picture");
    return session_open_input(s, path, err);
}

static const char *class_of(const Session *s, int o, char out[64])
{
    if (s->model.class_names)
        return s->model.class_names[o];
    snprintf(out, 64, "class %d", o);
    return out;
}

static bool say_confusion(const Teller *t)
{
    const Session *s = t->s;
    const int of = s->look.confusion.of, named = s->look.confusion.named;
    Confusion c;
    const char *why;
    char a[64], b[64], share[48];
    if (!session_confusion(s, &c, &why)) {
        buf_printf(t->out, "%s.", why);
        return true;
    }
    if (!c.count) {
        buf_puts(t->out, "It is being measured.");
        return true;
    }
    size_t n = 0, k = c.count[of * c.classes + named], most = 0;
    int other = -1;
    for (int o = 0; o < c.classes; o++) {
        size_t x = c.count[of * c.classes + o];
        n += x;
        if (o != of && x > most)
            most = x, other = o;
    }
    buf_printf(t->out, "Of %zu %s of class %s it names %zu %s: %s.", n, c.of, class_of(s, of, a), k,
               of == named ? "right" : class_of(s, named, b), measure_share_text(k, n, share, sizeof share));
    if (other >= 0)
        buf_printf(t->out, " Those that are wrong are most often called %s, %zu times.", class_of(s, other, b), most);
    return true;
}

/* A line for every class. */
static bool tell_confusion(const Teller *t)
{
    Confusion c;
    char name[64], share[48];
    if (!session_confusion(t->s, &c, NULL) || !c.count)
        return say_confusion(t);
    for (int of = 0; of < c.classes; of++) {
        size_t n = 0;
        for (int o = 0; o < c.classes; o++)
            n += c.count[of * c.classes + o];
        buf_printf(t->out, "%s: %s of %zu right", class_of(t->s, of, name),
                   measure_share_text(c.count[of * c.classes + of], n, share, sizeof share), n);
        for (int o = 0; o < c.classes; o++)
            if (o != of && c.count[of * c.classes + o])
                buf_printf(t->out, ", %s %zu", class_of(t->s, o, name), c.count[of * c.classes + o]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

static bool class_there(Session *s, int value, Err *err)
{
    return (value >= 0 && value < session_classes(s)) || err_set(err, "there is no such class");
}

static const LookOption OPTIONS[] = {{"class-of", OPTION_NUMBER, LOOK(confusion.of), NULL, class_there, 0},
                                     {"class-named", OPTION_NUMBER, LOOK(confusion.named), NULL, class_there, 0},
                                     {.name = NULL}};

static const Command OWN = COMMAND(
    "confusion", "learned", "confusion [FOLDER [all]]",
    "which class is taken for which; over the held-out pictures of a folder, or all, which Enter opens",
    COMMAND_SESSION | COMMAND_READ | COMMAND_PICTURES, run_confusion, NULL);

SCREEN_SPEC(CONFUSION, .name = "confusion", .about = "which class is taken for which", .group = GROUP_LEARNED,
            .shipped = true, .command = "confusion", .own = {&OWN, 1, NULL}, .move = move_on_classes,
            .enter = enter_cell, .next = enter_tensor, .work = measures_step_confusion, .off = OFF_NOTHING,
            .say = say_confusion, .tell = tell_confusion, .options = OPTIONS);
