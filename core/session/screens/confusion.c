/* Which class is taken for which, over many pictures; of a folder the pictures of every cell can be opened. */
#include "core/session/learned/confusion.h"

#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/eval/interval.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/screens.h"

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
        if (!folder || !session_confusion_over(s, folder, all, err))
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
