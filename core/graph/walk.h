/* The one place where strides are computed: walks the cells of some axes and says where each operand's cell is. */
#ifndef VITRINE_GRAPH_WALK_H
#define VITRINE_GRAPH_WALK_H
#include "core/graph/axis.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

enum { WALK_OPERANDS = 4 };

typedef struct Walk {
    int n; /* loop levels after merging, outermost first */
    size_t len[DIMS_MAX];
    size_t stride[WALK_OPERANDS][DIMS_MAX]; /* in cells; 0 = broadcast */
    size_t count;                           /* product of len */
} Walk;

/* Walks the cells of `over` in row-major order. operands[k] may lack axes (stride 0). Levels that are contiguous in
 * every operand are merged. */
Walk walk_make(const Axis *axes, Dims over, const Dims *operands, int operand_count);
/* Offsets of the i-th cell in each operand. */
void walk_at(const Walk *w, size_t i, size_t offset[WALK_OPERANDS]);

/* A place in a walk, for going through many cells in order. */
typedef struct WalkPlace {
    size_t index[DIMS_MAX], offset[WALK_OPERANDS];
} WalkPlace;
WalkPlace walk_place(const Walk *w, size_t i);
/* Goes to the next cell of the last level, or past the rest of the last level to the start of the next run. */
void walk_next_cell(const Walk *w, WalkPlace *p);
void walk_next_run(const Walk *w, WalkPlace *p);
/* So many whole runs on, from the start of a run; not past the end of the level above the last. */
void walk_skip_runs(const Walk *w, WalkPlace *p, size_t runs);

/* Where a moved cell comes from: VIEW, CONCAT, SLICE and GATHER copy cells, one input cell for one output cell; SCATTER
 * adds up what goes to one place. Used by the evaluator and by explain, so that both always agree. */
/* The output seen as [outer][along][inner]: cells of one (outer, along) row are contiguous in the input too. */
typedef struct Moved {
    size_t along, inner; /* lengths in the output */
    size_t in_along[2];  /* length of the axis in each input */
} Moved;

Moved moved_make(const Graph *g, NodeId n);
/* Input (0 or 1) and first input cell of output row `row` = outer·along + k. */
size_t moved_row(const Graph *g, NodeId n, const Moved *m, size_t row, int *which);
/* SCATTER: the positions of the input that go to position q of the node, ascending; *count may be 0. */
const int *scatter_inputs(const Graph *g, NodeId n, size_t q, size_t *count);

/* Sums down the columns of a matrix (or of what a walk makes of a tensor): Σ over rows, for every column. Internal to
 * core/graph. */
/* The most columns added at once: their lanes stay in a first-level cache. */
enum { COLUMN_LANES = 16, COLUMN_WIDTH = 128, COLUMN_SCRATCH = COLUMN_LANES * COLUMN_WIDTH };

/* y[j] = Σ_k x[offset k of `rows` + j], j < columns: the bits that kernel_sum gives for the gathered cells of each
 * column. rows: one operand. lanes: COLUMN_SCRATCH floats of scratch. */
void column_sum(const Kernels *k, float *y, const float *x, const Walk *rows, size_t columns, float *lanes);

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}
#endif
