/* The commands around comparing with other programs: `diff`, and `set precision`. */
#include "tests/core_session/asking.h"

#include <unistd.h>

#include "core/base/file.h"
#include "core/eval/ablation.h"
#include "core/io/tensors.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/ask/export.h"

static const char *trace(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/vitrine-test-%ld-trace.safetensors", (long)getpid());
    return path;
}

/* Writes the run as it is now, edits included. */
static void write_run(const char *pattern)
{
    Err err = {""};
    if (!export_nodes(&s, SIDE_B, pattern, NULL, trace(), TF_SAFETENSORS, NULL, &err))
        fail_msg("%s", err.text);
}

static const char *run_diff(const char *more)
{
    char line[200];
    snprintf(line, sizeof line, "diff \"%s\" %s", trace(), more);
    return run(line);
}

/* A trace of an edited run beside the run without the edit: the command goes to the cell and names the cause. */
static void finds_its_own_edit(void **state)
{
    (void)state;
    run("set scale off");
    write_run("**");
    has(run_diff(""), "Same:");
    run("set scale on");
    run("goto logits");
    has(run_diff(""), "Different: blocks.0.attn.scale[h=0] is a given value that differs: recorded");
    assert_string_equal(s.place.path, "blocks.0.attn.scale");
    run("set scale off");
    write_run("blocks.0.*");
    run("set scale on");
    run("ablate blocks.1.attn.z[h=1]"); /* an edit of ours is ours */
    has(run_diff(""), "does not multiply the scores by 1/√d_k");
    run("reset edits");
    unlink(trace());
}

static void recorded_steps_only(void **state)
{
    (void)state;
    run("set scale off");
    write_run("blocks.*.attn.pattern");
    run("set scale on");
    const char *said = run_diff("tolerance=1e-4");
    has(said, "Different: blocks.0.attn.pattern[");
    has(said, "Likely cause: the recording does not multiply the scores by 1/√d_k");
    assert_string_equal(s.place.path, "blocks.0.attn.pattern");
    assert_int_equal(s.place.screen, SCREEN_EXPLAIN);
    has(said, "differs in 4 blocks");
    run("set scale off");
    has(run_diff(""), "Same: each of the 4 tensors");
    run("set scale on");
    unlink(trace());
}

static void refuses_nonsense(void **state)
{
    (void)state;
    refused("diff", "expected `diff FILE`");
    refused("diff a b", "expected `diff FILE`");
    refused("diff no/such/file.npz", "no/such/file.npz");
    refused("diff README.md", "README.md");
    refused("diff README.md tolerance=2", "greater than 0 and at most 1");
    refused("diff README.md tolerance=x", "tolerance 'x'");
    refused("diff README.md colour=red", "'colour='");
    refused("diff README.md input=other", "input=own");
    write_run("blocks.0.attn.q");
    char line[200];
    snprintf(line, sizeof line, "diff %s precision=f8", trace());
    refused(line, "expected f32, bf16 or f16");
    snprintf(line, sizeof line, "diff %s map=no/such/map", trace());
    refused(line, "no/such/map");
    snprintf(line, sizeof line, "diff %s input=own", trace());
    refused(line, "no input values");
    Err err = {""};
    assert_false(command_do(&s, &commands, "diff x", LINE_FOREIGN, &err)); /* links and lessons read no files */
    unlink(trace());
}

/* The words of a text are read from the trace with and without a batch axis in front. */
static void words_with_and_without_a_batch(void **state)
{
    (void)state;
    static const float IDS[] = {3, 7, 5, 7};
    run("model tests/data/families/words_gpt2");
    run("open ids:3,7,5,7");
    Err err = {""};
    const Graph *g = session_graph(&s, SIDE_B);
    const Node *node = graph_node(g, graph_find(g, "logits"));
    const float *x = session_need(&s, SIDE_B, "logits", &err);
    float *logits = malloc(graph_cells(g, graph_find(g, "logits")) * sizeof *logits);
    memcpy(logits, x, graph_cells(g, graph_find(g, "logits")) * sizeof *logits);
    TensorOut out[] = {{.name = "input_ids", .rank = 1, .shape = {4}, .data = IDS},
                       {.name = "logits", .rank = 2, .data = logits}};
    for (int k = 0; k < 2; k++)
        out[1].shape[k] = (size_t)g->axes[node->dims.axis[k]].n;
    for (int batch = 0; batch < 2; batch++) {
        if (batch)
            out[0] = (TensorOut){.name = "input_ids", .rank = 2, .shape = {1, 4}, .data = IDS};
        run("open ids:1,2");
        if (!tensors_write(trace(), TF_SAFETENSORS, out, 2, NULL, &err))
            fail_msg("%s", err.text);
        has(run_diff("input=own"), "Same:");
        assert_int_equal(s.now->input.text[TEXT_TARGET].count, 4);
    }
    free(logits);
    unlink(trace());
}

/* --- set precision --- */

static void every_stored_value_is_rounded(void **state)
{
    (void)state;
    uint64_t before, after;
    Err err = {""};
    while (!session_step(&s, NULL, 0, INT64_MAX))
        ;
    assert_true(session_hash(&s, SIDE_B, &before));
    for (int p = PRECISION_BF16; p < PRECISIONS; p++) {
        char line[64];
        snprintf(line, sizeof line, "set precision %s", precision_name((Precision)p));
        run(line);
        assert_int_equal(s.edits.count, 1); /* the other one is replaced */
        assert_string_equal(s.edits.line[0], line);
        const Graph *g = session_graph(&s, SIDE_B);
        size_t cells = 0, rounded = 0;
        for (NodeId n = 0; n < g->count; n++) {
            const Node *node = graph_node(g, n);
            if (strstr(node->path, ".unedited") ||
                !(strncmp(node->path, "blocks.", 7) == 0 || strcmp(node->path, "logits") == 0 ||
                  strcmp(node->path, "pos_embed") == 0) ||
                (node->flags & (NODE_DERIVED | NODE_PROBE)) || node->op == OP_LEAF)
                continue;
            const float *x = session_need(&s, SIDE_B, node->path, &err);
            for (size_t i = 0; i < graph_cells(g, n); i++) {
                float y = p == PRECISION_BF16 ? bf16_to_f32(f32_to_bf16(x[i])) : f16_to_f32(f32_to_f16(x[i]));
                cells++;
                rounded += memcmp(&y, &x[i], sizeof y) == 0;
            }
        }
        assert_true(cells > 400000);
        assert_int_equal(cells, rounded);
        run("explain blocks.0.attn.q[t=cls,h=0,e=0]");
        has(buf_str(&s.said), p == PRECISION_BF16 ? "bf16(" : "f16(");
        has(buf_str(&s.said), "bit for bit");
    }
    run("set precision f32");
    assert_int_equal(s.edits.count, 0);
    while (!session_step(&s, NULL, 0, INT64_MAX))
        ;
    assert_true(session_hash(&s, SIDE_B, &after));
    assert_true(before == after);
    run("undo");
    assert_string_equal(s.edits.line[0], "set precision f16");
    run("undo");
    run("undo");
    assert_int_equal(s.edits.count, 0);
    refused("set precision f8", "expected f32, bf16 or f16, found 'f8'");
    refused("set precision", "expected");
}

/* What a trace that rounds looks like from outside: with the same rounding here it is the same, without it is not. */
static void a_rounded_trace(void **state)
{
    (void)state;
    run("set precision bf16");
    write_run("blocks.*");
    has(run_diff(""), "Same:"); /* our run is edited so */
    run("set precision f32");
    has(run_diff(""), "Different:");
    has(run_diff("precision=bf16"), "Same:");
    unlink(trace());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_its_own_edit), cmocka_unit_test(recorded_steps_only),
        cmocka_unit_test(refuses_nonsense),   cmocka_unit_test(every_stored_value_is_rounded),
        cmocka_unit_test(a_rounded_trace),    cmocka_unit_test(words_with_and_without_a_batch),
    };
    return cmocka_run_group_tests_name("diff commands", tests, start, stop);
}
