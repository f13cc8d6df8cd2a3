/* Questions, their counts over the wire, questions made from the trace, receipts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/session/ask/quiz.h"
#include "core/session/command.h"
#include "tui/rollcall.h"

static void test_questions(void **state)
{
    (void)state;
    static const char *const ANSWERS[] = {"0", "1", "2", "3"};
    Rollcall r = {.mine = -1}, other = {.mine = -1};
    Err err;
    Buf b = {0};
    assert_false(rollcall_ask(&r, "Which?", ANSWERS, 1, 0, &err));
    assert_false(rollcall_ask(&r, "", ANSWERS, 4, 0, &err));
    assert_true(rollcall_ask(&r, "Which \033[2J head?", ANSWERS, 4, 0, &err));
    assert_null(strchr(r.quiz.text, '\033')); /* nothing gets to a terminal */
    r.votes[1] = 3;
    r.votes[2] = 12;
    assert_int_equal(rollcall_total(&r), 15);
    rollcall_put(&r, &b);
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_int_equal(other.seed, r.seed);
    assert_string_equal(other.quiz.text, r.quiz.text);
    assert_int_equal(rollcall_total(&other), 15); /* how many, and not yet for what */
    assert_int_equal(other.votes[2], 0);
    r.closed = true;
    r.quiz.right = 2;
    buf_clear(&b);
    rollcall_put(&r, &b);
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_int_equal(other.votes[2], 12);
    assert_int_equal(other.quiz.right, 2);
    static const char *const BAD[] = {"",
                                      "x",
                                      "00000001",
                                      "00000001 q votes=1",
                                      "00000001 q a votes=1",
                                      "00000001 q a b",
                                      "00000000 q a b votes=\"1 1\"",
                                      "00000001 \"q a b votes=\"1 1\"",
                                      "1 q a b votes=\"1 1\"",
                                      "00000001 q a b=c votes=\"1 1\"",
                                      "00000001 \"\" a b votes=\"1 1\"",
                                      "00000001 q a b votes=\"1 1 1\"",
                                      "00000001 q a b votes=\"1 -1\"",
                                      "00000001 q a b votes=\"1 1\" right=2",
                                      "00000001 q a b votes=\"1 1\" value=\"0 0\"",
                                      "00000001 q a b votes=\"1 1\" value=\"0 nan\" right=1",
                                      "00000001 q a b votes=\"1 1\" value=0 right=1"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Rollcall before = other;
        assert_false(rollcall_read(&other, BAD[i]));
        assert_memory_equal(&before, &other, sizeof other);
    }
    r.valued = true; /* and what every answer comes to, where it was computed */
    r.value[3] = 0.25;
    buf_clear(&b);
    rollcall_put(&r, &b);
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_true(other.valued && other.value[3] == 0.25);
    assert_int_equal(rollcall_choice(&r, 0), 0); /* heads are called as they are called … */
    assert_int_equal(rollcall_choice(&r, 3), 3);
    assert_int_equal(rollcall_choice(&r, 4), -1);
    static const char *const WORDS[] = {"yes", "no"};
    assert_true(rollcall_ask(&r, "Now?", WORDS, 2, 0, &err));
    assert_int_equal(rollcall_choice(&r, 0), -1); /* … and others counted from 1 */
    assert_int_equal(rollcall_choice(&r, 2), 1);
    snprintf(r.note, sizeof r.note, "5 of 6 votes are of one account, ada (1001)");
    buf_clear(&b);
    rollcall_put(&r, &b);
    other.mine = 1;
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_int_equal(other.mine, -1); /* another question's answer is none to this one */
    other.mine = 1;
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_int_equal(other.mine, 1);
    assert_string_equal(other.note, r.note);
    buf_free(&b);
}

/* Every word of a long question and of long answers is on a screen of 80×24, before and after it is closed. */
static void test_long_words_are_wrapped(void **state)
{
    (void)state;
    static const char *const LONG[] = {"the first one, since it is the one that was trained longest",
                                       "none of them, because a weight is no distance between words"};
    Rollcall r = {.mine = -1};
    Canvas c;
    Buf text = {0};
    char words[200];
    assert_true(rollcall_ask(&r,
                             "Which of the four heads in block zero has, for that patch in the middle of the picture, "
                             "the weights that lie nearest to it, measured in pixels from the middle to the edge?",
                             LONG, 2, 0, NULL));
    canvas_init(&c, 24, 80);
    for (int closed = 0; closed < 2; closed++) {
        r.closed = closed;
        canvas_clear(&c);
        rollcall_draw(&r, &c,
                      "Receipt v1-00000000-0-0000000000000000-0000. Your answer is the one vote of this terminal.");
        buf_clear(&text);
        for (int i = 0; i < 24 * 80; i++)
            buf_putc(&text, c.cells[i].ch < 0x7f ? (char)c.cells[i].ch : ' ');
        snprintf(words, sizeof words, "%s %s %s this terminal.", strstr(r.quiz.text, "the weights"), LONG[0], LONG[1]);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
            if (!strstr(buf_str(&text), word))
                fail_msg("'%s' is cut", word);
    }
    canvas_free(&c);
    buf_free(&text);
}

/* The right answer comes of the trace: by its number, or as that with the largest or smallest value. */
static void test_settled(void **state)
{
    (void)state;
    static const char *const HEADS[] = {"0", "1", "2", "3"};
    Session s;
    Err err;
    Rollcall r = {.mine = -1};
    assert_true(session_init(&s, NULL, "#17", 1, NULL, NULL, &err));
    assert_true(rollcall_ask(&r, "Which head looks farthest?", HEADS, 4, 0, &err));
    assert_true(rollcall_settle(&r, &s, &err)); /* no key: nothing is known */
    assert_int_equal(r.quiz.right, -1);
    r.by = SETTLE_MOST;
    snprintf(r.key, sizeof r.key, "blocks.1.attn.probe.distance[h=$]");
    assert_true(rollcall_settle(&r, &s, &err));
    const float *x = session_need(&s, SIDE_B, "blocks.1.attn.probe.distance", &err);
    int best = 0, least = 0;
    for (int h = 0; h < 4; h++) {
        assert_true(r.value[h] == (double)x[h]);
        best = x[h] > x[best] ? h : best;
        least = x[h] < x[least] ? h : least;
    }
    assert_int_equal(r.quiz.right, best);
    r.by = SETTLE_LEAST;
    assert_true(rollcall_settle(&r, &s, &err));
    assert_int_equal(r.quiz.right, least);
    snprintf(r.key, sizeof r.key, "0 * $"); /* all alike: none of them is right */
    assert_true(rollcall_settle(&r, &s, &err));
    assert_int_equal(r.quiz.right, -1);
    r.by = SETTLE_RIGHT;
    snprintf(r.key, sizeof r.key, "1 + (probs[o=star] > 0.5)");
    assert_true(rollcall_settle(&r, &s, &err));
    assert_int_equal(r.quiz.right, 2);
    static const char *const BAD[] = {"4", "-1", "1.5", "nowhere[h=0]", ""};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        snprintf(r.key, sizeof r.key, "%s", BAD[i]);
        *err.text = 0;
        assert_false(rollcall_settle(&r, &s, &err));
        assert_true(strstr(err.text, "right="));
        assert_int_equal(r.quiz.right, 2);
    }
    r.by = SETTLE_MOST;
    snprintf(r.key, sizeof r.key, "probs[o=star]"); /* the same for every answer: $ was forgotten */
    assert_false(rollcall_settle(&r, &s, &err));
    session_free(&s);
}

static void test_receipts(void **state)
{
    (void)state;
    Receipt r = {0x90234c85, 2, 0x1cc1e37e9104eb92}, again;
    char text[RECEIPT_TEXT];
    Err err;
    receipt_put(&r, text);
    assert_true(strlen(text) <= 60);
    assert_true(receipt_read(&again, text, &err));
    assert_int_equal(again.seed, r.seed);
    assert_int_equal(again.answer, r.answer);
    assert_true(again.hash == r.hash);
    for (size_t i = 0; i < strlen(text); i++) { /* any one digit changed is noticed */
        char wrong[RECEIPT_TEXT];
        snprintf(wrong, sizeof wrong, "%s", text);
        wrong[i] = wrong[i] == '7' ? '8' : '7';
        assert_false(receipt_read(&again, wrong, &err));
        assert_true(*err.text);
    }
    assert_false(receipt_read(&again, "", &err));
}

/* The right answer is the one that the trace gives: found here another way, by asking for values one by one. */
static void test_quiz(void **state)
{
    (void)state;
    Session s;
    Err err;
    assert_true(session_init(&s, NULL, "#17", 1, NULL, NULL, &err));
    int heads = 0, tokens = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        Quiz q, again;
        assert_true(quiz_make(&s, seed, &q, &err));
        assert_true(quiz_make(&s, seed, &again, &err));
        assert_memory_equal(&q, &again, sizeof q);
        assert_int_equal(q.count, 4);
        int block, head = -1;
        char asks[16];
        if (sscanf(q.text, "Block %d, head %d, %15s", &block, &head, asks) != 3)
            assert_int_equal(sscanf(q.text, "Block %d, %15s", &block, asks), 2);
        char path[64];
        snprintf(path, sizeof path, "blocks.%d.attn.pattern", block);
        const Graph *g = session_graph(&s, SIDE_B);
        NodeId n = graph_find(g, path);
        const float *x = session_need(&s, SIDE_B, path, &err);
        Dims d = graph_node(g, n)->dims;
        int index[DIMS_MAX] = {0}, best = -1;
        float most = -1;
        assert_true(axis_parse(&g->axes[d.axis[1]], asks, &index[1]));
        for (int i = 0; i < q.count; i++) {
            float w = -1;
            if (head < 0) {
                index[0] = i;
                for (index[2] = 0; index[2] < g->axes[d.axis[2]].n; index[2]++) {
                    float v = x[dims_ravel(g->axes, d, index)];
                    w = v > w ? v : w;
                }
                heads++;
            } else {
                index[0] = head;
                assert_true(axis_parse(&g->axes[d.axis[2]], q.answer[i], &index[2]));
                w = x[dims_ravel(g->axes, d, index)];
                tokens++;
            }
            best = w > most ? i : best;
            most = w > most ? w : most;
        }
        assert_int_equal(best, q.right);
    }
    assert_true(heads > 8 && tokens > 8);
    session_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_questions), cmocka_unit_test(test_long_words_are_wrapped),
                                       cmocka_unit_test(test_settled), cmocka_unit_test(test_receipts),
                                       cmocka_unit_test(test_quiz)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
