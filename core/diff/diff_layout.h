/* How the cells of a recorded tensor lie: the node's axes in some order, neighbours merged, perhaps with axes of length
 * 1 and a batch. */
#ifndef VITRINE_DIFF_DIFF_LAYOUT_H
#define VITRINE_DIFF_DIFF_LAYOUT_H
#include "core/graph/graph.h"

enum { DIFF_FACTORS = 8, DIFF_LAYOUTS = 24 };

typedef struct DiffLayout {
    int n; /* axes longer than 1, patches cut into rows and columns; in the order of the recorded tensor */
    size_t len[DIFF_FACTORS];
    size_t stride[DIFF_FACTORS]; /* in cells of the node */
    char axes[48];               /* "h,t,e"; patches are p where they stand together */
    char factors[48];            /* the same with rows and columns */
    bool told;                   /* the order that was asked for */
    bool ours;                   /* as the node has them: nothing moves */
    size_t batch;                /* pictures in the tensor, of which the first is meant; 1 as a rule */
} DiffLayout;

typedef enum DiffFit { DIFF_FIT, DIFF_NO_FIT, DIFF_AMBIGUOUS } DiffFit;

/* The layout of a tensor of that shape. axes: the order to be believed ("h,t,e"), or "". Without one the node's own
 * order is taken where it fits; else the one order that fits, where rows before columns and askers before those looked
 * at are taken for granted. Where several are left: DIFF_AMBIGUOUS, and choices (if not NULL) names them. */
DiffFit diff_layout_find(const Graph *g, NodeId n, const size_t *shape, int rank, const char *axes, DiffLayout *out,
                         char *choices, size_t size);
/* Every order that fits the shape, at most DIFF_LAYOUTS; how many. */
int diff_layout_all(const Graph *g, NodeId n, const size_t *shape, int rank, DiffLayout out[DIFF_LAYOUTS]);
/* from: cells as recorded; to: the same as the node has them. */
void diff_layout_apply(const DiffLayout *l, const float *from, float *to);
/* Other programs give both numbers of a rotary pair the same sine and change the sign of one when they rotate; here the
 * sign is in the table. One of the first kind, for a node that is such a table, is made one of the second. */
void diff_sign_sines(const Graph *g, NodeId n, float *values);
#endif
