/* Attention over many pictures, whole evaluations, the search for a telling picture, and positions against the grid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/evaluation.h"
#include "core/eval/head_kinds.h"
#include "core/graph/run.h"
#include "core/models/drawn.h"
#include "core/models/probes.h"

enum { COUNT = 6, HEADS = 2, LAYERS = 2 };
/* 2.5 % of Student's distribution of five degrees of freedom lie beyond it, from tables */
static const double STUDENT = 2.570582;

static void small(VitConfig *c)
{
    *c = model_bundled_config();
    c->layers = LAYERS;
    c->heads = HEADS;
    c->width = 16;
    c->head_dim = 8;
    c->mlp = 24;
    c->scale = vit_scale(8);
}

static void open_model(Model *m, const VitConfig *c)
{
    model_seeded(m, c, 1);
    m->drawn_shapes = true;
}

/* A graph of one picture, perhaps without the scale, as the session would make it. */
typedef struct Alone {
    Graph base, edited;
    VitNodes nodes;
    float *pixels;
    Run *base_run, *run;
} Alone;

static void open_alone(Alone *a, const Model *m, bool scale)
{
    Arena arena = {0};
    Edits edits;
    Err err = {""};
    *a = (Alone){.pixels = xfloats((size_t)m->vit.image_h * (size_t)m->vit.image_w * (size_t)m->vit.channels)};
    graph_init(&a->base);
    vit_build(&a->base, &m->vit, &m->weights, NULL, a->pixels, &a->nodes);
    probes_add(&a->base, &m->vit, &a->nodes);
    assert_true(
        ablation_edits(&arena, &a->base, (Ablation){.kind = ABLATION_SCALE, .factor = scale ? 1.0f : 0.0f}, &edits));
    assert_true(graph_edit(&a->edited, &a->base, edits.edit, edits.count, &err));
    arena_free(&arena);
}

static void run_alone(Alone *a)
{
    run_free(a->run);
    run_free(a->base_run);
    a->base_run = run_new(&a->base, NULL, NULL);
    a->run = run_new(&a->edited, a->base_run, NULL);
}

static const float *values(Alone *a, const char *format, int layer)
{
    char path[80];
    snprintf(path, sizeof path, format, layer);
    NodeId n = graph_find(&a->edited, path);
    assert_true(n != NO_NODE);
    return run_need(a->run, n);
}

static void close_alone(Alone *a)
{
    run_free(a->run);
    run_free(a->base_run);
    graph_free(&a->edited);
    graph_free(&a->base);
    free(a->pixels);
}

static void nearly(const char *what, double have, double want)
{
    if (!(fabs(have - want) <= 1e-3 * fabs(want)))
        fail_msg("%s: %.12g, should be %.12g", what, have, want);
}

static void same(const char *what, double have, double want)
{
    if (!(fabs(have - want) <= 1e-9 * (1 + fabs(want))))
        fail_msg("%s: %.12g, should be %.12g", what, have, want);
}

/* Every mean equals that of the single pictures' nodes. */
static void check_survey(const Model *m, bool scale, Pool *pool)
{
    Alone a;
    Arena arena = {0};
    Edits edits;
    Err err = {""};
    Pictures *pictures = pictures_drawn(&m->preprocess, 1);
    Dataset *dataset = dataset_new(pictures, m, PICTURES_HELD_OUT, 40, COUNT);
    open_alone(&a, m, scale);
    assert_true(ablation_edits(&arena, &a.base, (Ablation){.kind = scale ? ABLATION_NONE : ABLATION_SCALE}, &edits));
    AttentionStatsSetup setup = {
        .model = m, .edits = edits.edit, .edit_count = edits.count, .graph = &a.base, .dataset = dataset, .pool = pool};
    AttentionStats *s = attention_stats_new(&setup, &err);
    assert_non_null(s);
    assert_null(attention_stats_result(s));
    while (!attention_stats_step(s, 0))
        ;
    const AttentionStatsResult *r = attention_stats_result(s);
    size_t patches = (size_t)vit_patches(&m->vit), tokens = (size_t)vit_tokens(&m->vit), side = (size_t)m->vit.image_w;
    double distance = 0, spread = 0, entropy = 0, largest = 0, area = 0, rollout = 0, peak = 0, read = 0;
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t mask[DRAWN_SIDE * DRAWN_SIDE], object[64];
        dataset_get(dataset, i, a.pixels, mask);
        run_alone(&a);
        double far = (double)values(&a, "blocks.%d.attn.probe.distance", 1)[1];
        distance += far / COUNT;
        spread += far * far;
        entropy += (double)values(&a, "blocks.%d.attn.probe.entropy_share_mean", 0)[1] / COUNT;
        largest += (double)values(&a, "blocks.%d.attn.probe.largest_mean", 1)[0] / COUNT;
        const float *heavy = values(&a, "rollout.patches", 0),
                    *pattern = values(&a, "blocks.%d.attn.pattern", LAYERS - 1);
        double all = 0, in = 0, row = 0, row_in = 0;
        size_t n = 0, best = 0;
        for (size_t p = 0; p < patches; p++) {
            unsigned sum = 0; /* 6 × 6 pixels a patch, 8 to a side */
            for (size_t k = 0; k < 36; k++)
                sum += mask[(p / 8 * 6 + k / 6) * side + p % 8 * 6 + k % 6];
            object[p] = sum > 36 * 255 * 8 / 100;
            n += object[p];
            all += (double)heavy[p];
            in += object[p] * (double)heavy[p];
            row += (double)pattern[tokens * tokens + 1 + p];
            row_in += object[p] * (double)pattern[tokens * tokens + 1 + p];
            best = heavy[p] > heavy[best] ? p : best;
        }
        assert_true(n > 0);
        area += (double)n / (double)patches / COUNT;
        rollout += in / all / COUNT;
        peak += object[best] / (double)COUNT;
        read += row_in / row / COUNT;
    }
    same("distance", r->distance[LAYERS * HEADS - 1].mean, distance);
    spread = sqrt((spread - COUNT * distance * distance) / (COUNT - 1)); /* of the pictures */
    assert_true(spread > 0);
    nearly("its margin", r->distance[LAYERS * HEADS - 1].margin, STUDENT * spread / sqrt(COUNT));
    same("entropy", r->entropy[1].mean, entropy);
    same("largest", r->largest[HEADS].mean, largest);
    same("area", r->area.mean, area);
    same("rollout", r->rollout.mean, rollout);
    same("peak", (double)r->rollout_peak / COUNT, peak);
    same("class token's row", r->read[1].mean, read);
    assert_int_equal(r->seen, COUNT);
    assert_true(r->uniform > 0 && r->maximal > r->uniform);
    attention_stats_free(s);
    dataset_free(dataset);
    pictures_free(pictures);
    arena_free(&arena);
    close_alone(&a);
}

/* How a patch's weight is spread, picture by picture and place by place, a second time; the mean and its interval. */
static void places(void **state)
{
    (void)state;
    VitConfig c;
    Model m;
    Alone a;
    Err err = {""};
    small(&c);
    open_model(&m, &c);
    Pool *pool = pool_new(2);
    Pictures *pictures = pictures_drawn(&m.preprocess, 1);
    Dataset *dataset = dataset_new(pictures, &m, PICTURES_HELD_OUT, 40, COUNT);
    open_alone(&a, &m, true);
    HeadPlaces *h = head_places_new(&m, &a.base, dataset, pool, &err);
    assert_non_null(h);
    assert_null(head_places_result(h));
    while (!head_places_step(h, 0))
        assert_true(head_places_done(h) < COUNT);
    const HeadPlacesResult *r = head_places_result(h);
    size_t tokens = (size_t)vit_tokens(&m.vit);
    double share[COUNT][HEAD_PLACES] = {{0}}, distance[COUNT], even[HEAD_PLACES] = {0};
    enum { HEAD = 1, LAYER = 1, CELL = LAYER * HEADS + HEAD, SIDE = 8 };
    for (size_t i = 0; i < COUNT; i++) {
        dataset_get(dataset, i, a.pixels, NULL);
        run_alone(&a);
        distance[i] = (double)values(&a, "blocks.%d.attn.probe.distance", LAYER)[HEAD];
        const float *pattern = values(&a, "blocks.%d.attn.pattern", LAYER) + HEAD * tokens * tokens;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const float *row = pattern + (size_t)(1 + y * SIDE + x) * tokens;
                for (int p = -1; p < SIDE * SIDE; p++) {
                    int dy = p / SIDE - y, dx = p % SIDE - x;
                    HeadPlace k = p < 0                          ? PLACE_PREFIX
                                  : dy == 0 && dx == 0           ? PLACE_ITSELF
                                  : dy * dy <= 1 && dx * dx <= 1 ? PLACE_NEIGHBOURS
                                  : dy == 0                      ? PLACE_ROW
                                  : dx == 0                      ? PLACE_COLUMN
                                                                 : PLACE_FARTHER;
                    share[i][k] += (double)row[p + 1] / (SIDE * SIDE);
                    even[k] += i ? 0 : 1.0 / (SIDE * SIDE * (double)tokens);
                }
            }
    }
    double all = 0, even_all = 0;
    for (int k = 0; k <= HEAD_PLACES; k++) { /* the last: the distance */
        double mean = 0, spread = 0;
        for (int i = 0; i < COUNT; i++)
            mean += (k < HEAD_PLACES ? share[i][k] : distance[i]) / COUNT;
        for (int i = 0; i < COUNT; i++) {
            double x = (k < HEAD_PLACES ? share[i][k] : distance[i]) - mean;
            spread += x * x / (COUNT - 1);
        }
        MeanOver m_k = k < HEAD_PLACES ? r->share[CELL][k] : r->distance[CELL];
        same("mean", m_k.mean, mean);
        nearly("margin", m_k.margin, STUDENT * sqrt(spread / COUNT));
        if (k < HEAD_PLACES)
            same("even", r->even[CELL / r->heads][k], even[k]);
        all += k < HEAD_PLACES ? m_k.mean : 0;
        even_all += k < HEAD_PLACES ? r->even[CELL / r->heads][k] : 0;
    }
    assert_true(fabs(all - 1) < 1e-5 && fabs(even_all - 1) < 1e-9);
    same("uniform", r->uniform[CELL / r->heads], (double)*values(&a, "grid.probe.uniform", 0));
    /* what is said to be looked at most is beyond chance, and nothing is more so */
    const int most = head_places_most(r, CELL);
    for (int k = 0; k < HEAD_PLACES; k++) {
        double beyond = r->share[CELL][k].mean - r->even[CELL / r->heads][k];
        if (most == HEAD_PLACES)
            assert_true(beyond < 0.02 || beyond <= r->share[CELL][k].margin);
        else
            assert_true(beyond <= r->share[CELL][most].mean - r->even[CELL / r->heads][most] ||
                        beyond <= r->share[CELL][k].margin);
    }
    head_places_free(h);
    close_alone(&a);
    dataset_free(dataset);
    pictures_free(pictures);
    pool_free(pool);
    model_free(&m);
}

static void surveys(void **state)
{
    (void)state;
    Model m;
    VitConfig c;
    small(&c);
    open_model(&m, &c);
    Pool *pool = pool_new(2);
    check_survey(&m, true, NULL);
    check_survey(&m, false, pool);
    pool_free(pool);
    model_free(&m);
}

static void objects(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config();
    uint8_t mask[DRAWN_SIDE * DRAWN_SIDE] = {0}, object[64];
    assert_int_equal(attention_stats_object(&c, mask, object), 0);
    for (int k = 0; k < 3; k++)
        mask[47 * DRAWN_SIDE + 47 - k] = 255; /* 3 of 36 pixels: 8.3 % */
    mask[0] = mask[1] = 255;                  /* 5.6 % */
    assert_int_equal(attention_stats_object(&c, mask, object), 1);
    assert_int_equal(object[63], 1);
    assert_int_equal(object[0], 0);
}

/* --- whole evaluations --- */

static bool count_calls(void *context, const char *what, double share)
{
    double *last = context;
    assert_non_null(what);
    assert_true(share >= *last && share <= 1);
    *last = share;
    return true;
}

static bool stop_soon(void *context, const char *what, double share)
{
    (void)what;
    (void)share;
    return --*(int *)context > 0;
}

static double share_of(const Model *m, Dataset *dataset, Ablation r)
{
    Alone a;
    Arena arena = {0};
    Edits edits;
    Err err = {""};
    open_alone(&a, m, true);
    assert_true(ablation_edits(&arena, &a.base, r, &edits));
    AccuracySetup setup = {
        .model = m, .edits = edits.edit, .edit_count = edits.count, .graph = &a.base, .dataset = dataset};
    Accuracy *e = accuracy_new(&setup, &err);
    assert_true(accuracy_step(e, CLOCK_NEVER));
    double share = accuracy_share(accuracy_result(e));
    accuracy_free(e);
    arena_free(&arena);
    close_alone(&a);
    return share;
}

/* Models that never learned: each seed is another, and the means are over all of them. */
static void every_seed_counts(const RandomWeights *r)
{
    double rollout = 0, peak = 0;
    assert_true(r->pictures == 50 && r->seen > 0 && r->seen <= 50);
    for (int i = 0; i < RANDOM_SEEDS; i++) {
        assert_true(r->rollout[i] > 0 && r->rollout[i] < 1 && r->peak[i] <= r->seen);
        assert_true(i == 0 || r->rollout[i] != r->rollout[0]);
        rollout += r->rollout[i] / RANDOM_SEEDS;
        peak += (double)r->peak[i] / (double)r->seen / RANDOM_SEEDS;
    }
    assert_true(fabs(random_rollout(r).mean - rollout) < 1e-9);
    assert_true(fabs(random_peak(r).mean - peak) < 1e-9);
    assert_true(random_peak(r).least <= random_peak(r).mean && random_peak(r).mean <= random_peak(r).most);
}

static void evaluations(void **state)
{
    (void)state;
    Model m;
    VitConfig c;
    Evaluation e;
    Err err = {""};
    double last = 0;
    small(&c);
    open_model(&m, &c);
    Pool *pool = pool_new(2);
    Pictures *pictures = pictures_drawn(&m.preprocess, 1);
    Dataset *dataset = dataset_new(pictures, &m, PICTURES_HELD_OUT, 0, 50);
    assert_true(evaluation_run(&e, &m, dataset, pool, count_calls, &last, &err));
    same("accuracy", e.accuracy, share_of(&m, dataset, (Ablation){.kind = ABLATION_NONE}));
    same("scale", e.scale_off, share_of(&m, dataset, (Ablation){.kind = ABLATION_SCALE}));
    same("positions", e.positions_off, share_of(&m, dataset, (Ablation){.kind = ABLATION_POSITIONS}));
    same("head", e.head[HEADS + 1], share_of(&m, dataset, (Ablation){.kind = ABLATION_HEAD, .layer = 1, .head = 1}));
    same("attention", e.attention[1], share_of(&m, dataset, (Ablation){.kind = ABLATION_ATTENTION, .layer = 1}));
    same("mlp", e.mlp[0], share_of(&m, dataset, (Ablation){.kind = ABLATION_MLP, .layer = 0}));
    assert_true(e.has_grid && accuracy_result(e.trained)->has_other);
    assert_true(attention_stats_result(e.with)->pictures == 50 && attention_stats_result(e.without)->pictures == 50);
    assert_true(attention_stats_result(e.with)->entropy[0].mean != attention_stats_result(e.without)->entropy[0].mean);
    every_seed_counts(&e.random);
    evaluation_free(&e);
    for (int calls = 1; calls < 6; calls += 2) {
        int left = calls;
        bool done = evaluation_run(&e, &m, dataset, NULL, stop_soon, &left, &err);
        if (done)
            evaluation_free(&e);
        assert_true(done || strcmp(err.text, "cancelled") == 0);
    }
    dataset_free(dataset);
    pictures_free(pictures);
    pool_free(pool);
    model_free(&m);
}

/* No class token, no positions, another size, a single read-out: what does not exist is not a number. */
static void evaluation_of_an_odd_model(void **state)
{
    (void)state;
    Model m;
    VitConfig c;
    Evaluation e;
    Err err = {""};
    small(&c);
    c.cls = false;
    c.pos = VIT_POS_NONE;
    c.pool = VIT_POOL_MEAN;
    c.image_w = 24;
    open_model(&m, &c);
    Pictures *pictures = pictures_drawn(&m.preprocess, 1);
    Dataset *dataset = dataset_new(pictures, &m, PICTURES_HELD_OUT, 0, 9);
    assert_true(evaluation_run(&e, &m, dataset, NULL, NULL, NULL, &err));
    assert_true(isnan(e.positions_off));
    assert_false(e.has_grid || accuracy_result(e.trained)->has_other);
    assert_null(attention_stats_result(e.with)->read);
    assert_true(attention_stats_result(e.with)->objects && attention_stats_result(e.with)->rollout.mean > 0);
    evaluation_free(&e);
    dataset_free(dataset);
    pictures_free(pictures);
    model_free(&m);
}

/* Whatever is between the blocks and the answer: where no lens can be made, none is counted. */
static void evaluation_without_a_lens(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        Model m;
        VitConfig c;
        Evaluation e;
        Err err = {""};
        small(&c);
        c.mask_token = c.reconstruct = false;
        c.post_norm = k == 1;
        c.branch_norm = k == 2;
        c.pool = k == 3 ? VIT_POOL_BOTH : c.pool;
        if (k == 0) {
            c.cls = false;
            c.pool = VIT_POOL_ATTENTION;
        }
        open_model(&m, &c);
        Pictures *pictures = pictures_drawn(&m.preprocess, 1);
        Dataset *dataset = dataset_new(pictures, &m, PICTURES_HELD_OUT, 0, 3);
        if (!evaluation_run(&e, &m, dataset, NULL, NULL, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(attention_stats_result(e.with)->lens_right != NULL, k == 1 || k == 2);
        assert_int_equal(accuracy_result(e.trained)->has_other, k == 1 || k == 2); /* one that was read from */
        evaluation_free(&e);
        dataset_free(dataset);
        pictures_free(pictures);
        model_free(&m);
    }
}

/* --- a telling picture --- */

static int largest(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static void showcases(void **state)
{
    (void)state;
    enum { MOST = 120 };
    Model m;
    VitConfig c;
    ScaleSearch found, again;
    Err err = {""};
    uint64_t numbers[MOST];
    small(&c);
    open_model(&m, &c);
    for (size_t i = 0; i < MOST; i++)
        numbers[i] = 7 * i + 3;
    Pool *pool = pool_new(3);
    assert_true(scale_search_find(&found, &m, numbers, MOST, NULL, NULL, NULL, &err));
    assert_true(scale_search_find(&again, &m, numbers, MOST, pool, NULL, NULL, &err));
    pool_free(pool);
    Alone on, off;
    open_alone(&on, &m, true);
    open_alone(&off, &m, false);
    int tokens = vit_tokens(&c);
    ScaleSearchRow best = {.found = false};
    double least = (double)INFINITY;
    uint64_t steady = 0;
    size_t changed = 0;
    for (size_t i = 0; i < MOST; i++) {
        uint8_t drawn[DRAWN_SIDE * DRAWN_SIDE * 3];
        int label = drawn_picture(numbers[i], drawn, NULL);
        for (size_t k = 0; k < sizeof drawn; k++)
            on.pixels[k % 3 * DRAWN_SIDE * DRAWN_SIDE + k / 3] = off.pixels[k % 3 * DRAWN_SIDE * DRAWN_SIDE + k / 3] =
                (float)drawn[k];
        run_alone(&on);
        run_alone(&off);
        int with = largest(values(&on, "logits", 0), c.classes),
            without = largest(values(&off, "logits", 0), c.classes);
        double sum = 0;
        changed += with != without;
        for (int layer = 0; layer < LAYERS; layer++)
            for (int k = 0; k < HEADS * tokens; k++) {
                float a = values(&on, "blocks.%d.attn.probe.entropy", layer)[k],
                      b = values(&off, "blocks.%d.attn.probe.entropy", layer)[k];
                sum += fabs((double)a - (double)b) / (LAYERS * HEADS * tokens);
                bool reaches = layer + 1 < LAYERS || k % tokens == 0; /* the class token is read, at the end */
                if (reaches && with == label && without != with &&
                    (!best.found || a - b > best.entropy_with - best.entropy_without))
                    best = (ScaleSearchRow){.found = true,
                                            .number = numbers[i],
                                            .label = label,
                                            .with = with,
                                            .without = without,
                                            .layer = layer,
                                            .head = k / tokens,
                                            .query = k % tokens,
                                            .entropy_with = a,
                                            .entropy_without = b};
            }
        if (with == label && with == without && sum < least) {
            least = sum;
            steady = numbers[i];
        }
    }
    const ScaleSearchRow *r = &found.collapse;
    assert_int_equal(found.pictures, MOST);
    assert_int_equal(found.changed, changed);
    assert_true(best.found && r->found && found.steady.found); /* an untrained model names some right by chance */
    assert_int_equal(r->number, best.number);
    assert_true(r->layer == best.layer && r->head == best.head && r->query == best.query && r->label == best.label &&
                r->without == best.without);
    assert_true(r->entropy_with == best.entropy_with && r->entropy_without == best.entropy_without);
    assert_int_equal(found.steady.number, steady);
    same("change", found.steady.change, least);
    assert_int_equal(again.collapse.number, r->number);
    assert_true(again.collapse.query == r->query && again.steady.query == found.steady.query &&
                again.steady.change == found.steady.change);
    assert_true(scale_search_find(&again, &m, numbers, 0, NULL, NULL, NULL, &err));
    assert_false(again.collapse.found || again.steady.found);
    close_alone(&on);
    close_alone(&off);
    model_free(&m);
}

/* --- positions --- */

static void grids(void **state)
{
    (void)state;
    VitConfig c;
    PositionGrid g;
    small(&c);
    size_t n = (size_t)vit_patches(&c), d = (size_t)c.width, prefix = (size_t)vit_prefix(&c);
    float *table = xcalloc((n + prefix) * d, sizeof *table);
    for (size_t p = 0; p < n; p++) { /* two quarter turns: the angle tells the row, another the column */
        double y = (double)(p / 8) / 8, x = (double)(p % 8) / 8;
        float *row = table + (prefix + p) * d;
        row[0] = (float)cos(y);
        row[1] = (float)sin(y);
        row[2] = (float)cos(x);
        row[3] = (float)sin(x);
    }
    assert_true(position_grid_figures(&c, table, &g));
    assert_true(g.rank > 0.95 && g.rank <= 1);
    assert_true(g.near4 == 1.0 && g.near8 == 1.0);
    assert_true(g.chance4 > 0 && g.chance4 < g.chance8 && g.chance8 < 1);
    for (size_t p = 0; p < n; p++)
        table[(prefix + p) * d + 5] = 100; /* a constant offset: all alike, until the mean is gone */
    assert_true(position_grid_figures(&c, table, &g));
    assert_true(g.rank_centred > 0.7);
    memset(table, 0, (n + prefix) * d * sizeof *table);
    assert_true(position_grid_figures(&c, table, &g));
    assert_true(isnan(g.rank));
    c.pos = VIT_POS_NONE;
    assert_false(position_grid_figures(&c, table, &g));
    assert_false(position_grid_figures(&c, NULL, &g));
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surveys),
        cmocka_unit_test(objects),
        cmocka_unit_test(places),
        cmocka_unit_test(evaluations),
        cmocka_unit_test(evaluation_of_an_odd_model),
        cmocka_unit_test(evaluation_without_a_lens),
        cmocka_unit_test(showcases),
        cmocka_unit_test(grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
