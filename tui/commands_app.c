/* Commands that need a screen. They keep no state of their own: what the app must do is left in session.request. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/session/screens.h"
#include "tui/app.h"

static bool ask_app(Session *s, const char *what, const char *rest)
{
    snprintf(s->request, sizeof s->request, "%s %s", what, rest);
    return true;
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

static bool run_help(Session *s, const Args *a, Err *err)
{
    static const char *const PAGES[] = {"tasks", "keys", "commands", "find", "next"};
    if (!a->count)
        return ask_app(s, "help", "0");
    for (int i = 0; i < 5; i++) /* their numbers are the pages of the help list */
        if (strcmp(a->word[0], PAGES[i]) == 0)
            return ask_app(s, "help", i == 4 ? "next" : (const char *[]){"0", "1", "2", "3"}[i]);
    return err_set(err, "column %d: expected tasks, keys, commands or find, found '%s'", a->column[0], a->word[0]);
}

static bool run_prompt(Session *s, const Args *a, Err *err)
{
    (void)err;
    return ask_app(s, "prompt", a->rest);
}

static bool run_menu(Session *s, const Args *a, Err *err)
{
    static const char *const MENUS[] = {"open", "view", "learned", "find"};
    for (size_t i = 0; a->count && i < sizeof MENUS / sizeof *MENUS; i++)
        if (strcmp(a->word[0], MENUS[i]) == 0)
            return ask_app(s, "menu", MENUS[i]);
    return err_set(err, "expected open, view, learned or find");
}

static bool run_mouse(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "on") != 0 && strcmp(a->word[0], "off") != 0)
        return err_set(err, "column %d: expected on or off, found '%s'", a->column[0], a->word[0]);
    return ask_app(s, "mouse", a->count ? a->word[0] : "");
}

static bool run_term(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    return ask_app(s, "term", "");
}

static bool run_redraw(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    return ask_app(s, "redraw", "");
}

static bool run_restart(Session *s, const Args *a, Err *err)
{
    (void)a;
    if (!session_open_input(s, "#17", err))
        return false;
    s->look = screen_look_start();
    return ask_app(s, "restart", "");
}

static bool run_lesson(Session *s, const Args *a, Err *err)
{
    (void)err;
    return ask_app(s, "lesson", a->count ? a->word[0] : "");
}

static bool run_lessons(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    return ask_app(s, "lessons", "");
}

static bool run_answer(Session *s, const Args *a, Err *err)
{
    if (!a->count)
        return err_set(err, "expected the number of an answer, or a number");
    return ask_app(s, "answer", a->rest);
}

static bool run_hint(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    return ask_app(s, "hint", "");
}

static bool run_close(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    return ask_app(s, "close", "");
}

static bool run_quit(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    s->quit = true;
    return true;
}

static bool run_export(Session *s, const Args *a, Err *err)
{
    static const char *const SCREENS[] = {"svg", "html", "txt", "ans"};
    if (!a->count)
        return err_set(
            err,
            "expected a file: .npy .npz .csv .json .safetensors save the tensor, .svg .html .txt .ans this screen");
    for (size_t i = 0; i < sizeof SCREENS / sizeof *SCREENS; i++)
        if (strcasecmp(file_suffix(a->word[0]), SCREENS[i]) == 0)
            return ask_app(s, "export", a->word[0]);
    CommandTable files = session_commands_files();
    for (int i = 0; i < files.count; i++)
        if (strcmp(files.commands[i].name, "export") == 0)
            return files.commands[i].run(s, a, err);
    return err_set(err, "expected a name that ends in .npy .npz .csv .json .safetensors .svg .html .txt or .ans");
}

static const Command COMMANDS[] = {
    {"export", "files", "export FILE [ADDRESS] [axes=h,t,e]",
     "save a tensor (.npy .npz .csv .json .safetensors) or this screen (.svg .html .txt .ans)",
     COMMAND_FILE | COMMAND_UI, run_export, NULL},
    {"pane", "look", "pane next, prev", "the cursor to the map of steps, and back", COMMAND_UI, run_pane, NULL},
    {"zoom", "look", "zoom", "this pane alone, and back", COMMAND_UI, run_zoom, NULL},
    {"help", "program", "help [tasks, keys, commands, find]", "what can be done here", COMMAND_UI, run_help, NULL},
    {"prompt", "program", "prompt TEXT", "open the command line with that text", COMMAND_UI, run_prompt, NULL},
    {"menu", "program", "menu open, view, learned, find", "open a list to choose from", COMMAND_UI, run_menu, NULL},
    {"lesson", "learn", "lesson [NUMBER, NAME, close, help]",
     "open a lesson where you left it; without a name: the list", COMMAND_UI, run_lesson, NULL},
    {"lessons", "learn", "lessons", "all lessons, with minutes and how far you are", COMMAND_UI, run_lessons, NULL},
    {"answer", "learn", "answer TEXT", "answer the question of the card", COMMAND_UI, run_answer, NULL},
    {"hint", "learn", "hint", "the first step towards the answer", COMMAND_UI, run_hint, NULL},
    {"mouse", "program", "mouse [on, off]", "let the program or the terminal have the mouse", COMMAND_UI, run_mouse,
     NULL},
    {"term", "program", "term", "what this terminal can show, and how to get more", COMMAND_UI, run_term, NULL},
    {"redraw", "program", "redraw", "draw the screen again", COMMAND_UI, run_redraw, NULL},
    {"restart", "program", "restart", "start over with the first picture", COMMAND_UI, run_restart, NULL},
    {"close", "program", "close", "close what is open; at the end: leave", COMMAND_UI, run_close, NULL},
    {"quit", "program", "quit", "leave", COMMAND_UI, run_quit, NULL},
};

CommandTable app_commands(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS)};
}
