/* Texts that surprise a decoder: how a text is cut into windows, and that what is said of them is −log p, computed here
 * a second time from the logits of a run of its own, as trained and with a part taken away. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/eval/surprise.h"
#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/family.h"

enum { TOKENS = 50 };
static char path[64];

static int token(int i)
{
    return (i * 7 + i * i) % 11;
}

static int write_text(void **state)
{
    (void)state;
    Buf text = {0};
    Err err = {{0}};
    snprintf(path, sizeof path, "/tmp/vitrine-test-surprise-%ld", (long)getpid());
    for (int i = 0; i < TOKENS; i++)
        buf_printf(&text, "%d ", token(i));
    bool ok = file_write(path, buf_str(&text), text.len, &err);
    buf_free(&text);
    return ok ? 0 : -1;
}

static int remove_text(void **state)
{
    (void)state;
    return unlink(path);
}

static void open_family(Model *m, const char *name)
{
    char folder[96];
    Err err = {{0}};
    snprintf(folder, sizeof folder, "tests/data/families/%s", name);
    if (!family_load(m, folder, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static void windows_are_the_text(void **state)
{
    (void)state;
    Model m;
    Err err = {{0}};
    int n, first;
    open_family(&m, "words_gpt2");
    const int longest = seq2seq_longest(&m.text);
    assert_true(longest < TOKENS / 2);
    Dataset *d = dataset_texts(&m, path, 1000, &err);
    assert_non_null(d);
    assert_int_equal(dataset_count(d), TOKENS / longest);
    for (size_t i = 0; i < dataset_count(d); i++) {
        const int *window = dataset_window(d, i, &n, &first);
        assert_int_equal(n, longest);
        assert_int_equal(first, 1); /* nothing stands before the first */
        for (int k = 0; k < n; k++)
            assert_int_equal(window[k], token((int)i * longest + k));
    }
    dataset_free(d);
    d = dataset_texts(&m, path, 2, &err);
    assert_int_equal(dataset_count(d), 2);
    dataset_free(d);
    m.target.start = 9; /* a model that begins with a start: then the first token is asked for too */
    d = dataset_texts(&m, path, 1000, &err);
    assert_int_equal(dataset_count(d), TOKENS / (longest - 1));
    for (size_t i = 0; i < 2; i++) {
        const int *window = dataset_window(d, i, &n, &first);
        assert_int_equal(n, longest);
        assert_int_equal(first, 1);
        assert_int_equal(window[0], 9);
        assert_int_equal(window[1], token((int)i * (longest - 1)));
    }
    dataset_free(d);
    model_free(&m);
    open_family(&m, "words_llama"); /* reads more than the text has: one window */
    d = dataset_texts(&m, path, 1000, &err);
    assert_non_null(d);
    dataset_window(d, 0, &n, &first);
    assert_int_equal(dataset_count(d), 1);
    assert_in_range(n, TOKENS, TOKENS + 1); /* and perhaps a start */
    dataset_free(d);
    model_free(&m);
}

/* Mean −log p of the tokens that are asked for, in double, from the logits of that graph. */
static double mean_of(const Graph *g, Run *run, const int *word, int n, int first)
{
    NodeId logits = site_node_any(g, SITE_LOGITS);
    const float *x = run_need(run, logits);
    const size_t words = graph_cells(g, logits) / (size_t)n;
    double sum = 0;
    for (int t = first; t < n; t++) {
        const float *row = x + (size_t)(t - 1) * words;
        double all = 0;
        for (size_t v = 0; v < words; v++)
            all += exp((double)row[v] - (double)row[word[t]]);
        sum += log(all);
    }
    return sum / (n - first);
}

static void compare_window(const Model *m, const Dataset *d, const Surprise *e, const Ablation *without, int count)
{
    int n, first;
    const int *word = dataset_window(d, 0, &n, &first);
    Graph g;
    graph_init(&g);
    m->family->build(m, &g, &(ModelInput){.kind = INPUT_TEXT, .text[TEXT_TARGET] = {.word = word, .count = n}});
    Run *run = run_new(&g, NULL, NULL);
    const double trained = mean_of(&g, run, word, n, first);
    assert_true(fabs(trained - surprise_trained(e).mean) < 1e-5);
    for (int i = 0; i < count; i++) {
        Arena arena = {0};
        Edits edits;
        Graph other;
        Err err;
        assert_true(ablation_edits(&arena, &g, without[i], &edits));
        assert_true(graph_edit(&other, &g, edits.edit, edits.count, &err));
        Run *alone = run_new(&other, NULL, NULL);
        const double now = mean_of(&other, alone, word, n, first);
        assert_true(fabs(now - surprise_without(e, i).mean) < 1e-5);
        assert_true(fabs(now - trained - surprise_difference(e, i).mean) < 1e-5);
        run_free(alone);
        graph_free(&other);
        arena_free(&arena);
    }
    run_free(run);
    graph_free(&g);
}

static void surprise_is_minus_log_p(void **state)
{
    (void)state;
    static const char *const FAMILIES[] = {"words_gpt2", "words_llama", "words_gptj", "words_mixtral", "words_gemma2"};
    for (size_t f = 0; f < sizeof FAMILIES / sizeof *FAMILIES; f++) {
        Model m;
        Err err = {{0}};
        int blocks, heads;
        Ablation without[64];
        open_family(&m, FAMILIES[f]);
        const int count = surprise_parts(&m, &blocks, &heads, NULL);
        assert_in_range(count, 1 + 2 * blocks, 64);
        surprise_parts(&m, &blocks, &heads, without);
        Dataset *d = dataset_texts(&m, path, 1, &err);
        assert_non_null(d);
        Surprise *e = surprise_new(&m, d, without, count, NULL);
        assert_true(isnan(surprise_trained(e).mean)); /* nothing before anything was read */
        while (!surprise_step(e, clock_ns()))
            ;
        compare_window(&m, d, e, without, count);
        surprise_free(e);
        dataset_free(d);
        model_free(&m);
    }
}

/* The same numbers whatever the threads and the slices; a part that is not there has none. */
static void slices_and_threads(void **state)
{
    (void)state;
    Model m;
    Err err = {{0}};
    open_family(&m, "words_gpt2");
    const Ablation without[] = {{.kind = ABLATION_HEAD, .layer = 0, .head = 1},
                                {.kind = ABLATION_MLP, .layer = 90},
                                {.kind = ABLATION_ATTENTION, .layer = 1}};
    Dataset *d = dataset_texts(&m, path, 3, &err);
    Pool *pool = pool_new(3);
    Surprise *a = surprise_new(&m, d, without, 3, NULL), *b = surprise_new(&m, d, without, 3, pool);
    assert_true(surprise_step(a, CLOCK_NEVER));
    size_t before = 0;
    while (!surprise_step(b, clock_ns())) {
        assert_true(surprise_done(b) >= before);
        before = surprise_done(b);
    }
    assert_int_equal(surprise_done(b), surprise_total(b));
    assert_int_equal(surprise_windows(a), 3);
    const MeanOver trained[] = {surprise_trained(a), surprise_trained(b)};
    assert_memory_equal(&trained[0], &trained[1], sizeof *trained);
    assert_true(trained[0].margin > 0);
    for (int i = 0; i < 3; i++) {
        const MeanOver x = surprise_difference(a, i), y = surprise_difference(b, i);
        assert_int_equal(isnan(x.mean) != 0, i == 1);
        assert_true(i == 1 || memcmp(&x, &y, sizeof x) == 0);
    }
    surprise_free(a);
    surprise_free(b);
    pool_free(pool);
    dataset_free(d);
    model_free(&m);
}

static void bad_texts_are_named(void **state)
{
    (void)state;
    static const char *const TEXT[] = {"", "3", "3 4 99999", "words that it has not", "\xff\xfe\x80"};
    Model m;
    char bad[96];
    open_family(&m, "words_gpt2");
    snprintf(bad, sizeof bad, "%s-bad", path);
    for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++) {
        Err err = {{0}};
        assert_true(file_write(bad, TEXT[i], strlen(TEXT[i]), &err));
        assert_null(dataset_texts(&m, bad, 4, &err));
        assert_non_null(strstr(err.text, bad));
    }
    unlink(bad);
    Err err = {{0}};
    assert_null(dataset_texts(&m, bad, 4, &err));
    assert_non_null(strstr(err.text, bad));
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_are_the_text),
                                       cmocka_unit_test(surprise_is_minus_log_p), cmocka_unit_test(slices_and_threads),
                                       cmocka_unit_test(bad_texts_are_named)};
    return cmocka_run_group_tests(tests, write_text, remove_text);
}
