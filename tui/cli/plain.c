/* `vitrine plain`, `vitrine --plain`: all of the program line by line, for screen readers, braille lines, terminals
 * that can't move their cursor, and pipes. A line is a command or a key's name; after it come the place, if it moved,
 * and what `say` says there. Lists are numbered lines; a number takes one. Nothing is drawn, nothing is in a colour. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/session/address.h"
#include "core/session/ask/ask.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/state.h"
#include "tui/cli/plain_parts.h"
#include "tui/keymap.h"
#include "tui/words.h"

enum { LIST_MOST = 400 };

/* --- lists --- */

static void list_clear(Plain *p)
{
    for (int i = 0; i < p->list_count; i++)
        free(p->list[i]);
    p->list_count = 0;
}

/* What a command opened: a page is printed, a list is printed with numbers and kept. */
static void put_overlay(Plain *p)
{
    Overlay *o = &p->work->overlay;
    if (o->kind == OVERLAY_TEXT)
        plain_put_line(p, buf_str(&o->text));
    if (o->kind == OVERLAY_LIST) {
        Buf b = {0};
        list_clear(p);
        buf_printf(&b, "%s\n", o->title);
        for (int i = 0; i < o->count && p->list_count < LIST_MOST; i++) {
            const Item *item = &o->items[i];
            if (!item->command) {
                buf_printf(&b, "%s:\n", item->text);
                continue;
            }
            p->list = grow(p->list, &p->list_cap, (size_t)p->list_count, sizeof *p->list);
            p->list[p->list_count++] = xstrdup(item->command);
            buf_printf(&b, "%d. %s%s%s%s%s\n", p->list_count, item->text, *item->key ? ", key " : "", item->key,
                       *item->about ? "  | " : "", item->about);
        }
        buf_puts(&b, "A number takes a line of this list.\n");
        plain_put(p, buf_str(&b));
        buf_free(&b);
    }
    overlay_close(o);
}

/* --- what the screen's own commands do without a screen --- */

static bool close_something(Work *w, Err *err)
{
    Session *s = &w->session;
    if (task_on(&w->ui.task))
        return task_end(&w->ui.task, s, err);
    s->quit = !place_leave(s);
    return true;
}

/* ---- following somebody ---- */

/* Whatever the reader does on their own leaves. */
static void on_entry(void *context, const char *lines)
{
    Follow *f = &((Plain *)context)->follow;
    f->following &= !*lines; /* the presenter's are not logged here */
}

static bool join(Plain *p, const char *name, Err *err)
{
    Session *s = &p->work->session;
    if (!follow_join(&p->follow, s, &p->desk, name, p->work->options->model, err))
        return false;
    if (*name && !s->said.len)
        session_say(s, "Joining %s.", name);
    log_follow(s, on_entry, p);
    return true;
}

static void answer_class(Plain *p, int choice)
{
    Err err = {{0}};
    Buf b = {0};
    Follow *f = &p->follow;
    bool ok = work_complete(p->work, &err) && follow_vote(f, &p->work->session, choice, &err);
    if (ok)
        follow_receipt(f, &b);
    else
        buf_printf(&b, "Refused. %s", err.text);
    buf_putc(&b, '\n');
    p->failed |= !ok;
    plain_put(p, buf_str(&b));
    buf_free(&b);
}

static bool act(struct App *p, UiAct what, const char *text, Err *err)
{
    Session *s = &p->work->session;
    Buf b = {0};
    bool ok = true;
    switch (what) {
    case UI_PROMPT: session_say(s, "Type the rest of it: %s…", text); break;
    case UI_WORDS: words_menu(&p->work->overlay, s, &p->work->commands, NULL); break;
    case UI_OFFER: return false; /* nobody waits with a finger on Enter */
    case UI_MOUSE: session_say(s, "There is no mouse line by line."); break;
    case UI_TERM:
        session_say(s, "Line by line: no terminal is needed. `vitrine` without --plain draws the screen.");
        break;
    case UI_REDRAW:
        ok = ask_say_screen(s, &b, err);
        if (ok)
            session_say(s, "%s", buf_str(&b));
        break;
    case UI_CLOSE: return close_something(p->work, err);
    case UI_MESSAGES: session_say(s, "Line by line all that was said stands above."); break;
    case UI_DEMO: return stage_do(&p->stage, &p->work->overlay, text, &s->said, err);
    case UI_JOIN: return join(p, text, err);
    case UI_SHARE:
    case UI_ASK:
    case UI_VOTES:
    case UI_RECORD:
    case UI_REVEAL:
    case UI_PRESENT:
    case UI_BLANK: return err_set(err, "presenting needs a screen; `demo N` is read line by line");
    case UI_LESSON: return plain_lesson(p, text, err);
    case UI_ANSWER: p->turned = true; return desk_answer(&p->desk, text, err);
    case UI_HINT: p->turned = true; return desk_hint(&p->desk, err);
    case UI_EXPORT:
        ok = screen_save(p->work, text, err);
        if (ok)
            session_say(s, "Saved the screen to %.400s, as it would be drawn.", text);
        break;
    }
    buf_free(&b);
    return ok;
}

/* --- a line --- */

/* Where one is, in one line: "Step 8 of 25, softmax. blocks.0.attn.pattern[h=2,t=r3c4,u=r4c3]." */
void plain_put_where(Plain *p)
{
    Session *s = &p->work->session;
    Buf b = {0};
    int total, step = session_step_number(s, &total);
    const ScreenSpec *screen = screen_now(s);
    if (screen->group != GROUP_LEARNED && s->place.box >= 0)
        buf_printf(&b, "Step %d of %d, %s. ", step, total, s->stages.boxes[s->place.box].label);
    buf_printf(&b, "Screen %s, ", screen->name);
    address_put_focus(s, &b);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(&b, "%s%s", i ? "; " : ". Changed: ", s->edits.line[i]);
    buf_puts(&b, ".");
    plain_put_line(p, buf_str(&b));
    buf_free(&b);
}

void plain_put_say(Plain *p)
{
    Session *s = &p->work->session;
    Err err = {{0}};
    Buf b = {0};
    bool both = session_compares(s) && s->compare != COMPARE_OFF;
    if (ask_say(s, both ? SIDE_DIFF : session_side(s), &b, &err))
        plain_put_line(p, buf_str(&b));
    else
        plain_put_line(p, *err.text ? err.text : "Stopped.");
    buf_free(&b);
}

static void run(Plain *p, const char *command)
{
    Work *w = p->work;
    Session *s = &w->session;
    Err err = {{0}};
    char *before = aside_lines(s); /* all that may be on show: another text means that something moved */
    buf_clear(&s->said);
    bool ok = command_do(s, &w->commands, command, LINE_OWN | COMMAND_UI, &err);
    if (ok && p->stage.due)
        ok = stage_run(&p->stage, s, &w->commands, &err);
    if (p->terminal && stop_interrupted())
        plain_put_line(p, "Stopped by Ctrl-C.");
    bool answered = p->turned;
    if (ok && p->desk.open)
        plain_put_verdict(p);
    if (!ok) {
        p->failed = true;
        buf_clear(&s->said);
        Buf b = {0};
        buf_printf(&b, "Refused. %s", err.text);
        plain_put_line(p, buf_str(&b));
        buf_free(&b);
    }
    if (w->overlay.kind != OVERLAY_NONE)
        put_overlay(p);
    char *after = aside_lines(s);
    bool moved = strcmp(before, after) != 0;
    bool opened = strncmp(command, "lesson ", 7) == 0 && p->desk.open && desk_shows_worked(&p->desk);
    moved = moved && !opened;
    if (moved)
        plain_put_where(p);
    if (ok && s->said.len)
        plain_put_line(p, buf_str(&s->said));
    if (moved && !s->quit)
        plain_put_say(p);
    else if (ok && !s->said.len && !p->list_count && !s->quit && !answered && !opened)
        plain_put_line(p, "Done; nothing moved.");
    session_trim(s);
    free(before);
    free(after);
}

static void put_help(Plain *p)
{
    plain_put(
        p, "Line by line. Type a command, a key's name, or one of these, then Enter.\n"
           "An empty line, or n: the next step of the forward pass. p: the step before. A number: that step.\n"
           "say: what is under the cursor. say screen: all of the screen, in lines.\n"
           "in: into what is under the cursor. back: to the place before. left, right, up, down: move the cursor.\n"
           "s: take one over the square root of d_k away, and put it back. x: switch off what is in focus. u: undo.\n"
           "lessons: a list of lessons; lesson 1 opens one, an empty line goes on, a number answers, hint helps.\n"
           "help: what can be done, as a list of tasks. help keys, help commands: those. A number takes a line of a "
           "list.\n"
           "view ?: a question mark behind a command lists what may come next.\n"
           "join NAME: follow who presents on this machine; a number answers what they ask. f, or any change\n"
           "of yours: on your own; f again: back. join off: leave.\n"
           "quit: leave.\n");
}

static void put_completions(Plain *p, const char *line)
{
    Buf b = {0};
    command_complete(&p->work->session, &p->work->commands, line, &b);
    plain_put_line(p, b.len ? buf_str(&b) : "Nothing that is known begins so.");
    buf_free(&b);
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 7;
}

/* A key's command where the line is the name of a key and not a command; else the line. */
static const char *key_command(const Plain *p, const char *line)
{
    static const struct {
        const char *word, *key;
    } WORDS[] = {{"up", "Up"}, {"down", "Down"}, {"left", "Left"}, {"right", "Right"}};
    const char *key = line;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        key = strcmp(line, WORDS[i].word) == 0 ? WORDS[i].key : key;
    const KeyBinding *k = command_find(&p->work->commands, line) ? NULL : keymap_find(&p->work->session, key);
    return k ? k->command : line;
}

static void do_line(Plain *p, char *line)
{
    char command[64];
    char *text = line + strspn(line, " :");
    size_t n = strlen(text);
    if (strcmp(text, "?") == 0 || strcmp(text, "h") == 0) {
        put_help(p);
        return;
    }
    if (n > 1 && text[n - 1] == '?' && text[n - 2] == ' ') {
        text[n - 1] = 0;
        put_completions(p, text);
        return;
    }
    if (follow_answers(&p->follow, &p->work->session, text)) {
        if (p->work->session.said.len)
            plain_put_line(p, buf_str(&p->work->session.said));
        buf_clear(&p->work->session.said);
        return;
    }
    if (plain_turn_card(p, text))
        return;
    if (is_number(text)) {
        int i = atoi(text);
        if (p->follow.question.open && !p->follow.question.closed && !p->list_count) {
            answer_class(p, i);
            return;
        }
        const Question *q = p->desk.open && !p->list_count ? player_card(&p->desk.player)->question : NULL;
        if (q && (q->kind == QUESTION_CHOICE || q->kind == QUESTION_NUMBER)) {
            snprintf(command, sizeof command, "answer %d", i);
            run(p, command);
            return;
        }
        if (p->list_count && (i < 1 || i > p->list_count)) {
            snprintf(command, sizeof command, "The list has lines 1 to %d.", p->list_count);
            p->failed = true;
            plain_put_line(p, command);
        } else if (p->list_count) {
            char *chosen = xstrdup(p->list[i - 1]);
            list_clear(p);
            run(p, chosen);
            free(chosen);
        } else {
            snprintf(command, sizeof command, "goto %d", i);
            run(p, command);
        }
        return;
    }
    if (*text == '#' && line == text && n > 1 && (text[1] < '0' || text[1] > '9'))
        return; /* a comment of a script */
    list_clear(p);
    run(p, *text ? key_command(p, text) : p->stage.open ? "demo next" : "next");
}

static void greet(Plain *p)
{
    Buf b = {0};
    buf_printf(&b, "Vitrine, line by line. A question mark and Enter: what can be typed. quit leaves.\n");
    const Session *s = &p->work->session;
    if (session_words(s, SIDE_B) && *session_input(s, SIDE_B)->note) /* pictures say theirs with the answer */
        buf_printf(&b, "Note: %s.\n", session_input(s, SIDE_B)->note);
    plain_put(p, buf_str(&b));
    buf_free(&b);
    plain_put_where(p);
    plain_put_say(p);
}

static bool locale_is_utf8(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *v = getenv(NAMES[i]);
        if (v && *v)
            return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "UTF8") || strstr(v, "utf-8");
    }
    return false;
}

static void run_join(Plain *p, const char *name)
{
    char command[CLASS_PATH + 8];
    snprintf(command, sizeof command, "join %s", name);
    plain_put_line(p, "Vitrine, line by line. A question mark and Enter: what can be typed. quit leaves.");
    run(p, command);
}

static int plain(Work *w, Err *err)
{
    const Options *o = w->options;
    Session *s = &w->session;
    Plain p = {.work = w, .terminal = isatty(STDIN_FILENO)};
    char line[LINE_MOST + 1];
    p.ascii = o->ascii || (p.terminal && !locale_is_utf8());
    w->progress.terminal = false; /* a line that is written over and over is read out over and over */
    w->ui.act = act;
    w->ui.app = &p;
    bool own = p.terminal && !o->fresh && !o->join && !o->commands.len && !*w->address && !w->link.input && !o->input &&
               !o->model;
    if (own && state_resume(s, &w->commands))
        plain_put_line(&p, "Where you left. restart starts over.");
    if (s->said.len)
        plain_put_line(&p, buf_str(&s->said));
    if (o->join)
        run_join(&p, o->join);
    else
        greet(&p);
    for (plain_prompt(&p); !s->quit && plain_next_line(&p, line); plain_prompt(&p)) {
        do_line(&p, line);
        if (p.lost || stop_asked())
            break;
    }
    if (p.terminal && !s->quit)
        plain_put(&p, "\n");
    if (p.terminal) {
        stop_take(); /* who is asked to end, saves first */
        state_save(s);
    }
    list_clear(&p);
    stage_close(&p.stage);
    desk_close(&p.desk, s);
    follow_close(&p.follow, s);
    log_follow(s, NULL, NULL);
    free(p.list);
    buf_free(&p.in);
    w->ui.act = NULL;
    if (p.lost && !p.left) {
        *err = p.why;
        return STATUS_BAD;
    }
    return p.failed && !p.terminal ? STATUS_BAD : STATUS_DONE;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    const char *input = l->input ? l->input : o->input;
    if (o->script)
        return err_set(err, "plain: no --script; `vitrine screen --script FILE -o STEPS.txt` writes its steps as text");
    if (o->output || (input && strcmp(input, "-") == 0))
        return err_set(err, o->output ? "plain: no -o; the command `export FILE` saves what is in focus"
                                      : "plain: standard input has the commands; name the picture's file");
    return true;
}

const Verb VERB_PLAIN = {
    .name = "plain",
    .usage = "plain [INPUT or LINK]",
    .summary = "the whole program line by line: for screen readers, braille and pipes",
    .details = "The same as --plain. A line is a command or the name of a key; Vitrine then says where you are and "
               "what is there. `say screen` tells all of a screen in lines; lists are numbered, and a number chooses. "
               "From a pipe, a refused line makes the exit status 1.",
    .example = "vitrine plain '#17'",
    .flags = VERB_UI,
    .check = check,
    .run = plain};
