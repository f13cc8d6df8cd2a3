/* Text models on screen: what stands there speaks of words, never of pictures; the words of the input stay on top, and
 * none of them is a bare number where the vocabulary has a name for it. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/models/names.h"
#include "core/session/learned/decoding.h"
#include "core/session/screens.h"
#include "core/session/screens/answer.h"
#include "tests/core_models/text_bench.h"
#include "tests/tui/opened.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/dots.h"
#include "tui/canvas/export.h"
#include "tui/desk.h"
#include "tui/frame.h"
#include "tui/keymap.h"
#include "tui/overlay.h"
#include "tui/views/attention/word_pool.h"
#include "tui/views/classes.h"
#include "tui/views/learned/alike_room.h"
#include "tui/views/shown.h"
#include "tui/words.h"

static const char SENTENCE[] = "the animal did not cross the street because it was too tired";
static const int SIZES[][2] = {{24, 80}, {40, 120}};

static Session s;
static Commands all;
static Overlay lists;
static Canvas c;
static ColourMode mode = MODE_256;
static Err error;
static char where[400]; /* what the test is at, for its messages */

static bool run(const char *line)
{
    error.text[0] = 0;
    return command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error);
}

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, "translator", SENTENCE);
    canvas_init(&c, 1, 1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    canvas_free(&c);
    overlay_free(&lists);
    commands_free(&all);
    return 0;
}

/* "r3c4": a place in a picture. */
static bool is_place(const char *word)
{
    int row, col, used = 0;
    return sscanf(word, "r%dc%d%n", &row, &col, &used) == 2 && !word[used];
}

/* Does a word of pictures stand in the text? */
static void look_for_pictures(const char *text)
{
    static const char *const PICTURES[] = {"patch", "patches", "pixel", "pixels", "picture", "pictures",
                                           "image", "images",  "photo", "class",  "classes", "cls"};
    char word[64];
    size_t n = 0;
    for (const char *at = text;; at++) {
        if (isalnum((unsigned char)*at) && n + 1 < sizeof word) {
            word[n++] = (char)tolower((unsigned char)*at);
            continue;
        }
        word[n] = 0;
        n = 0;
        bool found = is_place(word);
        for (size_t i = 0; i < sizeof PICTURES / sizeof *PICTURES; i++)
            found = found || strcmp(word, PICTURES[i]) == 0;
        if (found)
            fail_msg("%s: '%s' in %.300s", where, word, text);
        if (!*at)
            return;
    }
}

/* A cell of a text's words shows the word. */
static void look_for_numbers(void)
{
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            if (k->ref.run == SIDE_NONE)
                continue;
            const Graph *g = session_graph(&s, (Side)k->ref.run);
            if (anatomy_vocabulary(g, k->ref.node) != AXIS_NONE && (k->level || (k->ch >= '0' && k->ch <= '9')))
                fail_msg("%s: a word is a number, line %d column %d", where, y, x);
        }
}

static void draw(int h, int w)
{
    canvas_resize(&c, h, w);
    canvas_clear(&c);
    Frame f = frame_layout(&s, h, w, true);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = mode};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
}

static void line_of(int y, Buf *out)
{
    buf_clear(out);
    for (int x = 0; x < c.w; x++) {
        char bytes[5] = {0};
        uint32_t ch = c.cells[y * c.w + x].ch;
        utf8_put(bytes, ch ? ch : ' ');
        buf_puts(out, bytes);
    }
}

static bool on_screen(const char *text)
{
    Buf line = {0};
    bool found = false;
    for (int y = 0; y < c.h; y++) {
        line_of(y, &line);
        found = found || strstr(buf_str(&line), text);
    }
    buf_free(&line);
    return found;
}

/* The text that is read and the one that is written, whole, above all panes. */
static void look_for_words(void)
{
    static const char *const WORDS[] = {"reads ", "the animal did not cross", "writes ", "pas travers"};
    Buf line = {0};
    int found[4] = {0};
    for (int y = 0; y < 5; y++) {
        line_of(y, &line);
        size_t n = 0; /* without what marks the cursor */
        for (const char *at = buf_str(&line); *at; at++)
            if (!strchr("[]<>", *at))
                line.data[n++] = *at;
        line.data[n] = 0;
        for (int i = 0; i < 4; i++)
            found[i] += strstr(buf_str(&line), WORDS[i]) != NULL;
    }
    for (int i = 0; i < 4; i++)
        if (!found[i])
            fail_msg("%s: no '%s' on top", where, WORDS[i]);
    buf_free(&line);
}

/* The lesson that t offers here is one of those about the translator, of 1/√d_k the one about that. */
static void look_for_the_lesson(void)
{
    Buf offer = {0};
    const Graph *g = session_base(&s);
    int lesson = 0;
    bool scale = site_is(g, s.place.path, SITE_SCALE) || site_is(g, s.place.path, SITE_SCORES_SCALED);
    if (!desk_offer(&s, &offer) || sscanf(buf_str(&offer), "Lesson %d", &lesson) != 1 ||
        (scale ? lesson != 6 : lesson < 15 || lesson > 19))
        fail_msg("%s, %s: its lesson is '%s': name the screen or the node in `explains` of one of 15 to 19", where,
                 s.place.path, buf_str(&offer));
    buf_free(&offer);
}

/* The screen, what is said about it, and the map of steps. */
static void look(const char *what)
{
    Buf line = {0};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        snprintf(where, sizeof where, "%s at %dx%d", what, SIZES[i][1], SIZES[i][0]);
        draw(SIZES[i][0], SIZES[i][1]);
        for (int y = 0; y < c.h; y++) {
            line_of(y, &line);
            look_for_pictures(buf_str(&line));
        }
        look_for_numbers();
        look_for_words();
    }
    snprintf(where, sizeof where, "%s", what);
    look_for_the_lesson();
    static const char *const SAID[] = {"say", "say screen"};
    for (int i = 0; i < 2; i++)
        if (run(SAID[i]))
            look_for_pictures(buf_str(&s.said));
    buf_free(&line);
}

static void every_screen(void **state)
{
    (void)state;
    static const char *const WAYS[] = {"compare sides", "compare diff"};
    for (int edited = 0; edited < 2; edited++) {
        for (int i = 0; i < SCREEN_COUNT; i++) {
            const char *command = screen_spec((Screen)i)->command;
            if (!command)
                continue;
            for (int k = 0; k < 1 + edited; k++) {
                char what[100];
                if (!run("reset view; goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]"))
                    fail_msg("before %s: %s", command, error.text);
                if (!run(command)) /* says what this model lacks */
                    continue;
                assert_true(!edited || run(WAYS[k]));
                snprintf(what, sizeof what, "%s, %s%s", command, WAYS[k], edited ? ", another word" : "");
                look(what);
            }
        }
        if (!edited)
            assert_true(run("word tired wide"));
    }
    assert_true(run("pin off; reset edits; open \"the animal did not cross the street because it was too tired\""));
}

static void every_step(void **state)
{
    (void)state;
    static const char *const WAYS[] = {"view heat", "view numbers", "view strip", "view histogram"};
    int total;
    assert_true(run("goto first"));
    session_step_number(&s, &total);
    for (int step = 0; step < total; step++, assert_true(run("next"))) {
        char what[SESSION_PATH + 32];
        snprintf(what, sizeof what, "the step %s", s.place.path);
        look(what);
        for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
            run(WAYS[i]);
            snprintf(what, sizeof what, "%s of %s", WAYS[i], s.place.path);
            look(what);
        }
        run("reset view");
    }
}

/* Of every number inside the steps too, a ledger's and a gradient's among them. */
static void every_node(void **state)
{
    (void)state;
    assert_true(run("goto logits[t=10,v=il]; ledger; gradient logits[t=10,v=il]"));
    const Graph *g = session_graph(&s, SIDE_B);
    for (NodeId n = 0; n < g->count; n++) {
        const NodeText *text = node_text(graph_node(g, n)->path);
        snprintf(where, sizeof where, "%s", graph_node(g, n)->path);
        if (!text || *text->sentence == 0)
            continue;
        look_for_pictures(text->label);
        look_for_pictures(text->sentence);
    }
    assert_true(run("gradient off"));
}

/* Headings name groups (the class that follows a teacher), and `patch` is what activation patching is called. */
static void look_at_list(void)
{
    for (int k = 0; k < lists.count; k++) {
        const Item *item = &lists.items[k];
        if (!item->command || strncmp(item->command, "prompt patch", 12) == 0)
            continue;
        look_for_pictures(item->text);
        look_for_pictures(item->about ? item->about : "");
    }
}

static void help_and_lists(void **state)
{
    (void)state;
    static const char *const LISTS[] = {"help",      "menu open", "menu view", "menu learned", "menu marks",
                                        "menu find", "info",      "why",       "explain",      "ledger; say"};
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        snprintf(where, sizeof where, "%s", LISTS[i]);
        assert_true(run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]"));
        overlay_close(&lists);
        assert_true(run(LISTS[i]));
        look_for_pictures(buf_str(&s.said));
        look_for_pictures(buf_str(&lists.text));
        look_at_list();
    }
    for (int page = 0; page < HELP_PAGES; page++) {
        snprintf(where, sizeof where, "help page %d", page);
        overlay_help(&lists, &s, NULL, &all, page);
        assert_true(lists.count > 10);
        look_at_list();
    }
    Buf command = {0};
    overlay_help(&lists, &s, NULL, &all, HELP_SEARCH);
    for (const char *p = "where does"; *p; p++)
        overlay_key(&lists, (char[]){*p, 0}, &command);
    assert_int_equal(overlay_key(&lists, "Enter", &command), OVERLAY_RUN);
    assert_string_equal(buf_str(&command), "task it"); /* Where does "it" look?: the line that begins so */
    buf_free(&command);
    overlay_close(&lists);
}

/* A word of the texts is found before a part of a step's name; Enter goes to it, here or where the model gets it. */
static void words_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *place, *word, *there;
    } WAYS[] = {{"goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]", "it", "looked it"},
                {"goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]", "ani", "looked animal"},
                {"goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=1]", "rue", "query rue"},
                {"goto decoder.blocks.2.mlp.pre", "it", "goto encoder.tokens[s=8]"}};
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        Buf command = {0};
        assert_true(run(WAYS[i].place));
        overlay_find_menu(&lists, &s);
        for (const char *p = WAYS[i].word; *p; p++)
            overlay_key(&lists, (char[]){*p, 0}, &command);
        assert_int_equal(overlay_key(&lists, "Enter", &command), OVERLAY_RUN);
        assert_string_equal(buf_str(&command), WAYS[i].there);
        assert_true(run(buf_str(&command)));
        buf_free(&command);
    }
    assert_string_equal(s.place.path, "encoder.tokens");
}

/* What a row may not look at is masked, no weight of 0 with a rank: rank, entropy and "uniform" are of those it
 * sees. */
static void the_masked_are_no_weights(void **state)
{
    (void)state;
    static const char *const VIEWS[] = {"sentence", "row"};
    for (int seen = 1; seen <= 15; seen += 7) {
        char address[96], of[32], most[32], rank[32];
        snprintf(address, sizeof address, "goto decoder.blocks.2.self_attn.pattern[h=0,t=%d,u=0]", seen - 1);
        assert_true(run(address));
        snprintf(rank, sizeof rank, "of %d", seen);
        utf8_print(most, sizeof most, " of %.3f", log(seen));
        snprintf(of, sizeof of, "%d masked", 15 - seen);
        for (int i = 0; i < 2; i++) {
            snprintf(where, sizeof where, "view %s", VIEWS[i]);
            assert_true(run(where));
            draw(40, 120);
            Buf text = {0};
            export_text(&c, &text);
            const char *ranked = strstr(buf_str(&text), "   rank "); /* "rank 2 of 8" */
            assert_non_null(ranked);
            assert_true(strncmp(strstr(ranked, "of "), rank, strlen(rank)) == 0);
            assert_non_null(strstr(buf_str(&text), most));
            assert_int_equal(strstr(buf_str(&text), of) != NULL, seen < 15);
            buf_free(&text);
        }
        assert_true(run("looked 14"));
        draw(40, 120);
        Buf text = {0};
        export_text(&c, &text);
        assert_int_equal(strstr(buf_str(&text), "] = 0   masked") != NULL, seen < 15);
        buf_free(&text);
    }
    /* of fewer lines than words the largest weight of the row is among them, on both sides the same words */
    assert_true(run("goto decoder.blocks.2.self_attn.pattern[h=0,t=5,u=14]; view sentence"));
    draw(16, 100);
    Attend a;
    assert_true(attend_open(&s, SIDE_B, -1, &a) && a.v.values);
    size_t best = attend_cell(&a, 0, 5, 0);
    for (int u = 1; u < 15; u++)
        best = a.v.values[attend_cell(&a, 0, 5, u)] > a.v.values[best] ? attend_cell(&a, 0, 5, u) : best;
    bool seen = false;
    for (int i = 0; i < c.h * c.w; i++)
        seen = seen || (c.cells[i].ref.run && c.cells[i].ref.node == a.v.node && c.cells[i].ref.cell == best);
    assert_true(seen);
}

/* With all heads side by side a weight has one colour wherever it stands, and a larger one another. */
static void a_weight_has_one_colour(void **state)
{
    (void)state;
    assert_true(run("goto encoder.blocks.2.self_attn.pattern[h=0,s=8]; view sentence; option heads all"));
    draw(40, 120);
    Attend a;
    assert_true(attend_open(&s, SIDE_B, -1, &a) && a.v.values);
    int again = 0, places = 0;
    for (int h = 0; h < a.heads; h++)
        for (int u = 0; u < a.u_axis->n; u++) {
            const size_t cell = attend_cell(&a, h, a.at_t, u);
            const Cell *first = NULL;
            int from = 0;
            for (int i = 0; i < c.h * c.w; i++) {
                const Cell *k = &c.cells[i];
                if (!k->ref.run || k->ref.node != a.v.node || k->ref.cell != cell || k->level < 2 || k->ch == ' ')
                    continue;
                places += !first || i > from + 1;
                from = i;
                first = first ? first : k;
                assert_int_equal(k->bg, first->bg);
                again += k != first;
            }
        }
    assert_true(again > 0 && places > a.u_axis->n);
    assert_true(run("option heads one"));
}

/* Open offers sentences, and each opens. */
static void sentences_are_offered(void **state)
{
    (void)state;
    Overlay menu = {0};
    int sentences = 0;
    overlay_open_menu(&menu, &s);
    for (int i = 0; i < menu.count; i++) {
        const Item *item = &menu.items[i];
        if (!item->command || strncmp(item->command, "open \"", 6) != 0)
            continue;
        sentences++;
        assert_true(run(item->command));
        assert_string_equal(session_input(&s, SIDE_B)->name, item->text);
    }
    overlay_free(&menu);
    assert_int_equal(sentences, 10);
    snprintf(where, sizeof where, "open \"%s\"", SENTENCE);
    assert_true(run(where));
}

/* A text begins at step 1; the mask stands in front of the decoder's blocks, which read it. What an edit does not reach
 * is said to be the same. */
static void the_first_steps(void **state)
{
    (void)state;
    Session t;
    Buf line = {0};
    int total;
    opened_session(&t, "translator", SENTENCE);
    assert_int_equal(session_step_number(&t, &total), 1);
    session_free(&t);
    assert_true(run("goto decoder.causal_mask"));
    int mask = session_step_number(&s, &total);
    assert_true(run("goto decoder.blocks.0"));
    assert_int_equal(session_step_number(&s, &total), mask + 1);
    static const char *const COUNTED[][2] = {{"goto encoder.tokens", "of the 137 that the model reads"},
                                             {"goto decoder.tokens", "of the 156 that the model writes"}};
    for (int i = 0; i < 2; i++) {
        bool counted = false;
        assert_true(run(COUNTED[i][0]));
        draw(24, 80);
        for (int y = 0; y < c.h; y++) {
            line_of(y, &line);
            counted |= strstr(buf_str(&line), COUNTED[i][1]) != NULL;
        }
        assert_true(counted);
    }
    assert_true(run("goto encoder.full_embed; set scale off; compare sides"));
    draw(24, 80);
    bool same = false;
    for (int y = 0; y < c.h; y++) {
        line_of(y, &line);
        same |= strstr(buf_str(&line), "0: A and B are the same") != NULL;
    }
    assert_true(same);
    assert_true(run("undo"));
    buf_clear(&line);
    assert_true(words_entry(&s, &all, "il", &line));
    assert_non_null(strstr(buf_str(&line), "il: a word of the target (t="));
    buf_free(&line);
}

/* Where the mean or the sum of the heads is shown, the cursor is on a number of it, and Enter opens the arithmetic of
 * that one. The title says which attention it is. */
static void all_heads(void **state)
{
    (void)state;
    static const char *const SHOWN[][2] = {{"head all", "mean_pattern"},
                                           {"head 1; view sentence; option heads sum", "heads_sum"}};
    Buf line = {0};
    for (int i = 0; i < 2; i++) {
        assert_true(run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=qu',r=it]; view sentence"));
        assert_true(run(SHOWN[i][0]));
        draw(24, 80);
        line_of(0, &line);
        assert_non_null(strstr(buf_str(&line), "decoder 2"));
        assert_non_null(strstr(buf_str(&line), "cross-attention"));
        bool said = false;
        for (int y = 0; y < c.h; y++) {
            line_of(y, &line);
            const char *at = strstr(buf_str(&line), SHOWN[i][1]);
            said |= at && !strpbrk(at, "[="); /* the cursor's pane has the name alone */
        }
        assert_true(said);
        assert_true(run("in"));
        assert_non_null(strstr(s.place.path, SHOWN[i][1]));
        assert_int_equal(screen_now(&s)->group, GROUP_ARITHMETIC);
        assert_true(run("back"));
        assert_true(site_is(session_graph(&s, SIDE_B), s.place.path, SITE_PATTERN));
        assert_true(run("option heads one; head 0"));
    }
    buf_free(&line);
}

/* What does not fit is cut with a sign, and what is in focus stays; the answer is the word that comes next. */
static void words_on_top(void **state)
{
    (void)state;
    Buf line = {0};
    assert_true(run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=qu',r=it]"));
    draw(24, 80);
    line_of(1, &line);
    assert_non_null(strstr(buf_str(&line), "because [it] was too tired </s>"));
    line_of(2, &line);
    assert_non_null(strstr(buf_str(&line), "parce [qu']il"));
    draw(24, 40);
    line_of(1, &line);
    assert_non_null(strstr(buf_str(&line), "[it]"));
    assert_non_null(strstr(buf_str(&line), "\xe2\x80\xa6"));
    assert_true(run("query il"));
    draw(40, 120);
    bool after = false, next = false;
    for (int y = 0; y < c.h; y++) {
        line_of(y, &line);
        after |= strstr(buf_str(&line), " after il ") != NULL;
        next |= strstr(buf_str(&line), "next word") != NULL;
    }
    assert_true(after && next);
    buf_free(&line);
}

/* The word that `why` names is marked in its text as long as its river is on show, whatever the sentence is about. */
static void why_marks_its_word(void **state)
{
    (void)state;
    Buf line = {0}, marked = {0};
    for (int i = 0; i < 2; i++) {
        if (i)
            assert_true(run("word tired wide"));
        assert_true(run("goto logits[t=10,v=il]") && run("why"));
        const char *from = strstr(buf_str(&s.said), ", from ");
        assert_non_null(from);
        buf_clear(&marked);
        buf_printf(&marked, " [%.*s] ", (int)strcspn(from + 7, "."), from + 7);
        draw(24, 80);
        line_of(1, &line);
        if (!strstr(buf_str(&line), buf_str(&marked)))
            fail_msg("%s is not marked: %s", buf_str(&marked), buf_str(&line));
        draw(40, 120);
        assert_true(on_screen(buf_str(&marked)));
        assert_true(run("goto logits[t=10,v=il]"));
        draw(40, 120);
        assert_false(on_screen(buf_str(&marked)));
    }
    assert_true(run("pin off; reset edits; reset view; ledger off") && session_open_input(&s, SENTENCE, &error));
    buf_free(&marked);
    buf_free(&line);
}

/* A model of somebody's own, of every form: opened without an input, with words of its own or with none, it can be
 * walked, and has a lens, whatever norm stands behind its last block. */
static void own_models(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"<pad>", "<s>",  "</s>", "one",  "two", "three", "four", "five", "six", "seven",
                                        "eight", "nine", "ten",  "blue", "red", "green", "sea",  "sky",  "sun"};
    Session old = s;
    int cuts = 0, full = 0;
    for (size_t i = 0; i < 4 * TEXT_VARIANT_COUNT; i++) {
        Model m;
        Seq2seqConfig config = text_variant(i / 4);
        config.final_norm = i % 2;
        text_model_seeded(&m, &config, 5);
        m.source.word = i / 2 % 2 ? WORDS : NULL;
        m.target.word = i / 2 % 2 ? WORDS : NULL;
        if (!session_init_model(&s, &m, NULL, 1, &error))
            fail_msg("%s: %s", TEXT_VARIANTS[i / 4].what, error.text);
        static const char *const PLACES[] = {"goto first", "view answer", "lens", "view sentence", "view row"};
        for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES; k++) {
            snprintf(where, sizeof where, "%s, %zu, %s", TEXT_VARIANTS[i / 4].what, i % 4, PLACES[k]);
            if (!run(PLACES[k]))
                fail_msg("%s: %s", where, error.text);
            draw(24, 80);
            Buf line = {0}, all_lines = {0};
            for (int y = 0; y < c.h; y++) {
                line_of(y, &line);
                look_for_pictures(buf_str(&line));
                buf_puts(&all_lines, buf_str(&line));
            }
            assert_null(strstr(buf_str(&all_lines), "has no"));
            assert_non_null(strstr(buf_str(&all_lines), i / 2 % 2 ? "one" : "w3"));
            buf_free(&line);
            buf_free(&all_lines);
        }
        bool cut = session_input(&s, SIDE_B)->text[TEXT_TARGET].cut > 0;
        assert_int_equal(cut, strstr(session_model_note(&s, (char[SESSION_NOTE]){0}), "cut at") !=
                                  NULL); /* not in silence */
        if (cut && !cuts++) {
            assert_true(run("decode greedy") && decoding_all(&s, &error));
            assert_true(session_decoding(&s, SIDE_B)->cut);
        }
        if (config.form == SEQ2SEQ_DECODER_ONLY) { /* of its answer is told what no sentences are there to tell */
            assert_true(run("menu learned"));
            for (int k = 0; k < lists.count; k++)
                assert_string_not_equal(lists.items[k].command, "training");
            overlay_close(&lists);
            assert_true(run("census"));
            screen_spec(SCREEN_CENSUS)->work(&s, CLOCK_NEVER);
            draw(24, 80);
            assert_true(on_screen("lost without it"));
            assert_false(on_screen("Sentences lost"));
        }
        if (config.form == SEQ2SEQ_DECODER_ONLY) { /* no lesson about the translator or about pictures is about it */
            static const char *const OFFERS[][2] = {{"decoder.embed", "Lesson 26,"},
                                                    {"decoder.blocks.0.self_attn.scores_scaled", "Lesson 6,"},
                                                    {"decoder.blocks.0.self_attn.pattern", ""},
                                                    {"decoder.blocks.0.self_attn.z", ""},
                                                    {"decoder.blocks.0.resid_post", ""},
                                                    {"logits", ""}};
            for (size_t k = 0; k < sizeof OFFERS / sizeof *OFFERS; k++) {
                Buf offer = {0};
                char go[80];
                snprintf(go, sizeof go, "goto %s", OFFERS[k][0]);
                assert_true(run(go));
                const bool offered = desk_offer(&s, &offer);
                if (offered != (*OFFERS[k][1] != 0) || !strstr(buf_str(&offer), OFFERS[k][1]))
                    fail_msg("%s: offers '%s'", OFFERS[k][0], buf_str(&offer));
                buf_free(&offer);
            }
        }
        if (config.form == SEQ2SEQ_DECODER_ONLY) { /* it writes as many as fit: the last one is not read */
            assert_true(session_open_input(&s, i / 2 % 2 ? "one two three four" : "3 4 5 6", &error));
            const int given = session_input(&s, SIDE_B)->text[TEXT_TARGET].count;
            if (!run("decode greedy") || !decoding_all(&s, &error))
                fail_msg("%s: %s", where, error.text);
            const Decoding *d = session_decoding(&s, SIDE_B);
            const int length = d->text->length, last = d->text->word[length - 1];
            assert_true(!d->cut || length == config.positions - given + 1);
            full += d->cut;
            s.look.decoding.line = d->lines;
            if (i / 2 % 2 && d->cut) { /* and the way into the last one leads to its share */
                if (!run("in"))
                    fail_msg("%s: %s", where, error.text);
                const Graph *g = session_graph(&s, SIDE_B);
                assert_int_equal(s.place.at[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)], last);
                assert_int_equal(session_input(&s, SIDE_B)->text[TEXT_TARGET].count, config.positions);
            }
        }
        assert_false(run("gradient loss") || !strstr(error.text, "logits"));
        assert_false(session_open_input(&s, i / 2 % 2 ? "one two elephant" : "3 4 99", &error));
        Buf many = {0};
        for (int k = 0; k < 4200; k++)
            buf_puts(&many, i / 2 % 2 ? "one " : "3 ");
        assert_false(session_open_input(&s, buf_str(&many), &error)); /* refused with a word */
        assert_non_null(strstr(error.text, "shorten it"));
        buf_free(&many);
        session_free(&s);
    }
    assert_true(cuts > 0 && full > 0);
    s = old;
}

static const char PATTERN[] = "goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]; ";

static void at(const char *view, int h, int w)
{
    char line[160];
    snprintf(line, sizeof line, "reset view; %s%s", PATTERN, view);
    if (!run(line))
        fail_msg("%s: %s", line, error.text);
    snprintf(where, sizeof where, "%s at %dx%d", view, w, h);
    draw(h, w);
}

static const float *pattern(NodeId *n, Dims *d)
{
    *n = session_node(&s, SIDE_B, s.place.path);
    *d = graph_node(session_graph(&s, SIDE_B), *n)->dims;
    return session_peek(&s, SIDE_B, s.place.path);
}

/* The words on top stand on the colour of their share; the one that asks is in the other line. */
static void words_have_their_grounds(void **state)
{
    (void)state;
    NodeId n;
    Dims d;
    at("view sentence", 24, 80);
    const float *values = pattern(&n, &d);
    int words = session_graph(&s, SIDE_B)->axes[d.axis[2]].n, seen = 0;
    size_t row = session_cell(&s, SIDE_B, n) / (size_t)words * (size_t)words;
    for (int x = 0; x < c.w; x++) {
        const Cell *k = &c.cells[c.w + x];
        if (k->ref.run == SIDE_NONE)
            continue;
        assert_int_equal(k->ref.node, n);
        assert_true(k->ref.cell >= row && k->ref.cell < row + (size_t)words);
        assert_int_equal(values[k->ref.cell] > 0.5F, k->bg != COLOUR_DEFAULT);
        seen |= 1 << (k->ref.cell - row);
    }
    assert_int_equal(seen, (1 << words) - 1);
    for (int x = 0; x < c.w; x++)
        assert_int_equal(c.cells[2 * c.w + x].ref.run, SIDE_NONE);
}

/* Above a matrix they stand on its colours: the legend is there. */
static void words_as_in_the_matrix(void **state)
{
    (void)state;
    char path[SESSION_PATH], line[SESSION_PATH + 64];
    int same = 0;
    at("view matrix", 40, 120);
    snprintf(path, sizeof path, "%s", s.place.path);
    for (int h = 0; h < 4; h++) {
        snprintf(line, sizeof line, "goto %s[h=%d]; view matrix", path, h);
        assert_true(run(line));
        draw(40, 120);
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[c.w + x];
            for (int i = 3 * c.w; k->ref.run && k->bg != COLOUR_DEFAULT && i < c.h * c.w; i++) {
                const Cell *of = &c.cells[i];
                if (of->ref.run && of->ref.node == k->ref.node && of->ref.cell == k->ref.cell && cell_is_data(of)) {
                    assert_int_equal(cell_ground(of), k->bg);
                    same++;
                }
            }
        }
    }
    assert_true(same > 3);
}

/* A line for each word, as the sentence reads, with its share; bold where it is more than twice an equal one. */
static void a_row_of_words(void **state)
{
    (void)state;
    NodeId n;
    Dims d;
    Buf line = {0};
    at("view row; query il", 26, 80);
    const float *values = pattern(&n, &d);
    const Axis *words = &session_graph(&s, SIDE_B)->axes[d.axis[2]];
    size_t row = session_cell(&s, SIDE_B, n) / (size_t)words->n * (size_t)words->n;
    int next = 0, bold = 0, strong = 0;
    bool rule = false;
    for (int y = 4; y < c.h - 3; y++) {
        const Cell *k = &c.cells[y * c.w + 20];
        line_of(y, &line);
        rule |= strstr(buf_str(&line), "> 15.4 %, twice uniform") != NULL;
        if (k->ref.run == SIDE_NONE || k->ref.node != n || next == words->n)
            continue;
        char label[64];
        if (!strstr(buf_str(&line), axis_label(words, next, label, sizeof label)))
            fail_msg("no %s in: %s", label, buf_str(&line));
        assert_int_equal(k->ref.cell, row + (size_t)next++);
        strong += values[k->ref.cell] > 2.0F / (float)words->n;
        for (int x = 19; x < 24; x++) /* bold says of a number what the line below has */
            assert_int_not_equal(c.cells[y * c.w + x].style, STYLE_STRONG);
        for (int x = 22; x < 40; x++)
            if (c.cells[y * c.w + x].ch == '%')
                bold += c.cells[y * c.w + x].style == STYLE_STRONG;
    }
    assert_int_equal(next, words->n);
    assert_true(strong > 0 && rule);
    assert_int_equal(bold, strong);
    buf_free(&line);
}

/* The cursor's line of what is written keeps its bar; no letter or ground lies over it. It is as long as the written
 * word's logit is ahead of its rival's. */
static void the_cursor_leaves_the_bar(void **state)
{
    (void)state;
    assert_true(run("reset view; goto probs[t=10]; view writing"));
    for (int k = 0, above = 0; k < 4; k++) {
        int bars[2] = {0};
        draw(40, 120);
        assert_true(c.cursor_y > 0);
        for (int i = 0, y = c.cursor_y; i < 2 && y > 0;
             y--) { /* its line and that of the step before, the next cursor */
            for (int x = 28; x < 90; x++) {
                const Cell *cell = &c.cells[y * c.w + x];
                bars[i] += cell->ch == 0x2588 && cell->style != STYLE_SELECTED;
            }
            i += bars[i] > 0;
        }
        assert_true(bars[0] > 3 && bars[1] > 3 && (k == 0 || bars[0] == above));
        above = bars[1];
        assert_true(run("move up"));
    }
    const Graph *g = session_base(&s);
    const float *ahead = session_need(&s, SIDE_B, site_path_any(g, SITE_MARGIN), &error),
                *x = session_need(&s, SIDE_B, site_path_any(g, SITE_LOGITS), &error);
    int words = g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)].n,
        rows = (int)graph_cells(g, site_node_any(g, SITE_MARGIN));
    for (int t = 0; t < rows; t++) {
        float most[2] = {-1e9F, -1e9F};
        for (int v = 0; v < words; v++) {
            float y = x[t * words + v];
            most[1] = y > most[0] ? most[0] : y > most[1] ? y : most[1];
            most[0] = y > most[0] ? y : most[0];
        }
        assert_true(ahead[t] == most[0] - most[1] && ahead[t] > 0);
    }
}

/* Every head of every block is on the sheet; in the row's other heads one word is one column. */
static void every_head_on_one_page(void **state)
{
    (void)state;
    static const int PAGES[][2] = {{24, 80}, {40, 120}, {60, 200}};
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++) {
        int seen[3] = {0};
        at("view sheet", PAGES[i][0], PAGES[i][1]);
        for (int k = 0; k < c.h * c.w; k++) {
            const Ref *ref = &c.cells[k].ref;
            const Graph *g = ref->run ? session_graph(&s, (Side)ref->run) : NULL;
            int head = g ? node_role(g, ref->node, ROLE_HEAD) : AXIS_NONE, block = 0;
            if (!ref->run || head == AXIS_NONE || !c.cells[k].level ||
                sscanf(graph_node(g, ref->node)->path, "decoder.blocks.%d.cross_attn.pattern", &block) != 1)
                continue;
            Dims d = graph_node(g, ref->node)->dims;
            int index[DIMS_MAX];
            dims_unravel(g->axes, d, ref->cell, index);
            seen[block] |= 1 << index[0];
        }
        for (int b = 0; b < 3; b++)
            if (seen[b] != 15)
                fail_msg("%s: of block %d heads %x", where, b, (unsigned)seen[b]);
    }
    NodeId n;
    Dims d;
    int column[16], lines = 0;
    memset(column, -1, sizeof column);
    at("view row", 40, 120);
    pattern(&n, &d);
    const Graph *g = session_graph(&s, SIDE_B);
    for (int y = 26; y < 36; y++)
        for (int x = 30, index[DIMS_MAX]; x < 62; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            if (!k->ref.run || k->ref.node != n || !k->level || (x > 30 && k[-1].ref.cell == k->ref.cell))
                continue;
            dims_unravel(g->axes, d, k->ref.cell, index);
            lines += index[2] == 0;
            assert_true(column[index[2]] < 0 || column[index[2]] == x);
            column[index[2]] = x;
        }
    assert_int_equal(lines, 4);
}

/* Sixty words, A and B and their difference, with colours and without, in rooms too small for any of it. */
static void long_sentences(void **state)
{
    (void)state;
    static const int ROOMS[][2] = {{1, 1}, {3, 7}, {10, 40}, {24, 80}, {60, 200}};
    static const char *const VIEWS[] = {"view sheet", "view row", "view matrix", "view sentence",
                                        "view sentence; option heads all"};
    static const char *const WAYS[] = {"compare off", "compare sides", "compare diff"};
    Buf many = {0};
    for (int i = 0; i < 10; i++)
        buf_puts(&many, "the animal was too tired because ");
    assert_true(session_open_input(&s, buf_str(&many), &error));
    assert_true(run("word tired#7 wide"));
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS * 3; i++) {
        assert_true(run("reset view; goto encoder.blocks.1.self_attn.pattern[h=1,s=58,r=57]"));
        assert_true(run(VIEWS[i / 3]) && run(WAYS[i % 3]));
        for (size_t k = 0; k < sizeof ROOMS / sizeof *ROOMS * 3; k++) {
            snprintf(where, sizeof where, "%s, %s, %zu", VIEWS[i / 3], WAYS[i % 3], k);
            mode = (ColourMode)(k % 3 == 2 ? MODE_MONO : MODE_256);
            c.ascii = k % 3 == 1;
            draw(ROOMS[k / 3][0], ROOMS[k / 3][1]);
        }
        mode = MODE_256;
        c.ascii = false;
        Buf line = {0};
        draw(24, 80);
        line_of(1, &line);
        if (!strstr(buf_str(&line), "tired"))
            fail_msg("%s: the word in focus is not on top: %s", where, buf_str(&line));
        buf_free(&line);
    }
    assert_true(run("pin off; reset edits; reset view"));
    assert_true(session_open_input(&s, SENTENCE, &error));
    buf_free(&many);
}

/* A student asks where "it" looks: the task leads there from a picture too, and back. */
static void where_it_looks(void **state)
{
    (void)state;
    Session old = s;
    Task task = {.text = ""};
    opened_session(&s, NULL, NULL);
    if (!task_begin(&task, &s, &all, "it", &error))
        fail_msg("%s", error.text);
    snprintf(where, sizeof where, "task it");
    draw(24, 80);
    look_for_words();
    assert_int_equal(s.place.screen, SCREEN_SENTENCE);
    const float *pattern = session_need(&s, SIDE_B, s.place.path, &error);
    assert_non_null(pattern); /* the word in focus is looked at more than all others together */
    assert_true(pattern[session_cell(&s, SIDE_B, session_node(&s, SIDE_B, s.place.path))] > 0.5F);
    assert_true(task_end(&task, &s, &error));
    assert_int_equal(session_input(&s, SIDE_B)->kind, INPUT_PICTURE);
    session_free(&s);
    s = old;
}

/* A long list of words keeps the largest, and with two runs what changed most, wherever the marked word stands; how
 * many are left out between them stands there, and with the lines drawn they are all up to the marked one. */
static void a_long_list_says_its_gap(void **state)
{
    (void)state;
    static const struct {
        const char *setup;
        const char *first[2];
    } WAYS[] = {{"goto probs[t=10,v=<pad>]; view answer", {"il", "elle"}},
                {"word tired wide; goto probs[t=10,v=<pad>]; view answer", {"elle", "il"}}};
    for (size_t i = 0; i < 2 * sizeof WAYS / sizeof *WAYS; i++) {
        if (i % 2 == 0 && !run(WAYS[i / 2].setup))
            fail_msg("%s: %s", WAYS[i / 2].setup, error.text);
        draw(SIZES[i % 2][0], SIZES[i % 2][1]);
        NodeId n = session_node(&s, SIDE_B, "probs");
        const float *value = session_need(&s, i / 2 ? SIDE_DIFF : SIDE_B, "probs", &error);
        assert_non_null(value);
        size_t count = 156, row = session_cell(&s, SIDE_B, n) / count * count,
               marked = session_cell(&s, SIDE_B, n) - row;
        Ranking order = {value + row, count, i / 2};
        bool drawn[2] = {false, false};
        size_t hidden = 0, lines = 0;
        for (int y = c.cursor_y, top = 0; y > 0 && !top; y--) {
            char word[64] = "";
            size_t more;
            for (int x = c.cursor_x, k = 0; x < c.w && k < 20; x++) {
                uint32_t ch = c.cells[y * c.w + x].ch;
                if (ch == ' ' && k)
                    break;
                if (ch != ' ' && ch != '>') {
                    utf8_put(word + k, ch);
                    k = (int)strlen(word);
                }
            }
            top = strcmp(word, "next") == 0;
            if (top)
                break;
            if (sscanf(word, "%zu", &more) == 1)
                hidden = more;
            else
                lines++;
            for (int k = 0; k < 2; k++)
                drawn[k] = drawn[k] || strcmp(word, WAYS[i / 2].first[k]) == 0;
        }
        if (!drawn[0] || !drawn[1])
            fail_msg("%s: the largest are not in the list", WAYS[i / 2].setup);
        assert_true(hidden > 0);
        assert_int_equal(lines + hidden, ranking_rank(order, marked) + 1);
    }
    assert_true(run("pin off; reset edits; reset view") && session_open_input(&s, SENTENCE, &error));
}

/* Who comes to the lens or the ledger is at the answer of the word in focus. */
static void answers_of_the_word_in_focus(void **state)
{
    (void)state;
    Buf text = {0};
    assert_true(run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=qu',r=it]; lens"));
    const Graph *g = session_base(&s);
    char label[64];
    int words = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY);
    assert_string_equal(axis_label(&g->axes[words], s.place.at[words], label, sizeof label), "il");
    assert_true(run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=qu',r=it]; ledger"));
    assert_non_null(strstr(s.ledger.path, "logits"));
    assert_int_equal(s.ledger.cell / (size_t)g->axes[words].n, 10);
    buf_free(&text);
}

/* A ledger or a gradient of the last word of a text goes when a shorter one is opened, and neither is A's. */
static void a_shorter_text(void **state)
{
    (void)state;
    static const char *const OF[] = {"goto logits[t=14,v=5]; ledger", "gradient probs[t=14,v=4]"};
    for (int i = 0; i < 4; i++) {
        assert_true(run(i % 2 ? "pin on" : "pin off") && run(OF[i / 2]));
        if (!run("open \"the cat is tired\"") || !run("goto logits[t=2,v=5]; ledger; say"))
            fail_msg("%s: %s", OF[i / 2], error.text);
        draw(24, 80);
        assert_true(run("gradient probs[t=2,v=4]"));
        draw(24, 80);
        assert_true(session_open_input(&s, SENTENCE, &error));
    }
    assert_true(run("pin off; gradient off"));
}

static int braille(void)
{
    int n = 0;
    for (int i = 0; i < c.h * c.w; i++)
        n += c.cells[i].ch > 0x2800 && c.cells[i].ch < 0x2900;
    return n;
}

/* The sentence below the lens is about the row of the word in focus, as its table is; and where only one class has
 * room, no name stands beside the share of another. */
static void the_lens_speaks_of_the_word_in_focus(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    const Graph *g = session_base(&s);
    const int vocabulary = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY), blocks = session_blocks(&s);
    const size_t words = (size_t)g->axes[vocabulary].n;
    int early = 0;
    for (int t = 0; t < 12; t++) {
        char line[80], label[64];
        snprintf(line, sizeof line, "goto probs[t=%d]; lens", t);
        assert_true(run(line));
        const float *probs = session_need(&s, SIDE_B, "probs", NULL);
        assert_non_null(probs);
        const size_t best = classes_best(probs + (size_t)t * words, words);
        int from = blocks;
        for (bool same = true; same && from > 0; from -= same) {
            snprintf(line, sizeof line, "decoder.blocks.%d.lens.probs", from - 1);
            const float *x = session_need(&s, SIDE_B, line, NULL);
            assert_non_null(x);
            same = classes_best(x + (size_t)t * words, words) == best;
        }
        early += from < blocks;
        axis_label(&g->axes[vocabulary], (int)best, label, sizeof label);
        if (from == blocks)
            snprintf(where, sizeof where, "It names %s at the end only.", label);
        else
            snprintf(where, sizeof where, "It names %s from block %d on.", label, from);
        draw(40, 120);
        if (!on_screen(where))
            fail_msg("t=%d: '%s' is not there", t, where);
    }
    assert_true(early > 0);
    assert_true(run("set scale off; compare sides; lens"));
    draw(24, 80);
    assert_false(on_screen("names"));
    assert_true(run("compare b; reset edits"));
}

/* Where not every word has a column, the one that is named has its probability beside it. */
static void the_lens_says_how_sure_it_is(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    assert_true(run("goto probs[t=10]; lens"));
    draw(40, 120);
    const Graph *g = session_base(&s);
    const int vocabulary = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY);
    const size_t words = (size_t)g->axes[vocabulary].n;
    for (int b = 0; b < session_blocks(&s); b++) {
        char path[64], label[64], share[32];
        snprintf(path, sizeof path, "decoder.blocks.%d.lens.probs", b);
        const float *x = session_need(&s, SIDE_B, path, NULL) + 10 * words;
        const size_t best = classes_best(x, words);
        share_text(share, sizeof share, x[best]);
        utf8_print(where, sizeof where, "after block %d  %-10s%6s", b,
                   axis_label(&g->axes[vocabulary], (int)best, label, sizeof label), share);
        if (!on_screen(where))
            fail_msg("'%s' is not there", where);
    }
    assert_true(on_screen("names      prob. "));
}

/* By tokens: in every row and column the word that is named there, on its probability's cell; moves and clicks go along
 * both; a model with one answer refuses. */
static void the_lens_at_every_token(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    assert_true(run("goto probs[t=2]; lens tokens"));
    for (int t = 0; t < 4; t++) {
        draw(24, 80);
        const Graph *g = session_base(&s);
        const int answer = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY);
        const Axis *v = &g->axes[answer];
        const float *end = session_peek(&s, SIDE_B, "probs");
        int seen = 0;
        end += (size_t)session_index_on(&s, g, node_role(g, site_node_any(g, SITE_PROBS), ROLE_QUERY)) * (size_t)v->n;
        /* no column of a word that nobody asked for, the first of the vocabulary, beside it */
        assert_int_equal(s.place.at[answer], classes_best(end, (size_t)v->n));
        for (int y = 0; y < c.h; y++)
            for (int x = 1; x < c.w; x++) {
                const Cell *k = &c.cells[y * c.w + x], *before = k - 1;
                if (k->ref.run == SIDE_NONE || !strstr(graph_node(g, k->ref.node)->path, "lens.probs") ||
                    (before->ref.run == k->ref.run && before->ref.node == k->ref.node &&
                     before->ref.cell == k->ref.cell))
                    continue;
                const float *p = session_peek(&s, SIDE_B, graph_node(g, k->ref.node)->path);
                const size_t n = (size_t)v->n, from = (size_t)k->ref.cell / n * n, best = classes_best(p + from, n);
                char label[64];
                Buf line = {0};
                assert_int_equal(k->ref.cell, from + best);
                axis_label(v, (int)best, label, sizeof label);
                line_of(y, &line);
                if (!strstr(buf_str(&line), label) && utf8_cells(label) < 6)
                    fail_msg("'%s' is not in '%s'", label, buf_str(&line));
                buf_free(&line);
                seen++;
            }
        assert_int_equal(seen, 3 * 15 + 1); /* three blocks, every token at once, and that of the cursor in words */
        assert_true(run(t % 2 ? "move up" : "move right"));
    }
    draw(40, 120); /* with room, below each the one that follows it */
    const Graph *g = session_base(&s);
    const size_t words = (size_t)g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)].n;
    int followed = 0;
    for (int y = 0; y + 1 < c.h; y++)
        for (int x = 1; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x], *under = k + c.w;
            if (k->ref.run == SIDE_NONE || !strstr(graph_node(g, k->ref.node)->path, "lens.probs") ||
                under->ref.node != k->ref.node || !under->ref.run)
                continue;
            const float *p = session_peek(&s, SIDE_B, graph_node(g, k->ref.node)->path);
            const size_t from = (size_t)k->ref.cell / words * words;
            assert_int_equal(under->ref.cell, from + classes_next(p + from, words, (size_t)k->ref.cell - from));
            followed++;
        }
    assert_true(followed >= 3 * 15);
    assert_int_equal(
        s.place.at[graph_node(session_base(&s), site_node_any(session_base(&s), SITE_PROBS))->dims.axis[0]], 4);
    assert_true(run("option lens-tokens off"));
    draw(24, 80);
    assert_true(on_screen("names      prob. "));
    Session old = s;
    opened_session(&s, NULL, "#17");
    assert_false(run("lens tokens"));
    assert_non_null(strstr(error.text, "one answer, not one behind every token"));
    assert_true(run("lens") && !s.look.lens.tokens);
    session_free(&s);
    s = old;
}

/* What could have stood there instead is said in words: the likelier ones, or where it is the likeliest the next. */
static void the_stream_says_what_else(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    assert_true(run("word tired wide keep; compare b"));
    int likeliest = 0, others = 0;
    for (int t = 0; t < 13; t++) {
        char line[80], label[64], share[32];
        snprintf(line, sizeof line, "goto probs[t=%d]; view stream", t);
        assert_true(run(line));
        draw(24, 120);
        const Graph *g = session_base(&s);
        const Axis *v = &g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)];
        const Ranking row = {session_need(&s, SIDE_B, "probs", NULL) + t * v->n, (size_t)v->n, false};
        const size_t asked = (size_t)s.now->input.text[TEXT_TARGET].word[t + 1], rank = ranking_rank(row, asked),
                     first = rank ? ranking_best(row) : ranking_next(row, asked);
        share_text(share, sizeof share, row.v[first]);
        utf8_print(where, sizeof where, "rank %zu of %d; %s  %s %s", rank + 1, v->n,
                   rank ? "likelier:" : "likeliest instead:", axis_label(v, (int)first, label, sizeof label), share);
        if (!on_screen(where))
            fail_msg("t=%d: '%s' is not there", t, where);
        *(rank ? &others : &likeliest) += 1;
    }
    assert_true(likeliest > 0 && others > 0);
    assert_true(run("pin off"));
}

/* A text fills its pane: each word has as many lines as all of them have room for, and its bar is as long as it is
 * probable. */
static void words_have_room(void **state)
{
    (void)state;
    static const int HIGH[] = {40, 60}, LINES[] = {1, 2};
    assert_true(session_open_input(&s, SENTENCE, &error));
    for (size_t k = 0; k < 2; k++) {
        assert_true(run("reset view; goto encoder.tokens"));
        draw(HIGH[k], 200);
        const Graph *g = session_base(&s);
        const NodeId n = site_node_any(g, SITE_PROBS);
        const float *probs = session_need(&s, SIDE_B, graph_node(g, n)->path, &error);
        const size_t words = (size_t)g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)].n;
        int bars = 0;
        for (int y = 0; y < c.h; y++)
            for (int x = 60; x < 130; x++) { /* the pane of words, between the map and the answer */
                const Cell *cell = &c.cells[y * c.w + x];
                int wide = 0, high = 1;
                if (!cell->ref.run || cell->ref.node != n || cell->ch != 0x2588 || cell[-1].ch == 0x2588)
                    continue;
                while (cell[wide].ch == 0x2588)
                    wide++;
                while (cell[high * c.w].ch == 0x2588 && cell[high * c.w].ref.cell == cell->ref.cell)
                    high++;
                if (cell[-c.w].ref.cell == cell->ref.cell && cell[-c.w].ch == 0x2588)
                    continue; /* counted with its first line */
                assert_int_equal(high, LINES[k]);
                assert_true(abs(wide - (int)(40 * probs[cell->ref.cell])) <= 1);
                assert_true(cell->ref.cell < 15 * words);
                bars++;
            }
        assert_true(bars >= 10);
    }
}

/* Behind every row a line as long as its score is above the worst; those of the way that was taken are thick. */
static void beginnings_have_bars(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    assert_true(run("decode beam") && decoding_all(&s, &error));
    draw(50, 160);
    const Decoding *d = session_decoding(&s, SIDE_B);
    int head = -1, best = 0, lost = 0, thick[100] = {0}, thin[100] = {0};
    for (int y = 0; y < c.h; y++)
        for (int x = 100; x < c.w - 2; x++) { /* behind the numbers */
            const Cell *k = &c.cells[y * c.w + x];
            thick[y] += k->ch == 0x2501 && k->style == STYLE_GOOD;
            thin[y] += k->ch == 0x2500 && k->style == STYLE_DIM;
            head = head < 0 && thick[y] ? y : head;
        }
    double worst = 0, full = 0;
    for (int i = 0; i < d->lines; i++)
        worst = fmin(worst, d->text->node[d->line[i].node].score);
    int first = 0; /* the line of the first row: all that stands aside of the first word */
    while (!d->line[first].best)
        first++;
    for (int i = first, y = head; i < d->lines && y < c.h - 5; y++) { /* the last line says which they are */
        int last = i;
        while (last + 1 < d->lines && d->line[last + 1].depth > 0 && d->line[last + 1].depth == d->line[last].depth &&
               d->text->node[d->line[last + 1].node].parent == d->line[last].node)
            last++; /* what a loser went on with */
        const double part = 1 - d->text->node[d->line[last].node].score / worst;
        full = full > 0 ? full : thick[y] / part;
        const int n = d->line[last].best ? thick[y] : thin[y];
        if (fabs(n - full * part) > 1.1 || (thick[y] && thin[y]))
            fail_msg("row %d: %d cells for %g", y, n, part);
        best += d->line[last].best;
        lost += last > i;
        i = last + 1;
    }
    assert_true(best > 2 && lost > 2);
}

/* Places that have no line are counted. */
static void the_waves_say_what_is_left(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    assert_true(run("reset view; goto encoder.pos_embed; view waves"));
    draw(24, 80);
    assert_true(on_screen(" 5 more places") || on_screen(" 6 more places"));
    draw(40, 120);
    assert_false(on_screen("more places"));
}

/* Where there is room every token stands below the text again, its bar as long as its surprise. */
static void the_stream_lists_its_tokens(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    for (int wide = 80; wide <= 200; wide += 120) {
        assert_true(run("goto probs[t=3]; view stream"));
        draw(wide == 80 ? 24 : 50, wide);
        const Graph *g = session_base(&s);
        const NodeId n = site_node_any(g, SITE_SURPRISE);
        const float *x = session_need(&s, SIDE_B, graph_node(g, n)->path, &error);
        const size_t count = graph_cells(g, n);
        float most = 0;
        int lengths[64] = {0}, tops[64] = {0}, longest = 0, listed = 0;
        assert_true(count < 64);
        for (int y = 0; y < c.h; y++)
            for (int k = 0; k < c.w; k++) {
                const Cell *cell = &c.cells[y * c.w + k];
                if (!cell->ref.run || cell->ref.node != n || cell->ch != 0x2588)
                    continue;
                tops[cell->ref.cell] = tops[cell->ref.cell] ? tops[cell->ref.cell] : y;
                lengths[cell->ref.cell] += tops[cell->ref.cell] == y;
            }
        for (size_t i = 0; i < count; i++)
            if (lengths[i]) { /* of those that have room */
                longest = lengths[i] > longest ? lengths[i] : longest;
                most = fmaxf(most, x[i]);
            }
        assert_true(most < 1 && longest >= 3 && (float)longest <= 48 * most + 1); /* of a nat at least */
        assert_int_equal(on_screen("of 14, "), wide == 80);
        for (size_t i = 0; i < count; i++) {
            listed += lengths[i] > 0;
            if (lengths[i] && fabsf((float)lengths[i] - (float)longest * x[i] / most) > 1.1f)
                fail_msg("%d columns: token %zu has %d cells", wide, i, lengths[i]);
        }
        assert_true(listed >= (wide == 80 ? 5 : (int)count));
    }
}

/* Where not all that a row looks at has room, the largest shares are listed, and none that is masked. */
static void the_laboratory_lists_the_largest(void)
{
    assert_true(session_open_input(&s, "w1 w2 w3 w4 w5 w1 w2 w3", &error));
    if (!run("goto decoder.blocks.0.self_attn.pattern[h=1,t=2]; laboratory"))
        fail_msg("%s", error.text);
    int high = 24; /* as low as shows two of them at least */
    do
        draw(high--, 80);
    while (high > 15 && !on_screen("looks at most"));
    assert_true(on_screen("looks at most"));
    const NodeId n = session_node(&s, SIDE_B, "decoder.blocks.0.self_attn.pattern");
    const Graph *g = session_base(&s);
    const float *x = session_need(&s, SIDE_B, graph_node(g, n)->path, &error);
    const size_t keys = (size_t)g->axes[graph_node(g, n)->dims.axis[2]].n;
    const size_t first = (keys + 2) * keys;
    float most = 0, before = INFINITY;
    int listed = 0;
    for (size_t u = 0; u < keys; u++)
        most = fmaxf(most, x[first + u]);
    for (int y = 0; y < c.h; y++)
        for (int k = 0; k < c.w; k++) {
            const Cell *cell = &c.cells[y * c.w + k];
            if (!cell->ref.run || cell->ref.node != n || cell->ref.cell < first || cell->ref.cell >= first + keys)
                continue;
            const float here = x[cell->ref.cell];
            assert_true(listed ? here < before && here > 0 : here == most);
            before = here;
            listed++;
            break;
        }
    assert_true(listed >= 2 && (size_t)listed < keys);
}

/* Of a model whose translations nobody knows the screen of heads says of which kind each is; its words, where they have
 * no names, are called in an address what its tokens are called. */
static void heads_without_sentences(void **state)
{
    (void)state;
    Session old = s;
    Model m;
    Seq2seqConfig config = text_variant(4);
    text_model_seeded(&m, &config, 5);
    m.source.word = m.target.word = NULL;
    assert_true(session_init_model(&s, &m, NULL, 1, &error));
    assert_true(run("heads; heads measure"));
    assert_int_equal(s.place.screen, SCREEN_HEADS);
    draw(40, 120);
    assert_true(on_screen("random tokens") && on_screen("induction: ") && on_screen("heads; uniform"));
    assert_false(on_screen("words away"));
    the_laboratory_lists_the_largest();
    if (!run("goto logits[t=w3,v=w4]"))
        fail_msg("%s", error.text);
    assert_int_equal(s.place.at[graph_role(session_graph(&s, SIDE_B), ROLE_ANSWER, SEQUENCE_ANY)], 4);
    assert_false(run("goto logits[v=w99]") || run("goto logits[v=w4x]"));
    session_free(&s);
    s = old;
}

/* Lines on which every one of three panels has colours without a cell of the trace: its scale. */
static int lines_of_scales(void)
{
    int lines = 0;
    for (int y = 0; y < c.h; y++) {
        int scales = 0;
        for (int x = c.w / 4; x < c.w; x++) { /* beside the steps */
            const Cell *k = canvas_at(&c, y, x), *before = canvas_at(&c, y, x - 1);
            scales += k->level && k->ref.run == SIDE_NONE && !(before->level && before->ref.run == SIDE_NONE);
        }
        lines += scales == 3;
    }
    return lines;
}

static int of_style(Style style)
{
    int cells = 0;
    for (int i = 0; i < c.h * c.w; i++)
        cells += c.cells[i].style == style;
    return cells;
}

/* Three matrices that leave no line to a scale have it beside their values; of words in a list a share that fell and a
 * score below zero have bars as those above it have. */
static void both_signs_are_drawn(void **state)
{
    (void)state;
    assert_true(run("word tired wide; goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=animal]; view matrix"));
    draw(40, 120);
    assert_int_equal(lines_of_scales(), 1);
    assert_true(run("view sentence"));
    draw(60, 200);
    assert_true(of_style(STYLE_NEGATIVE) > 0);
    assert_true(run("pin off; reset edits; reset view; goto encoder.blocks.1.self_attn.scores_raw; view sentence"));
    draw(60, 200);
    assert_true(of_style(STYLE_NEGATIVE) > 0);
    assert_true(run("reset view"));
}

/* A − B: where nothing differs no line is drawn, and that is said; what differs has its unit. */
static void nothing_is_drawn_for_nothing(void **state)
{
    (void)state;
    static const char *const SAME[] = {"encoder.blocks.0.self_attn.scores_raw", "encoder.blocks.2.self_attn.pattern",
                                       "decoder.blocks.2.cross_attn.pattern"};
    assert_true(run("reset view; ablate decoder.blocks.2.cross_attn.z[h=0]"));
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
            char line[120];
            snprintf(line, sizeof line, "goto %s; view sentence; compare diff", SAME[i]);
            assert_true(run(line));
            draw(SIZES[k][0], SIZES[k][1]);
            assert_int_equal(braille(), 0);
            assert_true(on_screen("no difference"));
            assert_false(on_screen("rank 1 of"));
        }
    assert_true(run("reset edits; set scale off; "
                    "goto encoder.blocks.0.self_attn.pattern[h=0]; view sentence; compare diff"));
    draw(40, 120);
    assert_true(braille() > 0);
    canvas_plots(&c, "ascii"); /* so on the Linux console, whose font has no braille */
    draw(40, 120);
    assert_int_equal(braille(), 0);
    canvas_plots(&c, "sextants");
    draw(40, 120);
    int sextants = 0;
    for (int i = 0; i < c.h * c.w; i++)
        sextants += c.cells[i].ch >= 0x1fb00 && c.cells[i].ch < 0x1fb3c;
    assert_true(sextants > 0 && braille() == 0);
    canvas_plots(&c, NULL);
    draw(40, 120);
    assert_true(on_screen("points of pattern") && on_screen(" points  ") && on_screen("lines: > 15.4 points"));
    assert_false(on_screen("twice uniform"));
    for (int i = 0; i < 4; i++) { /* and it stays, frame after frame */
        session_trim(&s);
        draw(40, 120);
        assert_false(on_screen("computing"));
        assert_true(run("query +1"));
    }
    assert_true(run("reset edits; reset view"));
}

/* Words have one view: the footer offers no other one, and v says why. */
static void one_view_of_words(void **state)
{
    (void)state;
    assert_true(run("reset view; goto encoder.tokens"));
    draw(40, 120);
    assert_true(on_screen("Space next"));
    assert_false(on_screen("v view"));
    assert_true(run("view next"));
    assert_non_null(strstr(buf_str(&s.said), "shown as words"));
    assert_true(run("goto encoder.blocks.0.self_attn.q; view heat"));
    draw(40, 120);
    assert_true(on_screen("v view"));
    View before = s.look.view;
    assert_true(run("view next"));
    assert_true(s.look.view != before);
    assert_true(run("reset view"));
}

/* Words that share a line are counted: none is left out in silence. */
static void words_that_share_a_line(void **state)
{
    (void)state;
    assert_true(run("open \"the animal did not cross the street because it was too tired\""));
    assert_true(run("reset view; goto encoder.full_embed; view heat"));
    draw(24, 80);
    assert_true(on_screen(" +1 "));
    assert_true(on_screen("animal  ")); /* beside its own row */
    draw(40, 120);
    assert_true(on_screen("animal  "));
    assert_false(on_screen(" +1 "));
    assert_true(run("reset view"));
}

/* The row of a head in which one sees what it does, and the largest weight of a row. */
static void the_most_one_sided_row(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"encoder.blocks.1.self_attn.pattern", "decoder.blocks.0.self_attn.pattern",
                                        "decoder.blocks.2.cross_attn.pattern"};
    for (int i = 0; i < 3; i++) {
        char line[120];
        snprintf(line, sizeof line, "goto %s; head 2; view sentence; query largest", PATHS[i]);
        assert_true(run(line));
        NodeId n;
        Dims d;
        const float *x = pattern(&n, &d);
        const Axis *axes = session_graph(&s, SIDE_B)->axes, *t = &axes[d.axis[1]], *u = &axes[d.axis[2]];
        size_t here = session_cell(&s, SIDE_B, n), row = here - here % (size_t)u->n,
               head = 2 * (size_t)t->n * (size_t)u->n;
        assert_true(row >= head && row < head + (size_t)t->n * (size_t)u->n);
        for (size_t k = row; k < row + (size_t)u->n; k++)
            assert_true(x[k] <= x[here]);
        for (size_t k = head; i != 1 && k < head + (size_t)t->n * (size_t)u->n;
             k++) /* without a mask all rows see all */
            assert_true(x[k] <= x[here]);
        if (i == 1) /* the first word written can look at nothing but itself: that shows nothing */
            assert_true(row > head);
        assert_non_null(strstr(buf_str(&s.said), "Head 2's row furthest above uniform: "));
        /* by how it is chosen no other row has more: its largest weight times the words it can see */
        double times[64] = {0}, most = 0;
        for (int r = 0, seen = 0; r < t->n && r < 64; r++, seen = 0) {
            for (int k = 0; k < u->n; k++) {
                const double w = (double)x[head + (size_t)(r * u->n + k)];
                seen += w != 0;
                times[r] = w > times[r] ? w : times[r];
            }
            times[r] *= seen;
            most = times[r] > most ? times[r] : most;
        }
        assert_true(times[(here - head) / (size_t)u->n] >= most);
        snprintf(line, sizeof line, " %%, %.1f times 1/", most);
        assert_non_null(strstr(buf_str(&s.said), line));
        assert_true(run("query 1; looked largest"));
        here = session_cell(&s, SIDE_B, n);
        assert_int_equal((here - head) / (size_t)u->n, 1);
        for (size_t k = here - here % (size_t)u->n, end = k + (size_t)u->n; k < end; k++)
            assert_true(x[k] <= x[here]);
    }
    assert_true(run("goto probs"));
    assert_false(run("query largest"));
    assert_non_null(strstr(error.text, "only a row of attention"));
    assert_true(run("reset view"));
}

/* A matrix of more words than lines: every pair of tokens lies in one drawn cell, which has the largest value of its
 * pairs by size, masked ones left out; `+` leads to the words around the cursor, one a cell. */
static void a_matrix_of_many_words(void **state)
{
    (void)state;
    static const struct {
        const char *site;
        int h, w;
    } CASES[] = {{"pattern", 7, 30}, {"scores_raw", 8, 34}, {"scores_masked", 6, 33}, {"scores_raw", 5, 12}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char line[160];
        Attend a;
        Rect r = {0, 0, CASES[i].h, CASES[i].w};
        snprintf(line, sizeof line, "goto decoder.blocks.1.self_attn.%s[h=2,t=9,u=4]; view matrix", CASES[i].site);
        assert_true(run("pool auto") && run(line));
        Needs needs = {0};
        VIEW_MATRIX.needs(&s, SIDE_B, r, &needs);
        assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
        canvas_resize(&c, r.h, r.w);
        Paint p = {.s = &s, .c = &c, .mode = MODE_256};
        assert_true(attend_open(&s, SIDE_B, -1, &a) && a.v.values);
        ColourScale scale = attend_scale(&p, &a, false);
        PoolKind kind = colour_scale_pool(&p, &scale);
        WordPool l = word_pool(&p, r, &a, 0);
        bool seen[32][32] = {{false}};
        assert_true(l.rows < a.t_axis->n && a.t_axis->n <= 32 && a.u_axis->n <= 32);
        for (int row = 0; row < l.rows; row++)
            for (int col = 0; col < l.cols; col++) {
                int t0 = row * a.t_axis->n / l.rows, t1 = (row + 1) * a.t_axis->n / l.rows,
                    u0 = col * a.u_axis->n / l.cols, u1 = (col + 1) * a.u_axis->n / l.cols;
                Ref ref;
                float got = word_pool_value(&a, &l, kind, row, col, &ref), best = -INFINITY;
                for (int t = t0; t < t1; t++)
                    for (int u = u0; u < u1; u++) {
                        float x = a.v.values[attend_cell(&a, a.head, t, u)];
                        assert_false(seen[t][u]);
                        seen[t][u] = true;
                        if (!isinf(x) && (isinf(best) || fabsf(x) > fabsf(best)))
                            best = x;
                    }
                assert_true(got == best || (isinf(got) && isinf(best)));
                assert_true(a.v.values[ref.cell] == got || isinf(got));
            }
        for (int t = 0; t < a.t_axis->n; t++)
            for (int u = 0; u < a.u_axis->n; u++)
                assert_true(seen[t][u]);
        canvas_clear(&c);
        view_draw(&VIEW_MATRIX, &p, r, SIDE_B, true);
        int drawn = 0;
        for (int y = 0; y < r.h; y++)
            for (int x = 0; x < r.w; x++) {
                const Cell *k = canvas_at(&c, y, x);
                int t, u;
                if (!k->ref.run || !cell_is_data(k))
                    continue;
                assert_true(word_pool_hit(&p, &a, &l, y, x, &t, &u));
                assert_int_equal(attend_cell(&a, a.head, t, u), k->ref.cell);
                drawn++;
            }
        assert_true(drawn >=
                    l.rows / 2 * l.cols - 1); /* less the cursor's; two share a cell, and the upper one's Ref */
        int corners = 0;
        for (int x = 0; x + 1 < r.w && l.column_y >= 0; x++) { /* names stand under their columns */
            char label[64];
            const char *name = label;
            int t, u;
            if (canvas_at(&c, l.column_y, x)->ch != 0x2514)
                continue;
            assert_true(word_pool_hit(&p, &a, &l, l.cells.y, x, &t, &u));
            axis_label(a.u_axis, u, label, sizeof label);
            assert_int_equal(canvas_at(&c, l.column_y, x + 1)->ch, utf8_next(&name));
            corners++;
        }
        assert_true(corners > 1 || l.column_y < 0 || r.w < 30);
        Buf text = {0};
        export_text(&c, &text);
        assert_true(r.w < 30 || strstr(buf_str(&text), "\u00d7") || strstr(buf_str(&text), " rows")); /* share a cell */
        assert_true(run("pool finer")); /* one token a cell, around the cursor */
        canvas_clear(&c);
        view_draw(&VIEW_MATRIX, &p, r, SIDE_B, true);
        buf_clear(&text);
        export_text(&c, &text);
        assert_null(strstr(buf_str(&text), "1 cell = "));
        for (int k = 0; k < 8; k++) /* and back to all of it */
            assert_true(s.look.pool > 0 && run("pool coarser"));
        assert_int_equal(s.look.pool, 0);
        buf_free(&text);
    }
    assert_true(run("pool auto; reset view"));
}

/* One row of scores in few columns: its columns have names, and what its dots are is said to the end. */
static void one_row_of_scores_is_named(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error));
    for (int t = 0; t < 8; t++) {
        snprintf(where, sizeof where, "goto decoder.blocks.0.cross_attn.scores_raw[t=%d]; view sentence", t);
        assert_true(run(where));
        draw(24, 80);
        assert_true(on_screen("asks") && on_screen("looked") && on_screen("score"));
        assert_true(on_screen("dots: the largest score"));
        assert_false(on_screen("score o…"));
    }
}

/* Is there a ≈ before a number? "≈0" alone is what rounds to nothing. */
static bool says_rounded(void)
{
    Buf line = {0};
    bool found = false;
    for (int y = 0; y < c.h && !found; y++) {
        line_of(y, &line);
        for (const char *at = buf_str(&line); (at = strstr(at, "≈")) != NULL && !found;) {
            at += strlen("≈");
            found = *at != ' ' && (*at != '0' || at[1] == '.');
        }
    }
    buf_free(&line);
    return found;
}

/* A difference that is not that of the two as they stand rounded beside it is marked, and only where the line above
 * says what the mark means. */
static void a_mark_says_what_it_is(void **state)
{
    (void)state;
    int marked = 0;
    assert_true(session_open_input(&s, SENTENCE, &error) && run("word tired wide"));
    for (int w = 40; w <= 200; w += 20) {
        int here = 0;
        for (int t = 0; t < 6; t++) {
            snprintf(where, sizeof where, "goto probs[t=%d]; view answer", t);
            assert_true(run(where));
            draw(40, w);
            if (!says_rounded())
                continue;
            marked++;
            here++;
            if (!on_screen("≈ before rounding"))
                fail_msg("%d columns, %s: ≈, and nothing says what it is", w, where);
        }
        assert_true(here > 0 || w < 80);
    }
    assert_true(marked > 0);
    assert_true(run("pin off"));
}

/* Eighths of a cell that the bar of a number takes. */
static int bar_of(Side side, NodeId node, size_t cell)
{
    int eighths = 0;
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (k->ref.run == (int)side && k->ref.node == node && k->ref.cell == cell && k->ch >= 0x2588 && k->ch <= 0x2590)
            eighths += k->ch == 0x2590 ? 4 : 8 - (int)(k->ch - 0x2588);
    }
    return eighths;
}

/* Bars of A and B are compared: of two weights the larger has no shorter one, though a word of one side is longer. In
 * A − B, of a few points, they are seen. */
static void bars_of_two_sides_are_compared(void **state)
{
    (void)state;
    static const char NODE[] = "encoder.blocks.1.self_attn.pattern";
    static const char *const ASKS[] = {"animal", "did", "not", "cross", "tired"};
    assert_true(session_open_input(&s, SENTENCE, &error) && run("word because was"));
    snprintf(where, sizeof where, "goto %s; view row; compare sides", NODE);
    assert_true(run(where));
    for (size_t t = 0; t < sizeof ASKS / sizeof *ASKS; t++) {
        int drawn = 0, apart = 0;
        snprintf(where, sizeof where, "query %s", ASKS[t]);
        assert_true(run(where));
        draw(24, 80);
        Shown of[SIDE_DIFF + 1];
        for (int side = SIDE_A; side <= SIDE_DIFF; side++)
            assert_true(shown_open(&s, (Side)side, NODE, &of[side]) && of[side].values);
        for (size_t i = 0; i < of[SIDE_A].count; i++) {
            const int a = bar_of(SIDE_A, of[SIDE_A].node, i), b = bar_of(SIDE_B, of[SIDE_B].node, i);
            drawn += a > 0 && b > 0;
            apart += bar_of(SIDE_DIFF, of[SIDE_DIFF].node, i);
            if (a && b && (of[SIDE_A].values[i] > of[SIDE_B].values[i] ? a < b : a > b))
                fail_msg("%s: %g has a bar of %d, %g one of %d", ASKS[t], (double)of[SIDE_A].values[i], a,
                         (double)of[SIDE_B].values[i], b);
        }
        assert_true(drawn > 0 && apart >= 8);
    }
    assert_true(run("pin off; reset edits; reset view") && session_open_input(&s, SENTENCE, &error));
}

/* Eighths of a cell that a weight's bar of the profile is high: of one column of it. */
static int height_of(Side side, NodeId node, size_t cell)
{
    int eighths = 0, column = -1;
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        const bool bar = k->ref.run == (int)side && k->ref.node == node && k->ref.cell == cell;
        if (!bar || k->ch < 0x2581 || k->ch > 0x2588 || (column >= 0 && column != i % c.w))
            continue;
        column = i % c.w;
        eighths += (int)(k->ch - 0x2580);
    }
    return eighths;
}

/* Bars of one scale: though the names of A take more lines than those of B, equal weights have equal bars. */
static void equal_weights_have_equal_bars(void **state)
{
    (void)state;
    static const char NODE[] = "encoder.blocks.1.self_attn.pattern";
    int fewer = 0, drawn = 0;
    assert_true(session_open_input(&s, SENTENCE, &error) && run("word because was; compare sides"));
    snprintf(where, sizeof where, "goto %s; view row", NODE);
    assert_true(run(where));
    draw(60, 200);
    Shown a, b;
    assert_true(shown_open(&s, SIDE_A, NODE, &a) && shown_open(&s, SIDE_B, NODE, &b) && a.values && b.values);
    for (int w = 60; w <= 160; w++) {
        canvas_resize(&c, 11, w);
        canvas_clear(&c);
        const Paint p = {.s = &s, .c = &c, .mode = mode};
        view_draw(&VIEW_PROFILE, &p, c.clip, SIDE_B, true);
        fewer += on_screen("because");
        for (size_t i = 0; i < a.count; i++) {
            const int high = height_of(SIDE_A, a.node, i), other = height_of(SIDE_B, b.node, i);
            drawn += high > 1 && other > 1;
            if (high && other && (a.values[i] > b.values[i] ? high < other : high > other))
                fail_msg("%d columns: %g has a bar of %d, %g one of %d", w, (double)a.values[i], high,
                         (double)b.values[i], other);
        }
    }
    assert_true(fewer > 20 && drawn > 100);
    assert_true(run("pin off; reset edits; reset view"));
}

/* Line of the bed of that side's river, the same in every column. */
static int bed_of_river(Side side, Rect r)
{
    int bed = -1, most = 0;
    const Paint p = {.s = &s, .c = &c, .mode = mode};
    canvas_clear(&c);
    view_draw(&VIEW_LEDGER, &p, r, side, true);
    for (int y = 0; y < r.h; y++) {
        int n = 0;
        for (int x = 0; x < r.w; x++)
            n += canvas_at(&c, y, x)->ch == 0x2581 && canvas_at(&c, y, x)->style == STYLE_BORDER;
        bed = n > most ? y : bed;
        most = n > most ? n : most;
    }
    return bed;
}

/* A river of A and one of B have one zero line, though what is lost without a part is marked in one alone; and what
 * tokens are alike stands in the same columns, though a word of one side is longer. */
static void two_sides_have_one_arrangement(void **state)
{
    (void)state;
    assert_true(session_open_input(&s, SENTENCE, &error) && run("word tired wide; compare sides; ledger"));
    draw(60, 200);
    for (int h = 14; h <= 40; h += 2) {
        const Rect r = {0, 0, h, 48};
        assert_true(bed_of_river(SIDE_A, r) >= 0);
        assert_int_equal(bed_of_river(SIDE_A, r), bed_of_river(SIDE_B, r));
    }
    assert_true(run("ledger off; reset edits; word because was; compare sides") &&
                run("goto encoder.blocks.1.self_attn.pattern; alike"));
    for (int w = 20; w <= 60; w++) {
        const Paint p = {.s = &s, .c = &c, .mode = mode};
        const Rect r = {0, 0, 14, w};
        Alike a, b;
        assert_true(alike_open(&p, SIDE_A, r, &a) && alike_open(&p, SIDE_B, r, &b));
        assert_int_equal(a.first, b.first);
        assert_int_equal(a.shown, b.shown);
        for (int place = a.first; place < a.first + a.shown; place++)
            assert_int_equal(alike_place_x(&a, place), alike_place_x(&b, place));
    }
    assert_true(run("pin off; reset edits; reset view") && session_open_input(&s, SENTENCE, &error));
}

/* Every word that asks has its name: in a line of its own before answers have a pane, else beside the one above it. */
static void rows_have_names(void **state)
{
    (void)state;
    int whole = 0;
    assert_true(session_open_input(&s, SENTENCE, &error) && run("word tired wide; compare sides"));
    assert_true(run("goto encoder.blocks.1.self_attn.pattern; view matrix"));
    draw(40, 120);
    Attend a;
    assert_true(attend_open(&s, SIDE_B, -1, &a));
    const int rows = a.t_axis->n;
    for (int h = 24; h <= 48; h++) {
        const Frame f = frame_layout(&s, h, 120, true);
        int matrix = 0, answers = 0;
        for (int i = 0; i < f.count; i++) {
            matrix = f.pane[i].view == &VIEW_MATRIX ? f.pane[i].inside.h : matrix;
            answers = f.pane[i].view == &VIEW_ANSWER ? f.pane[i].inside.h + 2 : answers;
        }
        if (answers && matrix < rows + 3 && matrix + answers >= rows + 3)
            fail_msg("%d lines: a matrix of %d, answers of %d", h, matrix, answers);
        whole += !answers && matrix >= rows + 3;
    }
    assert_true(whole > 0);
    assert_true(run("pin off; reset edits"));
    canvas_resize(&c, 11, 60);
    canvas_clear(&c);
    const Paint paint = {.s = &s, .c = &c, .mode = MODE_256};
    view_draw(&VIEW_MATRIX, &paint, c.clip, SIDE_B, true);
    assert_true(on_screen("street because") && on_screen("it was"));
    assert_true(run("reset view"));
}

/* Whoever opens a model of texts is led to a lesson about them, by the first screen's line and by the list alike, and
 * the list has what the model itself has before what is about pictures. */
static void lessons_of_texts_first(void **state)
{
    (void)state;
    static const struct {
        const char *model, *text, *first, *begin, *head;
        int pictures; /* before which none of pictures stands, at least */
    } MODELS[] = {{"tests/data/families/words_gpt2", "ids:1,2", "26. Words in pieces", "begin here: 26. ", "26. ", 9},
                  {"tests/data/families/words_qwen3_moe", "ids:1,2", "26. Words in pieces", "begin here: 26. ", "26. ",
                   9},
                  {"translator", SENTENCE, "15. Sinusoids", "begin here: 16. ", "16. ", 9}};
    setenv("XDG_STATE_HOME", "/nonexistent", 1); /* nothing was read yet */
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        session_free(&s);
        opened_session(&s, MODELS[i].model, MODELS[i].text);
        overlay_close(&lists);
        desk_menu(&lists, &s);
        assert_int_equal(strncmp(lists.items[0].text, MODELS[i].begin, strlen(MODELS[i].begin)), 0);
        int at = 0, texts = 0;
        while (at < lists.count && strcmp(lists.items[at].text, "about texts") != 0)
            at++;
        assert_int_equal(strncmp(lists.items[at + 1].text, MODELS[i].first, strlen(MODELS[i].first)), 0);
        for (at++; at < lists.count && lists.items[at].command; at++)
            texts++;
        assert_int_equal(texts, MODELS[i].pictures);
        assert_int_equal(strncmp(lists.items[at].text, "about pictures", 14), 0);
        assert_int_equal(strncmp(lists.items[at + 1].text, "0. ", 3), 0);
        for (int w = 60; w <= 120; w += 20) { /* the line of the first screen names the same one */
            char lesson[32];
            snprintf(lesson, sizeof lesson, "lesson %.2s", MODELS[i].head);
            draw(40, w);
            if (!on_screen(lesson))
                fail_msg("%s, %d columns: no %s", MODELS[i].model, w, lesson);
        }
    }
    overlay_close(&lists);
    session_free(&s);
    opened_session(&s, "translator", SENTENCE);
}

/* Of two sides a place where they differ is in sight where the cursor leaves room for it, else it is named. */
static void what_differs_is_in_sight(void **state)
{
    (void)state;
    static const char *const SHOWN[][2] = {{"goto encoder.tokens[s=because]", "other"},
                                           {"goto encoder.tokens[s=did]", "place 11 differs"},
                                           {"goto probs; query n'; view writing", "11 elle"}};
    assert_true(run("reset view; word tired wide; compare sides"));
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++) {
        assert_true(run(SHOWN[i][0]));
        draw(24, 80);
        if (!on_screen(SHOWN[i][1]))
            fail_msg("%s: no %s", SHOWN[i][0], SHOWN[i][1]);
    }
    session_free(&s);
    opened_session(&s, "translator", SENTENCE);
}

/* What bars and colours go to; in A − B the names of both words, and what is masked. */
static void both_words_and_ends(void **state)
{
    (void)state;
    static const struct {
        const char *command, *shown;
        int h, w;
    } CASES[] = {{"goto encoder.blocks.1.self_attn.pattern; view row", "scaled score", 40, 120},
                 {"view row", "weight to 28.2 %", 40, 120},
                 {"view row", "sum 1.000", 40, 120},
                 {"view sentence", "lines > 15.4 %; grey > 50 %", 40, 120},
                 /* one word has all of it, and no scale: its number stands below it */
                 {"goto decoder.blocks.2.cross_attn.pattern[h=2,t=10]; view sentence",
                  "lines: > 15.4 %, twice uniform; grey, others': > 50 %", 40, 120},
                 {"ledger", "more, 0", 40, 120},
                 {"reset view; word tired wide; compare sides; goto encoder.blocks.1.self_attn.pattern; view row",
                  "ti…/wi…", 24, 80},
                 {"view row", "points, ti…/wide", 24, 80},
                 {"view matrix", "tired/wide", 60, 200},
                 {"alike", "like tired/wide", 24, 80},
                 {"alike", "centred cosine  -1 ", 24, 80},
                 {"goto probs; view writing", "A and B", 24, 80}};
    session_free(&s);
    opened_session(&s, "translator", SENTENCE);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_true(run(CASES[i].command));
        draw(CASES[i].h, CASES[i].w);
        if (!on_screen(CASES[i].shown))
            fail_msg("%s: no %s", CASES[i].command, CASES[i].shown);
    }
    assert_true(run("goto decoder.blocks.1.self_attn.pattern; view matrix; compare diff"));
    draw(40, 120);
    assert_true(on_screen("blank: masked"));
    session_free(&s);
    opened_session(&s, "translator", SENTENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_screen),
                                       cmocka_unit_test(every_step),
                                       cmocka_unit_test(every_node),
                                       cmocka_unit_test(help_and_lists),
                                       cmocka_unit_test(words_are_found),
                                       cmocka_unit_test(the_masked_are_no_weights),
                                       cmocka_unit_test(a_weight_has_one_colour),
                                       cmocka_unit_test(sentences_are_offered),
                                       cmocka_unit_test(all_heads),
                                       cmocka_unit_test(the_first_steps),
                                       cmocka_unit_test(words_on_top),
                                       cmocka_unit_test(why_marks_its_word),
                                       cmocka_unit_test(words_have_their_grounds),
                                       cmocka_unit_test(words_as_in_the_matrix),
                                       cmocka_unit_test(a_row_of_words),
                                       cmocka_unit_test(every_head_on_one_page),
                                       cmocka_unit_test(long_sentences),
                                       cmocka_unit_test(own_models),
                                       cmocka_unit_test(where_it_looks),
                                       cmocka_unit_test(a_long_list_says_its_gap),
                                       cmocka_unit_test(the_cursor_leaves_the_bar),
                                       cmocka_unit_test(answers_of_the_word_in_focus),
                                       cmocka_unit_test(the_lens_speaks_of_the_word_in_focus),
                                       cmocka_unit_test(the_lens_says_how_sure_it_is),
                                       cmocka_unit_test(the_lens_at_every_token),
                                       cmocka_unit_test(the_stream_says_what_else),
                                       cmocka_unit_test(the_stream_lists_its_tokens),
                                       cmocka_unit_test(the_waves_say_what_is_left),
                                       cmocka_unit_test(beginnings_have_bars),
                                       cmocka_unit_test(words_have_room),
                                       cmocka_unit_test(heads_without_sentences),
                                       cmocka_unit_test(a_shorter_text),
                                       cmocka_unit_test(both_signs_are_drawn),
                                       cmocka_unit_test(nothing_is_drawn_for_nothing),
                                       cmocka_unit_test(one_view_of_words),
                                       cmocka_unit_test(words_that_share_a_line),
                                       cmocka_unit_test(the_most_one_sided_row),
                                       cmocka_unit_test(a_matrix_of_many_words),
                                       cmocka_unit_test(two_sides_have_one_arrangement),
                                       cmocka_unit_test(bars_of_two_sides_are_compared),
                                       cmocka_unit_test(equal_weights_have_equal_bars),
                                       cmocka_unit_test(rows_have_names),
                                       cmocka_unit_test(a_mark_says_what_it_is),
                                       cmocka_unit_test(one_row_of_scores_is_named),
                                       cmocka_unit_test(lessons_of_texts_first),
                                       cmocka_unit_test(what_differs_is_in_sight),
                                       cmocka_unit_test(both_words_and_ends)};
    return cmocka_run_group_tests(tests, start, stop);
}
