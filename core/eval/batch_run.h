/* A model, as trained or edited, over many inputs: the graph of several pictures, or of sentences of one length, at
 * once, and plans of its own for every thread. Cell for cell the same bits as for each input alone. */
#ifndef VITRINE_EVAL_BATCH_RUN_H
#define VITRINE_EVAL_BATCH_RUN_H
#include "core/base/pool.h"
#include "core/graph/edit.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/train/sentences.h"

enum { BATCH_RUN_PICTURES = 4 };

/* What one run keeps of every batch for others that are edited: the stream into each block, each attention's keys,
 * values and z. Where edits reach none of it the others begin there, with the same bits. */
typedef struct BatchKept {
    int count;      /* values of a batch */
    size_t batches; /* room for so many */
    float **at;     /* [batches, count] */
} BatchKept;
void batch_kept_free(BatchKept *k); /* zeroed allowed */

typedef struct BatchRunSetup {
    const Model *model; /* a text model: a translator with the lexicon's words, whose translations are known */
    bool ready;         /* what is given are values that were standardised already */
    const Edit *edits;  /* as made for one input; those of the input itself and of analyses are passed over */
    int edit_count;
    const Graph *graph; /* which the edits were made for; NULL without edits */
    bool single;        /* one picture at a time instead, with the analyses of probes.h, which may be watched then */
    bool other;         /* the read-out that the model does not use, too; pictures, not with `single` */
    const char *const *watch; /* paths of nodes whose values are wanted besides the answer */
    int watch_count;
    int threads;
    BatchKept *keeps; /* zeroed but for `batches`, how many inputs there are: filled, outlives it; not with edits */
    size_t keep_most; /* bytes; 0: 256 MB. What needs more is not kept */
    const BatchKept *front; /* of a run of the same model over the same batches; not with `other` */
} BatchRunSetup;

typedef struct BatchRun BatchRun;

/* model must outlive it, the rest of the setup need not. NULL with err when an edit or a watched path names what this
 * model lacks. */
BatchRun *batch_run_new(const BatchRunSetup *setup, Err *err);
void batch_run_free(BatchRun *s);        /* NULL is allowed */
int batch_run_inputs(const BatchRun *s); /* at once */
/* Where picture 0 … BATCH_RUN_PICTURES-1 (single: 0) of that thread's next computation goes: [c,y,x], as the model's
 * input takes them. */
float *batch_run_pixels(BatchRun *s, int worker, int picture);
void batch_run_compute(BatchRun *s, int worker);
/* With `keeps` or `front`: which batch that thread computes next. */
void batch_run_number(BatchRun *s, int worker, size_t batch);
/* Does it begin at what another kept, so that no picture is looked at? */
bool batch_run_begins_late(const BatchRun *s);
/* The same in parts, for models so large that somebody would wait for it: true when complete. */
bool batch_run_step(BatchRun *s, int worker, int64_t deadline_ns);
/* After batch_run_compute, of one input. */
const float *batch_run_logits(const BatchRun *s, int worker, int input);             /* [o], [length, words] */
bool batch_run_has_other(const BatchRun *s);                                         /* is there a second read-out? */
const float *batch_run_other(const BatchRun *s, int worker, int input);              /* [o] */
const float *batch_run_watched(const BatchRun *s, int worker, int which, int input); /* node watch[which] */
/* Index of the largest, the first of equal ones; not-a-number is never the largest. */
int batch_run_largest(const float *x, int n);

/* One sentence that was read. */
typedef struct SentenceRead {
    const BatchRun *run;
    int worker, at, length;
    const ParallelSentence *s;
} SentenceRead;
/* Of node watch[which], the sentence's own part. */
const float *sentence_watched(const SentenceRead *r, int which);
/* The word that comes first in row t. */
int sentence_first_word(const SentenceRead *r, int t);
/* Called once for every sentence, by its number, from any thread, in any order. */
typedef void (*SentenceVisit)(void *context, size_t i, const SentenceRead *r);
/* Reads s[done] … s[n-1] until the deadline (clock_ns), at least a batch; returns how many are done then. done is a
 * multiple of batch_run_inputs. */
size_t batch_run_read(BatchRun *run, Pool *pool, const ParallelSentence *s, size_t done, size_t n, SentenceVisit visit,
                      void *context, int64_t deadline_ns);

/* The read-out that a model does not use, beside the one it does: the mean of the patch tokens where it reads the class
 * token, the class token where it reads the mean. Same final norm, same head. */
typedef enum Readout { READOUT_CLASS_TOKEN, READOUT_MEAN, READOUT_NEITHER } Readout; /* the last: both, or pooling */

Readout readout_used(const Model *m);   /* the class token's, of models without patches too */
bool readout_has_other(const Model *m); /* is there another one, and a head to read it with? */
/* Appends it to a graph that vit_build_batch made; the path of its logits [b,o], or NULL where there is none. */
const char *readout_add(Graph *g, const Model *m);
#endif
