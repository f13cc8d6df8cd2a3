/* Head census, factors on the scale, the two read-outs: one examination after another over the same pictures. */
#include <math.h>
#include <stdio.h>

#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/session/learned/measures_parts.h"

static void shape(const Session *s, MeasureKind kind, Measure *m)
{
    m->rows = kind == MEASURE_CENSUS ? s->model.vit.layers : 1;
    m->cols = kind == MEASURE_CENSUS ? s->model.vit.heads : kind == MEASURE_SCALE ? (int)MEASURES_FACTORS : 2;
}

/* Examinations that have to be held: the base, and each cell that is not the base itself. */
static size_t exams_of(MeasureKind kind, const Measure *m)
{
    size_t cells = (size_t)m->rows * (size_t)m->cols;
    return kind == MEASURE_READOUT ? 1 : kind == MEASURE_SCALE ? cells : cells + 1;
}

void measures_accuracy_begin(Session *s, MeasureKind kind, Measuring *w)
{
    struct Measures *t = s->measures;
    Measure *m = &w->measure;
    if (!t->stock) {
        t->pictures = pictures_drawn(&s->model.preprocess, 0);
        t->stock = dataset_new(t->pictures, &s->model, PICTURES_HELD_OUT, 0, MEASURES_PICTURES);
    }
    shape(s, kind, m);
    size_t cells = size_mul((size_t)m->rows, (size_t)m->cols);
    m->value = xcalloc(cells, sizeof *m->value);
    for (size_t i = 0; i < cells; i++)
        m->value[i] = NAN;
    m->base = NAN;
    m->answer = -1;
    m->pictures = dataset_count(t->stock);
    m->total = size_mul(exams_of(kind, m), m->pictures);
    w->at = -1;
}

static Ablation removal_of(const Session *s, MeasureKind kind, int at)
{
    if (at < 0 || kind == MEASURE_READOUT)
        return (Ablation){.kind = ABLATION_NONE};
    if (kind == MEASURE_SCALE)
        return (Ablation){.kind = ABLATION_SCALE, .factor = measures_factor(s, at)};
    return (Ablation){.kind = ABLATION_HEAD, .layer = at / s->model.vit.heads, .head = at % s->model.vit.heads};
}

static Accuracy *open_exam(const Session *s, MeasureKind kind, int at, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (!ablation_edits(&arena, s->now.base, removal_of(s, kind, at), &edits))
        UNREACHABLE("a head that the model has not");
    const AccuracySetup setup = {.model = &s->model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = s->now.base,
                                 .stock = s->measures->stock,
                                 .other = kind == MEASURE_READOUT,
                                 .pool = s->pool};
    Accuracy *e = accuracy_new(&setup, err);
    arena_free(&arena);
    return e;
}

static void keep_result(const Session *s, MeasureKind kind, Measuring *w)
{
    Measure *m = &w->measure;
    const AccuracyResult *r = accuracy_result(w->exam);
    float share = (float)accuracy_share(r);
    if (w->at >= 0)
        m->value[w->at] = share;
    else
        m->base = share;
    if (kind == MEASURE_READOUT) {
        bool class_token = readout_used(&s->model.vit) == READOUT_CLASS_TOKEN;
        m->value[class_token ? 0 : 1] = share;
        m->value[class_token ? 1 : 0] = (float)accuracy_share_other(r);
    } else if (kind == MEASURE_SCALE && w->at < 0)
        m->value[MEASURES_FACTORS / 2] = share; /* a factor of 1 changes nothing */
}

bool measures_accuracy_step(Session *s, MeasureKind kind, Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    size_t exams = exams_of(kind, m);
    int cells = m->rows * m->cols;
    if (!w->exam) {
        Err err = {{0}};
        w->exam = open_exam(s, kind, w->at, &err);
        if (!w->exam) {
            snprintf(w->problem, sizeof w->problem, "%s", err.text);
            return true;
        }
    }
    bool done = accuracy_step(w->exam, deadline_ns);
    m->done = w->items_done + accuracy_pictures_done(w->exam);
    if (!done)
        return false;
    keep_result(s, kind, w);
    accuracy_free(w->exam);
    w->exam = NULL;
    w->items_done += m->pictures;
    w->at++;
    if (kind == MEASURE_SCALE && w->at == MEASURES_FACTORS / 2)
        w->at++;
    return exams == 1 || w->at == cells;
}
