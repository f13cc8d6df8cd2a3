#include "core/eval/head_places.h"

#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"

/* What is watched of every block, and what is kept of every head of a picture: distance, then the shares. */
enum { OF_BLOCK = 2, KEPT = 1 + HEAD_PLACES };
static const double Z = 1.959963984540054; /* of the normal distribution, 2.5 % lie beyond it on either side */

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
    const VitConfig *c = &model->vit;
    const char **watch = arena_alloc(&arena, size_mul((size_t)c->layers * OF_BLOCK + 1, sizeof *watch));
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

MeanOver mean_over(const double *x, size_t n, size_t step)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i * step];
    MeanOver m = {n ? sum / (double)n : 0, 0};
    for (size_t i = 0; i < n; i++)
        squares += (x[i * step] - m.mean) * (x[i * step] - m.mean);
    m.margin = n > 1 ? Z * dm_sqrt(squares / ((double)n - 1) / (double)n) : 0;
    return m;
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
