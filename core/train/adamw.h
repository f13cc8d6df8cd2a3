/* AdamW (Loshchilov and Hutter 2019, algorithm 2): Adam with weight decay taken from the weight itself. float32
 * moments; the factors that are the same for all weights are computed in double with the project's own functions. */
#ifndef VITRINE_TRAIN_ADAMW_H
#define VITRINE_TRAIN_ADAMW_H
#include <stddef.h>

typedef struct AdamW {
    double rate, decay, beta1, beta2, epsilon;
    int step; /* 1 for the first */
} AdamW;

/* One step on n weights w with gradients g · gradient_scale; m, v: moments, zero before the first step. Element by
 * element: any cut into ranges gives the same bits. */
void adamw_update(const AdamW *a, float *w, const float *g, float gradient_scale, float *m, float *v, size_t n);
/* Σ g² in double, in order. */
double adamw_square_sum(const float *g, size_t n);
#endif
