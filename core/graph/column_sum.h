/* Sums down the columns of a matrix (or of what a walk makes of a tensor): Σ over rows, for every column. Internal to
 * core/graph. */
#ifndef VITRINE_GRAPH_COLUMN_SUM_H
#define VITRINE_GRAPH_COLUMN_SUM_H
#include "core/graph/walk.h"
#include "core/kernels/kernels.h"

/* The most columns added at once: their lanes stay in a first-level cache. */
enum { COLUMN_LANES = 16, COLUMN_WIDTH = 128, COLUMN_SCRATCH = COLUMN_LANES * COLUMN_WIDTH };

/* y[j] = Σ_k x[offset k of `rows` + j], j < columns: the bits that the kernel `sum` gives for the gathered cells of
 * each column. rows: one operand. lanes: COLUMN_SCRATCH floats of scratch. */
void column_sum(const Kernels *k, float *y, const float *x, const Walk *rows, size_t columns, float *lanes);
#endif
