/* Close-ups: whatever number is looked at, every line is the trace's or the engine's own sum on the way, and ends in
 * what is stored; of a softmax, a norm and a contraction the lines are those of the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/explain.h"
#include "core/session/ask/closeup.h"
#include "core/session/command.h"
#include "core/session/play.h"
#include "core/session/screens.h"

static Session s;

static void open_model(const char *model, const char *input)
{
    Err err = {{0}};
    if (!session_init(&s, model, input, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    while (!session_step(&s, NULL, 0, CLOCK_NEVER))
        ;
}

static void run(const char *line)
{
    Commands c = session_command_set();
    Err err = {{0}};
    if (!command_do(&s, &c, line, LINE_FOREIGN, &err))
        fail_msg("%s: %s", line, err.text);
    commands_free(&c);
}

static bool need_lines(const Closeup *c)
{
    for (int i = 0; i < c->count; i++) {
        const Node *n = graph_node(c->graph, c->line[i].node);
        if (!run_need(session_run(&s, c->side), c->line[i].node))
            return false;
        for (int k = 0; !c->line[i].given && k < op_inputs(n->op); k++)
            if (!run_need(session_run(&s, c->side), n->in[k]))
                return false;
    }
    return true;
}

static void check_lines(const Closeup *c)
{
    const CloseupLine *last = &c->line[c->count - 1];
    assert_int_equal(last->node, c->node);
    bool has = false;
    for (size_t k = 0; k < last->count; k++)
        has = has || last->cell[k] == c->cell;
    assert_true(has && last->what == CLOSEUP_CELLS && !last->given);
    for (int i = 0; i < c->count; i++) {
        const CloseupLine *l = &c->line[i];
        const float *x = run_peek(session_run(&s, c->side), l->node);
        if (l->count != 1 && l->count != c->terms)
            fail_msg("%s: %zu of %zu for %s", graph_node(c->graph, l->node)->path, l->count, c->terms,
                     graph_node(c->graph, c->node)->path);
        for (size_t k = 0; l->what == CLOSEUP_CELLS && k < l->count; k++)
            assert_memory_equal(&l->value[k], &x[l->cell[k]], sizeof *x);
        for (int before = 0; before < i; before++) /* nothing is made before what it is made of */
            assert_true(l->what != CLOSEUP_CELLS || c->line[before].node != l->node ||
                        c->line[before].what != CLOSEUP_CELLS);
        if (l->what == CLOSEUP_RUNNING) { /* the whole of it is what is stored */
            const CloseupLine *sum = &c->line[i + 1];
            assert_int_equal(sum->node, l->node);
            assert_memory_equal(&l->value[l->count - 1], &sum->value[0], sizeof(float));
        }
    }
}

/* One line more at every step, and at the last of them all. */
static void check_steps(const Closeup *c)
{
    size_t steps = closeup_steps(c), before = 0;
    assert_true(steps >= 1);
    for (size_t step = 1; step <= steps; step++) {
        size_t shown = 0;
        for (int i = 0; i < c->count; i++)
            shown += closeup_shown(c, step, i);
        assert_true(shown > before);
        before = shown;
        int line = closeup_line_of(c, step);
        assert_true(line >= 0 && !c->line[line].given && closeup_shown(c, step, line) > 0);
    }
    for (int i = 0; i < c->count; i++)
        assert_int_equal(closeup_shown(c, steps, i), c->line[i].count);
}

/* A few cells of every node; returns how many have a close-up. */
static int check_all(void)
{
    const Graph *g = session_graph(&s, SIDE_B);
    Rng r = rng_seed(11, 6);
    int found = 0;
    for (NodeId n = 0; n < g->count; n++)
        for (int k = 0; k < 2; k++) {
            Closeup c;
            if (!closeup_open(&s, SIDE_B, n, rng_below(&r, (uint32_t)graph_cells(g, n)), &c))
                continue;
            assert_true(need_lines(&c) && closeup_values(&s, &c));
            check_lines(&c);
            check_steps(&c);
            closeup_free(&c);
            found++;
        }
    return found;
}

static void every_line_is_the_traces(void **state)
{
    (void)state;
    open_model(NULL, "#17");
    assert_true(check_all() > 200);
    run("set scale off; mask causal; ablate blocks.1.attn.z[h=2]");
    assert_true(check_all() > 200);
    session_free(&s);
}

static void sentences_have_them_too(void **state)
{
    (void)state;
    open_model("translator", "the dog sees a cat .");
    assert_true(check_all() > 200);
    session_free(&s);
}

/* The names of the lines, one after the other. */
static const char *names(const char *address)
{
    static char text[600];
    char line[200];
    Closeup c;
    snprintf(line, sizeof line, "goto %s; view close-up", address);
    run(line);
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    assert_true(closeup_open(&s, SIDE_B, n, session_cell(&s, SIDE_B, n), &c));
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < c.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s", i ? " " : "",
                                 c.line[i].what == CLOSEUP_PRODUCTS  ? "products:"
                                 : c.line[i].what == CLOSEUP_RUNNING ? "sums:"
                                                                     : "",
                                 node_name(graph_node(c.graph, c.line[i].node)), c.line[i].count > 1 ? "+" : "");
    closeup_free(&c);
    return text;
}

static void the_lines_are_those_of_the_definition(void **state)
{
    (void)state;
    open_model(NULL, "#17");
    assert_string_equal(names("blocks.1.attn.scores_raw[h=1,t=r2c3,u=r4c4]"),
                        "q+ k+ products:scores_raw+ sums:scores_raw+ scores_raw");
    assert_string_equal(names("blocks.1.attn.pattern[h=1,t=r2c3,u=r4c4]"),
                        "scores_raw+ scale scores_scaled+ row_max shifted+ exp+ sums:row_sum+ row_sum pattern+");
    assert_string_equal(names("blocks.0.ln1.out[t=r2c3,d=5]"),
                        "resid_pre+ sums:sum+ sum width mean centered+ sq+ sums:sumsq+ sumsq var eps var_eps rstd "
                        "normalized+ gamma+ scaled+ beta+ out+");
    assert_string_equal(names("blocks.2.mlp.post[t=cls,m=7]"),
                        "out+ w_up+ products:pre_nobias+ sums:pre_nobias+ pre_nobias b_up pre post");
    assert_string_equal(names("blocks.1.attn.z[t=cls,h=1,e=3]"), "pattern+ v+ products:z+ sums:z+ z");
    assert_string_equal(names("probs[o=star]"),
                        "logits+ probs_row_max probs_shifted+ probs_exp+ sums:probs_sum+ probs_sum probs+");
    session_free(&s);
}

/* Every step of `play next` works on one line, the cursor on it; after the last one all is there. */
static void playing_ends(void **state)
{
    (void)state;
    open_model(NULL, "#17");
    run("goto blocks.1.attn.scores_raw[h=1,t=r2c3,u=r4c4]; view close-up");
    for (int e = 0; e < 16; e++) {
        run("play next");
        assert_int_equal(s.place.at[graph_axis_find(session_base(&s), "e")], e);
        assert_int_equal(s.place.operand, 2);
    }
    assert_int_equal(s.place.term, 16);
    run("play next");
    assert_int_equal(s.place.term, 0);
    for (size_t term = 16; term > 0; term--) {
        run("play prev");
        assert_int_equal(s.place.term, term);
    }
    run("play prev");
    assert_int_equal(s.place.term, 0);
    run("play on");
    assert_true(s.look.playing);
    int steps = 1;
    while (screen_now(&s)->play(&s))
        steps++;
    assert_int_equal(steps, 16);
    run("play off; move up 9; in");
    assert_string_equal(s.place.path, "blocks.1.attn.q");
    assert_int_equal(s.place.screen, SCREEN_CLOSEUP);
    run("goto blocks.1.resid_mid; view formula"); /* a sum of two numbers: no row to look at */
    assert_false(closeup_there(&s));
    run("view close-up");
    assert_string_equal(s.place.path, "blocks.1.attn.pattern");
    run("goto blocks.1.attn.scores_raw; view close-up; play"); /* it stops at its end, and says how to go on */
    buf_clear(&s.said);
    int frames = 1;
    while (play_frame(&s))
        frames++;
    assert_int_equal(frames, 16);
    assert_true(s.place.screen == SCREEN_CLOSEUP && s.place.term == 0);
    assert_string_equal(s.place.path, "blocks.1.attn.scores_raw");
    assert_non_null(strstr(buf_str(&s.said), "`.` plays it again, Backspace goes back"));
    session_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_line_is_the_traces),
                                       cmocka_unit_test(sentences_have_them_too),
                                       cmocka_unit_test(the_lines_are_those_of_the_definition),
                                       cmocka_unit_test(playing_ends)};
    return cmocka_run_group_tests_name("core/session close-up", tests, NULL, NULL);
}
