/* The examination over many pictures: the same answers as each picture alone, as trained and edited, whatever the
 * threads. */
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
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/eval/evaluation.h"
#include "core/graph/run.h"
#include "core/models/drawn.h"

enum { COUNT = 10 }; /* no multiple of BATCH_RUN_PICTURES */

/* A small model of the drawn shapes, with a picture of its own and room for edits. */
typedef struct Subject {
    Model model;
    Pictures *pictures;
    Dataset *dataset;
    Graph graph;
    VitNodes nodes;
    float *pixels;
    Arena arena;
} Subject;

static void open_subject(Subject *s, void (*change)(VitConfig *c))
{
    VitConfig c = model_bundled_config();
    *s = (Subject){.arena = {0}};
    c.layers = 2;
    if (change)
        change(&c);
    model_seeded(&s->model, &c, 5);
    s->model.drawn_shapes = true;
    s->pictures = pictures_drawn(&s->model.preprocess, 1);
    s->dataset = dataset_new(s->pictures, &s->model, PICTURES_HELD_OUT, 3, COUNT);
    s->pixels = xfloats((size_t)c.image_h * (size_t)c.image_w * (size_t)c.channels);
    graph_init(&s->graph);
    vit_build(&s->graph, &c, &s->model.weights, NULL, s->pixels, &s->nodes);
}

static void close_subject(Subject *s)
{
    dataset_free(s->dataset);
    pictures_free(s->pictures);
    graph_free(&s->graph);
    model_free(&s->model);
    arena_free(&s->arena);
    free(s->pixels);
}

/* What the model says about picture i alone, edited the way the session does it. */
static int alone(Subject *s, Edits edits, size_t i, float *logits)
{
    Graph edited = {.count = 0};
    Err err = {""};
    int label = dataset_get(s->dataset, i, s->pixels, NULL);
    Run *base = run_new(&s->graph, NULL, NULL), *run = base;
    if (edits.count) {
        assert_true(graph_edit(&edited, &s->graph, edits.edit, edits.count, &err));
        run = run_new(&edited, base, NULL);
    }
    NodeId n = graph_find(edits.count ? &edited : &s->graph, "logits");
    memcpy(logits, run_need(run, n), (size_t)s->model.vit.classes * sizeof *logits);
    if (edits.count)
        run_free(run);
    run_free(base);
    graph_free(&edited);
    return label;
}

/* The same exam begun at what another kept of the same pictures, if it had room: the same answers to the bit. */
static void begins_late(Subject *s, AccuracySetup exam, const AccuracyResult *whole, size_t most, bool other)
{
    Err err = {""};
    const AccuracySetup plain = {.model = &s->model,
                                 .graph = &s->graph,
                                 .dataset = s->dataset,
                                 .keeps = true,
                                 .keep_most = most,
                                 .other = other};
    Accuracy *base = accuracy_new(&plain, &err);
    assert_non_null(base);
    assert_true(accuracy_step(base, CLOCK_NEVER));
    exam.front = base;
    Accuracy *late = accuracy_new(&exam, &err);
    assert_non_null(late);
    assert_true(accuracy_step(late, CLOCK_NEVER));
    const AccuracyResult *r = accuracy_result(late);
    assert_int_equal(r->right, whole->right);
    assert_memory_equal(r->label, whole->label, COUNT * sizeof *r->label);
    assert_memory_equal(r->named, whole->named, COUNT * sizeof *r->named);
    assert_memory_equal(r->sure, whole->sure, COUNT * sizeof *r->sure);
    assert_memory_equal(&r->loss.mean, &whole->loss.mean, sizeof r->loss.mean);
    accuracy_free(late);
    accuracy_free(base);
}

/* Every picture in a batch run has the bits of the picture alone, and the exam counts them right. */
static void check_edits(Subject *s, Edits edits)
{
    Err err = {""};
    int classes = s->model.vit.classes;
    size_t right = 0;
    double loss = 0;
    float logits[64];
    BatchRunSetup setup = {.model = &s->model, .edits = edits.edit, .edit_count = edits.count, .graph = &s->graph};
    AccuracySetup exam = {
        .model = &s->model, .edits = edits.edit, .edit_count = edits.count, .graph = &s->graph, .dataset = s->dataset};
    BatchRun *batch = batch_run_new(&setup, &err);
    Accuracy *e = accuracy_new(&exam, &err);
    assert_non_null(batch);
    assert_non_null(e);
    assert_true(accuracy_step(e, CLOCK_NEVER));
    const AccuracyResult *r = accuracy_result(e);
    for (size_t i = 0; i < COUNT; i++) {
        int label = alone(s, edits, i, logits);
        dataset_get(s->dataset, i, batch_run_pixels(batch, 0, (int)i % BATCH_RUN_PICTURES), NULL);
        batch_run_compute(batch, 0);
        assert_memory_equal(batch_run_logits(batch, 0, (int)i % BATCH_RUN_PICTURES), logits,
                            (size_t)classes * sizeof *logits);
        assert_int_equal(r->named[i], batch_run_largest(logits, classes));
        assert_int_equal(r->label[i], label);
        right += r->named[i] == label;
        double sum = 0;
        for (int o = 0; o < classes; o++)
            sum += exp((double)logits[o] - (double)logits[label]);
        loss += log(sum) / COUNT;
    }
    assert_int_equal(r->right, right);
    assert_true(fabs(r->loss.mean - loss) < 1e-9 * (1 + fabs(loss)));
    size_t all = 0, diagonal = 0;
    for (int o = 0; o < classes; o++) {
        size_t of_class_right, of_class = accuracy_of_class(r, o, &of_class_right), counted = 0;
        for (size_t i = 0; i < COUNT; i++)
            counted += r->label[i] == o;
        assert_int_equal(of_class, counted);
        all += of_class;
        diagonal += of_class_right;
    }
    assert_int_equal(all, COUNT);
    assert_int_equal(diagonal, right);
    begins_late(s, exam, r, 0, false);
    begins_late(s, exam, r, (size_t)1 << 30, true); /* as `evaluate` does */
    begins_late(s, exam, r, 1, true);               /* no room */
    accuracy_free(e);
    batch_run_free(batch);
}

static void removals(Subject *s)
{
    static const Ablation ALL[] = {{.kind = ABLATION_NONE},
                                   {.kind = ABLATION_SCALE},
                                   {.kind = ABLATION_SCALE, .factor = 0.5f},
                                   {.kind = ABLATION_HEAD, .layer = 1, .head = 2},
                                   {.kind = ABLATION_ATTENTION, .layer = 0},
                                   {.kind = ABLATION_MLP, .layer = 1},
                                   {.kind = ABLATION_POSITIONS}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        Edits edits;
        bool there = ablation_edits(&s->arena, &s->graph, ALL[i], &edits);
        assert_true(there == (ALL[i].kind != ABLATION_POSITIONS || s->model.vit.pos != VIT_POS_NONE));
        if (there)
            check_edits(s, edits);
    }
}

static void equals_pictures_alone(void **state)
{
    (void)state;
    Subject s;
    open_subject(&s, NULL);
    removals(&s);
    close_subject(&s);
}

static void odd(VitConfig *c)
{
    c->cls = false;
    c->pos = VIT_POS_PATCHES;
    c->pool = VIT_POOL_MEAN;
    c->layer_scale = true;
    c->post_norm = true;
    c->image_h = 24;
    c->image_w = 36;
    c->input = VIT_INPUT_STANDARD;
    c->range = 255;
    for (int i = 0; i < c->channels; i++)
        c->std[i] = 0.5f;
}

static void without_positions(VitConfig *c)
{
    c->pos = VIT_POS_NONE;
    c->registers = 2;
}

static void of_odd_models(void **state)
{
    (void)state;
    Subject s;
    open_subject(&s, odd);
    assert_false(readout_has_other(&s.model));
    removals(&s);
    close_subject(&s);
    open_subject(&s, without_positions);
    removals(&s);
    close_subject(&s);
}

static bool later(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0];
}

/* Every kind of edit, axes chosen so that they do not stand at the same place in both tables. */
static void edits_of_every_kind(void **state)
{
    (void)state;
    Subject s;
    open_subject(&s, NULL);
    const Graph *g = &s.graph;
    int order[64], chosen[64] = {[5] = 1, [40] = 1}, t = graph_axis_find(g, "t"), u = graph_axis_find(g, "u"),
                   h = graph_axis_find(g, "h"), p = graph_axis_find(g, "p"), patches = vit_patches(&s.model.vit);
    assert_int_equal(patches, 64);
    for (int i = 0; i < 64; i++)
        order[i] = 63 - i;
    size_t cells = graph_cells(g, graph_find(g, "blocks.1.ln1.out"));
    float *values = xfloats(cells);
    for (size_t i = 0; i < cells; i++)
        values[i] = (float)(i % 7) - 3;
    Edit each[] = {
        {.kind = EDIT_MEAN, .path = "blocks.0.attn.z", .axis = t, .cells = {1, {{h, 1, 2}}}},
        {.kind = EDIT_SET, .path = "blocks.0.mlp.post", .value = 0.25f, .cells = {1, {{t, 3, 9}}}},
        {.kind = EDIT_MASK, .path = "blocks.1.attn.scores_scaled", .cells = {1, {{u, 0, 1}}}},
        {.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .choose = later},
        {.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled", .cells = {2, {{h, 2, 3}, {t, 4, 5}}}},
        {.kind = EDIT_REDIRECT, .path = "blocks.1.ln2.out", .other = "blocks.1.resid_mid"},
        {.kind = EDIT_GATHER, .path = "patch_embed", .axis = p, .index = order},
        {.kind = EDIT_OTHER, .path = "patch_embed", .axis = p, .index = chosen, .other = "blocks.0.ln1.bias"},
        {.kind = EDIT_VALUES, .path = "blocks.1.ln1.out", .data = values},
        {.kind = EDIT_SCALE, .path = "blocks.0.attn.scale", .factor = 3, .cells = {1, {{h, 0, 2}}}},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        if (each[i].kind == EDIT_OTHER && graph_find(g, each[i].other) == NO_NODE)
            each[i].other = graph_node(g, graph_find(g, vit_role_name(VIT_PATCH_B)))->path;
        if (each[i].kind == EDIT_OTHER && graph_find(g, each[i].other) >= graph_find(g, each[i].path))
            each[i].other = graph_node(g, graph_find(g, vit_role_name(VIT_PATCH_B)))->path;
        check_edits(&s, (Edits){&each[i], 1});
    }
    check_edits(&s, (Edits){each, 2});
    free(values);
    close_subject(&s);
}

/* What is changed on one picture, or on an analysis, says nothing about other pictures; what names nothing is an error.
 */
static void edits_passed_over(void **state)
{
    (void)state;
    Subject s;
    Err err = {""};
    open_subject(&s, NULL);
    Edit picture = {.kind = EDIT_VALUES, .path = graph_node(&s.graph, s.nodes.input)->path, .data = s.pixels};
    Edit nothing = {.kind = EDIT_ZERO, .path = "blocks.7.attn.z"};
    AccuracySetup setup = {.model = &s.model, .dataset = s.dataset}, edited = setup;
    edited.edits = &picture;
    edited.edit_count = 1;
    edited.graph = &s.graph;
    Accuracy *a = accuracy_new(&setup, &err), *b = accuracy_new(&edited, &err);
    assert_true(accuracy_step(a, CLOCK_NEVER) && accuracy_step(b, CLOCK_NEVER));
    assert_memory_equal(accuracy_result(a)->named, accuracy_result(b)->named, COUNT * sizeof(int));
    assert_true(accuracy_result(a)->loss.mean == accuracy_result(b)->loss.mean);
    accuracy_free(a);
    accuracy_free(b);
    edited.edits = &nothing;
    assert_null(accuracy_new(&edited, &err));
    assert_non_null(strstr(err.text, "blocks.7.attn.z"));
    close_subject(&s);
}

/* Any number of threads, any slices of time, read from the dataset or drawn anew: the same result. */
static void same_whatever_the_threads(void **state)
{
    (void)state;
    Subject s;
    Err err = {""};
    open_subject(&s, NULL);
    int named[COUNT], other[COUNT];
    double loss = 0;
    for (int threads = 1; threads <= 3; threads++) {
        Pool *pool = pool_new(threads);
        Dataset *fresh = dataset_new(s.pictures, &s.model, PICTURES_HELD_OUT, 3, COUNT);
        AccuracySetup setup = {.model = &s.model,
                               .dataset = threads == 2 ? s.dataset : fresh,
                               .other = true,
                               .pool = threads == 1 ? NULL : pool};
        Accuracy *e = accuracy_new(&setup, &err);
        assert_non_null(e);
        int slices = 0;
        size_t before = 0;
        assert_null(accuracy_result(e));
        while (!accuracy_step(e, 0)) {
            assert_true(accuracy_pictures_done(e) > before || slices == 0);
            before = accuracy_pictures_done(e);
            slices++;
            assert_null(accuracy_result(e));
        }
        assert_true(threads > 1 || slices == (COUNT - 1) / BATCH_RUN_PICTURES);
        assert_true(accuracy_step(e, 0));
        const AccuracyResult *r = accuracy_result(e);
        assert_true(r->has_other);
        if (threads == 1) {
            memcpy(named, r->named, sizeof named);
            memcpy(other, r->other_named, sizeof other);
            loss = r->loss.mean;
        }
        assert_memory_equal(r->named, named, sizeof named);
        assert_memory_equal(r->other_named, other, sizeof other);
        assert_true(r->loss.mean == loss);
        accuracy_free(e);
        dataset_free(fresh);
        pool_free(pool);
    }
    close_subject(&s);
}

/* The read-out that is not used: the mean of the patch tokens after the final norm, through the same head. */
static void other_readout(void **state)
{
    (void)state;
    Subject s;
    Err err = {""};
    open_subject(&s, NULL);
    const VitConfig *c = &s.model.vit;
    BatchRunSetup setup = {.model = &s.model, .other = true};
    BatchRun *batch = batch_run_new(&setup, &err);
    assert_non_null(batch);
    dataset_get(s.dataset, 2, s.pixels, NULL);
    dataset_get(s.dataset, 2, batch_run_pixels(batch, 0, 1), NULL);
    batch_run_compute(batch, 0);
    Run *run = run_new(&s.graph, NULL, NULL);
    const float *tokens = run_need(run, s.nodes.tokens_out), *w = vit_weight(&s.model.weights, VIT_HEAD_W, 0)->data,
                *bias = vit_weight(&s.model.weights, VIT_HEAD_B, 0)->data;
    size_t d = (size_t)c->width, prefix = (size_t)vit_prefix(c), patches = (size_t)vit_patches(c);
    for (size_t o = 0; o < (size_t)c->classes; o++) {
        double want = (double)bias[o];
        for (size_t k = 0; k < d; k++) {
            double mean = 0;
            for (size_t p = 0; p < patches; p++)
                mean += (double)tokens[(prefix + p) * d + k] / (double)patches;
            want += mean * (double)w[o * d + k];
        }
        assert_true(fabs((double)batch_run_other(batch, 0, 1)[o] - want) < 1e-5 * (1 + fabs(want)));
    }
    run_free(run);
    batch_run_free(batch);
    close_subject(&s);
}

/* The classes of a model that has them in another order: labels are the model's. */
static void classes_by_name(void **state)
{
    (void)state;
    Subject s;
    const char *names[DRAWN_CLASSES];
    open_subject(&s, NULL);
    for (int o = 0; o < DRAWN_CLASSES; o++)
        names[o] = SHAPES_NAMES[DRAWN_CLASSES - 1 - o];
    s.model.class_names = names;
    Dataset *turned = dataset_new(s.pictures, &s.model, PICTURES_HELD_OUT, 3, COUNT);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(dataset_get(turned, i, s.pixels, NULL),
                             DRAWN_CLASSES - 1 - dataset_get(s.dataset, i, s.pixels, NULL));
    dataset_free(turned);
    close_subject(&s);
}

static void nasty_answers(void **state)
{
    (void)state;
    const float x[] = {NAN, 1, 2, NAN, 2}, all[] = {NAN, NAN}, low[] = {-INFINITY, -INFINITY, -3};
    assert_int_equal(batch_run_largest(x, 5), 2);
    assert_int_equal(batch_run_largest(all, 2), 0);
    assert_int_equal(batch_run_largest(low, 3), 2);
}

static void who_can_be_examined(void **state)
{
    (void)state;
    Subject s;
    Err err = {""};
    open_subject(&s, NULL);
    assert_true(dataset_suits_drawn(&s.model, &err));
    assert_true(dataset_suits(&s.model, s.pictures, &err));
    s.model.drawn_shapes = false;
    assert_false(dataset_suits_drawn(&s.model, &err));
    assert_non_null(strstr(err.text, "no labelled pictures are known"));
    const char *names[DRAWN_CLASSES];
    memcpy(names, SHAPES_NAMES, sizeof names);
    s.model.class_names = names;
    assert_true(dataset_suits(&s.model, s.pictures, &err));
    names[3] = "teapot";
    assert_false(dataset_suits(&s.model, s.pictures, &err));
    s.model.drawn_shapes = true; /* as its file may say */
    assert_false(dataset_suits_drawn(&s.model, &err));
    s.model.drawn_shapes = false;
    assert_false(dataset_suits(&s.model, s.pictures, &err));
    assert_non_null(strstr(err.text, SHAPES_NAMES[3]));
    names[3] = "square"; /* twice: a class of the pictures is missing all the same */
    assert_false(dataset_suits(&s.model, s.pictures, &err));
    s.model.class_names = NULL;
    assert_true(dataset_suits(&s.model, s.pictures, &err));
    s.model.vit.classes = 9;
    assert_false(dataset_suits(&s.model, s.pictures, &err));
    s.model.vit.classes = 0;
    assert_false(dataset_suits(&s.model, s.pictures, &err));
    s.model.vit.classes = DRAWN_CLASSES;
    s.model.vit.input = VIT_INPUT_READY;
    s.model.drawn_shapes = true;
    assert_false(dataset_suits_drawn(&s.model, &err));
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_pictures_alone),     cmocka_unit_test(of_odd_models),
        cmocka_unit_test(edits_of_every_kind),       cmocka_unit_test(edits_passed_over),
        cmocka_unit_test(same_whatever_the_threads), cmocka_unit_test(other_readout),
        cmocka_unit_test(classes_by_name),           cmocka_unit_test(nasty_answers),
        cmocka_unit_test(who_can_be_examined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
