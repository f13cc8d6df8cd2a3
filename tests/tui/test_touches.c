/* What lines may touch, by where they come from: every command with every word that could become a file, and names of
 * files that are commands. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/session/command.h"
#include "core/session/state.h"
#include "tests/tui/opened.h"
#include "tui/aside.h"
#include "tui/deck.h"

static Session s;
static Commands all;
static Overlay lists;
static Buf reached; /* what a command asked of the screen that reads, writes or ends something */
static char folder[] = "/tmp/vitrine-touches-XXXXXX", victim[64], lent[64];

static bool act(struct App *app, UiAct what, const char *text, Err *err)
{
    (void)app;
    (void)err;
    if (what == UI_EXPORT || what == UI_RECORD || what == UI_SHARE || what == UI_JOIN || what == UI_PROMPT ||
        what == UI_OFFER || what == UI_CLOSE)
        buf_printf(&reached, "%d %s; ", (int)what, text);
    return true;
}

static void write_picture(const char *path, int level)
{
    Buf b = {0};
    Err err = {{0}};
    buf_puts(&b, "P6\n32 32\n255\n");
    for (int i = 0; i < 32 * 32 * 3; i++)
        buf_putc(&b, (char)level);
    if (!file_write(path, b.data, b.len, &err))
        fail_msg("%s", err.text);
    buf_free(&b);
}

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all, .act = act};
    opened_commands(&all, &ui);
    opened_session(&s, NULL, "#17");
    if (!mkdtemp(folder))
        return -1;
    snprintf(victim, sizeof victim, "%s/mine.csv", folder);
    snprintf(lent, sizeof lent, "%s/lent", folder);
    return chdir(folder);
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    overlay_free(&lists);
    buf_free(&reached);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void write_text(const char *path, const char *text)
{
    assert_true(file_write(path, text, strlen(text), NULL));
}

static void still(const char *path, const char *text, const char *after)
{
    Buf b = {0};
    if (!file_read(path, 1 << 20, &b, NULL) || strcmp(buf_str(&b), text) != 0)
        fail_msg("'%s' changed %s", after, path);
    buf_free(&b);
}

static int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += *e->d_name != '.';
    closedir(d);
    return n;
}

/* A class in which every word means that file. */
static const char *lends(void *file, const char *word, Err *err)
{
    (void)word;
    (void)err;
    return file;
}

/* Lines of somebody else, and our own that are run again, each with what it may touch. */
static const struct {
    const char *name;
    unsigned allowed;
    bool reads;
} FROM[] = {{"followed, a link, a lesson", LINE_FOREIGN, false},
            {"a demonstration", LINE_FOREIGN | COMMAND_UI, false},
            {"a state read again", LINE_REPLAY, true},
            {"a script", LINE_REPLAY | COMMAND_UI, true}};
enum { SOURCES = sizeof FROM / sizeof *FROM };

static void test_no_command_writes_or_ends_the_program(void **state)
{
    (void)state;
    static const char *const WORDS[] = {
        "%s", "%s over=yes", "%s logits over=yes", "logits from=%s", "%s map=%s",      "\"%s\"", "off",
        "",   "#17 from=%s", "- over=yes",         "%s.md",          "%s.svg over=yes"};
    write_text(victim, "mine\n");
    write_text(lent, "lent\n");
    permit_class(&s, lends, lent);
    for (int k = 0; k < SOURCES; k++)
        for (int i = 0; command_at(&all, i); i++)
            for (size_t w = 0; w < sizeof WORDS / sizeof *WORDS; w++) {
                char line[400], words[300];
                Err err = {{0}};
                if (!strchr(WORDS[w], '%') && k != 1) /* names no file: once is enough, `verify` takes its time */
                    continue;
                snprintf(words, sizeof words, WORDS[w], victim, victim);
                snprintf(line, sizeof line, "%s %s", command_at(&all, i)->name, words);
                command_do(&s, &all, line, FROM[k].allowed, &err);
                still(victim, "mine\n", line);
                still(lent, "lent\n", line);
                if (files_in(folder) != 2 || reached.len || s.quit)
                    fail_msg("%s: '%s' wrote or reached %s", FROM[k].name, line, buf_str(&reached));
                overlay_close(&lists);
            }
    Err err = {{0}};
    char line[128];
    snprintf(line, sizeof line, "reset edits; goto first; export %s logits over=yes", victim);
    assert_true(command_do(&s, &all, line, LINE_OWN | COMMAND_UI, &err)); /* …and the reader's own line does write */
    Buf written = {0};
    assert_true(file_read(victim, 1 << 20, &written, NULL) && written.len > 5);
    buf_free(&written);
    unlink(victim);
    unlink(lent);
    permit_class(&s, NULL, NULL);
}

/* Who reads the word reads what was lent, and who was lent nothing reads nothing. */
static void test_readers_use_the_path_given_back(void **state)
{
    (void)state;
    char line[300], other[80];
    Err err = {{0}};
    snprintf(other, sizeof other, "%s/none", folder);
    write_picture(victim, 200);
    write_picture(lent, 10);
    static const char *const READS[] = {"open %s", "model %s", "patch logits from=%s", "diff %s"};
    for (size_t i = 0; i < sizeof READS / sizeof *READS; i++) {
        snprintf(line, sizeof line, READS[i], victim);
        for (int k = 0; k < SOURCES; k++) {
            bool ok = command_do(&s, &all, line, FROM[k].allowed, &err);
            if (!FROM[k].reads && (ok || !strstr(err.text, "is a file: files are neither")))
                fail_msg("%s: '%s' gave: %s", FROM[k].name, line, err.text);
        }
        snprintf(line, sizeof line, READS[i], "class:0/mine.csv"); /* a word of the class is no name of a file … */
        assert_false(command_do(&s, &all, line, LINE_OWN, &err));
        if (!strstr(err.text, "nobody is followed"))
            fail_msg("'%s' gave: %s", line, err.text);
        permit_class(&s, lends, other); /* … and means what was lent: the error speaks of that */
        assert_false(command_do(&s, &all, line, LINE_FOREIGN, &err));
        if (!strstr(err.text, "none"))
            fail_msg("'%s' opened another file than the one lent: %s", line, err.text);
        permit_class(&s, NULL, NULL);
    }
    permit_class(&s, lends, lent);
    assert_true(command_do(&s, &all, "open class:0/mine.csv", LINE_FOREIGN, &err));
    assert_int_equal(session_input(&s, SIDE_B)->original.data[0], 10);
    assert_false(command_do(&s, &all, "export class:0/mine.csv logits over=yes", LINE_FOREIGN, &err));
    permit_class(&s, NULL, NULL);
    unlink(victim);
    unlink(lent);
    assert_true(command_do(&s, &all, "open #17", LINE_FOREIGN, &err));
}

static void test_a_command_touches_what_its_row_says(void **state)
{
    (void)state;
    for (int i = 0; command_at(&all, i); i++)
        assert_true(command_at(&all, i)->touches & ~(unsigned)COMMAND_SHADOWS);
    const Command *open = command_find(&all, "open");
    assert_int_equal(open->touches & ~(unsigned)COMMAND_TEXT, COMMAND_SESSION | COMMAND_READ);
    Err err = {{0}};
    Deck d = {.at = -1};
    s.permit = LINE_FOREIGN; /* as within such a line */
    write_text(lent, "goto first\npause 1\n");
    assert_false(deck_open(&d, &s, lent, &err));
    assert_non_null(strstr(err.text, "is a file"));
    s.permit = ~0U;
    assert_true(deck_open(&d, &s, lent, &err));
    deck_close(&d);
    unlink(lent);
}

static void round_trip(const char *text)
{
    Buf line = {0};
    Args a;
    const char *name;
    Err err = {{0}};
    buf_puts(&line, "open ");
    command_quote(text, &line);
    assert_null(strchr(buf_str(&line), '\n'));
    if (!args_parse(&a, buf_str(&line), &name, &err) || a.count != 1 || a.named_count || strcmp(a.word[0], text) != 0)
        fail_msg("%s does not come back: %s", buf_str(&line), err.text);
    buf_clear(&line);
    buf_puts(&line, "patch x from=");
    command_quote(text, &line);
    if (!args_parse(&a, buf_str(&line), &name, &err) || a.count != 1 || a.named_count != 1 ||
        strcmp(args_named(&a, "from"), text) != 0)
        fail_msg("%s does not come back: %s", buf_str(&line), err.text);
    buf_free(&line);
}

static void test_names_of_all_bytes_come_back(void **state)
{
    (void)state;
    char text[256], pair[3] = {0};
    for (int i = 1; i < 256; i++)
        text[i - 1] = (char)i;
    text[255] = 0;
    round_trip(text);
    for (int i = 1; i < 256; i++)
        for (int k = 1; k < 256; k++) {
            pair[0] = (char)i;
            pair[1] = (char)k;
            round_trip(pair);
        }
    round_trip("\\x41");
    round_trip("a\\");
    static char all_quotes[1024];
    memset(all_quotes, '\n', sizeof all_quotes - 1); /* the longest there is */
    round_trip(all_quotes);
}

/* A picture of that name is opened, set aside, and comes back; nothing else happens. */
static void comes_back(const char *name)
{
    Err err = {{0}};
    Buf line = {0};
    Aside aside = {.lines = NULL};
    write_picture(name, 77);
    buf_puts(&line, "open ");
    command_quote(name, &line);
    if (!command_do(&s, &all, buf_str(&line), LINE_OWN, &err))
        fail_msg("%s: %s", buf_str(&line), err.text);
    aside_put(&aside, &s);
    assert_true(command_do(&s, &all, "open #3", LINE_OWN, &err));
    if (!aside_back(&aside, &s))
        fail_msg("%s", buf_str(&s.said));
    assert_string_equal(session_input(&s, SIDE_B)->path, name);
    assert_int_equal(session_input(&s, SIDE_B)->original.data[0], 77);
    assert_true(command_do(&s, &all, "pin; open #4; ablate blocks.1.attn.z[h=1]", LINE_OWN, &err));
    aside_put(&aside, &s);
    assert_true(command_do(&s, &all, "pin off; reset edits; open #3", LINE_OWN, &err));
    assert_true(aside_back(&aside, &s));
    assert_string_equal(session_input(&s, SIDE_A)->path, name);
    assert_true(command_do(&s, &all, "pin off; reset edits; open #17", LINE_OWN, &err));
    unlink(name);
    buf_free(&line);
}

static void test_a_name_is_no_command(void **state)
{
    (void)state;
    char bytes[256];
    int n = 0;
    write_text("mine.csv", "mine\n");
    comes_back("a\"; export mine.csv logits over=yes; open \"b.png");
    comes_back("a\nexport mine.csv logits over=yes\n.png");
    comes_back("a\\\"; export mine.csv logits over=yes; open \\\"b.png");
    for (int i = 1; i < 256; i++)
        if (i != '/')
            bytes[n++] = (char)i;
    bytes[n] = 0;
    comes_back(bytes);
    still("mine.csv", "mine\n", "coming back");
    assert_int_equal(files_in(folder), 1);
    unlink("mine.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_command_writes_or_ends_the_program),
        cmocka_unit_test(test_readers_use_the_path_given_back),
        cmocka_unit_test(test_a_command_touches_what_its_row_says),
        cmocka_unit_test(test_names_of_all_bytes_come_back),
        cmocka_unit_test(test_a_name_is_no_command),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
