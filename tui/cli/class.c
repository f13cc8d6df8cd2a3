/* `vitrine share`, `join`, `notes`: a class on the terminals of one machine; `present`: what it is shown. */
#include "core/base/file.h"
#include "lessons/lesson.h"
#include "tui/app.h"
#include "tui/classroom.h"
#include "tui/cli/script.h"
#include "tui/cli/verbs.h"

static bool share_screen(const Options *o, AppOptions *a)
{
    a->input = o->input ? o->input : "#17";
    a->present = o->word_count > 1 ? o->word[1] : NULL;
    a->share = o->name ? o->name : "";
    a->group = o->group;
    a->rehearse = o->rehearse;
    return true;
}

static bool check_join(const Options *o, const Link *l, Err *err)
{
    Buf classes = {0};
    (void)l;
    if (o->word_count == 2)
        return reader_init(&(ClassReader){0}, o->word[1], err);
    bool any = reader_classes(&classes);
    err_set(err,
            any ? "join whom? Now on show: %.380s. vitrine join NAME, the word before `by`"
                : "join whom? Nobody shares on this machine now. Who presents types `vitrine share` and says the name "
                  "to join",
            buf_str(&classes));
    buf_free(&classes);
    return false;
}

static bool join_screen(const Options *o, AppOptions *a)
{
    a->input = o->input ? o->input : "#17";
    a->join = o->word[1];
    return !o->plain;
}

/* Line by line: `plain` that follows. */
static int join_lines(Work *w, Err *err)
{
    Options o = *w->options;
    (void)err; /* it tells its own */
    o.join = o.word[1];
    o.word[0] = VERB_PLAIN.name;
    o.word_count = 1;
    return verb_main(&VERB_PLAIN, &o);
}

const Verb VERB_SHARE = {
    .name = "share",
    .usage = "share [LESSON, FILE or DEMO] [--name NAME] [--group G]",
    .summary = "presents, and lets other users of this machine follow on their own terminals",
    .details = "They type `vitrine join NAME`; NAME is your user name if --name gives no other. What they get are "
               "commands and pictures up to 8 MB, as files in a directory below /tmp (or $VITRINE_SHARE, which several "
               "machines may share) that only you write to; with --group only that group reads it. They give answers "
               "and nothing else. The screen's command `share` does the same later, `share off` ends it.",
    .example = "vitrine share heads",
    .flags = VERB_ALONE,
    .words = 2,
    .screen = share_screen};

const Verb VERB_JOIN = {
    .name = "join",
    .usage = "join NAME [-m MODEL] [--plain]",
    .summary = "follows somebody who shares on this machine",
    .details =
        "NAME is what who presents says, mostly a user name; without one: who presents now. The machine's own name and "
        "number for them are said, and asked about once. Their lines touch no file of yours. `f`, or any change of "
        "yours: on your own; `f` again: back. A digit answers an open question and leaves a receipt. A model other "
        "than the program's own has to be named with -m. With --plain all of it comes in lines.",
    .example = "vitrine join ada",
    .flags = VERB_ALONE,
    .check = check_join,
    .screen = join_screen,
    .run = join_lines};

const Verb VERB_NOTES = {
    .name = "notes",
    .usage = "notes [--plain]",
    .summary = "the speaker's notes, the next step and a clock, for a second terminal",
    .details = "Shows your own presentation on this machine, by a directory that nobody else can enter. Its keys "
               "drive: Space, p, 12G, a point for blank. Into a pipe, or with --plain, it writes lines and reads keys.",
    .example = "vitrine notes",
    .flags = VERB_ALONE,
    .words = 1};

/* --- present: a lesson, a script or a demonstration for a hall --- */

static bool check_present(const Options *o, const Link *l, Err *err)
{
    LessonFile f;
    (void)l;
    if (o->word_count != 2)
        return err_set(err, "present what? a lesson, a script's file, or a demonstration: vitrine present 6");
    const char *which = o->word[1];
    if (o->script && o->script != which)
        return err_set(err, "present what? '%.100s' and the script '%.100s' are two: name one", which, o->script);
    if (demo_find(which, NULL) && !demo_suits(which, o->model, err))
        return false;
    return file_exists(which) || lesson_named(which, &f) || demo_find(which, NULL) ||
           err_set(err,
                   "'%.200s' is no file here, no lesson and no demonstration; `vitrine lessons` and `vitrine demo` "
                   "list them",
                   which);
}

static bool present_screen(const Options *o, AppOptions *a)
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
    .details = "A lesson by its number or file, a script, or a demonstration by its name. Space, Enter, arrows, a "
               "click and a clicker's keys go on and back, 12G jumps, . plays, b blanks, P goes to the ordinary screen "
               "and comes back to the same step, q asks before it leaves. Colours stay locked while a tensor stays in "
               "focus. --light suits a lit room; --rehearse prints the time that each step took.",
    .example = "vitrine present 6",
    .flags = VERB_ALONE,
    .check = check_present,
    .screen = present_screen};
