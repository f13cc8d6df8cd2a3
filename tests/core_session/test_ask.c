/* Answers in words: every number in them is the trace's, terms come by size, chains end at a leaf. */
#include "tests/core_session/asking.h"

#include "core/graph/explain.h"
#include "core/session/address.h"
#include "core/session/ask/number.h"

/* Cell named by a full address. */
static size_t cell_of(const char *address)
{
    Address a;
    Err err = {""};
    const Graph *g = session_graph(&s, SIDE_B);
    if (!address_parse(&s, g, address, &a, &err))
        fail_msg("%s", err.text);
    return address_cell(&s, g, graph_find(g, a.path), &a.cells);
}

static Explanation explanation(const char *path, size_t cell, size_t most)
{
    NodeId n;
    Explanation e;
    values(path, &n);
    const Node *node = graph_node(session_graph(&s, SIDE_B), n);
    for (int k = 0; k < op_inputs(node->op); k++)
        run_need(session_run(&s, SIDE_B), node->in[k]);
    assert_true(ask_explain(&s, SIDE_B, n, cell, most, &e));
    return e;
}

static void test_terms_by_size(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.1.attn.scores_raw", "blocks.2.mlp.out_nobias", "blocks.0.ln1.sum",
                                        "patch_embed.out_nobias"};
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        NodeId n = session_node(&s, SIDE_B, PATHS[i]);
        if (n == NO_NODE) /* the patch projection is called otherwise when it has no bias */
            continue;
        size_t cell = graph_cells(session_graph(&s, SIDE_B), n) / 2;
        Explanation all = explanation(PATHS[i], cell, SIZE_MAX), some = explanation(PATHS[i], cell, 5);
        assert_true(all.equal && all.line_count == all.terms && all.terms > 5);
        bool *seen = calloc(all.terms, sizeof *seen);
        for (size_t k = 0; k < all.line_count; k++) {
            assert_false(seen[all.lines[k].term]);
            seen[all.lines[k].term] = true;
            if (k) {
                float a = fabsf(all.lines[k - 1].contribution), b = fabsf(all.lines[k].contribution);
                assert_true(a > b || (a == b && all.lines[k - 1].term < all.lines[k].term));
            }
        }
        free(seen);
        float rest = 0;
        assert_int_equal(some.line_count, 5);
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(some.lines[k].term, all.lines[k].term);
        for (size_t term = 0; term < all.terms; term++) /* in the engine's order */
            for (size_t k = 5; k < all.line_count; k++)
                if (all.lines[k].term == term)
                    rest += all.lines[k].contribution;
        assert_memory_equal(&rest, &some.rest, sizeof rest);
        explanation_free(&all);
        explanation_free(&some);
    }
}

static void test_terms_of_other_operations(void **state)
{
    (void)state;
    NodeId n;
    Explanation e = explanation("blocks.1.attn.row_max", 3, 4);
    assert_true(e.equal && e.line_count == 4 && e.rest == 0.0f);
    assert_memory_equal(&e.lines[0].contribution, &e.stored, sizeof(float)); /* the winner stands first */
    explanation_free(&e);
    e = explanation("blocks.1.attn.pattern", 77, 4);
    assert_int_equal(e.terms, 1);
    assert_int_equal(e.lines[0].operands, 2);
    assert_true(e.lines[0].value[0] / e.lines[0].value[1] == e.stored);
    explanation_free(&e);
    const float *weight = values("head.weight", &n);
    e = explanation("head.weight", 9, 4);
    assert_true(e.terms == 0 && e.line_count == 0 && e.equal && e.stored == weight[9]);
    explanation_free(&e);
    e = explanation("logits_nobias", 0, 0);
    assert_true(e.line_count == 0 && e.terms == 64);
    assert_true(fabsf(e.rest - e.stored) < 1e-5f);
    explanation_free(&e);
}

static void test_explain_never_computes(void **state)
{
    (void)state;
    Explanation e;
    NodeId n = session_node(&s, SIDE_B, "blocks.3.mlp.out");
    session_trim(&s);
    session_trim(&s); /* the first one keeps what was asked for before it */
    size_t before = run_computed(session_run(&s, SIDE_B));
    assert_false(ask_explain(&s, SIDE_B, n, 0, 5, &e)); /* out_nobias is derived and nobody asked for it */
    assert_int_equal(run_computed(session_run(&s, SIDE_B)), before);
}

static void test_explain_text(void **state)
{
    (void)state;
    const char *t = run("explain blocks.1.attn.scores_raw[h=2,t=r3c4,u=r4c3]");
    has(t, "scores_raw[h,t,u] = Σ_e q[t,h,e] · k[u,h,e]");
    has(t, "blocks.1.attn.q[t=r3c4,h=2,e] · blocks.1.attn.k[u=r4c3,h=2,e]");
    has(t, "16 terms");
    has(t, "equal, bit for bit");
    has(run("explain pixels[c=G,y=1,i=2,x=3,j=4]"),
        "row 8, column 22 of the picture as the model receives it, colour G");
    has(run("explain head.weight[o=star,d=3]"), "a weight of the model");
    has(run("explain blocks.0.attn.row_max[h=0,t=cls]"), "and 41 more, none of them larger");
    refused("explain blocks.0.nothing", "there is no node");
    refused("explain blocks.0", "group of nodes");
    refused("explain blocks.0.attn.q[t=r99c0]", "column");
}

static void test_explain_json(void **state)
{
    (void)state;
    Buf text = {0};
    Err err = {""};
    NodeId n;
    double number = 0;
    const float *x = values("blocks.1.attn.scores_raw", &n);
    size_t cell = 1234;
    assert_true(ask_explain_text(&s, SIDE_B, "blocks.1.attn.scores_raw", cell, &text, true, &err));
    Json *j = parse(&text);
    assert_true(json_number(json_get(j, "value"), &number) && (float)number == x[cell]);
    assert_int_equal(json_count(json_get(j, "largest")), 16);
    const Json *first = json_at(json_get(j, "largest"), 0);
    double a = 0, b = 0, c = 0;
    assert_true(json_number(json_get(json_at(json_get(first, "operands"), 0), "value"), &a));
    assert_true(json_number(json_get(json_at(json_get(first, "operands"), 1), "value"), &b));
    assert_true(json_number(json_get(first, "contribution"), &c));
    assert_true((float)a * (float)b == (float)c);
    const char *address = json_text(json_get(json_at(json_get(first, "operands"), 0), "address"), "");
    const float *q = values("blocks.1.attn.q", &n);
    assert_true(q[cell_of(address)] == (float)a); /* the address leads to the very number */
    json_free(j);
    buf_free(&text);
    run("mask blocks.0.attn.scores_scaled[u=4]"); /* infinities stay strict JSON */
    assert_true(ask_explain_text(&s, SIDE_B, "blocks.0.attn.scores_masked", 4, &text, true, &err));
    j = parse(&text);
    assert_string_equal(json_text(json_get(j, "value"), ""), "-Infinity");
    json_free(j);
    buf_free(&text);
    run("undo");
}

static void test_why_goes_down(void **state)
{
    (void)state;
    enum { MOST = 400 };
    static WhyStep step[MOST];
    int count;
    Err err = {""};
    const Graph *g = session_graph(&s, SIDE_B);
    NodeId n = graph_find(g, "logits");
    for (size_t cell = 0; cell < graph_cells(g, n); cell++) {
        assert_true(ask_why(&s, SIDE_B, n, cell, step, MOST, &count, &err));
        assert_in_range(count, 5, MOST - 1);
        assert_true(step[0].ref.node == n && step[0].ref.cell == cell);
        assert_int_equal(graph_node(g, step[count - 1].ref.node)->op, OP_LEAF);
        for (int i = 0; i < count; i++) {
            const float *x = run_need(session_run(&s, SIDE_B), step[i].ref.node);
            assert_memory_equal(&x[step[i].ref.cell], &step[i].value, sizeof(float));
            assert_true(step[i].share > 0.0f && step[i].share <= 1.0f);
            assert_true(i == 0 || step[i].ref.node < step[i - 1].ref.node);
        }
    }
    assert_true(ask_why(&s, SIDE_B, n, 0, step, 3, &count, &err)); /* room for three */
    assert_int_equal(count, 3);
}

static void test_why_takes_the_largest_term(void **state)
{
    (void)state;
    WhyStep step[2];
    int count;
    Err err = {""};
    const Graph *g = session_graph(&s, SIDE_B);
    NodeId n = graph_find(g, "blocks.1.mlp.out_nobias");
    Explanation e = explanation("blocks.1.mlp.out_nobias", 700, 1);
    assert_true(ask_why(&s, SIDE_B, n, 700, step, 2, &count, &err));
    assert_true(step[1].ref.node == e.lines[0].ref[0].node &&
                step[1].ref.cell == e.lines[0].ref[0].cell); /* the activation, not the weight */
    explanation_free(&e);
    e = explanation("blocks.1.mlp.out_nobias", 700, SIZE_MAX);
    double all = 0;
    for (size_t i = 0; i < e.line_count; i++)
        all += fabs((double)e.lines[i].contribution);
    assert_true(fabs((double)step[1].share - fabs((double)e.lines[0].contribution) / all) < 1e-6);
    explanation_free(&e);
}

static void test_why_text(void **state)
{
    (void)state;
    const char *t = run("why patch_embed[p=r2c5,d=1]");
    has(t, "patch_embed[p=r2c5,d=1] = ");
    const char *link = strstr(t, "weakest"), *table = strstr(t, "value  of its sum"), *end = strstr(t, "pixels");
    assert_true(link && table && link < table && end && end < table); /* where it leads and how surely comes first */
    has(t, "\ninput    patches        p=r2c5 d=1 ");                  /* where, which step, which of its cells */
    has(t, " % ━");
    has(t, "A large term is not yet a cause");
    Buf text = {0};
    Err err = {""};
    assert_true(ask_why_text(&s, SIDE_B, "probs", 0, &text, true, &err));
    Json *j = parse(&text);
    assert_true(json_count(json_get(j, "chain")) > 10);
    has(json_text(json_get(j, "limit"), ""), "not yet a cause");
    json_free(j);
    buf_free(&text);
}

/* The number that follows `after` in a sentence; ".212" reads as 0.212. */
static double number_after(const char *text, const char *after)
{
    const char *p = strstr(text, after);
    if (!p)
        fail_msg("'%s' is not in: %s", after, text);
    return strtod(p + strlen(after), NULL);
}

static void close_to(double shown, double value)
{
    if (!(fabs(shown - value) <= 0.006 * fabs(value) + 1e-12)) /* three digits */
        fail_msg("%g was said of %g", shown, value);
}

static void test_say_row(void **state)
{
    (void)state;
    NodeId n, m;
    run("goto blocks.1.attn.pattern[h=2,t=r3c4]");
    const float *pattern = values("blocks.1.attn.pattern", &n), *entropy = values("blocks.1.attn.probe.entropy", &m);
    const float *row = pattern + session_cell(&s, SIDE_B, n) / 65 * 65;
    size_t best = 0;
    for (size_t u = 1; u < 65; u++)
        best = row[u] > row[best] ? u : best;
    const char *t = run("say");
    has(t, "Head 2 of block 1, for query patch r3c4, gives its largest weight, ");
    close_to(number_after(t, "largest weight, "), (double)row[best]);
    char label[32], part[64];
    snprintf(part, sizeof part, ", to %s; the 5 largest of 65 weights carry ",
             axis_label(&session_base(&s)->axes[graph_axis_find(session_base(&s), "u")], (int)best, label,
                        sizeof label));
    has(t, part);
    close_to(number_after(t, "(entropy "), (double)entropy[session_cell(&s, SIDE_B, m)]);
    close_to(number_after(t, "of at most "), log(65));
    assert_null(strstr(t, "because"));
}

static void test_say_fits_the_node(void **state)
{
    (void)state;
    static const struct {
        const char *line, *part;
    } CASES[] = {
        {"say blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]",
         "In head 2 of block 1, for query patch r3c4, r4c3 gets a weight of "},
        {"say blocks.1.attn.scores_raw[h=2,t=cls,u=r4c3]", "for query token cls, r4c3 has a raw score of "},
        {"say blocks.1.attn.scores_raw", "What enters the softmax has a variance of "},
        {"say blocks.0.attn.k[u=r1c1]", "k of patch r1c1 in head "},
        {"say blocks.0.resid_mid[t=cls]", "which the attention adds"},
        {"say blocks.0.resid_post[t=cls]", ", and of what the MLP adds, of length "},
        {"say blocks.3.mlp.post[t=r1c2]", "hidden units of block 3's MLP"},
        {"say probs", "The answer is star 99.9 %, then "},
        {"say logits", "What was drawn is a star."},
        {"say pixels", "The cursor is on patch "},
        {"say blocks.0.ln1.rstd[t=4]", "the whole tensor of 65 numbers goes from "},
        {"say head.weight", "It is a weight of the model"},
        {"say pos_embed; view positions; say", "is most similar to that of "},
        {"view sheet; say", "has the sharpest rows"},
        {"view matrix; say", " rows have a mean entropy of "},
        {"head all; say", "The mean of the 4 heads of block"},
    };
    run("goto blocks.0.attn.pattern");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        has(run(CASES[i].line), CASES[i].part);
    run("head 0");
}

/* Two sides: a sentence on each, and what became of the row's figures. */
static void test_say_change(void **state)
{
    (void)state;
    NodeId n;
    run("goto blocks.1.attn.pattern[h=2,t=r3c4]; set scale off");
    const char *t = run("say");
    has(t, "A: Head 2 of block 1");
    has(t, "\nB: Head 2 of block 1");
    double from = number_after(t, "variance of the scores goes from "),
           to = number_after(strstr(t, "variance of the scores"), " to ");
    const float *variance = values("blocks.1.attn.probe.score_variance", &n);
    close_to(to, (double)variance[session_cell(&s, SIDE_B, n)]);
    assert_true(to > 4 * from);
    has(t, ", the largest weight from ");
    run("undo");
    assert_null(strstr(run("say"), "From A to B"));
}

/* Asking about another place does not move the reader; every node can be spoken of. */
static void test_say_anything(void **state)
{
    (void)state;
    Place before = s.place;
    const Graph *g = session_graph(&s, SIDE_B);
    for (NodeId n = 0; n < g->count; n++) {
        char line[SESSION_PATH + 8];
        snprintf(line, sizeof line, "say %s", graph_node(g, n)->path);
        assert_true(strlen(run(line)) > 20);
    }
    assert_memory_equal(&before, &s.place, sizeof before);
}

static void test_say_both_sides(void **state)
{
    (void)state;
    NodeId n;
    run("set scale off; compare sides");
    const float *b = values("blocks.1.attn.scale", &n);
    const char *t = run("say blocks.1.attn.scores_scaled[h=0,t=cls,u=r0c0]");
    assert_memory_equal(t, "A: In head 0", 12);
    has(t, "; times 0.25 it is ");
    has(t, "\nB: In head 0");
    has(t, "; times 1 it is ");
    assert_true(b[0] == 1.0f);
    run("mask causal");
    has(run("say blocks.0.attn.scores_masked[h=0,t=0,u=5]"), "A: has no such node.");
    has(run("say blocks.0.attn.scores_masked[h=0,t=0,u=5]"), "and it is masked");
    run("undo; undo");
    assert_false(session_compares(&s));
}

static void test_info(void **state)
{
    (void)state;
    Buf text = {0};
    double number = 0;
    run("hash");
    ask_info(&s, &text, true);
    Json *j = parse(&text);
    assert_string_equal(json_text(json_get(j, "layout"), ""), "bundled");
    assert_true(json_number(json_get(j, "parameters"), &number) && number == (double)vit_params(&s.model.vit));
    assert_int_equal(strlen(json_text(json_get(j, "trace_hash"), "")), 16);
    double stored = 0, all = 0;
    assert_true(json_number(json_get(j, "bytes_stored"), &stored) && json_number(json_get(j, "bytes_all"), &all) &&
                stored < all);
    json_free(j);
    buf_free(&text);
    has(run("info"), "shapes-vit");
    has(run("info"), "it has the model's size: nothing was resized");
    run("set scale off");
    has(run("info"), "set scale off");
    run("undo");
}

static void test_glossary(void **state)
{
    (void)state;
    has(run("glossary query"), "query: ");
    has(run("glossary Queries q"), "What each token asks for, per head.");
    has(run("glossary residual stream"), "residual stream: ");
    has(run("glossary \"residual stream\""), "residual stream: ");
    has(run("glossary t"), "token that asks, 65 of them, cls to r7c7");
    has(run("glossary rstd"), "One over the spread");
    has(run("glossary"), "Letters:");
    refused("glossary sofmax", "did you mean 'softmax'?");
    refused("glossary xyzzy", "`glossary` lists its words");
}

static void test_hash_and_copy(void **state)
{
    (void)state;
    char before[64], expected[64];
    NodeId n;
    snprintf(before, sizeof before, "%s", run("hash"));
    run("set scale off");
    has(run("hash"), "A ");
    has(run("hash"), before + strlen("trace hash ")); /* as trained it is the same run */
    run("undo");
    assert_string_equal(run("hash"), before);
    const float *x = values("probs", &n);
    snprintf(expected, sizeof expected, "probs[o=star] = %.9g", (double)x[cell_of("probs[o=star]")]);
    assert_string_equal(run("copy probs[o=star]"), expected);
    run("goto blocks.0.attn.pattern[h=0,t=r0c0,u=r0c0]"); /* its row begins with the class token, and is whole */
    x = values("blocks.0.attn.pattern", &n) + cell_of("blocks.0.attn.pattern[h=0,t=r0c0,u=cls]");
    const char *row = run("copy row"), *at = strstr(row, " =");
    assert_non_null(strstr(row, " and on ="));
    for (size_t i = 0; i < 65; i++) {
        char *end;
        assert_non_null(at);
        at = i ? at : at + strlen(" =");
        assert_true(strtof(at, &end) == x[i]);
        at = end;
    }
    assert_string_equal(at, "");
}

static void test_link_comes_back(void **state)
{
    (void)state;
    run("goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; set scale off");
    const char *t = run("link");
    has(t, "vitrine '#17 1.pattern[2,r3c4,r4c3] scale=off"); /* words, as the link's reader has them */
    assert_true(strlen(t) + strlen(" @1cc1") <= 60);
    run("goto blocks.1.attn.pattern[h=2,t=r3c4]; ablate blocks.1.attn.z[h=2]; skip mlp block=0");
    has(run("link"), " scale=off ablate=blocks.1.attn.z[h=2] skip=mlp,block=0");
    run("set . 3");
    has(run("link"), " skip=mlp,block=0 set=blocks.1.attn.pattern[h=2,t=r3c4,");
    run("undo; export /tmp/vitrine-ask-link.npy blocks.2.attn.z over=yes");
    run("patch blocks.2.attn.z from=/tmp/vitrine-ask-link.npy"); /* no word may carry a file: options instead */
    t = run("link");
    has(t, "vitrine '#17' --at 'blocks.1.attn.pattern[h=2,t=r3c4,");
    has(t, "' -c 'set scale off; ablate blocks.1.attn.z[h=2]; skip mlp block=0; patch blocks.2.attn.z from=");
    run("reset edits");
    remove("/tmp/vitrine-ask-link.npy");
}

/* Every function of one number that a caption or a lesson may call. */
static void test_functions_of_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } KNOWN[] = {{"sqrt(16)", 4},   {"exp(0)", 1},    {"log(1)", 0},      {"log2(8)", 3},   {"abs(1-4)", 3},
                 {"floor(1.5)", 1}, {"ceil(1.5)", 2}, {"round(1.75)", 2}, {"min(2, 3)", 2}, {"max(2, 3)", 3}};
    Err err = {""};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        double x = -1;
        if (!number_value(&s, SIDE_B, KNOWN[i].text, &x, &err))
            fail_msg("%s: %s", KNOWN[i].text, err.text);
        assert_true(fabs(x - KNOWN[i].value) < 1e-12);
    }
}

/* The cursor of a tensor goes down its rows and along its columns. */
static void test_cursor_goes_both_ways(void **state)
{
    (void)state;
    Err err = {""};
    assert_true(session_go(&s, "blocks.1.mlp.pre", SCREEN_TENSOR, &err));
    const Graph *g = session_graph(&s, SIDE_B);
    Dims d = graph_node(g, session_node(&s, SIDE_B, s.place.path))->dims;
    int row = d.axis[0], col = d.axis[1];
    s.place.at[row] = s.place.at[col] = 2;
    run("move right 3");
    assert_true(s.place.at[row] == 2 && s.place.at[col] == 5);
    run("move down");
    assert_true(s.place.at[row] == 3 && s.place.at[col] == 5);
    run("move left 9");
    assert_true(s.place.at[row] == 3 && s.place.at[col] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_a_number),
        cmocka_unit_test(test_cursor_goes_both_ways),
        cmocka_unit_test(test_terms_by_size),
        cmocka_unit_test(test_terms_of_other_operations),
        cmocka_unit_test(test_explain_never_computes),
        cmocka_unit_test(test_explain_text),
        cmocka_unit_test(test_explain_json),
        cmocka_unit_test(test_why_goes_down),
        cmocka_unit_test(test_why_takes_the_largest_term),
        cmocka_unit_test(test_why_text),
        cmocka_unit_test(test_say_row),
        cmocka_unit_test(test_say_fits_the_node),
        cmocka_unit_test(test_say_anything),
        cmocka_unit_test(test_say_both_sides),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_say_change),
        cmocka_unit_test(test_glossary),
        cmocka_unit_test(test_hash_and_copy),
        cmocka_unit_test(test_link_comes_back),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
