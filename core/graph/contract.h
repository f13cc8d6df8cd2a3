/* The contraction of two tensors over named axes: out[m,n] = Σ_k a[m,k]·b[k,n] (+ bias[n]) for every batch index, where batch
 * axes are in a, b and out, m in a and out, n in b and out, k in a and b. Strides become tables of offsets, so any axis order
 * runs through the one kernel. Columns of b are packed into panels by whoever uses them, one k block at a time: a panel stays in
 * cache for all rows and nothing of b is held twice. Internal to core/graph. */
#ifndef VITRINE_GRAPH_CONTRACT_H
#define VITRINE_GRAPH_CONTRACT_H
#include "core/graph/graph.h"
#include "core/graph/walk.h"

typedef struct Contraction {
    const float *a, *b;
    float *out;
    const Kernels *kernels;
    Walk batch;                  /* operands: out, a, b */
    size_t batches, m, n, k;
    size_t *a_row, *out_row;     /* [m] cell offsets */
    size_t *b_col, *out_col;     /* [n] */
    size_t *a_k, *b_k;           /* [k] */
    float *bias;                 /* [n]; −0, which changes nothing, where there is none */
    const float *bias_from;      /* what it was read from, or NULL, … */
    size_t *bias_at;             /* … and from which cells [n] */
    bool a_direct;               /* the kernel reads a in place */
    bool out_contiguous;         /* neighbouring columns are neighbours in out */
    size_t b_col_step, b_k_step; /* uniform steps, or 0 when the tables must be used */
    size_t panels, group;        /* of KERNEL_COLS columns; so many panels are one item */
    size_t row_blocks, col_groups, items;
    float *scratch;              /* [threads][scratch_floats]; the caller sets it after contraction_init and owns it */
    size_t scratch_floats;
} Contraction;

/* Node n of g, a contraction. bias, with the dims bias_dims among n's own axes of b, may be NULL. */
void contraction_init(Contraction *c, const Graph *g, NodeId n, const float *a, const float *b, const float *bias, Dims bias_dims,
                      float *out, int threads);
/* The axes that only b brings into the contraction n: what a bias may have. */
Dims contraction_columns(const Graph *g, NodeId n);
/* Reads the bias again: for a contraction that is computed once more with other data. a, b and bias_from may be set before. */
void contraction_read_bias(Contraction *c);
void contraction_item(void *contraction, size_t item, int worker); /* item < items */
void contraction_free(Contraction *c);
#endif
