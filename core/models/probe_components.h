/* Principal components of the rows of a matrix (Pearson 1901), in double with + − × ÷ and sqrt only: the same bits on
 * every machine. The covariance, or the smaller matrix of the rows' dot products, is brought to three diagonals by
 * reflections (Householder 1958); bisection finds its largest eigenvalues, inverse iteration their vectors. In steps,
 * so that a screen stays alive. */
#ifndef VITRINE_MODELS_PROBE_COMPONENTS_H
#define VITRINE_MODELS_PROBE_COMPONENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/mem.h"

enum {
    COMPONENTS_MAX = 28,
    COMPONENTS_SIDE = 2048
}; /* as many as the paper's figure shows; the larger of the smaller sides taken */

typedef struct Components {
    const float *x; /* [rows, cols] */
    float *out;     /* [count, cols] */
    int rows, cols, count;
    int n;              /* the smaller side: order of the matrix */
    int stage, at;      /* what is being done, and how far it is */
    double *mean, *row; /* [cols] */
    double *a;          /* [n, n]: the matrix, then the reflections, vector k in row k behind the diagonal */
    double *diagonal, *beside, *reflect; /* [n] */
    double *small, *large;               /* [count, n], [count, cols]: vectors found so far */
    double *work;                        /* [6, n] */
} Components;

/* How many components x[rows, cols] has that are worth a look, at most COMPONENTS_MAX; 0 where that takes too much
 * room. */
int components_count(size_t rows, size_t cols);
/* x stays the caller's and must not change until components_make is through; out[count, cols] receives the result.
 * Scratch is the arena's. count is components_count's. */
void components_init(Components *p, Arena *arena, const float *x, int rows, int cols, float *out);
/* Goes on until the deadline (clock_ns); true when out is filled: orthonormal rows, largest variance first, the number
 * of largest size in each positive. Rows that do not differ have no variance: any orthonormal vectors. NaN where x is
 * not finite. */
bool components_make(Components *p, int64_t deadline_ns);
#endif
