/* The glossary: every entry is found by its name, and so is the word under the mouse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/models/names.h"
#include "core/session/ask/ask.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"
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

static bool is_word(const char *word, const char *of)
{
    return strcmp(word, of) == 0;
}

/* What the reader sees is what is meant: a word that names the node in focus, or a letter of its shape, is that one and
 * no other of the model. */
static void check_words(const Session *t, const Canvas *c)
{
    const Graph *g = session_graph(t, SIDE_B);
    const Node *node = graph_node(g, session_node(t, SIDE_B, t->place.path));
    const NodeText *own = node_text(node->path);
    Overlay o = {0};
    int classes = 0;
    words_menu(&o, t, &all, c);
    for (int i = 1; i < o.count && strcmp(o.items[i].text, "all words") != 0; i++) {
        const char *word = o.items[i].command + strlen("glossary ");
        Buf about = {0};
        if (!word[strspn(word, "0123456789")] || is_word(word, "through")) /* "step 1 of 64", "walk through it" */
            fail_msg("at %s, '%s' is explained", node->path, word);
        assert_true(words_entry(t, &all, word, &about));
        const char *says = buf_str(&about);
        if (strstr(o.items[i].text, "the answer is read from") && !strstr(node->path, "rollout")) /* any row */
            fail_msg("at %s, '%s' is: %s", node->path, word, says);
        if (is_word(word, "in") && strncmp(says, "in: ", 4) != 0) /* Enter, in the footer */
            fail_msg("at %s, '%s' is: %s", node->path, word, says);
        classes += strstr(o.items[i].text, "classes that this model names") != NULL;
        bool named = is_word(word, node_name(node)) ||
                     (own && (is_word(word, own->label) || is_word(word, own->symbol)));
        if (named && strncmp(says, node->path, strlen(node->path)) != 0)
            fail_msg("at %s, '%s' is: %s", node->path, word, says);
        const Box *box = &t->stages.boxes[place_box(t)]; /* its symbol stands in the header */
        if (!named && is_word(word, box->symbol) && !strstr(says, box->sentence) &&
            strncmp(says, node->path, strlen(node->path)) != 0)
            fail_msg("at %s, '%s' is: %s", node->path, word, says);
        for (int k = 0; k < node->dims.n && !named; k++) {
            const Axis *a = &g->axes[node->dims.axis[k]];
            char first[96];
            snprintf(first, sizeof first, "%s (a letter of shapes and addresses): %s, %d", a->sym, a->name, a->n);
            if (is_word(word, a->sym) &&
                (strncmp(says, first, strlen(first)) != 0 || strstr(says + strlen(first), " (a letter")))
                fail_msg("at %s, '%s' is: %s", node->path, word, says);
        }
        buf_free(&about);
    }
    if (classes > 1)
        fail_msg("%s: %d classes are explained", node->path, classes);
    overlay_free(&o);
}

/* An elision is a word with its apostrophe: n' is no n, "how many pictures". */
static void elided_words(void **state)
{
    (void)state;
    Session t;
    Canvas c = {0};
    Buf about = {0};
    char word[64];
    opened_session(&t, "translator", "the animal did not cross the street");
    canvas_init(&c, 1, 80);
    canvas_text(&c, 0, 0, 80, STYLE_TEXT, "traversé n' 'head' 'l'");
    assert_true(words_at(&t, &all, &c, 0, 9, word, sizeof word) && is_word(word, "n'"));
    assert_true(words_entry(&t, &all, word, &about));
    assert_string_equal(buf_str(&about), "n': a word of the target (t=3)\n");
    assert_true(words_at(&t, &all, &c, 0, 13, word, sizeof word) && is_word(word, "head")); /* in quotes */
    static const char *const ANIMAL[][2] = {{"animal", "animal: a word of the source (s=1) and of the target (t=2)\n"},
                                            {"street", "street: a word of the source (s=6)\n"},
                                            {"femme", "femme: one of the 156 words that this model can write\n"}};
    for (size_t i = 0; i < sizeof ANIMAL / sizeof *ANIMAL; i++) {
        about.len = 0;
        assert_true(words_entry(&t, &all, ANIMAL[i][0], &about));
        assert_string_equal(buf_str(&about), ANIMAL[i][1]);
    }
    buf_free(&about);
    canvas_free(&c);
    session_free(&t);
}

/* Letters of the hint and the footer are keys, and mean no axis. */
static void keys_are_no_letters(void **state)
{
    (void)state;
    Session t;
    Canvas c = {0};
    char word[64];
    opened_session(&t, NULL, "#17");
    canvas_init(&c, 24, 80);
    canvas_text(&c, 0, 0, 80, STYLE_STRONG, "what does √d_k do (s) · lesson 0 (t)");
    canvas_text(&c, 1, 0, 80, STYLE_KEY, "t");
    canvas_text(&c, 2, 0, 80, STYLE_HEADER, "q k v (t)");
    assert_false(words_at(&t, &all, &c, 0, 19, word, sizeof word));
    assert_false(words_at(&t, &all, &c, 0, 34, word, sizeof word));
    assert_false(words_at(&t, &all, &c, 1, 0, word, sizeof word));
    assert_true(words_at(&t, &all, &c, 2, 7, word, sizeof word) && is_word(word, "t"));
    canvas_text(&c, 3, 0, 80, STYLE_STRONG, "All of it is off.  s undoes");
    assert_false(words_at(&t, &all, &c, 3, 19, word, sizeof word));
    canvas_text(&c, 4, 0, 80, STYLE_SIDE_A, "A");
    assert_true(words_at(&t, &all, &c, 4, 0, word, sizeof word) && is_word(word, "A and B"));
    canvas_text(&c, 5, 0, 80, STYLE_AXIS, "0.994  own");
    assert_true(words_at(&t, &all, &c, 5, 8, word, sizeof word) && is_word(word, "own"));
    canvas_free(&c);
    session_free(&t);
}

static void check_screen(Session *t)
{
    Canvas c = {0};
    canvas_init(&c, 40, 120);
    Paint p = {.s = t, .c = &c, .mode = MODE_256};
    Frame f = frame_layout(t, 40, 120, true);
    frame_draw(&p, &f, &(FrameState){.message = "", .status = ""});
    check_words(t, &c);
    canvas_free(&c);
}

static void every_screen_means_its_own_node(void **state)
{
    (void)state;
    static const char *const MODELS[] = {NULL, "translator", "tests/data/families/words_mixtral"};
    bool drawn[SCREEN_COUNT] = {false};
    for (int m = 0; m < 3; m++) {
        Session t;
        Err err;
        opened_session(&t, MODELS[m], !m ? "#17" : m < 2 ? "the cat is tired" : "ids:1,2,3,4");
        assert_true(session_step(&t, NULL, 0, CLOCK_NEVER)); /* the pass; what is measured has its words without it */
        for (int box = 0; m < 2 && box < t.stages.count; box++) { /* the third is for the screen of experts alone */
            char line[SESSION_PATH + 16];
            const Box *b = &t.stages.boxes[box];
            const char *in = m && strncmp(b->path, "encoder.", 8) == 0 ? "encoder.blocks.1."
                             : m                                       ? "decoder.blocks.1."
                                                                       : "blocks.1.";
            if (b->depth > 0 && (strncmp(b->path, in, strlen(in)) != 0 || b->depth > 1))
                continue; /* every step outside the blocks and of one block of each stack */
            snprintf(line, sizeof line, "goto %s", b->path);
            if (!command_do(&t, &all, line, LINE_OWN, &err))
                fail_msg("%s: %s", line, err.text);
            check_screen(&t);
            drawn[t.place.screen] = true;
            for (int screen = 0; screen < SCREEN_COUNT; screen++) {
                snprintf(line, sizeof line, "view %s", screen_name((Screen)screen));
                if (!drawn[screen] && command_do(&t, &all, line, LINE_OWN, &err)) {
                    check_screen(&t);
                    drawn[t.place.screen] = true;
                }
            }
        }
        for (int screen = 0; m < 2 && screen < SCREEN_COUNT; screen++) {
            char line[128];
            snprintf(line, sizeof line, "goto %s; %s%s", site_path_any(session_base(&t), SITE_KEY),
                     screen_spec((Screen)screen)->group == GROUP_LEARNED ? "" : "view ", screen_name((Screen)screen));
            if (command_do(&t, &all, line, LINE_OWN, &err)) { /* where that model has it */
                check_screen(&t);
                drawn[t.place.screen] = true;
            }
        }
        static const char *const OTHERS[] = {"goto logits; view formula", "goto logits; ledger", "decode", "experts"};
        for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
            if (command_do(&t, &all, OTHERS[i], LINE_OWN, &err)) {
                check_screen(&t);
                drawn[t.place.screen] = true;
            }
        session_free(&t);
    }
    for (int screen = 0; screen < SCREEN_COUNT; screen++)
        if (!drawn[screen])
            fail_msg("%s was not drawn", screen_name((Screen)screen));
    /* the words that meant something else */
    static const struct {
        const char *at, *word, *means;
    } WERE[] = {{"blocks.1.attn.k", "k", "blocks.1.attn.k["},
                {"blocks.1.attn.scores_raw", "scaled", "scaled, step"},
                {"blocks.1.attn.scores_scaled", "scaled", "blocks.1.attn.scores_scaled["},
                {"image", "R", "R: c=0 of 3"},
                {"blocks.1.attn.pattern", "k", "blocks.0.attn.k["},
                {"blocks.1", "z", "blocks.1.resid_post["}};
    for (size_t i = 0; i < sizeof WERE / sizeof *WERE; i++) {
        Buf about = {0};
        char line[SESSION_PATH + 16];
        Err err;
        snprintf(line, sizeof line, "goto %s", WERE[i].at);
        assert_true(command_do(&s, &all, line, LINE_OWN, &err));
        assert_true(words_entry(&s, &all, WERE[i].word, &about));
        if (strncmp(buf_str(&about), WERE[i].means, strlen(WERE[i].means)) != 0)
            fail_msg("at %s, '%s' is: %s", WERE[i].at, WERE[i].word, buf_str(&about));
        buf_free(&about);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_is_found),     cmocka_unit_test(words_that_are_asked_for),
        cmocka_unit_test(the_word_under_the_mouse), cmocka_unit_test(elided_words),
        cmocka_unit_test(keys_are_no_letters),      cmocka_unit_test(every_screen_means_its_own_node),
    };
    return cmocka_run_group_tests_name("tui/words", tests, start, stop);
}
