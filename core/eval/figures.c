#include "core/eval/figures.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

static const struct {
    const char *name;
    int count;
} KINDS[] = {
#define X(symbol, count) {#symbol, count},
    FIGURE_KINDS(X)
#undef X
};

int figures_count(FigureKind kind)
{
    return KINDS[kind].count;
}

const char *figures_name(FigureKind kind)
{
    return KINDS[kind].name;
}

int figures_at(FigureKind kind, int i)
{
    int at = 0;
    REQUIRE(i >= 0 && i < KINDS[kind].count);
    for (int k = 0; k < (int)kind; k++)
        at += KINDS[k].count;
    return at + i;
}

#define X(symbol, count) +(count)
_Static_assert(0 FIGURE_KINDS(X) == FIGURES_MOST, "FIGURES_MOST is the sum of all counts");
#undef X

/* --- the shipped ones; the order of the rows is that of figures_at, which a test checks --- */

#define FIGURE(kind, i, right, lost, won) {right, {lost, won, FIGURES_PICTURES}},
#define PART(kind, i, right, lost, won)
#define MEAN(kind, value)
#define PART_MEAN(kind, value)
static const Figure WHOLE[FIGURES_MOST] = {
#include "core/eval/figures.def"
};
#undef FIGURE
#undef MEAN
#define FIGURE(kind, i, right, lost, won)
#define MEAN(kind, value) [FIGURE_MEAN_##kind] = value,
static const double WHOLE_MEAN[FIGURE_MEAN_COUNT] = {
#include "core/eval/figures.def"
};
#undef FIGURE
#undef PART
#undef MEAN
#undef PART_MEAN

Figure figures_get(FigureKind kind, int i)
{
    return WHOLE[figures_at(kind, i)];
}

double figures_mean(FigureMean mean)
{
    return WHOLE_MEAN[mean];
}

size_t figures_over(FigureKind kind, size_t pictures)
{
    return kind == FIGURE_PEAK_RANDOM && pictures > RANDOM_PICTURES ? RANDOM_PICTURES : pictures;
}

RandomSpread figures_random_peak(void)
{
    RandomWeights r = {.seen = figures_over(FIGURE_PEAK_RANDOM, FIGURES_PICTURES)};
    for (int i = 0; i < RANDOM_SEEDS; i++)
        r.peak[i] = figures_get(FIGURE_PEAK_RANDOM, i).right;
    return random_peak(&r);
}

/* --- measuring --- */

typedef struct Measurer {
    Figures *out;
    Dataset *dataset;
    Pool *pool;
    bool (*progress)(void *context, const char *what, double share);
    void *context;
} Measurer;

static void put(Measurer *m, FigureKind kind, int i, size_t right, Paired pair)
{
    pair.n = m->out->pictures;
    m->out->figure[figures_at(kind, i)] = (Figure){right, pair};
}

static void put_share(Measurer *m, FigureKind kind, int i, double share, Paired pair)
{
    put(m, kind, i, (size_t)(share * (double)m->out->pictures + 0.5), pair);
}

static void put_evaluation(Measurer *m, const Evaluation *e)
{
    const AccuracyResult *r = accuracy_result(e->trained);
    const AttentionStatsResult *a = attention_stats_result(e->with);
    const RandomSpread random = random_rollout(&e->random);
    put(m, FIGURE_TRAINED, 0, r->right, (Paired){.n = 0});
    put_share(m, FIGURE_SCALE_OFF, 0, e->scale_off, e->scale_pair);
    put_share(m, FIGURE_POSITIONS, 0, e->positions_off, e->positions_pair);
    put(m, FIGURE_OTHER, 0, r->other_right, e->other_pair);
    for (int i = 0; i < e->layers * e->heads; i++)
        put_share(m, FIGURE_HEAD, i, e->head[i], e->head_pair[i]);
    for (int i = 0; i < e->layers; i++) {
        put_share(m, FIGURE_ATTENTION, i, e->attention[i], e->attention_pair[i]);
        put_share(m, FIGURE_MLP, i, e->mlp[i], e->mlp_pair[i]);
    }
    for (int i = 0; i <= e->layers; i++)
        put(m, FIGURE_LENS, i, a->lens_right[i], (Paired){.n = 0});
    put(m, FIGURE_PEAK, 0, a->rollout_peak, (Paired){.n = 0});
    for (int i = 0; i < RANDOM_SEEDS; i++)
        put(m, FIGURE_PEAK_RANDOM, i, e->random.peak[i], (Paired){.n = 0});
    put(m, FIGURE_PEAK_FIXED, 0, a->fixed_peak, (Paired){.n = 0});
    put(m, FIGURE_PEAK_BRIGHT, 0, a->bright_peak, (Paired){.n = 0});
    const double mean[FIGURE_MEAN_COUNT] = {a->rollout.mean, random.mean,    random.least, random.most,
                                            a->fixed.mean,   a->bright.mean, a->area.mean, a->covered.mean};
    for (int i = 0; i < FIGURE_MEAN_COUNT; i++)
        m->out->mean[i] = mean[i];
}

/* Names all pictures with the model, its scales times factor; 0: no scale. NULL when cancelled. */
static Accuracy *examine(Measurer *m, const Model *model, const Graph *g, float factor, const char *what, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (m->progress && !m->progress(m->context, what, 0)) {
        err_set(err, "cancelled");
        return NULL;
    }
    if (!ablation_edits(&arena, g, (Ablation){.kind = ABLATION_SCALE, .factor = factor}, &edits))
        UNREACHABLE("a model without a scale");
    const AccuracySetup setup = {.model = model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = g,
                                 .dataset = m->dataset,
                                 .pool = m->pool};
    Accuracy *e = accuracy_new(&setup, err);
    arena_free(&arena);
    while (e && !accuracy_step(e, clock_ns() + 50000000))
        if (m->progress &&
            !m->progress(m->context, what, (double)accuracy_pictures_done(e) / (double)(m->out->pictures + 1))) {
            accuracy_free(e);
            err_set(err, "cancelled");
            return NULL;
        }
    return e;
}

static bool put_factor(Measurer *m, FigureKind kind, int i, const Model *model, float factor, const int *named,
                       const char *what, Err *err)
{
    const VitConfig *v = &model->vit;
    float *zeros = xcalloc(vit_values(v), sizeof *zeros);
    Graph g;
    VitNodes nodes;
    graph_init(&g);
    vit_build(&g, v, &model->weights, NULL, zeros, &nodes);
    Accuracy *e = examine(m, model, &g, factor, what, err);
    if (e) {
        const AccuracyResult *r = accuracy_result(e);
        put(m, kind, i, r->right, paired_count(r->label, named, r->named, r->pictures));
    }
    accuracy_free(e);
    graph_free(&g);
    free(zeros);
    return e != NULL;
}

bool figures_measure(Figures *out, const Model *m, const Model *twin, size_t pictures, Pool *pool,
                     bool (*progress)(void *context, const char *what, double share), void *context, Err *err)
{
    REQUIRE(m->vit.layers == FIGURES_BLOCKS && m->vit.heads == FIGURES_HEADS);
    *out = (Figures){.pictures = pictures};
    Pictures *drawn = pictures_drawn(&m->preprocess, 0);
    Measurer w = {out, dataset_new(drawn, m, PICTURES_HELD_OUT, 0, pictures), pool, progress, context};
    Evaluation e;
    bool ok = evaluation_run(&e, m, w.dataset, pool, progress, context, err);
    if (ok) {
        put_evaluation(&w, &e);
        const int *named = accuracy_result(e.trained)->named;
        for (int i = 0; ok && i < ABLATION_FACTORS; i++)
            ok = put_factor(&w, FIGURE_FACTOR, i, m, ablation_factor(m->vit.scale, i), named, "factors", err);
        if (ok && twin)
            ok = put_factor(&w, FIGURE_TWIN, 0, twin, 1, named, "twin", err) &&
                 put_factor(&w, FIGURE_TWIN_SCALED, 0, twin, m->vit.scale, named, "twin", err);
        evaluation_free(&e);
    }
    dataset_free(w.dataset);
    pictures_free(drawn);
    return ok;
}

/* --- photos, the model that has seen photographs --- */

/* photos.def defines what is not defined here as nothing, and forgets it at its end: each list takes its own rows. */
enum {
    COUNT = 0
#define PICTURES(n) +(n)
#include "core/eval/photos.def"
};

#define FIGURE(kind, i, right, lost, won) {FIGURE_##kind, i, {right, {lost, won, COUNT}}},
static const struct {
    FigureKind kind;
    int i;
    Figure figure;
} FIGURES[] = {
#include "core/eval/photos.def"
};

#define CONFUSION(label, ...) [label] = {__VA_ARGS__},
static const size_t CONFUSED[PHOTOS_CLASSES][PHOTOS_CLASSES] = {
#include "core/eval/photos.def"
};

#define SURE(bin, right, count) [bin] = {right, count},
static const AccuracySure SURES[ACCURACY_SURES] = {
#include "core/eval/photos.def"
};

#define HEAD(head, distance, distance_margin, entropy, entropy_margin)                                                 \
    [head] = {{distance, distance_margin}, {entropy, entropy_margin}},
static const struct {
    MeanOver distance, entropy;
} HEADS[] = {
#include "core/eval/photos.def"
};

#define UNLIKE(which, right, count) [UNLIKE_##which] = {right, count},
static const AccuracySure FAR[UNLIKE_COUNT] = {
#include "core/eval/photos.def"
};

#define GREYED(which, right, lost, won) [GREYED_##which] = {lost, won, COUNT},
static const Paired GREY[GREYED_COUNT] = {
#include "core/eval/photos.def"
};

size_t photos_pictures(void)
{
    return COUNT;
}

Figure photos_figure(FigureKind kind, int i)
{
    for (size_t k = 0; k < sizeof FIGURES / sizeof *FIGURES; k++)
        if (FIGURES[k].kind == kind && FIGURES[k].i == i)
            return FIGURES[k].figure;
    return (Figure){0};
}

const size_t *photos_confusion(void)
{
    return CONFUSED[0];
}

AccuracySure photos_sure(int bin)
{
    return SURES[bin];
}

MeanOver photos_distance(int head)
{
    return head >= 0 && (size_t)head < sizeof HEADS / sizeof *HEADS ? HEADS[head].distance : (MeanOver){0, 0};
}

MeanOver photos_entropy(int head)
{
    return head >= 0 && (size_t)head < sizeof HEADS / sizeof *HEADS ? HEADS[head].entropy : (MeanOver){0, 0};
}

Paired photos_greyed(PhotosGreyed which)
{
    return GREY[which];
}

AccuracySure photos_unlike(PhotosUnlike which)
{
    return FAR[which];
}

const char *photos_unlike_text(PhotosUnlike which)
{
    static const char *const TEXT[UNLIKE_COUNT] = {
#define X(symbol, text) text,
        PHOTOS_UNLIKE(X)
#undef X
    };
    return TEXT[which];
}
