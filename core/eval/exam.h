/* An examination: a model, as trained or edited, names many pictures. A little at a time, in as many threads as there
 * are; the result does not depend on how many. */
#ifndef VITRINE_EVAL_EXAM_H
#define VITRINE_EVAL_EXAM_H
#include "core/base/pool.h"
#include "core/eval/readout.h"
#include "core/eval/stock.h"
#include "core/graph/edit.h"

typedef struct ExamSetup {
    const Model *model;
    const Edit *edits; /* as made for one picture (sweep.h) */
    int edit_count;
    const Graph *graph; /* which the edits were made for; NULL without edits */
    Stock *stock;       /* suits the model (stock_suits) */
    bool other;         /* the read-out that the model does not use, too */
    Pool *pool;         /* may be NULL */
} ExamSetup;

/* Complete when the exam is done. */
typedef struct ExamResult {
    size_t pictures, right;
    bool has_other;
    size_t other_right; /* by the read-out that the model does not use */
    double loss;        /* mean cross entropy in nats */
    int classes;
    size_t *confusion;  /* [true class, class named] */
    int *label, *named; /* [pictures] */
    int *other_named;   /* [pictures], or NULL */
} ExamResult;

typedef struct Exam Exam;

/* model, stock and pool must outlive it; the rest of the setup need not. NULL with err when an edit names what the
 * model lacks. */
Exam *exam_new(const ExamSetup *setup, Err *err);
void exam_free(Exam *e); /* NULL is allowed */
/* Works until the deadline (clock_ns), at least SWEEP_PICTURES pictures. True when done. One exam of a stock at a time.
 */
bool exam_step(Exam *e, int64_t deadline_ns);
bool exam_done(const Exam *e);
size_t exam_pictures_done(const Exam *e);
const ExamResult *exam_result(const Exam *e); /* NULL before it is done */
double exam_share(const ExamResult *r);       /* named right, 0 … 1 */
double exam_share_other(const ExamResult *r);
size_t exam_of_class(const ExamResult *r, int label,
                     size_t *right); /* pictures of that class; *right of them named right */
#endif
