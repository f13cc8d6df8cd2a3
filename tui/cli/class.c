/* `vitrine share`, `join`, `notes`: a class on the terminals of one machine. */
#include "tui/app.h"
#include "tui/classroom.h"
#include "tui/cli/verbs.h"

static bool check_share(const Options *o, const Link *l, Err *err)
{
    (void)l;
    return o->word_count <= 2 || err_set(err, "share takes one lesson, script or demonstration, or nothing");
}

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
    char path[CLASS_PATH];
    (void)l;
    if (o->word_count != 2)
        return err_set(err, "join whom? vitrine join NAME, as who presents says");
    return classroom_path(o->word[1], path, err);
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

static bool check_notes(const Options *o, const Link *l, Err *err)
{
    (void)l;
    return o->word_count == 1 || err_set(err, "notes takes no '%.60s'", o->word[1]);
}

const Verb VERB_SHARE = {
    .name = "share",
    .usage = "share [LESSON, FILE or DEMO] [--name NAME] [--group G]",
    .summary = "presents, and lets other users of this machine follow on their own terminals",
    .details =
        "They type `vitrine join NAME`; NAME is your user name if --name gives no other. What is sent are commands, "
        "not pictures of the screen: everybody sees the same numbers at their own size. Pictures up to 8 MB travel "
        "along. All of it is lines in a directory below /tmp (or $VITRINE_SHARE, which may be on a disk that several "
        "machines share) that only you may write to; with --group only that group reads them. Followers give votes "
        "and nothing else, one of each account and terminal. The screen's command `share` does the same later, "
        "`share off` ends it.",
    .example = "vitrine share heads",
    .flags = VERB_ALONE,
    .check = check_share,
    .screen = share_screen};

const Verb VERB_JOIN = {
    .name = "join",
    .usage = "join NAME [-m MODEL] [--plain]",
    .summary = "follows somebody who shares on this machine",
    .details =
        "NAME is what who presents says, mostly a user name. Whatever you change makes you look on your own, f "
        "follows again. While a question is open a digit answers it, and leaves a receipt. Who presents is said by "
        "name and number, as the machine knows them, and asked about once; their lines touch no file of yours. A model "
        "other than the program's own has to be named "
        "with -m: it is compared, and the name is said where it is missing. With --plain all of it comes in lines.",
    .example = "vitrine join ada",
    .flags = VERB_ALONE,
    .check = check_join,
    .screen = join_screen,
    .run = join_lines};

const Verb VERB_NOTES = {
    .name = "notes",
    .usage = "notes [--plain]",
    .summary = "the speaker's notes, the next step and a clock, for a second terminal",
    .details = "Shows your own presentation on this machine, by a directory that nobody else can enter, and again "
               "whenever there is one. Its keys drive: Space, p, 12G, a point for blank. Into a pipe, or with --plain, "
               "it writes lines and reads keys' names and numbers.",
    .example = "vitrine notes",
    .flags = VERB_ALONE,
    .check = check_notes};
