#include "core/train/texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/models/lexicon.h"

TextBatch text_batch_new(const Seq2seqConfig *c)
{
    size_t places = (size_t)TEXT_MICRO * TEXT_LENGTH_MAX;
    return (TextBatch){.source = xfloats(size_mul(places, (size_t)c->source_words)),
                       .target = xfloats(size_mul(places, (size_t)c->target_words)),
                       .answer = xfloats(size_mul(places, (size_t)c->target_words)),
                       .padding = xfloats(places),
                       .weight = xfloats(places)};
}

void text_batch_free(TextBatch *b)
{
    free(b->source);
    free(b->target);
    free(b->answer);
    free(b->padding);
    free(b->weight);
    *b = (TextBatch){0};
}

int text_batch_length(const ParallelSentence *s)
{
    int n = (s->en_n > s->fr_n ? s->en_n : s->fr_n) + 1;
    return (n + TEXT_LENGTH_STEP - 1) / TEXT_LENGTH_STEP * TEXT_LENGTH_STEP;
}

int text_batch_answer(const ParallelSentence *s, int t)
{
    return t < s->fr_n ? s->fr[t] : t == s->fr_n ? FR_END : -1;
}

static void fill_one(TextBatch *b, const Seq2seqConfig *c, const ParallelSentence *s, int i, double smoothing,
                     float weight)
{
    size_t first = (size_t)i * (size_t)b->length, words = (size_t)c->target_words;
    float rest = (float)(smoothing / c->target_words), most = (float)(1 - smoothing + smoothing / c->target_words);
    for (int t = 0; t <= s->en_n; t++) {
        size_t at = first + (size_t)t;
        b->source[at * (size_t)c->source_words + (size_t)(t < s->en_n ? s->en[t] : EN_END)] = 1;
        b->padding[at] = 1;
    }
    for (int t = 0; t <= s->fr_n; t++) {
        size_t at = first + (size_t)t;
        b->target[at * words + (size_t)(t ? s->fr[t - 1] : FR_START)] = 1;
        for (size_t v = 0; v < words; v++)
            b->answer[at * words + v] = rest;
        b->answer[at * words + (size_t)text_batch_answer(s, t)] = most;
        b->weight[at] = weight;
    }
}

void text_batch_fill(TextBatch *b, const Seq2seqConfig *c, const ParallelSentence *const *s, int n, int length,
                     double smoothing, float weight)
{
    REQUIRE(n <= TEXT_MICRO && length <= TEXT_LENGTH_MAX);
    size_t places = (size_t)TEXT_MICRO * (size_t)length;
    b->length = length;
    memset(b->source, 0, places * (size_t)c->source_words * sizeof *b->source);
    memset(b->target, 0, places * (size_t)c->target_words * sizeof *b->target);
    memset(b->answer, 0, places * (size_t)c->target_words * sizeof *b->answer);
    memset(b->padding, 0, places * sizeof *b->padding);
    memset(b->weight, 0, places * sizeof *b->weight);
    for (int i = 0; i < TEXT_MICRO; i++) {
        if (i < n)
            fill_one(b, c, s[i], i, smoothing, weight);
        else
            b->padding[(size_t)i * (size_t)length] = 1; /* an empty place looks at its first token, not at nothing */
    }
}

/* --- looking at one text while it learns --- */

void text_look_open(TextLook *l, const Model *m, const History *h, const Seq2seqInput *in)
{
    int lines = history_lines(h);
    graph_init(&l->graph);
    seq2seq_build(&l->graph, &m->text, &m->weights, in, NULL);
    REQUIRE(anatomy_attentions(&l->graph) == lines);
    l->pattern = xcalloc((size_t)lines, sizeof *l->pattern);
    for (int i = 0; i < lines; i++)
        l->pattern[i] = site_node(&l->graph, anatomy_attention(&l->graph, i), SITE_PATTERN);
    l->plan = plan_new(&l->graph, l->pattern, lines);
}

void text_look_close(TextLook *l)
{
    plan_free(l->plan);
    graph_free(&l->graph);
    free(l->pattern);
}

void text_look(Trainer *t, float *lines, Snapshot *s)
{
    TextLook *l = t->own;
    const History *of = &t->history;
    const Graph *g = &l->graph;
    int heads = of->text.heads;
    size_t at = 0;
    plan_compute(l->plan);
    for (int a = 0; a < history_lines(of); a++) {
        Dims d = graph_node(g, l->pattern[a])->dims; /* [h, queries, keys] */
        int queries = g->axes[d.axis[1]].n, keys = g->axes[d.axis[2]].n;
        size_t head = (size_t)queries * (size_t)keys, cells = (size_t)heads * head;
        const float *pattern = plan_values(l->plan, l->pattern[a]);
        bool causal = history_texts(&of->text, a).target_keys;
        double sum = 0;
        for (int h = 0; h < heads; h++) {
            double entropy = history_mean_entropy(pattern + (size_t)h * head, (size_t)queries, keys, causal);
            sum += entropy;
            if (s)
                s->entropy[a * heads + h] = (float)entropy;
        }
        if (lines)
            lines[a] = (float)(sum / heads);
        if (s)
            memcpy(s->rows + at, pattern, cells * sizeof *pattern);
        at += cells;
    }
}

/* --- first weights --- */

static bool is_vector(const WeightPlace *w)
{
    return w->rank == 1 || strcmp(w->axes, "he") == 0 || strcmp(w->axes, "ge") == 0;
}

static bool is_table(const WeightPlace *w)
{
    return w->role == SEQ2SEQ_TARGET_EMBED || w->role == SEQ2SEQ_SOURCE_EMBED || w->axes[0] == 'S' || w->axes[0] == 'T';
}

/* A matrix, no bias, γ or table of rows. */
static bool decays(const WeightPlace *w)
{
    return !is_vector(w) && !is_table(w);
}

/* Outputs of a matrix of a block of a decoder alone, which Muon learns; 0 of any other weight. */
static size_t rows_of(const WeightPlace *w)
{
    switch ((Seq2seqRole)w->role) {
    case SEQ2SEQ_DEC_W_Q:
    case SEQ2SEQ_DEC_W_K:
    case SEQ2SEQ_DEC_W_V: return w->cells / w->shape[w->rank - 1];
    case SEQ2SEQ_DEC_W_O:
    case SEQ2SEQ_DEC_W_UP:
    case SEQ2SEQ_DEC_W_DOWN: return w->shape[0];
    default: return 0;
    }
}

static double variance_of(const Seq2seqConfig *c, const WeightPlace *w, TextStart start)
{
    const bool gpt2 = start == START_OF_GPT2, places = w->axes[0] == 'S' || w->axes[0] == 'T',
               adds = *w->axes == 'd'; /* what it gives is as wide as the residual stream */
    double variance = strchr(w->axes, 'm') ? 2.0 / (c->width + c->mlp) : 1.0 / c->width;
    if (places || (gpt2 && is_table(w)))
        return 0.0004;
    return gpt2 && adds ? variance / (2 * c->decoder_layers) : variance;
}

static void start_weight(const Seq2seqConfig *c, const WeightPlace *w, TextStart start, uint64_t seed)
{
    const char *name = strrchr(seq2seq_role_name((Seq2seqRole)w->role), '.') + 1;
    Rng rng = rng_seed(seed, w->stream); /* a stream per weight */
    bool vector = is_vector(w);
    float deviation = (float)dm_sqrt(variance_of(c, w, start));
    for (size_t i = 0; i < w->cells; i++)
        w->data[i] = !vector ? deviation * rng_normal(&rng) : strcmp(name, "gamma") == 0 ? 1.0f : 0.0f;
    w->at->origin = "trained here";
}

/* --- what both ways have in common --- */

bool texts_settle(Seq2seqConfig *c, bool scaled, Err *err)
{
    if (c->width % c->heads)
        return err_set(err, "a width of %d can't be split into %d heads", c->width, c->heads);
    c->head_dim = c->width / c->heads;
    if (!scaled)
        c->scale = (float)(1 / dm_sqrt((double)c->head_dim));
    return seq2seq_check(c, err);
}

size_t texts_params(const void *config)
{
    return seq2seq_params(config);
}

void texts_open(Trainer *t, TextStart start)
{
    const Seq2seqConfig *c = t->config;
    t->model.text = *c;
    t->model.layout = "trained here";
    t->model.trained = true;
    model_alloc(&t->model, t->recipe.kind->family);
    t->descent = descent_new(t->model.block, t->model.block_cells, seq2seq_weights_count(c),
                             (size_t)t->recipe.batch / TEXT_MICRO);
    for (WeightPlace w = {0}; model_weight(&t->model, &w);) {
        start_weight(c, &w, start, t->recipe.seed);
        descent_list(&t->descent, w.entry, w.data, w.cells, 1, decays(&w) ? t->recipe.decay : 0);
        descent_matrix(&t->descent, rows_of(&w));
    }
    t->width = c->width;
    t->recipe.kind->record(&t->model, &t->history);
}

NodeId texts_build(const Trainer *t, int source, int target, TaskGraph *l, Seq2seqNodes *nodes)
{
    const Seq2seqConfig *c = &t->model.text;
    Graph *g = &l->graph;
    Seq2seqBatch size = {TEXT_MICRO, source, target, NULL};
    *l = (TaskGraph){.zeros = xcalloc(seq2seq_batch_zeros(c, size), sizeof(float)), .guess_error = NO_NODE};
    for (int i = 0; i < TASK_INPUTS; i++)
        l->input[i] = NO_NODE;
    size.zeros = l->zeros;
    graph_init(g);
    seq2seq_build_batch(g, c, &t->model.weights, size, nodes);
    graph_scope(g, "%s", "");
    l->logits = nodes->logits;
    return graph_leaf(g, "target", graph_node(g, l->logits)->dims,
                      (Leaf){LEAF_INPUT, l->zeros, "the words that are right"});
}
