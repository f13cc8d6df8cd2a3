/* Patching: which parts there are, each with its place in the table, and every measured number that of the same patch
 * put in by hand. */
#include "tests/core_models/text_bench.h"

#include "core/eval/patching.h"

static float difference(const float *y)
{
    return y[2] - y[5];
}

static float by_hand(const TextBench *to, TextBench *from, const PatchPlace *at)
{
    const Edit e = {.kind = EDIT_VALUES,
                    .path = at->path,
                    .cells = at->cells,
                    .axis = AXIS_NONE,
                    .data = text_bench_values(from, at->path),
                    .origin = "by hand"};
    Graph g = {.count = 0};
    Err err = {""};
    if (!graph_edit(&g, &to->graph, &e, 1, &err))
        fail_msg("%s", err.text);
    Run *r = run_new(&g, to->run, NULL);
    const float y = difference(run_need(r, graph_find(&g, "logits")));
    run_free(r);
    graph_free(&g);
    return y;
}

/* Two stacks of two blocks: six attentions of three heads, and an MLP behind the last attention of each block. */
static void heads_and_mlps(void **state)
{
    (void)state;
    enum { ATTENTIONS = 6, HEADS = 3, MLPS = 4 };
    TextBench b[2];
    Err err = {""};
    const Seq2seqConfig c = text_tiny();
    for (int i = 0; i < 2; i++)
        text_bench_seeded(&b[i], &c, 5, 7, 6);
    run_free(b[1].run);
    graph_free(&b[1].graph);
    b[1].source[2] = (b[1].source[2] + 1) % c.source_words;
    text_bench_start(&b[1]);
    const PatchingSetup s = {.to = &b[0].graph,
                             .from = &b[1].graph,
                             .to_run = b[0].run,
                             .from_run = b[1].run,
                             .y = "logits",
                             .kind = PATCH_PARTS};
    Patching *p = patching_new(&s, &err);
    if (!p)
        fail_msg("%s", err.text);
    patching_about(p, 2, 5);
    while (!patching_step(p, CLOCK_NEVER))
        continue;
    const PatchingResult *r = patching_result(p);
    assert_int_equal(r->count, ATTENTIONS * HEADS + MLPS);
    assert_int_equal(r->rows, ATTENTIONS);
    assert_int_equal(r->cols, HEADS + 1);
    int heads = 0, mlps = 0;
    for (size_t i = 0; i < r->count; i++) {
        const PatchPlace *at = &r->place[i];
        assert_int_equal(r->at[at->row * r->cols + at->col], (int)i);
        heads += strstr(at->path, "attn.z") && at->col < HEADS && at->cells.n == 1 &&
                 at->cells.range[0].from == at->col;
        mlps += strstr(at->path, "mlp.out") && at->col == HEADS && at->cells.n == 0;
        assert_true(fabsf(by_hand(&b[0], &b[1], at) - r->to - r->exact[i]) < 1e-6f);
    }
    assert_int_equal(heads, ATTENTIONS * HEADS);
    assert_int_equal(mlps, MLPS);
    patching_free(p);
    text_bench_free(&b[0]);
    text_bench_free(&b[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_and_mlps)};
    return cmocka_run_group_tests_name("patching", tests, NULL, NULL);
}
