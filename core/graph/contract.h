/* The contraction of two tensors over named axes as packed panels: out[m,n] = Σ_k a[m,k]·b[k,n] for every batch index, where
 * batch axes are in a, b and out, m in a and out, n in b and out, k in a and b. Strides become tables of offsets, so any axis
 * order runs through the one kernel. Internal to core/graph. */
#ifndef VITRINE_GRAPH_CONTRACT_H
#define VITRINE_GRAPH_CONTRACT_H
#include "core/graph/graph.h"
#include "core/graph/walk.h"

typedef struct Contraction {
    const float *a, *b;
    float *out;
    const Kernels *kernels;
    Walk batch;                    /* operands: out, a, b */
    size_t batches, m, n, k;
    size_t *a_row, *out_row;       /* [m] cell offsets */
    size_t *b_col, *out_col;       /* [n] */
    size_t *a_k, *b_k;             /* [k] */
    bool a_direct;                 /* a's k cells are contiguous: the kernel reads it in place */
    size_t copy_stride;            /* row stride of the copy where it does not */
    bool out_contiguous;           /* neighbouring columns are neighbours in out */
    size_t b_col_step, b_k_step;   /* uniform steps, or 0 when the tables must be used */
    size_t panels;                 /* KERNEL_COLS columns each */
    float *packed;                 /* [batches][panels][k][KERNEL_COLS] */
    float *scratch;                /* one slot per worker */
    size_t scratch_floats;
    size_t pack_items, tile_items; /* the two phases */
    size_t row_blocks, col_groups;
} Contraction;

void contraction_init(Contraction *c, const Graph *g, NodeId n, const float *a, const float *b, float *out, int threads);
void contraction_pack(void *contraction, size_t item, int worker); /* item < pack_items; all before the first tile */
void contraction_tile(void *contraction, size_t item, int worker); /* item < tile_items */
void contraction_free(Contraction *c);
#endif
