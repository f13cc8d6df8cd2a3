/* What the second routes (vit_direct.h, seq2seq_direct.h) are made of: loops over the weights, in double, without a
 * graph. Slow and plain on purpose. */
#ifndef VITRINE_MODELS_DIRECT_H
#define VITRINE_MODELS_DIRECT_H
#include <stdbool.h>
#include <stddef.h>

double *direct_zeros(size_t a, size_t b); /* [a,b], to be freed */
/* out[n] = x[n] */
void direct_widen(const float *x, size_t n, double *out);
/* y[n,outputs] = x[n,inputs] · W[outputs,inputs]ᵀ + b[outputs]; b may be NULL. */
void direct_linear(const float *w, const float *b, const double *x, size_t n, size_t inputs, double *y, size_t outputs);
/* (x − mean) / √(variance + ε) · γ + β of each of n rows of d numbers. rms: no mean is taken off and β may be NULL. y
 * may be x. */
void direct_norm(const float *gamma, const float *beta, bool rms, double eps, const double *x, size_t n, size_t d,
                 double *y);
void direct_softmax(double *x, size_t n); /* in place */

/* What attention looks at: k[n,h,e] and v[n,h,e] of the first n tokens. */
typedef struct DirectSeen {
    size_t heads, width, n; /* width: e */
    const double *k, *v;
    double scale;
} DirectSeen;
/* z[h,e] = softmax(q kᵀ · scale + bias) v, head by head; bias(of, head, u) may be NULL. */
void direct_attend(const DirectSeen *s, const double *q, double (*bias)(const void *of, size_t head, size_t u),
                   const void *of, double *z);
#endif
