/* The whole session with next to no memory for values: everything a reader can ask for is there, with the same bits,
 * and no more is held than was allowed and what one block needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/session/ask/ask.h"
#include "core/session/command.h"

enum { TIGHT = 300 << 10 };

static Session roomy, tight;
static Commands all;

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    commands_free(&all);
    all = session_command_set();
    if (!session_init(&roomy, NULL, NULL, 2, NULL, NULL, &err) ||
        !session_init(&tight, NULL, NULL, 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    session_budget(&tight, TIGHT);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&roomy);
    session_free(&tight);
    return 0;
}

/* In both sessions. */
static void run(const char *line)
{
    Err err = {{0}};
    if (!command_do(&roomy, &all, line, LINE_OWN, &err) || !command_do(&tight, &all, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

static uint64_t hash(Session *s, Side side)
{
    uint64_t h = 0;
    assert_true(session_step(s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(s, side, &h));
    session_trim(s);
    return h;
}

/* Every value of the largest block of a graph, and what stays whatever happens. */
static size_t least(const Graph *g)
{
    size_t block = 0, kept = 0, most = 0;
    for (NodeId n = 0; n < g->count; n++) {
        size_t bytes = graph_cells(g, n) * sizeof(float);
        const char *path = graph_node(g, n)->path;
        if (graph_node(g, n)->op == OP_LEAF || graph_node(g, n)->op == OP_VIEW)
            continue;
        if (graph_node(g, n)->flags & NODE_CHECKPOINT)
            kept += bytes;
        if (n > 0 && strncmp(path, graph_node(g, n - 1)->path, 9) != 0)
            block = 0;
        block += strncmp(path, "blocks.", 7) == 0 ? bytes : 0;
        most = block > most ? block : most;
    }
    return kept + most;
}

static void within(Side side)
{
    size_t most, held = session_held(&tight, &most), block = least(session_graph(&tight, side)), budget = TIGHT;
    if (most > budget + block)
        fail_msg("%zu bytes were held, %zu are allowed and a block has %zu", most, budget, block);
    assert_true(held <= most);
}

static void same_everywhere(Side side)
{
    const Graph *g = session_graph(&tight, side);
    Err err = {{0}};
    for (NodeId i = 0; i < g->count; i++) {
        NodeId n = i % 2 ? i : g->count - 1 - i;
        const char *path = graph_node(g, n)->path;
        if (graph_find(g, path) != n)
            continue;
        const float *x = session_need(&tight, side, path, &err), *y = session_need(&roomy, side, path, &err);
        assert_non_null(x);
        assert_non_null(y);
        assert_memory_equal(x, y, graph_cells(g, n) * sizeof *x);
        session_trim(&tight);
    }
}

static void all_equal(Side side)
{
    Verdict v;
    Err err = {{0}};
    assert_true(ask_verify(&tight, side, 0, &v, &err));
    assert_true(v.complete);
    assert_int_equal(v.different, 0);
    assert_true(v.cells > 800000);
}

static void default_is_a_quarter(void **state)
{
    (void)state;
    assert_true(machine_memory() >= (size_t)64 << 20);
    assert_int_equal(roomy.memory, machine_memory() / 4);
}

static void everything_is_reachable(void **state)
{
    (void)state;
    assert_int_equal(hash(&tight, SIDE_A), hash(&roomy, SIDE_A));
    within(SIDE_A);
    size_t most, held = session_held(&tight, &most);
    assert_true(held <= TIGHT);
    assert_true(session_held(&roomy, &most) > 3 * (size_t)TIGHT);
    same_everywhere(SIDE_A);
    within(SIDE_A);
    all_equal(SIDE_A);
    assert_int_equal(hash(&tight, SIDE_A), hash(&roomy, SIDE_A));
}

static void edits_and_differences(void **state)
{
    (void)state;
    run("set scale off; ablate blocks.1.attn.z[h=2]; mask causal");
    assert_int_equal(hash(&tight, SIDE_B), hash(&roomy, SIDE_B));
    assert_int_equal(hash(&tight, SIDE_A), hash(&roomy, SIDE_A));
    same_everywhere(SIDE_B);
    same_everywhere(SIDE_A);
    all_equal(SIDE_B);
    Err err = {{0}};
    for (int block = 0; block < 4; block++) {
        char path[SESSION_PATH];
        snprintf(path, sizeof path, "blocks.%d.attn.exp", block);
        const float *x = session_need(&tight, SIDE_DIFF, path, &err), *y = session_need(&roomy, SIDE_DIFF, path, &err);
        assert_true(x && y);
        const Graph *g = session_graph(&tight, SIDE_B);
        assert_memory_equal(x, y, graph_cells(g, graph_find(g, path)) * sizeof *x);
        session_trim(&tight);
    }
    run("undo; undo; undo");
    assert_int_equal(hash(&tight, SIDE_B), hash(&roomy, SIDE_B));
}

/* Beside a pinned picture each has half. */
static void pinned(void **state)
{
    (void)state;
    run("pin; open #4");
    assert_int_equal(hash(&tight, SIDE_A), hash(&roomy, SIDE_A));
    assert_int_equal(hash(&tight, SIDE_B), hash(&roomy, SIDE_B));
    assert_true(hash(&tight, SIDE_A) != hash(&tight, SIDE_B));
    size_t most;
    assert_true(session_held(&tight, &most) <= TIGHT);
    same_everywhere(SIDE_A);
    run("patch blocks.1.resid_post from=a; pin off");
    assert_int_equal(hash(&tight, SIDE_B), hash(&roomy, SIDE_B));
    same_everywhere(SIDE_B);
}

/* What the arithmetic of a cell and the chain behind it read is all there. */
static void arithmetic(void **state)
{
    (void)state;
    WhyStep a[64], b[64];
    int n = 0, m = 0;
    Err err = {{0}};
    hash(&tight, SIDE_A);
    const Graph *g = session_graph(&tight, SIDE_A);
    NodeId logits = graph_find(g, "logits");
    assert_true(ask_why(&tight, SIDE_A, logits, 3, a, 64, &n, &err));
    assert_true(ask_why(&roomy, SIDE_A, logits, 3, b, 64, &m, &err));
    assert_true(n == m && n > 10);
    for (int i = 0; i < n; i++)
        assert_true(a[i].ref.node == b[i].ref.node && a[i].ref.cell == b[i].ref.cell &&
                    memcmp(&a[i].value, &b[i].value, sizeof a[i].value) == 0);
}

/* While a block is made again the share grows from frame to frame, and then the work is over. */
static void progress_is_told(void **state)
{
    (void)state;
    Need need = {.side = SIDE_A, .path = "blocks.1.mlp.post"};
    double share, before = 0;
    int frames = 0;
    hash(&tight, SIDE_A);
    hash(&tight, SIDE_A);
    assert_false(session_again(&tight, &share));
    for (; !session_step(&tight, &need, 1, 0); frames++) {
        assert_true(frames < 10000 && session_again(&tight, &share));
        assert_true(share >= before && share < 1);
        before = share;
        session_trim(&tight);
    }
    assert_true(frames > 3 && before > 0.2);
    assert_false(session_again(&tight, &share));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(default_is_a_quarter, start, stop),
        cmocka_unit_test_setup_teardown(everything_is_reachable, start, stop),
        cmocka_unit_test_setup_teardown(edits_and_differences, start, stop),
        cmocka_unit_test_setup_teardown(pinned, start, stop),
        cmocka_unit_test_setup_teardown(arithmetic, start, stop),
        cmocka_unit_test_setup_teardown(progress_is_told, start, stop),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
