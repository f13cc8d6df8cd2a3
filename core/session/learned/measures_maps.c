/* Occlusion: the picture on show with one patch grey after the other (Zeiler and Fergus 2014), and what becomes of the
 * answer's logit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/screens/heads.h"

static const double LARGE = 1e9; /* FLOPs of one pass: about 10 ms */

/* What a side is, as an occlusion is of it: a run that may be edited. */
typedef struct Subject {
    const Exhibit *e;
    const EditState *lines; /* of the reader */
    const Edit *edits;      /* what they mean for the graph */
    int edit_count;
} Subject;

static Subject subject_of(const Session *s, Side side)
{
    static const EditState NONE;
    const Exhibit *e = session_exhibit(s, side);
    if (session_graph(s, side) == e->pass.base)
        return (Subject){.e = e, .lines = &NONE};
    return (Subject){.e = e,
                     .lines = e == s->now ? &s->edits : &e->lines,
                     .edits = e->pass.edits,
                     .edit_count = e->pass.edit_count};
}

/* The picture as the edits leave it. */
static const float *picture_of(const Subject *u)
{
    const char *path = site_path_any(u->e->pass.base, SITE_INPUT);
    for (int i = 0; i < u->edit_count; i++)
        if (u->edits[i].kind == EDIT_VALUES && strcmp(u->edits[i].path, path) == 0)
            return u->edits[i].data;
    return u->e->input.values;
}

/* An exhibit may have been pinned without its lines. */
static bool has_lines(const Subject *u)
{
    return !u->edit_count || u->lines->count;
}

/* Of another model than the session's own nothing is known to stay the same. */
static bool is_of(const Session *s, const Measuring *w, const Subject *u)
{
    const Input *in = &u->e->input;
    return w->begun && has_lines(u) && w->model == &s->model && u->e->model == w->model && w->ready == in->ready &&
           w->cells == in->cells && edit_state_same(&w->lines, u->lines) &&
           memcmp(w->picture, picture_of(u), w->cells * sizeof *w->picture) == 0;
}

static bool is_same(const Subject *a, const Subject *b)
{
    return has_lines(a) && has_lines(b) && a->e->model == b->e->model && a->e->input.ready == b->e->input.ready &&
           a->e->input.cells == b->e->input.cells && edit_state_same(a->lines, b->lines) &&
           memcmp(picture_of(a), picture_of(b), a->e->input.cells * sizeof(float)) == 0;
}

/* What one of them was of and the other is of now changes hands, the rest goes. */
static void hand_over(const Session *s, Measuring old[2], const Subject *u, Measuring *to)
{
    *to = (Measuring){.begun = false};
    for (int i = 0; i < 2 && !to->begun; i++)
        if (is_of(s, &old[i], u)) {
            *to = old[i];
            old[i] = (Measuring){.begun = false};
        }
}

void measures_occlusion_settle(Session *s)
{
    struct Measures *t = measures_of(s);
    if (t->occlusion_settled)
        return;
    Measuring old[] = {t->work[MEASURE_OCCLUSION], t->work[MEASURE_OCCLUSION_A]};
    const Subject a = subject_of(s, SIDE_A), b = subject_of(s, SIDE_B);
    hand_over(s, old, &b, &t->work[MEASURE_OCCLUSION]);
    hand_over(s, old, &a, &t->work[MEASURE_OCCLUSION_A]);
    measures_free_work(&old[0]);
    measures_free_work(&old[1]);
    t->occlusion_alike = is_same(&a, &b);
    t->occlusion_settled = true;
}

void measures_occlusion_begin(const Session *s, Side side, Measuring *w)
{
    const Subject u = subject_of(s, side);
    const Forward *f = &u.e->pass;
    const PictureGrid grid = model_grid(u.e->model);
    Measure *m = &w->measure;
    size_t patches = (size_t)grid_patches(&grid);
    *m = (Measure){.rows = grid.rows,
                   .cols = grid.columns,
                   .base = NAN,
                   .pictures = 1,
                   .total = patches + 1,
                   .answer = -1,
                   .value = xcalloc(patches, sizeof(float))};
    for (size_t i = 0; i < patches; i++)
        m->value[i] = NAN;
    double flops = 0;
    for (NodeId n = 0; n <= site_node_any(f->base, SITE_LOGITS); n++)
        flops += graph_cost(f->base, n).flops;
    w->large = flops > LARGE;
    w->model = u.e->model;
    w->ready = u.e->input.ready;
    w->lines = edit_state_copy(u.lines);
    w->cells = u.e->input.cells;
    w->picture = xfloats(w->cells);
    memcpy(w->picture, picture_of(&u), w->cells * sizeof *w->picture);
    w->logits = xcalloc(size_mul(patches + 1, (size_t)grid.classes), sizeof *w->logits);
}

/* When it is its turn: two at once would hold the values of two passes. */
static bool open_batch(const Session *s, Side side, Measuring *w)
{
    const Subject u = subject_of(s, side);
    Err err = {{0}};
    const BatchRunSetup setup = {.model = w->model,
                                 .ready = w->ready,
                                 .edits = u.edits,
                                 .edit_count = u.edit_count,
                                 .graph = u.e->pass.base,
                                 .single = w->large, /* shorter pieces: a key waits for one */
                                 .threads = pool_threads(s->pool)};
    w->batch = batch_run_new(&setup, &err);
    if (!w->batch)
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
    return w->batch != NULL;
}

static void close_batch(Measuring *w)
{
    batch_run_free(w->batch);
    free(w->logits);
    w->batch = NULL;
    w->logits = NULL;
}

static size_t classes_of(const Measuring *w)
{
    return (size_t)model_grid(w->model).classes;
}

/* Picture number i: 0 as it is, else with patch i − 1 grey, as the command `grey` makes it. */
static void paint(const Measuring *w, size_t i, float *pixels)
{
    const PictureGrid grid = model_grid(w->model);
    size_t width = (size_t)grid.width, plane = (size_t)grid.height * width, ph = (size_t)grid.patch_h,
           pw = (size_t)grid.patch_w;
    memcpy(pixels, w->picture, w->cells * sizeof *pixels);
    if (!i)
        return;
    float grey = w->ready ? 0.0f : 127.5f;
    size_t cols = (size_t)w->measure.cols, row = (i - 1) / cols, col = (i - 1) % cols;
    for (size_t ch = 0; ch < (size_t)grid.channels; ch++)
        for (size_t y = 0; y < ph; y++)
            for (size_t x = 0; x < pw; x++)
                pixels[ch * plane + (row * ph + y) * width + col * pw + x] = grey;
}

/* Pictures of an item. */
static size_t most_of(const Measuring *w)
{
    return w->large ? 1 : BATCH_RUN_PICTURES;
}

static size_t count_of(const Measuring *w, size_t item)
{
    size_t left = w->measure.total - item * most_of(w);
    return left < most_of(w) ? left : most_of(w);
}

static void lay_out(const Measuring *w, size_t item, int worker)
{
    for (size_t i = 0; i < count_of(w, item); i++)
        paint(w, item * most_of(w) + i, batch_run_pixels(w->batch, worker, (int)i));
}

static void keep_logits(Measuring *w, size_t item, int worker)
{
    size_t first = item * most_of(w), classes = classes_of(w);
    for (size_t i = 0; i < count_of(w, item); i++)
        memcpy(w->logits + (first + i) * classes, batch_run_logits(w->batch, worker, (int)i),
               classes * sizeof *w->logits);
}

static void occlude(void *measuring, size_t item, int worker)
{
    Measuring *w = measuring;
    lay_out(w, item, worker);
    batch_run_compute(w->batch, worker);
    keep_logits(w, item, worker);
}

/* In one thread, but so that it stops within a pass, between pieces of its operations. */
static void occlude_slowly(Measuring *w, size_t items, int64_t deadline_ns)
{
    while (w->items_done < items) {
        if (!w->painted)
            lay_out(w, w->items_done, 0);
        w->painted = !batch_run_step(w->batch, 0, deadline_ns);
        if (w->painted)
            return;
        keep_logits(w, w->items_done++, 0);
        if (clock_ns() >= deadline_ns)
            return;
    }
}

bool measures_occlusion_step(const Session *s, Side side, Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    size_t items = (m->total + most_of(w) - 1) / most_of(w), classes = classes_of(w);
    if (!w->batch && !open_batch(s, side, w))
        return false;
    if (w->large)
        occlude_slowly(w, items, deadline_ns);
    else
        w->items_done = pool_run(s->pool, w->items_done, items, occlude, w, deadline_ns);
    if (!w->items_done)
        return false;
    m->done = w->items_done == items ? m->total : w->items_done * most_of(w);
    if (m->answer < 0) {
        m->answer = batch_run_largest(w->logits, (int)classes);
        m->base = w->logits[m->answer];
    }
    for (size_t i = 1; i < m->done; i++)
        m->value[i - 1] = w->logits[i * classes + (size_t)m->answer];
    if (w->items_done < items)
        return false;
    close_batch(w);
    return true;
}

/* Where every head looks, over the pictures or sentences that the model never learned from. */

void measures_looks_begin(Session *s, Measuring *w)
{
    Measure *m = &w->measure;
    Err err = {{0}};
    m->rows = head_words_rows(s);
    m->cols = session_heads(s);
    m->base = NAN;
    m->answer = -1;
    size_t cells = size_mul((size_t)m->rows, (size_t)m->cols);
    m->value = xcalloc(cells, sizeof *m->value);
    for (size_t i = 0; i < cells; i++)
        m->value[i] = NAN;
    if (session_kinds_apply(s)) {
        m->pictures = m->total = HEAD_KINDS_TEXTS;
        w->kinds = head_kinds_new(s->now->model, HEAD_KINDS_TEXTS, s->pool, &err);
        if (!w->kinds)
            snprintf(w->problem, sizeof w->problem, "%s", err.text);
        return;
    }
    w->dataset = measures_dataset(s, 0, MEASURES_ROUND);
    m->pictures = m->total = dataset_count(w->dataset);
    w->places = head_places_new(s->now->model, session_base(s), w->dataset, s->pool, &err);
    if (!w->places)
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
}

static bool kinds_step(Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    bool done = head_kinds_step(w->kinds, deadline_ns);
    m->done = head_kinds_done(w->kinds);
    const HeadKindsResult *r = head_kinds_result(w->kinds);
    for (int i = 0; r && i < m->rows * m->cols; i++)
        m->value[i] = (float)r->share[i][HEAD_INDUCTION].mean;
    return done;
}

bool measures_looks_step(Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    if (w->kinds)
        return kinds_step(w, deadline_ns);
    if (!w->places)
        return true;
    bool done = head_places_step(w->places, deadline_ns);
    m->done = head_places_done(w->places);
    const HeadPlacesResult *r = head_places_result(w->places);
    for (int i = 0; r && i < m->rows * m->cols; i++)
        m->value[i] = (float)r->distance[i].mean;
    if (r && r->places == HEAD_PLACES)
        m->base = (float)r->uniform[0];
    return done;
}

const HeadPlacesResult *session_head_places(const Session *s)
{
    const Measuring *w = s->measures ? &s->measures->work[MEASURE_LOOKS] : NULL;
    return w && w->places ? head_places_result(w->places) : NULL;
}

const HeadKindsResult *session_head_kinds(const Session *s)
{
    const Measuring *w = s->measures ? &s->measures->work[MEASURE_LOOKS] : NULL;
    return w && w->kinds ? head_kinds_result(w->kinds) : NULL;
}
