/* How far two tensors are apart. */
#ifndef VITRINE_DIFF_DIFF_FIGURES_H
#define VITRINE_DIFF_DIFF_FIGURES_H
#include <stdbool.h>
#include <stddef.h>

typedef struct DiffFigures {
    double largest; /* largest difference / largest finite absolute value of the reference; infinite where one has NaN
                       or ∞ and the other not */
    double rms;     /* root mean square of the differences / that of the reference */
    double cosine;  /* of the angle between the two, over cells finite in both; 1 where both are 0,
                       NaN where one of them alone has NaN */
    bool any;       /* is there a cell beyond the tolerance? */
    size_t first;   /* the first such cell */
    size_t worst;   /* the cell of the largest difference */
    size_t numbers; /* cells that are finite in both */
    size_t nan_ours, nan_theirs; /* cells that are NaN in one and not in the other */
} DiffFigures;

/* tolerance: of `largest`. Equal infinities and NaN in both are no difference. */
DiffFigures diff_figures(const float *ours, const float *theirs, size_t cells, double tolerance);
#endif
