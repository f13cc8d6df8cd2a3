/* What a picture model learns from, as a graph over a micro-batch: the model, the loss and the gradient of every
 * weight. */
#ifndef VITRINE_TRAIN_LOSS_H
#define VITRINE_TRAIN_LOSS_H
#include "core/models/vit.h"

/* loss = Σ_b class_weight[b] · cross entropy of picture b with target[b,o]
 *      + Σ_b,p hidden[b,p] · guess_weight · Σ (guess − image)² over the patch's pixels      (only with `masked`) */
typedef struct LossGraph {
    Graph graph;
    VitNodes nodes;
    NodeId target, class_weight; /* inputs: [b,o], [b] */
    NodeId guess_weight;         /* input: a single number; NO_NODE without masking */
    NodeId each;                 /* [b]: cross entropy of each picture */
    NodeId guess_error; /* a single number: Σ over hidden patches of squared differences; NO_NODE without masking */
    NodeId loss;        /* a single number */
    NodeId *gradient;   /* [vit_weights_count], in the order of Weights: of each weight, NO_NODE where none passes */
} LossGraph;

/* weights must outlive the graph; inputs may point anywhere valid of that size: plans give their own (plan_leaf). */
void loss_build(LossGraph *l, const VitConfig *c, const Weights *w, const float *zeros, bool masked);
void loss_free(LossGraph *l);
/* Cells that `zeros` must have: the largest input. */
size_t loss_zeros(const VitConfig *c);
#endif
