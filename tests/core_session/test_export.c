/* Values in files: what is written reads back as the very bits of the trace, in the order of axes that was asked for.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/session/ask/export.h"
#include "core/session/command.h"

static Session s;
static Commands commands;
static char dir[64];

static int start(void **state)
{
    (void)state;
    Err err = {""};
    snprintf(dir, sizeof dir, "/tmp/vitrine-export-%ld", (long)getpid());
    if (mkdir(dir, 0700) != 0 || !session_init(&s, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    return rmdir(dir);
}

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static const char *run(const char *line)
{
    Err err = {""};
    if (!command_do(&s, &commands, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    return buf_str(&s.said);
}

static const float *values(Side side, const char *path)
{
    Err err = {""};
    const float *x = session_need(&s, side, path, &err);
    if (!x)
        fail_msg("%s", err.text);
    return x;
}

/* Writes, checks the report, opens what was written and deletes it. */
static TensorFile written(Side side, const char *pattern, const char *axes, const char *name, const char *report)
{
    Err err = {""};
    Buf said = {0};
    TensorFormat format;
    TensorFile f = {0};
    const char *path = in_dir(name);
    if (!tensor_format(path, &format, &err) || !export_nodes(&s, side, pattern, axes, path, format, &said, &err) ||
        !tensors_open(&f, path, &err))
        fail_msg("%s", err.text);
    if (report)
        assert_string_equal(buf_str(&said), report);
    buf_free(&said);
    unlink(path);
    return f;
}

static float *contents(const TensorFile *f, size_t i)
{
    Err err = {""};
    float *x = malloc((f->tensors[i].cells ? f->tensors[i].cells : 1) * sizeof *x);
    if (!tensors_read_f32(f, &f->tensors[i], x, &err))
        fail_msg("%s", err.text);
    return x;
}

static void refused(const char *pattern, const char *axes, const char *name, const char *why)
{
    Err err = {""};
    TensorFormat format;
    assert_true(tensor_format(name, &format, &err));
    if (export_nodes(&s, SIDE_B, pattern, axes, in_dir(name), format, NULL, &err))
        fail_msg("%s was written", pattern);
    if (!strstr(err.text, why))
        fail_msg("%s: %s", pattern, err.text);
    assert_false(file_exists(in_dir(name)));
}

static void test_one_tensor(void **state)
{
    (void)state;
    TensorFile f = written(SIDE_B, "blocks.1.attn.q", NULL, "q.npy", "float32 [t=65,h=4,e=16]\n");
    float *x = contents(&f, 0);
    assert_int_equal(f.tensors[0].rank, 3);
    assert_memory_equal(x, values(SIDE_B, "blocks.1.attn.q"), 65 * 4 * 16 * sizeof *x);
    free(x);
    tensors_close(&f);
}

static void test_axes_are_reordered(void **state)
{
    (void)state;
    TensorFile f = written(SIDE_B, "blocks.1.attn.q", "h,t,e", "q.npy", "float32 [h=4,t=65,e=16]\n");
    float *x = contents(&f, 0);
    const float *q = values(SIDE_B, "blocks.1.attn.q");
    assert_int_equal(f.tensors[0].shape[0], 4);
    for (size_t t = 0; t < 65; t++)
        for (size_t h = 0; h < 4; h++)
            assert_memory_equal(&x[(h * 65 + t) * 16], &q[(t * 4 + h) * 16], 16 * sizeof *x);
    free(x);
    tensors_close(&f);
    f = written(SIDE_B, "blocks.1.attn.q[h=2]", "e,t", "q.npy", "float32 [e=16,t=65]\n");
    x = contents(&f, 0);
    for (size_t t = 0; t < 65; t++)
        for (size_t e = 0; e < 16; e++)
            assert_true(x[e * 65 + t] == q[(t * 4 + 2) * 16 + e]);
    free(x);
    tensors_close(&f);
}

static void test_part_of_a_tensor(void **state)
{
    (void)state;
    const float *a = values(SIDE_B, "blocks.0.attn.pattern");
    TensorFile f = written(SIDE_B, "blocks.0.attn.pattern[h=1,t=r0c1:5,u=63:65]", NULL, "a.npz", "float32 [t=3,u=2]\n");
    float *x = contents(&f, 0);
    assert_string_equal(f.tensors[0].name, "blocks.0.attn.pattern");
    for (size_t t = 0; t < 3; t++)
        for (size_t u = 0; u < 2; u++)
            assert_true(x[t * 2 + u] == a[65 * 65 + (2 + t) * 65 + 63 + u]);
    free(x);
    tensors_close(&f);
    f = written(SIDE_B, "probs[o=star]", NULL, "p.npy", "float32 []\n");
    x = contents(&f, 0);
    assert_int_equal(f.tensors[0].rank, 0);
    assert_memory_equal(x, &values(SIDE_B, "probs")[5], sizeof *x);
    free(x);
    tensors_close(&f);
}

static void test_patterns(void **state)
{
    (void)state;
    const Graph *g = session_graph(&s, SIDE_B);
    static const char *const PATTERNS[] = {"blocks.2.*", "blocks.2"};
    for (int k = 0; k < 2; k++) {
        TensorFile f = written(SIDE_B, PATTERNS[k], NULL, "b2.npz", NULL);
        size_t expected = 0;
        for (NodeId n = 0; n < g->count; n++) {
            const Node *node = graph_node(g, n);
            bool weight = node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR;
            if (strncmp(node->path, "blocks.2.", 9) != 0 || weight || (node->flags & NODE_PROBE))
                continue;
            expected++;
            const TensorInfo *t = tensors_find(&f, node->path);
            if (!t)
                fail_msg("%s is not in the file", node->path);
            float *x = contents(&f, (size_t)(t - f.tensors));
            assert_memory_equal(x, values(SIDE_B, node->path), t->cells * sizeof *x);
            free(x);
        }
        assert_int_equal(f.count, expected);
        assert_true(expected > 40);
        tensors_close(&f);
    }
}

static void test_weights_and_analyses_when_named(void **state)
{
    (void)state;
    TensorFile f = written(SIDE_B, "blocks.*.attn.w_*", NULL, "w.npz", "16 tensors, 0.3 MB\n");
    assert_non_null(tensors_find(&f, "blocks.3.attn.w_o"));
    tensors_close(&f);
    f = written(SIDE_B, "blocks.*.attn.probe.entropy", NULL, "e.npz", "4 tensors, 0.0 MB\n");
    tensors_close(&f);
}

static void test_whole_run_with_metadata(void **state)
{
    (void)state;
    char hash[32];
    run("set scale off");
    TensorFile f = written(SIDE_B, "**", NULL, "run.safetensors", NULL);
    uint64_t h = 0;
    assert_true(session_hash(&s, SIDE_B, &h)); /* writing the run completed it */
    snprintf(hash, sizeof hash, "\"%016llx\"", (unsigned long long)h);
    assert_non_null(f.metadata);
    assert_non_null(strstr(f.metadata, hash));
    assert_non_null(strstr(f.metadata, "set scale off"));
    assert_non_null(strstr(f.metadata, "#17"));
    assert_non_null(strstr(f.metadata, "[h=4,t=65,u=65]"));
    const TensorInfo *t = tensors_find(&f, "blocks.3.attn.pattern");
    assert_non_null(t);
    float *x = contents(&f, (size_t)(t - f.tensors));
    assert_memory_equal(x, values(SIDE_B, "blocks.3.attn.pattern"), t->cells * sizeof *x); /* the edited run */
    assert_int_not_equal(memcmp(x, values(SIDE_A, "blocks.3.attn.pattern"), t->cells * sizeof *x), 0);
    free(x);
    tensors_close(&f);
    run("undo");
}

static void test_difference(void **state)
{
    (void)state;
    run("set scale off");
    TensorFile f = written(SIDE_DIFF, "probs", NULL, "d.npy", "float32 [o=10]\n");
    float *x = contents(&f, 0);
    const float *a = values(SIDE_A, "probs"), *b = values(SIDE_B, "probs");
    bool any = false;
    for (size_t i = 0; i < 10; i++) {
        float d = a[i] - b[i];
        assert_memory_equal(&d, &x[i], sizeof d);
        any = any || d != 0.0f;
    }
    assert_true(any);
    free(x);
    tensors_close(&f);
    run("undo");
}

/* Values that are none are told with the first place that has some, in what is printed, said and written. */
static void test_nan(void **state)
{
    (void)state;
    static const char BEGINS[] = "NaN begins at blocks.1.attn.q.edit_value";
    Err err = {""};
    Buf text = {0};
    run("set blocks.1.attn.q[h=0,t=3,e=5] nan");
    assert_true(export_print(&s, SIDE_B, "probs", NULL, &text, &err));
    assert_memory_equal(buf_str(&text), BEGINS, sizeof BEGINS - 1);
    buf_clear(&text);
    assert_true(export_print(&s, SIDE_DIFF, "probs", NULL, &text, &err));
    assert_memory_equal(buf_str(&text), BEGINS, sizeof BEGINS - 1);
    buf_clear(&text);
    assert_true(export_print(&s, SIDE_B, "blocks.0.attn.q", NULL, &text, &err));
    assert_true(export_print(&s, SIDE_A, "probs", NULL, &text, &err));
    assert_null(strstr(buf_str(&text), "NaN"));
    buf_clear(&text);
    assert_true(export_nodes(&s, SIDE_B, "logits", NULL, in_dir("p.json"), TF_JSON, &text, &err));
    assert_non_null(strstr(buf_str(&text), BEGINS));
    buf_clear(&text);
    assert_true(file_read(in_dir("p.json"), 1 << 20, &text, &err));
    assert_non_null(strstr(buf_str(&text), BEGINS));
    buf_free(&text);
    unlink(in_dir("p.json"));
    run("undo");
}

static void test_text_formats(void **state)
{
    (void)state;
    Err err = {""};
    Buf text = {0};
    assert_true(export_nodes(&s, SIDE_B, "probs", NULL, in_dir("p.json"), TF_JSON, NULL, &err));
    assert_true(file_read(in_dir("p.json"), 1 << 20, &text, &err));
    Json *j = json_parse("p.json", buf_str(&text), text.len, &err);
    assert_non_null(j);
    const Json *data = json_get(json_at(json_get(j, "tensors"), 0), "data");
    double number = 0;
    assert_true(json_number(json_at(data, 3), &number) && (float)number == values(SIDE_B, "probs")[3]);
    json_free(j);
    buf_free(&text);
    unlink(in_dir("p.json"));
    assert_true(export_nodes(&s, SIDE_B, "blocks.0.attn.pattern[h=0]", "u,t", in_dir("p.csv"), TF_CSV, NULL, &err));
    assert_true(file_read(in_dir("p.csv"), 1 << 20, &text, &err));
    int lines = 0;
    for (const char *p = buf_str(&text); *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 66);
    buf_clear(&text);
    unlink(in_dir("p.csv"));
    assert_true(export_nodes(&s, SIDE_B, "blocks.0.attn.pattern", "u,h,t", in_dir("p.csv"), TF_CSV, NULL, &err));
    assert_true(file_read(in_dir("p.csv"), 1 << 20, &text, &err));
    const char *at = buf_str(&text), *const HEAD = "\"u\",\"h\",\"cls\",\"r0c0\",";
    assert_memory_equal(at, HEAD, strlen(HEAD));
    for (int row = 0; row < 4 * 65; row++) { /* that of token u and head h: its labels, then every t */
        char begin[64], *end;
        at = strchr(at, '\n') + 1;
        int n = row < 4
                    ? snprintf(begin, sizeof begin, "\"cls\",%d,", row)
                    : snprintf(begin, sizeof begin, "\"r%dc%d\",%d,", (row / 4 - 1) / 8, (row / 4 - 1) % 8, row % 4);
        assert_memory_equal(at, begin, (size_t)n);
        assert_true(strtof(at + n, &end) == values(SIDE_B, "blocks.0.attn.pattern")[row % 4 * 65 * 65 + row / 4]);
    }
    buf_free(&text);
    unlink(in_dir("p.csv"));
}

static void test_what_is_refused(void **state)
{
    (void)state;
    refused("blocks.1.nothing", NULL, "x.npy", "there is no node");
    refused("blocks.1.*", NULL, "x.npy", "end the file's name in .npz");
    refused("blocks.1.*", NULL, "x.csv", "end the file's name in .npz");
    refused("nothing.*", NULL, "x.npz", "no node matches");
    refused("blocks.1.attn.q", "h,t", "x.npy", "1 axis is left out of [t=65,h=4,e=16]");
    refused("blocks.1.attn.q", "h,t,t", "x.npy", "name every axis of [t=65,h=4,e=16] once");
    refused("blocks.1.attn.q", "h,t,e,e", "x.npy", "once");
    refused("blocks.1.attn.q", "h,t,z", "x.npy", "once");
    refused("blocks.1.attn.q", "", "x.npy", "left out");
    refused("blocks.1.attn.q", ",,,", "x.npy", "once");
    refused("blocks.1.attn.q[h=2]", "h,t,e", "x.npy", "once");
    refused("blocks.1.*", "h,t,e", "x.npz", "reorders one tensor");
    refused("blocks.1.attn.q[h=9]", NULL, "x.npy", "goes from 0 to 3");
    refused("blocks.1.attn.q[h=1,h=2]", NULL, "x.npy", "h is given twice");
}

static void test_export_command(void **state)
{
    (void)state;
    Err err = {""};
    char line[256];
    snprintf(line, sizeof line, "export %s blocks.1.attn.q axes=h,t,e", in_dir("q.npy"));
    assert_non_null(strstr(run(line), "q.npy: float32 [h=4,t=65,e=16]."));
    unlink(in_dir("q.npy"));
    snprintf(line, sizeof line, "export %s probs", in_dir("q.npy"));
    assert_false(command_do(&s, &commands, line, LINE_FOREIGN, &err)); /* files are not allowed here */
    assert_false(file_exists(in_dir("q.npy")));
    assert_false(command_do(&s, &commands, "export shot.svg", LINE_OWN, &err));
    assert_non_null(strstr(err.text, "picture of the screen"));
    assert_false(command_do(&s, &commands, "export values.dat", LINE_OWN, &err));
    assert_false(command_do(&s, &commands, "export", LINE_OWN, &err));
    assert_false(command_do(&s, &commands, "export /nowhere/at/all.npy", LINE_OWN, &err));
}

static void check_width(const Buf *text)
{
    char line[256];
    for (const char *p = buf_str(text); *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(p, "\n"), p);
        if (utf8_cells(line) > 80)
            fail_msg("%d cells: %s", utf8_cells(line), line);
    }
}

static void test_print(void **state)
{
    (void)state;
    Err err = {""};
    Buf text = {0};
    assert_true(export_print(&s, SIDE_B, "blocks.1.attn.q", NULL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "blocks.1.attn.q  float32 [t=65,h=4,e=16]\n"));
    assert_non_null(strstr(buf_str(&text), "[t=cls]\n"));
    char number[32];
    snprintf(number, sizeof number, " %9.4g", (double)values(SIDE_B, "blocks.1.attn.q")[0]);
    assert_non_null(strstr(buf_str(&text), number));
    check_width(&text);
    buf_clear(&text);
    assert_true(export_print(&s, SIDE_B, "blocks.1.attn.q[t=r3c4,h=2,e=5]", NULL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "float32 []\n"));
    buf_clear(&text);
    assert_true(export_print(&s, SIDE_B, "probs", NULL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "triangle"));
    buf_clear(&text);
    assert_false(export_print(&s, SIDE_B, "blocks.1.*", NULL, &text, &err));
    assert_int_equal(text.len, 0);
    const Graph *g = session_graph(&s, SIDE_B);
    for (NodeId n = 0; n < g->count; n++) {
        assert_true(export_print(&s, SIDE_B, graph_node(g, n)->path, NULL, &text, &err));
        check_width(&text);
        buf_clear(&text);
    }
    run("mask blocks.0.attn.scores_scaled[u=4]");
    assert_true(export_print(&s, SIDE_B, "blocks.0.attn.scores_masked[h=0]", NULL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "-inf"));
    assert_non_null(strstr(buf_str(&text), "65 of 4225 are not finite"));
    buf_free(&text);
    run("undo");
}

static void test_open_and_model(void **state)
{
    (void)state;
    Err err = {""};
    assert_non_null(strstr(run("open #5"), "#5, 48 × 48."));
    assert_false(command_do(&s, &commands, "open no-such.png", LINE_OWN, &err));
    assert_false(
        command_do(&s, &commands, "open #99999999999999999999", LINE_OWN, &err)); /* no other picture in its place */
    assert_non_null(strstr(err.text, "is no picture"));
    assert_string_equal(session_input(&s, SIDE_B)->name, "#5");
    assert_false(command_do(&s, &commands, "open a b", LINE_OWN, &err));
    assert_false(command_do(&s, &commands, "model no-such-folder", LINE_OWN, &err));
    const char *said = run("model bundled");
    assert_non_null(strstr(said, "shapes-vit"));
    assert_null(strstr(said, "ntrained"));
    run("open #17");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tensor),
        cmocka_unit_test(test_axes_are_reordered),
        cmocka_unit_test(test_part_of_a_tensor),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_weights_and_analyses_when_named),
        cmocka_unit_test(test_whole_run_with_metadata),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_text_formats),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_export_command),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_open_and_model),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
