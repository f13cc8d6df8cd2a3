/* The weights that training begins with. */
#ifndef VITRINE_TRAIN_START_H
#define VITRINE_TRAIN_START_H
#include "core/models/model.h"

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
#endif
