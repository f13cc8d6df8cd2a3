/* The lessons that are in the program: every one is played with its own solutions, every number of its prose evaluated,
 * and each number changed is found out. */
#include "tests/every.h"
#include "tests/lessons/lessons_test.h"

#include <ctype.h>
#include <fnmatch.h>

#include "core/base/file.h"
#include "core/io/json.h"
#include "core/models/names.h"
#include "core/session/exhibit.h"
#include "lessons/numbers.h"

enum { SEEDS = 4 };

static void open_lesson(Player *p, const LessonFile *f, uint64_t seed)
{
    Lesson l;
    Err err = {{0}};
    if (!lesson_parse(&l, f->name, f->text, f->size, seed, &err) || !player_open(p, &s, &l, &err))
        fail_msg("%s", err.text);
}

static void every_lesson_is_true_and_can_be_played(void **state)
{
    (void)state;
    LessonFile f;
    const int seeds = cases_every(1) > 1 ? 1 : SEEDS;
    int played = 0, numbers = 0;
    for (int i = 0; lesson_at(i, &f); i++)
        for (int seed = 0; seed < seeds; seed++) {
            Player p;
            CheckCount n;
            Buf faults = {0};
            open_lesson(&p, &f, (uint64_t)seed);
            if (!lesson_check(&p, &n, &faults))
                fail_msg("%s", buf_str(&faults));
            assert_true(n.cards <= CARDS_MOST && n.cards >= (f.number < 0 ? 2 : 6));
            assert_true(p.lesson.number == f.number && p.lesson.minutes <= 10);
            played++;
            numbers += n.numbers;
            player_close(&p);
            buf_free(&faults);
        }
    assert_true(played >= 16 * seeds && numbers > 500 * seeds);
}

/* "150,528" two units of its last place off. */
static void changed(const char *literal, Buf *out)
{
    double x, half;
    number_printed(literal, &x, &half);
    int places = 0;
    for (double h = half * 2; h < 0.99 && places < 9; h *= 10)
        places++;
    if (strchr(literal, 'e'))
        buf_printf(out, "%.3e", x + 4 * half);
    else
        buf_printf(out, "%.*f", places, x + 4 * half);
}

static bool literal(const char *text)
{
    double x, half;
    size_t n = number_printed(text, &x, &half);
    return n && !text[n];
}

static void every_number_changed_is_found_out(void **state)
{
    (void)state;
    LessonFile f;
    int tried = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.count; k++) {
            Err err = {{0}};
            if (!player_through(&p, k, &err))
                fail_msg("%s", err.text);
            const Card *c = player_card(&p);
            for (int e = 0; e < c->expect_count; e++) {
                Expectation x = c->expect[e];
                bool left = literal(x.left);
                if (x.relation != RELATION_EQUAL || left == literal(x.right))
                    continue;
                Buf other = {0}, shown = {0};
                changed(left ? x.left : x.right, &other);
                if (left)
                    x.left = buf_str(&other);
                else
                    x.right = buf_str(&other);
                bool holds;
                if (!expectation_holds(&p, &x, &holds, &shown, &err))
                    fail_msg("%s", err.text);
                if (holds)
                    fail_msg("%s:%d: %s = %s holds as well", f.name, x.line, x.left, x.right);
                tried++;
                buf_free(&other);
                buf_free(&shown);
            }
        }
        player_close(&p);
    }
    assert_true(tried > 400);
}

/* Every cell of every node of every worked example is derived again from its terms, bit for bit. */
static const float *values_of(const void *run, NodeId n)
{
    return run_need((Run *)(uintptr_t)run, n);
}

static void worked_examples_explain_themselves(void **state)
{
    (void)state;
    LessonFile f;
    size_t cells = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.example_count; k++) {
            const Example *e = &p.examples[k];
            Run *run = exhibit_run(e->exhibit);
            if (e->pixels) /* the model: its own suites do that */
                continue;
            for (NodeId n = 0; n < e->graph->count; n++) {
                size_t count = graph_cells(e->graph, n), step = count > 64 ? count / 16 : 1;
                if (graph_node(e->graph, n)->op == OP_LEAF)
                    continue;
                const float *x = run_need(run, n);
                for (size_t c = 0; c < count; c += step) {
                    Explain why = explain_open(e->graph, n, c);
                    float again = explain_fold(&why, values_of, run);
                    if (memcmp(&again, &x[c], sizeof again) != 0)
                        fail_msg("%s: %s:%s cell %zu", f.name, e->name, graph_node(e->graph, n)->path, c);
                    cells++;
                }
                run_trim(run);
            }
        }
        player_close(&p);
    }
    assert_true(cells > 2000);
}

/* Who teaches has a note on every card that asks, and on the one that settles a prediction; the words of a note are
 * few. Some cards show their change only behind a pause, and some play an operation term by term. */
static void the_teacher_has_notes_and_pauses(void **state)
{
    (void)state;
    LessonFile f;
    int pauses = 0, played = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l;
        Err err = {{0}};
        assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
        for (int k = 0; k < l.count; k++) {
            const Card *c = &l.cards[k];
            bool settles = k > 0 && l.cards[k - 1].question && l.cards[k - 1].question->predict;
            if ((c->question || settles) && !c->notes.count)
                fail_msg("%s:%d: a card that %s has no note", f.name, c->line, settles ? "settles" : "asks");
            for (int n = 0; n < c->notes.count; n++)
                if (strlen(c->notes.at[n].text) > 300)
                    fail_msg("%s:%d: too long to be read while speaking", f.name, c->notes.at[n].line);
            for (int n = 0; n < c->commands.count; n++) {
                pauses += !*c->commands.at[n].text;
                played += strstr(c->commands.at[n].text, "play on") != NULL;
            }
        }
        lesson_free(&l);
    }
    assert_true(pauses >= 12 && played >= 4);
}

/* ---- the figures that the lessons must hold ---- */

static bool states(const Card *c, double x)
{
    double y, half;
    const char *texts[256];
    int n = 0;
    for (int i = 0; i < c->quoted.count && n < 64; i += 2)
        texts[n++] = c->quoted.at[i].text;
    for (int i = 0; i < c->expect_count && n < 254; i++) {
        texts[n++] = c->expect[i].left;
        texts[n++] = c->expect[i].right;
    }
    for (int i = 0; i < n; i++) {
        size_t used = number_printed(texts[i], &y, &half);
        double d = x - y;
        if (used && !texts[i][used] && d <= half * 1.0001 && -d <= half * 1.0001)
            return true;
    }
    return false;
}

/* Does a card state one of the claim's true values, as it is, in thousand millions or in percent? */
static bool states_one(const Card *c, const Json *values)
{
    for (size_t v = 0; v < json_count(values); v++) {
        double x;
        if (json_number(json_at(values, v), &x) && (states(c, x) || states(c, x / 1e9) || states(c, 100 * x)))
            return true;
    }
    return false;
}

static void every_claim_is_in_a_card(void **state)
{
    (void)state;
    Buf text = {0};
    Err err = {{0}};
    assert_true(file_read("tests/data/lessons/claims.json", 1 << 20, &text, &err));
    Json *claims = json_parse("claims", buf_str(&text), text.len, &err);
    assert_non_null(claims);
    size_t count = json_count(claims);
    assert_int_equal(count, 219);
    enum { LESSONS_MOST = 64 };
    Lesson lesson[LESSONS_MOST];
    LessonFile f;
    int lessons = 0;
    for (; lesson_at(lessons, &f); lessons++)
        assert_true(lessons < LESSONS_MOST && lesson_parse(&lesson[lessons], f.name, f.text, f.size, 0, &err));
    for (size_t i = 0; i < count; i++) {
        const Json *claim = json_at(claims, i), *values = json_get(claim, "true");
        const char *id = json_text(json_get(claim, "id"), "");
        bool in = false, true_value = json_count(values) == 0;
        for (const Lesson *l = lesson; l < lesson + lessons; l++)
            for (int c = 0; c < l->count; c++)
                for (int m = 0; m < l->cards[c].claims.count; m++) {
                    if (strcmp(l->cards[c].claims.at[m].text, id) != 0)
                        continue;
                    in = true;
                    true_value = true_value || l->cards[c].question || states_one(&l->cards[c], values);
                }
        if (!in)
            fail_msg("%s is in no card", id);
        if (!true_value)
            fail_msg("%s: no card that names it states a true value of it, or asks", id);
    }
    while (lessons > 0)
        lesson_free(&lesson[--lessons]);
    json_free(claims);
    buf_free(&text);
}

/* ---- mechanisms ---- */

/* Is what the card shows now what the words say: path=GLOB, screen=NAME, edited? All of them, separated by blanks. */
static bool shows(const Player *p, const char *words)
{
    const Session *now = p->s;
    Address at;
    const Example *e = player_shows(p, &at);
    char where[200];
    snprintf(where, sizeof where, "%s%s%s", e ? e->name : "", e ? ":" : "", now->place.path);
    for (const char *w = words; *w;) {
        char word[160];
        size_t n = strcspn(w, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        bool so = strncmp(word, "path=", 5) == 0     ? fnmatch(word + 5, where, 0) == 0
                  : strncmp(word, "screen=", 7) == 0 ? strcmp(word + 7, screen_name(now->place.screen)) == 0
                                                     : strcmp(word, "edited") == 0 && session_edited(now);
        if (!so)
            return false;
        w += n + strspn(w + n, " ");
    }
    return true;
}

/* tests/data/lessons/mechanisms.txt: LESSON ID WHAT-IT-SHOWS, one a line. */
static void every_mechanism_runs_in_a_card(void **state)
{
    (void)state;
    Buf text = {0};
    Err err = {{0}};
    int lines = 0, lost = 0;
    assert_true(file_read("tests/data/lessons/mechanisms.txt", 1 << 16, &text, &err));
    for (const char *line = buf_str(&text); *line; line += strcspn(line, "\n") + 1) {
        int number, used = 0;
        char id[8], what[200], row[256];
        snprintf(row, sizeof row, "%.*s", (int)strcspn(line, "\n"), line);
        assert_int_equal(sscanf(row, "%d %7s %n", &number, id, &used), 2);
        snprintf(what, sizeof what, "%s", row + used);
        LessonFile f;
        Player p;
        bool tagged = false, live = false;
        assert_true(*what && lesson_by_number(number, &f));
        open_lesson(&p, &f, 0);
        for (int c = 0; c < p.lesson.count && !live; c++)
            for (int m = 0; m < p.lesson.cards[c].mechanisms.count && !live; m++) {
                if (strcmp(p.lesson.cards[c].mechanisms.at[m].text, id) != 0)
                    continue;
                tagged = true;
                if (!player_through(&p, c, &err))
                    fail_msg("%s", err.text);
                live = shows(&p, what);
            }
        player_close(&p);
        if (!live)
            print_error("lesson %d, %s: no card %s (%s)\n", number, id, tagged ? "that names it shows it" : "names it",
                        what);
        lost += !live;
        lines++;
    }
    assert_int_equal(lost, 0);
    assert_true(lines >= 60);
    buf_free(&text);
}

/* What every card shows before each of its pauses and in the end, as a person compared it with the card's words at 80
 * by 24: a card that shows something else is to be looked at again. Where that was done, build/screens.txt is what they
 * show now. */
static void the_screens_are_those_that_were_compared(void **state)
{
    (void)state;
    LessonFile f;
    Buf now = {0}, kept = {0};
    Err err = {{0}};
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.count; k++) {
            bool entered = player_enter(&p, k, &err);
            buf_printf(&now, "%.2s %d", f.name, k + 1);
            for (;; entered = player_on(&p, &err)) {
                Address at;
                const Example *e = player_shows(&p, &at);
                if (!entered)
                    fail_msg("%s, card %d: %s", f.name, k + 1, err.text);
                buf_printf(&now, " %s%s%s@%s%s", e ? e->name : "", e ? ":" : "", s.place.path,
                           screen_name(s.place.screen), session_edited(&s) ? "*" : "");
                if (!player_waits(&p))
                    break;
            }
            buf_putc(&now, '\n');
        }
        player_close(&p);
    }
    assert_true(file_read("tests/data/lessons/screens.txt", 1 << 20, &kept, &err));
    if (strcmp(buf_str(&now), buf_str(&kept)) != 0) {
        file_write("build/screens.txt", buf_str(&now), now.len, &err);
        fail_msg("a card shows another screen than tests/data/lessons/screens.txt: compare it with its words; "
                 "build/screens.txt has the new ones");
    }
    buf_free(&now);
    buf_free(&kept);
}

/* A question and all its answers are one page of the six lines that a card has at 80 by 24. */
static void a_question_stands_with_its_answers(void **state)
{
    (void)state;
    LessonFile f;
    int asked = 0, broken = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.count; k++) {
            Laid laid;
            Err err = {{0}};
            if (!p.lesson.cards[k].question)
                continue;
            if (!player_enter(&p, k, &err) || !card_lay(&p, CHECK_COLUMNS, &laid, &err))
                fail_msg("%s", err.text);
            int first = 0;
            while (first < laid.count &&
                   !(laid.lines[first].count && laid.lines[first].parts[0].style == LAID_QUESTION))
                first++;
            if (laid.count - first > 6)
                printf("%s, card %d: %d lines of question and answers\n", f.name, k + 1, laid.count - first);
            broken += laid.count - first > 6;
            asked++;
            laid_free(&laid);
        }
        player_close(&p);
    }
    assert_int_equal(broken, 0);
    assert_true(asked > 100);
}

static void put_card(const Player *p, Buf *out)
{
    Err err = {{0}};
    const Card *c = player_card(p);
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            if (c->items[i].spans[k].style != SPAN_CODE && !player_text(p, c->items[i].spans[k].text, out, &err))
                fail_msg("%s", err.text);
}

/* A card says the same before its pauses and behind them, or … for what is not to be seen yet. */
static void no_card_says_what_is_not_so_yet(void **state)
{
    (void)state;
    LessonFile f;
    int open = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.count; k++) {
            Buf first = {0}, last = {0};
            Err err = {{0}};
            if (!player_enter(&p, k, &err))
                fail_msg("%s", err.text);
            put_card(&p, &first);
            if (!player_through(&p, k, &err))
                fail_msg("%s", err.text);
            put_card(&p, &last);
            bool waits = strstr(buf_str(&first), "\xE2\x80\xA6") && !strstr(buf_str(&last), "\xE2\x80\xA6");
            if (!waits && strcmp(buf_str(&first), buf_str(&last)) != 0)
                fail_msg("%s, card %d says \"%s\" before its pause, and \"%s\" behind it", f.name, k + 1,
                         buf_str(&first), buf_str(&last));
            open += waits;
            buf_free(&first);
            buf_free(&last);
        }
        player_close(&p);
    }
    assert_true(open >= 2);
}

/* Enter leads into what a card shows; Space then goes on with the card all the same. */
static void who_looked_into_something_can_go_on(void **state)
{
    (void)state;
    LessonFile f;
    int pauses = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        open_lesson(&p, &f, 0);
        for (int k = 0; k < p.lesson.count; k++) {
            Err err = {{0}}, none;
            if (p.lesson.cards[k].show.count == 0)
                continue;
            bool entered = player_enter(&p, k, &err);
            for (; entered && player_waits(&p); pauses++) {
                command_do(p.s, &p.commands, "in", LINE_FOREIGN, &none);
                command_do(p.s, &p.commands, "in", LINE_FOREIGN, &none);
                entered = player_on(&p, &err);
            }
            if (!entered)
                fail_msg("%s, card %d: %s", f.name, k + 1, err.text);
        }
        player_close(&p);
    }
    assert_true(pauses > 5);
}

static void what_a_lesson_needs_is_there(void **state)
{
    (void)state;
    LessonFile f, g;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l;
        Err err = {{0}};
        assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
        for (int k = 0; k < l.needs.count; k++) {
            bool found = false;
            for (int m = 0; lesson_at(m, &g); m++) {
                char number[16];
                snprintf(number, sizeof number, "%d", g.number);
                found = found || strcmp(number, l.needs.at[k].text) == 0 ||
                        (strncmp(g.name, l.needs.at[k].text, strlen(l.needs.at[k].text)) == 0 && g.number < 0);
            }
            if (!found)
                fail_msg("%s needs '%s', which is no lesson", f.name, l.needs.at[k].text);
        }
        int again = 0;
        for (int k = 0; k < l.count; k++)
            again += l.cards[k].again;
        assert_int_equal(again, f.number >= 0);
        assert_true(l.able.count && l.summary.count && (f.number < 0 || (l.misconception.count && l.reads.count)));
        lesson_free(&l);
    }
}

/* t offers a lesson wherever one stands: at every step of the bundled model, and on every screen. */
static void every_step_and_screen_has_a_lesson(void **state)
{
    (void)state;
    LessonFile f;
    int without = 0;
    for (int i = 0; i < s.stages.count + SCREEN_COUNT; i++) {
        bool step = i < s.stages.count, found = false;
        const Box *box = step ? &s.stages.boxes[i] : NULL;
        if (box && (box->depth > 1 || (box->depth == 1 && strncmp(box->path, "blocks.", 7) != 0))) /* inside a stage */
            continue;
        const char *path = box ? graph_node(session_graph(&s, SIDE_B), box->show)->path : "";
        const char *screen = step ? "" : screen_name((Screen)(i - s.stages.count));
        for (int k = 0; lesson_at(k, &f) && !found; k++) {
            Lesson l;
            Err err = {{0}};
            assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
            found = lesson_explains(&l, screen, path);
            lesson_free(&l);
        }
        if (!found)
            printf("no lesson explains %s\n", step ? path : screen);
        without += !found;
    }
    assert_int_equal(without, 0);
}

/* The graphs that a lesson may speak of: what the program has itself, a decoder's, and those of families whose parts
 * are taught. */
enum { TAUGHT = 10 };
static int taught_graphs(Model model[TAUGHT], Graph graph[TAUGHT])
{
    static const char *const FAMILIES[] = {"words_gpt2",      "words_llama", "words_gemma3",
                                           "words_mixtral",   "words_bloom", "words_mistral",
                                           "words_qwen2_moe", "words_bert",  "words_t5"};
    const int words[] = {3, 1, 4, 1, 5};
    const Text text = {.word = words, .count = 5};
    const ModelInput in = {.kind = INPUT_TEXT, .text = {[TEXT_SOURCE] = text, [TEXT_TARGET] = text}};
    Err err = {{0}};
    int n = 0;
    for (size_t i = 0; i <= sizeof FAMILIES / sizeof *FAMILIES; i++, n++) {
        char path[200];
        snprintf(path, sizeof path, "tests/data/families/%s", i ? FAMILIES[i - 1] : "");
        if (!(i ? family_load(&model[n], path, NULL, NULL, &err) : text_open(&model[n], "translator", &err)))
            fail_msg("%s", err.text);
        graph_init(&graph[n]);
        model[n].family->build(&model[n], &graph[n], &in);
    }
    return n;
}

/* A pattern that fits nothing is a lesson that is never offered. */
static void what_a_lesson_explains_is_there(void **state)
{
    (void)state;
    Model model[TAUGHT];
    Graph graph[TAUGHT];
    LessonFile f;
    int n = taught_graphs(model, graph), without = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l;
        Err err = {{0}};
        assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
        for (int k = 0; k < l.explains.count; k++) {
            const char *what = l.explains.at[k].text;
            bool found = strncmp(what, "screen:", 7) == 0;
            for (int screen = 0; found && screen <= SCREEN_COUNT; screen++)
                if (screen == SCREEN_COUNT || strcmp(what + 7, screen_name((Screen)screen)) == 0) {
                    found = screen < SCREEN_COUNT;
                    break;
                }
            for (int g = -1; g < n && !found && strncmp(what, "screen:", 7) != 0; g++) {
                const Graph *of = g < 0 ? session_graph(&s, SIDE_B) : &graph[g];
                for (NodeId node = 0; node < of->count && !found; node++)
                    found = address_match(what, graph_node(of, node)->path);
            }
            char plain
                [200]; /* of a model with a picture, or made when it is asked for (grad, ledger): a name that is one */
            snprintf(plain, sizeof plain, "%.199s", what);
            for (char *star; (star = strchr(plain, '*')) != NULL;)
                *star = 'x';
            found = found || (strncmp(what, "screen:", 7) != 0 && node_text(plain));
            const NodeText *row;
            for (size_t r = 0; !found && (row = node_text_at(r)) != NULL; r++)
                found = address_match(what, row->pattern);
            if (!found)
                printf("%s explains '%s', which no model of these has\n", f.name, what);
            without += !found;
        }
        lesson_free(&l);
    }
    for (int g = 0; g < n; g++) {
        graph_free(&graph[g]);
        model_free(&model[g]);
    }
    assert_int_equal(without, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_lesson_explains_is_there, start, stop),
        cmocka_unit_test_setup_teardown(every_lesson_is_true_and_can_be_played, start, stop),
        cmocka_unit_test_setup_teardown(every_number_changed_is_found_out, start, stop),
        cmocka_unit_test_setup_teardown(worked_examples_explain_themselves, start, stop),
        cmocka_unit_test(the_teacher_has_notes_and_pauses),
        cmocka_unit_test(every_claim_is_in_a_card),
        cmocka_unit_test_setup_teardown(every_mechanism_runs_in_a_card, start, stop),
        cmocka_unit_test_setup_teardown(the_screens_are_those_that_were_compared, start, stop),
        cmocka_unit_test_setup_teardown(a_question_stands_with_its_answers, start, stop),
        cmocka_unit_test_setup_teardown(no_card_says_what_is_not_so_yet, start, stop),
        cmocka_unit_test_setup_teardown(who_looked_into_something_can_go_on, start, stop),
        cmocka_unit_test(what_a_lesson_needs_is_there),
        cmocka_unit_test_setup_teardown(every_step_and_screen_has_a_lesson, start, stop),
    };
    unused();
    return cmocka_run_group_tests_name("lessons", tests, NULL, NULL);
}
