/* What a picture model learns from, as a graph over a micro-batch: the model, the loss and the gradient of every
 * weight. */
#ifndef VITRINE_TRAIN_LOSS_H
#define VITRINE_TRAIN_LOSS_H
#include "core/models/vit.h"
#include "core/train/task.h"

enum { MICRO_BATCH = 4 }; /* pictures */
/* Inputs of the graph: pictures, [b,o], [b]; and with `masked` [b,p], a single number. */
enum { LOSS_PIXELS, LOSS_TARGET, LOSS_CLASS_WEIGHT, LOSS_HIDDEN, LOSS_GUESS_WEIGHT };

/* loss = Σ_b class_weight[b] · cross entropy of picture b with target[b,o]
 *      + Σ_b,p hidden[b,p] · guess_weight · Σ (guess − image)² over the patch's pixels      (only with `masked`)
 * weights must outlive the graph. */
void loss_build(TaskGraph *l, const VitConfig *c, const Weights *w, bool masked);
#endif
