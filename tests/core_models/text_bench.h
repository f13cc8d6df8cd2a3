/* A text model with a graph over a source and a target. */
#ifndef VITRINE_TESTS_CORE_MODELS_TEXT_BENCH_H
#define VITRINE_TESTS_CORE_MODELS_TEXT_BENCH_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/graph/run.h"
#include "core/io/tensors.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

#define ENCDEC "tests/data/oracle/encdec"

typedef struct TextBench {
    Model model;
    int source[32], target[32];
    float padding[32];
    Seq2seqInput input;
    Graph graph;
    Seq2seqNodes nodes;
    Run *run;
} TextBench;

static inline void text_bench_start(TextBench *b)
{
    graph_init(&b->graph);
    b->input.source.word = b->source;
    b->input.target.word = b->target;
    b->input.source_vocabulary = b->model.source.word;
    b->input.target_vocabulary = b->model.target.word;
    seq2seq_build(&b->graph, &b->model.text, &b->model.weights, &b->input, &b->nodes);
    b->run = run_new(&b->graph, NULL, NULL);
}

/* Words that differ, the same each time; the target begins with 1. */
static inline void text_bench_words(TextBench *b, int source, int target)
{
    const Seq2seqConfig *c = &b->model.text;
    for (int i = 0; i < source; i++)
        b->source[i] = (3 + i * 5) % c->source_words;
    for (int i = 0; i < target; i++)
        b->target[i] = i ? (2 + i * 7) % c->target_words : 1;
    b->input.source.n = source;
    b->input.target.n = target;
}

static inline void text_bench_seeded(TextBench *b, const Seq2seqConfig *c, uint64_t seed, int source, int target)
{
    Err err = {""};
    *b = (TextBench){0};
    if (!seq2seq_check(c, &err))
        fail_msg("%s", err.text);
    text_model_seeded(&b->model, c, seed);
    text_bench_words(b, seq2seq_has_encoder(c) ? source : 0, seq2seq_has_decoder(c) ? target : 0);
    text_bench_start(b);
}

static inline uint64_t text_bench_hash(TextBench *b)
{
    uint64_t hash = 0;
    assert_true(run_step_all(b->run, CLOCK_NEVER));
    assert_true(run_hash(b->run, &hash));
    return hash;
}

static inline void text_bench_free(TextBench *b)
{
    run_free(b->run);
    graph_free(&b->graph);
    model_free(&b->model);
    *b = (TextBench){0};
}

static inline NodeId text_bench_node(const TextBench *b, const char *path)
{
    NodeId n = graph_find(&b->graph, path);
    if (n == NO_NODE)
        fail_msg("no node '%s'", path);
    return n;
}

static inline const float *text_bench_values(TextBench *b, const char *path)
{
    return run_need(b->run, text_bench_node(b, path));
}

/* A small model of every form and knob. */
static inline Seq2seqConfig text_tiny(void)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.width = 24;
    c.heads = 3;
    c.head_dim = 8;
    c.scale = 0.35355338f;
    c.embed_scale = 4.8989797f;
    c.mlp = 40;
    c.encoder_layers = c.decoder_layers = 2;
    c.source_words = 19;
    c.target_words = 17;
    return c;
}

static const struct {
    const char *what;
    Seq2seqForm form;
    bool learned, pre_norm, final_norm, untied, head_bias, no_bias;
    MapFn act;
    bool sinks;
} TEXT_VARIANTS[] = {
    {"the original", SEQ2SEQ_BOTH, false, false, false, false, false, false, MAP_RELU, false},
    {"untied", SEQ2SEQ_BOTH, false, false, true, true, true, false, MAP_RELU, false},
    {"pre-norm", SEQ2SEQ_BOTH, false, true, true, false, true, false, MAP_GELU, false},
    {"learned positions", SEQ2SEQ_BOTH, true, false, false, true, false, true, MAP_SILU, false},
    {"decoder alone", SEQ2SEQ_DECODER_ONLY, true, true, true, false, false, false, MAP_GELU_TANH, false},
    {"encoder alone", SEQ2SEQ_ENCODER_ONLY, true, false, false, false, true, false, MAP_GELU, false},
    {"sinks", SEQ2SEQ_DECODER_ONLY, true, true, true, false, false, false, MAP_GELU_TANH, true},
};
enum { TEXT_VARIANT_COUNT = sizeof TEXT_VARIANTS / sizeof *TEXT_VARIANTS };

static inline Seq2seqConfig text_variant(size_t i)
{
    Seq2seqConfig c = text_tiny();
    c.form = TEXT_VARIANTS[i].form;
    c.learned_positions = TEXT_VARIANTS[i].learned;
    c.positions = 16;
    c.pre_norm = TEXT_VARIANTS[i].pre_norm;
    c.final_norm = TEXT_VARIANTS[i].final_norm;
    c.tied = !TEXT_VARIANTS[i].untied;
    c.head_bias = TEXT_VARIANTS[i].head_bias;
    c.qkv_bias = c.out_bias = c.mlp_bias = !TEXT_VARIANTS[i].no_bias;
    c.act = TEXT_VARIANTS[i].act;
    c.sinks = TEXT_VARIANTS[i].sinks;
    if (c.form == SEQ2SEQ_DECODER_ONLY)
        c.source_words = c.encoder_layers = 0;
    if (c.form == SEQ2SEQ_ENCODER_ONLY)
        c.target_words = c.decoder_layers = 0;
    return c;
}
/* The hash of all that a text model makes of a few tokens. */
static inline uint64_t trace_of(const Model *m)
{
    const int words[] = {3, 1, 4, 1, 5};
    const Text text = {.word = words, .count = 5};
    Graph g;
    uint64_t hash = 0;
    graph_init(&g);
    m->family->build(m, &g, &(ModelInput){.kind = INPUT_TEXT, .text = {[TEXT_SOURCE] = text, [TEXT_TARGET] = text}});
    Run *run = run_new(&g, NULL, NULL);
    assert_true(run_step_all(run, CLOCK_NEVER) && run_hash(run, &hash));
    run_free(run);
    graph_free(&g);
    return hash;
}
#endif
