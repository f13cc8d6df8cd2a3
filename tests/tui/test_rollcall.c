/* A question to everybody: its counts in the class, and as it is drawn. */
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
    Rollcall r = {.open = true, .mine = -1}, other = {.mine = -1};
    Err err;
    Buf b = {0};
    assert_true(quiz_ask(&r.quiz, "Which \033[2J head?", ANSWERS, 4, "", &err));
    assert_null(strchr(r.quiz.text, '\033')); /* nothing gets to a terminal */
    r.votes[1] = 3;
    r.votes[2] = 12;
    assert_int_equal(rollcall_total(&r), 15);
    rollcall_put(&r, &b);
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_int_equal(other.quiz.seed, r.quiz.seed);
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
    r.quiz.valued = true; /* and what every answer comes to, where it was computed */
    r.quiz.value[3] = 0.25;
    buf_clear(&b);
    rollcall_put(&r, &b);
    assert_true(rollcall_read(&other, buf_str(&b)));
    assert_true(other.quiz.valued && other.quiz.value[3] == 0.25);
    static const char *const WORDS[] = {"yes", "no"};
    assert_true(quiz_ask(&r.quiz, "Now?", WORDS, 2, "", &err));
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
    Rollcall r = {.open = true, .mine = -1};
    Canvas c;
    Buf text = {0};
    char words[200];
    assert_true(quiz_ask(&r.quiz,
                         "Which of the four heads in block zero has, for that patch in the middle of the picture, "
                         "the weights that lie nearest to it, measured in pixels from the middle to the edge?",
                         LONG, 2, "", NULL));
    canvas_init(&c, 24, 80);
    r.votes[0] = 12;
    r.votes[1] = 19;
    for (int closed = 0; closed < 2; closed++) {
        r.closed = closed;
        canvas_clear(&c);
        rollcall_draw(&r, &c,
                      "Receipt v1-00000000-0-0000000000000000-0000. Your answer is the one vote of this terminal.", 4);
        buf_clear(&text);
        for (int i = 0; i < 24 * 80; i++)
            buf_putc(&text, c.cells[i].ch < 0x7f ? (char)c.cells[i].ch : ' ');
        assert_true((strstr(buf_str(&text), "12 of 31") != NULL) == closed); /* so many of how many */
        snprintf(words, sizeof words, "%s %s %s this terminal.", strstr(r.quiz.text, "the weights"), LONG[0], LONG[1]);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
            if (!strstr(buf_str(&text), word))
                fail_msg("'%s' is cut", word);
    }
    canvas_free(&c);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_questions), cmocka_unit_test(test_long_words_are_wrapped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
