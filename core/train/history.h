/* What is kept of a training run besides the weights: a row of figures every so many steps, and snapshots of what can
 * be looked at, close together at the beginning, where the structure is born. */
#ifndef VITRINE_TRAIN_HISTORY_H
#define VITRINE_TRAIN_HISTORY_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/models/vit.h"

/* The figures of one row, besides the entropies. */
#define HISTORY_FIGURES(X)                                                                                             \
    X(STEP, "step", "steps done")                                                                                      \
    X(LOSS, "loss", "cross entropy of the step's unmasked pictures")                                                   \
    X(ACCURACY, "accuracy", "share of the step's unmasked pictures named right")                                       \
    X(GUESS, "guess", "mean squared error of the guessed patches; −1: none were hidden")                               \
    X(GRADIENT, "gradient_norm", "norm of all gradients together, before clipping")                                    \
    X(RATE, "rate", "learning rate")                                                                                   \
    X(CHECK, "check", "accuracy on pictures that are not learnt from; −1: not measured here")
typedef enum HistoryFigure {
#define X(symbol, name, what) HISTORY_##symbol,
    HISTORY_FIGURES(X)
#undef X
        HISTORY_FIXED
} HistoryFigure;
const char *history_name(HistoryFigure f);
const char *history_what(HistoryFigure f);

/* One look into the model while it learns. */
typedef struct Snapshot {
    int step;
    float *positions; /* [rows of the position table, d]; NULL without positions */
    float *filters;   /* [d,c,i,j] */
    float *rows;      /* [layers, h, u]: attention of token 0 on the first check picture */
    float *entropy;   /* [layers, h]: entropy of a row of attention divided by log(tokens), mean over the rows of that
                         picture */
} Snapshot;

typedef struct History {
    VitConfig vit;
    int row_count, snapshot_count;
    float *row; /* [row_count, HISTORY_FIXED + layers]: the figures, then each block's mean entropy divided by
                   log(tokens) */
    Snapshot *snapshot;
    size_t row_cap, snapshot_cap;
} History;

void history_init(History *h, const VitConfig *c);
void history_free(History *h); /* zeroed allowed */
size_t history_width(const History *h);
float *history_add(History *h); /* a new row, zeroed */
float history_at(const History *h, int row, HistoryFigure f);
float history_entropy(const History *h, int row, int layer);
Snapshot *history_snap(History *h, int step); /* a new snapshot with room for all arrays */
/* Steps at which a run of `steps` is looked at: 0, 25, 50, 100 … and the end. */
bool history_wants(int step, int steps);

/* A safetensors file. Reading checks every shape against c. */
bool history_write(const History *h, const char *path, Err *err);
bool history_read(History *h, const VitConfig *c, const char *path, Err *err);
/* The same from bytes in memory, which must outlive nothing; name is for messages. */
bool history_decode(History *h, const VitConfig *c, const char *name, const void *bytes, size_t n, Err *err);
#endif
