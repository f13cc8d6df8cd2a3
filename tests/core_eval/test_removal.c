/* The measured effect of a ledger's entries is that of the same cells switched off by hand. */
#include "tests/core_models/probe_test.h"

#include "core/eval/ablation.h"
#include "core/models/drawn.h"

static void bundled_bench(Bench *b)
{
    Err err = {""};
    uint8_t rgb[DRAWN_SIDE * DRAWN_SIDE * 3];
    *b = (Bench){0};
    if (!model_load(&b->model, "assets/trained", NULL, NULL, &err))
        fail_msg("%s", err.text);
    drawn_picture(17, rgb, NULL);
    b->pixels = malloc(sizeof rgb * sizeof(float));
    for (size_t i = 0; i < sizeof rgb; i++)
        b->pixels[i] = (float)rgb[i % (sizeof rgb / 3) * 3 + i / (sizeof rgb / 3)];
    bench_start(b);
}

static int axis_named(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    fail_msg("no axis %s", sym);
    return AXIS_NONE;
}

static Selection cells(const Graph *g, const char *a, int i, const char *b, int j)
{
    const char *sym[] = {a, b};
    int at[] = {i, j};
    Selection s = {0, {{0}}};
    for (int n = 0; n < 2; n++)
        if (sym[n]) {
            s.range[s.n].axis = axis_named(g, sym[n]);
            s.range[s.n].from = at[n];
            s.range[s.n++].to = at[n] + 1;
        }
    return s;
}

static int entry_of(const Graph *g, const Ledger *l, const char *path)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(graph_node(g, l->entry[i].part)->path, path) == 0)
            return i;
    fail_msg("no entry of %s", path);
    return -1;
}

/* The logit of class o less that of class p, with the edits, from a graph built anew. */
static float by_hand(Bench *b, const Edit *edits, int count, int o, int p)
{
    Graph g = {0};
    Err err = {""};
    if (!graph_edit(&g, &b->graph, edits, count, &err))
        fail_msg("%s", err.text);
    Run *r = run_new(&g, NULL, NULL);
    const float *y = run_need(r, graph_find(&g, "logits"));
    float x = p < 0 ? y[o] : y[o] - y[p];
    run_free(r);
    graph_free(&g);
    return x;
}

enum { CASES = 8 };

static void compare(Bench *b, const Graph *g, Run *run, const Edit *before, int edits, const char *what)
{
    Ledger l;
    Err err = {""};
    Graph *grown = (Graph *)(uintptr_t)g;
    if (!ledger_add(grown, graph_find(g, "logits"), 5, 8, &l, &err))
        fail_msg("%s", err.text);
    run_extend(run);
    const bool off = graph_find(g, "blocks.1.attn.z.unedited") != NO_NODE;
    const struct {
        Removal removal;
        Edit edit;
    } cases[CASES] = {
        {{entry_of(g, &l, off ? "blocks.1.attn.z.unedited" : "blocks.1.attn.z"), 2, false},
         {.path = "blocks.1.attn.z", .cells = cells(g, "h", 2, "t", 0)}},
        {{entry_of(g, &l, "blocks.2.attn.z"), 3, false},
         {.path = "blocks.2.attn.z", .cells = cells(g, "h", 3, "t", 0)}},
        {{entry_of(g, &l, "blocks.2.attn.z"), 3, true},
         {.path = "blocks.2.attn.z", .cells = cells(g, "h", 3, NULL, 0)}},
        {{entry_of(g, &l, "blocks.2.attn.z"), -1, false},
         {.path = "blocks.2.attn.z", .cells = cells(g, "t", 0, NULL, 0)}},
        {{entry_of(g, &l, "blocks.0.mlp.out_nobias"), -1, false},
         {.path = "blocks.0.mlp.out_nobias", .cells = cells(g, "t", 0, NULL, 0)}},
        {{entry_of(g, &l, "pos_embed"), -1, false}, {.path = "pos_embed", .cells = {0, {{0}}}}},
        {{entry_of(g, &l, "cls"), -1, false}, {.path = "cls", .cells = {0, {{0}}}}},
        {{entry_of(g, &l, "head.bias"), -1, false}, {.path = "head.bias", .cells = {0, {{0}}}}},
    };
    Removal list[CASES];
    for (int i = 0; i < CASES; i++)
        list[i] = cases[i].removal;
    RemovalRun *r = removal_run_new(g, run, &l, list, CASES, NULL);
    assert_true(removal_run_step(r, CLOCK_NEVER) && removal_run_done(r) == CASES);
    float as_it_is = by_hand(b, before, edits, 5, 8);
    assert_true(run_need(run, l.value)[0] == as_it_is);
    for (int i = 0; i < CASES; i++) {
        Edit both[2] = {edits ? before[0] : cases[i].edit, cases[i].edit};
        Edit *mine = &both[edits];
        mine->kind = EDIT_ZERO;
        mine->axis = AXIS_NONE;
        float want = as_it_is - by_hand(b, both, edits + 1, 5, 8), got = removal_run_effect(r, (size_t)i);
        if (memcmp(&want, &got, sizeof got) != 0)
            fail_msg("%s, %s: %.9g, by hand %.9g", what, mine->path, (double)got, (double)want);
        assert_true(got != 0);
    }
    /* behind the last sub-layer nothing answers: the head's bias is worth what it wrote */
    float bias = run_need(run, l.entry[list[CASES - 1].entry].total)[0];
    assert_true(fabsf(bias - removal_run_effect(r, CASES - 1)) <= 1e-5f);
    removal_run_free(r);
}

static void test_removal_is_an_ablation(void **state)
{
    (void)state;
    Bench b;
    bundled_bench(&b);
    compare(&b, &b.graph, b.run, NULL, 0, "as trained");
    bench_free(&b);
}

static void test_removal_on_top_of_an_edit(void **state)
{
    (void)state;
    Bench b;
    Graph g = {0};
    Err err = {""};
    bundled_bench(&b);
    Edit off = {.kind = EDIT_ZERO,
                .path = "blocks.1.attn.z",
                .axis = AXIS_NONE,
                .cells = cells(&b.graph, "h", 1, NULL, 0)};
    assert_true(graph_edit(&g, &b.graph, &off, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    compare(&b, &g, r, &off, 1, "head off");
    run_free(r);
    graph_free(&g);
    bench_free(&b);
}

/* In slices of no time at all it comes to the same, and stops in between. */
static void test_in_slices(void **state)
{
    (void)state;
    Bench b;
    Ledger l;
    Err err = {""};
    bundled_bench(&b);
    assert_true(ledger_add(&b.graph, b.nodes.logits, 5, LEDGER_ALONE, &l, &err));
    run_extend(b.run);
    const Removal list[] = {{entry_of(&b.graph, &l, "blocks.0.attn.z"), 1, false},
                            {entry_of(&b.graph, &l, "blocks.0.attn.z"), 2, false}};
    RemovalRun *whole = removal_run_new(&b.graph, b.run, &l, list, 2, NULL),
               *slices = removal_run_new(&b.graph, b.run, &l, list, 2, NULL);
    assert_true(removal_run_step(whole, CLOCK_NEVER));
    int steps = 0;
    while (!removal_run_step(slices, 0))
        assert_true(++steps < 100000);
    assert_true(steps > 0);
    for (size_t i = 0; i < 2; i++)
        assert_true(removal_run_effect(whole, i) == removal_run_effect(slices, i));
    removal_run_free(whole);
    removal_run_free(slices);
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_removal_is_an_ablation),
        cmocka_unit_test(test_removal_on_top_of_an_edit),
        cmocka_unit_test(test_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
