/* What the screen says when it refuses: on 80 columns what can be done about it is in the first line. Every command is
 * given words that it can't mean, on a model of pictures and on one of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/utf8.h"
#include "core/session/edit/edits.h"
#include "tests/tui/opened.h"
#include "tui/canvas/canvas.h"

enum { COLUMNS = 79, LINES = 12 }; /* of the line that says it, behind its blank; half of 24 */

/* In a terminal's place: what a command asks of it is granted. */
static bool act(struct App *app, UiAct what, const char *text, Err *err)
{
    (void)app;
    (void)what;
    (void)text;
    (void)err;
    return true;
}

/* What takes long is not waited for. */
static bool no_time(void *context, const char *what, double share)
{
    (void)context;
    (void)what;
    (void)share;
    return false;
}

static Session s;
static Commands all;
static Overlay lists;
static Ui ui = {.overlay = &lists, .commands = &all, .act = act};

/* How a way out begins: what was expected, what there is, what to type. */
static const char *const WAYS_OUT[] = {"expected",   "did you mean",      "`",           "'?",     "go from",
                                       "goes from",  "such as",           "for example", "name ",  "say ",
                                       "give ",      "it is: ",           "Check ",      "go to ", "try ",
                                       "vitrine \"", "is a drawn picture"};

static bool leads_out(const char *text)
{
    for (size_t i = 0; i < sizeof WAYS_OUT / sizeof *WAYS_OUT; i++) {
        const char *at = strstr(text, WAYS_OUT[i]);
        char before[600];
        if (!at)
            continue;
        snprintf(before, sizeof before, "%.*s", (int)(at - text) + (int)strlen(WAYS_OUT[i]), text);
        if (utf8_cells(before) <= COLUMNS)
            return true;
    }
    return false;
}

static int late; /* refusals that say it too late */

/* How many refusals of one command were read. */
static int refuse(const char *name)
{
    static const char *const WORDS[] = {"",          "zzz",
                                        "zzz zzz",   "-1",
                                        "999999",    "zzz=1",
                                        "r99c99",    "zzz=1 zzz",
                                        "blocks.99", "blocks.0.attn.q[t=r99c99]",
                                        "probs[",    "a_word_of_thirty_characters_no"};
    int count = 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        char line[200];
        Err err = {{0}};
        Canvas c;
        snprintf(line, sizeof line, "%s %s", name, WORDS[i]);
        if (command_do(&s, &all, line, LINE_OWN | COMMAND_UI, &err))
            continue;
        count++;
        canvas_init(&c, 24, 80);
        int rows = canvas_wrap_rows(&c, COLUMNS, err.text);
        canvas_free(&c);
        if (!*err.text || rows > LINES)
            fail_msg("%s: %d lines: %s", line, rows, err.text);
        if (rows > 1 && !leads_out(err.text)) {
            printf("%s: what to do is not in the first %d columns: %s\n", line, COLUMNS, err.text);
            late++;
        }
    }
    return count;
}

static void every_command(const char *model, const char *input)
{
    int refused = 0, commands = 0;
    opened_commands(&all, &ui);
    opened_session(&s, model, input);
    s.progress = no_time;
    for (int i = 0; command_at(&all, i); i++) {
        int count = refuse(command_at(&all, i)->name);
        refused += count;
        commands += count > 0;
        s.quit = false;
        Err err = {{0}};
        assert_true(command_do(&s, &all, "reset edits", LINE_FOREIGN, &err));
    }
    printf("%d refusals of %d commands\n", refused, commands);
    assert_int_equal(late, 0);
    assert_true(refused > 200 && commands > 40);
    session_free(&s);
    commands_free(&all);
    overlay_free(&lists);
}

static void of_pictures(void **state)
{
    (void)state;
    every_command(NULL, "#17");
}

static void of_words(void **state)
{
    (void)state;
    every_command("translator", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_pictures), cmocka_unit_test(of_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
