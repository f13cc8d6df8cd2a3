/* What the maps of where it looks are worth on photographs, of whose objects nothing is known: a quarter of the
 * patches, chosen by a map, is painted grey, and what is still named right is counted. And how alike patches become. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/make_photos.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/interval.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/eval/batch_run.h"
#include "core/eval/figures.h"
#include "core/models/family.h"

enum { STAGES = 32 };
typedef struct Maps {
    const Model *m;
    const Pictures *pictures;
    BatchRun *look, *answer;
    int *label, *named; /* [count], [1 + GREYED_COUNT, count]: first as it is */
    double *row;        /* [count, 2, 1 + layers] */
    size_t count;
} Maps;

/* The mean cosine of two patches: of unit vectors (|Σ x|² − n) / (n (n − 1)). */
static double mean_cosine(const float *x, size_t n, size_t width)
{
    double *sum = xcalloc(width, sizeof *sum), squares = 0;
    for (size_t p = 0; p < n; p++) {
        double length = 0;
        for (size_t d = 0; d < width; d++)
            length += (double)x[p * width + d] * (double)x[p * width + d];
        for (size_t d = 0; d < width; d++)
            sum[d] += (double)x[p * width + d] / sqrt(length);
    }
    for (size_t d = 0; d < width; d++)
        squares += sum[d] * sum[d];
    free(sum);
    return (squares - (double)n) / ((double)n * (double)(n - 1));
}

/* The quarter of the patches to which a map gives most, painted grey. */
static void grey(const Model *m, const float *map, const float *from, float *pixels)
{
    const VitConfig *c = &m->vit;
    size_t w = (size_t)c->image_w, h = (size_t)c->image_h, pw = (size_t)c->patch_w, ph = (size_t)c->patch_h,
           across = w / pw, patches = (size_t)vit_patches(c);
    bool *gone = xcalloc(patches, sizeof *gone);
    for (size_t k = 0; k < patches / 4; k++) {
        size_t most = patches;
        for (size_t p = 0; p < patches; p++)
            most = !gone[p] && (most == patches || map[p] > map[most]) ? p : most;
        gone[most] = true;
    }
    for (size_t i = 0; i < (size_t)c->channels * w * h; i++)
        pixels[i] = gone[i % (w * h) / w / ph * across + i % w / pw] ? 127.5f : from[i];
    free(gone);
}

/* How far every patch is from the picture's mean colour. */
static void colourful(const Model *m, const float *pixels, float *map)
{
    const VitConfig *c = &m->vit;
    size_t w = (size_t)c->image_w, plane = w * (size_t)c->image_h, pw = (size_t)c->patch_w, ph = (size_t)c->patch_h;
    memset(map, 0, (size_t)vit_patches(c) * sizeof *map);
    for (size_t k = 0; k < (size_t)c->channels; k++) {
        double mean = 0;
        for (size_t i = 0; i < plane; i++)
            mean += (double)pixels[k * plane + i] / (double)plane;
        for (size_t i = 0; i < plane; i++) {
            double away = (double)pixels[k * plane + i] - mean;
            map[i / w / ph * (w / pw) + i % w / pw] += (float)(away * away);
        }
    }
}

static void look_at_maps(void *context, size_t i, int worker)
{
    Maps *a = context;
    const size_t patches = (size_t)vit_patches(&a->m->vit), width = (size_t)a->m->vit.width,
                 stages = (size_t)a->m->vit.layers + 1;
    float *pixels = batch_run_pixels(a->look, worker, 0), *map = xfloats(patches);
    Rng r = rng_seed(i, UNLIKE_COUNT);
    a->label[i] = pictures_get(a->pictures, PICTURES_HELD_OUT, i, 1, pixels, NULL);
    batch_run_compute(a->look, worker);
    a->named[i] = batch_run_largest(batch_run_logits(a->look, worker, 0), PHOTOS_CLASSES);
    double *row = a->row + i * 2 * stages;
    for (size_t k = 0; k < stages; k++) {
        const float *stream = batch_run_watched(a->look, worker, (int)(2 * k), 0);
        row[k] = mean_cosine(stream + (size_t)vit_prefix(&a->m->vit) * width, patches, width);
        row[stages + k] = (double)*batch_run_watched(a->look, worker, (int)(2 * k + 1), 0);
    }
    const float *rollout = batch_run_watched(a->look, worker, (int)(2 * stages), 0);
    for (int g = 0; g < GREYED_COUNT; g++) {
        for (size_t p = 0; p < patches; p++)
            map[p] = g == GREYED_ROLLOUT ? rollout[p] : g == GREYED_LEAST ? -rollout[p] : rng_unit(&r);
        if (g == GREYED_COLOUR)
            colourful(a->m, pixels, map);
        grey(a->m, map, pixels, batch_run_pixels(a->answer, worker, g));
    }
    batch_run_compute(a->answer, worker);
    for (int g = 0; g < GREYED_COUNT; g++)
        a->named[(size_t)(g + 1) * a->count + i] = batch_run_largest(batch_run_logits(a->answer, worker, g),
                                                                     PHOTOS_CLASSES);
    free(map);
}

static void put_maps(const Maps *a)
{
    static const char *const NAMES[GREYED_COUNT] = {
        [GREYED_ROLLOUT] = "ROLLOUT", [GREYED_COLOUR] = "COLOUR", [GREYED_LOT] = "LOT", [GREYED_LEAST] = "LEAST"};
    const size_t stages = (size_t)a->m->vit.layers + 1;
    for (int g = 0; g < GREYED_COUNT; g++) {
        const int *named = a->named + (size_t)(g + 1) * a->count;
        size_t right = 0;
        for (size_t i = 0; i < a->count; i++)
            right += named[i] == a->label[i];
        Paired p = paired_count(a->label, a->named, named, a->count);
        printf("GREYED(%s, %zu, %zu, %zu)\n", NAMES[g], right, p.lost, p.won);
    }
    for (size_t k = 0; k < stages; k++) {
        MeanOver cosine = mean_over(a->row + k, a->count, 2 * stages),
                 share = mean_over(a->row + stages + k, a->count, 2 * stages);
        printf("ALIKE(%zu, %.6f, %.6f, %.6f, %.6f)\n", k, cosine.mean, cosine.margin, share.mean, share.margin);
    }
}

bool photos_maps(const Model *m, const Pictures *pictures, size_t held, Pool *pool, Err *err)
{
    char node[2 * STAGES][64];
    const char *watch[2 * STAGES + 1];
    int n = 0;
    REQUIRE(m->vit.layers < STAGES && (int)GREYED_COUNT == (int)BATCH_RUN_PICTURES);
    for (int b = 0; b <= m->vit.layers; b++) {
        snprintf(node[n], sizeof node[n], b ? "blocks.%d.resid_post" : "blocks.%d.resid_pre", b ? b - 1 : 0);
        snprintf(node[n + 1], sizeof node[n], b ? "blocks.%d.alike.share_0" : "embed.alike.share_0", b - 1);
        n += 2;
    }
    for (int i = 0; i < n; i++)
        watch[i] = node[i];
    watch[n++] = "rollout.patches";
    const BatchRunSetup looks = {
        .model = m, .single = true, .watch = watch, .watch_count = n, .threads = pool_threads(pool)};
    const BatchRunSetup answers = {.model = m, .threads = pool_threads(pool)};
    Maps a = {.m = m,
              .pictures = pictures,
              .count = held,
              .look = batch_run_new(&looks, err),
              .label = xcalloc(held, sizeof(int)),
              .named = xcalloc(size_mul(held, 1 + GREYED_COUNT), sizeof(int)),
              .row = xcalloc(size_mul(held, 2 * ((size_t)m->vit.layers + 1)), sizeof(double))};
    a.answer = a.look ? batch_run_new(&answers, err) : NULL;
    for (size_t done = 0; a.answer && done < held;) {
        done = pool_run(pool, done, held, look_at_maps, &a, clock_ns() + 200000000);
        photos_show(NULL, "what the maps are worth", (double)done / (double)held);
    }
    bool ok = a.answer != NULL;
    if (ok)
        put_maps(&a);
    batch_run_free(a.look);
    batch_run_free(a.answer);
    free(a.label);
    free(a.named);
    free(a.row);
    return ok;
}
