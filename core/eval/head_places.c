#include "core/eval/head_kinds.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"

/* What is watched of every attention of a picture model, and what is kept of a head of an input: distance, then the
 * shares. */
enum { OF_BLOCK = 2, KEPT = 1 + HEAD_PLACES };

struct HeadPlaces {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    VitConfig vit;      /* of a picture model */
    int encoder_layers; /* of a translator */
    size_t done;
    double *kept;   /* [inputs, attentions, heads + 1, KEPT]; the last one of a text as if all weights were alike */
    uint8_t *place; /* [patches, tokens] a HeadPlace; of a picture model */
    HeadPlacesResult result;
};

static bool of_words(const HeadPlaces *h)
{
    return h->result.places == WORD_PLACES;
}

static HeadPlaces *places_new(BatchRun *batch, Dataset *dataset, Pool *pool, int attentions, int heads, int places)
{
    HeadPlaces *h = xcalloc(1, sizeof *h);
    HeadPlacesResult *r = &h->result;
    const size_t n = dataset_count(dataset), rows = (size_t)attentions, cells = size_mul(rows, (size_t)heads);
    *h = (HeadPlaces){.batch = batch, .dataset = dataset, .pool = pool};
    *r = (HeadPlacesResult){.inputs = n, .attentions = attentions, .heads = heads, .places = places};
    h->kept = xcalloc(size_mul(size_mul(n + 1, size_mul(rows, (size_t)heads + 1)), KEPT), sizeof *h->kept);
    r->distance = xcalloc(cells, sizeof *r->distance);
    r->share = xcalloc(cells, sizeof *r->share);
    r->uniform = xcalloc(rows, sizeof *r->uniform);
    r->even = xcalloc(rows, sizeof *r->even);
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
    free(h->result.uniform);
    free(h->result.even);
    free(h);
}

static double *kept_of(const HeadPlaces *h, size_t input, int attention, int head)
{
    const HeadPlacesResult *r = &h->result;
    const size_t row = input * (size_t)r->attentions + (size_t)attention;
    return h->kept + (row * ((size_t)r->heads + 1) + (size_t)head) * KEPT;
}

/* --- pictures --- */

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
            for (int a = 0; a < h->result.attentions; a++)
                h->result.even[a][place] += 1.0 / ((double)patches * tokens);
        }
}

static HeadPlaces *of_pictures(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
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
    const BatchRunSetup setup = {.model = model,
                                 .graph = graph,
                                 .single = true,
                                 .watch = watch,
                                 .watch_count = n + 1,
                                 .threads = pool_threads(pool)};
    BatchRun *batch = there ? batch_run_new(&setup, err) : NULL;
    arena_free(&arena);
    if (!there)
        err_set(err, "this model has no heads that look at patches");
    if (!batch)
        return NULL;
    HeadPlaces *h = places_new(batch, dataset, pool, model->vit.layers, model->vit.heads, HEAD_PLACES);
    h->vit = model->vit;
    lay_out(h);
    return h;
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
    size_t tokens = (size_t)vit_tokens(&h->vit);
    dataset_get(h->dataset, item, batch_run_pixels(h->batch, worker, 0), NULL);
    batch_run_compute(h->batch, worker);
    for (int layer = 0; layer < h->vit.layers; layer++) {
        const float *distance = batch_run_watched(h->batch, worker, layer * OF_BLOCK, 0);
        const float *pattern = batch_run_watched(h->batch, worker, layer * OF_BLOCK + 1, 0);
        for (int k = 0; k < h->vit.heads; k++) {
            double *kept = kept_of(h, item, layer, k);
            kept[0] = (double)distance[k];
            share_out(h, pattern + (size_t)k * tokens * tokens, kept + 1);
        }
    }
    for (int layer = 0; item == 0 && layer < h->vit.layers; layer++)
        h->result.uniform[layer] = (double)*batch_run_watched(h->batch, worker, h->vit.layers * OF_BLOCK, 0);
}

/* --- sentences --- */

static HeadPlaces *of_sentences(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
{
    int n = anatomy_attentions(graph);
    const char **watch = xcalloc((size_t)n + 1, sizeof *watch);
    for (int a = 0; a < n; a++)
        watch[a] = site_path(graph, anatomy_attention(graph, a), SITE_PATTERN);
    const BatchRunSetup setup = {.model = model, .watch = watch, .watch_count = n, .threads = pool_threads(pool)};
    BatchRun *batch = batch_run_new(&setup, err);
    free(watch);
    if (!batch)
        return NULL;
    HeadPlaces *h = places_new(batch, dataset, pool, n, model->text.heads, WORD_PLACES);
    h->encoder_layers = model->text.encoder_layers;
    return h;
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
    HeadPlaces *h = of;
    const ParallelSentence *s = read->s;
    const int heads = h->result.heads;
    size_t length = (size_t)read->length;
    for (int a = 0; a < h->result.attentions; a++) {
        Seq2seqTexts texts = seq2seq_attention_texts(h->encoder_layers, a);
        bool source = !texts.target_keys;
        int queries = texts.target_queries ? s->fr_n + 1 : s->en_n + 1, keys = source ? s->en_n + 1 : s->fr_n + 1;
        const float *pattern = sentence_watched(read, a);
        for (int t = 0; t < queries; t++) {
            int visible = source ? keys : t + 1; /* the decoder looks at nothing that comes later */
            for (int u = 0; u < visible; u++) {
                WordPlace place = word_place_of(t, u, keys, source);
                for (int k = 0; k <= heads; k++) {
                    size_t cell = ((size_t)k * length + (size_t)t) * length + (size_t)u;
                    double weight = k < heads ? (double)pattern[cell] : 1.0 / visible;
                    double *kept = kept_of(h, i, a, k);
                    kept[0] += weight * abs(t - u) / queries;
                    kept[1 + place] += weight / queries;
                }
            }
        }
    }
}

/* --- either --- */

HeadPlaces *head_places_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
{
    return (dataset_sentence(dataset, 0) ? of_sentences : of_pictures)(model, graph, dataset, pool, err);
}

/* Cell k of what is kept of a head. */
static MeanOver over_inputs(const HeadPlaces *h, int attention, int head, int k)
{
    const HeadPlacesResult *r = &h->result;
    return mean_over(kept_of(h, 0, attention, head) + k, r->inputs,
                     (size_t)r->attentions * ((size_t)r->heads + 1) * KEPT);
}

static void finish(HeadPlaces *h)
{
    HeadPlacesResult *r = &h->result;
    for (int a = 0; a < r->attentions; a++) {
        for (int k = 0; k < r->heads; k++) {
            const int cell = a * r->heads + k;
            r->distance[cell] = over_inputs(h, a, k, 0);
            for (int p = 0; p < r->places; p++)
                r->share[cell][p] = over_inputs(h, a, k, 1 + p);
        }
        if (of_words(h))
            r->uniform[a] = over_inputs(h, a, r->heads, 0).mean;
        for (int p = 0; of_words(h) && p < r->places; p++)
            r->even[a][p] = over_inputs(h, a, r->heads, 1 + p).mean;
    }
}

bool head_places_step(HeadPlaces *h, int64_t deadline_ns)
{
    const size_t n = h->result.inputs;
    if (h->done == n)
        return true;
    h->done = of_words(h)
                  ? batch_run_read(h->batch, h->pool, dataset_sentence(h->dataset, 0), h->done, n, see, h, deadline_ns)
                  : pool_run(h->pool, h->done, n, look, h, deadline_ns);
    if (h->done == n)
        finish(h);
    return h->done == n;
}

size_t head_places_done(const HeadPlaces *h)
{
    return h->done;
}

const HeadPlacesResult *head_places_result(const HeadPlaces *h)
{
    return h->result.inputs && h->done == h->result.inputs ? &h->result : NULL;
}

int head_places_most(const HeadPlacesResult *r, int cell)
{
    const double *even = r->even[cell / r->heads];
    int best = r->places;
    double most = 0.02;
    for (int k = 0; k < r->places; k++) {
        MeanOver m = r->share[cell][k];
        double beyond = m.mean - even[k];
        if (beyond >= most && beyond > m.margin) {
            most = beyond;
            best = k;
        }
    }
    return best;
}
