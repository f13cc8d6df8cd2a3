#include "core/eval/scale_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"
#include "core/models/drawn.h"
#include "core/models/probes.h"

enum { SLICE_NS = 50000000 };

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
    VitNodes nodes;
    float *zeros = xcalloc(vit_values(&m->vit), sizeof *zeros);
    graph_init(&g);
    vit_build(&g, &m->vit, &m->weights, NULL, zeros, &nodes);
    probes_add(&g, &m->vit, &nodes);
    Search s = {.model = m,
                .numbers = numbers,
                .fall = xcalloc(count + 1, sizeof *s.fall),
                .still = xcalloc(count + 1, sizeof *s.still),
                .middle = xcalloc(count + 1, sizeof *s.middle)};
    s.with = open_batch_run(m, &g, (Ablation){.kind = ABLATION_NONE}, pool_threads(pool), err);
    s.without = open_batch_run(m, &g, (Ablation){.kind = ABLATION_SCALE}, pool_threads(pool), err);
    bool ok = s.with && s.without;
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
