#include "core/train/trainer.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/train/start.h"
#include "core/train/trainer_parts.h"

enum { HIDING_SEED = 1000 }; /* the stream of hidden patches is another than that of the weights */

static size_t image_cells(const VitConfig *c)
{
    return size_mul(size_mul((size_t)c->image_h, (size_t)c->image_w), (size_t)c->channels);
}

static void list_weights(Trainer *t)
{
    const VitConfig *c = &t->model.vit;
    t->descent = descent_new(t->model.block, t->model.block_cells, vit_weights_count(c),
                             (size_t)t->recipe.batch / MICRO_BATCH);
    for (int layer = -1; layer < c->layers; layer++)
        for (int i = 0; i < VIT_ROLES; i++) {
            VitRole r = (VitRole)i;
            if (vit_role_in_block(r) != (layer >= 0) || !vit_has(c, r))
                continue;
            const WeightTensor *at = vit_weight(&t->model.weights, r, layer);
            descent_list(&t->descent, (size_t)(at - t->model.weights.at), at->data, vit_role_cells(c, r),
                         r == VIT_POS ? t->recipe.position_rate : 1, start_decays(r) ? t->recipe.decay : 0);
        }
}

static Plan *gradient_plan(const Trainer *t, const LossGraph *l)
{
    NodeId *wanted = xcalloc(t->descent.weights + 3, sizeof *wanted);
    int n = descent_wanted(&t->descent, l->gradient, wanted);
    wanted[n++] = l->each;
    wanted[n++] = l->nodes.logits;
    if (l->guess_error != NO_NODE)
        wanted[n++] = l->guess_error;
    Plan *p = plan_new(&l->graph, wanted, n);
    free(wanted);
    return p;
}

static void open_bench(Trainer *t, Worker *b)
{
    const VitConfig *c = &t->model.vit;
    b->pixels = xfloats(size_mul(MICRO_BATCH, image_cells(c)));
    b->target = xfloats(size_mul(MICRO_BATCH, (size_t)c->classes));
    b->class_weight = xfloats(MICRO_BATCH);
    b->clean = gradient_plan(t, &t->clean);
    plan_leaf(b->clean, t->clean.nodes.input, b->pixels);
    plan_leaf(b->clean, t->clean.target, b->target);
    plan_leaf(b->clean, t->clean.class_weight, b->class_weight);
    if (t->recipe.guess_weight <= 0)
        return;
    b->masked = gradient_plan(t, &t->masked);
    plan_leaf(b->masked, t->masked.nodes.input, b->pixels);
    plan_leaf(b->masked, t->masked.target, b->target);
    plan_leaf(b->masked, t->masked.class_weight, b->class_weight);
    plan_leaf(b->masked, t->masked.guess_weight, &t->guess_weight);
}

Trainer *trainer_new(const Recipe *r, const VitConfig *c, const Pictures *pictures, Pool *pool)
{
    Trainer *t = xcalloc(1, sizeof *t);
    REQUIRE(c->classes == pictures_classes(pictures) && recipe_check(r, NULL));
    t->recipe = *r;
    t->pictures = pictures;
    t->pool = pool;
    t->model = (Model){.name = "trained",
                       .layout = "trained here",
                       .vit = *c,
                       .class_names = pictures_names(pictures),
                       .trained = true,
                       .drawn_shapes = pictures_have_masks(pictures),
                       .preprocess = preprocess_default(c)};
    model_alloc(&t->model);
    start_weights(&t->model, r->seed);
    t->zeros = xcalloc(loss_zeros(c), sizeof *t->zeros);
    loss_build(&t->clean, c, &t->model.weights, t->zeros, false);
    if (r->guess_weight > 0)
        loss_build(&t->masked, c, &t->model.weights, t->zeros, true);
    list_weights(t);
    t->hidden = xcalloc(size_mul((size_t)r->batch, (size_t)vit_patches(c)), sizeof *t->hidden);
    t->figures = xcalloc(t->descent.micros, sizeof *t->figures);
    t->worker_count = pool_threads(pool);
    t->workers = xcalloc((size_t)t->worker_count, sizeof *t->workers);
    for (int i = 0; i < t->worker_count; i++)
        open_bench(t, &t->workers[i]);
    history_init(&t->history, c);
    trainer_look_open(t);
    trainer_note(t, NULL);
    return t;
}

void trainer_free(Trainer *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->worker_count; i++) {
        Worker *b = &t->workers[i];
        plan_free(b->clean);
        plan_free(b->masked);
        plan_free(b->answer);
        free(b->pixels);
        free(b->target);
        free(b->class_weight);
    }
    trainer_look_close(t);
    history_free(&t->history);
    loss_free(&t->clean);
    loss_free(&t->masked);
    free(t->workers);
    free(t->figures);
    free(t->hidden);
    descent_free(&t->descent);
    free(t->zeros);
    model_free(&t->model);
    free(t);
}

/* --- one micro-batch --- */

/* Class `label` gets 1 − smoothing, and every class its share of the rest. */
static void set_target(float *target, int classes, int label, double smoothing)
{
    for (int o = 0; o < classes; o++)
        target[o] = (float)(smoothing / classes + (o == label ? 1 - smoothing : 0));
}

static void load_pictures(Trainer *t, Worker *b, size_t micro, bool masked)
{
    const VitConfig *c = &t->model.vit;
    size_t cells = image_cells(c), classes = (size_t)c->classes;
    uint64_t first = (uint64_t)t->step * (uint64_t)t->recipe.batch + micro * MICRO_BATCH;
    double difficulty = recipe_difficulty(&t->recipe, t->step);
    for (size_t i = 0; i < MICRO_BATCH; i++) {
        b->labels[i] = pictures_get(t->pictures, PICTURES_TRAIN, first + i, difficulty, b->pixels + i * cells, NULL);
        set_target(b->target + i * classes, c->classes, b->labels[i], t->recipe.smoothing);
        b->class_weight[i] = (float)((masked ? t->recipe.masked_class : 1) / t->recipe.batch);
    }
}

static void micro_batch(void *trainer, size_t micro, int worker)
{
    Trainer *t = trainer;
    Worker *b = &t->workers[worker];
    bool masked = micro * MICRO_BATCH < (size_t)t->masked_pictures;
    const LossGraph *l = masked ? &t->masked : &t->clean;
    Plan *p = masked ? b->masked : b->clean;
    int classes = t->model.vit.classes;
    load_pictures(t, b, micro, masked);
    if (masked)
        plan_leaf(p, l->nodes.hidden, t->hidden + micro * MICRO_BATCH * (size_t)vit_patches(&t->model.vit));
    plan_compute(p);
    descent_keep(&t->descent, micro, p, l->gradient);
    MicroFigures *f = &t->figures[micro];
    *f = (MicroFigures){0};
    if (masked) {
        f->guess = (double)plan_values(p, l->guess_error)[0];
        return;
    }
    for (int i = 0; i < MICRO_BATCH; i++) {
        f->loss += (double)plan_values(p, l->each)[i];
        f->right += descent_largest(plan_values(p, l->nodes.logits) + i * classes, classes) == b->labels[i];
    }
}

/* Chooses the patches to hide in the step's masked pictures; returns how many there are. */
static size_t hide_patches(Trainer *t)
{
    size_t patches = (size_t)vit_patches(&t->model.vit), hidden = 0;
    for (size_t i = 0; i < (size_t)t->masked_pictures; i++) {
        Rng r = rng_seed(t->recipe.seed + HIDING_SEED, (uint64_t)t->step * (uint64_t)t->recipe.batch + i);
        for (size_t p = 0; p < patches; p++) {
            bool hide = (double)rng_unit(&r) < t->recipe.hidden_share;
            t->hidden[i * patches + p] = hide ? 1.0f : 0.0f;
            hidden += hide;
        }
    }
    return hidden;
}

/* --- the step --- */

TrainStep trainer_step(Trainer *t)
{
    const Recipe *r = &t->recipe;
    const VitConfig *c = &t->model.vit;
    REQUIRE(!trainer_done(t));
    t->masked_pictures = recipe_masked(r, t->step);
    size_t hidden = hide_patches(t);
    double patch_cells = (double)c->patch_h * c->patch_w * c->channels,
           counted = (double)(hidden ? hidden : 1) * patch_cells;
    t->guess_weight = (float)(r->guess_weight / counted);
    pool_run(t->pool, 0, t->descent.micros, micro_batch, t, CLOCK_NEVER);

    TrainStep s = {.step = t->step + 1,
                   .rate = recipe_rate(r, t->step),
                   .gradient_norm = descent_sum(&t->descent, t->pool)};
    double clean = r->batch - t->masked_pictures;
    for (size_t i = 0; i < t->descent.micros; i++) {
        s.loss += t->figures[i].loss;
        s.accuracy += t->figures[i].right;
        s.guess += t->figures[i].guess;
    }
    s.loss = clean > 0 ? s.loss / clean : 0;
    s.accuracy = clean > 0 ? s.accuracy / clean : 0;
    s.guess = hidden ? s.guess / counted : -1;
    const AdamW a = {.rate = s.rate, .beta1 = r->beta1, .beta2 = r->beta2, .epsilon = r->epsilon, .step = s.step};
    descent_step(&t->descent, t->pool, &a,
                 r->clip > 0 && s.gradient_norm > r->clip ? (float)(r->clip / s.gradient_norm) : 1.0f);
    t->step++;
    trainer_note(t, &s);
    return s;
}

bool trainer_done(const Trainer *t)
{
    return t->step >= t->recipe.steps;
}

int trainer_steps_done(const Trainer *t)
{
    return t->step;
}

const Model *trainer_model(const Trainer *t)
{
    return &t->model;
}

const History *trainer_history(const Trainer *t)
{
    return &t->history;
}

/* --- examination --- */

typedef struct Accuracy {
    Trainer *t;
    PictureSet set;
    uint64_t first;
    size_t count;
    int *right; /* [items] */
} Accuracy;

static void examine(void *exam, size_t item, int worker)
{
    Accuracy *e = exam;
    Trainer *t = e->t;
    Worker *b = &t->workers[worker];
    const VitConfig *c = &t->model.vit;
    if (!b->answer) {
        b->answer = plan_new(&t->clean.graph, &t->clean.nodes.logits, 1);
        plan_leaf(b->answer, t->clean.nodes.input, b->pixels);
    }
    size_t at = item * MICRO_BATCH, n = e->count - at < MICRO_BATCH ? e->count - at : MICRO_BATCH;
    for (size_t i = 0; i < n; i++)
        b->labels[i] = pictures_get(t->pictures, e->set, e->first + at + i, 1, b->pixels + i * image_cells(c), NULL);
    plan_compute(b->answer);
    const float *logits = plan_values(b->answer, t->clean.nodes.logits);
    for (size_t i = 0; i < n; i++)
        e->right[item] += descent_largest(logits + i * (size_t)c->classes, c->classes) == b->labels[i];
}

double trainer_accuracy(Trainer *t, PictureSet set, uint64_t first, size_t count)
{
    size_t items = (count + MICRO_BATCH - 1) / MICRO_BATCH, right = 0;
    Accuracy e = {t, set, first, count, xcalloc(items + 1, sizeof(int))};
    pool_run(t->pool, 0, items, examine, &e, CLOCK_NEVER);
    for (size_t i = 0; i < items; i++)
        right += (size_t)e.right[i];
    free(e.right);
    return count ? (double)right / (double)count : 0;
}
