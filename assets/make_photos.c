/* make_photos MODEL FOLDER SEEN [PICTURES]: measures everything that is stated about photos, the model of photographs
 * in the folder MODEL, over the photographs of FOLDER that it did not learn from (all, or the first PICTURES). Writes
 * core/eval/photos.def to standard output and what its photographs look like to it to SEEN. `make figures-photos` runs
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/assets.h"
#include "assets/make_photos.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/eval/batch_run.h"
#include "core/eval/figures.h"
#include "core/io/tensors.h"
#include "core/models/family.h"

enum {
    LEARNT_MOST = 10000, /* photographs that the metric is made from */
    UNLIKE_PICTURES = 1000,
    STRIPE_LEAST = 2,
    STRIPE_RANGE = 7,
    PIECES = 4 /* across and down */
};
#define NEARER 0.95 /* of the held-out photographs are nearer than the limit */
#define RIDGE 1e-4  /* of the mean variance, added to every direction's: a metric needs all of them */

typedef struct Job {
    const Model *m;
    const Pictures *pictures; /* NULL: made by make */
    PictureSet set;
    void (*make)(const struct Job *job, size_t i, float *pixels);
    BatchRun *run;
    size_t count, cells;
    int prefix;
    float *feature; /* [count, width] */
    float *logits;  /* [count, classes], or NULL: not wanted */
    int *label;     /* [count], likewise */
} Job;

bool photos_show(void *context, const char *what, double share)
{
    (void)context;
    fprintf(stderr, "\r%s: %.0f %%\033[K", what, 100 * share);
    return true;
}

static bool reading(void *context, size_t done, size_t total)
{
    return photos_show(context, "reading the photographs", (double)done / (double)total);
}

/* --- the patches' mean behind a block, of many pictures --- */

static void look(void *context, size_t item, int worker)
{
    Job *j = context;
    size_t width = (size_t)j->m->vit.width, patches = (size_t)vit_patches(&j->m->vit);
    size_t first = item * BATCH_RUN_PICTURES;
    for (size_t i = first; i < first + BATCH_RUN_PICTURES; i++) {
        float *pixels = batch_run_pixels(j->run, worker, (int)(i - first));
        size_t at = i < j->count ? i : j->count - 1;
        if (j->make)
            j->make(j, at, pixels);
        else {
            int label = pictures_get(j->pictures, j->set, at, 1, pixels, NULL);
            if (j->label && i < j->count)
                j->label[i] = label;
        }
    }
    batch_run_compute(j->run, worker);
    for (size_t i = first; i < first + BATCH_RUN_PICTURES && i < j->count; i++) {
        if (j->logits)
            memcpy(j->logits + i * PHOTOS_CLASSES, batch_run_logits(j->run, worker, (int)(i - first)),
                   PHOTOS_CLASSES * sizeof *j->logits);
        const float *tokens = batch_run_watched(j->run, worker, 0, (int)(i - first)) + (size_t)j->prefix * width;
        for (size_t d = 0; d < width; d++) {
            double sum = 0;
            for (size_t p = 0; p < patches; p++)
                sum += (double)tokens[p * width + d];
            j->feature[i * width + d] = (float)(sum / (double)patches);
        }
    }
}

static bool look_at(Job *j, const char *what, Pool *pool, Err *err)
{
    size_t items = (j->count + BATCH_RUN_PICTURES - 1) / BATCH_RUN_PICTURES, done = 0;
    j->feature = xfloats(size_mul(j->count, (size_t)j->m->vit.width));
    while (done < items) {
        done = pool_run(pool, done, items, look, j, clock_ns() + 200000000);
        if (!photos_show(NULL, what, (double)done / (double)items))
            return err_set(err, "cancelled");
    }
    return true;
}

/* --- the metric --- */

typedef struct Metric {
    size_t width;
    float *mean, *metric; /* [width], [width, width]: lower triangle */
} Metric;

/* The inverse of the Cholesky factor of the covariance: |metric · (x − mean)|² = (x − mean)ᵀ Σ⁻¹ (x − mean). */
static void make_metric(Metric *k, const Job *j)
{
    size_t w = k->width = (size_t)j->m->vit.width, n = j->count;
    double *mean = xcalloc(w, sizeof *mean), *cov = xcalloc(size_mul(w, w), sizeof *cov),
           *inverse = xcalloc(size_mul(w, w), sizeof *inverse), trace = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < w; a++)
            mean[a] += (double)j->feature[i * w + a] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < w; a++) {
            double x = (double)j->feature[i * w + a] - mean[a];
            for (size_t b = 0; b <= a; b++)
                cov[a * w + b] += x * ((double)j->feature[i * w + b] - mean[b]) / (double)n;
        }
    for (size_t a = 0; a < w; a++)
        trace += cov[a * w + a] / (double)w;
    for (size_t a = 0; a < w; a++) {
        cov[a * w + a] += RIDGE * trace;
        for (size_t b = 0; b <= a; b++) {
            double sum = cov[a * w + b];
            for (size_t c = 0; c < b; c++)
                sum -= cov[a * w + c] * cov[b * w + c];
            cov[a * w + b] = a == b ? sqrt(sum) : sum / cov[b * w + b];
        }
    }
    for (size_t b = 0; b < w; b++)
        for (size_t a = b; a < w; a++) {
            double sum = a == b;
            for (size_t c = b; c < a; c++)
                sum -= cov[a * w + c] * inverse[c * w + b];
            inverse[a * w + b] = sum / cov[a * w + a];
        }
    k->mean = xfloats(w);
    k->metric = xfloats(size_mul(w, w));
    for (size_t a = 0; a < w; a++)
        k->mean[a] = (float)mean[a];
    for (size_t a = 0; a < w * w; a++)
        k->metric[a] = (float)inverse[a];
    free(mean);
    free(cov);
    free(inverse);
}

static double distance(const Metric *k, const float *x)
{
    double all = 0;
    for (size_t a = 0; a < k->width; a++) {
        double sum = 0;
        for (size_t b = 0; b <= a; b++)
            sum += (double)k->metric[a * k->width + b] * ((double)x[b] - (double)k->mean[b]);
        all += sum * sum;
    }
    return sqrt(all);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static float limit_of(const Metric *k, const Job *held)
{
    double *d = xcalloc(held->count, sizeof *d);
    for (size_t i = 0; i < held->count; i++)
        d[i] = distance(k, held->feature + i * k->width);
    qsort(d, held->count, sizeof *d, by_size);
    float limit = (float)d[(size_t)(NEARER * (double)held->count)];
    free(d);
    return limit;
}

static bool write_seen(const char *path, const Metric *k, int block, float limit, Err *err)
{
    const float number = (float)block;
    const TensorOut out[] = {{.name = "mean", .rank = 1, .shape = {k->width}, .data = k->mean},
                             {.name = "metric", .rank = 2, .shape = {k->width, k->width}, .data = k->metric},
                             {.name = "limit", .rank = 1, .shape = {1}, .data = &limit},
                             {.name = "block", .rank = 1, .shape = {1}, .data = &number}};
    return tensors_write(path, TF_SAFETENSORS, out, sizeof out / sizeof *out, NULL, err);
}

/* --- pictures that are no photographs --- */

static void make_noise(const Job *j, size_t i, float *pixels)
{
    Rng r = rng_seed(i, UNLIKE_NOISE);
    for (size_t k = 0; k < j->cells; k++)
        pixels[k] = (float)rng_below(&r, 256);
}

static void make_flat(const Job *j, size_t i, float *pixels)
{
    Rng r = rng_seed(i, UNLIKE_FLAT);
    size_t channels = (size_t)j->m->vit.channels, plane = j->cells / channels;
    for (size_t c = 0; c < channels; c++) {
        float x = (float)rng_below(&r, 256);
        for (size_t k = 0; k < plane; k++)
            pixels[c * plane + k] = x;
    }
}

static void make_stripes(const Job *j, size_t i, float *pixels)
{
    Rng r = rng_seed(i, UNLIKE_STRIPES);
    size_t w = (size_t)j->m->vit.image_w, channels = (size_t)j->m->vit.channels, plane = j->cells / channels;
    size_t wide = STRIPE_LEAST + rng_below(&r, STRIPE_RANGE);
    uint32_t way = rng_below(&r, 3);
    for (size_t c = 0; c < channels; c++) {
        float one = (float)rng_below(&r, 256), two = (float)rng_below(&r, 256);
        for (size_t k = 0; k < plane; k++) {
            size_t at = way == 0 ? k / w : way == 1 ? k % w : k / w + k % w;
            pixels[c * plane + k] = at / wide % 2 ? one : two;
        }
    }
}

static void make_shuffled(const Job *j, size_t i, float *pixels)
{
    Rng r = rng_seed(i, UNLIKE_SHUFFLED);
    size_t w = (size_t)j->m->vit.image_w, h = (size_t)j->m->vit.image_h, plane = w * h, order[PIECES * PIECES];
    size_t channels = j->cells / plane, across = w / PIECES, down = h / PIECES;
    float *from = xfloats(j->cells);
    pictures_get(j->pictures, PICTURES_HELD_OUT, i, 1, from, NULL);
    memcpy(pixels, from, j->cells * sizeof *pixels);
    for (size_t k = 0; k < PIECES * PIECES; k++)
        order[k] = k;
    for (size_t k = PIECES * PIECES - 1; k > 0; k--) {
        size_t other = rng_below(&r, (uint32_t)k + 1), was = order[k];
        order[k] = order[other];
        order[other] = was;
    }
    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < down * PIECES; y++)
            for (size_t x = 0; x < across * PIECES; x++) {
                size_t piece = order[y / down * PIECES + x / across];
                pixels[c * plane + y * w + x] =
                    from[c * plane + (piece / PIECES * down + y % down) * w + piece % PIECES * across + x % across];
            }
    free(from);
}

static bool put_unlike(Job *base, const Metric *k, float limit, Pool *pool, Err *err)
{
    static const struct {
        const char *symbol;
        void (*make)(const Job *job, size_t i, float *pixels);
    } SETS[UNLIKE_COUNT] = {[UNLIKE_SHAPES] = {"SHAPES", NULL},
                            [UNLIKE_NOISE] = {"NOISE", make_noise},
                            [UNLIKE_FLAT] = {"FLAT", make_flat},
                            [UNLIKE_STRIPES] = {"STRIPES", make_stripes},
                            [UNLIKE_SHUFFLED] = {"SHUFFLED", make_shuffled}};
    Pictures *drawn = pictures_drawn(&base->m->preprocess, 0);
    bool ok = true;
    for (int i = 0; ok && i < UNLIKE_COUNT; i++) {
        Job j = *base;
        size_t far = 0;
        j.make = SETS[i].make;
        j.count = UNLIKE_PICTURES;
        j.set = PICTURES_HELD_OUT;
        if (!j.make)
            j.pictures = drawn;
        ok = look_at(&j, photos_unlike_text((PhotosUnlike)i), pool, err);
        for (size_t at = 0; ok && at < j.count; at++)
            far += distance(k, j.feature + at * k->width) >= (double)limit;
        printf("UNLIKE(%s, %zu, %zu)\n", SETS[i].symbol, far, j.count);
        free(j.feature);
    }
    pictures_free(drawn);
    return ok;
}

/* --- how sure it is --- */

typedef struct Sure {
    double loss, error;      /* cross entropy; expected calibration error in bins of a fifteenth (Guo et al. 2017) */
    size_t most, most_right; /* answers with at least 99 % */
} Sure;

/* Pictures first, first + 2, …, their logits divided by `warmth`. */
static Sure how_sure(const Job *j, size_t first, double warmth)
{
    enum { BINS = 15 };
    double said[BINS] = {0}, right[BINS] = {0}, n = 0;
    Sure all = {0};
    for (size_t i = first; i < j->count; i += 2, n++) {
        const float *x = j->logits + i * PHOTOS_CLASSES;
        int named = batch_run_largest(x, PHOTOS_CLASSES);
        double sum = 0;
        for (int o = 0; o < PHOTOS_CLASSES; o++)
            sum += exp(((double)x[o] - (double)x[named]) / warmth);
        int bin = (int)(BINS / sum);
        said[bin < BINS ? bin : BINS - 1] += 1 / sum;
        right[bin < BINS ? bin : BINS - 1] += named == j->label[i];
        all.loss += log(sum) - ((double)x[j->label[i]] - (double)x[named]) / warmth;
        all.most += 1 / sum >= 0.99;
        all.most_right += 1 / sum >= 0.99 && named == j->label[i];
    }
    all.loss /= n;
    for (int b = 0; b < BINS; b++)
        all.error += fabs(said[b] - right[b]) / n;
    return all;
}

/* The one number that makes probabilities of logits that are right as often as they say (temperature scaling, Guo et
 * al. 2017): fitted on every other picture, tried on the rest. */
static void put_warmth(const Job *j)
{
    double best = 1;
    for (int k = 50; k <= 400; k++)
        best = how_sure(j, 0, k / 100.0).loss < how_sure(j, 0, best).loss ? k / 100.0 : best;
    Sure plain = how_sure(j, 1, 1), warm = how_sure(j, 1, best);
    printf("VALUE(WARMTH, %.6f)\nVALUE(CALIBRATION, %.6f)\nVALUE(CALIBRATION_WARM, %.6f)\n", best, plain.error,
           warm.error);
    printf("WARM(%zu, %zu, %zu)\n", warm.most_right, warm.most, j->count / 2);
}

/* A third of the way, as docs/photos.md has it: farther up more noise passes, below more of the drawn shapes. */
static bool measure_seen(const Model *m, const Pictures *pictures, size_t held, const char *path, Pool *pool, Err *err)
{
    char node[64];
    const char *watch[] = {node};
    const int block = (m->vit.layers - 1) / 3;
    snprintf(node, sizeof node, "blocks.%d.resid_post", block);
    const BatchRunSetup setup = {.model = m, .watch = watch, .watch_count = 1, .threads = pool_threads(pool)};
    size_t learnt = pictures_count(pictures, PICTURES_TRAIN);
    Job j = {.m = m,
             .pictures = pictures,
             .set = PICTURES_TRAIN,
             .count = learnt < LEARNT_MOST ? learnt : LEARNT_MOST,
             .cells = (size_t)m->vit.channels * (size_t)m->vit.image_h * (size_t)m->vit.image_w,
             .prefix = vit_prefix(&m->vit),
             .run = batch_run_new(&setup, err)};
    Metric k = {0};
    bool ok = j.run && look_at(&j, "what it learned from", pool, err);
    if (ok)
        make_metric(&k, &j);
    free(j.feature);
    j.set = PICTURES_HELD_OUT;
    j.count = held;
    j.feature = NULL;
    j.logits = xfloats(size_mul(held, PHOTOS_CLASSES));
    j.label = xcalloc(held, sizeof *j.label);
    ok = ok && look_at(&j, "held-out photographs", pool, err);
    if (ok)
        put_warmth(&j);
    free(j.logits);
    free(j.label);
    j.logits = NULL;
    j.label = NULL;
    float limit = ok ? limit_of(&k, &j) : 0;
    free(j.feature);
    ok = ok && write_seen(path, &k, block, limit, err) && put_unlike(&j, &k, limit, pool, err);
    batch_run_free(j.run);
    free(k.mean);
    free(k.metric);
    return ok;
}

/* --- what is stated --- */

static void put_figure(FigureKind kind, int i, size_t right, Paired p)
{
    printf("FIGURE(%s, %d, %zu, %zu, %zu)\n", figures_name(kind), i, right, p.lost, p.won);
}

static void put_share(FigureKind kind, int i, double share, Paired p)
{
    put_figure(kind, i, (size_t)(share * (double)p.n + 0.5), p);
}

/* What only the model's card says. */
static void put_values(const Evaluation *e)
{
    const AttentionStatsResult *a = attention_stats_result(e->with);
    const PositionGrid *g = &e->grid;
    const struct {
        const char *name;
        double x;
    } VALUES[] = {{"LOSS", accuracy_result(e->trained)->loss.mean},
                  {"LOSS_MARGIN", accuracy_result(e->trained)->loss.margin},
                  {"UNIFORM", a->uniform},
                  {"MAXIMAL", a->maximal},
                  {"RANK", g->rank},
                  {"RANK_CENTRED", g->rank_centred},
                  {"NEAR4", g->near4},
                  {"CHANCE4", g->chance4},
                  {"NEAR8", g->near8},
                  {"CHANCE8", g->chance8}};
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++)
        printf("VALUE(%s, %.6f)\n", VALUES[i].name, VALUES[i].x);
}

static void put_evaluation(const Evaluation *e)
{
    const AccuracyResult *r = accuracy_result(e->trained);
    const AttentionStatsResult *a = attention_stats_result(e->with);
    AccuracySure sure[ACCURACY_SURES];
    printf("PICTURES(%zu)\n", e->pictures);
    put_values(e);
    put_figure(FIGURE_TRAINED, 0, r->right, (Paired){.n = 0});
    put_share(FIGURE_SCALE_OFF, 0, e->scale_off, e->scale_pair);
    put_share(FIGURE_POSITIONS, 0, e->positions_off, e->positions_pair);
    if (r->has_other)
        put_figure(FIGURE_OTHER, 0, r->other_right, e->other_pair);
    for (int i = 0; i < e->layers * e->heads; i++)
        put_share(FIGURE_HEAD, i, e->head[i], e->head_pair[i]);
    for (int i = 0; i < e->layers; i++) {
        put_share(FIGURE_ATTENTION, i, e->attention[i], e->attention_pair[i]);
        put_share(FIGURE_MLP, i, e->mlp[i], e->mlp_pair[i]);
    }
    for (int i = 0; i <= e->layers; i++)
        put_figure(FIGURE_LENS, i, a->lens_right[i], (Paired){.n = 0});
    for (int i = 0; i < e->layers * e->heads; i++)
        printf("HEAD(%d, %.6f, %.6f, %.6f, %.6f)\n", i, a->distance[i].mean, a->distance[i].margin, a->entropy[i].mean,
               a->entropy[i].margin);
    for (int o = 0; o < r->classes; o++) {
        printf("CONFUSION(%d", o);
        for (int k = 0; k < r->classes; k++)
            printf(", %zu", r->confusion[o * r->classes + k]);
        puts(")");
    }
    accuracy_by_sure(r, sure);
    for (int i = 0; i < ACCURACY_SURES; i++)
        printf("SURE(%d, %zu, %zu)\n", i, sure[i].right, sure[i].pictures);
}

static Accuracy *examine(const Model *m, Dataset *d, float factor, const char *what, Pool *pool, Err *err)
{
    Graph g;
    VitNodes nodes;
    Arena arena = {0};
    Edits edits = {0};
    float *zeros = xcalloc((size_t)m->vit.image_h * (size_t)m->vit.image_w * (size_t)m->vit.channels, sizeof *zeros);
    graph_init(&g);
    vit_build(&g, &m->vit, &m->weights, NULL, zeros, &nodes);
    if (!ablation_edits(&arena, &g, (Ablation){.kind = ABLATION_SCALE, .factor = factor}, &edits))
        fprintf(stderr, "make_photos: a model without a scale\n");
    const AccuracySetup setup = {
        .model = m, .edits = edits.edit, .edit_count = edits.count, .graph = &g, .dataset = d, .pool = pool};
    Accuracy *e = accuracy_new(&setup, err);
    while (e && !accuracy_step(e, clock_ns() + 200000000))
        photos_show(NULL, what, (double)accuracy_pictures_done(e) / (double)dataset_count(d));
    arena_free(&arena);
    graph_free(&g);
    free(zeros);
    return e;
}

static bool put_factors(const Model *m, Dataset *d, const AccuracyResult *trained, Pool *pool, Err *err)
{
    for (int i = 0; i < ABLATION_FACTORS; i++) {
        Accuracy *e = examine(m, d, ablation_factor(m->vit.scale, i), "factors on the scores", pool, err);
        if (!e)
            return false;
        const AccuracyResult *r = accuracy_result(e);
        put_figure(FIGURE_FACTOR, i, r->right, paired_count(r->label, trained->named, r->named, r->pictures));
        accuracy_free(e);
    }
    return true;
}

/* The model of drawn shapes, asked about photographs: what it says must not sound sure. Its own preparation of the
 * pictures, hence read again. */
static bool put_shapes(const char *folder, size_t held, Pool *pool, Err *err)
{
    const Asset *a = asset_find("shapes-vit.f32");
    Model m;
    if (!a || !model_bundled(&m, a->data, a->size, err))
        return false;
    m.class_names = NULL; /* its classes have other names: numbers will do, as none can be right */
    Pictures *pictures = pictures_folder(folder, &m.preprocess, reading, NULL, err);
    Dataset *d = pictures ? dataset_new(pictures, &m, PICTURES_HELD_OUT, 0, held) : NULL;
    Accuracy *e = d ? examine(&m, d, 1, "what shapes-vit says of them", pool, err) : NULL;
    if (e) {
        AccuracySure sure[ACCURACY_SURES];
        accuracy_by_sure(accuracy_result(e), sure);
        printf("SHAPES_SURE(%zu, %zu)\n", sure[0].pictures + sure[1].pictures, accuracy_result(e)->pictures);
    }
    bool ok = e != NULL;
    accuracy_free(e);
    dataset_free(d);
    pictures_free(pictures);
    model_free(&m);
    return ok;
}

static const char *const ROWS[] = {"PICTURES(n)",
                                   "FIGURE(kind, i, right, lost, won)",
                                   "HEAD(head, distance, distance_margin, entropy, entropy_margin)",
                                   "CONFUSION(label, ...)",
                                   "SURE(bin, right, count)",
                                   "UNLIKE(which, right, count)",
                                   "SHAPES_SURE(right, count)",
                                   "WARM(right, count, tried)",
                                   "GREYED(which, right, lost, won)",
                                   "ALIKE(stage, cosine, cosine_margin, share, share_margin)",
                                   "VALUE(name, x)"};

/* Every include defines the rows that it wants; the others are nothing. */
static void put_rows(bool begin)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        int name = (int)strcspn(ROWS[i], "(");
        if (begin)
            printf("#ifndef %.*s\n#define %s\n#endif\n", name, ROWS[i], ROWS[i]);
        else
            printf("#undef %.*s\n", name, ROWS[i]);
    }
}

int main(int argc, char **argv)
{
    Model m = {0};
    Err err = {""};
    Evaluation e = {0};
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: make_photos MODEL FOLDER SEEN.safetensors [PICTURES]\n");
        return 2;
    }
    Pool *pool = pool_new(0);
    bool ok = model_load(&m, argv[1], NULL, NULL, &err);
    Pictures *pictures = ok ? pictures_folder(argv[2], &m.preprocess, reading, NULL, &err) : NULL;
    ok = pictures && dataset_suits(&m, pictures, &err);
    size_t held = ok ? pictures_count(pictures, PICTURES_HELD_OUT) : 0,
           most = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    held = most && most < held ? most : held;
    Dataset *dataset = ok ? dataset_new(pictures, &m, PICTURES_HELD_OUT, 0, held) : NULL;
    if (ok) {
        puts("/* Measured by `make figures-photos`; see core/eval/figures.h. FIGURE: kind, which, named right, right "
             "only as\n"
             " * trained, right only so. */");
        put_rows(true);
    }
    ok = ok && measure_seen(&m, pictures, held, argv[3], pool, &err) && photos_maps(&m, pictures, held, pool, &err) &&
         evaluation_run(&e, &m, dataset, pool, photos_show, NULL, &err);
    if (ok) {
        put_evaluation(&e);
        ok = put_factors(&m, dataset, accuracy_result(e.trained), pool, &err) && put_shapes(argv[2], held, pool, &err);
        put_rows(false);
        evaluation_free(&e);
    }
    fputs("\r\033[K", stderr);
    if (!ok)
        fprintf(stderr, "make_photos: %s\n", err.text);
    dataset_free(dataset);
    pictures_free(pictures);
    pool_free(pool);
    model_free(&m);
    return ok ? 0 : 1;
}
