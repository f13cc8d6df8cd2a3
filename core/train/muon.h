/* Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"): a matrix takes the step whose
 * directions are those of its gradient's momentum, all of the same length, instead of AdamW's number-by-number ones. In
 * a short training it learns more per step. The singular values are brought to about 1 by five rounds of an odd
 * polynomial (Newton and Schulz), products of matrices that the kernels compute: the same bits everywhere. */
#ifndef VITRINE_TRAIN_MUON_H
#define VITRINE_TRAIN_MUON_H
#include <stddef.h>

/* One step on a matrix w[r,c]: m = μm + (1 − μ)g with g = gradient · gradient_scale, then w loses
 * rate · 0.2 · √max(r, c) · polar(μm + (1 − μ)g) (Liu et al. 2025, "Muon is scalable for LLM training", section 2.2: so
 * long a step as AdamW's at the same rate) and rate · decay · w. momentum[r,c]: zero before the first step. */
void muon_update(float *w, const float *gradient, float gradient_scale, float *momentum, size_t rows, size_t columns,
                 double mu, double rate, double decay);
/* x[r,c] → the nearest matrix with singular values of about 1 (0.7 to 1.2); 0 stays 0. */
void muon_polar(float *x, size_t rows, size_t columns);
#endif
