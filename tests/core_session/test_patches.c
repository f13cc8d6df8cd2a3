/* The sheet of patches: every measured number is that of the same patch put in by hand, the gradient's is right where
 * the two inputs are close, and what has no sheet says why. Pictures and texts alike. */
#include "tests/core_session/asking.h"

#include "core/base/clock.h"
#include "core/eval/patching.h"
#include "core/session/exhibit.h"
#include "core/session/screens.h"
#include "core/session/screens/patches.h"

static const PatchingResult *measured(void)
{
    const ScreenSpec *screen = screen_now(&s);
    assert_int_equal(s.place.screen, SCREEN_PATCHES);
    while (!screen->work(&s, clock_ns() + 1000000))
        continue;
    const PatchingResult *r = session_patching(&s, NULL);
    assert_true(r && r->done == r->count);
    return r;
}

static float number(const char *node, size_t cell, size_t against)
{
    Err err = {""};
    const float *x = session_need(&s, SIDE_B, node, &err);
    if (!x)
        fail_msg("%s", err.text);
    return x[cell] - x[against];
}

/* Every `step`-th one put in by hand. */
static void are_edits(const char *node, size_t step)
{
    const PatchingResult *r = measured();
    size_t cell, against;
    assert_true(patching_number(s.now->pass.patching[r->kind], &cell, &against));
    const float before = number(node, cell, against);
    assert_true(fabsf(before - r->to) < 1e-6f);
    float largest = 0;
    for (size_t i = 0; i < r->count; i += step) {
        Buf line = {0};
        patches_line(&s, &r->place[i], &line);
        run(buf_str(&line));
        assert_true(session_patching(&s, NULL) == r); /* an edit leaves what was measured */
        float by_hand = number(node, cell, against) - before;
        if (!(fabsf(by_hand - r->exact[i]) < 1e-5f))
            fail_msg("%s: %g by hand, %g measured", buf_str(&line), (double)by_hand, (double)r->exact[i]);
        largest = fmaxf(largest, fabsf(by_hand));
        buf_free(&line);
        run("undo");
    }
    assert_true(largest > 0);
}

static void pictures(void **state)
{
    (void)state;
    run("pin; open #4; patching");
    are_edits("logits", 1);
    const PatchingResult *r = session_patching(&s, NULL);
    assert_int_equal(r->count, 4 * 5); /* four heads and an MLP in every block */
    run("view next; view next");       /* the gradient's, then the tokens */
    are_edits("logits", 17);
    r = session_patching(&s, NULL);
    assert_int_equal(r->count, (size_t)(r->rows * r->cols));
    /* All tokens of the stream into the first block but their positions: all of A. */
    run("pin off");
    assert_null(session_patching(&s, NULL));
    has(run("say"), "pin");
}

static void the_gradient_is_right_nearby(void **state)
{
    (void)state;
    run("open #17; pin; grey r0c0; set image[c=0,y=5,x=5] 120; patching");
    const PatchingResult *r = measured(); /* of B without its changes: A itself */
    for (size_t i = 0; i < r->count; i++)
        assert_true(r->exact[i] == 0 && r->gradient[i] == 0);
    run("undo; undo; pin off");
}

static void enter_puts_it_in(void **state)
{
    (void)state;
    Err err = {""};
    run("open #17; pin; open #4; patching of=star against=ring");
    measured();
    int row, of, against;
    assert_true(patches_answers(&s, &row, &of, &against) && of != against);
    run("move down; move right");
    assert_int_equal(patches_here(&s, session_patching(&s, NULL)), 1 * 5 + 1);
    has(s.place.path, "blocks.1.attn.z");
    run("in");
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "patch blocks.1.attn.z[h=1] from=a");
    assert_int_equal(s.place.screen, SCREEN_ANSWER);
    const Graph *g = session_graph(&s, SIDE_B); /* on the answer that it was about */
    assert_int_equal(s.place.at[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)], of);
    run("back; in"); /* and out again */
    assert_int_equal(s.edits.count, 0);
    run("patch all tokens from=a");
    assert_true(s.look.patches.tokens);
    refused("patching zzz", "column 10: expected heads or tokens");
    refused("patch all heads from C", "from A or from B");
    refused("patching heads from B of=star against=star", "the same answer");
    refused("patching heads zzz", "means nothing here");
    refused("patching of=moon", "no class 'moon'");
    refused("patching of=star against=star", "the same answer");
    assert_true(command_do(&s, &commands, "pin off; reset view", LINE_OWN, &err));
}

/* Values of B in A are those of A in B where the two were opened the other way round. */
static void from_b_changes_places(void **state)
{
    (void)state;
    float exact[64], to, from;
    run("open #4; pin; open #17; patching of=star against=ring");
    const PatchingResult *r = measured();
    const size_t n = r->count < 64 ? r->count : 64;
    memcpy(exact, r->exact, n * sizeof *exact);
    to = r->to;
    from = r->from;
    run("pin off; open #17; pin; open #4; patching heads from B of=star against=ring");
    assert_string_equal(session_input(&s, SIDE_A)->path, "#4");
    assert_string_equal(session_input(&s, SIDE_B)->path, "#17");
    has(run("say"), "the difference rises by"); /* it measures what is not there yet */
    r = session_patching(&s, NULL);
    assert_true(r->done == r->count && r->to == to && r->from == from && r->to != r->from);
    assert_memory_equal(exact, r->exact, n * sizeof *exact);
    run("hide r3c4");
    refused("patch all heads from B", "`reset edits` first");
    run("reset edits; pin off");
    refused("patch all heads from B", "`pin` keeps this as A");
}

static int start_text(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, "tests/data/families/words_gemma2", "ids:5,12,7,3", 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

/* The line that it tells one to type is a sheet, of the input on show; Enter does the same. */
static void told_lines_make_a_sheet(const char *before)
{
    Buf how = {0};
    Err err = {""};
    int lines = 0;
    run(before);
    patches_put_how(&s, &how);
    for (const char *at = buf_str(&how); (at = strstr(at, "\n:")); lines++) {
        char line[400];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
        at += 2;
        run(line);
        session_patching(&s, &err);
        if (*err.text)
            fail_msg("%s: %s", line, err.text);
        measured();
        Buf more = {0};
        patches_put_how(&s, &more);
        assert_int_equal(more.len, 0); /* and there is nothing more to tell */
        buf_free(&more);
        run("pin off");
        run(before);
    }
    assert_int_equal(lines, 1);
    buf_free(&how);
    run("in");
    assert_true(session_pinned(&s));
    assert_int_equal(s.place.screen, SCREEN_PATCHES);
    session_patching(&s, &err);
    assert_string_equal(err.text, "");
    run("pin off");
}

static void what_to_type_works(void **state)
{
    (void)state;
    told_lines_make_a_sheet("open #17; patching");
    told_lines_make_a_sheet("open #18; patching tokens");
    run("pin off; open #17; patching tokens; in"); /* Enter runs what the page names, of the kind that is open */
    assert_true(session_pinned(&s) && s.look.patches.tokens);
    assert_string_equal(session_input(&s, SIDE_A)->name, "#17");
    assert_string_equal(session_input(&s, SIDE_B)->name, "#18");
    run("pin off");
    told_lines_make_a_sheet("reset edits; open #17; ablate blocks.1.attn.z[h=1]; patching");
    run("reset edits; reset view");
}

static int start_words(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, "translator", "the cat is tired", 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static void what_to_type_works_of_words(void **state)
{
    (void)state;
    told_lines_make_a_sheet("open \"the cat is tired\"; patching");
    told_lines_make_a_sheet("open \"the cat is tired\"; goto logits[t=2]; patching tokens");
}

static void what_to_type_works_of_numbers(void **state)
{
    (void)state;
    told_lines_make_a_sheet("open ids:5,12,7,3; goto logits[t=1]; patching tokens");
    told_lines_make_a_sheet("open ids:5,12,7; patching");
}

/* A decoder with grouped keys, windows and a soft cap, of whose logits the ones before it are taken. */
static void texts(void **state)
{
    (void)state;
    run("pin; open ids:5,12,9,3; patching of=4 against=6");
    are_edits("uncapped", 1);
    PatchingError e = patching_error(session_patching(&s, NULL));
    assert_true(e.n == session_patching(&s, NULL)->count && e.mean <= e.most && e.size > 0);
    run("patching tokens");
    are_edits("uncapped", 1);
    const PatchingResult *r = session_patching(&s, NULL);
    assert_true(r->first == 2 && r->cols == 2); /* the tokens before the other word are the same: left out */
    has(run("say"), "The 2 tokens before w9 are left out");
    run("patch decoder.blocks.0.resid_post[t=1] from=a"); /* and would change nothing */
    size_t cell, against;
    assert_true(patching_number(s.now->pass.patching[PATCH_TOKENS], &cell, &against));
    assert_true(fabsf(number("uncapped", cell, against) - r->to) < 1e-6f);
    run("undo");
    size_t at = (size_t)r->at[0]; /* that word's vector is all that differs: patched, B is A */
    assert_true(fabsf(r->exact[at] - (r->from - r->to)) < 1e-5f);
    run("patching tokens head=1"); /* a head, token by token: together they are the head */
    are_edits("uncapped", 1);
    r = session_patching(&s, NULL);
    assert_int_equal(r->kind, PATCH_HEAD);
    assert_true(r->first == 2 && r->cols == 2);
    float together = 0;
    for (int t = 0; t < 2; t++)
        together += r->gradient[r->at[1 * r->cols + t]];
    Buf line = {0};
    patches_line(&s, &r->place[r->at[1 * r->cols + 1]], &line);
    assert_string_equal(buf_str(&line), "patch decoder.blocks.1.self_attn.z[h=1,t=3] from=a");
    buf_free(&line);
    run("patching heads");
    r = measured();
    assert_true(fabsf(r->gradient[r->at[1 * r->cols + 1]] - together) < 1e-5f);
    refused("patching heads head=1", "`patching tokens head=1`");
    refused("patching tokens head=9", "expected a head, 0 to");
    run("goto logits[t=3]; patching"); /* after the token under the cursor, on the sheet too */
    assert_int_equal(s.look.patches.at, 3);
    assert_non_null(
        strstr(buf_str(&s.said), "A and B answer alike here; apart after w9: `goto logits[t=2]; patching`"));
    run("patching");
    assert_int_equal(s.look.patches.at, 3);
    has(run("say"), "after w3 is");
    run("goto logits[t=2]; patching of=4 against=6");
    assert_int_equal(s.look.patches.at, 2);
    run("goto logits[t=1]; patching tokens"); /* asked where both have read the same */
    assert_null(session_patching(&s, NULL));
    has(run("say"), "They differ from 'w9' on: `goto logits[t=2]`");
    run("goto logits[t=2]; patching tokens");
    assert_true(measured()->cols == 1);
    run("goto logits[t=3]; open ids:5,12,7,3; patching tokens");
    has(run("say"), "A and B are the same text");
    run("open ids:5,12,9,3,4");
    assert_null(session_patching(&s, NULL));
    has(run("say"), "A has 4 tokens and B has 5");
    run("pin off");
}

static void ledger_before_the_cap(void **state)
{
    (void)state;
    run("open ids:5,12,7,3; ledger 4 6");
    assert_string_equal(s.ledger.path, "uncapped");
    NodeId n;
    const float *x = values("uncapped", &n);
    const Graph *g = session_graph(&s, SIDE_B);
    size_t words = (size_t)g->axes[graph_node(g, n)->dims.axis[1]].n, row = 3 * words;
    assert_true(fabsf(x[row + 4] - x[row + 6] - *values("ledger.value", &n)) < 1e-6f);
    assert_true(fabsf(*values("ledger.remainder", &n)) < 1e-4f);
    run("ledger logits[t=2,v=4]");
    assert_string_equal(s.ledger.path, "uncapped");
    refused("ledger zebra", "the model has no word 'zebra'");
    run("ledger off");
}

int main(void)
{
    const struct CMUnitTest drawn[] = {
        cmocka_unit_test(pictures),           cmocka_unit_test(the_gradient_is_right_nearby),
        cmocka_unit_test(enter_puts_it_in),   cmocka_unit_test(from_b_changes_places),
        cmocka_unit_test(what_to_type_works),
    };
    const struct CMUnitTest words[] = {cmocka_unit_test(what_to_type_works_of_words)};
    const struct CMUnitTest read[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(ledger_before_the_cap),
        cmocka_unit_test(what_to_type_works_of_numbers),
    };
    int failed = cmocka_run_group_tests(drawn, start, stop);
    failed += cmocka_run_group_tests(words, start_words, stop);
    failed += cmocka_run_group_tests(read, start_text, stop);
    commands_free(&commands);
    return failed;
}
