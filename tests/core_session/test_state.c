/* The state as text, the log of what was done, and what a line may not do. */
#include "asking.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/session/edit/verbs.h"
#include "core/session/options.h"
#include "core/session/screens.h"
#include "core/session/state.h"

enum { ALL = LINE_OWN };

/* A second session that gets the resolved lines. */
static Session follower;

static char *text_of(const Session *from, unsigned what)
{
    Buf b = {0};
    session_write(from, what, &b);
    char *text = strdup(buf_str(&b));
    buf_free(&b);
    return text;
}

static void same_state(const char *after)
{
    char *a = text_of(&s, STATE_WHOLE | STATE_INPUT | STATE_MODEL),
         *b = text_of(&follower, STATE_WHOLE | STATE_INPUT | STATE_MODEL);
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    while (at && a[at - 1] != '\n') /* the first line that differs */
        at--;
    if (strcmp(a, b) != 0)
        fail_msg("after '%s' the reader has '%.*s', the follower '%.*s'", after, (int)strcspn(a + at, "\n"), a + at,
                 (int)strcspn(b + at, "\n"), b + at);
    free(a);
    free(b);
}

static void follow(void *context, const char *lines)
{
    Err err = {""};
    (void)context;
    if (!command_do(&follower, &commands, lines, ALL, &err))
        fail_msg("what came to '%s' fails: %s", lines, err.text);
}

static int start_two(void **state)
{
    Err err = {""};
    start(state);
    if (!session_init(&follower, NULL, NULL, 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int stop_two(void **state)
{
    session_free(&follower);
    return stop(state);
}

/* Places and ways of seeing of every screen, and every edit verb: what is written and read again is the same. */
static const char *const STATES[] = {
    "goto first",
    "goto blocks.1.mlp.post[t=r2c2]; view numbers; pool 4 mean",
    "goto pattern; view sheet; head 2",
    "goto blocks.2.attn.pattern[h=1,t=r3c4,u=r0c0]; view matrix; average on; colours viridis; colours lock",
    "goto blocks.0.attn.scores_raw[h=3]; view row",
    "view positions; view centred; view grids",
    "goto blocks.1.attn.pattern[h=1,t=r3c4,u=r0c0]; view formula; move down 3; move right",
    "goto blocks.1.attn.pattern[h=1,t=r3c4,u=r0c0]; view close-up; play next; play next; play next; move down 4",
    "view answer; move down 2",
    "goto blocks.1.attn.z[h=1,t=r1c1,e=3]; view worked; play next; play next",
    "training 0; query r2c2",
    "filters components; filters 3",
    "heads; head 1",
    "where attention; head 2; query r1c1",
    "where gradient",
    "goto blocks.2.attn.q[t=r3c4,h=2,e=15]; move right; move down",
    "lens 1",
    "alike 1 r2c3; option alike-first lengths",
    "laboratory head; laboratory 3",
    "census; block 2",
    "confusion; move down 2; move right 3",
    "neuron 1.37; move right 2",
    "pin; open #4; patching tokens of=star against=ring; option patch-row 1; option patch-column 7; view next",
    "ledger star against=ring; block 1; head 2",
    "zoom",
    "map; box open blocks.2; next 3",
    "gradient logits[o=3]; goto grad.image",
    "set scale off",
    "set scale x2 at=blocks.1[h=2]",
    "set precision bf16",
    "set blocks.1.attn.z[h=2,t=r1c1,e=0] 4.5; compare diff",
    "ablate blocks.1.attn.z[h=2]; ablate blocks.0.mlp; compare a",
    "ablate blocks.1.attn.z[h=2] mean",
    "skip mlp block=1; skip layernorm; skip residual block=0; skip positions",
    "mask causal; goto blocks.0.attn.scores_masked",
    "mask blocks.0.attn.scores_scaled[u=cls]",
    "shuffle seed=5; grey r3c4; swap r0c0 r1c1",
    "pin; open #4; grey r1c1; compare sides; goto blocks.1.attn.pattern[h=3]",
    "grey r1c1; pin; reset edits; open #5; patch blocks.1.attn.z from=a; compare b",
};

static bool has_zoom(const char *line)
{
    return strstr(line, "zoom") != NULL;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    Err err = {""};
    bool seen[SCREEN_COUNT] = {false};
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++) {
        run("pin off; reset edits; reset view; gradient off; open #17; goto first");
        if (has_zoom(STATES[i]))
            s.look.zoomed = true;
        else
            run(STATES[i]);
        seen[s.place.screen] = true;
        char *text = text_of(&s, STATE_WHOLE | STATE_INPUT);
        if (!session_read(&follower, &commands, text, ALL, &err))
            fail_msg("%s: %s", STATES[i], err.text);
        same_state(STATES[i]);
        assert_memory_equal(s.place.at, follower.place.at, sizeof s.place.at);
        assert_true(s.place.screen == follower.place.screen && s.place.box == follower.place.box &&
                    s.place.term == follower.place.term && s.place.operand == follower.place.operand);
        free(text);
    }
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (!seen[i] && i != SCREEN_BLANKS && /* the bundled model guesses no patches: test_hide */
            !screen_spec((Screen)i)->words)   /* those of words: below */
            fail_msg("no state stands on the screen %s", screen_name((Screen)i));
    const EditVerb *v;
    for (int i = 0; (v = edit_verb_at(i)) != NULL; i++) {
        bool there = strcmp(v->words, "hide") == 0;
        for (size_t k = 0; k < sizeof STATES / sizeof *STATES; k++)
            there = there || strstr(STATES[k], v->words);
        if (!there)
            fail_msg("no state has the edit '%s'", v->words);
    }
}

static const char *const STATES_OF_WORDS[] = {
    "goto decoder.blocks.1.cross_attn.pattern[h=1,t=4,r=2]; option heads all",
    "goto encoder.blocks.0.self_attn.scores_raw[h=3,s=2,r=5]; view sentence",
    "view waves; onward 4; move right 3; move down",
    "view writing; move down 5",
    "word tired wide; view writing; move down 10; compare b",
    "view stream; move right 3; move down",
    "tokens target; move down 2; option token-step 2",
    "decode beam 3 alpha=0.75; move down 4",
    "decode draw 12 temperature=2.5 top-k=9 top-p=0.95 cache=off",
    "word target il elle; goto decoder.blocks.2.cross_attn.pattern[h=2]; view matrix",
};

/* The same of a model that reads words, with every screen that only such a model has. */
static void words_are_written_and_read(void **state)
{
    (void)state;
    Err err = {""};
    bool seen[SCREEN_COUNT] = {false};
    session_free(&s);
    session_free(&follower);
    if (!session_init(&s, "translator", NULL, 1, NULL, NULL, &err) ||
        !session_init(&follower, "translator", NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof STATES_OF_WORDS / sizeof *STATES_OF_WORDS; i++) {
        run("pin off; reset edits; reset view; goto first");
        run("open \"the animal did not cross the street because it was too tired\"");
        run(STATES_OF_WORDS[i]);
        seen[s.place.screen] = true;
        char *text = text_of(&s, STATE_WHOLE | STATE_INPUT);
        if (!session_read(&follower, &commands, text, ALL, &err))
            fail_msg("%s: %s", STATES_OF_WORDS[i], err.text);
        same_state(STATES_OF_WORDS[i]);
        assert_memory_equal(s.place.at, follower.place.at, sizeof s.place.at);
        assert_true(s.place.screen == follower.place.screen && s.place.box == follower.place.box);
        free(text);
    }
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (screen_spec((Screen)i)->words && !seen[i] && i != SCREEN_EXPERTS) /* which no bundled model has */
            fail_msg("no state stands on the screen %s", screen_name((Screen)i));
}

/* A link leads a session just opened there. */
static void a_link_leads_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++) {
        Buf address = {0}, rest = {0}, line = {0};
        Err err = {""};
        stop_two(NULL);
        start_two(NULL);
        if (has_zoom(STATES[i]))
            continue;
        run(STATES[i]);
        session_write_link(&s, &address, &rest);
        Session *t = &follower;
        if (strcmp(session_input(&s, SIDE_B)->path, session_input(t, SIDE_B)->path) != 0)
            assert_true(session_open_input(t, session_input(&s, SIDE_B)->path, &err));
        buf_printf(&line, "goto \"%s\"", buf_str(&address));
        command_do(t, &commands, buf_str(&line), 0, NULL); /* an edit may have to make the place first */
        if (!session_read(t, &commands, buf_str(&rest), ALL, &err) ||
            !command_do(t, &commands, rest.len && strstr(buf_str(&rest), "place ") ? "" : buf_str(&line), 0, &err))
            fail_msg("%s: %s: %s", STATES[i], buf_str(&rest), err.text);
        same_state(STATES[i]);
        buf_free(&address);
        buf_free(&rest);
        buf_free(&line);
    }
}

static void reading_is_all_or_nothing(void **state)
{
    (void)state;
    static const char *const LINES[] = {"goto last; view numbers; box open blocks.2; nonsense",
                                        "set scale off; grey r1c1; goto nowhere",
                                        "open #4; pin; open #5; ablate blocks.1.attn.z[h=2]; compare diff; pool 3",
                                        "pin off; reset edits; gradient off; goto 999",
                                        "goto logits\noption snapshot 99999"};
    run("skip mlp block=1; pin; open #8; grey r2c2; gradient logits[o=2]; goto blocks.1.attn.pattern[h=2]; view "
        "matrix");
    char *before = text_of(&s, STATE_WHOLE | STATE_INPUT);
    uint64_t hash_a, hash_b, now;
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(&s, SIDE_A, &hash_a) && session_hash(&s, SIDE_B, &hash_b));
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        Err err = {""};
        assert_false(session_read(&s, &commands, LINES[i], ALL, &err));
        assert_true(*err.text);
        char *after = text_of(&s, STATE_WHOLE | STATE_INPUT);
        assert_string_equal(before, after);
        free(after);
        assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
        assert_true(session_hash(&s, SIDE_A, &now) && now == hash_a);
        assert_true(session_hash(&s, SIDE_B, &now) && now == hash_b);
    }
    free(before);
}

static struct {
    int count;
    char last[4096];
} logged;

static void note(void *context, const char *lines)
{
    (void)context;
    logged.count++;
    snprintf(logged.last, sizeof logged.last, "%s", lines);
}

static void the_log_says_what_it_came_to(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *resolved;
    } CASES[] = {{"set scale toggle", "set scale off\n"},
                 {"set scale toggle", "reset edits\n"},
                 {"goto pattern", "place blocks.0.attn.pattern["},
                 {"head +1", "h=1,"},
                 {"ablate", "ablate blocks.0.attn.z[h=1]\ncompare sides\n"},
                 {"undo", "reset edits\n"},
                 {"average", "option average on\n"},
                 {"view next", "place blocks.0.attn.pattern["}};
    log_follow(&s, note, NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        run(CASES[i].typed);
        assert_int_equal(logged.count, i + 1);
        if (!strstr(logged.last, CASES[i].resolved))
            fail_msg("'%s' came to '%s'", CASES[i].typed, logged.last);
    }
    int before = logged.count;
    refused("goto nowhere", "nowhere"); /* what failed and changed nothing is not there */
    assert_int_equal(logged.count, before);
    run("say"); /* what only asked comes to nothing */
    assert_string_equal(logged.last, "");
    log_follow(&s, NULL, NULL);
}

static void a_replay_stands_where_the_reader_stood(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"next",
                                        "prev",
                                        "in",
                                        "back",
                                        "move down 3",
                                        "move right",
                                        "move up",
                                        "move left 9",
                                        "ablate",
                                        "undo",
                                        "redo",
                                        "set scale toggle",
                                        "compare next",
                                        "view next",
                                        "block +1",
                                        "head +1",
                                        "head -1",
                                        "block -1",
                                        "query +1",
                                        "map",
                                        "box open",
                                        "box close",
                                        "pool coarser",
                                        "colours next",
                                        "average",
                                        "pin",
                                        "pin off",
                                        "open #4",
                                        "goto 12",
                                        "goto pattern",
                                        "mask causal",
                                        "shuffle",
                                        "skip mlp",
                                        "set . 2",
                                        "view sheet",
                                        "view formula",
                                        "view positions",
                                        "grid",
                                        "reset edits",
                                        "restore",
                                        "find block",
                                        "hide",
                                        "grey",
                                        "swap r0c0",
                                        "mark a",
                                        "mark a go",
                                        "laboratory +1",
                                        "where next",
                                        "heads",
                                        "census",
                                        "lens 1",
                                        "filters +1",
                                        "view answer",
                                        "gradient logits[o=1]",
                                        "gradient off",
                                        "showcase",
                                        "colours lock",
                                        "set precision bf16",
                                        "looked +1",
                                        "restore"};
    Rng r = rng_seed(7, 8);
    log_follow(&s, follow, NULL);
    for (int i = 0; i < 700; i++) {
        const char *word = WORDS[rng_below(&r, sizeof WORDS / sizeof *WORDS)];
        Err err;
        command_do(&s, &commands, word, ALL, &err);
        same_state(word);
    }
    log_follow(&s, NULL, NULL);
}

/* One attempt of each kind from a link or a lesson, and what touches no file is allowed. */
static void links_and_lessons_open_no_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/vitrine-permit-XXXXXX", values[64], picture[64], line[256];
    assert_non_null(mkdtemp(folder));
    snprintf(values, sizeof values, "%s/z.npy", folder);
    snprintf(picture, sizeof picture, "%s/p.ppm", folder);
    assert_true(file_write(picture, "P6 1 1 255\nabc", 14, NULL));
    snprintf(line, sizeof line, "export %s blocks.1.attn.z", values);
    run(line);
    static const char *const LINES[] = {"open %s",
                                        "open -",
                                        "model %s",
                                        "patch blocks.1.attn.z from=%s",
                                        "diff %s",
                                        "diff %s map=%s",
                                        "export %s blocks.1.attn.z"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        const char *file = i == 0 ? picture : values;
        Err err = {""};
        char *before = text_of(&s, STATE_WHOLE | STATE_INPUT);
        snprintf(line, sizeof line, "%s", LINES[i]);
        char *at = strstr(line, "%s");
        if (at) {
            char rest[64];
            snprintf(rest, sizeof rest, "%s", at + 2);
            snprintf(at, sizeof line - (size_t)(at - line), "%s%s", file,
                     strstr(rest, "%s") ? " map=/etc/passwd" : rest);
        }
        for (int way = 0; way < 2; way++) {
            err.text[0] = 0;
            if (way ? session_read(&s, &commands, line, LINE_FOREIGN, &err)
                    : command_do(&s, &commands, line, LINE_FOREIGN, &err))
                fail_msg("'%s' was allowed", line);
            if (!strstr(err.text, "files are neither read nor written"))
                fail_msg("'%s': %s", line, err.text);
        }
        char *after = text_of(&s, STATE_WHOLE | STATE_INPUT);
        assert_string_equal(before, after);
        free(before);
        free(after);
    }
    Err err = {""};
    assert_true(command_do(&s, &commands, "open #4; model bundled; pin; open #5; patch blocks.1.attn.z from=a",
                           LINE_FOREIGN, &err));
    assert_false(command_do(&s, &commands, "set scale off", 0, &err)); /* nor is the model changed where that is not */
    assert_false(command_do(&s, &commands, "edits drop 1", 0, &err));
    assert_true(command_do(&s, &commands, "edits", LINE_FOREIGN, &err));
    snprintf(line, sizeof line, "reset edits; pin off; patch blocks.1.attn.z from=%s", values);
    run(line); /* the reader may */
    remove(values);
    remove(picture);
    rmdir(folder);
}

static void options_are_checked(void **state)
{
    (void)state;
    refused("option colour auto", "did you mean colours");
    refused("option view upside-down", "is no view");
    refused("option average maybe", "expected on or off");
    refused("option pool 33", "1 to 32");
    refused("option pool -1", "expected a number");
    refused("option snapshot 100000", "no snapshot");
    refused("option range 3:1", "LOW:HIGH");
    refused("option range nan:1", "LOW:HIGH");
    refused("option colours pink", "no colour map");
    refused("option view", "name of an option");
    refused("place nowhere", "there is no node");
    refused("place blocks.1", "group of nodes");
    refused("place image screen=matrix", "no rows of tokens");
    refused("place image screen=upstairs", "no screen");
    refused("place image at=q:1", "there is no axis");
    refused("place image at=h:99", "goes from 0 to");
    refused("place image at=h", "AXIS:INDEX");
    refused("place image operand=3", "up to 2");
    refused("place image term=x", "expected a number");
    refused("place image box=nowhere", "no box");
    refused("edits drop 1", "0 are in force");
    refused("edits drop", "expected nothing, or drop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, start_two, stop_two),
        cmocka_unit_test_setup_teardown(words_are_written_and_read, start_two, stop_two),
        cmocka_unit_test_setup_teardown(a_link_leads_there, start_two, stop_two),
        cmocka_unit_test_setup_teardown(reading_is_all_or_nothing, start, stop),
        cmocka_unit_test_setup_teardown(the_log_says_what_it_came_to, start, stop),
        cmocka_unit_test_setup_teardown(a_replay_stands_where_the_reader_stood, start_two, stop_two),
        cmocka_unit_test_setup_teardown(links_and_lessons_open_no_file, start, stop),
        cmocka_unit_test_setup_teardown(options_are_checked, start, stop),
    };
    return cmocka_run_group_tests_name("core/session state", tests, NULL, NULL);
}
