/* What excites the hidden units of a model's MLPs: of every unit, over many inputs, its largest activation in each and
 * at which token. What was seen so far may be asked for at any time. */
#ifndef VITRINE_EVAL_NEURONS_H
#define VITRINE_EVAL_NEURONS_H
#include "core/base/pool.h"
#include "core/eval/dataset.h"
#include "core/graph/graph.h"

typedef struct Neurons Neurons;

/* One input, its largest activation, and the token that has it. */
typedef struct NeuronHit {
    size_t item;
    int token;
    float value;
} NeuronHit;

enum { NEURONS_BYTES = 256 << 20 }; /* kept at most: where units are many, inputs are fewer */
/* Pictures of the dataset, or sentences. graph: the model's for one input, with probes. model, dataset and pool must
 * outlive it. NULL with err where the model has no MLP. */
Neurons *neurons_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err);
void neurons_free(Neurons *n);                      /* NULL is allowed */
bool neurons_step(Neurons *n, int64_t deadline_ns); /* true when all are seen */
size_t neurons_done(const Neurons *n);              /* inputs */
size_t neurons_total(const Neurons *n);
/* The inputs that excite it most, the most first, of equals the first; at most `most`. Returns how many. */
int neurons_top(const Neurons *n, int mlp, int unit, NeuronHit *out, int most);
/* How many of the inputs excite it less than that. */
size_t neurons_below(const Neurons *n, int mlp, int unit, float value);
#endif
