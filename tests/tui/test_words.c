/* The glossary: every entry is found by its name, and so is the word under the mouse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/session/ask/ask.h"
#include "tests/tui/opened.h"
#include "tui/words.h"

static Session s;
static Commands all;
static Overlay lists;
static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, NULL, "#17");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    overlay_free(&lists);
    return 0;
}

static void every_entry_is_found(void **state)
{
    (void)state;
    const char *word, *text;
    for (int i = 0; (word = ask_glossary_entry(i, &text)) != NULL; i++) {
        Buf about = {0};
        assert_true(words_entry(&s, &all, word, &about));
        assert_non_null(strstr(buf_str(&about), text));
        for (int k = 0; k < i; k++) {
            const char *other;
            if (strcmp(ask_glossary_entry(k, &other), word) == 0)
                fail_msg("%s is explained twice", word);
        }
        buf_free(&about);
    }
}

/* The words that issues named, and how people write them. */
static void words_that_are_asked_for(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"absmax", "rank",      "H",       "nats",    "MSA",    "raw",
                                        "twin",   "occlusion", "FLOP",    "loss",    "GELU",   "held out",
                                        "held",   "lens",      "heads",   "Queries", "d_k",    "√d_k",
                                        "star",   "softmax",   "pattern", "W_O",     "sd",     "magma",
                                        "export", "u",         "z′",      "ledger",  "ablate", "residual"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        Buf about = {0};
        if (!words_entry(&s, &all, WORDS[i], &about))
            fail_msg("no entry for %s", WORDS[i]);
        buf_free(&about);
    }
    assert_false(words_entry(&s, &all, "xyzzy", &(Buf){0}));
}

static void the_word_under_the_mouse(void **state)
{
    (void)state;
    Canvas c = {0};
    char word[64];
    canvas_init(&c, 3, 60);
    canvas_text(&c, 0, 0, 60, STYLE_TEXT, "│ attention distance, entropy: 2.17 nats");
    canvas_text(&c, 1, 0, 60, STYLE_TEXT, "blocks.1.attn.pattern[h=2,t=r3c4]  xyzzy");
    static const struct {
        int y, x;
        const char *word; /* NULL: nothing has an entry there */
    } CASES[] = {{0, 4, "attention distance"},
                 {0, 14, "attention distance"},
                 {0, 24, "entropy"},
                 {0, 0, NULL},
                 {0, 37, "nats"},
                 {1, 3, "blocks.1.attn.pattern"},
                 {1, 22, "h"},
                 {1, 36, NULL},
                 {2, 5, NULL},
                 {-1, 0, NULL},
                 {0, 99, NULL}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        bool any = words_at(&s, &all, &c, CASES[i].y, CASES[i].x, word, sizeof word);
        if (any != (CASES[i].word != NULL) || (any && strcmp(word, CASES[i].word) != 0))
            fail_msg("at %d,%d: '%s'", CASES[i].y, CASES[i].x, any ? word : "");
    }
    Overlay o = {0};
    words_menu(&o, &s, &all, &c);
    assert_string_equal(o.items[0].text, "on this screen");
    assert_string_equal(o.items[1].command, "glossary attention distance");
    bool entropy = false;
    for (int i = 0; i < o.count && strcmp(o.items[i].text, "all words") != 0; i++)
        entropy |= o.items[i].command && strcmp(o.items[i].command, "glossary entropy") == 0;
    assert_true(entropy);
    overlay_free(&o);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_is_found),
        cmocka_unit_test(words_that_are_asked_for),
        cmocka_unit_test(the_word_under_the_mouse),
    };
    return cmocka_run_group_tests_name("tui/words", tests, start, stop);
}
