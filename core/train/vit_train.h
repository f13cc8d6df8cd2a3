/* Training picture models: the weights that it begins with, how pictures are changed, and the
 * loss that is made less. */
#ifndef VITRINE_TRAIN_VIT_TRAIN_H
#define VITRINE_TRAIN_VIT_TRAIN_H
#include "core/base/rng.h"
#include "core/models/model.h"
#include "core/models/vit.h"
#include "core/train/task.h"

/* Fills m->block of a model that model_alloc made. Normal numbers as rng_normal has them; variances: patches, tokens
 * and positions 0.02², query, key and value 1/(2·inputs), W_O 1/inputs, MLP and heads 2/(inputs + outputs) (Glorot and
 * Bengio 2010); γ 1, biases 0. */
void start_weights(Model *m, uint64_t seed);
/* Makes keys start like queries and W_O against values: k = share · q + …, W_O = −share · W_Vᵀ + …, their variances
 * kept. Rows then begin by looking at tokens like their own, as those of trained models do (Trockman and Kolter 2023,
 * "Mimetic initialization of self-attention layers", from which the signs are taken; there with identities and a
 * factorisation). */
void start_mimic(Model *m, double share);
/* Is this a weight that decays: a matrix or the position table, not a bias, γ or token? */
bool start_decays(VitRole r);
/* Outputs of a matrix of a block (of all heads together), the rows of it as a matrix; 0 of any other weight. */
size_t start_rows(const WeightPlace *w);

/* --- pictures changed --- */

/* A picture changed a little before it is learned from, so that it is never quite the same twice: mirrored, moved,
 * recoloured, mixed with another, partly covered. All of it follows from the random numbers that are given, and from
 * exact arithmetic: the same pixels on every machine. */
bool augment_any(const Augment *a);
/* Flip, shift and colour of pixels[c,y,x], 0 … 255; scratch: room for as many. shift < height and width. */
void augment_picture(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, float *scratch);
/* Mix or cut with another picture of the same size, then erase. Returns the share of the picture that is its own: what
 * its class gets of the target; the other's class gets the rest. */
double augment_mix(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, const float *other);

/* --- the loss: a graph over a micro-batch, of the model, the loss and the gradient of every weight --- */

enum { MICRO_BATCH = 4 }; /* pictures */
/* Inputs of the graph: pictures, [b,o], [b]; and with `masked` [b,p], a single number. */
enum { LOSS_PIXELS, LOSS_TARGET, LOSS_CLASS_WEIGHT, LOSS_HIDDEN, LOSS_GUESS_WEIGHT };

/* loss = Σ_b class_weight[b] · cross entropy of picture b with target[b,o]
 *      + Σ_b,p hidden[b,p] · guess_weight · Σ (guess − image)² over the patch's pixels      (only with `masked`)
 * weights must outlive the graph. */
void loss_build(TaskGraph *l, const VitConfig *c, const Weights *w, bool masked);
#endif
