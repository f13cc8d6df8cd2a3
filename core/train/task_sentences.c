/* Learning to translate: a step's sentences are put in order of length and cut into micro-batches of one length
 * (Vaswani et al. 2017, sections 5.3 and 5.4, at a small size). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/graph/grad.h"
#include "core/models/family.h"
#include "core/models/lexicon.h"
#include "core/train/texts.h"
#include "core/train/trainer.h"

enum { LONGEST = TEXT_LENGTH_MAX / TEXT_LENGTH_STEP, LOOK_WORDS = SENTENCE_WORDS + 1 };
_Static_assert((int)LONGEST < (int)TASK_VARIANTS, "a graph for every length");
enum { SOURCE, TARGET, PADDING, ANSWER, WEIGHT }; /* inputs */

typedef struct Own {
    TextLook look;                  /* of the sentence that the history looks at */
    ParallelSentence *sentence;     /* [batch] */
    const ParallelSentence **order; /* [batch]: by length */
    float word_weight;              /* of the step in progress */
} Own;

/* A thread's batch: its arrays are the bench's inputs. */
typedef struct Batch {
    TextBatch batch;
    const ParallelSentence *s[TEXT_MICRO];
    ParallelSentence exam[TEXT_MICRO];
} Batch;

/* --- what may be said --- */

#define AT(field) offsetof(Recipe, field)
static const Field RECIPE[] = {
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"steps", FIELD_WHOLE, AT(steps), 1, 10000000, NULL},
    {"batch", FIELD_WHOLE, AT(batch), TEXT_MICRO, 65536, NULL},
    {"rate", FIELD_REAL, AT(rate), 0, 1000, NULL},
    {"warmup", FIELD_WHOLE, AT(warmup), 1, 10000000, NULL},
    {"cooling", FIELD_REAL, AT(cooling), 0, 1, NULL},
    {"beta1", FIELD_REAL, AT(beta1), 0, 0.999999, NULL},
    {"beta2", FIELD_REAL, AT(beta2), 0, 0.999999, NULL},
    {"epsilon", FIELD_REAL, AT(epsilon), 1e-30, 1, NULL},
    {"smoothing", FIELD_REAL, AT(smoothing), 0, 0.99, NULL},
    {"average", FIELD_WHOLE, AT(average), 0, 1000, NULL},
    {"average_every", FIELD_WHOLE, AT(average_every), 1, 10000000, NULL},
    {"log_every", FIELD_WHOLE, AT(log_every), 1, 10000000, NULL},
    {"check", FIELD_WHOLE, AT(check), 0, 1000000, NULL},
};

#define OF(field) offsetof(Seq2seqConfig, field)
static const Field MODEL[] = {
    {"width", FIELD_WHOLE, OF(width), 1, 65536, NULL},
    {"heads", FIELD_WHOLE, OF(heads), 1, 65536, NULL},
    {"mlp", FIELD_WHOLE, OF(mlp), 1, 65536, NULL},
    {"encoder_layers", FIELD_WHOLE, OF(encoder_layers), 1, 65536, NULL},
    {"decoder_layers", FIELD_WHOLE, OF(decoder_layers), 1, 65536, NULL},
    {"pre_norm", FIELD_FLAG, OF(pre_norm), 0, 0, NULL},
    {"final_norm", FIELD_FLAG, OF(final_norm), 0, 0, NULL},
    {"learned_positions", FIELD_FLAG, OF(learned_positions), 0, 0, NULL},
    {"tied", FIELD_FLAG, OF(tied), 0, 0, NULL},
    {"scale", FIELD_SINGLE, OF(scale), -1000, 1000, NULL},
};

static Recipe recipe(int steps)
{
    Recipe r = {.kind = &SENTENCES_TASK,
                .seed = 1,
                .steps = 2000,
                .batch = 64,
                .schedule = SCHEDULE_WIDTH,
                .rate = 0.5,
                .warmup = 800,
                .cooling = 0.3,
                .beta1 = 0.9,
                .beta2 = 0.98,
                .epsilon = 1e-9,
                .smoothing = 0.1,
                .average_every = 20,
                .log_every = 20,
                .check = 200};
    if (steps > 0) {
        r.warmup = r.warmup * steps / r.steps;
        r.warmup = r.warmup < 1 ? 1 : r.warmup;
        r.steps = steps;
    }
    return r;
}

static void bundled(void *config)
{
    *(Seq2seqConfig *)config = text_model_bundled_config();
}

static bool settle(void *config, bool scaled, Err *err)
{
    Seq2seqConfig *c = config;
    c->embed_scale = (float)dm_sqrt((double)c->width);
    return texts_settle(c, scaled, err);
}

static bool find(const char *folder, const Recipe *r, void *config, void **examples,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    (void)r;
    (void)config;
    (void)examples;
    (void)progress;
    (void)context;
    return !folder || err_set(err, "a translator learns from sentences: leave out --pictures");
}

/* --- the model --- */

/* The sentence that the pronoun is about, and its translation behind the start. */
static void open_look(const Trainer *t, Own *o)
{
    const Model *m = &t->model;
    int source[LOOK_WORDS], target[LOOK_WORDS];
    ParallelSentence pair[2];
    sentence_pair(0, pair);
    const ParallelSentence *s = &pair[0];
    memcpy(source, s->en, (size_t)s->en_n * sizeof *source);
    source[s->en_n] = m->source.end;
    target[0] = m->target.start;
    memcpy(target + 1, s->fr, (size_t)s->fr_n * sizeof *target);
    const Seq2seqInput in = {.source = {source, s->en_n + 1, NULL, NULL}, .target = {target, s->fr_n + 1, NULL, NULL}};
    text_look_open(&o->look, m, &t->history, &in);
}

static void open(Trainer *t)
{
    const Seq2seqConfig *c = t->config;
    size_t batch = (size_t)t->recipe.batch;
    Own *o = t->own = xcalloc(1, sizeof *o);
    REQUIRE(seq2seq_check(c, NULL) && c->source_words == EN_WORDS && c->target_words == FR_WORDS);
    t->model = (Model){.name = "translator", .source = *lexicon_english(), .target = *lexicon_french()};
    texts_open(t, START_OF_PAPER);
    o->sentence = xcalloc(batch, sizeof *o->sentence);
    o->order = xcalloc(batch, sizeof *o->order);
    open_look(t, o);
}

static void close(Trainer *t)
{
    Own *o = t->own;
    text_look_close(&o->look);
    free(o->order);
    free(o->sentence);
    free(o);
}

/* loss = Σ_b,t weight[b,t] · cross entropy of the word at b,t with answer[b,t,v] */
static void build(const Trainer *t, int variant, TaskGraph *l)
{
    const int length = variant * TEXT_LENGTH_STEP;
    Graph *g = &l->graph;
    Seq2seqNodes nodes;
    l->input[ANSWER] = texts_build(t, length, length, l, &nodes);
    l->input[SOURCE] = nodes.source;
    l->input[TARGET] = nodes.target;
    l->input[PADDING] = nodes.padding;
    Dims d = graph_node(g, l->logits)->dims, places = DIMS(d.axis[0], d.axis[1]);
    l->input[WEIGHT] = graph_leaf(g, "word_weight", places, (Leaf){LEAF_INPUT, l->zeros, "what each word counts"});
    l->each = grad_cross_entropy(g, l->logits, l->input[ANSWER], d.axis[2]);
    graph_scope(g, "%s", "");
    NodeId weighted = graph_zip(g, "loss_weighted", OP_MUL, l->each, l->input[WEIGHT]);
    l->loss = graph_reduce(g, "loss_all", OP_SUM, weighted, DIMS_SCALAR);
    l->gradient = descent_gradients(g, l->loss, t->model.weights.at, seq2seq_weights_count(&t->model.text));
}

/* --- micro-batches --- */

static void open_bench(const Trainer *t, TaskBench *b)
{
    Batch *batch = b->own = xcalloc(1, sizeof *batch);
    const TextBatch *at = &batch->batch;
    batch->batch = text_batch_new(&t->model.text);
    float *const input[] = {[SOURCE] = at->source,
                            [TARGET] = at->target,
                            [PADDING] = at->padding,
                            [ANSWER] = at->answer,
                            [WEIGHT] = at->weight};
    memcpy(b->input, input, sizeof input);
}

static void draw_sentence(void *trainer, size_t item, int worker)
{
    (void)worker;
    Trainer *t = trainer;
    Own *o = t->own;
    sentence_make(SENTENCES_TRAIN, t->recipe.seed, (uint64_t)t->step * (uint64_t)t->recipe.batch + item,
                  &o->sentence[item]);
}

/* The step's sentences by length, equal ones as they were drawn. */
static void draw(Trainer *t)
{
    Own *o = t->own;
    size_t batch = (size_t)t->recipe.batch, n = 0, words = 0;
    pool_run(t->pool, 0, batch, draw_sentence, t, CLOCK_NEVER);
    for (int length = 0; length <= TEXT_LENGTH_MAX; length += TEXT_LENGTH_STEP)
        for (size_t i = 0; i < batch; i++)
            if (text_batch_length(&o->sentence[i]) == length)
                o->order[n++] = &o->sentence[i];
    REQUIRE(n == batch);
    for (size_t i = 0; i < n; i++)
        words += (size_t)o->order[i]->fr_n + 1;
    for (size_t i = 0; i < t->descent.micros; i++)
        t->variant[i] = text_batch_length(o->order[(i + 1) * TEXT_MICRO - 1]) / TEXT_LENGTH_STEP;
    t->counted = (double)words;
    t->hidden = 0;
    o->word_weight = (float)(1.0 / (double)words);
}

static void load(const Trainer *t, TaskBench *b, size_t micro)
{
    const Own *o = t->own;
    Batch *batch = b->own;
    memcpy(batch->s, o->order + micro * TEXT_MICRO, sizeof batch->s);
    text_batch_fill(&batch->batch, &t->model.text, batch->s, TEXT_MICRO, t->variant[micro] * TEXT_LENGTH_STEP,
                    t->recipe.smoothing, o->word_weight);
}

/* One length for all: an examination is short. */
static void load_exam(const Trainer *t, TaskBench *b, TaskSet set, uint64_t first, size_t n)
{
    Batch *batch = b->own;
    first += set == TASK_CHECK ? 1u << 30 : 0;
    for (size_t i = 0; i < n; i++) {
        sentence_make(SENTENCES_COMBINATIONS, t->recipe.seed, first + i, &batch->exam[i]);
        batch->s[i] = &batch->exam[i];
    }
    text_batch_fill(&batch->batch, &t->model.text, batch->s, (int)n, TEXT_LENGTH_MAX, 0, 0);
}

static size_t answers(const TaskBench *b, int i)
{
    return (size_t)((const Batch *)b->own)->s[i]->fr_n + 1;
}

/* Words of a sentence that come first where they should. */
static size_t right_answers(const Trainer *t, const TaskBench *b, int i, const float *logits)
{
    int words = t->model.text.target_words;
    const ParallelSentence *s = ((const Batch *)b->own)->s[i];
    size_t right = 0;
    for (int w = 0; w <= s->fr_n; w++)
        right += descent_largest(logits + (size_t)w * (size_t)words, words) == text_batch_answer(s, w);
    return right;
}

/* Of the first pair of sentences, with the words that begin and end them. */
static void record(const Model *m, History *out)
{
    ParallelSentence pair[2];
    sentence_pair(0, pair);
    history_init_text(out, &m->text, pair[0].en_n + 1, pair[0].fr_n + 1);
}

const TaskKind SENTENCES_TASK = {
    .name = "text",
    .examples = "sentences",
    .thing = "translator",
    .right = "words right",
    .does = "translates without a fault",
    .held_out = "sentences of unseen combinations",
    .well = "sentences of unseen combinations are translated without a fault",
    .history = "history-translator.safetensors",
    .film_of_patterns = true,
    .family = &FAMILY_TEXT,
    .micro = TEXT_MICRO,
    .recipe_fields = {RECIPE, sizeof RECIPE / sizeof *RECIPE, true},
    .model_fields = {MODEL, sizeof MODEL / sizeof *MODEL, true},
    .recipe = recipe,
    .config_bytes = sizeof(Seq2seqConfig),
    .bundled = bundled,
    .settle = settle,
    .params = texts_params,
    .find = find,
    .open = open,
    .close = close,
    .build = build,
    .bench = open_bench,
    .draw = draw,
    .load = load,
    .load_exam = load_exam,
    .exam_variant = LONGEST,
    .answers = answers,
    .right_answers = right_answers,
    .look = text_look,
    .record = record,
    .way = MODEL_READS | MODEL_WRITES,
};
