/* A command on the screen: its progress, what it says, and what it asks of the terminal. */
#include <string.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/io/image.h"
#include "core/session/place.h"
#include "core/session/state.h"
#include "tui/app_parts.h"
#include "tui/canvas/export.h"
#include "tui/cli/verbs.h"
#include "tui/words.h"

/* Steps taken and commands done before the hint goes; a text's rows need its line from the first step on. */
enum { HINT_STEPS = 3, HINT_STEPS_TEXT = 1, HINT_KEYS = 12 };

/* Whether it is time for a new line of progress, a tenth of a second after the last; Ctrl-C and an end are taken. */
static bool reports(App *a, const char *what, double share, char *line, size_t n)
{
    TermEvent e;
    int64_t now = clock_ns();
    if (now - a->last_report < 100000000)
        return false;
    a->last_report = now;
    while (term_event(0, &e)) {
        if (e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE || (e.kind == TERM_KEY && strcmp(e.key, "^C") == 0))
            a->cancelled = true;
        if (e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE)
            a->s.quit = true;
    }
    double seconds = (double)(now - a->work_since) / 1e9;
    if (seconds < 0.5 || a->cancelled)
        return false;
    double left = share > 0.01 ? seconds / share - seconds : 0;
    utf8_print(line, n, "%.80s  %d %%%s%.0f s  Ctrl-C cancels", what, (int)(share * 100), left > 0 ? ", about " : ", ",
               left > 0 ? left : seconds);
    return true;
}

bool app_progress(void *context, const char *what, double share)
{
    App *a = context;
    char line[256];
    if (reports(a, what, share, line, sizeof line)) {
        app_pass(a, line);
        app_draw(a);
    }
    return !a->cancelled;
}

bool app_stops(void *context)
{
    App *a = context;
    char line[256];
    if (reports(a, a->doing, 0, line, sizeof line))
        app_draw_line(a, line);
    return a->cancelled;
}

static void describe_terminal(App *a)
{
    const TermStatus *t = a->terminal;
    Buf b = {0};
    static const char *const MODES[] = {
        [MODE_MONO] = "no colour", [MODE_8] = "8 colours", [MODE_256] = "256 colours", [MODE_TRUE] = "all colours"};
    static const char *const DRAWN[] = {[MODE_MONO] = "letters",
                                        [MODE_8] = "shades and half blocks",
                                        [MODE_256] = "half blocks",
                                        [MODE_TRUE] = "half blocks"};
    buf_printf(&b,
               "TERM names it %s.\nColours: %s (%s). Others: `vitrine --colour true`, 256, 8 or mono. Over ssh it is "
               "256 as a rule, since COLORTERM does not come along.\nGround: %s (%s",
               t->term, MODES[t->mode], t->why ? t->why : "", t->light ? "light" : "dark", t->ground_why);
    if (t->ground != COLOUR_DEFAULT)
        buf_printf(&b, "; it says #%06x", (unsigned)t->ground);
    buf_printf(&b,
               "). The other: `vitrine %s`.\nCharacters: %s; lines of plots: %s (%s). Others: `vitrine --plots "
               "braille`, sextants, blocks or ascii.\nScreen: %s.\nMouse: %s. %% turns it off and on; with it off the "
               "terminal selects text.\n",
               t->light ? "--dark" : "--light", t->ascii ? "ASCII" : "UTF-8", t->ascii ? "ascii" : t->plots,
               t->ascii ? "as all characters" : t->plots_why,
               t->frames ? "each change is sent in one piece" : "changes appear as they are sent",
               !t->has_mouse ? "none reported"
               : t->mouse    ? "on"
                             : "off");
    int high, wide;
    term_pixels(&high, &wide);
    if (t->graphics)
        buf_printf(&b, "Pictures: in true pixels, %d×%d a cell (%s", high, wide, t->graphics_why);
    else
        buf_printf(&b, "Pictures: %s (%s", t->ascii ? "letters" : DRAWN[t->mode], t->graphics_why);
    buf_printf(&b, "%s%s). `vitrine --graphics always` or never decides otherwise.\n",
               *t->who ? "; it names itself " : "", t->who);
    if (*t->note)
        buf_printf(&b, "%s\n", t->note);
    buf_printf(&b, "Pictures are decoded in a process of their own, protected by: %s.\n", image_sandbox());
    overlay_text(&a->overlay, "Terminal", buf_str(&b));
    buf_free(&b);
}

/* The newest last, and in sight. */
static void list_messages(App *a)
{
    enum { END = 1000000 };
    Buf b = {0};
    messages_put(&a->messages, &b);
    overlay_text(&a->overlay, "Messages of this run, the newest last", b.len ? buf_str(&b) : "Nothing was said yet.\n");
    a->overlay.scroll = END;
    buf_free(&b);
}

/* The frame, and below it the link that comes back to it. */
static void put_caption(const App *a, Canvas *out)
{
    Buf link = {0};
    const Canvas *c = &a->canvas;
    link_put(&a->s, &link);
    int rows = canvas_wrap_rows(c, c->w - 2, buf_str(&link));
    canvas_init(out, c->h + rows, c->w);
    canvas_clear(out);
    out->ascii = c->ascii;
    memcpy(out->cells, c->cells, sizeof *out->cells * (size_t)c->h * (size_t)c->w);
    canvas_wrap(out, (Rect){c->h, 1, rows, c->w - 2}, STYLE_DIM, buf_str(&link));
    buf_free(&link);
}

static bool export_screen(App *a, const char *path, Err *err)
{
    Buf b = {0};
    Canvas c;
    const char *suffix = file_suffix(path);
    const TermStatus *t = a->terminal;
    bool ok = true;
    if (strcmp(path, "-") == 0)
        return err_set(err, "the screen itself is standard output here; give a file name");
    app_say(a, false, "");
    app_draw(a); /* the frame as it is without the command line */
    put_caption(a, &c);
    canvas_lend(&c, &a->canvas);
    if (strcasecmp(suffix, "svg") == 0)
        export_svg(&c, t->mode, t->light, "Vitrine", &b);
    else if (strcasecmp(suffix, "png") == 0)
        ok = shot_png(&c, t->mode, t->light, &b, err);
    else if (strcasecmp(suffix, "html") == 0)
        export_html(&c, t->mode, t->light, "Vitrine", &b);
    else if (strcasecmp(suffix, "ans") == 0)
        export_ansi(&c, t->mode, t->light, &b);
    else
        export_text(&c, &b);
    canvas_lend(&c, &(Canvas){.h = 0});
    canvas_free(&c);
    ok = ok && file_write(path, b.data, b.len, err);
    if (ok)
        session_say(&a->s, "Saved this screen to %.400s, with a link to it below.", path);
    buf_free(&b);
    return ok;
}

static bool close_something(App *a, Err *err)
{
    Session *s = &a->s;
    if (a->leaving)
        s->quit = true;
    else if (s->look.zoomed)
        s->look.zoomed = false;
    else if (s->look.steps_focused)
        s->look.steps_focused = false;
    else if (task_on(&a->ui.task))
        return task_end(&a->ui.task, s, err);
    else if (place_leave(s))
        return true;
    else if (s->compare != COMPARE_OFF && session_compares(s)) {
        s->compare = COMPARE_OFF;
        session_say(s, s->edits.count ? "The change stays in force. b shows A and B again, u undoes it."
                                      : "b shows A and B again.");
    } else {
        a->leaving = 2;
        session_say(s, "Nothing is open. q again leaves.");
    }
    return true;
}

static bool open_lesson(App *a, const char *which, Err *err)
{
    if (strcmp(which, "close") == 0) {
        desk_close(&a->desk, &a->s);
        state_save_file("open-lesson", "");
        if (a->for_lesson) { /* what the program was started for is done */
            a->for_lesson = false;
            a->leaving = 2;
            session_say(&a->s, "The lesson is closed. q again leaves, t lists the lessons.");
        } else
            session_say(&a->s, "Back where you were. t lists the lessons.");
        return true;
    }
    if (strcmp(which, "help") == 0 && a->desk.open) {
        desk_help(&a->desk, &a->overlay);
        return true;
    }
    if (strcmp(which, "numbers") == 0 && a->desk.open) {
        desk_numbers(&a->desk, &a->overlay);
        if (!a->overlay.count) {
            overlay_close(&a->overlay);
            session_say(&a->s, "This card has no numbers.");
        }
        return true;
    }
    if (strcmp(which, "notes") == 0 && a->desk.open) {
        desk_notes(&a->desk, &a->overlay);
        return true;
    }
    if (a->presenter.deck.open && a->presenter.deck.lesson)
        return err_set(err, "P goes back to the lesson that is presented; q there ends it, then another can be opened");
    a->hint = false;
    follow_leave(&a->follow);
    bool ok = desk_open(&a->desk, &a->s, which, err);
    buf_clear(&a->s.said);
    return ok;
}

/* A card's answer or hint; what is said to it stands on the card. */
static bool ask_desk(App *a, bool hint, const char *typed, Err *err)
{
    if ((hint ? desk_hint(&a->desk, err) : desk_answer(&a->desk, typed, err)) || !a->desk.open)
        return a->desk.open;
    buf_clear(&a->desk.said); /* why it is none stands there too, and not a second time as a message */
    buf_puts(&a->desk.said, err->text);
    return a->desk.wrong = true;
}

/* After a command: its screen becomes a card of the lesson that is being recorded. */
static void app_record(App *a)
{
    Err err = {{0}};
    if (a->record.path && a->record.due && !record_step(&a->record, &a->s, &err))
        app_say(a, true, err.text);
}

static bool record(App *a, const char *path, Err *err)
{
    if (strcmp(path, "off") == 0) {
        if (!a->record.path)
            return err_set(err, "nothing is being recorded");
        session_say(&a->s, "%d steps in %.300s; `vitrine check` evaluates it, `vitrine present` shows it.",
                    a->record.count, a->record.path);
        record_close(&a->record);
        return true;
    }
    if (!record_open(&a->record, &a->s, path, err)) {
        record_close(&a->record);
        return false;
    }
    session_say(&a->s, "Every step is written to %.300s; record off ends it.", path);
    return true;
}

bool app_act(App *a, UiAct what, const char *text, Err *err)
{
    bool on;
    switch (what) {
    case UI_OFFER:
    case UI_PROMPT: prompt_open(&a->prompt, text); break;
    case UI_MOUSE:
        on = term_mouse(*text ? strcmp(text, "on") == 0 : !a->terminal->mouse);
        session_say(&a->s, on ? "Vitrine has the mouse: click, wheel. %% gives it back to the terminal."
                              : "The mouse is the terminal's: select text with it. %% takes it again.");
        break;
    case UI_TERM: describe_terminal(a); break;
    case UI_REDRAW: term_redraw(); break;
    case UI_CLOSE: return close_something(a, err);
    case UI_LESSON: return open_lesson(a, text, err);
    case UI_ANSWER: return ask_desk(a, false, text, err);
    case UI_HINT: return ask_desk(a, true, text, err);
    case UI_EXPORT: return export_screen(a, text, err);
    case UI_SHARE: return app_share(a, text, err);
    case UI_JOIN: return app_join(a, text, err);
    case UI_ASK: return app_ask(a, a->ui.args, err);
    case UI_VOTES: return app_votes(a, err);
    case UI_REVEAL: return app_reveal(a) || err_set(err, "no question is open");
    case UI_RECORD: return record(a, text, err);
    case UI_PRESENT: return app_present(a, text, err);
    case UI_BLANK: presenter_blank(&a->presenter, text); break;
    case UI_MESSAGES: list_messages(a); break;
    case UI_WORDS: words_menu(&a->overlay, &a->s, &a->commands, &a->canvas); break;
    case UI_DEMO: return stage_do(&a->stage, &a->overlay, text, &a->s.said, err);
    }
    return true;
}

/* What `copy` and `link` say goes to the terminal's clipboard: of a line that the reader wrote, not of a lesson's. */
static void hand_over(App *a, const char *line)
{
    size_t word = strcspn(line, " ");
    bool copies = (word == 4 && (!strncmp(line, "copy", 4) || !strncmp(line, "link", 4))) && !strchr(line, ';');
    if (copies && a->s.said.len)
        buf_puts(&a->s.said, term_copy(buf_str(&a->s.said))
                                 ? "   (sent to the clipboard; the terminal does not say whether it took it)"
                                 : "   (not copied: this terminal has no clipboard for programs)");
}

void app_do(App *a, const char *line)
{
    Err err = {{0}};
    int total, step = session_step_number(&a->s, &total);
    a->work_since = a->last_report = clock_ns();
    a->cancelled = false;
    app_say(a, false, "");
    a->doing = line;
    stop_listen(app_stops, a);
    bool ok = command_do(&a->s, &a->commands, line, LINE_OWN | COMMAND_UI, &err);
    if (ok)
        hand_over(a, line);
    const bool staged = a->stage.due;
    if (ok && staged)
        ok = stage_run(&a->stage, &a->s, &a->commands, &err);
    if (ok)
        presenter_lock(&a->presenter, &a->s, &a->commands);
    stop_listen(NULL, NULL);
    app_say(a, false, ""); /* the progress line, if there was one */
    if (ok)
        app_show_said(a);
    else
        app_say(a, true, err.text);
    a->overlay.goes_on = a->overlay.goes_on || (staged && a->overlay.kind == OVERLAY_TEXT);
    app_record(a);
    desk_done(&a->desk);
    a->steps_taken += session_step_number(&a->s, &total) != step;
    const int steps = session_words(&a->s, SIDE_B) ? HINT_STEPS_TEXT : HINT_STEPS;
    a->hint = a->hint && a->steps_taken < steps && ++a->commands_done < HINT_KEYS;
}
