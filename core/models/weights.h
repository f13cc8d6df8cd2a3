/* What the weights of every family of models have in common: where a tensor lies, and its shape by the letters of its
 * axes. */
#ifndef VITRINE_MODELS_WEIGHTS_H
#define VITRINE_MODELS_WEIGHTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/graph/graph.h"

typedef struct WeightTensor {
    const float *data;  /* row-major in the role's axes; NULL where the configuration has no such weight, or … */
    const char *origin; /* its name in the checkpoint (for q, k, v of a fused tensor: that tensor's) */
    LeafStore store;    /* … where it is kept as its file has it, in 16 bits */
} WeightTensor;
/* Cells first, first + 1, … of a weight that there is as floats: where they lie, or in room[n]. */
const float *weight_floats(const WeightTensor *t, size_t first, size_t n, float *room);
/* The same weight from its cell `first` on. */
WeightTensor weight_from(const WeightTensor *t, size_t first);
/* The same of all its cells, in the arena where they do not lie as floats. */
const float *weight_all_floats(const WeightTensor *t, size_t cells, Arena *room);

/* Of a model, entry by entry as its family counts them. Not owned by anything that builds from it: data and origins
 * must outlive the graph. */
typedef struct Weights {
    WeightTensor *at;
} Weights;

/* How a weight of a seeded model begins: the last column of the families' tables of roles. */
typedef enum WeightStart {
    START_TOKEN,
    START_POSITION,
    START_ONE,   /* about 1 */
    START_SMALL, /* about 0 */
    START_FAN,   /* variance 1/inputs */
    START_SHARP  /* larger: rows of attention differ although nothing was trained */
} WeightStart;

/* One weight of a model (model_weight). */
typedef struct WeightPlace {
    int role, layer;  /* as its family counts them; layer −1 or 0 where the model has one */
    uint64_t order;   /* in any model of the family: the same number is the same weight, smaller ones come before */
    size_t entry;     /* in Weights.at */
    uint64_t stream;  /* of random numbers: one for each weight */
    const char *axes; /* "hed" */
    WeightStart start;
    int rank;
    size_t shape[4], cells;
    WeightTensor *at; /* NULL and */
    float *data;      /* NULL where there is no room for weights yet, or … */
    uint16_t *half;   /* … where it is kept in 16 bits */
    size_t next;      /* where the next one is looked for */
} WeightPlace;

/* How long the axis of a letter is in a configuration. */
typedef int (*WeightLength)(const void *config, char letter);
/* The shape of a weight whose axes are these letters; returns the rank. */
int weight_shape(const char *axes, WeightLength length, const void *config, size_t shape[4]);
size_t weight_cells(const char *axes, WeightLength length, const void *config);

/* A whole number of a configuration and what it may be. */
typedef struct Knob {
    const char *what; /* "model width" */
    int value, least, most;
} Knob;
/* False and one line that names the first knob outside its range. */
bool knobs_check(const Knob *knob, size_t n, Err *err);
bool knob_finite(float x);
#endif
