/* A text model of a known size with weights made up, for a driver that interleaves it with another engine. Per line
 * read: "prefill" is one traced pass over 128 tokens, "decode" 64 tokens written one by one with the cache, "read" the
 * weights' bytes summed up once, as fast as memory gives them. Prints "wall cpu" in ms. and the most memory held so
 * far in KiB. First line: "ready" and the bytes of the weights. Usage: serve_text gpt2|llama1b [THREADS [f32|bf16
 * [table]]]; table: no driver, but each of the three some times, against this processor's peak and this memory's: one
 * thread by its processor's time, several by the clock. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/graph/run.h"
#include "core/models/decode.h"
#include "core/models/family.h"
#include "tests/bench/peak.h"

enum { PREFILL = 128, DECODE = 64, READINGS = 16, ROUNDS = 5 };

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A decoder alone with the sizes of GPT-2 and of Llama 3.2 1B. */
static Seq2seqConfig config_of(const char *name)
{
    const bool llama = strcmp(name, "llama1b") == 0;
    if (!llama && strcmp(name, "gpt2") != 0)
        die("serve_text: there is no size '%s': gpt2 or llama1b", name);
    Seq2seqConfig c = seq2seq_config_base();
    c.form = SEQ2SEQ_DECODER_ONLY;
    c.source_words = c.encoder_layers = 0;
    c.target_words = llama ? 128256 : 50257;
    c.width = llama ? 2048 : 768;
    c.heads = llama ? 32 : 12;
    c.key_heads = llama ? 8 : 0;
    c.head_dim = 64;
    c.mlp = llama ? 8192 : 3072;
    c.decoder_layers = llama ? 16 : 12;
    c.act = llama ? MAP_SILU : MAP_GELU_TANH;
    c.scale = seq2seq_root(c.head_dim, true);
    c.embed_scale = 1;
    c.pos = llama ? SEQ2SEQ_POS_ROPE : SEQ2SEQ_POS_ADDED;
    c.rope.base = 500000;
    c.rope.half = llama;
    c.learned_positions = !llama;
    c.positions = 1024;
    c.pre_norm = c.final_norm = c.tied = true;
    c.rms_norm = c.gated = llama;
    c.qkv_bias = c.out_bias = c.mlp_bias = !llama;
    c.head_bias = false;
    Err err;
    if (!seq2seq_check(&c, &err))
        die("serve_text: %s", err.text);
    return c;
}

static LeafForm form_of(void *context, const WeightPlace *w)
{
    return *(bool *)context && w->rank > 1 && w->start != START_TOKEN ? LEAF_BF16 : LEAF_FLOATS;
}

/* Numbers about as large as trained ones are; norms about 1. */
static void fill(Model *m)
{
    uint32_t x = 1;
    for (WeightPlace w = {0}; model_weight(m, &w);)
        for (size_t i = 0; i < w.cells; i++) {
            x = x * 1664525u + 1013904223u;
            if (w.half)
                w.half[i] = (uint16_t)(0x3c00 | (x >> 16 & 0x807f));
            else
                w.data[i] = w.start == START_ONE ? 1.0f : (float)(int32_t)x * 0x1p-37f;
        }
}

/* Returns the floating-point operations of the pass. */
static double prefill(const Model *m, const int *word, Pool *pool)
{
    Graph g;
    Seq2seqNodes nodes;
    const Seq2seqInput in = {.target = {.word = word, .n = PREFILL}};
    graph_init(&g);
    seq2seq_build(&g, &m->text, &m->weights, &in, &nodes);
    Run *r = run_new(&g, NULL, pool);
    while (!run_step_all(r, CLOCK_NEVER))
        continue;
    const double flops = graph_scope_cost(&g, "").flops;
    run_free(r);
    graph_free(&g);
    return flops;
}

static void decode(const Model *m, const int *word, Pool *pool)
{
    Decode d;
    Err err;
    DecodeOptions o = decode_options_default();
    o.most = DECODE;
    o.forget = true;
    if (!decode_run(&d, m, word, 1, &o, pool, NULL, NULL, &err))
        die("serve_text: %s", err.text);
    decode_free(&d);
}

/* Every thread a part, summed with as many additions under way as hide how long one takes. */
enum { PARTS = 64, CHAINS = 64 };
typedef struct Reading {
    const float *x;
    size_t part;
    float sum[PARTS];
} Reading;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
static void
read_part(void *context, size_t item, int worker)
{
    Reading *r = context;
    const float *x = r->x + item * r->part;
    float chain[CHAINS] = {0};
    (void)worker;
    for (size_t i = 0; i + CHAINS <= r->part; i += CHAINS)
        for (size_t k = 0; k < CHAINS; k++)
            chain[k] += x[i + k];
    for (size_t k = 1; k < CHAINS; k++)
        chain[0] += chain[k];
    r->sum[item] = chain[0];
}

static void read_all(const Model *m, Pool *pool)
{
    Reading r = {.x = m->block, .part = m->block_cells / PARTS};
    pool_run(pool, 0, PARTS, read_part, &r, CLOCK_NEVER);
}

static void read_weights(const Model *m, const int *word, Pool *pool)
{
    (void)word;
    for (int i = 0; i < READINGS; i++)
        read_all(m, pool);
}

static double ms_now(int threads)
{
    return threads > 1 ? (double)clock_ns() / 1e6 : cpu_ms();
}

static double ms_of(void (*work)(const Model *, const int *, Pool *), const Model *m, const int *word, Pool *pool,
                    int threads)
{
    const double start = ms_now(threads);
    work(m, word, pool);
    return ms_now(threads) - start;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A memory's pace moves within seconds. So writing is set beside the readings just before and just after it, each as
 * many words' weights long as hold for a while, and the median of such rounds is told. */
static void put_table(const char *name, const Model *m, const int *word, Pool *pool, int threads)
{
    const double gb = (double)(m->block_cells * sizeof(float)) * 1e-9;
    double pass = 1e18, flops = 0, peak = peak_gflops(kernels()->isa), share[ROUNDS], written[ROUNDS], read[ROUNDS];
    for (int i = 0; i < 3; i++) {
        const double start = ms_now(threads);
        flops = prefill(m, word, pool);
        const double ms = ms_now(threads) - start, again = threads * peak_gflops(kernels()->isa);
        pass = ms < pass ? ms : pass;
        peak = again > peak ? again : peak;
    }
    double before = ms_of(read_weights, m, word, pool, threads);
    for (int i = 0; i < ROUNDS; i++) {
        written[i] = ms_of(decode, m, word, pool, threads) / DECODE;
        const double after = ms_of(read_weights, m, word, pool, threads);
        read[i] = (before + after) / (2 * READINGS);
        share[i] = 100 * read[i] / written[i];
        before = after;
    }
    qsort(share, ROUNDS, sizeof *share, by_size);
    qsort(written, ROUNDS, sizeof *written, by_size);
    qsort(read, ROUNDS, sizeof *read, by_size);
    const int mid = ROUNDS / 2;
    printf("%s, %d thread%s, ms %s\n", name, threads, threads > 1 ? "s" : "",
           threads > 1 ? "by the clock" : "of processor");
    printf("  %d tokens read, every tensor kept   %9.1f  %6.1f GFLOP/s, %3.0f %% of the peak, %.1f GFLOP/s\n", PREFILL,
           pass, flops * 1e-6 / pass, peak > 0 ? flops * 1e-4 / pass / peak : 0, peak);
    printf("  a word written with the cache       %9.1f  %6.1f GB/s, %3.0f %% (%.0f to %.0f) of reading the weights, "
           "%.1f GB/s; medians of %d rounds by turns\n",
           written[mid], gb * 1e3 / written[mid], share[mid], share[0], share[ROUNDS - 1], gb * 1e3 / read[mid],
           ROUNDS);
}

int main(int argc, char **argv)
{
    bool half = argc > 3 && strcmp(argv[3], "bf16") == 0;
    int word[PREFILL];
    char line[64];
    Model m = {.text = config_of(argc > 1 ? argv[1] : "gpt2")};
    m.target = (Vocabulary){.n = m.text.target_words, .pad = -1, .start = -1, .end = -1};
    Err err;
    if (!model_alloc_stored(&m, &FAMILY_TEXT, form_of, &half, &err))
        die("%s", err.text);
    for (WeightPlace w = {0}; model_weight(&m, &w);)
        w.at->origin = "made up";
    fill(&m);
    for (int i = 0; i < PREFILL; i++)
        word[i] = i * 7919 % m.text.target_words;
    const bool table = argc > 4 && strcmp(argv[4], "table") == 0;
    const int threads = argc > 2 && atoi(argv[2]) > 1 ? atoi(argv[2]) : 1;
    Pool *pool = pool_new(threads);
    if (table)
        put_table(argv[1], &m, word, pool, threads);
    else
        printf("ready %zu\n", m.block_cells * sizeof(float));
    fflush(stdout);
    while (!table && fgets(line, sizeof line, stdin)) {
        double cpu = cpu_ms();
        int64_t wall = clock_ns();
        if (strncmp(line, "decode", 6) == 0)
            decode(&m, word, pool);
        else if (strncmp(line, "read", 4) == 0)
            read_all(&m, pool);
        else
            prefill(&m, word, pool);
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        printf("%.3f %.3f %ld\n", (double)(clock_ns() - wall) / 1e6, cpu_ms() - cpu, use.ru_maxrss);
        fflush(stdout);
    }
    pool_free(pool);
    model_free(&m);
    return 0;
}
