/* Learning to name pictures, some of their patches hidden and guessed meanwhile. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/models/family.h"
#include "core/train/pictures.h"
#include "core/train/trainer.h"
#include "core/train/vit_train.h"

/* The streams of hidden patches and of changed pictures are others than that of the weights. */
enum { HIDING_SEED = 1000, AUGMENT_SEED = 2000, MIX_SEED = 3000 };
enum { CLEAN, MASKED }; /* graphs */

typedef struct Own {
    float *hidden; /* [batch, patches]: which patches of the step's masked pictures are hidden */
    int masked;    /* pictures of the step */
    float guess_weight;
    Plan *look;      /* attention of the first check pictures, for the history */
    NodeId *pattern; /* [layers], in the clean graph */
    float *look_pixels;
} Own;

/* --- what may be said --- */

static const char *const SCHEDULES[] = {[SCHEDULE_COSINE] = "cosine", [SCHEDULE_INVERSE_SQRT] = "inverse_sqrt", NULL};
static const char *const POOLS[] = {[VIT_POOL_CLS] = "cls", [VIT_POOL_MEAN] = "mean", NULL};
static const char *const POSITIONS[] = {[VIT_POS_NONE] = "none", [VIT_POS_ALL] = "all", NULL};
static const char *const INPUTS[] = {[VIT_INPUT_STANDARD] = "standard", [VIT_INPUT_PER_IMAGE] = "per_image", NULL};

#define AT(field) offsetof(Recipe, field)
static const Field RECIPE[] = {
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"steps", FIELD_WHOLE, AT(steps), 1, 10000000, NULL},
    {"cycles", FIELD_WHOLE, AT(cycles), 1, 1000, NULL},
    {"batch", FIELD_WHOLE, AT(batch), MICRO_BATCH, 4096, NULL},
    {"schedule", FIELD_WORD, AT(schedule), 0, 0, SCHEDULES},
    {"rate", FIELD_REAL, AT(rate), 0, 10, NULL},
    {"warmup", FIELD_WHOLE, AT(warmup), 0, 10000000, NULL},
    {"floor", FIELD_REAL, AT(floor), 0, 1, NULL},
    {"beta1", FIELD_REAL, AT(beta1), 0, 0.9999999, NULL},
    {"beta2", FIELD_REAL, AT(beta2), 0, 0.9999999, NULL},
    {"epsilon", FIELD_REAL, AT(epsilon), 1e-30, 1, NULL},
    {"mimic", FIELD_REAL, AT(mimic), 0, 1, NULL},
    {"muon", FIELD_REAL, AT(muon), 0, 0.9999999, NULL},
    {"decay", FIELD_REAL, AT(decay), 0, 10, NULL},
    {"position_rate", FIELD_REAL, AT(position_rate), 0, 100, NULL},
    {"clip", FIELD_REAL, AT(clip), 0, 1e9, NULL},
    {"smoothing", FIELD_REAL, AT(smoothing), 0, 0.999, NULL},
    {"hidden_share", FIELD_REAL, AT(hidden_share), 0, 1, NULL},
    {"masked_share", FIELD_REAL, AT(masked_share), 0, 1, NULL},
    {"masked_until", FIELD_REAL, AT(masked_until), 0, 1, NULL},
    {"masked_class", FIELD_REAL, AT(masked_class), 0, 1000, NULL},
    {"guess_weight", FIELD_REAL, AT(guess_weight), 0, 1000, NULL},
    {"difficulty", FIELD_REAL, AT(difficulty), 0, 1, NULL},
    {"easing", FIELD_REAL, AT(easing), 0, 1, NULL},
    {"flip", FIELD_REAL, AT(augment.flip), 0, 1, NULL},
    {"shift", FIELD_WHOLE, AT(augment.shift), 0, 1000, NULL},
    {"colour", FIELD_REAL, AT(augment.colour), 0, 1, NULL},
    {"mix", FIELD_REAL, AT(augment.mix), 0, 1, NULL},
    {"cut", FIELD_REAL, AT(augment.cut), 0, 1, NULL},
    {"erase", FIELD_REAL, AT(augment.erase), 0, 1, NULL},
    {"average", FIELD_WHOLE, AT(average), 0, 1000, NULL},
    {"average_every", FIELD_WHOLE, AT(average_every), 1, 10000000, NULL},
    {"log_every", FIELD_WHOLE, AT(log_every), 1, 10000000, NULL},
    {"check", FIELD_WHOLE, AT(check), 0, 1000000, NULL},
};

#define OF(field) offsetof(VitConfig, field)
static const Field MODEL[] = {
    {"image", FIELD_PAIR, OF(image_h), 1, 4096, NULL},
    {"patch", FIELD_PAIR, OF(patch_h), 1, 1024, NULL},
    {"width", FIELD_WHOLE, OF(width), 1, 65536, NULL},
    {"layers", FIELD_WHOLE, OF(layers), 1, 256, NULL},
    {"heads", FIELD_WHOLE, OF(heads), 1, 1024, NULL},
    {"mlp", FIELD_WHOLE, OF(mlp), 1, 262144, NULL},
    {"registers", FIELD_WHOLE, OF(registers), 0, 64, NULL},
    {"scale", FIELD_SINGLE, OF(scale), 0, 1000, NULL},
    {"eps", FIELD_SINGLE, OF(eps), 0, 1000, NULL},
    {"act", FIELD_ACT, OF(act), 0, 0, NULL},
    {"pool", FIELD_WORD, OF(pool), 0, 0, POOLS},
    {"positions", FIELD_WORD, OF(pos), 0, 0, POSITIONS},
    {"input", FIELD_WORD, OF(input), 0, 0, INPUTS},
    {"post_norm", FIELD_FLAG, OF(post_norm), 0, 0, NULL},
    {"rms_norm", FIELD_FLAG, OF(rms_norm), 0, 0, NULL},
};
_Static_assert(OF(image_w) == OF(image_h) + sizeof(int) && OF(patch_w) == OF(patch_h) + sizeof(int),
               "a pair is two ints");

static Recipe recipe(int steps)
{
    Recipe r = {
        .kind = &PICTURES_TASK,
        .seed = 1,
        .steps = 8000,
        .cycles = 1,
        .batch = 64,
        .schedule = SCHEDULE_COSINE,
        .rate = 2e-3,
        .warmup = 300,
        .floor = 0.01,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .decay = 0.05,
        .position_rate = 3,
        .clip = 1,
        .hidden_share = 0.4,
        .masked_share = 0.5,
        .masked_until = 0.5,
        .masked_class = 0.5,
        .guess_weight = 2,
        .difficulty = 0.4,
        .easing = 0.15,
        .average_every = 20,
        .log_every = 50,
        .check = 500,
    };
    if (steps > 0) {
        r.steps = steps;
        r.warmup = steps < 4 * r.warmup ? steps / 4 : r.warmup;
        r.log_every = steps < 20 * r.log_every ? (steps + 19) / 20 : r.log_every;
    }
    return r;
}

static void bundled(void *config)
{
    *(VitConfig *)config = model_bundled_config();
}

static bool settle(void *config, bool scaled, Err *err)
{
    VitConfig *c = config;
    if (c->width % c->heads)
        return err_set(err, "\"width\" %d is no multiple of the %d heads", c->width, c->heads);
    c->head_dim = c->width / c->heads;
    if (!scaled)
        c->scale = vit_scale(c->head_dim);
    return vit_check(c, err);
}

static size_t params(const void *config)
{
    return vit_params(config);
}

static bool find(const char *folder, const Recipe *r, void *config, void **examples,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    VitConfig *c = config;
    c->mask_token = c->reconstruct = r->guess_weight > 0;
    if (r->augment.shift >= c->image_h || r->augment.shift >= c->image_w)
        return err_set(err, "\"shift\" is %d: more than the %d x %d pixels of a picture allow", r->augment.shift,
                       c->image_h, c->image_w);
    Preprocess p = preprocess_default(c);
    Pictures *found = folder ? pictures_folder(folder, &p, progress, context, err) : pictures_drawn(&p, r->seed);
    if (!found)
        return false;
    *examples = found;
    c->classes = pictures_classes(found);
    return vit_check(c, err);
}

static void leave(void *examples)
{
    pictures_free(examples);
}

/* --- the model --- */

/* A micro-batch, beside what its graph is given. */
typedef struct Micro {
    int label[MICRO_BATCH];
    float pixels[]; /* [batch,c,y,x] before they are mixed; only where pictures are changed */
} Micro;

static void list_weights(Trainer *t)
{
    const VitConfig *c = &t->model.vit;
    t->descent = descent_new(t->model.block, t->model.block_cells, vit_weights_count(c),
                             (size_t)t->recipe.batch / MICRO_BATCH);
    for (WeightPlace w = {0}; model_weight(&t->model, &w);) {
        descent_list(&t->descent, w.entry, w.data, w.cells, w.role == VIT_POS ? t->recipe.position_rate : 1,
                     start_decays((VitRole)w.role) ? t->recipe.decay : 0);
        descent_matrix(&t->descent, start_rows(&w));
    }
}

static void open(Trainer *t)
{
    const VitConfig *c = t->config;
    const Pictures *pictures = t->examples;
    Own *o = t->own = xcalloc(1, sizeof *o);
    REQUIRE(c->classes == pictures_classes(pictures));
    t->model = (Model){.name = "trained",
                       .layout = "trained here",
                       .vit = *c,
                       .class_names = pictures_names(pictures),
                       .trained = true,
                       .drawn_shapes = pictures_have_masks(pictures),
                       .preprocess = preprocess_default(c)};
    model_alloc(&t->model, t->recipe.kind->family);
    start_weights(&t->model, t->recipe.seed);
    start_mimic(&t->model, t->recipe.mimic);
    list_weights(t);
    t->width = c->width;
    history_init(&t->history, c);
    o->hidden = xcalloc(size_mul((size_t)t->recipe.batch, (size_t)vit_patches(c)), sizeof *o->hidden);
    o->look_pixels = xfloats(size_mul(MICRO_BATCH, vit_values(c)));
    for (size_t i = 0; i < MICRO_BATCH; i++)
        pictures_get(pictures, PICTURES_CHECK, i, 1, o->look_pixels + i * vit_values(c), NULL);
}

static void close(Trainer *t)
{
    Own *o = t->own;
    plan_free(o->look);
    free(o->pattern);
    free(o->look_pixels);
    free(o->hidden);
    free(o);
}

static void build(const Trainer *t, int variant, TaskGraph *g)
{
    loss_build(g, &t->model.vit, &t->model.weights, variant == MASKED);
}

/* --- micro-batches --- */

static void open_bench(const Trainer *t, TaskBench *b)
{
    const VitConfig *c = &t->model.vit;
    b->input[LOSS_PIXELS] = xfloats(size_mul(MICRO_BATCH, vit_values(c)));
    b->input[LOSS_TARGET] = xfloats(size_mul(MICRO_BATCH, (size_t)c->classes));
    b->input[LOSS_CLASS_WEIGHT] = xfloats(MICRO_BATCH);
    b->input[LOSS_HIDDEN] = xfloats(size_mul(MICRO_BATCH, (size_t)vit_patches(c)));
    b->input[LOSS_GUESS_WEIGHT] = xfloats(1);
    size_t before = augment_any(&t->recipe.augment) ? size_mul(MICRO_BATCH, vit_values(c)) : 0;
    b->own = xmalloc(sizeof(Micro) + size_mul(before, sizeof(float)));
}

/* Chooses the patches to hide in the step's masked pictures; returns how many there are. */
static size_t hide_patches(Trainer *t, Own *o)
{
    size_t patches = (size_t)vit_patches(&t->model.vit), hidden = 0;
    for (size_t i = 0; i < (size_t)o->masked; i++) {
        Rng r = rng_seed(t->recipe.seed + HIDING_SEED, (uint64_t)t->step * (uint64_t)t->recipe.batch + i);
        for (size_t p = 0; p < patches; p++) {
            bool hide = (double)rng_unit(&r) < t->recipe.hidden_share;
            o->hidden[i * patches + p] = hide ? 1.0f : 0.0f;
            hidden += hide;
        }
    }
    return hidden;
}

static void draw(Trainer *t)
{
    const VitConfig *c = &t->model.vit;
    Own *o = t->own;
    o->masked = recipe_masked(&t->recipe, t->step);
    size_t hidden = hide_patches(t, o);
    double patch_cells = (double)c->patch_h * c->patch_w * c->channels;
    t->hidden = (double)hidden * patch_cells;
    o->guess_weight = (float)(t->recipe.guess_weight / (hidden ? t->hidden : patch_cells));
    t->counted = t->recipe.batch - o->masked;
    for (size_t i = 0; i < t->descent.micros; i++)
        t->variant[i] = i * MICRO_BATCH < (size_t)o->masked ? MASKED : CLEAN;
}

/* Every class gets its part of smoothing; of the rest class `label` gets `own`, `other` what is left. */
static void set_target(float *target, int classes, double smoothing, int label, double own, int other)
{
    for (int o = 0; o < classes; o++)
        target[o] = (float)(smoothing / classes + (1 - smoothing) * (own * (o == label) + (1 - own) * (o == other)));
}

/* A micro-batch's pictures, from number `first` on, and their targets, changed as the recipe says; one is mixed with
 * the next of them. */
static void augment(const Trainer *t, TaskBench *b, uint64_t first)
{
    const VitConfig *c = &t->model.vit;
    const Augment *a = &t->recipe.augment;
    size_t cells = vit_values(c), classes = (size_t)c->classes;
    float *pixels = b->input[LOSS_PIXELS], *target = b->input[LOSS_TARGET];
    Micro *m = b->own;
    for (size_t i = 0; i < MICRO_BATCH; i++) {
        Rng r = rng_seed(t->recipe.seed + AUGMENT_SEED, first + i);
        augment_picture(a, &r, c->channels, c->image_h, c->image_w, pixels + i * cells, m->pixels + i * cells);
    }
    memcpy(m->pixels, pixels, MICRO_BATCH * cells * sizeof *pixels);
    for (size_t i = 0; i < MICRO_BATCH; i++) {
        Rng r = rng_seed(t->recipe.seed + MIX_SEED, first + i);
        size_t next = (i + 1) % MICRO_BATCH;
        double own = augment_mix(a, &r, c->channels, c->image_h, c->image_w, pixels + i * cells,
                                 m->pixels + next * cells);
        set_target(target + i * classes, c->classes, t->recipe.smoothing, m->label[i], own, m->label[next]);
    }
}

static void load(const Trainer *t, TaskBench *b, size_t micro)
{
    const VitConfig *c = &t->model.vit;
    const Own *o = t->own;
    bool masked = t->variant[micro] == MASKED;
    size_t cells = vit_values(c), classes = (size_t)c->classes, patches = (size_t)vit_patches(c);
    uint64_t first = (uint64_t)t->step * (uint64_t)t->recipe.batch + micro * MICRO_BATCH;
    double difficulty = recipe_difficulty(&t->recipe, t->step);
    Micro *m = b->own;
    for (size_t i = 0; i < MICRO_BATCH; i++) {
        m->label[i] = pictures_get(t->examples, PICTURES_TRAIN, first + i, difficulty,
                                   b->input[LOSS_PIXELS] + i * cells, NULL);
        set_target(b->input[LOSS_TARGET] + i * classes, c->classes, t->recipe.smoothing, m->label[i], 1, m->label[i]);
        b->input[LOSS_CLASS_WEIGHT][i] = (float)((masked ? t->recipe.masked_class : 1) / t->recipe.batch);
    }
    if (augment_any(&t->recipe.augment))
        augment(t, b, first);
    if (masked)
        memcpy(b->input[LOSS_HIDDEN], o->hidden + micro * MICRO_BATCH * patches,
               MICRO_BATCH * patches * sizeof *o->hidden);
    *b->input[LOSS_GUESS_WEIGHT] = o->guess_weight;
}

static void load_exam(const Trainer *t, TaskBench *b, TaskSet set, uint64_t first, size_t n)
{
    size_t cells = vit_values(&t->model.vit);
    Micro *m = b->own;
    for (size_t i = 0; i < n; i++)
        m->label[i] = pictures_get(t->examples, set == TASK_CHECK ? PICTURES_CHECK : PICTURES_HELD_OUT, first + i, 1,
                                   b->input[LOSS_PIXELS] + i * cells, NULL);
}

static size_t answers(const TaskBench *b, int i)
{
    (void)b;
    (void)i;
    return 1;
}

static size_t right_answers(const Trainer *t, const TaskBench *b, int i, const float *logits)
{
    return descent_largest(logits, t->model.vit.classes) == ((const Micro *)b->own)->label[i];
}

static size_t held(const Trainer *t)
{
    return pictures_count(t->examples, PICTURES_HELD_OUT);
}

/* --- the history --- */

static void open_look(Trainer *t, Own *o)
{
    const Graph *g = &t->graph[CLEAN].graph;
    int layers = t->model.vit.layers;
    o->pattern = xcalloc((size_t)layers, sizeof *o->pattern);
    for (int l = 0, a = NO_PART; l < layers; l++) {
        a = anatomy_next(g, a, PART_ATTENTION);
        o->pattern[l] = site_node(g, a, SITE_PATTERN);
        REQUIRE(o->pattern[l] != NO_NODE);
    }
    o->look = plan_new(g, o->pattern, layers);
    plan_leaf(o->look, t->graph[CLEAN].input[LOSS_PIXELS], o->look_pixels);
}

static void take_snapshot(const Trainer *t, Snapshot *s)
{
    const VitConfig *c = &t->model.vit;
    const Own *o = t->own;
    const Weights *w = &t->model.weights;
    size_t tokens = (size_t)vit_tokens(c);
    if (s->positions)
        memcpy(s->positions, vit_weight(w, VIT_POS, 0)->data, vit_role_cells(c, VIT_POS) * sizeof(float));
    memcpy(s->filters, vit_weight(w, VIT_PATCH_W, 0)->data, vit_role_cells(c, VIT_PATCH_W) * sizeof(float));
    for (int l = 0; l < c->layers; l++)
        for (int h = 0; h < c->heads; h++) {
            const float *pattern = plan_values(o->look, o->pattern[l]) + (size_t)h * tokens * tokens;
            size_t head = (size_t)l * (size_t)c->heads + (size_t)h;
            memcpy(s->rows + head * tokens, pattern, tokens * sizeof(float));
            s->entropy[head] = (float)history_mean_entropy(pattern, tokens, (int)tokens, false);
        }
}

static void look(Trainer *t, float *lines, Snapshot *s)
{
    const VitConfig *c = &t->model.vit;
    Own *o = t->own;
    if (!o->look)
        open_look(t, o);
    plan_compute(o->look);
    if (s)
        take_snapshot(t, s);
    size_t rows = (size_t)MICRO_BATCH * (size_t)c->heads * (size_t)vit_tokens(c);
    for (int l = 0; lines && l < c->layers; l++)
        lines[l] = (float)history_mean_entropy(plan_values(o->look, o->pattern[l]), rows, vit_tokens(c), false);
}

/* --- files --- */

static void identity(const Trainer *t, Buf *out)
{
    const Pictures *p = t->examples;
    buf_printf(out, "pictures: %zu of", pictures_count(p, PICTURES_TRAIN));
    for (int o = 0; o < pictures_classes(p); o++)
        buf_printf(out, " %s", pictures_names(p)[o]);
    if (pictures_learnt(p)) /* their number alone does not tell that others came in their place */
        buf_printf(out, ", %016llx", (unsigned long long)pictures_learnt_hash(p));
}

static bool write_learnt(const Trainer *t, const char *folder, Err *err)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/" TRAINER_LEARNT, folder);
    return pictures_write_learnt(t->examples, path, err);
}

static void tell(const Trainer *t, Buf *out)
{
    if (pictures_learnt(t->examples))
        buf_printf(out,
                   "%zu pictures were learned from, %zu held out by their pixels; " TRAINER_LEARNT
                   " lists the former\n",
                   pictures_learnt(t->examples), held(t));
}

static void record(const Model *m, History *out)
{
    history_init(out, &m->vit);
}

const TaskKind PICTURES_TASK = {
    .examples = "pictures",
    .thing = "model",
    .right = "right",
    .does = "names right",
    .held_out = "held-out pictures",
    .well = "held-out pictures are named right",
    .history = "history.safetensors",
    .twin = "history-twin.safetensors",
    .family = &FAMILY_VIT,
    .micro = MICRO_BATCH,
    .recipe_fields = {RECIPE, sizeof RECIPE / sizeof *RECIPE, false},
    .model_fields = {MODEL, sizeof MODEL / sizeof *MODEL, false},
    .recipe = recipe,
    .config_bytes = sizeof(VitConfig),
    .bundled = bundled,
    .settle = settle,
    .params = params,
    .find = find,
    .leave = leave,
    .open = open,
    .close = close,
    .build = build,
    .bench = open_bench,
    .draw = draw,
    .load = load,
    .load_exam = load_exam,
    .exam_variant = CLEAN,
    .answers = answers,
    .right_answers = right_answers,
    .held = held,
    .look = look,
    .record = record,
    .identity = identity,
    .write = write_learnt,
    .tell = tell,
};
