/* Sentences in the session: the bundled translator like any other exhibit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/graph/anatomy.h"
#include "core/session/command.h"
#include "core/session/exhibit.h"
#include "core/session/session.h"

static const char TIRED[] = "the animal did not cross the street because it was too tired";
static Err error;

static void open(Session *s, const char *sentence)
{
    if (!session_init(s, "translator", sentence, 1, NULL, NULL, &error))
        fail_msg("%s", error.text);
    while (!session_step_pass(s, NULL, 0, CLOCK_NEVER))
        continue;
}

static void run(Session *s, const char *line)
{
    Commands c = session_command_set();
    if (!command_do(s, &c, line, LINE_FOREIGN, &error))
        fail_msg("%s: %s", line, error.text);
    commands_free(&c);
    while (!session_step_pass(s, NULL, 0, CLOCK_NEVER))
        continue;
}

/* The word that row t of the answer says comes next. */
static const char *next_in_row(Session *s, Side side, int t, char *out, size_t n)
{
    const Graph *g = session_graph(s, side);
    const char *path = site_path_any(g, SITE_PROBS);
    const float *p = session_need(s, side, path, &error);
    const Axis *words = &g->axes[node_role(g, graph_find(g, path), ROLE_ANSWER)];
    int best = 0;
    for (int i = 1; i < words->n; i++)
        best = p[t * words->n + i] > p[t * words->n + best] ? i : best;
    return axis_label(words, best, out, n);
}

/* The whole translation stands in the target; every row says the next word of it. */
static void a_sentence_is_translated(void **state)
{
    (void)state;
    Session s;
    char word[64];
    open(&s, TIRED);
    const Text *target = &session_input(&s, SIDE_B)->text[TEXT_TARGET];
    assert_int_equal(target->count, 15);
    for (int t = 0; t + 1 < target->count; t++) {
        char plain[64];
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(target->label[t + 1], "#"), target->label[t + 1]);
        assert_string_equal(next_in_row(&s, SIDE_B, t, word, sizeof word), plain);
    }
    assert_string_equal(next_in_row(&s, SIDE_B, target->count - 1, word, sizeof word), "</s>");
    assert_int_equal(stages_of_node(&s.stages, graph_find(session_graph(&s, SIDE_B), "decoder.causal_mask")) != NO_BOX,
                     1);
    session_free(&s);
}

/* A head off, and back: as with pictures. */
static void edits_and_undo(void **state)
{
    (void)state;
    Session s;
    uint64_t before = 0, edited = 0, after = 0;
    open(&s, "the cat is tired");
    assert_true(session_hash(&s, SIDE_B, &before));
    run(&s, "ablate decoder.blocks.2.cross_attn.z[h=2]");
    assert_true(session_hash(&s, SIDE_B, &edited) && edited != before);
    run(&s, "undo");
    assert_true(session_hash(&s, SIDE_B, &after) && after == before);
    run(&s, "goto decoder.blocks.1.cross_attn.pattern[h=1,t=0,r=cat]");
    assert_string_equal(s.place.path, "decoder.blocks.1.cross_attn.pattern");
    session_free(&s);
}

/* Words typed behind > stand in the target: nothing before a changed word moves. */
static void the_leak_test(void **state)
{
    (void)state;
    Session one, other;
    open(&one, "the cat is tired > le chat est");
    open(&other, "the cat is tired > le chat rouge");
    const float *a = session_need(&one, SIDE_B, "logits", &error), *b = session_need(&other, SIDE_B, "logits", &error);
    size_t words = (size_t)session_classes(&one);
    assert_memory_equal(a, b, 3 * words * sizeof *a);
    assert_memory_not_equal(a + 3 * words, b + 3 * words, words * sizeof *a);
    session_free(&one);
    session_free(&other);
}

static void what_is_no_sentence(void **state)
{
    (void)state;
    Session s;
    static const char *const bad[] = {"the elephant", "", "  ", ">", "the cat > le elephant", "<s> the cat"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error.text[0] = '\0';
        assert_false(session_init(&s, "translator", bad[i], 1, NULL, NULL, &error));
        assert_true(*error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_translated),
        cmocka_unit_test(edits_and_undo),
        cmocka_unit_test(the_leak_test),
        cmocka_unit_test(what_is_no_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
