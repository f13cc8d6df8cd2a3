/* `vitrine present`: a lesson, a script or a demonstration for a hall. */
#include "core/base/file.h"
#include "lessons/lesson.h"
#include "tui/app.h"
#include "tui/cli/script.h"
#include "tui/cli/verbs.h"

static bool check(const Options *o, const Link *l, Err *err)
{
    LessonFile f;
    (void)l;
    if (o->word_count != 2)
        return err_set(err, "present what? a lesson, a script's file, or a demonstration: vitrine present 6");
    const char *which = o->word[1];
    return file_exists(which) || lesson_named(which, &f) || demo_find(which, NULL) ||
           err_set(
               err,
               "'%.200s' is no file here, no lesson and no demonstration; `vitrine lessons` and `vitrine demo` list "
               "them",
               which);
}

static bool screen(const Options *o, AppOptions *a)
{
    a->input = o->input ? o->input : "#17";
    a->present = o->word[1];
    a->rehearse = o->rehearse;
    a->timed = o->script != NULL;
    return true;
}

const Verb VERB_PRESENT = {
    .name = "present",
    .usage = "present LESSON, FILE or DEMO [--rehearse] [--light]",
    .summary = "shows it in a hall: one pane, a caption, large letters; any key is next",
    .details =
        "A lesson by its number or file, a script, or a demonstration by its name. Space, Enter, arrows, a click "
        "and a clicker's keys go on and back, 12G jumps, . plays, b blanks, P goes to the ordinary screen and comes "
        "back "
        "to the same step, q asks before it leaves. Colours stay locked while a tensor stays in focus. --light "
        "suits a lit room; --rehearse prints the time that each step took.",
    .example = "vitrine present 6",
    .flags = VERB_ALONE,
    .check = check,
    .screen = screen};
