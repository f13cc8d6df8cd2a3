#include "tui/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/pace.h"
#include "core/base/stop.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/io/image.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/scale_places.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/state.h"
#include "tui/canvas/export.h"
#include "tui/cli/link.h"
#include "tui/desk.h"
#include "tui/frame.h"
#include "tui/keymap.h"
#include "tui/overlay.h"
#include "tui/prompt.h"
#include "tui/stage.h"
#include "tui/term.h"

/* How long one slice of computing may keep a key waiting, and how often a frame is drawn while work goes on. */
enum {
    SLICE_NS = 8000000,
    MEASURES_NS = 4000000,
    FRAME_NS = 60000000,
    HINT_STEPS = 3,
    HINT_KEYS = 12,
    LOADING_CELLS = 79
};

typedef struct App {
    Session s;
    Commands commands;
    Ui ui;
    Canvas canvas;
    Overlay overlay;
    Desk desk;
    Stage stage;
    Prompt prompt;
    char message[512];
    bool message_is_error;
    bool hint;
    bool asked;                            /* the frame's values were asked for since values were last forgotten */
    bool said;                             /* the last key was `say`: once more it tells what is said in general */
    int steps_taken, commands_done, count; /* count: digits typed before a key */
    const char *link_hash;                 /* first digits of the hash that a link promised; NULL once compared */
    const TermStatus *terminal;
    int64_t work_since; /* a command computes: when it began, for the progress line */
    int64_t last_report;
    bool cancelled;
    bool halted;        /* Ctrl-C stopped the pass; the next key goes on with it */
    uint64_t shown;     /* s.changes of the last frame … */
    int64_t last_frame; /* … and when it was drawn */
    bool stale;         /* something was computed since, … */
    bool touched;       /* … there was an event since */
    Pace pace;
} App;

static void say(App *a, bool error, const char *text)
{
    snprintf(a->message, sizeof a->message, "%s", text);
    a->message_is_error = error;
}

static Paint paint(App *a)
{
    return (Paint){.s = &a->s, .c = &a->canvas, .mode = a->terminal->mode, .light = a->terminal->light};
}

static void fit(App *a)
{
    int h, w;
    term_size(&h, &w);
    if (h != a->canvas.h || w != a->canvas.w)
        canvas_resize(&a->canvas, h, w);
}

static void status_words(const App *a, char *out, size_t n)
{
    static const char *const MODES[] = {
        [MODE_MONO] = "mono", [MODE_8] = "8 colours", [MODE_256] = "256c", [MODE_TRUE] = "truecolor"};
    snprintf(out, n, "%s%s%s", MODES[a->terminal->mode], a->terminal->ascii ? " ascii" : "",
             a->terminal->has_mouse && !a->terminal->mouse ? " mouse off" : "");
}

/* The session's screen in what the lesson leaves of the terminal. */
static Frame frame_now(const App *a)
{
    Rect card, screen;
    desk_layout(&a->desk, a->canvas.h, a->canvas.w, &card, &screen);
    return frame_layout(&a->s, screen.h, screen.w, a->hint);
}

static void draw_desk(App *a)
{
    Rect card, screen;
    if (!a->desk.open)
        return;
    desk_layout(&a->desk, a->canvas.h, a->canvas.w, &card, &screen);
    desk_draw(&a->desk, &a->canvas, card, screen);
}

static void draw(App *a)
{
    char status[64];
    fit(a);
    Canvas *c = &a->canvas;
    canvas_clear(c);
    c->ascii = a->terminal->ascii;
    Paint p = paint(a);
    double share;
    bool again = session_again(&a->s, &share);
    if (a->halted)
        a->pace = (Pace){0};
    p.seconds_left = a->halted ? 0 : pace_left(&a->pace, again ? share : session_progress_share(&a->s), clock_ns());
    Frame f = frame_now(a);
    status_words(a, status, sizeof status);
    FrameState state = {.hint = a->hint,
                        .message = a->message,
                        .message_is_error = a->message_is_error,
                        .status = status};
    Rect card, screen;
    char lesson[120];
    desk_layout(&a->desk, c->h, c->w, &card, &screen);
    if (a->desk.open && !card.h && !*a->message) {
        snprintf(lesson, sizeof lesson,
                 "Card %d of %d. Space: the next card. Tab: this card again. q: leave the lesson.",
                 a->desk.player.card + 1, a->desk.player.lesson.count);
        state.message = lesson;
    }
    if (screen.h > 0)
        frame_draw(&p, &f, &state);
    draw_desk(a);
    overlay_draw(&a->overlay, c);
    if (a->prompt.open) {
        Rect line = {c->h - 1, 0, 1, c->w}, above = {0, 0, c->h - 1, c->w};
        prompt_draw(&a->prompt, c, line, above);
    }
    term_draw(c);
}

/* While a command computes: a line with what and how far after half a second; Ctrl-C cancels. */
static bool progress(void *context, const char *what, double share)
{
    App *a = context;
    TermEvent e;
    int64_t now = clock_ns();
    if (now - a->last_report < 100000000)
        return !a->cancelled;
    a->last_report = now;
    while (term_event(0, &e)) {
        if (e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE || (e.kind == TERM_KEY && strcmp(e.key, "^C") == 0))
            a->cancelled = true;
        if (e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE)
            a->s.quit = true;
    }
    double seconds = (double)(now - a->work_since) / 1e9;
    if (seconds < 0.5 || a->cancelled)
        return !a->cancelled;
    char line[256];
    double left = share > 0.01 ? seconds / share - seconds : 0;
    snprintf(line, sizeof line, "%.80s  %d %%%s%.0f s  Ctrl-C cancels", what, (int)(share * 100),
             left > 0 ? ", about " : ", ", left > 0 ? left : seconds);
    say(a, false, line);
    draw(a);
    return true;
}

/* The same while a file is read or written: Ctrl-C is a key here, no signal. */
static bool wants_to_stop(void *context)
{
    return !progress(context, "reading", 0);
}

/* Progress before the screen is open: one line on standard error. Ctrl-C ends the program as in any other. */
static bool loading(void *context, const char *what, double share)
{
    Pace *pace = context;
    int64_t now = clock_ns();
    int left = pace_left(pace, share, now);
    if (now - pace->began > 500000000 && isatty(STDERR_FILENO)) {
        char line[160];
        snprintf(line, sizeof line, left ? "%.80s %3d %%, %d s left" : "%.80s %3d %%", what, (int)(share * 100), left);
        tell_over(line, LOADING_CELLS);
    }
    return true;
}

static void show_said(App *a)
{
    const char *said = buf_str(&a->s.said);
    if (!*said)
        return;
    const char *end = strchr(said, '\n');
    int lines = frame_now(a).sentence.h;
    int room = lines * (a->canvas.w - 2) -
               (lines > 1 ? a->canvas.w / 4 : 0); /* a wrapped line ends before its last column */
    bool one_line = (!end || !end[1]) && utf8_cells(said) <= room;
    if (one_line) {
        say(a, false, said);
        a->message[strcspn(a->message, "\n")] = 0;
    } else
        overlay_text(&a->overlay, "", said);
    buf_clear(&a->s.said);
}

static void describe_terminal(App *a)
{
    const TermStatus *t = a->terminal;
    Buf b = {0};
    static const char *const MODES[] = {
        [MODE_MONO] = "no colour", [MODE_8] = "8 colours", [MODE_256] = "256 colours", [MODE_TRUE] = "all colours"};
    buf_printf(&b,
               "This terminal says it is %s.\nColours: %s (%s). `vitrine --colour true`, 256, 8 or mono choose "
               "another; over ssh 256 is the default because the\n"
               "wish for more does not travel with the connection.\nCharacters: %s.\nMouse: %s. %% turns it off and "
               "on; with it off the terminal selects text.\n",
               t->term, MODES[t->mode], t->why ? t->why : "", t->ascii ? "ASCII" : "UTF-8 with half blocks",
               !t->has_mouse ? "none reported"
               : t->mouse    ? "on"
                             : "off");
    if (*t->note)
        buf_printf(&b, "%s\n", t->note);
    buf_printf(&b, "Pictures are decoded in a process of their own, protected by: %s.\n", image_sandbox());
    overlay_text(&a->overlay, "Terminal", buf_str(&b));
    buf_free(&b);
}

static bool export_screen(App *a, const char *path, Err *err)
{
    Buf b = {0};
    const char *suffix = file_suffix(path);
    if (strcmp(path, "-") == 0)
        return err_set(err, "the screen itself is standard output here; give a file name");
    say(a, false, "");
    draw(a); /* the frame as it is without the command line */
    if (strcasecmp(suffix, "svg") == 0)
        export_svg(&a->canvas, a->terminal->light, "Vitrine", &b);
    else if (strcasecmp(suffix, "html") == 0)
        export_html(&a->canvas, a->terminal->light, "Vitrine", &b);
    else if (strcasecmp(suffix, "ans") == 0)
        export_ansi(&a->canvas, a->terminal->mode, a->terminal->light, &b);
    else
        export_text(&a->canvas, &b);
    bool ok = file_write(path, b.data, b.len, err);
    if (ok)
        session_say(&a->s, "Saved this screen to %.400s.", path);
    buf_free(&b);
    return ok;
}

static void close_something(App *a)
{
    Session *s = &a->s;
    if (s->look.zoomed)
        s->look.zoomed = false;
    else if (s->look.steps_focused)
        s->look.steps_focused = false;
    else if (screen_now(s)->group == GROUP_ARITHMETIC && s->back_count)
        place_back(s);
    else if (screen_now(s)->group == GROUP_LEARNED &&
             s->back_count) /* from all that it learned to where one was before */
        do
            place_back(s);
        while (screen_now(s)->group == GROUP_LEARNED && s->back_count);
    else
        s->quit = true;
}

static bool open_lesson(App *a, const char *which, Err *err)
{
    if (strcmp(which, "close") == 0) {
        desk_close(&a->desk, &a->s);
        state_save_file("open-lesson", "");
        session_say(&a->s, "Back where you were. t lists the lessons.");
        return true;
    }
    if (strcmp(which, "help") == 0 && a->desk.open) {
        desk_help(&a->desk, &a->overlay);
        return true;
    }
    a->hint = false;
    bool ok = desk_open(&a->desk, &a->s, which, err);
    buf_clear(&a->s.said);
    return ok;
}

/* A card's answer or hint; what is said to it stands on the card. */
static bool ask_desk(App *a, bool hint, const char *typed, Err *err)
{
    if (hint ? desk_hint(&a->desk, err) : desk_answer(&a->desk, typed, err))
        return true;
    if (a->desk.open) {
        buf_clear(&a->desk.said);
        buf_puts(&a->desk.said, err->text);
    }
    return false;
}

/* What a command asks of the terminal (Ui.act). */
static bool act(App *a, UiAct what, const char *text, Err *err)
{
    bool on;
    switch (what) {
    case UI_PROMPT: prompt_open(&a->prompt, text); break;
    case UI_MOUSE:
        on = term_mouse(*text ? strcmp(text, "on") == 0 : !a->terminal->mouse);
        session_say(&a->s, on ? "The mouse is ours: click, wheel. %% gives it back."
                              : "The mouse is the terminal's: select text with it. %% takes it again.");
        break;
    case UI_TERM: describe_terminal(a); break;
    case UI_REDRAW: term_redraw(); break;
    case UI_CLOSE: close_something(a); break;
    case UI_LESSON: return open_lesson(a, text, err);
    case UI_ANSWER: return ask_desk(a, false, text, err);
    case UI_HINT: return ask_desk(a, true, text, err);
    case UI_EXPORT: return export_screen(a, text, err);
    case UI_DEMO: return stage_do(&a->stage, &a->overlay, text, &a->s.said, err);
    }
    return true;
}

static void do_command(App *a, const char *line)
{
    Err err = {{0}};
    int total, step = session_step_number(&a->s, &total);
    a->work_since = a->last_report = clock_ns();
    a->cancelled = false;
    say(a, false, "");
    stop_listen(wants_to_stop, a);
    bool ok = command_do(&a->s, &a->commands, line, COMMAND_EDIT | COMMAND_FILE | COMMAND_UI, &err);
    if (ok && a->stage.due)
        ok = stage_run(&a->stage, &a->s, &a->commands, &err);
    stop_listen(NULL, NULL);
    say(a, false, ""); /* the progress line, if there was one */
    if (ok)
        show_said(a);
    else
        say(a, true, err.text);
    desk_done(&a->desk);
    a->steps_taken += session_step_number(&a->s, &total) != step;
    a->hint = a->hint && a->steps_taken < HINT_STEPS && ++a->commands_done < HINT_KEYS;
}

/* Digits are a count for the key that follows. */
static bool take_digit(App *a, const char *key)
{
    if (key[1] || key[0] < (a->count ? '0' : '1') || key[0] > '9')
        return false;
    a->count = a->count < 100000 ? a->count * 10 + (key[0] - '0') : a->count;
    return true;
}

static void run_binding(App *a, const KeyBinding *k)
{
    char line[SESSION_PATH + 16];
    bool says = strcmp(k->command, "say") == 0, again = says && a->said;
    bool counts = strcmp(k->command, "next") == 0 || strcmp(k->command, "prev") == 0 ||
                  strncmp(k->command, "move ", 5) == 0;
    if (a->count && strcmp(k->key, "G") == 0)
        snprintf(line, sizeof line, "goto %d", a->count);
    else if (a->count && counts)
        snprintf(line, sizeof line, "%.60s %d", k->command, a->count);
    else if (again)
        snprintf(line, sizeof line, "glossary %s", a->s.place.path);
    else
        snprintf(line, sizeof line, "%s", k->command);
    a->count = 0;
    do_command(a, line);
    a->said = says && !again;
    a->overlay.more = a->said && a->overlay.kind == OVERLAY_TEXT;
}

static void on_key(App *a, const TermEvent *e)
{
    Buf command = {0};
    if (a->prompt.open) {
        if (prompt_key(&a->prompt, e->key, &a->s, &a->commands) == PROMPT_RUN)
            do_command(a, a->prompt.text);
        return;
    }
    if (a->overlay.kind != OVERLAY_NONE) {
        OverlayResult result = overlay_key(&a->overlay, e->key, &command);
        if (result == OVERLAY_RUN)
            do_command(a, buf_str(&command));
        buf_free(&command);
        a->said = a->said && (result == OVERLAY_PASSED || result == OVERLAY_STAYS);
        if (result != OVERLAY_PASSED)
            return;
    }
    if (a->desk.open && desk_key(&a->desk, e->key, a->canvas.w, a->canvas.h, &command)) {
        if (command.len)
            do_command(a, buf_str(&command));
        buf_free(&command);
        a->count = 0;
        return;
    }
    if (take_digit(a, e->key))
        return;
    const KeyBinding *k = keymap_find(&a->s, e->key);
    if (a->stage.open && strcmp(e->key, "Space") == 0) /* Space goes on with what is open */
        do_command(a, "demo next");
    else if (k)
        run_binding(a, k);
    else if (strcmp(e->key, "^C") == 0) {
        double share;
        a->halted = session_busy(&a->s) || session_again(&a->s, &share);
        say(a, false,
            a->halted ? "Stopped computing. The next key goes on with it; q leaves."
                      : "Nothing is being computed. q leaves.");
    } else if (strcmp(e->key, "Esc") == 0)
        say(a, false, "");
    else {
        char text[80];
        snprintf(text, sizeof text, "%s does nothing here. ? lists the keys.", e->key);
        say(a, false, text);
    }
    a->count = 0;
}

static void on_mouse(App *a, const TermEvent *e)
{
    Buf command = {0};
    Paint p = paint(a);
    Frame f = frame_now(a);
    bool wheel = strncmp(e->key, "Wheel", 5) == 0;
    if (a->overlay.kind != OVERLAY_NONE) {
        if (wheel)
            overlay_key(&a->overlay, strcmp(e->key, "WheelUp") == 0 ? "Up" : "Down", &command);
        else if (overlay_click(&a->overlay, &a->canvas, e->y, e->x, &command) == OVERLAY_RUN)
            do_command(a, buf_str(&command));
    } else if (a->prompt.open) {
        a->prompt.open = false;
    } else if (wheel ? frame_wheel(&f, e->y, e->x, strcmp(e->key, "WheelUp") == 0 ? -1 : 1, &command)
                     : strcmp(e->key, "Click") == 0 && frame_click(&p, &f, e->y, e->x, &command))
        do_command(a, buf_str(&command));
    buf_free(&command);
}

static void on_event(App *a, const TermEvent *e)
{
    a->halted = a->halted && e->kind != TERM_KEY && e->kind != TERM_MOUSE;
    switch (e->kind) {
    case TERM_KEY: on_key(a, e); break;
    case TERM_MOUSE: on_mouse(a, e); break;
    case TERM_PASTE:
        if (a->prompt.open)
            prompt_paste(&a->prompt, e->text);
        else
            say(a, false, "Pasted text goes into the command line: open it with : first.");
        break;
    case TERM_HANGUP:
    case TERM_TERMINATE: a->s.quit = true; break;
    default: break;
    }
}

/* Steps the runs for what the frame needs and the pass; true when nothing of it is left to do. */
static bool work(App *a)
{
    if (a->halted)
        return true;
    Needs needs = {.count = 0};
    Frame f = frame_now(a);
    frame_needs(&a->s, &f, &needs);
    a->asked = true;
    return session_step_pass(&a->s, needs.item, needs.count, clock_ns() + SLICE_NS);
}

/* A link carries the first digits of the trace hash: another hash is another model, picture or program. */
static void check_link(App *a)
{
    uint64_t hash;
    if (!a->link_hash || !session_hash(&a->s, SIDE_B, &hash))
        return;
    if (!link_hash_agrees(a->link_hash, hash)) {
        char text[160];
        snprintf(text, sizeof text,
                 "The link says trace hash @%.20s, this run has %016llx: another model, picture or edit.", a->link_hash,
                 (unsigned long long)hash);
        say(a, true, text);
    }
    a->link_hash = NULL;
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
    draw(a);
    a->shown = a->s.changes;
    a->last_frame = clock_ns();
    a->stale = a->touched = false;
}

static void loop(App *a)
{
    TermEvent e;
    a->touched = true;
    while (!a->s.quit) {
        bool there = work(a);
        check_link(a);
        /* a change waits one slice for its values, so that "computing" does not flash; long work shows its progress */
        if (a->touched && (there || !session_busy(&a->s)))
            show_frame(a);
        bool done = there && study(a);
        if (done ? a->stale || a->shown != a->s.changes : clock_ns() - a->last_frame >= FRAME_NS)
            show_frame(a);
        a->stale = a->stale || !done; /* what was drawn before all was there is drawn again */
        int64_t wait;
        if (desk_tick(&a->desk, &a->s, clock_ns(), &wait))
            a->touched = true;
        if (a->touched && done)
            continue;
        if (!term_event(!done ? 0 : wait < 0 ? -1 : (int)(wait / 1000000) + 1, &e))
            continue;
        do /* keys that are held down do not queue frames */
            on_event(a, &e);
        while (!a->s.quit && term_event(0, &e));
        a->s.changes++;
        a->touched = true;
    }
}

/* The place of the last session, where it was the same model and picture. */
static bool resume(App *a)
{
    if (!state_resume(&a->s, &a->commands))
        return false;
    int total, step = session_step_number(&a->s, &total);
    a->s.back_count = 0;
    a->hint = false;
    if (step > 1 || a->s.edits.count) {
        snprintf(a->message, sizeof a->message, "Resumed at step %d of %d. :restart starts over.", step, total);
        a->message_is_error = false;
    }
    return true;
}

static bool begin(App *a, const AppOptions *o, Err *err)
{
    Pace pace = {0};
    char first[32];
    bool asked = o->link || o->commands, plain = !asked && !o->input && !o->model;
    const char *input = plain ? scale_places_input(first, sizeof first) : o->input;
    if (!(o->assume ? session_init_assuming : session_init)(&a->s, o->model, input, o->threads, loading, &pace, err))
        return false;
    if (pace.began && clock_ns() - pace.began > 500000000 && isatty(STDERR_FILENO))
        tell_over("", LOADING_CELLS);
    if (o->memory)
        session_budget(&a->s, o->memory);
    a->s.progress = NULL;
    Commands own = session_command_set();
    a->ui = (Ui){.overlay = &a->overlay, .commands = &a->commands, .act = act, .app = a};
    commands_add(&a->commands, app_commands(&a->ui));
    commands_add_all(&a->commands, &own);
    commands_free(&own);
    a->link_hash = o->hash;
    a->hint = true;
    bool resumed = !o->fresh && !asked && resume(a);
    if (plain && !resumed)
        scale_places_begin(&a->s);
    /* before there is a screen `export` writes values, and what needs the screen says so */
    Commands opening = session_command_set();
    commands_add(&opening, app_commands(NULL));
    bool ready = (!o->link || session_read(&a->s, &opening, o->link, COMMAND_EDIT, err)) &&
                 (!o->commands || session_read(&a->s, &opening, o->commands, COMMAND_EDIT | COMMAND_FILE, err));
    commands_free(&opening);
    if (!ready) {
        session_free(&a->s);
        commands_free(&a->commands);
        return false;
    }
    if (asked)
        a->s.back_count = 0;
    if (o->lesson) {
        if (!desk_open(&a->desk, &a->s, o->lesson, err)) {
            session_free(&a->s);
            return false;
        }
        a->hint = false;
    } else if (!asked && !o->fresh && plain) { /* a lesson that was open when the program was left */
        char *name = state_load_file("open-lesson");
        if (name && *name)
            desk_open(&a->desk, &a->s, name, NULL);
        free(name);
        a->hint = a->hint && !a->desk.open;
    }
    return true;
}

int app_main(const AppOptions *o)
{
    App a = {.terminal = NULL};
    Err err = {{0}};
    TermOptions terminal = {.colour = o->colour,
                            .ground = o->light ? "light" : NULL,
                            .ascii = o->ascii,
                            .no_mouse = o->no_mouse};
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) { /* said before a large model is read */
        tell("standard input and output are not a terminal; `vitrine --plain`, `run`, `show` and `screen` work without "
             "one (see "
             "vitrine --help)");
        return 2;
    }
    if (!begin(&a, o, &err)) {
        tell(err.text);
        return 1;
    }
    if (!term_open(&terminal, &err)) {
        tell(err.text);
        session_free(&a.s);
        commands_free(&a.commands);
        return 2;
    }
    a.terminal = term_status();
    if (*a.terminal->note)
        say(&a, false, a.terminal->note);
    a.s.progress = progress;
    a.s.progress_context = &a;
    canvas_init(&a.canvas, 1, 1);
    fit(&a);
    show_said(&a);
    if (o->demo) {
        char line[80];
        snprintf(line, sizeof line, "demo %.60s", o->demo);
        do_command(&a, line);
    }
    loop(&a);
    term_close();
    state_save_file("open-lesson", a.desk.open ? a.desk.name : "");
    desk_close(&a.desk, &a.s);
    state_save(&a.s);
    canvas_free(&a.canvas);
    overlay_free(&a.overlay);
    prompt_free(&a.prompt);
    stage_close(&a.stage);
    session_free(&a.s);
    commands_free(&a.commands);
    term_reraise();
    return 0;
}
