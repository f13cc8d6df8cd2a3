/* `verify` looks at every cell and finds one wrong bit. */
#include "tests/core_session/asking.h"

static void test_verify_all(void **state)
{
    (void)state;
    Verdict v;
    Err err = {""};
    uint64_t hash = 0;
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
    assert_true(v.complete && v.different == 0 && v.first.run == SIDE_NONE);
    assert_true(session_hash(&s, SIDE_B, &hash) && hash == v.hash);
    const Graph *g = session_graph(&s, SIDE_B);
    size_t cells = 0, nodes = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (node->op != OP_LEAF && node->op != OP_VIEW && !(node->flags & NODE_PROBE)) {
            cells += graph_cells(g, n);
            nodes++;
        }
    }
    assert_int_equal(v.cells, cells);
    assert_int_equal(v.nodes, nodes);
    assert_true(v.terms > 10000000);
    Buf text = {0};
    ask_verify_text(&s, &v, &text, false);
    has(buf_str(&text), "All equal, bit for bit.");
    buf_clear(&text);
    ask_verify_text(&s, &v, &text, true);
    Json *j = parse(&text);
    assert_true(json_bool(json_get(j, "equal"), false));
    json_free(j);
    buf_free(&text);
}

/* One bit changed anywhere must be found, and named. */
static void test_verify_finds_a_wrong_bit(void **state)
{
    (void)state;
    Verdict v;
    Err err = {""};
    NodeId n;
    float *x = (float *)(uintptr_t)values("blocks.2.attn.z", &n), old;
    size_t cell = graph_cells(session_graph(&s, SIDE_B), n) - 3;
    uint32_t bits;
    old = x[cell];
    memcpy(&bits, &old, sizeof bits);
    bits ^= 1;
    memcpy(&x[cell], &bits, sizeof bits);
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
    x[cell] = old;
    assert_true(v.different >= 1 && v.first.node == n && v.first.cell == cell);
    Buf text = {0};
    ask_verify_text(&s, &v, &text, false);
    has(buf_str(&text), "DIFFERENT, the first is blocks.2.attn.z[t=r7c7,h=3,e=13]");
    buf_clear(&text);
    ask_verify_text(&s, &v, &text, true);
    Json *j = parse(&text);
    assert_false(json_bool(json_get(j, "equal"), true));
    has(json_text(json_get(j, "first"), ""), "blocks.2.attn.z");
    json_free(j);
    buf_free(&text);
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err) && v.different == 0);
}

static void test_verify_sampled_and_edited(void **state)
{
    (void)state;
    Verdict v;
    Err err = {""};
    assert_true(ask_verify(&s, SIDE_B, 7, &v, &err));
    assert_true(v.complete && !v.different && v.cells <= 7 * v.nodes && v.cells > 6 * v.nodes - 20);
    run("set scale off; ablate blocks.1.attn.z[h=2]; mask causal");
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
    assert_true(v.complete && !v.different);
    uint64_t edited = v.hash;
    assert_true(ask_verify(&s, SIDE_A, 0, &v, &err));
    assert_true(!v.different && v.hash != edited);
    run("undo; undo; undo");
    refused("verify sample=none", "expected how many cells");
    refused("verify sample=0", "expected how many cells");
    has(run("verify sample=3"), "All equal");
}

static int calls;
static bool cancel(void *context, const char *what, double share)
{
    (void)context;
    (void)what;
    (void)share;
    calls++;
    return false;
}

static void test_cancelled(void **state)
{
    (void)state;
    Session t;
    Verdict v;
    Err err = {""};
    assert_true(session_init(&t, NULL, "#3", 1, NULL, NULL, &err));
    t.progress = cancel;
    if (ask_verify(&t, SIDE_B, 0, &v, &err))
        assert_true(v.complete ? calls == 0 : calls > 0); /* so quick that nobody was asked, or stopped on the way */
    else
        assert_string_equal(err.text, "cancelled");
    session_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify_all),
        cmocka_unit_test(test_verify_finds_a_wrong_bit),
        cmocka_unit_test(test_verify_sampled_and_edited),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
