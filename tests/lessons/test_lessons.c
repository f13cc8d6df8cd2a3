/* The lessons that are in the program: every one is played with its own solutions, every number of its prose evaluated,
 * and each number changed is found out. */
#include "tests/lessons/lessons_test.h"

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/io/json.h"
#include "core/session/exhibit.h"

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
    int played = 0, numbers = 0;
    int64_t began = clock_ns();
    for (int i = 0; lesson_at(i, &f); i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            Player p;
            CheckCount n;
            Buf faults = {0};
            open_lesson(&p, &f, seed);
            if (!lesson_check(&p, &n, &faults))
                fail_msg("%s", buf_str(&faults));
            assert_true(n.cards <= CARDS_MOST && n.cards >= (f.number < 0 ? 2 : 6));
            assert_true(p.lesson.number == f.number && p.lesson.minutes <= 10);
            played++;
            numbers += n.numbers;
            player_close(&p);
            buf_free(&faults);
        }
    assert_true(played >= 16 * SEEDS && numbers > 500 * SEEDS);
    assert_true(clock_ns() - began < (int64_t)120e9); /* 30 s without the sanitizers */
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

/* A digit of the prose itself, in every lesson: the first one that an expectation covers. */
static void a_digit_changed_in_the_prose_is_a_fault(void **state)
{
    (void)state;
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        char *text = xmalloc(f.size + 1);
        memcpy(text, f.text, f.size);
        text[f.size] = 0;
        Player p;
        open_lesson(&p, &f, 0);
        char *hit = NULL;
        for (int k = 0; k < p.lesson.count && !hit; k++)
            for (int e = 0; e < p.lesson.cards[k].expect_count && !hit; e++) {
                const char *number = p.lesson.cards[k].expect[e].left;
                char *heading = strstr(text, p.lesson.cards[k].title), *fence = strstr(heading, "```");
                char *at = literal(number) && strlen(number) > 2 ? strstr(heading, number) : NULL;
                if (at && at < fence)
                    hit = at;
            }
        player_close(&p);
        assert_non_null(hit);
        char *digit = hit + strcspn(hit, "0123456789");
        *digit = (char)(*digit == '9' ? '1' : *digit + 1);
        LessonFile wrong = {f.number, f.name, text, f.size};
        CheckCount n;
        Buf faults = {0};
        open_lesson(&p, &wrong, 0);
        assert_false(lesson_check(&p, &n, &faults));
        assert_non_null(strstr(buf_str(&faults), "nothing says what"));
        player_close(&p);
        buf_free(&faults);
        free(text);
    }
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

static void every_claim_is_in_a_card_or_said_to_be_left_out(void **state)
{
    (void)state;
    Buf text = {0}, left = {0};
    Err err = {{0}};
    assert_true(file_read("tests/data/lessons/claims.json", 1 << 20, &text, &err));
    assert_true(file_read("tests/data/lessons/left_out.txt", 1 << 20, &left, &err));
    Json *claims = json_parse("claims", buf_str(&text), text.len, &err);
    assert_non_null(claims);
    size_t stated = 0, count = json_count(claims);
    for (size_t i = 0; i < count; i++) {
        const Json *claim = json_at(claims, i), *values = json_get(claim, "true");
        const char *id = json_text(json_get(claim, "id"), "");
        char line[32];
        snprintf(line, sizeof line, "%s ", id);
        const char *at = strstr(buf_str(&left), line);
        bool out = at && (at == buf_str(&left) || at[-1] == '\n'), in = false, true_value = json_count(values) == 0;
        LessonFile f;
        for (int k = 0; lesson_at(k, &f); k++) {
            Lesson l;
            assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
            for (int c = 0; c < l.count; c++)
                for (int m = 0; m < l.cards[c].claims.count; m++) {
                    if (strcmp(l.cards[c].claims.at[m].text, id) != 0)
                        continue;
                    in = true;
                    true_value = true_value || l.cards[c].question;
                    for (size_t v = 0; v < json_count(values); v++) {
                        double x;
                        if (json_number(json_at(values, v), &x) &&
                            (states(&l.cards[c], x) || states(&l.cards[c], x / 1e9))) /* GB */
                            true_value = true;
                    }
                }
            lesson_free(&l);
        }
        if (in == out)
            fail_msg("%s is %s", id, in ? "in a card, and said to be left out" : "neither in a card nor left out");
        if (in && !true_value)
            fail_msg("%s: no card that names it states a true value of it, or asks", id);
        stated += in;
    }
    printf("%zu claims, %zu of them stated with a true value or asked\n", count, stated);
    assert_true(stated > 130);
    json_free(claims);
    buf_free(&text);
    buf_free(&left);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_lesson_is_true_and_can_be_played, start, stop),
        cmocka_unit_test_setup_teardown(every_number_changed_is_found_out, start, stop),
        cmocka_unit_test_setup_teardown(a_digit_changed_in_the_prose_is_a_fault, start, stop),
        cmocka_unit_test_setup_teardown(worked_examples_explain_themselves, start, stop),
        cmocka_unit_test(the_teacher_has_notes_and_pauses),
        cmocka_unit_test(every_claim_is_in_a_card_or_said_to_be_left_out),
        cmocka_unit_test(what_a_lesson_needs_is_there),
        cmocka_unit_test_setup_teardown(every_step_and_screen_has_a_lesson, start, stop),
    };
    unused();
    return cmocka_run_group_tests_name("lessons", tests, NULL, NULL);
}
