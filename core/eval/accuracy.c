#include "core/eval/evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/train/texts.h"

struct Accuracy {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    size_t step, items, done; /* an item is a batch, the last one perhaps fewer */
    double *loss;             /* [pictures] */
    AccuracyResult result;
    BatchKept kept;
    const Accuracy *front;
};

Accuracy *accuracy_new(const AccuracySetup *setup, Err *err)
{
    Accuracy *e = xcalloc(1, sizeof *e);
    size_t n = dataset_count(setup->dataset);
    e->kept.batches = n;
    const BatchRunSetup batch = {.model = setup->model,
                                 .edits = setup->edits,
                                 .edit_count = setup->edit_count,
                                 .graph = setup->graph,
                                 .other = setup->other,
                                 .threads = pool_threads(setup->pool),
                                 .keeps = setup->keeps ? &e->kept : NULL,
                                 .keep_most = setup->keep_most,
                                 .front = setup->front ? &setup->front->kept : NULL};
    BatchRun *s = batch_run_new(&batch, err);
    if (!s) {
        free(e);
        return NULL;
    }
    e->front = setup->front;
    int classes = dataset_sentence(setup->dataset, 0) ? 2 : model_grid(setup->model).classes;
    e->batch = s;
    e->dataset = setup->dataset;
    e->pool = setup->pool;
    e->step = (size_t)batch_run_inputs(s);
    e->items = (n + e->step - 1) / e->step;
    e->loss = xcalloc(n + 1, sizeof *e->loss);
    e->result = (AccuracyResult){.pictures = n,
                                 .has_other = batch_run_has_other(s),
                                 .classes = classes,
                                 .confusion = xcalloc(size_mul((size_t)classes, (size_t)classes), sizeof(size_t)),
                                 .label = xcalloc(n + 1, sizeof(int)),
                                 .named = xcalloc(n + 1, sizeof(int)),
                                 .sure = xcalloc(n + 1, sizeof(float)),
                                 .other_named = batch_run_has_other(s) ? xcalloc(n + 1, sizeof(int)) : NULL};
    return e;
}

void accuracy_free(Accuracy *e)
{
    if (!e)
        return;
    batch_run_free(e->batch);
    batch_kept_free(&e->kept);
    free(e->loss);
    free(e->result.confusion);
    free(e->result.label);
    free(e->result.named);
    free(e->result.sure);
    free(e->result.other_named);
    free(e);
}

/* Σ exp(logit − the largest): one over the probability of the class named. NaN where one is no number. */
static double exp_sum(const float *logits, int classes, double most)
{
    double sum = 0;
    for (int o = 0; o < classes; o++) {
        double x = (double)logits[o] - most;
        if (!isfinite(x))
            return (double)NAN;
        sum += x > -700 ? dm_exp(x) : 0;
    }
    return sum;
}

static void see_sentence(void *exam, size_t i, const SentenceRead *read)
{
    AccuracyResult *r = &((Accuracy *)exam)->result;
    bool right = true;
    for (int t = 0; t <= read->s->fr_n; t++)
        right = right && sentence_first_word(read, t) == text_batch_answer(read->s, t);
    r->label[i] = 1;
    r->named[i] = right;
}

static void name_pictures(void *exam, size_t item, int worker)
{
    Accuracy *e = exam;
    AccuracyResult *r = &e->result;
    size_t first = item * e->step, n = r->pictures - first < e->step ? r->pictures - first : e->step;
    for (size_t i = 0; i < n; i++)
        r->label[first + i] = batch_run_begins_late(e->batch)
                                  ? e->front->result.label[first + i]
                                  : dataset_get(e->dataset, first + i, batch_run_pixels(e->batch, worker, (int)i),
                                                NULL);
    batch_run_number(e->batch, worker, item);
    batch_run_compute(e->batch, worker);
    for (size_t i = 0; i < n; i++) {
        const float *logits = batch_run_logits(e->batch, worker, (int)i);
        r->named[first + i] = batch_run_largest(logits, r->classes);
        double most = (double)logits[r->named[first + i]], sum = exp_sum(logits, r->classes, most);
        e->loss[first + i] = isnan(sum) ? sum : dm_log(sum) + most - (double)logits[r->label[first + i]];
        r->sure[first + i] = (float)(1 / sum);
        if (r->has_other)
            r->other_named[first + i] = batch_run_largest(batch_run_other(e->batch, worker, (int)i), r->classes);
    }
}

static void sum_up(Accuracy *e)
{
    AccuracyResult *r = &e->result;
    r->loss = mean_over(e->loss, r->pictures, 1);
    for (size_t i = 0; i < r->pictures; i++) {
        r->right += r->named[i] == r->label[i];
        r->other_right += r->has_other && r->other_named[i] == r->label[i];
        r->confusion[(size_t)r->label[i] * (size_t)r->classes + (size_t)r->named[i]]++;
    }
}

bool accuracy_step(Accuracy *e, int64_t deadline_ns)
{
    if (e->done == e->items)
        return true;
    const ParallelSentence *s = dataset_sentence(e->dataset, 0);
    size_t n = e->result.pictures;
    e->done = s ? (batch_run_read(e->batch, e->pool, s, e->done * e->step, n, see_sentence, e, deadline_ns) + e->step -
                   1) /
                      e->step
                : pool_run(e->pool, e->done, e->items, name_pictures, e, deadline_ns);
    if (e->done < e->items)
        return false;
    sum_up(e);
    return true;
}

static bool accuracy_done(const Accuracy *e)
{
    return e->done == e->items;
}

size_t accuracy_pictures_done(const Accuracy *e)
{
    return accuracy_done(e) ? e->result.pictures : e->done * e->step;
}

const AccuracyResult *accuracy_result(const Accuracy *e)
{
    return accuracy_done(e) ? &e->result : NULL;
}

const float ACCURACY_SURE[ACCURACY_SURES] = {0.99F, 0.9F, 0.7F, 0.5F, 0};

void accuracy_by_sure(const AccuracyResult *r, AccuracySure out[ACCURACY_SURES])
{
    memset(out, 0, ACCURACY_SURES * sizeof *out);
    for (size_t i = 0; i < r->pictures; i++)
        for (int k = 0; k < ACCURACY_SURES; k++)
            if (r->sure[i] >= ACCURACY_SURE[k]) {
                out[k].right += r->named[i] == r->label[i];
                out[k].pictures++;
                break;
            }
}

double accuracy_share(const AccuracyResult *r)
{
    return r->pictures ? (double)r->right / (double)r->pictures : 0;
}

double accuracy_share_other(const AccuracyResult *r)
{
    return r->pictures ? (double)r->other_right / (double)r->pictures : 0;
}

size_t accuracy_of_class(const AccuracyResult *r, int label, size_t *right)
{
    size_t n = 0, classes = (size_t)r->classes, row = (size_t)label * classes;
    for (size_t o = 0; o < classes; o++)
        n += r->confusion[row + o];
    *right = r->confusion[row + (size_t)label];
    return n;
}
