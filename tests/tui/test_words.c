/* Every word that a screen says has an entry in the glossary, is a command, or stands in the list of everyday words. */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/session/ask/ask.h"
#include "core/session/text.h"
#include "tests/tui/opened.h"
#include "tui/words.h"

static Session s;
static Commands all;
static Overlay lists;
static Buf everyday; /* a word a line, small letters, a line end in front */

/* Where a word of a screen ends: letters, digits and what joins them. */
static size_t word_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || (n && p[n] && strchr("_-'", p[n])))
        n++;
    return n;
}

/* The sentences themselves are not explained: whatever the bundled translator reads or writes, in pieces where a letter
 * has an accent, as check_text has it. */
static void add_vocabulary(const Vocabulary *v)
{
    for (int i = 0; i < v->n; i++)
        for (const char *p = v->word[i]; *p;) {
            size_t n = word_length(p);
            if (n)
                buf_printf(&everyday, "%.*s\n", (int)n, p);
            p += n ? n : 1;
        }
}

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    TextModel translator = {0};
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    buf_puts(&everyday, "\n");
    assert_true(file_read("tests/data/everyday.txt", 1 << 20, &everyday, &err));
    assert_true(text_open(&translator, "translator", &err));
    add_vocabulary(&translator.source);
    add_vocabulary(&translator.target);
    text_model_free(&translator);
    opened_session(&s, NULL, "#17");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    buf_free(&everyday);
    overlay_free(&lists);
    return 0;
}

static bool is_everyday(const char *word)
{
    char line[80];
    size_t n = (size_t)snprintf(line, sizeof line, "\n%s\n", word);
    for (size_t i = 1; i < n; i++)
        line[i] = (char)tolower((unsigned char)line[i]);
    return strstr(buf_str(&everyday), line) != NULL;
}

/* Heat without colour is written with letters too, hashes are hexadecimal digits, and a cut word is no word. */
static bool is_no_word(const char *word, size_t n, const char *behind)
{
    bool cut = *behind == '~' || strncmp(behind, "…", 3) == 0;
    return n < 3 || n > 60 || cut || strspn(word, "oxnNM_-") >= n || (n == 4 && strspn(word, "0123456789abcdef") >= n);
}

/* "l'animal" is two words of the translator's: what stands behind the elided one. */
static const char *behind_elided(const char *word)
{
    char first[64];
    const char *apostrophe = strchr(word, '\'');
    if (!apostrophe)
        return word;
    snprintf(first, sizeof first, "%.*s", (int)(apostrophe + 1 - word), word);
    return is_everyday(first) ? apostrophe + 1 : word;
}

/* Words of a text that nobody explains, once each; returns how many words were looked at. */
static int check_text(const char *text, Buf *missing)
{
    int looked = 0;
    for (const char *p = text; *p;) {
        char word[64], line[72];
        size_t n = word_length(p);
        bool digits = strcspn(p, "0123456789") < n;
        if (!n) {
            p++;
            continue;
        }
        snprintf(word, sizeof word, "%.*s", (int)(n < 60 ? n : 60), p);
        char *owner = strstr(word, "'s");
        if (owner && !owner[2])
            *owner = 0; /* "a patch's" speaks of a patch */
        for (size_t k = strlen(word); k && strchr("_-'", word[k - 1]); k--)
            word[k - 1] = 0;
        snprintf(line, sizeof line, "\n%s\n", word);
        Buf about = {0};
        if (!digits && !is_no_word(word, strlen(word), p + n)) {
            looked++;
            const char *own = behind_elided(word);
            if (!is_no_word(own, strlen(own), p + n) && !is_everyday(own) && !words_entry(&s, &all, own, &about) &&
                !strstr(buf_str(missing), line))
                buf_printf(missing, "%s%s\n", missing->len ? "" : "\n", word);
        }
        buf_free(&about);
        p += n;
    }
    return looked;
}

static void said_by(const char *who, const Buf *missing)
{
    if (!missing->len)
        return;
    print_error("%s: without an entry in the glossary and not in tests/data/everyday.txt:%s", who, missing->data);
    fail();
}

static void every_golden_screen(void **state)
{
    (void)state;
    Buf missing = {0};
    int words = 0, files = 0;
    DIR *d = opendir("tests/golden");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        Buf text = {0};
        char path[600];
        snprintf(path, sizeof path, "tests/golden/%s", e->d_name);
        if (!strstr(e->d_name, "x") || strcmp(file_suffix(path), "txt") != 0)
            continue;
        assert_true(file_read(path, 1 << 20, &text, NULL));
        words += check_text(buf_str(&text), &missing);
        files++;
        buf_free(&text);
    }
    closedir(d);
    said_by("golden screens", &missing);
    assert_true(files > 80 && words > 3000);
    buf_free(&missing);
}

/* Help: tasks, keys of every screen, commands; and what the entries themselves say. */
static void help_and_the_glossary_itself(void **state)
{
    (void)state;
    Buf missing = {0};
    const char *word, *text;
    Overlay o = {0};
    for (int screen = 0; screen < SCREEN_COUNT; screen++)
        for (int page = 0; page < HELP_PAGES; page++) {
            s.place.screen = (Screen)screen;
            overlay_help(&o, &s, NULL, &all, page);
            for (int i = 0; i < o.count; i++)
                check_text(o.items[i].text, &missing);
        }
    said_by("help", &missing);
    for (int i = 0; (word = ask_glossary_entry(i, &text)) != NULL; i++) {
        Buf about = {0};
        assert_true(words_entry(&s, &all, word, &about)); /* every entry is found by its own name */
        assert_non_null(strstr(buf_str(&about), text));
        for (int k = 0; k < i; k++) {
            const char *other;
            if (strcmp(ask_glossary_entry(k, &other), word) == 0)
                fail_msg("%s is explained twice", word);
        }
        buf_free(&about);
    }
    buf_free(&missing);
    overlay_free(&o);
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
    Buf missing = {0};
    assert_int_equal(check_text("The xyzzy of a quuxi~ is xnNM, 1cc1 and resiz…", &missing), 3);
    assert_string_equal(buf_str(&missing), "\nxyzzy\n"); /* the check itself can fail */
    buf_free(&missing);
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
        cmocka_unit_test(every_golden_screen),
        cmocka_unit_test(help_and_the_glossary_itself),
        cmocka_unit_test(words_that_are_asked_for),
        cmocka_unit_test(the_word_under_the_mouse),
    };
    return cmocka_run_group_tests_name("tui/words", tests, start, stop);
}
