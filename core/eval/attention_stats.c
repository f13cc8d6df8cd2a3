#include "core/eval/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"

/* What is watched: three probes of every block, then the rollout, the references and the last block's pattern. */
enum { OF_BLOCK = 3 };

struct AttentionStats {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    VitConfig vit;
    size_t done, width;
    double *row; /* [pictures, width]: area, rollout, peak, read[heads], then distance, entropy, largest, each [layers,
                    heads] */
    uint8_t **mask;  /* [threads] */
    uint8_t *object; /* [pictures, patches], and … */
    float *seen;     /* … the rollout over them; NULL where no object is known */
    size_t lens;     /* watched from here on: the lens' logits, 1 + layers of them, where it has a lens */
    bool *right;     /* [pictures, 1 + layers], or NULL */
    int threads;
    bool entropies, reads;
    AttentionStatsResult result;
};

enum { AREA, COVERED, ROLLOUT, PEAK, BRIGHT, BRIGHT_PEAK, READ };

/* Does it name something before the first block and behind every one? */
static bool has_lens(const Graph *g)
{
    bool has = site_path(g, anatomy_next(g, NO_PART, PART_EMBEDDING), SITE_LENS_LOGITS) != NULL;
    for (int b = NO_PART; has && (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART;)
        has = site_path(g, b, SITE_LENS_LOGITS) != NULL;
    return has;
}

static int watch_list(Arena *arena, const Graph *g, const VitConfig *c, bool entropies, const char ***out)
{
    static const Site PROBES[OF_BLOCK] = {SITE_DISTANCE, SITE_ENTROPY_SHARE_MEAN, SITE_LARGEST_MEAN};
    const char **path = arena_alloc(arena, size_mul((size_t)c->layers * (OF_BLOCK + 1) + 5, sizeof *path));
    int n = 0, last = NO_PART;
    for (int a = NO_PART; (a = anatomy_next(g, a, PART_ATTENTION)) != NO_PART; last = a)
        for (int k = 0; k < OF_BLOCK; k++)
            path[n++] = site_path(g, a, k == 1 && !entropies ? SITE_LARGEST_MEAN : PROBES[k]);
    path[n++] = site_path_any(g, SITE_ROLLOUT_PATCHES);
    path[n++] = site_path(g, last, SITE_PATTERN);
    path[n++] = site_path_any(g, SITE_DISTANCE_UNIFORM);
    path[n++] = site_path_any(g, SITE_DISTANCE_MAXIMAL);
    REQUIRE(n == c->layers * OF_BLOCK + 4);
    const bool lens = has_lens(g);
    if (lens)
        path[n++] = site_path(g, anatomy_next(g, NO_PART, PART_EMBEDDING), SITE_LENS_LOGITS);
    for (int b = NO_PART; lens && (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART;)
        path[n++] = site_path(g, b, SITE_LENS_LOGITS);
    *out = path;
    return n;
}

bool attention_stats_has(const Graph *g)
{
    return site_path_any(g, SITE_ROLLOUT_PATCHES) && site_path_any(g, SITE_DISTANCE);
}

AttentionStats *attention_stats_new(const AttentionStatsSetup *setup, Err *err)
{
    Arena arena = {0};
    const VitConfig *c = &setup->model->vit;
    const char **watch;
    bool entropies = vit_tokens(c) > 1;
    int count = watch_list(&arena, setup->graph, c, entropies, &watch);
    const BatchRunSetup batch = {.model = setup->model,
                                 .edits = setup->edits,
                                 .edit_count = setup->edit_count,
                                 .graph = setup->graph,
                                 .single = true,
                                 .watch = watch,
                                 .watch_count = count,
                                 .threads = pool_threads(setup->pool)};
    BatchRun *w = batch_run_new(&batch, err);
    arena_free(&arena);
    if (!w)
        return NULL;
    AttentionStats *s = xcalloc(1, sizeof *s);
    size_t heads = (size_t)c->heads, cells = size_mul((size_t)c->layers, heads), held = dataset_count(setup->dataset),
           n = setup->most && setup->most < held ? setup->most : held, patches = (size_t)vit_patches(c),
           lenses = (size_t)c->layers + 1;
    bool objects = dataset_have_masks(setup->dataset), lens = has_lens(setup->graph);
    *s = (AttentionStats){.batch = w,
                          .dataset = setup->dataset,
                          .pool = setup->pool,
                          .vit = *c,
                          .width = READ + heads + OF_BLOCK * cells,
                          .lens = (size_t)c->layers * OF_BLOCK + 4,
                          .right = lens ? xcalloc(size_mul(n + 1, lenses), sizeof *s->right) : NULL,
                          .object = objects ? xcalloc(n + 1, patches) : NULL,
                          .seen = objects ? xcalloc(size_mul(n + 1, patches), sizeof *s->seen) : NULL,
                          .threads = pool_threads(setup->pool),
                          .entropies = entropies,
                          .reads = c->cls};
    s->row = xcalloc(size_mul(n + 1, s->width), sizeof *s->row);
    s->mask = xcalloc((size_t)s->threads, sizeof *s->mask);
    for (int i = 0; i < s->threads; i++)
        s->mask[i] = xcalloc((size_t)c->image_h, (size_t)c->image_w);
    s->result = (AttentionStatsResult){.pictures = n,
                                       .layers = c->layers,
                                       .heads = c->heads,
                                       .objects = objects,
                                       .lens_right = lens ? xcalloc(lenses, sizeof(size_t)) : NULL,
                                       .distance = xcalloc(cells, sizeof(MeanOver)),
                                       .entropy = xcalloc(cells, sizeof(MeanOver)),
                                       .largest = xcalloc(cells, sizeof(MeanOver)),
                                       .read = s->reads ? xcalloc(heads, sizeof(MeanOver)) : NULL};
    return s;
}

void attention_stats_free(AttentionStats *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->threads; i++)
        free(s->mask[i]);
    batch_run_free(s->batch);
    free(s->mask);
    free(s->object);
    free(s->seen);
    free(s->right);
    free(s->result.lens_right);
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

/* How much brighter each patch is than the picture's mean, 0 where darker: of all colours of its pixels. */
static void brightness(const VitConfig *c, const float *pixels, float *out)
{
    size_t ph = (size_t)c->patch_h, pw = (size_t)c->patch_w, width = (size_t)c->image_w, cols = width / pw,
           plane = width * (size_t)c->image_h, patches = (size_t)vit_patches(c);
    double mean = 0;
    for (size_t p = 0; p < patches; p++) {
        double sum = 0;
        for (size_t i = 0; i < (size_t)c->channels * ph * pw; i++)
            sum += (double)
                pixels[i / (ph * pw) * plane + (p / cols * ph + i / pw % ph) * width + p % cols * pw + i % pw];
        out[p] = (float)(sum / (double)((size_t)c->channels * ph * pw));
        mean += (double)out[p] / (double)patches;
    }
    for (size_t p = 0; p < patches; p++)
        out[p] = (double)out[p] > mean ? (float)((double)out[p] - mean) : 0;
}

static double covered(const VitConfig *c, const uint8_t *mask)
{
    size_t plane = (size_t)c->image_w * (size_t)c->image_h;
    double sum = 0;
    for (size_t i = 0; i < plane; i++)
        sum += mask[i];
    return sum / 255 / (double)plane;
}

static void look_at_object(AttentionStats *s, size_t item, int worker, double *row)
{
    const VitConfig *c = &s->vit;
    size_t patches = (size_t)vit_patches(c), prefix = (size_t)vit_prefix(c), tokens = prefix + patches;
    uint8_t *object = s->object + item * patches;
    float *seen = s->seen + item * patches;
    size_t n = attention_stats_object(c, s->mask[worker], object);
    const float *rollout = batch_run_watched(s->batch, worker, c->layers * OF_BLOCK, 0);
    const float *pattern = batch_run_watched(s->batch, worker, c->layers * OF_BLOCK + 1, 0);
    if (!n)
        return;
    row[AREA] = (double)n / (double)patches;
    row[COVERED] = covered(c, s->mask[worker]);
    row[ROLLOUT] = mass(rollout, object, patches);
    row[PEAK] = object[batch_run_largest(rollout, (int)patches)];
    brightness(c, batch_run_pixels(s->batch, worker, 0), seen);
    row[BRIGHT] = mass(seen, object, patches);
    row[BRIGHT_PEAK] = object[batch_run_largest(seen, (int)patches)];
    memcpy(seen, rollout, patches * sizeof *seen);
    for (size_t h = 0; s->reads && h < (size_t)c->heads; h++) /* the class token is the first */
        row[READ + h] = mass(pattern + h * tokens * tokens + prefix, object, patches);
}

static void look(void *survey, size_t item, int worker)
{
    AttentionStats *s = survey;
    const VitConfig *c = &s->vit;
    double *row = s->row + item * s->width;
    size_t heads = (size_t)c->heads, cells = (size_t)c->layers * heads;
    int label = dataset_get(s->dataset, item, batch_run_pixels(s->batch, worker, 0), s->mask[worker]);
    batch_run_compute(s->batch, worker);
    if (s->result.objects)
        look_at_object(s, item, worker, row);
    for (size_t i = 0; s->right && i <= (size_t)c->layers; i++)
        s->right[item * ((size_t)c->layers + 1) + i] = batch_run_largest(batch_run_watched(s->batch, worker,
                                                                                           (int)(s->lens + i), 0),
                                                                         c->classes) == label;
    for (int layer = 0; layer < c->layers; layer++)
        for (int k = 0; k < OF_BLOCK; k++) {
            const float *v = batch_run_watched(s->batch, worker, layer * OF_BLOCK + k, 0);
            for (size_t h = 0; h < heads; h++)
                row[READ + heads + (size_t)k * cells + (size_t)layer * heads + h] = (double)v[h];
        }
    if (item == 0) {
        s->result.uniform = (double)*batch_run_watched(s->batch, worker, c->layers * OF_BLOCK + 2, 0);
        s->result.maximal = (double)*batch_run_watched(s->batch, worker, c->layers * OF_BLOCK + 3, 0);
    }
}

/* The maps that are the same for every picture: the mean of all rollouts, and the patch most often the object's. */
static void compare_with_fixed(AttentionStats *s)
{
    AttentionStatsResult *r = &s->result;
    size_t patches = (size_t)vit_patches(&s->vit), most = 0, seen = 0;
    double *mean = xcalloc(patches, sizeof *mean), *share = xcalloc(r->seen + 1, sizeof *share);
    size_t *often = xcalloc(patches, sizeof *often);
    float *map = xcalloc(patches, sizeof *map);
    for (size_t i = 0; i < r->pictures * patches; i++) {
        mean[i % patches] += (double)s->seen[i];
        often[i % patches] += s->object[i];
    }
    for (size_t p = 0; p < patches; p++) {
        map[p] = (float)(mean[p] / (double)(r->seen ? r->seen : 1));
        most = often[p] > often[most] ? p : most;
    }
    for (size_t i = 0; i < r->pictures; i++)
        if (s->row[i * s->width + AREA] > 0)
            share[seen++] = mass(map, s->object + i * patches, patches);
    r->fixed = mean_over(share, seen, 1);
    r->fixed_peak = often[most];
    free(share);
    free(mean);
    free(often);
    free(map);
}

/* A column of the rows over the pictures, or over those with an object's patch. */
static MeanOver over(const AttentionStats *s, size_t column, bool objects)
{
    double *x = xcalloc(s->result.pictures + 1, sizeof *x);
    size_t n = 0;
    for (size_t i = 0; i < s->result.pictures; i++)
        if (!objects || s->row[i * s->width + AREA] > 0)
            x[n++] = s->row[i * s->width + column];
    MeanOver m = mean_over(x, n, 1);
    free(x);
    return m;
}

static void sum_up(AttentionStats *s)
{
    AttentionStatsResult *r = &s->result;
    const MeanOver none = {(double)NAN, (double)NAN};
    size_t lenses = (size_t)r->layers + 1;
    size_t heads = (size_t)r->heads, cells = (size_t)r->layers * heads;
    for (size_t i = 0; i < r->pictures; i++) {
        const double *row = s->row + i * s->width;
        r->seen += row[AREA] > 0;
        r->rollout_peak += row[PEAK] > 0;
        r->bright_peak += row[BRIGHT_PEAK] > 0;
        for (size_t k = 0; s->right && k < lenses; k++)
            r->lens_right[k] += s->right[i * lenses + k];
    }
    r->area = over(s, AREA, true);
    r->covered = over(s, COVERED, true);
    r->rollout = over(s, ROLLOUT, true);
    r->bright = over(s, BRIGHT, true);
    for (size_t h = 0; s->reads && h < heads; h++)
        r->read[h] = over(s, READ + h, true);
    for (size_t k = 0; k < cells; k++) {
        r->distance[k] = over(s, READ + heads + k, false);
        r->entropy[k] = s->entropies ? over(s, READ + heads + cells + k, false) : none;
        r->largest[k] = over(s, READ + heads + 2 * cells + k, false);
    }
    if (r->objects)
        compare_with_fixed(s);
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
