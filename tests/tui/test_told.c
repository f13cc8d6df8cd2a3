/* Whoever can't see the screen is told: on every screen of both models in the program, at every step, alone and beside
 * another picture, sentence or run, `say` and `say screen` answer with something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/session/ask/ask.h"
#include "core/session/screens.h"
#include "tests/tui/opened.h"

enum { LEAST = 20 }; /* bytes of a sentence that says something */

static Session s;
static Commands commands;

static void run(const char *line)
{
    Err err = {{0}};
    if (!command_do(&s, &commands, line, LINE_FOREIGN, &err))
        fail_msg("%s: %s", line, err.text);
}

static void told(const char *what, Side side, bool screen)
{
    Buf b = {0};
    Err err = {{0}};
    bool ok = screen ? ask_say_screen(&s, &b, &err) : ask_say(&s, side, &b, &err);
    if (!ok || b.len < LEAST)
        fail_msg("%s, %s on %s, %s: %s: '%s' %s", what, screen ? "say screen" : "say", screen_now(&s)->name,
                 s.place.path, ok ? "says next to nothing" : "fails", buf_str(&b), err.text);
    if (screen && !strstr(buf_str(&b), "\n"))
        fail_msg("%s: say screen on %s has one line: %s", what, screen_now(&s)->name, buf_str(&b));
    buf_free(&b);
}

/* At the place where s stands: each side that there is. */
static void all_told(const char *what)
{
    told(what, session_side(&s), false);
    if (session_compares(&s)) {
        told(what, SIDE_A, false);
        told(what, SIDE_B, false);
        told(what, SIDE_DIFF, false);
    }
    told(what, SIDE_NONE, true);
}

/* Every step of the pass, and every screen that is reached from the middle of it. */
static void walk(const char *what, bool words)
{
    Err err;
    int total;
    session_step_number(&s, &total);
    run("goto first");
    for (int step = 1; step <= total; step++) {
        told(what, session_compares(&s) ? SIDE_DIFF : session_side(&s), false);
        if (step < total)
            run("next");
    }
    run("goto first");
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const ScreenSpec *screen = screen_spec((Screen)i);
        if (screen->group == GROUP_LEARNED && session_compares(&s))
            continue; /* of the model, whatever is compared */
        if (!command_do(&s, &commands, screen->command, LINE_FOREIGN, &err)) {
            if (!words && !screen->words)
                fail_msg("%s: %s: %s", what, screen->command, err.text);
            continue;
        }
        all_told(what);
        run("goto first");
    }
}

static void pictures(void **state)
{
    (void)state;
    opened_session(&s, NULL, "#17");
    walk("#17", false);
    run("hide r3c4; ledger; blanks");
    told("hidden", session_side(&s), false);
    run("reset edits; set scale off");
    walk("without the scale", false);
    run("reset edits; ablate blocks.1.attn.z[h=2]");
    walk("without a head", false);
    run("reset edits; pin; open #66");
    walk("#17 and #66", false);
    session_free(&s);
}

static void sentences(void **state)
{
    (void)state;
    opened_session(&s, "translator", NULL);
    walk("a sentence", true);
    run("word tired wide");
    walk("one word changed", true);
    session_free(&s);
}

static int start(void **state)
{
    (void)state;
    commands = session_command_set();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    commands_free(&commands);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures), cmocka_unit_test(sentences)};
    return cmocka_run_group_tests(tests, start, stop);
}
