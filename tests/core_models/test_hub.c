/* Every family of text models from the hub: read under its own program's names, every intermediate reached for three
 * lengths of text, the mistakes that are made most often told apart; the same by the second route, and word by word
 * with a cache. The recordings are those of words.py and words_both.py in tests/data/families, in float64 from the
 * families' published sources. */
#include <fnmatch.h>
#include <math.h>
#include <unistd.h>

#include "tests/core_models/tensor_set.h"
#include "tests/core_models/text_bench.h"

#include "core/base/file.h"
#include "core/models/decode.h"
#include "core/models/direct.h"
#include "core/models/family.h"
#include "core/models/names.h"

static const double TOLERANCE = 1e-5; /* of the largest absolute value of the tensor */
static const double DIFFERENT = 2e-4; /* what a mistake has to miss the logits by, at least */

/* name of the folder behind words_, and how many assumptions its config.json leaves to be made. */
static const struct {
    const char *name;
    int assumed;
} CASES[] = {
    {"gpt2", 1},
    {"nanogpt", 0},
    {"mingpt", 0},
    {"llama2c", 0},
    {"gpt_neo", 1},
    {"gptj", 1},
    {"gpt_neox", 0},
    {"opt", 1},
    {"opt_350m", 1},
    {"bloom", 1},
    {"mpt", 1},
    {"mpt_clipped", 2},
    {"llama", 0},
    {"llama3", 0},
    {"llama_linear", 0},
    {"llama_dynamic", 0},
    {"mistral", 0},
    {"qwen2", 0},
    {"qwen2_yarn", 0},
    {"qwen3", 0},
    {"olmo2", 0},
    {"gemma", 1},
    {"gemma2", 1},
    {"gemma3", 1},
    {"phi", 0},
    {"phi3", 0},
    {"phi3_long", 0},
    {"stablelm", 0},
    {"starcoder2", 1},
    {"sinks", 0},
    /* with experts */
    {"mixtral", 0},
    {"olmoe", 0},
    {"qwen2_moe", 0},
    {"qwen3_moe", 0},
    /* encoders */
    {"bert", 2},
    {"minilm", 1},
    {"bge", 1},
    {"distilbert", 2},
    {"roberta", 2},
    {"electra", 2},
    {"electra_generator", 2},
    {"mpnet", 2},
    {"modernbert", 2},
    /* both */
    {"t5", 2},
    {"flan_t5", 1},
    {"mt5", 1},
    {"bart", 0},
    {"marian", 0},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES, LONGEST = 16 };

typedef struct Case {
    TextBench b;
    TensorFile f;
    int ids[LONGEST], segments[LONGEST], n; /* what an encoder reads, else what a decoder does */
    int target[LONGEST], written;           /* of a model of both: what is written so far */
} Case;

static bool reads(const Case *c)
{
    return !seq2seq_has_decoder(&c->b.model.text);
}

static bool has_both(const Case *c)
{
    return c->b.model.text.form == SEQ2SEQ_BOTH;
}

static const char *folder(size_t i)
{
    static char path[256];
    snprintf(path, sizeof path, "tests/data/families/words_%s", CASES[i].name);
    return path;
}

/* What is opened: the folder, or the one file of a model that is one. */
static const char *model_of(size_t i)
{
    static char file[300];
    snprintf(file, sizeof file, "%s/model.bin", folder(i));
    return file_exists(file) ? file : folder(i);
}

static double *recorded(const TensorFile *f, const TensorInfo *t)
{
    Err err = {""};
    double *x = xcalloc(t->cells + 1, sizeof *x);
    assert_true(tensors_read_f64(f, t, x, &err));
    return x;
}

/* Whole numbers of a recording; 0: none there. */
static int numbers(const TensorFile *f, const char *name, int out[LONGEST])
{
    const TensorInfo *t = tensors_find(f, name);
    double *x = t ? recorded(f, t) : NULL;
    assert_true(!t || t->cells <= LONGEST);
    for (size_t k = 0; t && k < t->cells; k++)
        out[k] = (int)x[k];
    free(x);
    return t ? (int)t->cells : 0;
}

static void build_case(Case *c, const float *padding, int length)
{
    const Model *m = &c->b.model;
    const Seq2seqText text = {.word = c->ids, .n = length, .segment = c->segments},
                      target = has_both(c) ? (Seq2seqText){.word = c->target, .n = c->written} : text;
    Seq2seqInput in = {.source = seq2seq_has_encoder(&m->text) ? text : (Seq2seqText){0},
                       .target = reads(c) ? (Seq2seqText){0} : target,
                       .padding = padding};
    graph_init(&c->b.graph);
    seq2seq_build(&c->b.graph, &m->text, &m->weights, &in, &c->b.nodes);
    c->b.run = run_new(&c->b.graph, NULL, NULL);
}

static void open_recording(Case *c, size_t i, const char *name, const float *padding, int length)
{
    Err err = {""};
    char path[300];
    memset(c, 0, sizeof *c);
    snprintf(path, sizeof path, "%s/expected_%s.safetensors", folder(i), name);
    if (!family_load(&c->b.model, model_of(i), NULL, NULL, &err) || !tensors_open(&c->f, path, &err))
        fail_msg("%s: %s", CASES[i].name, err.text);
    c->n = numbers(&c->f, "ids", c->ids);
    assert_int_equal(c->n, length);
    numbers(&c->f, "segments", c->segments);
    c->written = numbers(&c->f, "target", c->target);
    build_case(c, padding, length);
}

static void open_case(Case *c, size_t i, int length)
{
    char name[8];
    snprintf(name, sizeof name, "%d", length);
    open_recording(c, i, name, NULL, length);
}

static void close_case(Case *c)
{
    tensors_close(&c->f);
    text_bench_free(&c->b);
}

/* The largest error of a tensor, relative to its largest value; what a mask hides is −∞ in both, and what
 * is nobody's to say no number in the recording. */
static double error_of(const double *want, const float *got, size_t cells)
{
    double largest = 0, worst = 0;
    for (size_t i = 0; i < cells; i++) {
        if (isnan(want[i]) && !isnan(got[i]))
            continue;
        if (isinf(want[i]) && isinf(got[i]) && (want[i] < 0) == (got[i] < 0))
            continue;
        largest = fmax(largest, fabs(want[i]));
        worst = fmax(worst, fabs((double)got[i] - want[i]));
        if (!isfinite(got[i]))
            return (double)INFINITY;
    }
    return largest > 0 ? worst / largest : worst;
}

static void check_tensor(Case *c, size_t i, const TensorInfo *t)
{
    bool mistake = strncmp(t->name, "wrong.", 6) == 0;
    const char *answer = graph_find(&c->b.graph, "logits") == NO_NODE ? "embedding_unit" : "logits";
    NodeId n = graph_find(&c->b.graph, mistake ? answer : t->name);
    if (n == NO_NODE)
        fail_msg("%s: no node '%s'", CASES[i].name, t->name);
    if (graph_cells(&c->b.graph, n) != t->cells)
        fail_msg("%s: %s has %zu cells", CASES[i].name, t->name, graph_cells(&c->b.graph, n));
    double *want = recorded(&c->f, t), error = error_of(want, run_need(c->b.run, n), t->cells);
    if (!mistake && !(error <= TOLERANCE))
        fail_msg("%s, %d words: %s is off by %.3g of its largest value", CASES[i].name, c->n, t->name, error);
    if (mistake && !(error >= DIFFERENT))
        fail_msg("%s: the mistake '%s' would not be noticed: %.3g", CASES[i].name, t->name, error);
    free(want);
}

static void every_intermediate(void **state)
{
    (void)state;
    static const int LENGTHS[] = {9, 4, 1};
    for (size_t i = 0; i < CASE_COUNT; i++)
        for (size_t l = 0; l < 3; l++) {
            Case c;
            open_case(&c, i, LENGTHS[l]);
            if (c.b.model.assumption_count != CASES[i].assumed)
                fail_msg("%s: %d assumptions, the first '%s'", CASES[i].name, c.b.model.assumption_count,
                         c.b.model.assumption_count ? c.b.model.assumptions[0] : "");
            for (size_t k = 0; k < c.f.count; k++)
                if (c.f.tensors[k].dtype != DT_I64 && strncmp(c.f.tensors[k].name, "modules.", 8) != 0)
                    check_tensor(&c, i, &c.f.tensors[k]);
            close_case(&c);
        }
}

/* Steps inside of a norm, of softmax, of a rotation, …: recorded in one family of each kind at least (INSIDE in
 * words.py), not in all. */
static const char *const STEPS[] = {"*.sum",          "*.mean",
                                    "*.centered",     "*.sq",
                                    "*.sumsq",        "*.var",
                                    "*.var_eps",      "*.rstd",
                                    "*.scaled",       "*.meansq",
                                    "*.meansq_eps",   "*.rrms",
                                    "*.normalized",   "*.gamma_plus",
                                    "*.row_max",      "*.shifted",
                                    "*.exp",          "*.row_sum",
                                    "probs_*",        "*.[qk]_swapped",
                                    "*.[qk]_cos",     "*.[qk]_sin",
                                    "*.router_[!p]*", "*.experts.gate",
                                    "*.experts.p*",   "*.experts.gate_post",
                                    "embedding_s*",   "embedding_norm"};

/* Never recorded: what only the program's own way of computing has. A linear layer before its bias, a table of
 * distances before it is laid out; the larger of two and what is cut off, by comparing; the chosen experts, one after
 * the other. */
static const char *const NEVER[] = {"*_nobias",           "*.distance_pairs",      "*.over_sink",
                                    "*.is_over_sink",     "*.[qkv]_over_clip",     "*.[qkv]_is_above",
                                    "*.[qkv]_cut",        "*.[qkv]_from_low_clip", "*.[qkv]_is_inside",
                                    "*.mlp.best_[0-9]",   "*.mlp.first_[0-9]",     "*.mlp.left_[0-9]",
                                    "*.mlp.chosen_[0-9]", "*.mlp.picked",          "*.mlp.picked_sum"};
enum { STEP_COUNT = sizeof STEPS / sizeof *STEPS, NEVER_COUNT = sizeof NEVER / sizeof *NEVER };

/* Where a name stands in a list; −1: nowhere. */
static int listed(const char *const *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (fnmatch(list[i], name, 0) == 0)
            return i;
    return -1;
}

/* Every computed node of every family is recorded in it, or stands in one of the lists above; and those say no more
 * than is so. */
static void nothing_unrecorded(void **state)
{
    (void)state;
    static const int LENGTHS[] = {9, 4};
    int steps[STEP_COUNT] = {0}, never[NEVER_COUNT] = {0};
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Case c[2];
        for (size_t l = 0; l < 2; l++)
            open_case(&c[l], i, LENGTHS[l]);
        const Graph *g = &c[0].b.graph;
        for (NodeId n = 0; n < g->count; n++) {
            const Node *node = graph_node(g, n);
            const int step = listed(STEPS, STEP_COUNT, node->path), left = listed(NEVER, NEVER_COUNT, node->path);
            if (node->op == OP_LEAF || node->op == OP_VIEW)
                continue;
            const bool recorded_there = tensors_find(&c[0].f, node->path) || tensors_find(&c[1].f, node->path);
            if (!recorded_there && step < 0 && left < 0)
                fail_msg("%s: %s has no recording", CASES[i].name, node->path);
            if (recorded_there && left >= 0)
                fail_msg("%s: %s is recorded, and said to be never", CASES[i].name, node->path);
            if (step >= 0)
                steps[step] += recorded_there;
            if (left >= 0)
                never[left]++;
        }
        for (size_t l = 0; l < 2; l++)
            close_case(&c[l]);
    }
    for (int k = 0; k < STEP_COUNT; k++)
        if (!steps[k])
            fail_msg("%s is recorded in no family", STEPS[k]);
    for (int k = 0; k < NEVER_COUNT; k++)
        if (!never[k])
            fail_msg("%s is no family's", NEVER[k]);
}

/* What a family multiplies its scores by: T5 and GPT-Neo by nothing, Gemma 2 and 3 by a factor of their own. */
static ScoreFactor factor_of(const char *name)
{
    return strstr(name, "t5") || strcmp(name, "gpt_neo") == 0           ? FACTOR_ONE
           : strcmp(name, "gemma2") == 0 || strcmp(name, "gemma3") == 0 ? FACTOR_OTHER
                                                                        : FACTOR_ROOT;
}

/* Every node is called something, those of the analyses too; 1/√d_k only where the model has it. */
static void every_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Model m;
        Graph g;
        const int words[] = {3, 1, 4, 1, 5};
        assert_true(family_load(&m, model_of(i), NULL, NULL, NULL)); /* nobody need ask what is wrong */
        graph_init(&g);
        m.family->build(
            &m, &g,
            &(ModelInput){
                .kind = INPUT_TEXT,
                .text = {[TEXT_SOURCE] = {.word = words, .count = 5}, [TEXT_TARGET] = {.word = words, .count = 5}}});
        for (NodeId n = 0; n < g.count; n++)
            if (!node_text(graph_node(&g, n)->path))
                fail_msg("%s: %s has no name", CASES[i].name, graph_node(&g, n)->path);
        assert_int_equal(node_factor(&g), factor_of(CASES[i].name));
        int roots = 0;
        for (NodeId n = 0; n < g.count; n++)
            roots += strstr(node_words(&g, node_text(graph_node(&g, n)->path)->symbol), "√d_k") != NULL;
        assert_true((roots > 0) == (factor_of(CASES[i].name) == FACTOR_ROOT));
        graph_free(&g);
        model_free(&m);
    }
}

/* A stack of n tokens block by block, each from the graph's own input of it; the largest error. last: what it gives. */
static double second_stack(Case *c, bool decoder, int n, Seq2seqDirectMemory memory, double *last)
{
    const Seq2seqConfig *k = &c->b.model.text;
    const Weights *w = &c->b.model.weights;
    const char *stack = decoder ? "decoder" : "encoder", *norm = decoder && memory.n ? "ln3.out" : "ln2.out";
    size_t cells = (size_t)n * (size_t)k->width;
    double *x = direct_zeros(cells, 1);
    char from[64], to[64];
    snprintf(from, sizeof from, "%s.tokens", stack);
    snprintf(to, sizeof to, "%s.blocks.0.resid_pre", stack);
    seq2seq_direct_embed(k, w, decoder, text_bench_values(&c->b, from), c->segments, n, x);
    double worst = error_of(x, text_bench_values(&c->b, to), cells);
    for (int layer = 0; layer < (decoder ? k->decoder_layers : k->encoder_layers); layer++) {
        snprintf(from, sizeof from, "%s.blocks.%d.resid_pre", stack, layer);
        snprintf(to, sizeof to, "%s.blocks.%d.%s", stack, layer, k->pre_norm || k->after_norm ? "resid_post" : norm);
        seq2seq_direct_block(k, w, decoder, layer, text_bench_values(&c->b, from), n, memory, NULL, x);
        worst = fmax(worst, error_of(x, text_bench_values(&c->b, to), cells));
    }
    if (last)
        seq2seq_direct_stack_out(k, w, decoder, text_bench_values(&c->b, to), n, last);
    free(x);
    return worst;
}

/* The equations without a graph, in double, from the graph's own blocks. */
static void second_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Case c;
        open_case(&c, i, 9);
        const Seq2seqConfig *k = &c.b.model.text;
        const Weights *w = &c.b.model.weights;
        double worst = 0;
        if (has_both(&c))
            worst = second_stack(&c, false, 9, (Seq2seqDirectMemory){NULL, 0}, NULL);
        bool decoder = !reads(&c), both = has_both(&c);
        int n = both ? c.written : 9;
        size_t cells = 9 * (size_t)k->width, logits = 9 * (size_t)(k->target_words + k->source_words);
        double *x = direct_zeros(cells, 1), *out = direct_zeros(logits, 2), *memory = direct_zeros(cells, 1);
        if (both)
            direct_widen(text_bench_values(&c.b, k->final_norm ? "encoder.rms_final.out" : "encoder.blocks.1.ln2.out"),
                         cells, memory);
        worst = fmax(worst, second_stack(&c, decoder, n, (Seq2seqDirectMemory){memory, both ? 9 : 0}, x));
        if (!k->wordless) {
            size_t words = (size_t)n * (size_t)(decoder ? k->target_words : k->source_words);
            seq2seq_direct_answer(k, w, x, n, out, out + logits);
            worst = fmax(worst, error_of(out, text_bench_values(&c.b, "logits"), words));
        }
        if (k->sentence) {
            seq2seq_direct_sentence(k, x, 9, out);
            worst = fmax(worst, error_of(out, text_bench_values(&c.b, "embedding"), (size_t)k->width));
        }
        if (!(worst <= TOLERANCE))
            fail_msg("%s: the second route is off by %.3g", CASES[i].name, worst);
        free(x);
        free(out);
        free(memory);
        close_case(&c);
    }
}

static const float SEEN[] = {1, 1, 1, 1, 0, 0, 0};

/* A text with padding beside the same padded text in the families' programs, whose masks hide it: every intermediate,
 * the rows of padding too where they mean something. A decoder alone has no padding to hide: it never looks ahead. */
static void padded_as_recorded(void **state)
{
    (void)state;
    int families = 0;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Case c;
        char path[300];
        snprintf(path, sizeof path, "%s/expected_padded.safetensors", folder(i));
        if (!file_exists(path))
            continue;
        open_recording(&c, i, "padded", SEEN, 7);
        for (size_t k = 0; k < c.f.count; k++)
            if (c.f.tensors[k].dtype != DT_I64)
                check_tensor(&c, i, &c.f.tensors[k]);
        close_case(&c);
        families++;
    }
    assert_int_equal(families, 7);
}

/* Words behind a mask change nothing: the logits of a padded text are those without, and nothing is without a number,
 * padding's own rows included, even where a window holds nothing else. */
static void padded(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Case c;
        open_case(&c, i, 4);
        const Seq2seqConfig *k = &c.b.model.text;
        if (seq2seq_has_encoder(k) && !k->wordless) {
            double *want = recorded(&c.f, tensors_find(&c.f, "logits"));
            run_free(c.b.run);
            graph_free(&c.b.graph);
            memcpy(c.ids + 4, (const int[]){5, 2, 7}, 3 * sizeof *c.ids);
            build_case(&c, SEEN, 7);
            size_t rows = has_both(&c) ? 5 * (size_t)k->target_words : 4 * (size_t)k->source_words;
            double error = error_of(want, text_bench_values(&c.b, "logits"), rows);
            for (NodeId n = 0; n < c.b.graph.count; n++) {
                const Node *node = graph_node(&c.b.graph, n);
                const float *x = run_need(c.b.run, n);
                for (size_t j = 0; strstr(node->path, "resid_post") && j < graph_cells(&c.b.graph, n); j++)
                    assert_true(isfinite(x[j]));
            }
            if (!(error <= TOLERANCE))
                fail_msg("%s: padding changes the logits by %.3g", CASES[i].name, error);
            free(want);
        }
        close_case(&c);
    }
}

static const char *last_logits(Decode *d, int node, size_t bytes)
{
    NodeId n = d->node[node].nodes.logits;
    return (const char *)(run_need(d->node[node].run, n) + graph_cells(d->node[node].graph, n)) - bytes;
}

/* Written word by word, with and without what is kept of the steps before, and with no more of them than the
 * next needs: the same words and the same bits. */
static void with_cache(void **state)
{
    (void)state;
    static const int LENGTHS[] = {9, 4, 1};
    for (size_t j = 0; j < 3 * CASE_COUNT; j++) {
        const size_t i = j / 3;
        Case c;
        Decode d[3];
        Err err = {""};
        open_case(&c, i, LENGTHS[j % 3]);
        if (reads(&c)) {
            close_case(&c);
            continue;
        }
        DecodeOptions o = decode_options_default();
        int greedy[LONGEST], words = numbers(&c.f, "greedy", greedy);
        o.most = has_both(&c) ? 6 : words;
        for (int k = 0; k < 3; k++) {
            o.cache = k > 0;
            o.forget = k > 1;
            if (!decode_run(&d[k], &c.b.model, c.ids, c.n, &o, NULL, NULL, NULL, &err))
                fail_msg("%s: %s", CASES[i].name, err.text);
        }
        assert_true(words > 0);
        if (words != d[0].length || memcmp(greedy, d[0].word, (size_t)words * sizeof *greedy) != 0)
            fail_msg("%s, behind %d words: writes another text: %d words, the first %d", CASES[i].name, c.n,
                     d[0].length, d[0].word[0]);
        assert_int_equal(d[0].count, d[1].count);
        assert_int_equal(d[0].count, d[2].count);
        for (int k = 0; k < d[0].count; k++) {
            assert_int_equal(d[0].node[k].word, d[1].node[k].word);
            assert_memory_equal(&d[0].node[k].share, &d[1].node[k].share, sizeof(double));
            assert_memory_equal(&d[0].node[k].share, &d[2].node[k].share, sizeof(double));
            assert_int_equal(d[2].node[k].run != NULL,
                             k == d[2].count - 2 || (has_both(&c) && k == 0)); /* the last that was read */
            if (!d[0].node[k].run)
                continue;
            size_t bytes = (size_t)c.b.model.text.target_words * sizeof(float);
            assert_memory_equal(last_logits(&d[0], k, bytes), last_logits(&d[1], k, bytes), bytes);
        }
        for (int k = 0; k < 3; k++)
            decode_free(&d[k]);
        close_case(&c);
    }
}

/* Both versions of llama2.c's file are the same model; one that is a number longer or shorter is none. */
static void both_versions(void **state)
{
    (void)state;
    static const char OLD[] = "tests/data/families/words_llama2c/model.bin",
                      NEW[] = "tests/data/families/words_llama2c/model1.bin", BAD[] = "/tmp/vitrine-hub.bin";
    Model a, b;
    Err err = {""};
    assert_true(family_load(&a, OLD, NULL, NULL, &err) && family_load(&b, NEW, NULL, NULL, &err));
    assert_int_equal(a.block_cells, b.block_cells);
    assert_memory_equal(a.block, b.block, a.block_cells * sizeof(float));
    model_free(&a);
    model_free(&b);
    for (int i = 0; i < 4; i++) {
        Buf file = {0};
        assert_true(file_read(i < 2 ? OLD : NEW, 1 << 20, &file, &err));
        buf_add(&file, "\0\0\0", 4);
        file.len -= i % 2 ? 8 : 0;
        assert_true(file_write(BAD, file.data, file.len, &err));
        assert_false(family_load(&a, BAD, NULL, NULL, &err));
        buf_free(&file);
    }
    unlink(BAD);
}

/* In the oracle of rope_scaling's own paper (MECHANISMS of YaRN): the pairs between which the ramp lies, the factor. */
static void known_numbers(void **state)
{
    (void)state;
    Seq2seqConfig c = {.head_dim = 128,
                       .rope = {.base = 10000, .scaling = ROPE_YARN, .factor = 4, .low = 1, .high = 32}};
    static const struct {
        float trained;
        int low, high;
    } RAMPS[] = {{4096, 20, 46}, {2048, 16, 41}};
    for (size_t i = 0; i < 2; i++) {
        c.rope.trained = RAMPS[i].trained;
        for (int k = 0; k < 64; k++) {
            double plain = pow(10000, -k / 64.0), rate = seq2seq_rope_rate(&c, false, k, 9);
            bool whole = k <= RAMPS[i].low, quarter = k >= RAMPS[i].high;
            assert_true(!whole || fabs(rate / plain - 1) < 1e-12);
            assert_true(!quarter || fabs(rate / plain - 0.25) < 1e-12);
            assert_true(whole || quarter || (rate < plain && rate > plain / 4));
        }
    }
    /* "truncate": false. The ramp from 20.95 to 45.03, where 32 turns and 1 turn over 4,096 tokens fall. */
    c.rope.trained = 4096;
    c.rope.between = true;
    for (int k = 0; k < 64; k++) {
        double plain = pow(10000, -k / 64.0), rate = seq2seq_rope_rate(&c, false, k, 9);
        double ends[2] = {32, 1};
        for (int e = 0; e < 2; e++)
            ends[e] = 64 * log(4096 / (ends[e] * 2 * acos(-1))) / log(10000);
        double done = fmin(1, fmax(0, (k - ends[0]) / (ends[1] - ends[0])));
        assert_true(fabs(rate / plain - (1 - 0.75 * done)) < 1e-7);
    }
    assert_true(fabs((double)seq2seq_yarn_stretch(4) - 1.138629) < 1e-6);
    assert_true(fabs((double)seq2seq_yarn_stretch(16) - 1.277259) < 1e-6);
    for (int h = 0; h < 8; h++)
        assert_true(fabs(seq2seq_alibi_slope(8, h, 8) - pow(2, -(h + 1))) < 1e-15);
    static const double ENDS[] = {0.7071, 0.3536, 0.1768, 0.0884};
    for (int h = 0; h < 4; h++)
        assert_true(fabs(seq2seq_alibi_slope(12, 8 + h, 8) - ENDS[h]) < 1e-4);
}

/* The tokeniser in a model's folder names its words and cuts its texts; one of another model is refused when it makes a
 * number that the model has not. */
static void words_by_the_folders_tokeniser(void **state)
{
    (void)state;
    static const char TOKENIZER[] =
        "{\"added_tokens\":[{\"id\":1,\"content\":\"</s>\",\"special\":true}],\"pre_tokenizer\":{\"type\":"
        "\"Metaspace\",\"prepend_scheme\":\"always\"},\"decoder\":{\"type\":\"Metaspace\"},\"model\":{\"type\":\"BPE\","
        "\"vocab\":{\"</"
        "s>\":1,\"▁\":2,\"t\":3,\"h\":4,\"e\":5,\"c\":6,\"a\":7,\"th\":8,\"the\":9,\"▁the\":10,\"▁c\":11,"
        "\"at\":12,\"▁cat\":13,\"z\":25},\"merges\":[\"t h\",\"th e\",\"▁ the\",\"▁ c\",\"a t\",\"▁c at\"]}}";
    static const int want[] = {10, 13, 1, 2, 8};
    char dir[256];
    Err err = {""};
    Model m;
    Words w;
    Buf text = {0};
    scratch_dir(dir, sizeof dir, "tokeniser");
    copy_file("tests/data/families/words_gpt2/config.json", dir, "config.json");
    copy_file("tests/data/families/words_gpt2/model.safetensors", dir, "model.safetensors");
    put_file(dir, "tokenizer.json", TOKENIZER, strlen(TOKENIZER));
    if (!text_model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    assert_string_equal(m.target.word[13], "▁cat");
    assert_string_equal(m.target.word[0], "w0");
    assert_true(words_parse(&w, &m.target, "the cat</s> th", false, &err));
    assert_int_equal(w.n, 5);
    assert_memory_equal(w.number, want, sizeof want);
    words_text(&m.target, w.number, 2, &text);
    assert_string_equal(buf_str(&text), "the cat");
    words_free(&w);
    assert_true(words_parse(&w, &m.target, " ids:10,13 1, 2 8", false, &err));
    assert_memory_equal(w.number, want, sizeof want);
    words_free(&w);
    assert_false(words_parse(&w, &m.target, "z", false, &err));
    assert_non_null(strstr(err.text, "not of one model"));
    assert_false(words_parse(&w, &m.target, "ids:19", false, &err));
    assert_false(words_parse(&w, &m.target, "ids:", false, &err));
    buf_free(&text);
    model_free(&m);
    put_file(dir, "tokenizer.json", "{}", 2);
    assert_false(text_model_load(&m, dir, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "tokenizer.json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_intermediate),
                                       cmocka_unit_test(nothing_unrecorded),
                                       cmocka_unit_test(every_name),
                                       cmocka_unit_test(second_route),
                                       cmocka_unit_test(padded),
                                       cmocka_unit_test(padded_as_recorded),
                                       cmocka_unit_test(with_cache),
                                       cmocka_unit_test(both_versions),
                                       cmocka_unit_test(known_numbers),
                                       cmocka_unit_test(words_by_the_folders_tokeniser)};
    return cmocka_run_group_tests_name("hub", tests, NULL, NULL);
}
