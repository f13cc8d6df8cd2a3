/* Questions asked on the spot and settled, made from the trace, and receipts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/session/ask/quiz.h"

static void test_asked_on_the_spot(void **state)
{
    (void)state;
    static const char *const HEADS[] = {"0", "1", "2", "3"}, *const WORDS[] = {"yes", "no"};
    Quiz q, before;
    Err err;
    char name[QUIZ_ANSWER + 16], key[QUIZ_TEXT + 9];
    assert_true(quiz_ask(&q, "Which head?", HEADS, 4, "", &err));
    before = q;
    memset(key, '1', sizeof key - 1);
    key[sizeof key - 1] = 0;
    assert_false(quiz_ask(&q, "Which?", HEADS, 1, "", &err));
    assert_false(quiz_ask(&q, "", HEADS, 4, "", &err));
    assert_false(quiz_ask(&q, "Which?", HEADS, 4, key, &err));
    assert_memory_equal(&q, &before, sizeof q);
    assert_true(q.seed > QUIZ_MADE); /* no question made from a trace has it */
    assert_int_equal(q.seed, quiz_seed("Which head?", HEADS, 4));
    assert_int_equal(quiz_choice(&q, 0), 0); /* heads are called as they are called … */
    assert_int_equal(quiz_choice(&q, 3), 3);
    assert_int_equal(quiz_choice(&q, 4), -1);
    assert_string_equal(quiz_name(&q, 3, name), "3");
    assert_true(quiz_ask(&q, "Now?", WORDS, 2, "", &err));
    assert_int_equal(quiz_choice(&q, 0), -1); /* … and others counted from 1 */
    assert_int_equal(quiz_choice(&q, 2), 1);
    assert_string_equal(quiz_name(&q, 1, name), "2. no");
    assert_true(quiz_is_key("least=x") && quiz_is_key("right=1") && !quiz_is_key("seed=1") && !quiz_is_key("most"));
}

/* The right answer comes of the trace: by its number, or as that with the largest or smallest value. */
static void test_settled(void **state)
{
    (void)state;
    static const char *const HEADS[] = {"0", "1", "2", "3"};
    Session s;
    Err err;
    Quiz q;
    assert_true(session_init(&s, NULL, "#17", 1, NULL, NULL, &err));
    assert_true(quiz_ask(&q, "Which head looks farthest?", HEADS, 4, "", &err));
    assert_true(quiz_settle(&q, &s, &err)); /* no key: nothing is known */
    assert_int_equal(q.right, -1);
    snprintf(q.key, sizeof q.key, "most=blocks.1.attn.probe.distance[h=$]");
    assert_true(quiz_settle(&q, &s, &err));
    const float *x = session_need(&s, SIDE_B, "blocks.1.attn.probe.distance", &err);
    int best = 0, least = 0;
    for (int h = 0; h < 4; h++) {
        assert_true(q.value[h] == (double)x[h]);
        best = x[h] > x[best] ? h : best;
        least = x[h] < x[least] ? h : least;
    }
    assert_int_equal(q.right, best);
    snprintf(q.key, sizeof q.key, "least=blocks.1.attn.probe.distance[h=$]");
    assert_true(quiz_settle(&q, &s, &err));
    assert_int_equal(q.right, least);
    snprintf(q.key, sizeof q.key, "least=0 * $"); /* all alike: none of them is right */
    assert_true(quiz_settle(&q, &s, &err));
    assert_int_equal(q.right, -1);
    snprintf(q.key, sizeof q.key, "right=1 + (probs[o=star] > 0.5)");
    assert_true(quiz_settle(&q, &s, &err));
    assert_int_equal(q.right, 2);
    static const char *const BAD[] = {"4", "-1", "1.5", "nowhere[h=0]", ""};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        snprintf(q.key, sizeof q.key, "right=%s", BAD[i]);
        *err.text = 0;
        assert_false(quiz_settle(&q, &s, &err));
        assert_true(strstr(err.text, "right="));
        assert_int_equal(q.right, 2);
    }
    snprintf(q.key, sizeof q.key, "most=probs[o=star]"); /* the same for every answer: $ was forgotten */
    assert_false(quiz_settle(&q, &s, &err));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_asked_on_the_spot), cmocka_unit_test(test_settled),
                                       cmocka_unit_test(test_receipts), cmocka_unit_test(test_quiz)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
