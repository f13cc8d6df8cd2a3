/* A model, as trained or edited, over many pictures: the graph of BATCH_RUN_PICTURES pictures at once, and a plan of
 * its own for every thread. Cell for cell the same bits as for each picture alone. */
#ifndef VITRINE_EVAL_BATCH_RUN_H
#define VITRINE_EVAL_BATCH_RUN_H
#include "core/graph/edit.h"
#include "core/models/model.h"

enum { BATCH_RUN_PICTURES = 4 };

typedef struct BatchRunSetup {
    const Model *model;
    bool ready;        /* what is given are values that were standardised already */
    const Edit *edits; /* as made for one picture; those of the picture itself and of analyses are passed over */
    int edit_count;
    const Graph *graph; /* which the edits were made for; NULL without edits */
    bool single;        /* one picture at a time instead, with the analyses of probes.h, which may be watched then */
    bool other;         /* the read-out that the model does not use, too; not with `single` */
    const char *const *watch; /* paths of nodes whose values are wanted besides the answer */
    int watch_count;
    int threads;
} BatchRunSetup;

typedef struct BatchRun BatchRun;

/* model must outlive it, the rest of the setup need not. NULL with err when an edit or a watched path names what this
 * model lacks. */
BatchRun *batch_run_new(const BatchRunSetup *setup, Err *err);
void batch_run_free(BatchRun *s); /* NULL is allowed */
/* Where picture 0 … BATCH_RUN_PICTURES-1 (single: 0) of that thread's next computation goes: [c,y,x], as the model's
 * input takes them. */
float *batch_run_pixels(BatchRun *s, int worker, int picture);
void batch_run_compute(BatchRun *s, int worker);
/* The same in parts, for models so large that somebody would wait for it: true when complete. */
bool batch_run_step(BatchRun *s, int worker, int64_t deadline_ns);
/* After batch_run_compute, of one picture. */
const float *batch_run_logits(const BatchRun *s, int worker, int picture);             /* [o] */
bool batch_run_has_other(const BatchRun *s);                                           /* is there a second read-out? */
const float *batch_run_other(const BatchRun *s, int worker, int picture);              /* [o] */
const float *batch_run_watched(const BatchRun *s, int worker, int which, int picture); /* node watch[which] */
/* Index of the largest, the first of equal ones; not-a-number is never the largest. */
int batch_run_largest(const float *x, int n);
#endif
