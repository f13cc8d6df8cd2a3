/* The weights that training begins with. */
#ifndef VITRINE_TRAIN_START_H
#define VITRINE_TRAIN_START_H
#include "core/models/model.h"

/* Fills m->block of a model that model_alloc made. Normal numbers as rng_normal has them; variances: patches, tokens
 * and positions 0.02², query, key and value 1/(2·inputs), W_O 1/inputs, MLP and heads 2/(inputs + outputs) (Glorot and
 * Bengio 2010); γ 1, biases 0. */
void start_weights(Model *m, uint64_t seed);
/* Is this a weight that decays: a matrix or the position table, not a bias, γ or token? */
bool start_decays(VitRole r);
#endif
