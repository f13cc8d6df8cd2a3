#include "core/eval/exam.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/eval/sweep.h"

struct Exam {
    Sweep *sweep;
    Stock *stock;
    Pool *pool;
    size_t items, done; /* an item is SWEEP_PICTURES pictures, the last one perhaps fewer */
    double *loss;       /* [pictures] */
    ExamResult result;
};

Exam *exam_new(const ExamSetup *setup, Err *err)
{
    const SweepSetup sweep = {.model = setup->model,
                              .edits = setup->edits,
                              .edit_count = setup->edit_count,
                              .graph = setup->graph,
                              .other = setup->other,
                              .threads = pool_threads(setup->pool)};
    Sweep *s = sweep_new(&sweep, err);
    if (!s)
        return NULL;
    Exam *e = xcalloc(1, sizeof *e);
    size_t n = stock_count(setup->stock), classes = (size_t)setup->model->vit.classes;
    e->sweep = s;
    e->stock = setup->stock;
    e->pool = setup->pool;
    e->items = (n + SWEEP_PICTURES - 1) / SWEEP_PICTURES;
    e->loss = xcalloc(n + 1, sizeof *e->loss);
    e->result = (ExamResult){.pictures = n,
                             .has_other = sweep_has_other(s),
                             .classes = setup->model->vit.classes,
                             .confusion = xcalloc(size_mul(classes, classes), sizeof(size_t)),
                             .label = xcalloc(n + 1, sizeof(int)),
                             .named = xcalloc(n + 1, sizeof(int)),
                             .other_named = sweep_has_other(s) ? xcalloc(n + 1, sizeof(int)) : NULL};
    return e;
}

void exam_free(Exam *e)
{
    if (!e)
        return;
    sweep_free(e->sweep);
    free(e->loss);
    free(e->result.confusion);
    free(e->result.label);
    free(e->result.named);
    free(e->result.other_named);
    free(e);
}

/* −ln of the probability of the true class, from logits. */
static double cross_entropy(const float *logits, int classes, int label)
{
    double sum = 0, most = (double)logits[sweep_largest(logits, classes)];
    for (int o = 0; o < classes; o++) {
        double x = (double)logits[o] - most;
        if (!isfinite(x))
            return (double)NAN;
        sum += x > -700 ? dm_exp(x) : 0;
    }
    return dm_log(sum) + most - (double)logits[label];
}

static void examine(void *exam, size_t item, int worker)
{
    Exam *e = exam;
    ExamResult *r = &e->result;
    size_t first = item * SWEEP_PICTURES,
           n = r->pictures - first < SWEEP_PICTURES ? r->pictures - first : SWEEP_PICTURES;
    for (size_t i = 0; i < n; i++)
        r->label[first + i] = stock_get(e->stock, first + i, sweep_pixels(e->sweep, worker, (int)i), NULL);
    sweep_compute(e->sweep, worker);
    for (size_t i = 0; i < n; i++) {
        const float *logits = sweep_logits(e->sweep, worker, (int)i);
        r->named[first + i] = sweep_largest(logits, r->classes);
        e->loss[first + i] = cross_entropy(logits, r->classes, r->label[first + i]);
        if (r->has_other)
            r->other_named[first + i] = sweep_largest(sweep_other(e->sweep, worker, (int)i), r->classes);
    }
}

static void sum_up(Exam *e)
{
    ExamResult *r = &e->result;
    for (size_t i = 0; i < r->pictures; i++) {
        r->loss += e->loss[i] / (double)r->pictures;
        r->right += r->named[i] == r->label[i];
        r->other_right += r->has_other && r->other_named[i] == r->label[i];
        r->confusion[(size_t)r->label[i] * (size_t)r->classes + (size_t)r->named[i]]++;
    }
}

bool exam_step(Exam *e, int64_t deadline_ns)
{
    if (e->done == e->items)
        return true;
    e->done = pool_run(e->pool, e->done, e->items, examine, e, deadline_ns);
    if (e->done < e->items)
        return false;
    sum_up(e);
    return true;
}

bool exam_done(const Exam *e)
{
    return e->done == e->items;
}

size_t exam_pictures_done(const Exam *e)
{
    return exam_done(e) ? e->result.pictures : e->done * SWEEP_PICTURES;
}

const ExamResult *exam_result(const Exam *e)
{
    return exam_done(e) ? &e->result : NULL;
}

double exam_share(const ExamResult *r)
{
    return r->pictures ? (double)r->right / (double)r->pictures : 0;
}

double exam_share_other(const ExamResult *r)
{
    return r->pictures ? (double)r->other_right / (double)r->pictures : 0;
}

size_t exam_of_class(const ExamResult *r, int label, size_t *right)
{
    size_t n = 0, classes = (size_t)r->classes, row = (size_t)label * classes;
    for (size_t o = 0; o < classes; o++)
        n += r->confusion[row + o];
    *right = r->confusion[row + (size_t)label];
    return n;
}
