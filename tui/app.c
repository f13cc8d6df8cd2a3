#include "tui/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "core/session/play.h"
#include "core/session/screens/laboratory.h"
#include "core/session/state.h"
#include "tui/app_parts.h"

/* How long one slice of computing may keep a key waiting, the first one behind a key (before its frame) less long, and
 * how often a frame is drawn while work goes on. */
enum {
    SLICE_NS = 8000000,
    FIRST_NS = 5000000,
    MEASURES_NS = 4000000,
    FRAME_NS = 60000000,
    CLASS_NS = 500000000,
    LOADING_CELLS = 79
};

/* Progress before the screen is open: one line on standard error. Ctrl-C ends the program as in any other. */
static bool loading(void *context, const char *what, double share)
{
    Pace *pace = context;
    int64_t now = clock_ns();
    int left = pace_left(pace, share, now);
    if (now - pace->began > 500000000 && isatty(STDERR_FILENO)) {
        char line[160];
        utf8_print(line, sizeof line, left ? "%.80s %3d %%, %d s left" : "%.80s %3d %%", what, (int)(share * 100),
                   left);
        tell_over(line, LOADING_CELLS);
    }
    return true;
}

/* Steps the runs for what the frame needs and the pass; true when nothing of it is left to do. */
static bool work(App *a)
{
    if (a->halted)
        return true;
    Needs needs = {.count = 0};
    Frame f = app_frame(a);
    frame_needs(&a->s, &f, &needs);
    a->asked = true;
    return session_step_pass(&a->s, needs.item, needs.count, clock_ns() + (a->touched ? FIRST_NS : SLICE_NS));
}

/* A link carries the first digits of digests and of the trace hash: another hash is another model, picture or program.
 */
static void check_link(App *a)
{
    uint64_t hash;
    Err err;
    if (!a->link || !session_hash(&a->s, SIDE_B, &hash))
        return;
    if (!link_agrees(a->link, &a->s, &err))
        app_say(a, true, err.text);
    else if (a->link->hash && !link_hash_agrees(a->link->hash, hash)) {
        char text[160];
        utf8_print(text, sizeof text,
                   "The link says trace hash @%.20s, this run has %016llx: another model, picture or edit.",
                   a->link->hash, (unsigned long long)hash);
        app_say(a, true, text);
    }
    a->link = NULL;
}

/* Measuring comes when the frame shows all else. */
static bool study(App *a)
{
    return a->halted || measures_step(&a->s, clock_ns() + MEASURES_NS);
}

static void show_frame(App *a)
{
    if (a->asked) /* twice for one asking would forget what the frame shows */
        session_trim(&a->s);
    a->asked = false;
    app_draw(a);
    a->shown = a->s.changes;
    a->last_frame = clock_ns();
    a->stale = a->touched = false;
}

/* What a frame of the film changed since that state: followers can't know it, for no command did it. */
static void tell_followers(App *a, StateShot *was)
{
    if (!was)
        return;
    StateShot *now = state_shot(&a->s);
    state_between(&a->s, was, now, &a->share.entries);
    state_shot_free(now);
    state_shot_free(was);
}

void app_play_tick(App *a, bool done, int64_t now, int64_t *wait)
{
    Session *s = &a->s;
    if (!s->look.playing) {
        a->next_frame = 0;
        return;
    }
    int64_t frame = play_wait(s) * (int64_t)1000000;
    if (!a->next_frame)
        a->next_frame = now + frame;
    if (done && now >= a->next_frame) {
        int box = s->place.box;
        StateShot *was = *a->share.room.path ? state_shot(s) : NULL;
        buf_clear(&s->said);
        s->look.playing = play_frame(s);
        tell_followers(a, was);
        a->next_frame = now + play_wait(s) * (int64_t)1000000;
        a->touched = true;
        if (s->place.box != box) { /* what was said was about the step before */
            *a->message = 0;
            presenter_free_colours(&a->presenter, s);
        }
        if (!a->presenter.view.on) /* its keys are other ones */
            app_show_said(a);
    }
    int64_t left = a->next_frame > now ? a->next_frame - now : 0;
    if (s->look.playing && (*wait < 0 || left < *wait))
        *wait = left;
}

static void loop(App *a)
{
    TermEvent e;
    bool lacked = false;
    a->touched = true;
    while (!a->s.quit) {
        bool there = work(a);
        check_link(a);
        /* a change waits one slice for its values, so that "computing" does not flash; long work shows its progress.
         * Values that come later are shown as soon as all are there. */
        if (there ? a->touched || lacked : a->touched && !session_busy(&a->s))
            show_frame(a);
        lacked = !there;
        bool done = there && study(a);
        if (done ? a->stale || a->shown != a->s.changes : clock_ns() - a->last_frame >= FRAME_NS)
            show_frame(a);
        a->stale = a->stale || !done; /* what was drawn before all was there is drawn again */
        int64_t wait = -1;
        app_play_tick(a, done, clock_ns(), &wait);
        app_present_tick(a, done, &wait);
        app_next_tick(a, clock_ns(), &wait);
        if (app_class_step(a))
            a->touched = true;
        bool behind = follow_behind(&a->follow); /* keys and signals are looked at all the same */
        if (app_class_open(a) && (wait < 0 || wait > CLASS_NS))
            wait = behind ? 0 : CLASS_NS;
        if (a->touched && done && !behind)
            continue;
        if (!term_event(!done ? 0 : wait < 0 ? -1 : (int)(wait / 1000000) + 1, &e))
            continue;
        do /* keys that are held down do not queue frames */
            app_event(a, &e);
        while (!a->s.quit && term_event(0, &e));
        a->s.changes++;
        a->touched = true;
    }
}

/* The place of the last session, where it was the same model and picture. */
static void resume(App *a)
{
    if (!state_resume(&a->s, &a->commands))
        return;
    int total, step = session_step_number(&a->s, &total);
    a->s.back_count = 0;
    a->hint = false;
    if (step > 1 || a->s.edits.count) {
        snprintf(a->message, sizeof a->message, "Resumed at step %d of %d. :restart starts over.", step, total);
        a->message_is_error = false;
    }
}

/* A link's and -c's lines. Before there is a screen `export` writes values, and what needs the screen says so. */
static bool open_with_commands(App *a, const AppOptions *o, Err *err)
{
    const Link none = {.input = NULL};
    Commands opening = session_command_set();
    commands_add(&opening, app_commands(NULL));
    bool late = o->at && o->commands; /* which may have to make the place */
    bool there = late && link_go(&a->s, &opening, o->at, NULL);
    bool ready = link_run(o->link ? o->link : &none, late ? NULL : o->at, &a->s, &opening, err) &&
                 (!o->commands || session_read(&a->s, &opening, o->commands, LINE_OWN, err)) &&
                 (!late || there || link_go(&a->s, &opening, o->at, err));
    commands_free(&opening);
    return ready;
}

/* The lesson that was asked for, or (again) the one that was open when the program was left. */
static bool open_first_lesson(App *a, const AppOptions *o, bool again, Err *err)
{
    if (o->lesson) {
        a->hint = false;
        a->for_lesson = true;
        *a->message = 0;
        return desk_open(&a->desk, &a->s, o->lesson, err) && (!o->fresh || desk_restart(&a->desk));
    }
    char *name = again ? state_load_file("open-lesson") : NULL;
    if (name && *name)
        desk_open(&a->desk, &a->s, name, NULL);
    free(name);
    a->hint = a->hint && !a->desk.open;
    return true;
}

static bool begin(App *a, const AppOptions *o, Err *err)
{
    Pace pace = {0};
    char first[32];
    bool asked = o->link || o->at || o->commands, plain = !asked && !o->input && !o->model;
    const char *input = plain ? scale_places_input(first, sizeof first) : o->input;
    ModelWish wish = {o->assume, o->resolution, o->texts};
    if (!session_init_as(&a->s, o->model, wish, input, o->threads, loading, &pace, err))
        return false;
    if (pace.began && clock_ns() - pace.began > 500000000 && isatty(STDERR_FILENO))
        tell_over("", LOADING_CELLS);
    if (o->memory)
        session_budget(&a->s, o->memory);
    a->s.progress = NULL;
    Commands own = session_command_set();
    a->ui = (Ui){.overlay = &a->overlay, .commands = &a->commands, .act = app_act, .app = a};
    commands_add(&a->commands, app_commands(&a->ui));
    commands_add_all(&a->commands, &own);
    commands_free(&own);
    a->link = o->link;
    a->hint = true;
    if (!asked && (!o->fresh || o->lesson)) /* a lesson begins from its own place, and ends at the reader's */
        resume(a);
    bool ready = open_with_commands(a, o, err);
    if (asked && !session_has_trail(&a->s))
        a->s.back_count = 0;
    if (ready && open_first_lesson(a, o, plain && !o->fresh, err))
        return true;
    session_free(&a->s);
    commands_free(&a->commands);
    return false;
}

/* What the command line said of sharing and following; the notes terminal is served wherever something is presented. */
static void open_class(App *a, const AppOptions *o)
{
    Err err = {{0}};
    bool ok = true;
    a->hint = a->hint && !o->join;
    if (o->join)
        ok = follow_open(&a->follow, o->join, o->model, &err);
    if (!ok)
        app_say(a, true, err.text);
    a->prompter.wanted = o->present || o->share;
}

static int refused(App *a, const Err *err, int status)
{
    tell(err->text);
    session_free(&a->s);
    commands_free(&a->commands);
    return status;
}

int app_main(const AppOptions *o)
{
    App a = {.terminal = NULL};
    Err err = {{0}};
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) { /* said before a large model is read */
        tell("standard input and output are not a terminal; `vitrine --plain`, `run`, `show` and `screen` work without "
             "one (see vitrine --help)");
        return 2;
    }
    if (!begin(&a, o, &err)) {
        tell(err.text);
        return 1;
    }
    if (o->share && !share_open(&a.share, o->share, o->group, &err)) /* said where it is seen */
        return refused(&a, &err, 1);
    a.shows_join = o->share != NULL;
    if (!term_open(&o->terminal, &err)) {
        share_close(&a.share);
        return refused(&a, &err, 2);
    }
    a.terminal = term_status();
    if (*a.terminal->note)
        app_say(&a, false, a.terminal->note);
    a.s.progress = app_progress;
    a.s.progress_context = &a;
    canvas_init(&a.canvas, 1, 1);
    app_fit(&a);
    app_show_said(&a);
    if (o->demo) {
        char line[80];
        utf8_print(line, sizeof line, "demo %.60s", o->demo);
        app_do(&a, line);
    }
    a.presenter.deck.at = -1;
    app_class_begin(&a);
    term_also(app_class_poll, &a);
    open_class(&a, o);
    a.presenter.alone = o->present;
    a.presenter.view.light = a.terminal->light;
    if (o->present) {
        Buf line = {0};
        buf_puts(&line, "present ");
        command_quote(o->present, &line);
        app_do(&a, buf_str(&line));
        buf_free(&line);
        if (o->timed && a.presenter.deck.open)
            app_do(&a, "present play");
    }
    loop(&a);
    term_also(NULL, NULL);
    term_leave();
    app_class_end(&a);
    if (o->rehearse && a.presenter.deck.open)
        app_tell_times(&a);
    state_save_file("open-lesson", a.desk.bundled ? a.desk.player.lesson.file : "");
    desk_close(&a.desk, &a.s);
    if (task_on(&a.ui.task))
        task_end(&a.ui.task, &a.s, NULL);
    state_save(&a.s);
    term_close();
    canvas_free(&a.canvas);
    overlay_free(&a.overlay);
    task_free(&a.ui.task);
    messages_free(&a.messages);
    prompt_free(&a.prompt);
    stage_close(&a.stage);
    presenter_close(&a.presenter);
    session_free(&a.s);
    commands_free(&a.commands);
    term_reraise();
    return 0;
}
