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
        if (node->op != OP_LEAF && node->op != OP_VIEW) { /* probes and gradients too */
            cells += graph_cells(g, n);
            nodes++;
        }
    }
    assert_int_equal(v.cells, cells);
    assert_int_equal(v.nodes, nodes);
    assert_true(v.terms > 10000000);
    assert_true(v.probes > 400 && v.probes < v.nodes);
    assert_true(v.maps.nodes > 40 && v.maps.cells > 100000 && !v.maps.beyond && v.maps.worst <= 1 &&
                v.maps.worst > 0.3);
    assert_true(v.model.nodes == 7 && !v.model.beyond && v.model.worst < 0.5 && v.model.worst > 0);
    assert_non_null(v.gradients.why);
    assert_true(verdict_holds(&v));
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
    assert_true(v.complete && !v.different && v.cells <= 7 * v.nodes); /* many nodes are one number */
    assert_true(2 * v.cells > 11 * v.nodes);
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

/* With gradients, of every kind of number; the model's equations find a value that is off (that the other routes find
 * what is wrong in their own way, tests/plant.sh shows). */
static void test_verify_gradients(void **state)
{
    (void)state;
    static const char *const TARGETS[] = {"gradient logits[o=star]", "gradient loss[o=ring]",
                                          "gradient blocks.1.attn.pattern[h=2,t=cls,u=r3c4]", "gradient off"};
    Verdict v;
    Err err = {""};
    for (int i = 0; i < 3; i++) {
        run(TARGETS[i]);
        assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
        if (!verdict_holds(&v) || v.gradients.nodes < 60 || !(v.gradients.worst > 0))
            fail_msg("%s: %zu of %zu tensors, worst %g", TARGETS[i], v.gradients.beyond, v.gradients.nodes,
                     v.gradients.worst);
    }
    NodeId n;
    run(TARGETS[3]);
    float *x = (float *)(uintptr_t)values("blocks.1.resid_post", &n), old = x[77];
    x[77] = old + 0.01f;
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
    x[77] = old;
    assert_true(v.model.beyond > 0 && v.model.first.node == n && v.model.first.cell == 77);
    run("set scale off");
    assert_true(ask_verify(&s, SIDE_B, 0, &v, &err));
    assert_true(verdict_holds(&v) && v.model.why && strstr(v.model.why, "edits"));
    run("undo");
}

/* Of a decoder too, whose mask is a rule and not there as numbers. */
static void test_verify_gradients_of_words(void **state)
{
    (void)state;
    static const char *const MODELS[] = {"tests/data/families/words_mistral", "tests/data/families/words_sinks"};
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        Session t;
        Verdict v;
        Err err = {""};
        if (!session_init(&t, MODELS[i], "ids:5,12,7,3", 1, NULL, NULL, &err) ||
            !command_do(&t, &commands, "gradient logits[t=3,v=2]", LINE_OWN, &err) ||
            !ask_verify(&t, SIDE_B, 0, &v, &err))
            fail_msg("%s: %s", MODELS[i], err.text);
        if (!verdict_holds(&v) || v.gradients.nodes < 100)
            fail_msg("%s: %zu of %zu tensors, worst %g", MODELS[i], v.gradients.beyond, v.gradients.nodes,
                     v.gradients.worst);
        session_free(&t);
    }
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
        cmocka_unit_test(test_verify_gradients),
        cmocka_unit_test(test_verify_gradients_of_words),
        cmocka_unit_test(test_cancelled),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
