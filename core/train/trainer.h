/* Training: batches, gradients, AdamW. A step is a number of micro-batches, each computed by one thread; their
 * gradients are added in order. So the weights do not depend on the number of threads, nor on the machine. What is
 * learnt is the task's (task.h). */
#ifndef VITRINE_TRAIN_TRAINER_H
#define VITRINE_TRAIN_TRAINER_H
#include <stdbool.h>

#include "core/base/err.h"
#include "core/train/pictures.h"
#include "core/train/task.h"

/* Figures of the step just made. */
typedef struct TrainStep {
    int step;                     /* steps done */
    double loss, accuracy, guess; /* of its unmasked examples' answers; of what was hidden (−1 when nothing was) */
    double gradient_norm, rate;
} TrainStep;

/* A new model of a configuration of the recipe's kind, weights from the recipe's seed. examples (Pictures, whose
 * classes the configuration has; NULL for sentences) and pool must outlive it. */
Trainer *trainer_new(const Recipe *r, const void *config, const void *examples, Pool *pool);
void trainer_free(Trainer *t); /* NULL is allowed */
/* One step; then trainer_done tells whether that was the last. */
TrainStep trainer_step(Trainer *t);
bool trainer_done(const Trainer *t);
/* How many of `count` examples of a set are answered without a fault: the picture named right, every word of the
 * sentence the one that comes first; where each answer counts by itself (TaskKind), of all their answers. */
size_t trainer_right(Trainer *t, TaskSet set, size_t count);
/* …of so many: count, or the answers of so many examples. */
size_t trainer_asked(const Trainer *t, size_t count);

/* All that is needed to go on: weights, moments, step, history. The file is written whole or not at all. trainer_resume
 * refuses a file of another recipe, configuration or kind of examples, and then changes nothing. */
bool trainer_save(const Trainer *t, const char *path, Err *err);
bool trainer_resume(Trainer *t, const char *path, Err *err);
/* The folder of a finished model, which must exist: the model's files, history.safetensors, recipe.json, and where it
 * learned from a folder the list of what (pictures_write_learnt). */
#define TRAINER_LEARNT "learnt.txt"
/* In the folder of a decoder: the beginning of the text that it did not learn from, at most 64 kB. */
#define TRAINER_HELD "held.txt"
bool trainer_write(const Trainer *t, const char *folder, Err *err);

/* The folder that a model is trained in: one training at a time, tried before the first step, tidied of what a killed
 * run left. */

enum { WORKPLACE_PATH = 1100 };

/* A zeroed Workplace has fd 0 and is not open: initialise with WORKPLACE_NONE. */
typedef struct Workplace {
    int fd;                     /* of the folder; the lock hangs on it and ends with the process, however that ends */
    char state[WORKPLACE_PATH]; /* what an interrupted training goes on from */
    bool resumes;               /* it is there */
    bool made;                  /* the folder was not there before: an empty one is taken away again */
    char folder[WORKPLACE_PATH];
} Workplace;
#define WORKPLACE_NONE                                                                                                 \
    {                                                                                                                  \
        .fd = -1                                                                                                       \
    }

/* Makes the folder if need be and takes it. An error, with nothing to close: it can't be made or written to, holds a
 * finished model, or another training is at work in it. Where the disk knows no locks there is none. */
bool workplace_open(Workplace *w, const char *folder, Err *err);
void workplace_close(Workplace *w);
#endif
