/* A long text within a budget: a child process reads it and says what trace it got and how much more memory it took
 * than before. What one block's attention holds at once is ten times the budget. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core_models/text_bench.h"

#include "core/models/decode.h"

/* Sanitizers hold freed memory back. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SANITIZED 0
#elif !defined(SANITIZED)
#define SANITIZED 1
#endif

enum { TOKENS = 1024, HEADS = 8, MEGABYTE = 1 << 20, BESIDE = 6 * MEGABYTE };

typedef struct Told {
    uint64_t hash;
    size_t more; /* bytes of memory, at most */
    size_t peak; /* bytes of values, by the run's own account */
    int word;    /* that the model writes next */
} Told;

static Seq2seqConfig config(int window, bool sinks)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.form = SEQ2SEQ_DECODER_ONLY;
    c.source_words = c.encoder_layers = 0;
    c.target_words = 300;
    c.width = 64;
    c.heads = HEADS;
    c.key_heads = 2;
    c.head_dim = 8;
    c.mlp = 128;
    c.decoder_layers = 2;
    c.scale = seq2seq_root(c.head_dim, true);
    c.embed_scale = 1;
    c.pos = SEQ2SEQ_POS_ROPE;
    c.rope.base = 10000;
    c.rope.half = c.pre_norm = c.final_norm = c.rms_norm = c.gated = c.tied = true;
    c.positions = TOKENS + 8;
    c.window = window;
    c.sinks = sinks;
    c.qkv_bias = c.out_bias = c.mlp_bias = c.head_bias = false;
    return c;
}

static size_t most_memory(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

static void read_whole(const Model *m, const int *word, size_t budget, Pool *pool, Told *out)
{
    Graph g;
    Seq2seqNodes nodes;
    const Seq2seqInput in = {.target = {.word = word, .n = TOKENS}};
    graph_init(&g);
    seq2seq_build(&g, &m->text, &m->weights, &in, &nodes);
    Run *r = run_new(&g, NULL, pool);
    run_budget(r, budget);
    while (!run_step_all(r, CLOCK_NEVER))
        continue;
    run_hash(r, &out->hash);
    out->peak = run_peak_bytes(r);
    run_free(r);
    graph_free(&g);
}

static void write_on(const Model *m, const int *word, size_t budget, Pool *pool, Told *out)
{
    Decode d;
    Err err = {""};
    DecodeOptions o = decode_options_default();
    o.most = 1;
    o.forget = true;
    o.memory = budget;
    if (!decode_run(&d, m, word, TOKENS, &o, pool, NULL, NULL, &err))
        return;
    out->word = d.word[0];
    out->peak = d.needed;
    decode_free(&d);
}

static Told in_child(const Model *m, size_t budget, int threads, bool writes)
{
    Told told = {0};
    int word[TOKENS], ends[2], status;
    for (int i = 0; i < TOKENS; i++)
        word[i] = (i * 7919 + i / 3) % m->text.target_words;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Pool *pool = pool_new(threads);
        const size_t before = most_memory();
        (writes ? write_on : read_whole)(m, word, budget, pool, &told);
        told.more = most_memory() - before;
        _exit(write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], &told, sizeof told);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == (ssize_t)sizeof told);
    return told;
}

static void within_the_budget(int window, bool sinks)
{
    Model m;
    const Seq2seqConfig c = config(window, sinks);
    const size_t scores = sizeof(float) * HEADS * TOKENS * TOKENS;
    Err err = {""};
    assert_true(seq2seq_check(&c, &err));
    text_model_seeded(&m, &c, 3);
    const Told whole = in_child(&m, 0, 1, false), wrote = in_child(&m, 0, 1, true);
    assert_true(whole.peak > 4 * scores && whole.more > 4 * scores);
    for (size_t budget = 12 * MEGABYTE; budget <= 3 * scores; budget *= 3) {
        const Told got = in_child(&m, budget, budget > scores ? 2 : 1, false), word = in_child(&m, budget, 1, true);
        assert_true(got.hash == whole.hash);
        assert_int_equal(word.word, wrote.word);
        assert_true(got.peak <= budget);
#if !SANITIZED
        if (got.more > budget + BESIDE || word.more > budget + BESIDE)
            fail_msg("with %zu bytes, %zu more were taken to read the text, %zu to write on", budget, got.more,
                     word.more);
#endif
    }
    model_free(&m);
}

static void all_before(void **state)
{
    (void)state;
    within_the_budget(0, false);
}

static void in_a_window(void **state)
{
    (void)state;
    within_the_budget(100, false);
}

static void with_sinks(void **state)
{
    (void)state;
    within_the_budget(0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_before), cmocka_unit_test(in_a_window),
                                       cmocka_unit_test(with_sinks)};
    return cmocka_run_group_tests_name("long text", tests, NULL, NULL);
}
