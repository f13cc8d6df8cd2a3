#include "core/eval/head_kinds.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/eval/dataset.h"
#include "core/graph/anatomy.h"

/* What is watched of every block, and what is kept of every head of a picture: distance, then the shares. */
enum { OF_BLOCK = 2, KEPT = 1 + HEAD_PLACES };

struct HeadPlaces {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    VitConfig vit;
    size_t done;
    double *kept;   /* [pictures, layers, heads, KEPT] */
    uint8_t *place; /* [patches, tokens] a HeadPlace */
    HeadPlacesResult result;
};

static HeadPlace place_of(const VitConfig *c, int query, int token)
{
    int across = c->image_w / c->patch_w, patch = token - vit_prefix(c);
    if (patch < 0)
        return PLACE_PREFIX;
    int dy = abs(patch / across - query / across), dx = abs(patch % across - query % across);
    return !dy && !dx           ? PLACE_ITSELF
           : dy <= 1 && dx <= 1 ? PLACE_NEIGHBOURS
           : !dy                ? PLACE_ROW
           : !dx                ? PLACE_COLUMN
                                : PLACE_FARTHER;
}

static void lay_out(HeadPlaces *h)
{
    int patches = vit_patches(&h->vit), tokens = vit_tokens(&h->vit);
    h->place = xcalloc((size_t)patches, (size_t)tokens);
    for (int p = 0; p < patches; p++)
        for (int u = 0; u < tokens; u++) {
            HeadPlace place = place_of(&h->vit, p, u);
            h->place[p * tokens + u] = (uint8_t)place;
            h->result.even[place] += 1.0 / ((double)patches * tokens);
        }
}

HeadPlaces *head_places_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
{
    Arena arena = {0};
    const char **watch = arena_alloc(&arena, size_mul((size_t)anatomy_count(graph) * OF_BLOCK + 1, sizeof *watch));
    int n = 0;
    bool there = true;
    for (int a = NO_PART; (a = anatomy_next(graph, a, PART_ATTENTION)) != NO_PART; n += OF_BLOCK) {
        there = there && site_node(graph, a, SITE_DISTANCE) != NO_NODE;
        watch[n] = site_path(graph, a, SITE_DISTANCE);
        watch[n + 1] = site_path(graph, a, SITE_PATTERN);
    }
    there = there && n && site_node_any(graph, SITE_DISTANCE_UNIFORM) != NO_NODE;
    watch[n] = site_path_any(graph, SITE_DISTANCE_UNIFORM);
    const BatchRunSetup batch = {.model = model,
                                 .graph = graph,
                                 .single = true,
                                 .watch = watch,
                                 .watch_count = n + 1,
                                 .threads = pool_threads(pool)};
    BatchRun *w = there ? batch_run_new(&batch, err) : NULL;
    arena_free(&arena);
    if (!there)
        err_set(err, "this model has no heads that look at patches");
    if (!w)
        return NULL;
    HeadPlaces *h = xcalloc(1, sizeof *h);
    const VitConfig *c = &model->vit;
    size_t cells = size_mul((size_t)c->layers, (size_t)c->heads), pictures = dataset_count(dataset);
    *h = (HeadPlaces){.batch = w, .dataset = dataset, .pool = pool, .vit = *c};
    h->result = (HeadPlacesResult){.pictures = pictures, .layers = c->layers, .heads = c->heads};
    h->result.distance = xcalloc(cells, sizeof *h->result.distance);
    h->result.share = xcalloc(cells, sizeof *h->result.share);
    h->kept = xcalloc(size_mul(size_mul(pictures + 1, cells), KEPT), sizeof *h->kept);
    lay_out(h);
    return h;
}

void head_places_free(HeadPlaces *h)
{
    if (!h)
        return;
    batch_run_free(h->batch);
    free(h->kept);
    free(h->place);
    free(h->result.distance);
    free(h->result.share);
    free(h);
}

/* How the rows of the patches share their weight out. pattern[t,u] of one head. */
static void share_out(const HeadPlaces *h, const float *pattern, double *share)
{
    size_t patches = (size_t)vit_patches(&h->vit), tokens = (size_t)vit_tokens(&h->vit), prefix = tokens - patches;
    for (size_t p = 0; p < patches; p++)
        for (size_t u = 0; u < tokens; u++)
            share[h->place[p * tokens + u]] += (double)pattern[(prefix + p) * tokens + u] / (double)patches;
}

static void look(void *of, size_t item, int worker)
{
    HeadPlaces *h = of;
    size_t heads = (size_t)h->vit.heads, tokens = (size_t)vit_tokens(&h->vit);
    dataset_get(h->dataset, item, batch_run_pixels(h->batch, worker, 0), NULL);
    batch_run_compute(h->batch, worker);
    for (int layer = 0; layer < h->vit.layers; layer++) {
        const float *distance = batch_run_watched(h->batch, worker, layer * OF_BLOCK, 0);
        const float *pattern = batch_run_watched(h->batch, worker, layer * OF_BLOCK + 1, 0);
        for (size_t k = 0; k < heads; k++) {
            double *kept = h->kept + ((item * (size_t)h->vit.layers + (size_t)layer) * heads + k) * KEPT;
            kept[0] = (double)distance[k];
            share_out(h, pattern + k * tokens * tokens, kept + 1);
        }
    }
    if (item == 0)
        h->result.uniform = (double)*batch_run_watched(h->batch, worker, h->vit.layers * OF_BLOCK, 0);
}

/* Column `at` of what is kept of the pictures. */
static MeanOver over_pictures(const HeadPlaces *h, size_t at)
{
    return mean_over(h->kept + at, h->result.pictures, (size_t)h->vit.layers * (size_t)h->vit.heads * KEPT);
}

bool head_places_step(HeadPlaces *h, int64_t deadline_ns)
{
    HeadPlacesResult *r = &h->result;
    if (h->done == r->pictures)
        return true;
    h->done = pool_run(h->pool, h->done, r->pictures, look, h, deadline_ns);
    if (h->done < r->pictures)
        return false;
    for (size_t cell = 0; cell < (size_t)r->layers * (size_t)r->heads; cell++) {
        r->distance[cell] = over_pictures(h, cell * KEPT);
        for (size_t k = 0; k < HEAD_PLACES; k++)
            r->share[cell][k] = over_pictures(h, cell * KEPT + 1 + k);
    }
    return true;
}

size_t head_places_pictures_done(const HeadPlaces *h)
{
    return h->done;
}

const HeadPlacesResult *head_places_result(const HeadPlaces *h)
{
    return h->result.pictures && h->done == h->result.pictures ? &h->result : NULL;
}

HeadPlace head_places_most(const HeadPlacesResult *r, int cell)
{
    HeadPlace best = HEAD_PLACES;
    double most = 0.02;
    for (int k = 0; k < HEAD_PLACES; k++) {
        MeanOver m = r->share[cell][k];
        double beyond = m.mean - r->even[k];
        if (beyond >= most && beyond > m.margin) {
            most = beyond;
            best = (HeadPlace)k;
        }
    }
    return best;
}

/* --- where a translator's heads look --- */

/* What is kept of a head, or of an attention whose weights are all alike, in a sentence: distance, then the shares. */
enum { WORDS_KEPT = 1 + WORD_PLACES };

struct WordPlaces {
    BatchRun *reader;
    Pool *pool;
    int encoder_layers;
    Dataset *dataset;
    size_t done;
    double *kept; /* [sentences, attentions, heads + 1, WORDS_KEPT]: the last one as if all were alike */
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
    w->kept = xcalloc(size_mul(size_mul(count + 1, (size_t)n * ((size_t)c->heads + 1)), WORDS_KEPT), sizeof *w->kept);
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
    return w->kept +
           ((sentence * (size_t)w->result.attentions + (size_t)attention) * heads + (size_t)head) * WORDS_KEPT;
}

static WordPlace word_place_of(int query, int key, int keys, bool source)
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
    const ParallelSentence *s = read->s;
    size_t length = (size_t)read->length;
    for (int a = 0; a < w->result.attentions; a++) {
        Seq2seqTexts texts = seq2seq_attention_texts(w->encoder_layers, a);
        bool source = !texts.target_keys;
        int queries = texts.target_queries ? s->fr_n + 1 : s->en_n + 1, keys = source ? s->en_n + 1 : s->fr_n + 1;
        const float *pattern = sentence_watched(read, a);
        for (int t = 0; t < queries; t++) {
            int visible = source ? keys : t + 1; /* the decoder looks at nothing that comes later */
            for (int u = 0; u < visible; u++) {
                WordPlace place = word_place_of(t, u, keys, source);
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
    size_t step = (size_t)w->result.attentions * ((size_t)w->result.heads + 1) * WORDS_KEPT;
    return mean_over(kept_of(w, 0, attention, head) + k, w->result.sentences, step);
}

static void finish(WordPlaces *w)
{
    WordPlacesResult *r = &w->result;
    for (int a = 0; a < r->attentions; a++)
        for (int h = 0; h <= r->heads; h++)
            for (int k = 0; k < WORDS_KEPT; k++) {
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
