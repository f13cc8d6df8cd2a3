/* Commands that need a screen. What they act on is their table's context. */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/export.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "tui/app.h"
#include "tui/cli/help.h"
#include "tui/desk.h"
#include "tui/words.h"

enum { PROMPT_LINE = 500 };

static bool act(const Args *a, UiAct what, const char *text, Err *err)
{
    Ui *ui = a->context;
    if (!ui || !ui->act)
        return err_set(err, "it needs a terminal; here one screen is drawn, and -o FILE says where to");
    ui->args = a;
    return ui->act(ui->app, what, text, err);
}

/* Commands that are nothing but an act of the screen, and what of their words it is about. */
typedef enum Takes { TAKES_NOTHING, TAKES_FIRST, TAKES_ALL, TAKES_ON_OFF } Takes;
static const struct {
    const char *name;
    UiAct what;
    Takes takes;
} ACTS[] = {{"prompt", UI_PROMPT, TAKES_ALL},     {"mouse", UI_MOUSE, TAKES_ON_OFF},
            {"term", UI_TERM, TAKES_NOTHING},     {"messages", UI_MESSAGES, TAKES_NOTHING},
            {"redraw", UI_REDRAW, TAKES_NOTHING}, {"hint", UI_HINT, TAKES_NOTHING},
            {"close", UI_CLOSE, TAKES_NOTHING},   {"demo", UI_DEMO, TAKES_FIRST},
            {"blank", UI_BLANK, TAKES_ON_OFF},    {"share", UI_SHARE, TAKES_FIRST},
            {"join", UI_JOIN, TAKES_FIRST},       {"ask", UI_ASK, TAKES_NOTHING},
            {"votes", UI_VOTES, TAKES_NOTHING},   {"reveal", UI_REVEAL, TAKES_NOTHING}};

static bool run_act(Session *s, const Args *a, Err *err)
{
    const char *word = a->count ? a->word[0] : "";
    size_t i = 0;
    (void)s;
    while (strcmp(ACTS[i].name, a->command->name) != 0)
        i++;
    if (ACTS[i].takes == TAKES_ON_OFF && a->count && !utf8_listed("on off", word))
        return err_set(err, "column %d: expected on or off, found '%.40s'", a->column[0], word);
    return act(a, ACTS[i].what, ACTS[i].takes == TAKES_ALL ? a->rest : ACTS[i].takes == TAKES_NOTHING ? "" : word, err);
}

/* Where lists open. */
static bool lists(const Args *a, Ui **ui, Err *err)
{
    *ui = a->context;
    return *ui || err_set(err, "it needs a screen");
}

static bool run_pane(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->look.steps_focused = !s->look.steps_focused;
    return true;
}

static bool run_zoom(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->look.zoomed = !s->look.zoomed;
    return true;
}

/* A page of docs/ as `vitrine help` prints it, from a heading on. */
static bool run_page(Overlay *o, const Args *a, Err *err)
{
    enum { WIDTH = 76 }; /* a box on 80 columns */
    Buf text = {0};
    char title[80];
    const char *name = a->count > 1 ? a->word[1] : "", *heading = a->count > 2 ? a->word[2] : NULL;
    if (!page_text(name, heading, WIDTH, &text)) {
        pages_list(&text);
        if (page_text(name, NULL, WIDTH, &text))
            err_set(err, "page %.40s has no heading '%.60s'; `help page %.40s` shows all of it", name, heading, name);
        else
            err_set(err, "there is no page '%.40s'; the pages are %s", name, buf_str(&text));
        buf_free(&text);
        return false;
    }
    utf8_print(title, sizeof title, "Page %s (in a shell: vitrine help %s)", name, name);
    overlay_text(o, title, buf_str(&text));
    buf_free(&text);
    return true;
}

static void complete_help(const Session *s, int index, Buf *out)
{
    char heading[PAGE_HEADING];
    const char *page, *before = "";
    (void)s;
    if (index == 0)
        buf_puts(out, "tasks\nkeys\ncommands\nfind\npage\n");
    for (int i = 0; index == 1 && (page = page_heading(i, heading)) != NULL; i++, before = page)
        if (strcmp(page, before) != 0)
            buf_printf(out, "%s\n", page);
}

static bool run_help(Session *s, const Args *a, Err *err)
{
    static const char *const PAGES[] = {"tasks", "keys", "commands", "find"}; /* the help list's pages, in order */
    const char *word = a->count ? a->word[0] : PAGES[0];
    Ui *ui;
    if (!lists(a, &ui, err))
        return false;
    if (strcmp(word, "page") == 0)
        return run_page(ui->overlay, a, err);
    if (strcmp(word, "next") == 0) {
        bool open = ui->overlay->kind == OVERLAY_LIST;
        overlay_help(ui->overlay, s, &ui->task, ui->commands, open ? (ui->overlay->page + 1) % HELP_PAGES : 0);
        return true;
    }
    for (int i = 0; i < (int)(sizeof PAGES / sizeof *PAGES); i++)
        if (strcmp(word, PAGES[i]) == 0) {
            overlay_help(ui->overlay, s, &ui->task, ui->commands, i);
            return true;
        }
    const Command *about = command_find(ui->commands, word);
    if (about) {
        session_say(s, "%s: %s", about->usage, about->summary);
        return true;
    }
    return err_set(err, "column %d: expected tasks, keys, commands, find, page or a command, found '%s'", a->column[0],
                   a->word[0]);
}

/* Without a word the list of words, to be searched; `here`: those on the screen first. */
static bool run_glossary(Session *s, const Args *a, Err *err)
{
    Ui *ui = a->context;
    bool here = a->count == 1 && strcmp(a->word[0], "here") == 0;
    Buf text = {0};
    if (here)
        return act(a, UI_WORDS, "", err);
    if (!a->count && ui) {
        words_menu(ui->overlay, s, ui->commands, NULL);
        return true;
    }
    bool ok = ask_glossary(s, a->count == 1 ? a->word[0] : a->rest, &text, a->count == 1 ? NULL : err) ||
              (a->count == 1 && ui && words_entry(s, ui->commands, a->word[0], &text)) ||
              (a->count == 1 && ask_glossary(s, a->word[0], &text, err));
    while (text.len && text.data[text.len - 1] == '\n')
        text.data[--text.len] = 0;
    if (ok)
        session_say(s, "%s", buf_str(&text));
    buf_free(&text);
    return ok;
}

static bool run_task(Session *s, const Args *a, Err *err)
{
    Ui *ui;
    if (!lists(a, &ui, err))
        return false;
    if (a->count != 1)
        return err_set(err, "which task? `help` lists them; task end: back to what you had");
    return strcmp(a->word[0], "end") == 0 ? task_end(&ui->task, s, err)
                                          : task_begin(&ui->task, s, ui->commands, a->word[0], err);
}

static void complete_task(const Session *s, int index, Buf *out)
{
    Buf rest = {0};
    const char *name;
    for (int i = 0; index == 0 && (name = task_at(s, NULL, i, &rest, &rest)) != NULL; i++)
        buf_printf(out, "%s\n", name);
    if (index == 0)
        buf_puts(out, "end\n");
    buf_free(&rest);
}

static bool run_menu(Session *s, const Args *a, Err *err)
{
    static const struct {
        const char *name;
        void (*open)(Overlay *o, const Session *s);
        bool reads;
    } MENUS[] = {{"open", overlay_open_menu, false},
                 {"view", overlay_view_menu, true},
                 {"learned", overlay_learned_menu, true},
                 {"marks", overlay_marks_menu, false},
                 {"find", overlay_find_menu, false}};
    Ui *ui;
    for (size_t i = 0; a->count && i < sizeof MENUS / sizeof *MENUS; i++)
        if (strcmp(a->word[0], MENUS[i].name) == 0) {
            if (!lists(a, &ui, err))
                return false;
            if (MENUS[i].reads)
                measures_open_history(s); /* which of its screens there is something on */
            MENUS[i].open(ui->overlay, s);
            return true;
        }
    return err_set(err, "expected open, view, learned, marks or find");
}

static bool run_restart(Session *s, const Args *a, Err *err)
{
    static const char FIRST[] = "#17";
    EditState none = {0};
    (void)a;
    if (!session_open_input(s, FIRST, err) || (s->edits.count && !edits_apply(s, &none, true, err)))
        return false;
    s->look = look_start();
    place_on_box(s, 0);
    return true;
}

static bool run_lessons(Session *s, const Args *a, Err *err)
{
    Ui *ui;
    if (!lists(a, &ui, err))
        return false;
    desk_menu(ui->overlay, s);
    return true;
}

static bool run_lesson(Session *s, const Args *a, Err *err)
{
    return a->count ? act(a, UI_LESSON, a->word[0], err) : run_lessons(s, a, err);
}

static bool run_answer(Session *s, const Args *a, Err *err)
{
    (void)s;
    return a->count ? act(a, UI_ANSWER, a->rest, err) : err_set(err, "expected the number of an answer, or a number");
}

static bool run_present(Session *s, const Args *a, Err *err)
{
    char word[256] = "";
    (void)s;
    if (a->count)
        utf8_print(word, sizeof word, "%.200s%s%.40s", a->word[0], a->count > 1 ? " " : "",
                   a->count > 1 ? a->word[1] : "");
    return act(a, UI_PRESENT, word, err);
}

static bool run_record(Session *s, const Args *a, Err *err)
{
    if (a->count != 1)
        return err_set(err, "record where? record talk.md, record off");
    const char *file = permit_write(s, a->word[0], err);
    return file && act(a, UI_RECORD, file, err);
}

static bool run_quit(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->quit = true;
    return true;
}

/* The file is there already: the line again, with the word that writes over it, for Enter or Esc. Without a prompt it
 * stays refused. */
static bool asks_first(Session *s, const Args *a)
{
    char line[PROMPT_LINE];
    const Ui *ui = a->context;
    if (!ui || !ui->act || snprintf(line, sizeof line, "export %s over=yes", a->rest) >= (int)sizeof line ||
        !ui->act(ui->app, UI_OFFER, line, NULL))
        return false;
    session_say(s, "%s is there already. Enter writes over it, Esc leaves it.", a->word[0]);
    return true;
}

static bool run_export(Session *s, const Args *a, Err *err)
{
    if (!a->count)
        return err_set(err, "expected a file: .npy .npz .csv .json .safetensors save the tensor, .svg .png .html .txt "
                            ".ans this screen");
    const char *file = permit_write(s, a->word[0], err);
    if (!file)
        return false;
    if (!export_free(file, args_named(a, "over"), err))
        return !args_named(a, "over") && asks_first(s, a);
    if (file_is(a->word[0], "svg png html txt ans"))
        return act(a, UI_EXPORT, file, err);
    TensorFormat format;
    if (!tensor_format(a->word[0], &format, NULL))
        return err_set(err,
                       "expected a name that ends in .npy .npz .csv .json .safetensors .svg .png .html .txt or .ans, "
                       "found '%.40s'",
                       a->word[0]);
    CommandTable files = session_commands_files();
    for (int i = 0; i < files.count; i++)
        if (strcmp(files.commands[i].name, "export") == 0)
            return files.commands[i].run(s, a, err);
    return err_set(err, "expected a name that ends in .npy .npz .csv .json .safetensors .svg .png .html .txt or .ans");
}

static const Command COMMANDS[] = {
    COMMAND("export", "files", "export FILE [ADDRESS] [axes=h,t,e] [over=yes]",
            "save a tensor (.npy .npz .csv .json .safetensors) or this screen (.svg .png .html .txt .ans)",
            COMMAND_UI | COMMAND_WRITE | COMMAND_SHADOWS, run_export, NULL),
    COMMAND("pane", "look", "pane next, prev", "move the cursor to the map of steps, and back", COMMAND_UI, run_pane,
            NULL),
    COMMAND("zoom", "look", "zoom", "show this pane alone, and go back", COMMAND_UI, run_zoom, NULL),
    COMMAND("help", "program", "help [tasks, keys, commands, find, page NAME, COMMAND]", "show what can be done here",
            COMMAND_UI, run_help, complete_help),
    COMMAND("glossary", "ask", "glossary [WORD, here]", "list the words and what they mean; here: those on this screen",
            COMMAND_UI | COMMAND_SHADOWS, run_glossary, ask_glossary_complete),
    COMMAND("task", "program", "task [NAME, end]",
            "do a task of the help, from a clean start; end: what you had comes back",
            COMMAND_EDIT | COMMAND_UI | COMMAND_READ | COMMAND_PROCESS, run_task, complete_task),
    COMMAND("prompt", "program", "prompt TEXT", "open the command line with that text", COMMAND_UI | COMMAND_PROCESS,
            run_act, NULL),
    COMMAND("menu", "program", "menu open, view, learned, marks, find", "open a list to choose from", COMMAND_UI,
            run_menu, NULL),
    COMMAND("lesson", "learn", "lesson [NUMBER, NAME, FILE, close, help, numbers]",
            "open a lesson where you left it; without a name: list them", COMMAND_EDIT | COMMAND_UI | COMMAND_READ,
            run_lesson, NULL),
    COMMAND("lessons", "learn", "lessons", "list all lessons, with minutes and how far you are", COMMAND_UI,
            run_lessons, NULL),
    COMMAND("answer", "learn", "answer TEXT", "answer the question of the card", COMMAND_UI, run_answer, NULL),
    COMMAND("hint", "learn", "hint", "show the first step towards the answer", COMMAND_UI, run_act, NULL),
    COMMAND("mouse", "program", "mouse [on, off]", "give the mouse to the program (on) or to the terminal (off)",
            COMMAND_UI, run_act, NULL),
    COMMAND("term", "program", "term", "say what this terminal can show, and how to get more", COMMAND_UI, run_act,
            NULL),
    COMMAND("messages", "program", "messages", "list all messages of this run, with the time, oldest first", COMMAND_UI,
            run_act, NULL),
    COMMAND("redraw", "program", "redraw", "draw the screen again", COMMAND_UI, run_act, NULL),
    COMMAND("restart", "program", "restart", "start over with the first input", COMMAND_EDIT | COMMAND_UI, run_restart,
            NULL),
    COMMAND("demo", "program", "demo [N, next, notes, close]",
            "give a ready-made demonstration of five minutes: Space goes on; notes: what the speaker says", COMMAND_UI,
            run_act, NULL),
    COMMAND("present", "class", "present [FILE, NAME, next, prev, go N, play, light, dark, keys, off, leave]",
            "for a hall: one pane and a caption; a lesson, a script, a demonstration, or what is open; play: a script "
            "with its pauses, by itself",
            COMMAND_EDIT | COMMAND_UI | COMMAND_READ, run_present, NULL),
    COMMAND("share", "class", "share [NAME, off] [group=GROUP]",
            "let other users of this machine follow: `vitrine join NAME`; NAME is yours if none is given",
            COMMAND_UI | COMMAND_PROCESS, run_act, NULL),
    COMMAND("join", "class", "join [NAME, off]",
            "follow who presents; without a name: look on your own, and follow again",
            COMMAND_EDIT | COMMAND_UI | COMMAND_READ | COMMAND_PROCESS, run_act, NULL),
    COMMAND("record", "files", "record FILE.md, off",
            "write what you do from now on as a lesson, a card for every step", COMMAND_UI | COMMAND_WRITE, run_record,
            NULL),
    COMMAND("ask", "class", "ask [TEXT ANSWER …] [seed=N] [right=VALUE] [most=VALUE] [least=VALUE]",
            "a question to everybody who follows: \"Which head looks least far?\" 0 1 2 3; most= and least=: the "
            "answer of largest or smallest value is right, $ is each answer; right= is the digit of one; without words "
            "the card's; seed=N makes one from this run",
            COMMAND_UI, run_act, NULL),
    COMMAND("votes", "class", "votes N N …", "hands that were counted, for each answer of the open question",
            COMMAND_UI, run_act, NULL),
    COMMAND("reveal", "class", "reveal", "close the open question and show how the answers are spread", COMMAND_UI,
            run_act, NULL),
    COMMAND("blank", "class", "blank [on, off]", "presenting: nothing on the screen, and back", COMMAND_UI, run_act,
            NULL),
    COMMAND("close", "program", "close", "close what is open; with nothing open: leave",
            COMMAND_EDIT | COMMAND_UI | COMMAND_READ | COMMAND_PROCESS, run_act, NULL),
    COMMAND("quit", "program", "quit", "leave", COMMAND_UI | COMMAND_PROCESS, run_quit, NULL),
};

CommandTable app_commands(Ui *ui)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), ui};
}
