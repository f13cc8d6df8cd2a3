/* The command line: options, links, and the texts made from their tables. What verbs do is tested with the program
 * itself (tests/e2e/cli.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "tui/app.h"
#include "tui/cli/help.h"
#include "tui/keymap.h"

/* One command line, split at | because a value may hold blanks. */
static bool parse(Options *o, const char *line, Err *err)
{
    static char copy[2048]; /* the options point into it */
    static char *argv[64];
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    argv[0] = (char[]){"vitrine"};
    for (char *p = *copy ? copy : NULL; p;) {
        argv[argc++] = p;
        p = strchr(p, '|');
        if (p)
            *p++ = 0;
    }
    err->text[0] = 0;
    return options_parse(o, argc, argv, err);
}

static void refuses(const char *line, const char *message)
{
    Options o;
    Err err;
    if (parse(&o, line, &err))
        fail_msg("'%s' was accepted", line);
    if (!strstr(err.text, message))
        fail_msg("'%s': '%s' does not say '%s'", line, err.text, message);
    assert_null(strchr(err.text, '\n'));
    options_free(&o);
}

static void test_options_anywhere(void **state)
{
    (void)state;
    Options o;
    Err err;
    assert_true(parse(&o, "--threads|3|show|-mvit/|blocks.0.attn.q|-o|-|--axes=h,t,e|--json", &err));
    assert_int_equal(o.word_count, 2);
    assert_string_equal(o.word[0], "show");
    assert_string_equal(o.word[1], "blocks.0.attn.q");
    assert_string_equal(o.model, "vit");
    assert_string_equal(o.output, "-");
    assert_string_equal(o.axes, "h,t,e");
    assert_int_equal(o.threads, 3);
    assert_true(o.json);
    assert_false(o.help);
    assert_null(o.input);
    options_free(&o);
}

static void test_values(void **state)
{
    (void)state;
    Options o;
    Err err;
    assert_true(parse(&o, "-c|set scale off|--size|120x40|-c=x|--color|true|--sample=1000000000", &err));
    assert_string_equal(buf_str(&o.commands), "set scale off; =x"); /* a letter's value begins at once */
    assert_int_equal(o.width, 120);
    assert_int_equal(o.height, 40);
    assert_string_equal(o.colour, "true");
    assert_int_equal(o.sample, 1000000000);
    options_free(&o);
    assert_true(parse(&o, "run|--|--json|-x", &err));
    assert_int_equal(o.word_count, 3);
    assert_string_equal(o.word[1], "--json");
    assert_false(o.json);
    options_free(&o);
    assert_true(parse(&o, "-", &err)); /* standard input is a word */
    assert_string_equal(o.word[0], "-");
    options_free(&o);
    assert_true(parse(&o, "", &err));
    assert_int_equal(o.word_count, 0);
    options_free(&o);
}

static void test_wrong_options(void **state)
{
    (void)state;
    refuses("run|--jsn", "did you mean --json?");
    refuses("run|--no-mose", "did you mean --no-mouse?");
    refuses("run|--xyzzyqwert", "--help");
    refuses("run|-z", "no option -z");
    refuses("run|-o", "--output: expected FILE");
    refuses("run|--model=", "--model: expected MODEL");
    refuses("run|--json=yes", "takes no value");
    refuses("run|--threads|-1", "from 0 to 1024");
    refuses("run|--threads|1025", "from 0 to 1024");
    refuses("run|--threads|99999999999999999999", "from 0 to 1024");
    refuses("run|--threads|2x", "from 0 to 1024");
    refuses("run|--sample|0", "from 1");
    refuses("run|--colour|pink", "auto true 256 8 mono");
    refuses("run|--colour|tru", "auto true 256 8 mono");
    refuses("run|--colour|", "auto true 256 8 mono");
    static const char *const SIZES[] = {"",       "120",  "x40",      "120x",    "0x5",        "5x0",    "1001x5",
                                        "5x1001", "-3x4", "120x40x2", "120 x40", "99999x9999", "120x40 "};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        char line[64];
        snprintf(line, sizeof line, "screen|--size=%s", SIZES[i]);
        refuses(line, "1x1 to 1000x1000");
    }
}

static void test_too_many_words(void **state)
{
    (void)state;
    char line[256] = "w";
    for (int i = 0; i < OPTION_WORDS; i++)
        strcat(line, "|w");
    refuses(line, "more than 32 words");
}

static bool link_of(Link *l, LinkFirst first, const char *word0, const char *word1, const char *word2, Err *err)
{
    const char *words[] = {word0, word1, word2};
    int n = word2 ? 3 : word1 ? 2 : 1;
    Commands c = session_command_set();
    err->text[0] = 0;
    bool ok = link_parse(l, words, n, first, &c, err);
    commands_free(&c);
    return ok;
}

static void test_link(void **state)
{
    (void)state;
    Link l;
    Err err;
    assert_true(link_of(&l, LINK_INPUT, "#17 blocks.1.attn.pattern[h=2,t=r3c4] scale=off @9f3A", NULL, NULL, &err));
    assert_string_equal(l.input, "#17");
    assert_string_equal(l.address, "blocks.1.attn.pattern[h=2,t=r3c4]");
    assert_string_equal(buf_str(&l.edits), "set scale off");
    assert_string_equal(l.hash, "9f3A");
    link_free(&l);
    assert_true(link_of(&l, LINK_INPUT, "#3", "ablate=blocks.1.attn.z[h=2,t=3],mean",
                        "shuffle=7 swap=r0c0,r1c1 skip=mlp,block=2", &err));
    assert_string_equal(buf_str(&l.edits),
                        "ablate blocks.1.attn.z[h=2,t=3] mean; shuffle seed=7; swap r0c0 r1c1; skip mlp block=2");
    assert_null(l.address);
    link_free(&l);
    assert_true(
        link_of(&l, LINK_ADDRESS, "pattern[h=2, t=r3c4,  u=cls] @00", NULL, NULL, &err)); /* blanks inside [ ] stay */
    assert_string_equal(l.address, "pattern[h=2, t=r3c4,  u=cls]");
    assert_null(l.input);
    link_free(&l);
    assert_true(link_of(&l, LINK_ADDRESS, "#5", "logits", NULL, &err));
    assert_string_equal(l.input, "#5");
    link_free(&l);
    assert_false(link_of(&l, LINK_INPUT, "", NULL, NULL, &err));
    assert_false(link_of(&l, LINK_INPUT, "#5", "  ", NULL, &err));
}

static void link_refuses(const char *a, const char *b, const char *message)
{
    Link l;
    Err err;
    if (link_of(&l, LINK_INPUT, a, b, NULL, &err))
        fail_msg("'%s' was accepted", a);
    if (!strstr(err.text, message))
        fail_msg("'%s': '%s' does not say '%s'", a, err.text, message);
    link_free(&l);
}

static void test_wrong_links(void **state)
{
    (void)state;
    link_refuses("#17 scla=off", NULL, "did you mean 'scale'?");
    link_refuses("#17", "#18", "two inputs");
    link_refuses("#17", "probs logits", "one address");
    link_refuses("#17 @", NULL, "digits of a trace hash");
    link_refuses("#17 @xyz", NULL, "digits of a trace hash");
    link_refuses("#17 @00112233445566778", NULL, "digits of a trace hash");
    link_refuses("#17", "ablate=x;quit", "one command");
    link_refuses("#17 quit=;", NULL, "");
}

static void test_inputs(void **state)
{
    (void)state;
    char file[] = "/tmp/vitrine-cli-XXXXXX", tensor[80], wrong[80];
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    snprintf(tensor, sizeof tensor, "%s:pixel_values", file);
    snprintf(wrong, sizeof wrong, "%s:", file);
    assert_true(link_is_input(file));
    assert_true(link_is_input(tensor));
    assert_false(link_is_input(wrong));
    assert_true(link_is_input("#0"));
    assert_true(link_is_input("-"));
    static const char *const NONE[] = {
        "", "#", "#x", "#17 ", "#1x", ":x", "no-such-file.png", "no-such-file:x", "blocks.0.attn.q[h=1]"};
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++)
        if (link_is_input(NONE[i]))
            fail_msg("'%s' is taken for an input", NONE[i]);
    unlink(file);
    assert_false(link_is_input(tensor));
}

static void test_hash(void **state)
{
    (void)state;
    const uint64_t HASH = 0x00f0123456789abc;
    assert_true(link_hash_agrees("0", HASH));
    assert_true(link_hash_agrees("00F0", HASH));
    assert_true(link_hash_agrees("00f0123456789abc", HASH));
    assert_false(link_hash_agrees("f0", HASH)); /* leading zeros count */
    assert_false(link_hash_agrees("00f1", HASH));
    assert_false(link_hash_agrees("00f0123456789abc0", HASH));
}

static void test_verbs(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"run",      "embed",    "score",     "show",  "explain", "why",     "ledger",
                                        "patching", "trace",    "screen",    "info",  "verify",  "diff",    "data",
                                        "train",    "evaluate", "translate", "write", "tokens",  "lessons", "lesson",
                                        "check",    "exercise", "export",    "plain", "demo",    "present", "share",
                                        "join",     "notes",    "receipt"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const Verb *v = verb_find(NAMES[i]);
        assert_non_null(v);
        assert_true(v->run || v->screen || v == &VERB_NOTES); /* notes have a screen of their own */
        assert_int_equal(strncmp(v->usage, NAMES[i], strlen(NAMES[i])), 0);
        assert_true(verb_at((int)i) == v);
    }
    assert_null(verb_at(sizeof NAMES / sizeof *NAMES));
    assert_null(verb_find("sho"));
    assert_string_equal(verb_nearest("shwo"), "show");
    assert_string_equal(verb_nearest("verfiy"), "verify");
    assert_null(verb_nearest("xylophone"));
}

/* Every verb's example is a command line that the program itself takes. */
static void test_examples(void **state)
{
    (void)state;
    for (int i = 0; verb_at(i); i++) {
        char line[256];
        snprintf(line, sizeof line, "%s", verb_at(i)->example);
        assert_int_equal(strncmp(line, "vitrine ", 8), 0);
        char *argv[32];
        int argc = 0;
        for (char *p = line; *p;) { /* words, 'quoted words' and "those" */
            char end = *p == '\'' || *p == '"' ? *p : ' ';
            p += end != ' ';
            argv[argc++] = p;
            p += strcspn(p, (char[]){end, 0});
            if (*p)
                *p++ = 0;
            while (*p == ' ')
                *p++ = 0;
        }
        Options o;
        Err err = {{0}};
        if (!options_parse(&o, argc, argv, &err))
            fail_msg("%s: %s", verb_at(i)->example, err.text);
        assert_true(verb_find(o.word[0]) == verb_at(i));
        Link l;
        Commands c = session_command_set();
        assert_true(
            link_parse(&l, o.word + 1, verb_at(i)->flags & VERB_ALONE ? 0 : o.word_count - 1, LINK_ADDRESS, &c, &err));
        if (verb_at(i)->check && strcmp(o.word[0], "trace") != 0) /* trace's word is a file, which is not here */
            assert_true(verb_at(i)->check(&o, &l, &err));
        link_free(&l);
        commands_free(&c);
        options_free(&o);
    }
}

static void test_screen_suffixes(void **state)
{
    (void)state;
    assert_true(screen_suffix("a/b.svg"));
    assert_true(screen_suffix("x.HTML"));
    assert_true(screen_suffix("x.ans"));
    assert_false(screen_suffix("x.npy"));
    assert_false(screen_suffix("svg"));
    assert_false(screen_suffix("a.svg/x"));
}

static void test_help_fits(void **state)
{
    (void)state;
    for (int i = -1; i == -1 || verb_at(i); i++) {
        Buf out = {0};
        help_text(i < 0 ? NULL : verb_at(i), &out);
        for (char *p = out.data, *end; *p; p = end + 1) {
            end = strchr(p, '\n');
            assert_non_null(end);
            *end = 0;
            if (utf8_cells(p) > 80 && !strstr(p, "vitrine ")) /* an example is one line */
                fail_msg("%d columns: %s", utf8_cells(p), p);
        }
        buf_free(&out);
    }
    for (int k = 0; option_at(k); k++) { /* each is somewhere: in the help of all, or in that of its verbs */
        char name[40];
        bool told = false;
        snprintf(name, sizeof name, "--%s", option_at(k)->name);
        for (int i = -1; !told && (i == -1 || verb_at(i)); i++) {
            Buf out = {0};
            help_text(i < 0 ? NULL : verb_at(i), &out);
            told = strstr(buf_str(&out), name) != NULL;
            buf_free(&out);
        }
        if (!told)
            fail_msg("no help tells of %s", name);
    }
}

/* The text of roff with its escapes taken away, as far as ours go. */
static void plain(const Buf *roff, Buf *out)
{
    for (const char *p = buf_str(roff); *p; p++) {
        assert_true((unsigned char)*p < 0x80); /* pure ASCII: no formatter has to guess */
        if (p[0] != '\\') {
            buf_putc(out, *p);
            continue;
        }
        p++;
        switch (*p) {
        case '-': buf_putc(out, '-'); break;
        case 'e': buf_putc(out, '\\'); break;
        case '&': break;
        case 'f': p++; break;
        case '(':
            buf_putc(out, p[1] == 'a' ? '\'' : p[1] == 'g' ? '`' : p[1] == 'h' ? '^' : '~');
            p += 2;
            break;
        case '[': {
            char utf8[4];
            unsigned c = 0;
            assert_int_equal(sscanf(p, "[u%4X]", &c), 1);
            buf_add(out, utf8, utf8_put(utf8, c));
            p = strchr(p, ']');
            break;
        }
        default: fail_msg("an unknown escape \\%c", *p);
        }
    }
}

/* The screen has a command of that name that does more; the manual has that one. */
static bool on_screen_otherwise(const Command *c)
{
    CommandTable screen = app_commands(NULL);
    for (int i = 0; i < screen.count; i++)
        if (strcmp(screen.commands[i].name, c->name) == 0)
            return strcmp(screen.commands[i].usage, c->usage) != 0;
    return false;
}

static void test_man_has_everything(void **state)
{
    (void)state;
    Buf roff = {0}, text = {0};
    man_text(&roff);
    plain(&roff, &text);
    assert_int_equal(strncmp(buf_str(&roff), ".TH VITRINE 1", 13), 0);
    for (int i = 0; verb_at(i); i++) {
        assert_non_null(strstr(buf_str(&text), verb_at(i)->usage));
        assert_non_null(strstr(buf_str(&text), verb_at(i)->details));
        assert_non_null(strstr(buf_str(&text), verb_at(i)->example));
    }
    for (int i = 0; option_at(i); i++)
        assert_non_null(strstr(buf_str(&text), option_at(i)->help));
    for (int i = 0; keymap_at(i); i++) {
        assert_non_null(strstr(buf_str(&text), keymap_at(i)->help));
        assert_non_null(strstr(buf_str(&text), keymap_at(i)->key));
    }
    CommandTable tables[] = {session_commands_go(), session_commands_look(), session_commands_ask(),
                             session_commands_change(), app_commands(NULL)};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (int i = 0; i < tables[t].count; i++)
            if (!on_screen_otherwise(&tables[t].commands[i]) && !strstr(buf_str(&text), tables[t].commands[i].usage))
                fail_msg("the manual lacks '%s' (is its group '%s' a known one?)", tables[t].commands[i].usage,
                         tables[t].commands[i].group);
    buf_free(&roff);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_anywhere),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_too_many_words),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_wrong_links),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_verbs),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_screen_suffixes),
        cmocka_unit_test(test_help_fits),
        cmocka_unit_test(test_man_has_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
