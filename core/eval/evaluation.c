#include "core/eval/evaluation.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/models/probes.h"
#include "core/train/start.h"

enum { SLICE_NS = 50000000 };

/* What the runs have in common. */
typedef struct Course {
    const Model *model;
    Dataset *dataset;
    Pool *pool;
    Graph graph; /* of one picture: edits are made for it */
    VitNodes nodes;
    float *zeros;
    EvaluationProgress progress;
    void *context;
    size_t done, total; /* passes over all pictures */
    const AccuracyResult *trained;
} Course;

static void open_course(Course *c)
{
    const VitConfig *v = &c->model->vit;
    c->zeros = xcalloc(vit_values(v), sizeof *c->zeros);
    graph_init(&c->graph);
    vit_build(&c->graph, v, &c->model->weights, NULL, c->zeros, &c->nodes);
    probes_add(&c->graph, v, &c->nodes);
    size_t random = dataset_have_masks(c->dataset) ? (size_t)RANDOM_SEEDS : 0;
    c->total = 5 + random +
               (size_t)v->layers *
                   ((size_t)v->heads + 2); /* trained, scale, positions, surveys; heads and sub-layers */
}

static void close_course(Course *c)
{
    graph_free(&c->graph);
    free(c->zeros);
}

static bool report(Course *c, const char *what, size_t pictures, Err *err)
{
    double share = ((double)c->done + (double)pictures / (double)(dataset_count(c->dataset) + 1)) / (double)c->total;
    return !c->progress || c->progress(c->context, what, share) || err_set(err, "cancelled");
}

/* One examination to its end; NULL when cancelled. */
static Accuracy *hold_exam(Course *c, Edits edits, bool other, const char *what, Err *err)
{
    const AccuracySetup setup = {.model = c->model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = &c->graph,
                                 .dataset = c->dataset,
                                 .other = other,
                                 .pool = c->pool};
    if (!report(c, what, 0, err)) /* few pictures are one step, and there are many examinations */
        return NULL;
    Accuracy *e = accuracy_new(&setup, err);
    while (e && !accuracy_step(e, clock_ns() + SLICE_NS))
        if (!report(c, what, accuracy_pictures_done(e), err)) {
            accuracy_free(e);
            return NULL;
        }
    c->done++;
    return e;
}

/* Share named right without that; NaN where the model has no such part. False when cancelled. */
static bool share_without(Course *c, Ablation r, const char *what, double *share, Paired *pair, Err *err)
{
    Arena arena = {0};
    Edits edits;
    bool ok = true;
    *share = (double)NAN;
    if (ablation_edits(&arena, &c->graph, r, &edits)) {
        Accuracy *e = hold_exam(c, edits, false, what, err);
        ok = e != NULL;
        if (ok) {
            const AccuracyResult *now = accuracy_result(e);
            *share = accuracy_share(now);
            *pair = paired_count(now->label, c->trained->named, now->named, now->pictures);
        }
        accuracy_free(e);
    } else
        c->done++;
    arena_free(&arena);
    return ok;
}

static AttentionStats *hold_survey(Course *c, const Model *m, Ablation r, size_t most, const char *what, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (!report(c, what, 0, err))
        return NULL;
    if (!ablation_edits(&arena, &c->graph, r, &edits))
        UNREACHABLE("a model without a scale");
    const AttentionStatsSetup setup = {.model = m,
                                       .edits = edits.edit,
                                       .edit_count = edits.count,
                                       .graph = &c->graph,
                                       .dataset = c->dataset,
                                       .most = most,
                                       .pool = c->pool};
    AttentionStats *s = attention_stats_new(&setup, err);
    arena_free(&arena);
    while (s && !attention_stats_step(s, clock_ns() + SLICE_NS))
        if (!report(c, what, attention_stats_pictures_done(s), err)) {
            attention_stats_free(s);
            return NULL;
        }
    c->done++;
    return s;
}

static bool run_blocks(Course *c, Evaluation *e, Err *err)
{
    bool ok = true;
    for (int layer = 0; ok && layer < e->layers; layer++) {
        ok = share_without(c, (Ablation){.kind = ABLATION_ATTENTION, .layer = layer}, "without one attention",
                           &e->attention[layer], &e->attention_pair[layer], err) &&
             share_without(c, (Ablation){.kind = ABLATION_MLP, .layer = layer}, "without one MLP", &e->mlp[layer],
                           &e->mlp_pair[layer], err);
        for (int head = 0; ok && head < e->heads; head++)
            ok = share_without(c, (Ablation){.kind = ABLATION_HEAD, .layer = layer, .head = head}, "without one head",
                               &e->head[layer * e->heads + head], &e->head_pair[layer * e->heads + head], err);
    }
    return ok;
}

static bool survey_random(Course *c, Evaluation *e, Err *err)
{
    if (!dataset_have_masks(c->dataset))
        return true;
    for (int i = 0; i < RANDOM_SEEDS; i++) {
        Model random;
        model_seeded(&random, &c->model->vit, 1);
        start_weights(&random, (uint64_t)i + 1);
        AttentionStats *s = hold_survey(c, &random, (Ablation){.kind = ABLATION_NONE}, RANDOM_PICTURES,
                                        "attention before any training", err);
        if (s) {
            const AttentionStatsResult *r = attention_stats_result(s);
            e->random.pictures = r->pictures;
            e->random.seen = r->seen;
            e->random.rollout[i] = r->rollout.mean;
            e->random.peak[i] = r->rollout_peak;
        }
        attention_stats_free(s);
        model_free(&random);
        if (!s)
            return false;
    }
    return true;
}

static RandomSpread spread(const double x[RANDOM_SEEDS])
{
    RandomSpread s = {0, x[0], x[0]};
    for (int i = 0; i < RANDOM_SEEDS; i++) {
        s.mean += x[i] / RANDOM_SEEDS;
        s.least = x[i] < s.least ? x[i] : s.least;
        s.most = x[i] > s.most ? x[i] : s.most;
    }
    return s;
}

RandomSpread random_rollout(const RandomWeights *r)
{
    return spread(r->rollout);
}

RandomSpread random_peak(const RandomWeights *r)
{
    double share[RANDOM_SEEDS];
    for (int i = 0; i < RANDOM_SEEDS; i++)
        share[i] = r->seen ? (double)r->peak[i] / (double)r->seen : 0;
    return spread(share);
}

static bool run_all(Course *c, Evaluation *e, Err *err)
{
    e->trained = hold_exam(c, (Edits){.count = 0}, true, "as trained", err);
    if (!e->trained)
        return false;
    const AccuracyResult *r = c->trained = accuracy_result(e->trained);
    e->accuracy = accuracy_share(r);
    if (r->has_other)
        e->other_pair = paired_count(r->label, r->named, r->other_named, r->pictures);
    return share_without(c, (Ablation){.kind = ABLATION_SCALE}, "without the scale", &e->scale_off, &e->scale_pair,
                         err) &&
           share_without(c, (Ablation){.kind = ABLATION_POSITIONS}, "without positions", &e->positions_off,
                         &e->positions_pair, err) &&
           run_blocks(c, e, err) &&
           (e->with = hold_survey(c, c->model, (Ablation){.kind = ABLATION_NONE}, 0, "attention", err)) != NULL &&
           (e->without = hold_survey(c, c->model, (Ablation){.kind = ABLATION_SCALE}, 0, "attention without the scale",
                                     err)) != NULL &&
           survey_random(c, e, err);
}

void evaluation_places(const Evaluation *e, int head, int *first, int *last)
{
    int count = e->layers * e->heads;
    Interval *of = xcalloc((size_t)count, sizeof *of);
    for (int i = 0; i < count; i++)
        of[i] = paired_interval(e->head_pair[i]);
    interval_places(of, count, head, first, last);
    free(of);
}

bool evaluation_run(Evaluation *e, const Model *m, Dataset *dataset, Pool *pool, EvaluationProgress progress,
                    void *context, Err *err)
{
    Course c = {.model = m, .dataset = dataset, .pool = pool, .progress = progress, .context = context};
    size_t layers = (size_t)m->vit.layers, heads = (size_t)m->vit.heads;
    *e = (Evaluation){.pictures = dataset_count(dataset),
                      .layers = m->vit.layers,
                      .heads = m->vit.heads,
                      .head = xcalloc(size_mul(layers, heads), sizeof(double)),
                      .attention = xcalloc(layers, sizeof(double)),
                      .mlp = xcalloc(layers, sizeof(double)),
                      .head_pair = xcalloc(size_mul(layers, heads), sizeof(Paired)),
                      .attention_pair = xcalloc(layers, sizeof(Paired)),
                      .mlp_pair = xcalloc(layers, sizeof(Paired))};
    open_course(&c);
    if (vit_has(&m->vit, VIT_POS))
        e->has_grid = position_grid_figures(&m->vit, vit_weight(&m->weights, VIT_POS, 0)->data, &e->grid);
    bool ok = run_all(&c, e, err);
    close_course(&c);
    if (!ok)
        evaluation_free(e);
    return ok;
}

void evaluation_free(Evaluation *e)
{
    accuracy_free(e->trained);
    attention_stats_free(e->with);
    attention_stats_free(e->without);
    free(e->head);
    free(e->attention);
    free(e->mlp);
    free(e->head_pair);
    free(e->attention_pair);
    free(e->mlp_pair);
    *e = (Evaluation){.pictures = 0};
}
