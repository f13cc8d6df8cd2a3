/* Gradient descent on the weights of a model, whatever they are of: the gradients of a step's micro-batches, their sum
 * in a fixed order, Adam's moments. Every weight is one item for the threads, so that the bits depend on neither their
 * number nor the machine. */
#ifndef VITRINE_TRAIN_DESCENT_H
#define VITRINE_TRAIN_DESCENT_H
#include <stddef.h>

#include "core/base/pool.h"
#include "core/graph/plan.h"
#include "core/models/weights.h"

/* AdamW (Loshchilov and Hutter 2019, algorithm 2): Adam with weight decay taken from the weight itself. float32
 * moments; the factors that are the same for all weights are computed in double with the project's own functions. */
typedef struct AdamW {
    double rate, decay, beta1, beta2, epsilon;
    int step; /* 1 for the first */
} AdamW;

/* One step on n weights w with gradients g · gradient_scale; m, v: moments, zero before the first step. Element by
 * element: any cut into ranges gives the same bits. */
void adamw_update(const AdamW *a, float *w, const float *g, float gradient_scale, float *m, float *v, size_t n);
/* Σ g² in double, in order. */
double adamw_square_sum(const float *g, size_t n);

/* Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"): a matrix takes the step whose
 * directions are those of its gradient's momentum, all of the same length, instead of AdamW's number-by-number ones. In
 * a short training it learns more per step. The singular values are brought to about 1 by five rounds of an odd
 * polynomial (Newton and Schulz), products of matrices that the kernels compute: the same bits everywhere.
 *
 * One step on a matrix w[r,c]: m = μm + (1 − μ)g with g = gradient · gradient_scale, then w loses
 * rate · 0.2 · √max(r, c) · polar(μm + (1 − μ)g) (Liu et al. 2025, "Muon is scalable for LLM training", section 2.2: so
 * long a step as AdamW's at the same rate) and rate · decay · w. momentum[r,c]: zero before the first step. */
void muon_update(float *w, const float *gradient, float gradient_scale, float *momentum, size_t rows, size_t columns,
                 double mu, double rate, double decay);
/* x[r,c] → the nearest matrix with singular values of about 1 (0.7 to 1.2); 0 stays 0. */
void muon_polar(float *x, size_t rows, size_t columns);

/* A weight in the block of all weights. */
typedef struct DescentWeight {
    size_t entry;        /* in the model's table of weights, and in that of its gradients */
    size_t first, cells; /* in the block */
    double rate, decay;  /* its factor on the learning rate; its weight decay */
    size_t rows;         /* of a matrix that Muon learns; 0: AdamW */
    double squares;      /* of its gradient in this step */
} DescentWeight;

typedef struct Descent {
    float *block; /* [cells]: the weights; not owned */
    size_t cells;
    DescentWeight *weight; /* [weights] */
    size_t weights, micros;
    float *micro;                     /* [micros, cells]: gradients of the micro-batches */
    float *gradient, *first, *second; /* [cells]: their sum; Adam's moments */
} Descent;

/* Room for `weights` weights, none listed yet. block must outlive it. */
Descent descent_new(float *block, size_t cells, size_t weights, size_t micros);
void descent_free(Descent *d); /* zeroed allowed */
void descent_list(Descent *d, size_t entry, const float *data, size_t cells, double rate, double decay);
/* The weight listed last is a matrix of so many rows, which Muon learns where the recipe has it; 0: it is none. */
void descent_matrix(Descent *d, size_t rows);

/* Appends the gradient of a single number to its graph. The table, in the graph's arena, has for each of `weights`
 * tensors the node of its gradient, or NO_NODE where none passes. */
NodeId *descent_gradients(Graph *g, NodeId loss, const WeightTensor *tensor, size_t weights);
/* The gradients of the listed weights, for a plan; returns how many. out has room for d->weights. */
int descent_wanted(const Descent *d, const NodeId *table, NodeId *out);
/* A micro-batch's gradients, out of a plan that was computed. */
void descent_keep(Descent *d, size_t micro, const Plan *p, const NodeId *table);
/* Adds the micro-batches' gradients in order; returns the norm of their sum. */
double descent_sum(Descent *d, Pool *pool);
/* A step of AdamW, and of Muon with the momentum `muon` for matrices (0: AdamW for all); a's rate and decay are
 * multiplied and replaced by those of each weight. */
void descent_step(Descent *d, Pool *pool, const AdamW *a, double muon, float gradient_scale);

/* Index of the largest of n numbers, the first of equals. */
int descent_largest(const float *x, int n);
#endif
