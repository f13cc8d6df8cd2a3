#include "core/train/text_trainer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/models/lexicon.h"
#include "core/train/text_trainer_parts.h"

/* Normal numbers. Embeddings 1/width and attention 1/width as variance, MLP 2/(inputs + outputs) (Glorot and Bengio
 * 2010); γ 1, biases 0; learned positions 0.02². */
static bool start_weight(void *seed, const Model *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    const Seq2seqConfig *c = &m->text;
    const char *name = strrchr(seq2seq_role_name(r), '.') + 1, *axes = seq2seq_role_axes(r);
    Rng rng = rng_seed(*(const uint64_t *)seed, seq2seq_weight_entry(c, r, layer)); /* a stream per weight */
    bool matrix = axes[1] && strcmp(axes, "he") != 0, mlp = strchr(axes, 'm') != NULL;
    double variance = mlp ? 2.0 / (c->width + c->mlp) : 1.0 / c->width;
    if (axes[0] == 'S' || axes[0] == 'T')
        variance = 0.0004;
    float deviation = (float)dm_sqrt(variance);
    for (size_t i = 0; i < cells; i++)
        data[i] = matrix ? deviation * rng_normal(&rng) : strcmp(name, "gamma") == 0 ? 1.0f : 0.0f;
    seq2seq_weight(c, &m->weights, r, layer)->origin = "trained here";
    return true;
}

static bool list_weight(void *trainer, const Model *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    TextTrainer *t = trainer;
    descent_list(&t->descent, seq2seq_weight_entry(&m->text, r, layer), data, cells, 1, 0);
    return true;
}

TextTrainer *text_trainer_new(const TextRecipe *r, const Seq2seqConfig *c, Pool *pool)
{
    TextTrainer *t = xcalloc(1, sizeof *t);
    REQUIRE(text_recipe_check(r, NULL) && seq2seq_check(c, NULL) && c->form == SEQ2SEQ_BOTH);
    REQUIRE(c->source_words == EN_WORDS && c->target_words == FR_WORDS);
    t->recipe = *r;
    t->pool = pool;
    t->model = (Model){.name = "translator",
                       .layout = "trained here",
                       .text = *c,
                       .source = *lexicon_english(),
                       .target = *lexicon_french(),
                       .trained = true};
    text_model_alloc(&t->model);
    uint64_t seed = r->seed;
    text_model_each(&t->model, start_weight, &seed);
    size_t batch = (size_t)r->batch;
    t->descent = descent_new(t->model.block, t->model.block_cells, seq2seq_weights_count(c), batch / TEXT_MICRO);
    text_model_each(&t->model, list_weight, t);
    t->mean = xcalloc(t->model.block_cells, sizeof *t->mean);
    t->sentence = xcalloc(batch, sizeof *t->sentence);
    t->order = xcalloc(batch, sizeof *t->order);
    t->micro = xcalloc(t->descent.micros, sizeof *t->micro);
    t->benches = pool_threads(pool);
    t->bench = xcalloc((size_t)t->benches, sizeof *t->bench);
    for (int i = 0; i < t->benches; i++)
        t->bench[i].batch = text_batch_new(c);
    history_init_text(&t->history, c);
    text_trainer_look_open(t);
    text_trainer_note(t, NULL);
    return t;
}

void text_trainer_free(TextTrainer *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->benches; i++) {
        for (int l = 0; l < TEXT_LENGTHS; l++) {
            plan_free(t->bench[i].learn[l]);
            plan_free(t->bench[i].read[l]);
        }
        text_batch_free(&t->bench[i].batch);
    }
    for (int l = 0; l < TEXT_LENGTHS; l++) {
        text_loss_free(&t->loss[l]);
        text_loss_free(&t->answer[l]);
    }
    free(t->bench);
    free(t->micro);
    free(t->order);
    free(t->sentence);
    free(t->mean);
    descent_free(&t->descent);
    text_trainer_look_close(t);
    history_free(&t->history);
    model_free(&t->model);
    free(t);
}

/* --- one micro-batch --- */

static void need_graph(TextTrainer *t, TextLoss *table, int length, bool gradients)
{
    TextLoss *l = &table[length / TEXT_LENGTH_STEP];
    if (!l->zeros)
        text_loss_build(l, &t->model.text, &t->model.weights, length, gradients);
}

static void give_inputs(Plan *p, const TextLoss *l, const TextBatch *b)
{
    plan_leaf(p, l->nodes.source, b->source);
    plan_leaf(p, l->nodes.target, b->target);
    plan_leaf(p, l->nodes.padding, b->padding);
}

static Plan *learning_plan(const TextTrainer *t, TextBench *b, int length)
{
    Plan **p = &b->learn[length / TEXT_LENGTH_STEP];
    const TextLoss *l = &t->loss[length / TEXT_LENGTH_STEP];
    if (*p)
        return *p;
    NodeId *wanted = xcalloc(t->descent.weights + 2, sizeof *wanted);
    int n = descent_wanted(&t->descent, l->gradient, wanted);
    wanted[n++] = l->each;
    wanted[n++] = l->nodes.logits;
    *p = plan_new(&l->graph, wanted, n);
    free(wanted);
    give_inputs(*p, l, &b->batch);
    plan_leaf(*p, l->answer, b->batch.answer);
    plan_leaf(*p, l->weight, b->batch.weight);
    return *p;
}

/* Words of the i-th sentence of a batch that come first where they should. */
static size_t right_words(const Seq2seqConfig *c, const float *logits, int length, int i, const Sentence *s)
{
    size_t right = 0;
    for (int w = 0; w <= s->fr_n; w++) {
        const float *row = logits + ((size_t)i * (size_t)length + (size_t)w) * (size_t)c->target_words;
        right += descent_largest(row, c->target_words) == text_batch_answer(s, w);
    }
    return right;
}

/* The longest sentences first: what is done last is short, so that no thread waits long for another. */
static void learn_micro(void *trainer, size_t item, int worker)
{
    TextTrainer *t = trainer;
    size_t micro = t->descent.micros - 1 - item;
    TextBench *b = &t->bench[worker];
    TextMicro *m = &t->micro[micro];
    const TextLoss *l = &t->loss[m->length / TEXT_LENGTH_STEP];
    const Sentence *const *s = t->order + micro * TEXT_MICRO;
    Plan *p = learning_plan(t, b, m->length);
    text_batch_fill(&b->batch, &t->model.text, s, TEXT_MICRO, m->length, t->recipe.smoothing, t->word_weight);
    plan_compute(p);
    descent_keep(&t->descent, micro, p, l->gradient);
    m->loss = 0;
    m->right = 0;
    const float *each = plan_values(p, l->each), *logits = plan_values(p, l->nodes.logits);
    for (int i = 0; i < TEXT_MICRO; i++) {
        for (int w = 0; w <= s[i]->fr_n; w++)
            m->loss += (double)each[i * m->length + w];
        m->right += right_words(&t->model.text, logits, m->length, i, s[i]);
    }
}

/* --- the step --- */

static void draw_sentence(void *trainer, size_t item, int worker)
{
    (void)worker;
    TextTrainer *t = trainer;
    sentence_make(SENTENCES_TRAIN, t->recipe.seed, (uint64_t)t->step * (uint64_t)t->recipe.batch + item,
                  &t->sentence[item]);
}

/* The step's sentences by length, equal ones as they were drawn; returns how many words are to be said. */
static size_t order_sentences(TextTrainer *t)
{
    size_t n = 0, words = 0;
    for (int length = 0; length <= TEXT_LENGTH_MAX; length += TEXT_LENGTH_STEP)
        for (int i = 0; i < t->recipe.batch; i++)
            if (text_batch_length(&t->sentence[i]) == length)
                t->order[n++] = &t->sentence[i];
    REQUIRE(n == (size_t)t->recipe.batch);
    for (size_t i = 0; i < n; i++)
        words += (size_t)t->order[i]->fr_n + 1;
    for (size_t i = 0; i < t->descent.micros; i++) {
        t->micro[i].length = text_batch_length(t->order[(i + 1) * TEXT_MICRO - 1]);
        need_graph(t, t->loss, t->micro[i].length, true);
    }
    return words;
}

/* The weights of some of the last steps, added; after the last step their mean takes the weights' place. */
static void average(TextTrainer *t)
{
    const TextRecipe *r = &t->recipe;
    int left = r->steps - t->step;
    if (r->average < 2 || left % r->average_every || left / r->average_every >= r->average)
        return;
    size_t n = t->model.block_cells;
    int count = (r->steps - 1) / r->average_every + 1; /* a short run has fewer */
    count = count < r->average ? count : r->average;
    for (size_t i = 0; i < n; i++)
        t->mean[i] += t->model.block[i];
    for (size_t i = 0; left == 0 && i < n; i++)
        t->model.block[i] = t->mean[i] / (float)count;
}

TextStep text_trainer_step(TextTrainer *t)
{
    REQUIRE(!text_trainer_done(t));
    pool_run(t->pool, 0, (size_t)t->recipe.batch, draw_sentence, t, CLOCK_NEVER);
    size_t words = order_sentences(t);
    t->word_weight = (float)(1.0 / (double)words);
    pool_run(t->pool, 0, t->descent.micros, learn_micro, t, CLOCK_NEVER);
    const TextRecipe *r = &t->recipe;
    TextStep s = {.step = t->step + 1,
                  .rate = text_recipe_rate(r, &t->model.text, t->step),
                  .gradient_norm = descent_sum(&t->descent, t->pool)};
    for (size_t i = 0; i < t->descent.micros; i++) {
        s.loss += t->micro[i].loss;
        s.words += (double)t->micro[i].right;
    }
    s.loss /= (double)words;
    s.words /= (double)words;
    const AdamW a = {.rate = s.rate, .beta1 = r->beta1, .beta2 = r->beta2, .epsilon = r->epsilon, .step = s.step};
    descent_step(&t->descent, t->pool, &a, 1.0f);
    t->step++;
    average(t);
    text_trainer_note(t, &s);
    return s;
}

bool text_trainer_done(const TextTrainer *t)
{
    return t->step >= t->recipe.steps;
}

int text_trainer_steps_done(const TextTrainer *t)
{
    return t->step;
}

const Model *text_trainer_model(const TextTrainer *t)
{
    return &t->model;
}

const History *text_trainer_history(const TextTrainer *t)
{
    return &t->history;
}

/* --- examination --- */

typedef struct Exact {
    TextTrainer *t;
    SentenceSet set;
    uint64_t first;
    size_t count;
    size_t *right; /* [items] */
} Exact;

static void translate_some(void *exam, size_t item, int worker)
{
    Exact *e = exam;
    TextTrainer *t = e->t;
    TextBench *b = &t->bench[worker];
    Sentence s[TEXT_MICRO];
    const Sentence *list[TEXT_MICRO];
    size_t at = item * TEXT_MICRO, n = e->count - at < TEXT_MICRO ? e->count - at : TEXT_MICRO;
    for (size_t i = 0; i < n; i++) {
        sentence_make(e->set, t->recipe.seed, e->first + at + i, &s[i]);
        list[i] = &s[i];
    }
    const TextLoss *l = &t->answer[TEXT_LENGTHS - 1]; /* one length for all: an examination is short */
    Plan **p = &b->read[TEXT_LENGTHS - 1];
    if (!*p) {
        *p = plan_new(&l->graph, &l->nodes.logits, 1);
        give_inputs(*p, l, &b->batch);
    }
    text_batch_fill(&b->batch, &t->model.text, list, (int)n, TEXT_LENGTH_MAX, 0, 0);
    plan_compute(*p);
    for (size_t i = 0; i < n; i++)
        e->right[item] += right_words(&t->model.text, plan_values(*p, l->nodes.logits), TEXT_LENGTH_MAX, (int)i,
                                      &s[i]) == (size_t)s[i].fr_n + 1;
}

size_t text_trainer_exact(TextTrainer *t, SentenceSet set, uint64_t first, size_t count)
{
    size_t items = (count + TEXT_MICRO - 1) / TEXT_MICRO, right = 0;
    Exact e = {t, set, first, count, xcalloc(items + 1, sizeof(size_t))};
    need_graph(t, t->answer, TEXT_LENGTH_MAX, false);
    pool_run(t->pool, 0, items, translate_some, &e, CLOCK_NEVER);
    for (size_t i = 0; i < items; i++)
        right += e.right[i];
    free(e.right);
    return right;
}
