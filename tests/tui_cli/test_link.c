/* Links: one is made on every kind of view, opened again by the program's own reader, and draws the same bytes; what is
 * missing or another one is named; what a hostile one asks for is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/state.h"
#include "tests/tui/opened.h"
#include "tui/canvas/export.h"
#include "tui/cli/link.h"
#include "tui/cli/options.h"
#include "tui/frame.h"

enum { WIDTH = 100, HEIGHT = 30, LINK_MOST = 60 };

static Commands commands;
static char folder[] = "/tmp/vitrine-link-XXXXXX";

static int start(void **state)
{
    (void)state;
    commands = session_command_set();
    return mkdtemp(folder) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    commands_free(&commands);
    rmdir(folder);
    return 0;
}

/* The screen as a terminal is sent it, when all that it shows is computed. */
static char *screen_of(Session *s)
{
    Canvas c;
    Buf out = {0};
    for (bool ready = false; !ready;) {
        Needs *needs = xcalloc(1, sizeof *needs);
        Frame f = frame_layout(s, HEIGHT, WIDTH, false);
        frame_needs(s, &f, needs);
        ready = session_step(s, needs->item, needs->count, CLOCK_NEVER);
        free(needs);
    }
    canvas_init(&c, HEIGHT, WIDTH);
    canvas_clear(&c);
    Paint p = {.s = s, .c = &c, .mode = MODE_256};
    Frame f = frame_layout(s, HEIGHT, WIDTH, false);
    FrameState state = {.message = ""};
    frame_draw(&p, &f, &state);
    export_ansi(&c, MODE_256, false, &out);
    canvas_free(&c);
    char *text = xstrdup(buf_str(&out));
    buf_free(&out);
    return text;
}

static void run(Session *s, const char *line)
{
    Err err = {{0}};
    if (!command_do(s, &commands, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

/* The link of where s stands; to be freed. */
static char *link_of(Session *s)
{
    while (!session_step(s, NULL, 0, CLOCK_NEVER))
        continue;
    run(s, "link");
    return xstrdup(buf_str(&s->said));
}

/* As a POSIX shell takes a line apart. */
static int words_of(char *line, char *argv[], int most)
{
    int n = 0;
    for (char *p = line; *p;) {
        char *to = p;
        bool quoted = false, coded = false; /* in '…', in $'…' */
        assert_true(n < most);
        argv[n++] = p;
        for (; *p && (quoted || *p != ' '); p++)
            if (!quoted && *p == '$' && p[1] == '\'')
                quoted = coded = *++p;
            else if (coded && *p == '\\' && p[1] >= '0' && p[1] <= '3') {
                *to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + p[3] - '0');
                p += 3;
            } else if (coded && *p == '\\')
                *to++ = *++p;
            else if (*p == '\'')
                quoted = !quoted, coded = false;
            else if (*p == '\\' && !quoted)
                *to++ = *++p;
            else
                *to++ = *p;
        p += *p == ' ';
        *to = 0;
    }
    return n;
}

/* Opens a session as the link says; false with err where that is refused. */
static bool open_link(const char *text, Session *s, Err *err)
{
    char *line = xstrdup(text), *argv[40];
    int argc = words_of(line, argv, 40);
    Options o;
    Link l = {.input = NULL};
    bool opened = false;
    assert_string_equal(argv[0], "vitrine");
    *err = (Err){{0}};
    bool ok = options_parse(&o, argc, argv, err) && link_parse(&l, o.word, o.word_count, LINK_INPUT, &commands, err);
    const char *input = ok && l.input ? l.input : ok ? o.input : NULL;
    ModelWish wish = {ok && o.assume, ok ? o.resolution : NULL, NULL};
    ok = ok && link_files(&l, input, o.model, err);
    ok = ok && (opened = session_init_as(s, o.model, wish, input, 1, NULL, NULL, err));
    bool late = ok && o.at && o.commands.len, there = late && link_go(s, &commands, o.at, NULL);
    ok = ok && link_run(&l, late ? NULL : o.at, s, &commands, err) &&
         session_read(s, &commands, buf_str(&o.commands), LINE_OWN, err) &&
         (!late || there || link_go(s, &commands, o.at, err)) && link_agrees(&l, s, err);
    uint64_t hash;
    while (ok && !session_step(s, NULL, 0, CLOCK_NEVER))
        continue;
    if (ok && l.hash && session_hash(s, SIDE_B, &hash) && !link_hash_agrees(l.hash, hash))
        ok = err_set(err, "another trace hash");
    if (opened && !ok)
        session_free(s);
    link_free(&l);
    options_free(&o);
    free(line);
    return ok;
}

static void comes_back(Session *s, const char *what, size_t most)
{
    Session t;
    Err err;
    char *want = screen_of(s), *text = link_of(s);
    if (!open_link(text, &t, &err))
        fail_msg("%s: %s: %s", what, text, err.text);
    char *got = screen_of(&t);
    if (strcmp(want, got) != 0) {
        size_t at = 0;
        while (want[at] == got[at])
            at++;
        fail_msg("%s: '%s' draws another screen, from byte %zu: '%.80s' for '%.80s'", what, text, at, got + at,
                 want + at);
    }
    if (strlen(text) > most)
        fail_msg("%s: '%s' has %zu characters", what, text, strlen(text));
    session_free(&t);
    free(want);
    free(got);
    free(text);
}

/* Every screen of a picture model, with and without a change. */
static const char *const VIEWS[] = {
    "goto image[y=3,x=2]; view picture",
    "goto blocks.1.attn.q[t=r1c1,h=1]; view tensor",
    "goto blocks.0.mlp.post[t=r0c2]; view numbers",
    "goto blocks.1.resid_post[t=cls]; view strip",
    "goto blocks.0.mlp.w_up; view histogram",
    "goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r4c3]; view matrix",
    "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view matrix",
    "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view row",
    "goto blocks.3.attn.pattern[h=3,t=r7c7,u=r6c5]; view sheet",
    "view positions",
    "goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r3c2]; view formula",
    "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r3c2]; view close-up",
    "goto blocks.0.ln1.out[t=r1c1,d=3]; view close-up",
    "view answer",
    "goto blocks.0.attn.k[u=r1c1,h=1]; view beside",
    "goto tokens[t=r1c2,d=5]",
    "training first",
    "filters components",
    "heads",
    "where",
    "lens",
    "laboratory",
    "census",
    "hide r3c4; blanks",
    "ledger",
    "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; set scale off",
    "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view matrix; set scale off",
    "ablate blocks.1.attn.z[h=2]",
    "skip mlp block=1",
    "grey r2c2",
};

static void every_view_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) {
        Session s;
        opened_session(&s, NULL, i % 2 ? "#17" : "#66");
        run(&s, VIEWS[i]);
        comes_back(&s, VIEWS[i], LINK_MOST);
        session_free(&s);
    }
}

/* More than one change, another picture to compare with, options, gradients, words: longer, and the same screen. */
static void whatever_else_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *model, *commands;
    } MORE[] = {
        {NULL, "goto blocks.2.attn.pattern[h=1,t=cls]; set scale off; ablate; pool 2; average; colours viridis"},
        {NULL, "open #4; pin; open #5; goto blocks.1.attn.pattern[h=2]; view matrix; set scale off; compare diff"},
        {NULL, "gradient logits[o=2]; goto grad.blocks.1.attn.pattern[h=2,t=r1c1]"},
        {NULL, "goto blocks.1.attn.q[t=r1c1,h=1]; set . 3; shuffle seed=7"},
        {NULL, "box open blocks.3; colours lock; view histogram"},
        {NULL, "ablate blocks.1.attn.z[h=2]; compare diff"},
        {NULL, "goto patch_embed[p=r3c4,d=0]; in; in"},
        {NULL, "goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r3c2]; view formula; view close-up"},
        {"translator", "goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]"},
        {"translator", "word tired wide; view writing; move down 3"},
    };
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++) {
        Session s;
        opened_session(&s, MORE[i].model, NULL);
        run(&s, MORE[i].commands);
        comes_back(&s, MORE[i].commands, 1000);
        session_free(&s);
    }
}

static void put_file(const char *name, char byte, char path[128])
{
    char bytes[16 + 60 * 40 * 3];
    int n = snprintf(bytes, sizeof bytes, "P6 60 40 255\n");
    for (int i = 0; i < 60 * 40 * 3; i++)
        bytes[n + i] = (char)(byte + i % 97);
    snprintf(path, 128, "%s/%s", folder, name);
    assert_true(file_write(path, bytes, (size_t)n + 60 * 40 * 3, NULL));
}

static void copy_file(const char *from, const char *to, bool changed)
{
    Buf b = {0};
    Err err;
    if (!file_read(from, 64 << 20, &b, &err))
        fail_msg("%s", err.text);
    if (changed)
        b.data[b.len - 2] ^= 1; /* one bit of the last weight */
    assert_true(file_write(to, b.data, b.len, NULL));
    buf_free(&b);
}

static void refused(const char *text, const char *a, const char *b)
{
    Session t;
    Err err;
    if (open_link(text, &t, &err))
        fail_msg("'%s' was opened", text);
    if (!strstr(err.text, a) || !strstr(err.text, b) || strchr(err.text, '\n'))
        fail_msg("'%s': '%s' does not say '%s' and '%s'", text, err.text, a, b);
}

/* A picture of one's own: missing, another one, the same pixels in another file. */
static void a_picture_is_told_apart(void **state)
{
    (void)state;
    Session s, t;
    Err err;
    char path[128], other[128], again[600];
    put_file("cat.ppm", 1, path);
    put_file("it's another.ppm", 2, other);
    opened_session(&s, NULL, path);
    run(&s, "goto blocks.1.attn.pattern[h=2,t=r3c4]; view matrix");
    comes_back(&s, "a picture", 1000);
    char *text = link_of(&s);
    assert_non_null(strstr(text, " @picture:"));
    assert_null(strstr(text, " @model:"));
    put_file("cat.ppm", 3, path);
    refused(text, "another picture: '/tmp/", "-i");
    remove(path);
    refused(text, "picture '/tmp/", "is not here");
    put_file("it's another.ppm", 1, other); /* the same under another name */
    snprintf(again, sizeof again, "vitrine -i '%s/it'\\''s another.ppm'%s", folder,
             strchr(strchr(text, '\'') + 1, '\'') + 1);
    if (!open_link(again, &t, &err))
        fail_msg("%s: %s", again, err.text);
    session_free(&t);
    put_file("it's another.ppm", 5, other);
    run(&s, "pin"); /* what is compared with */
    char line[200];
    snprintf(line, sizeof line, "open \"%s\"; set scale off", other);
    run(&s, line);
    put_file("cat.ppm", 1, path);
    comes_back(&s, "two pictures", 2000);
    char *two = link_of(&s);
    put_file("cat.ppm", 9, path);
    refused(two, "compare with", "cat.ppm");
    free(two);
    free(text);
    session_free(&s);
    remove(path);
    remove(other);
}

/* What a terminal would obey, or not show as it is, stands in the link as numbers, and the file is found again. */
static void any_name_comes_back(void **state)
{
    (void)state;
    char name[300], path[128];
    int n = 0;
    for (int c = 1; c < 256; c++) { /* every byte but that of folders, in names of 40 */
        n += c == '/' ? 0 : snprintf(name + n, sizeof name - (size_t)n, "%c", c);
        if (n < 40 && c < 255)
            continue;
        Session s;
        put_file(name, 1, path);
        opened_session(&s, NULL, path);
        char *text = link_of(&s);
        for (const char *p = text; *p;)
            if (!utf8_printable(utf8_next(&p)))
                fail_msg("%s", text);
        assert_null(strstr(text, "\xff"));
        comes_back(&s, name, 1000);
        free(text);
        session_free(&s);
        remove(path);
        n = 0;
    }
}

static void a_model_is_told_apart(void **state)
{
    (void)state;
    static const char *const FILES[] = {"config.json", "model.safetensors", "preprocessor_config.json"};
    Session s;
    char dir[128], from[160], to[200], path[128];
    snprintf(dir, sizeof dir, "%s/vit", folder);
    assert_int_equal(mkdir(dir, 0700), 0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "tests/data/oracle/tiny/%s", FILES[i]);
        snprintf(to, sizeof to, "%s/%s", dir, FILES[i]);
        if (file_exists(from))
            copy_file(from, to, false);
    }
    put_file("cat.ppm", 1, path);
    opened_session(&s, dir, path);
    run(&s, "goto blocks.0.attn.pattern; set scale off");
    comes_back(&s, "a model", 1000);
    char *text = link_of(&s);
    assert_non_null(strstr(text, " @picture:"));
    assert_non_null(strstr(text, " @model:"));
    session_free(&s);
    snprintf(to, sizeof to, "%s/model.safetensors", dir);
    copy_file("tests/data/oracle/tiny/model.safetensors", to, true);
    refused(text, "another model: '/tmp/", "-m");
    remove(path); /* the model comes first */
    for (size_t i = 0; i < 3; i++) {
        snprintf(to, sizeof to, "%s/%s", dir, FILES[i]);
        remove(to);
    }
    rmdir(dir);
    refused(text, "model '/tmp/", "is not here");
    free(text);
}

/* A link is somebody else's text. */
static void hostile_links_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } LINKS[] = {
        {"vitrine '#17 logits export=/tmp/vitrine-hostile.npy,logits'", "files are neither read nor written"},
        {"vitrine '#17 logits open=/etc/passwd'", "files are neither read nor written"},
        {"vitrine '#17 logits model=/etc'", "files are neither read nor written"},
        {"vitrine '#17 logits diff=/etc/passwd'", "files are neither read nor written"},
        {"vitrine '#17 logits patch=blocks.1.attn.z,from=/etc/passwd'", "files are neither read nor written"},
        {"vitrine '#17 logits quit=now'", "no command 'quit'"},
        {"vitrine '#17 logits scale=off;quit'", "one command"},
        {"vitrine '#17 logits :answer\"'", "expected : and a screen"},
        {"vitrine '#17 logits :answer/quit'", "behind /"},
        {"vitrine '#17 logits :nowhere'", "no screen 'nowhere'"},
        {"vitrine '#17 logits :answer :row'", "one screen"},
        {"vitrine '#17 :answer'", "behind the address"},
        {"vitrine '#17 logits :answer/at=h:99'", "at=h:99"},
        {"vitrine '#17 logits :answer/at=99999999999:0'", "at="},
        {"vitrine '#17 logits[99999999999999999999]'", "goes from"},
        {"vitrine '#17 1.pattern[0,1,2,3]'", "axis=value"},
        {"vitrine '#17 99.pattern'", "no block 99"},
        {"vitrine '#17 logits @picture:xyz'", "digits"},
        {"vitrine '#17 logits @model:'", "digits"},
        {"vitrine '#17 logits @model:12345678'", "say where it lies with -m"},
        {"vitrine '#17 logits @0000'", "another trace hash"},
        {"vitrine '#99999999999999999999999'", "no picture"},
    };
    for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
        refused(LINKS[i].text, LINKS[i].says, "");
    assert_false(file_exists("/tmp/vitrine-hostile.npy"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_comes_back),   cmocka_unit_test(whatever_else_comes_back),
        cmocka_unit_test(a_picture_is_told_apart), cmocka_unit_test(any_name_comes_back),
        cmocka_unit_test(a_model_is_told_apart),   cmocka_unit_test(hostile_links_are_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
