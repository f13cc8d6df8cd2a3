/* An examination: a model, as trained or edited, names many pictures, or translates many sentences. A little at a time,
 * in as many threads as there are; the result does not depend on how many. */
#ifndef VITRINE_EVAL_ACCURACY_H
#define VITRINE_EVAL_ACCURACY_H
#include "core/base/pool.h"
#include "core/eval/batch_run.h"
#include "core/eval/dataset.h"
#include "core/eval/interval.h"
#include "core/graph/edit.h"

typedef struct AccuracySetup {
    const Model *model;
    const Edit *edits; /* as made for one input (batch_run.h) */
    int edit_count;
    const Graph *graph; /* which the edits were made for; NULL without edits */
    Dataset *dataset;   /* suits the model (dataset_suits) */
    bool other;         /* the read-out that the model does not use, too */
    Pool *pool;         /* may be NULL */
} AccuracySetup;

/* Complete when the exam is done. Sentences count as pictures of two classes: label 1 for each, named 1 where no word
 * is wrong. */
typedef struct AccuracyResult {
    size_t pictures, right;
    bool has_other;
    size_t other_right; /* by the read-out that the model does not use */
    MeanOver loss;      /* cross entropy in nats; 0 of sentences */
    int classes;
    size_t *confusion;  /* [true class, class named] */
    int *label, *named; /* [pictures] */
    int *other_named;   /* [pictures], or NULL */
    float *sure;        /* [pictures] the probability of the class named; 0 of sentences */
} AccuracyResult;

typedef struct Accuracy Accuracy;

/* model, dataset and pool must outlive it; the rest of the setup need not. NULL with err when an edit names what the
 * model lacks. */
Accuracy *accuracy_new(const AccuracySetup *setup, Err *err);
void accuracy_free(Accuracy *e); /* NULL is allowed */
/* Works until the deadline (clock_ns), at least one batch. True when done. One exam of a dataset at a time. */
bool accuracy_step(Accuracy *e, int64_t deadline_ns);
size_t accuracy_pictures_done(const Accuracy *e);
const AccuracyResult *accuracy_result(const Accuracy *e); /* NULL before it is done */
/* Pictures by the probability of the answer: bin i has those of at least ACCURACY_SURE[i], and less than the one
 * before. */
enum { ACCURACY_SURES = 5 };
extern const float ACCURACY_SURE[ACCURACY_SURES];
typedef struct AccuracySure {
    size_t right, pictures;
} AccuracySure;
void accuracy_by_sure(const AccuracyResult *r, AccuracySure out[ACCURACY_SURES]);
double accuracy_share(const AccuracyResult *r); /* named right, 0 … 1 */
double accuracy_share_other(const AccuracyResult *r);
size_t accuracy_of_class(const AccuracyResult *r, int label,
                         size_t *right); /* pictures of that class; *right of them named right */
#endif
