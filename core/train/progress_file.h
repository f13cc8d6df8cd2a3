/* A training that was interrupted, as a file: blocks of weights and moments, the step, what identifies the run. The
 * file is written whole or not at all. Internal to core/train. */
#ifndef VITRINE_TRAIN_PROGRESS_FILE_H
#define VITRINE_TRAIN_PROGRESS_FILE_H
#include "core/base/buf.h"
#include "core/io/tensors.h"

enum { PROGRESS_BLOCKS = 4 };
typedef struct Progress {
    const char *const *name; /* [blocks] */
    float *block[PROGRESS_BLOCKS];
    int blocks;
    size_t cells; /* of each block */
    int step, steps;
    const char *identity; /* what a run must have been made with for going on to give the same bytes */
    const char *named;    /* what that is, for the message: "recipe or model" */
} Progress;

/* `extra` tensors (at most 6) are written behind. */
bool progress_write(const Progress *p, const TensorOut *extra, size_t extras, const char *path, Err *err);
/* Reads an open file into `blocks` (blocks · cells) and *step, after comparing what identifies it. */
bool progress_read(const Progress *p, const TensorFile *f, float *blocks, int *step, Err *err);
/* What was read, into the blocks. */
void progress_take(const Progress *p, const float *blocks);
#endif
