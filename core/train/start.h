/* The weights that training begins with. */
#ifndef VITRINE_TRAIN_START_H
#define VITRINE_TRAIN_START_H
#include "core/models/model.h"

/* Fills m->block of a model that model_alloc made. Normal numbers as rng_normal has them; variances: patches, tokens
 * and positions 0.02², query, key and value 1/(2·inputs), W_O 1/inputs, MLP and heads 2/(inputs + outputs) (Glorot and
 * Bengio 2010); γ 1, biases 0. */
void start_weights(Model *m, uint64_t seed);
/* Fills a weight of a text model. Normal numbers; of both stacks embeddings 1/width and attention 1/width as variance,
 * MLP 2/(inputs + outputs) (Glorot and Bengio 2010), learned positions 0.02²; of a decoder alone embeddings 0.02² as
 * well, whose rows are the answer's weights too, and what a sub-layer adds divided by √(2 · blocks) (Radford et al.
 * 2019, section 2.3); γ 1, biases 0. */
void start_text_weight(const Seq2seqConfig *c, const WeightPlace *w, uint64_t seed);
/* Does this weight of a text model decay: a matrix, no bias, γ or table of rows? */
bool start_text_decays(const WeightPlace *w);
/* Outputs of a matrix of a block of a decoder alone, as start_rows; 0 of any other weight. */
size_t start_text_rows(const WeightPlace *w);
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
