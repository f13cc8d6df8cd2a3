#include "core/eval/word_places.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/eval/dataset.h"
#include "core/graph/anatomy.h"

/* What is kept of a head, or of an attention whose weights are all alike, in a sentence: distance, then the shares. */
enum { KEPT = 1 + WORD_PLACES };

struct WordPlaces {
    BatchRun *reader;
    Pool *pool;
    int encoder_layers;
    Dataset *dataset;
    size_t done;
    double *kept; /* [sentences, attentions, heads + 1, KEPT]: the last one as if all were alike */
    WordPlacesResult result;
};

WordPlaces *word_places_new(const Model *model, const Graph *graph, size_t count, Pool *pool, Err *err)
{
    const Seq2seqConfig *c = &model->text;
    int n = anatomy_attentions(graph);
    const char **watch = xcalloc((size_t)n + 1, sizeof *watch);
    for (int a = 0; a < n; a++)
        watch[a] = site_path(graph, anatomy_attention(graph, a), SITE_PATTERN);
    const BatchRunSetup setup = {.model = model, .watch = watch, .watch_count = n, .threads = pool_threads(pool)};
    BatchRun *reader = batch_run_new(&setup, err);
    free(watch);
    if (!reader)
        return NULL;
    WordPlaces *w = xcalloc(1, sizeof *w);
    *w = (WordPlaces){.reader = reader,
                      .pool = pool,
                      .encoder_layers = c->encoder_layers,
                      .dataset = dataset_sentences(0, count)};
    w->result = (WordPlacesResult){.sentences = count, .attentions = n, .heads = c->heads};
    size_t cells = size_mul((size_t)n, (size_t)c->heads);
    w->kept = xcalloc(size_mul(size_mul(count + 1, (size_t)n * ((size_t)c->heads + 1)), KEPT), sizeof *w->kept);
    w->result.distance = xcalloc(cells, sizeof *w->result.distance);
    w->result.share = xcalloc(cells, sizeof *w->result.share);
    w->result.uniform = xcalloc((size_t)n, sizeof *w->result.uniform);
    w->result.even = xcalloc((size_t)n, sizeof *w->result.even);
    return w;
}

void word_places_free(WordPlaces *w)
{
    if (!w)
        return;
    batch_run_free(w->reader);
    dataset_free(w->dataset);
    free(w->kept);
    free(w->result.distance);
    free(w->result.share);
    free(w->result.uniform);
    free(w->result.even);
    free(w);
}

static double *kept_of(const WordPlaces *w, size_t sentence, int attention, int head)
{
    size_t heads = (size_t)w->result.heads + 1;
    return w->kept + ((sentence * (size_t)w->result.attentions + (size_t)attention) * heads + (size_t)head) * KEPT;
}

static WordPlace place_of(int query, int key, int keys, bool source)
{
    int mark = source ? keys - 1 : 0;
    return key == query       ? WORD_ITSELF
           : key == query - 1 ? WORD_BEFORE
           : key == query + 1 ? WORD_AFTER
           : key == mark      ? WORD_MARK
                              : WORD_FARTHER;
}

static void see(void *of, size_t i, const SentenceRead *read)
{
    WordPlaces *w = of;
    const Sentence *s = read->s;
    size_t length = (size_t)read->length;
    for (int a = 0; a < w->result.attentions; a++) {
        Seq2seqTexts texts = seq2seq_attention_texts(w->encoder_layers, a);
        bool source = !texts.target_keys;
        int queries = texts.target_queries ? s->fr_n + 1 : s->en_n + 1, keys = source ? s->en_n + 1 : s->fr_n + 1;
        const float *pattern = sentence_watched(read, a);
        for (int t = 0; t < queries; t++) {
            int visible = source ? keys : t + 1; /* the decoder looks at nothing that comes later */
            for (int u = 0; u < visible; u++) {
                WordPlace place = place_of(t, u, keys, source);
                for (int h = 0; h <= w->result.heads; h++) {
                    size_t cell = ((size_t)h * length + (size_t)t) * length + (size_t)u;
                    double weight = h < w->result.heads ? (double)pattern[cell] : 1.0 / visible;
                    double *kept = kept_of(w, i, a, h);
                    kept[0] += weight * abs(t - u) / queries;
                    kept[1 + place] += weight / queries;
                }
            }
        }
    }
}

/* Cell k of what is kept of a head. */
static MeanOver over_sentences(const WordPlaces *w, int attention, int head, int k)
{
    size_t step = (size_t)w->result.attentions * ((size_t)w->result.heads + 1) * KEPT;
    return mean_over(kept_of(w, 0, attention, head) + k, w->result.sentences, step);
}

static void finish(WordPlaces *w)
{
    WordPlacesResult *r = &w->result;
    for (int a = 0; a < r->attentions; a++)
        for (int h = 0; h <= r->heads; h++)
            for (int k = 0; k < KEPT; k++) {
                MeanOver m = over_sentences(w, a, h, k);
                size_t cell = (size_t)a * (size_t)r->heads + (size_t)h;
                if (h < r->heads && k == 0)
                    r->distance[cell] = m;
                else if (h < r->heads)
                    r->share[cell][k - 1] = m;
                else if (k == 0)
                    r->uniform[a] = m.mean;
                else
                    r->even[a][k - 1] = m.mean;
            }
}

bool word_places_step(WordPlaces *w, int64_t deadline_ns)
{
    size_t n = w->result.sentences;
    if (w->done == n)
        return true;
    w->done = batch_run_read(w->reader, w->pool, dataset_sentence(w->dataset, 0), w->done, n, see, w, deadline_ns);
    if (w->done == n)
        finish(w);
    return w->done == n;
}

size_t word_places_done(const WordPlaces *w)
{
    return w->done;
}

const WordPlacesResult *word_places_result(const WordPlaces *w)
{
    return w->result.sentences && w->done == w->result.sentences ? &w->result : NULL;
}

WordPlace word_places_most(const WordPlacesResult *r, int attention, int head)
{
    WordPlace best = WORD_PLACES;
    double most = 0.02;
    for (int k = 0; k < WORD_PLACES; k++) {
        MeanOver m = r->share[attention * r->heads + head][k];
        double beyond = m.mean - r->even[attention][k];
        if (beyond >= most && beyond > m.margin) {
            most = beyond;
            best = (WordPlace)k;
        }
    }
    return best;
}
