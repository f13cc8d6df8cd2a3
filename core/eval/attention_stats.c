#include "core/eval/attention_stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"

/* What is watched: three probes of every block, then the rollout, the references and the last block's pattern. */
enum { OF_BLOCK = 3 };

struct AttentionStats {
    BatchRun *sweep;
    Dataset *stock;
    Pool *pool;
    VitConfig vit;
    size_t done, width;
    double *row; /* [pictures, width]: area, rollout, peak, read[heads], then distance, entropy, largest, each [layers,
                    heads] */
    uint8_t **mask, **object; /* [threads] */
    int threads;
    bool entropies, reads;
    AttentionStatsResult result;
};

enum { AREA, ROLLOUT, PEAK, READ };

static int watch_list(Arena *arena, const Graph *g, const VitConfig *c, bool entropies, const char ***out)
{
    static const Site PROBES[OF_BLOCK] = {SITE_DISTANCE, SITE_ENTROPY_SHARE_MEAN, SITE_LARGEST_MEAN};
    const char **path = arena_alloc(arena, size_mul((size_t)c->layers * OF_BLOCK + 4, sizeof *path));
    int n = 0, last = NO_PART;
    for (int a = NO_PART; (a = anatomy_next(g, a, PART_ATTENTION)) != NO_PART; last = a)
        for (int k = 0; k < OF_BLOCK; k++)
            path[n++] = site_path(g, a, k == 1 && !entropies ? SITE_LARGEST_MEAN : PROBES[k]);
    path[n++] = site_path_any(g, SITE_ROLLOUT_PATCHES);
    path[n++] = site_path(g, last, SITE_PATTERN);
    path[n++] = site_path_any(g, SITE_DISTANCE_UNIFORM);
    path[n++] = site_path_any(g, SITE_DISTANCE_MAXIMAL);
    REQUIRE(n == c->layers * OF_BLOCK + 4);
    *out = path;
    return n;
}

AttentionStats *attention_stats_new(const AttentionStatsSetup *setup, Err *err)
{
    Arena arena = {0};
    const VitConfig *c = &setup->model->vit;
    const char **watch;
    bool entropies = vit_tokens(c) > 1;
    int count = watch_list(&arena, setup->graph, c, entropies, &watch);
    const BatchRunSetup sweep = {.model = setup->model,
                                 .edits = setup->edits,
                                 .edit_count = setup->edit_count,
                                 .graph = setup->graph,
                                 .single = true,
                                 .watch = watch,
                                 .watch_count = count,
                                 .threads = pool_threads(setup->pool)};
    BatchRun *w = batch_run_new(&sweep, err);
    arena_free(&arena);
    if (!w)
        return NULL;
    AttentionStats *s = xcalloc(1, sizeof *s);
    size_t heads = (size_t)c->heads, cells = size_mul((size_t)c->layers, heads), n = dataset_count(setup->stock);
    *s = (AttentionStats){.sweep = w,
                          .stock = setup->stock,
                          .pool = setup->pool,
                          .vit = *c,
                          .width = READ + heads + OF_BLOCK * cells,
                          .threads = pool_threads(setup->pool),
                          .entropies = entropies,
                          .reads = c->cls};
    s->row = xcalloc(size_mul(n + 1, s->width), sizeof *s->row);
    s->mask = xcalloc((size_t)s->threads, sizeof *s->mask);
    s->object = xcalloc((size_t)s->threads, sizeof *s->object);
    for (int i = 0; i < s->threads; i++) {
        s->mask[i] = xcalloc((size_t)c->image_h, (size_t)c->image_w);
        s->object[i] = xcalloc((size_t)vit_patches(c), 1);
    }
    s->result = (AttentionStatsResult){.pictures = n,
                                       .layers = c->layers,
                                       .heads = c->heads,
                                       .objects = dataset_have_masks(setup->stock),
                                       .distance = xcalloc(cells, sizeof(double)),
                                       .entropy = xcalloc(cells, sizeof(double)),
                                       .largest = xcalloc(cells, sizeof(double)),
                                       .read = s->reads ? xcalloc(heads, sizeof(double)) : NULL};
    return s;
}

void attention_stats_free(AttentionStats *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->threads; i++) {
        free(s->mask[i]);
        free(s->object[i]);
    }
    batch_run_free(s->sweep);
    free(s->mask);
    free(s->object);
    free(s->row);
    free(s->result.distance);
    free(s->result.entropy);
    free(s->result.largest);
    free(s->result.read);
    free(s);
}

size_t attention_stats_object(const VitConfig *c, const uint8_t *mask, uint8_t *object)
{
    size_t ph = (size_t)c->patch_h, pw = (size_t)c->patch_w, width = (size_t)c->image_w, cols = width / pw,
           patches = (size_t)vit_patches(c), n = 0;
    for (size_t p = 0; p < patches; p++) {
        double sum = 0;
        for (size_t y = 0; y < ph; y++)
            for (size_t x = 0; x < pw; x++)
                sum += mask[(p / cols * ph + y) * width + p % cols * pw + x];
        object[p] = sum > SURVEY_COVER * 255 * (double)(ph * pw);
        n += object[p];
    }
    return n;
}

/* Share of what a row gives to the patches that the object's get. */
static double mass(const float *row, const uint8_t *object, size_t patches)
{
    double in = 0, all = 0;
    for (size_t p = 0; p < patches; p++) {
        all += (double)row[p];
        in += object[p] ? (double)row[p] : 0;
    }
    return all > 0 ? in / all : 0;
}

static void look_at_object(AttentionStats *s, int worker, double *row)
{
    const VitConfig *c = &s->vit;
    size_t patches = (size_t)vit_patches(c), prefix = (size_t)vit_prefix(c), tokens = prefix + patches;
    const uint8_t *object = s->object[worker];
    size_t n = attention_stats_object(c, s->mask[worker], s->object[worker]);
    const float *rollout = batch_run_watched(s->sweep, worker, c->layers * OF_BLOCK, 0);
    const float *pattern = batch_run_watched(s->sweep, worker, c->layers * OF_BLOCK + 1, 0);
    if (!n)
        return;
    row[AREA] = (double)n / (double)patches;
    row[ROLLOUT] = mass(rollout, object, patches);
    row[PEAK] = object[batch_run_largest(rollout, (int)patches)];
    for (size_t h = 0; s->reads && h < (size_t)c->heads; h++) /* the class token is the first */
        row[READ + h] = mass(pattern + h * tokens * tokens + prefix, object, patches);
}

static void look(void *survey, size_t item, int worker)
{
    AttentionStats *s = survey;
    const VitConfig *c = &s->vit;
    double *row = s->row + item * s->width;
    size_t heads = (size_t)c->heads, cells = (size_t)c->layers * heads;
    dataset_get(s->stock, item, batch_run_pixels(s->sweep, worker, 0), s->mask[worker]);
    batch_run_compute(s->sweep, worker);
    if (s->result.objects)
        look_at_object(s, worker, row);
    for (int layer = 0; layer < c->layers; layer++)
        for (int k = 0; k < OF_BLOCK; k++) {
            const float *v = batch_run_watched(s->sweep, worker, layer * OF_BLOCK + k, 0);
            for (size_t h = 0; h < heads; h++)
                row[READ + heads + (size_t)k * cells + (size_t)layer * heads + h] = (double)v[h];
        }
    if (item == 0) {
        s->result.uniform = (double)*batch_run_watched(s->sweep, worker, c->layers * OF_BLOCK + 2, 0);
        s->result.maximal = (double)*batch_run_watched(s->sweep, worker, c->layers * OF_BLOCK + 3, 0);
    }
}

static void sum_up(AttentionStats *s)
{
    AttentionStatsResult *r = &s->result;
    size_t heads = (size_t)r->heads, cells = (size_t)r->layers * heads;
    for (size_t i = 0; i < r->pictures; i++)
        r->seen += s->row[i * s->width + AREA] > 0;
    for (size_t i = 0; i < r->pictures; i++) {
        const double *row = s->row + i * s->width, *blocks = row + READ + heads;
        double objects = (double)(r->seen ? r->seen : 1), all = (double)r->pictures;
        r->area += row[AREA] / objects;
        r->rollout += row[ROLLOUT] / objects;
        r->rollout_peak += row[PEAK] / objects;
        for (size_t h = 0; s->reads && h < heads; h++)
            r->read[h] += row[READ + h] / objects;
        for (size_t k = 0; k < cells; k++) {
            r->distance[k] += blocks[k] / all;
            r->entropy[k] += s->entropies ? blocks[cells + k] / all : (double)NAN;
            r->largest[k] += blocks[2 * cells + k] / all;
        }
    }
}

bool attention_stats_step(AttentionStats *s, int64_t deadline_ns)
{
    if (s->done == s->result.pictures)
        return true;
    s->done = pool_run(s->pool, s->done, s->result.pictures, look, s, deadline_ns);
    if (s->done < s->result.pictures)
        return false;
    sum_up(s);
    return true;
}

size_t attention_stats_pictures_done(const AttentionStats *s)
{
    return s->done;
}

const AttentionStatsResult *attention_stats_result(const AttentionStats *s)
{
    return s->done == s->result.pictures ? &s->result : NULL;
}
