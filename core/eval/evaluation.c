#include "core/eval/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"
#include "core/models/drawn.h"
#include "core/models/family.h"
#include "core/train/vit_train.h"

enum { SLICE_NS = 50000000, KEPT_SHARE = 8 /* of the memory, for what the examinations have in common */ };

/* What the runs have in common. */
typedef struct Course {
    const Model *model;
    Dataset *dataset;
    Pool *pool;
    Graph graph; /* of one picture: edits are made for it */
    float *zeros;
    EvaluationProgress progress;
    void *context;
    size_t done, total; /* passes over all pictures */
    const AccuracyResult *trained;
    const Accuracy *front; /* the examination as trained: the others begin behind what they have in common with it */
} Course;

static void open_course(Course *c, Evaluation *e)
{
    const PictureGrid grid = model_grid(c->model);
    Graph *g = &c->graph;
    c->zeros = xcalloc(grid_values(&grid), sizeof *c->zeros);
    graph_init(g);
    c->model->family->build(c->model, g, &(ModelInput){.kind = INPUT_PICTURE, .values = c->zeros});
    e->layers = anatomy_blocks(g, NULL);
    for (int a = 0; a < anatomy_attentions(g); a++) { /* where blocks have different numbers, the most */
        const int axis = node_role(g, site_node(g, anatomy_attention(g, a), SITE_Z), ROLE_HEAD),
                  heads = axis == AXIS_NONE ? 0 : g->axes[axis].n;
        e->heads = heads > e->heads ? heads : e->heads;
    }
    size_t random = dataset_have_masks(c->dataset) ? (size_t)RANDOM_SEEDS : 0;
    c->total = 5 + random +
               (size_t)e->layers *
                   ((size_t)e->heads + 2); /* trained, scale, positions, surveys; heads and sub-layers */
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
                                 .pool = c->pool,
                                 .keeps = !c->trained,
                                 .keep_most = machine_memory() / KEPT_SHARE,
                                 .front = c->front};
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
    if (!e->with || !dataset_have_masks(c->dataset))
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
    c->front = e->trained;
    if (isnan(r->loss.mean))
        return err_set(err, "%.200s: its logits are NaN: there is no accuracy", c->model->name);
    e->accuracy = accuracy_share(r);
    if (r->has_other)
        e->other_pair = paired_count(r->label, r->named, r->other_named, r->pictures);
    return share_without(c, (Ablation){.kind = ABLATION_SCALE}, "without the scale", &e->scale_off, &e->scale_pair,
                         err) &&
           share_without(c, (Ablation){.kind = ABLATION_POSITIONS}, "without positions", &e->positions_off,
                         &e->positions_pair, err) &&
           run_blocks(c, e, err) &&
           (!attention_stats_has(&c->graph) ||
            ((e->with = hold_survey(c, c->model, (Ablation){.kind = ABLATION_NONE}, 0, "attention", err)) != NULL &&
             (e->without = hold_survey(c, c->model, (Ablation){.kind = ABLATION_SCALE}, 0,
                                       "attention without the scale", err)) != NULL)) &&
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
    *e = (Evaluation){.pictures = dataset_count(dataset)};
    open_course(&c, e);
    const size_t layers = (size_t)e->layers, heads = size_mul(layers, (size_t)e->heads);
    e->head = xcalloc(heads, sizeof *e->head);
    e->attention = xcalloc(layers, sizeof *e->attention);
    e->mlp = xcalloc(layers, sizeof *e->mlp);
    e->head_pair = xcalloc(heads, sizeof *e->head_pair);
    e->attention_pair = xcalloc(layers, sizeof *e->attention_pair);
    e->mlp_pair = xcalloc(layers, sizeof *e->mlp_pair);
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

/* --- where taking the scale away shows most --- */

typedef struct Search {
    const Model *model;
    const uint64_t *numbers;
    BatchRun *with, *without;
    ScaleSearchRow *fall, *still, *middle; /* [pictures]: of each the row with the largest drop in entropy, the one that
                                              changes least, and the one with the median drop */
} Search;

static BatchRun *open_batch_run(const Model *m, const Graph *g, Ablation r, int threads, Err *err)
{
    Arena arena = {0};
    Edits edits;
    const VitConfig *c = &m->vit;
    const char **watch = arena_alloc(&arena, size_mul((size_t)c->layers, sizeof *watch));
    for (int layer = 0, a = NO_PART; layer < c->layers; layer++)
        watch[layer] = site_path(g, a = anatomy_next(g, a, PART_ATTENTION), SITE_ENTROPY);
    if (!ablation_edits(&arena, g, r, &edits))
        UNREACHABLE("a model without a scale");
    const BatchRunSetup setup = {.model = m,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = g,
                                 .single = true,
                                 .watch = watch,
                                 .watch_count = c->layers,
                                 .threads = threads};
    BatchRun *s = batch_run_new(&setup, err);
    arena_free(&arena);
    return s;
}

/* The picture into a batch run's next pass; returns its class. */
static int draw(const Search *s, size_t item, BatchRun *to, int worker)
{
    uint8_t drawn[DRAWN_SIDE * DRAWN_SIDE * 3];
    Image resized, in = {.width = DRAWN_SIDE, .height = DRAWN_SIDE, .channels = 3, .data = drawn};
    Err err = {{0}};
    int label = drawn_picture(s->numbers[item], drawn, NULL);
    if (!preprocess_run(&s->model->preprocess, &in, &resized, batch_run_pixels(to, worker, 0), &err))
        UNREACHABLE("a drawn picture that the model's size does not suit");
    image_free(&resized);
    return label;
}

/* Row i of a block, [h,t] flattened. */
static void stand_on(ScaleSearchRow *row, int layer, int i, int tokens, float with, float without)
{
    row->layer = layer;
    row->head = i / tokens;
    row->query = i % tokens;
    row->entropy_with = with;
    row->entropy_without = without;
}

/* Does row i of a block reach the answer? In the last block of a model that reads its class token only that token's row
 * does. */
static bool reaches_answer(const VitConfig *c, int layer, int i)
{
    return layer + 1 < c->layers || c->pool != VIT_POOL_CLS || i % vit_tokens(c) == 0;
}

typedef struct Drop {
    float drop;
    int layer, i;
    float with, without;
} Drop;

static int compare_drops(const void *a, const void *b)
{
    const Drop *x = a, *y = b;
    if (x->drop != y->drop)
        return (x->drop > y->drop) - (x->drop < y->drop);
    return x->layer != y->layer ? x->layer - y->layer : x->i - y->i;
}

static void examine(void *search, size_t item, int worker)
{
    Search *s = search;
    const VitConfig *c = &s->model->vit;
    int tokens = vit_tokens(c);
    size_t rows = 0;
    double sum = 0;
    Drop *all = xcalloc(size_mul((size_t)c->layers, size_mul((size_t)c->heads, (size_t)tokens)), sizeof *all);
    float most = -INFINITY, least = INFINITY;
    ScaleSearchRow fall = {.found = true, .number = s->numbers[item], .label = draw(s, item, s->with, worker)};
    draw(s, item, s->without, worker);
    batch_run_compute(s->with, worker);
    batch_run_compute(s->without, worker);
    fall.with = batch_run_largest(batch_run_logits(s->with, worker, 0), c->classes);
    fall.without = batch_run_largest(batch_run_logits(s->without, worker, 0), c->classes);
    ScaleSearchRow still = fall;
    for (int layer = 0; layer < c->layers; layer++) {
        const float *a = batch_run_watched(s->with, worker, layer, 0),
                    *b = batch_run_watched(s->without, worker, layer, 0);
        for (int i = 0; i < c->heads * tokens; i++) {
            float drop = a[i] - b[i];
            sum += fabs((double)drop);
            if (!reaches_answer(c, layer, i))
                continue;
            all[rows++] = (Drop){drop, layer, i, a[i], b[i]};
            if (drop > most) {
                most = drop;
                stand_on(&fall, layer, i, tokens, a[i], b[i]);
            }
            if (fabsf(drop) < least) {
                least = fabsf(drop);
                stand_on(&still, layer, i, tokens, a[i], b[i]);
            }
        }
    }
    fall.change = still.change = sum / ((double)c->layers * c->heads * tokens);
    s->fall[item] = s->middle[item] = fall;
    s->still[item] = still;
    qsort(all, rows, sizeof *all, compare_drops);
    const Drop *m = &all[(rows - 1) / 2];
    stand_on(&s->middle[item], m->layer, m->i, tokens, m->with, m->without);
    free(all);
}

static int compare_changes(const void *a, const void *b)
{
    const ScaleSearchRow *x = a, *y = b;
    if (x->change != y->change)
        return (x->change > y->change) - (x->change < y->change);
    return (x->number > y->number) - (x->number < y->number);
}

static void choose(ScaleSearch *out, const Search *s, size_t count)
{
    *out = (ScaleSearch){.pictures = count};
    for (size_t i = 0; i < count; i++) {
        const ScaleSearchRow *r = &s->fall[i];
        bool right = r->with == r->label, same = r->without == r->with;
        out->changed += !same;
        if (right && !same &&
            (!out->collapse.found ||
             r->entropy_with - r->entropy_without > out->collapse.entropy_with - out->collapse.entropy_without))
            out->collapse = *r;
        if (right && same && (!out->steady.found || r->change < out->steady.change))
            out->steady = s->still[i];
    }
    if (!count)
        return;
    qsort(s->middle, count, sizeof *s->middle, compare_changes);
    out->typical = s->middle[(count - 1) / 2];
}

static void name_pattern(const Graph *g, ScaleSearchRow *r)
{
    int a = NO_PART;
    for (int layer = 0; layer <= r->layer; layer++)
        a = anatomy_next(g, a, PART_ATTENTION);
    snprintf(r->pattern, sizeof r->pattern, "%s", site_path(g, a, SITE_PATTERN));
}

bool scale_search_find(ScaleSearch *out, const Model *m, const uint64_t *numbers, size_t count, Pool *pool,
                       bool (*progress)(void *context, const char *what, double share), void *context, Err *err)
{
    Graph g;
    const PictureGrid grid = model_grid(m);
    float *zeros = xcalloc(grid_values(&grid), sizeof *zeros);
    graph_init(&g);
    m->family->build(m, &g, &(ModelInput){.kind = INPUT_PICTURE, .values = zeros});
    Search s = {.model = m,
                .numbers = numbers,
                .fall = xcalloc(count + 1, sizeof *s.fall),
                .still = xcalloc(count + 1, sizeof *s.still),
                .middle = xcalloc(count + 1, sizeof *s.middle)};
    bool ok = site_path_any(&g, SITE_ENTROPY) || err_set(err, "rows of its attention are not measured in this model");
    if (ok) {
        s.with = open_batch_run(m, &g, (Ablation){.kind = ABLATION_NONE}, pool_threads(pool), err);
        s.without = open_batch_run(m, &g, (Ablation){.kind = ABLATION_SCALE}, pool_threads(pool), err);
        ok = s.with && s.without;
    }
    for (size_t done = 0; ok && done < count;) {
        done = pool_run(pool, done, count, examine, &s, clock_ns() + SLICE_NS);
        ok = !progress || progress(context, "looking for a telling picture", (double)done / (double)count) ||
             err_set(err, "cancelled");
    }
    if (ok) {
        choose(out, &s, count);
        ScaleSearchRow *const rows[] = {&out->collapse, &out->steady, &out->typical};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            name_pattern(&g, rows[i]);
    }
    batch_run_free(s.with);
    batch_run_free(s.without);
    graph_free(&g);
    free(zeros);
    free(s.fall);
    free(s.still);
    free(s.middle);
    return ok;
}
