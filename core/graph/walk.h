/* The one place where strides are computed: walks the cells of some axes and says where each operand's cell is. */
#ifndef VITRINE_GRAPH_WALK_H
#define VITRINE_GRAPH_WALK_H
#include "core/graph/axis.h"

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
#endif
