/* Values that share a drawn cell, and a row of them as bars. */
#ifndef VITRINE_TUI_VIEWS_TENSOR_TENSOR_BINS_H
#define VITRINE_TUI_VIEWS_TENSOR_TENSOR_BINS_H
#include "tui/views/tensor/tensor.h"

/* One direction: n values in `drawn` cells. Values of the last of merged axes, `inner` of them, have `per` cells, so
 * that none mixes two heads; or every cell has `pool` values, as the reader chose. */
typedef struct TensorBins {
    size_t n, drawn, inner, per, pool;
} TensorBins;

TensorBins tensor_bins_of(const Graph *g, Dims merged, size_t n, size_t room, int pool);
/* The first value of drawn cell k, and what it ends before; the drawn cell of value i. */
size_t tensor_bin_from(const TensorBins *b, size_t k);
size_t tensor_bin_end(const TensorBins *b, size_t k);
size_t tensor_bin_of(const TensorBins *b, size_t i);

/* The cursor's row in `cols` drawn cells, of which the first is col0. */
typedef struct TensorRow {
    const Tensor *t;
    const TensorBins *across;
    int cols;
    size_t col0;
} TensorRow;

/* In r, with its name and how far it goes in the `label` columns before that; of values that share a bar that furthest
 * from zero has it, or the cursor's; the line above says so. Nothing where r is too low, or bars would be too few. */
void tensor_row_bars(const Paint *p, Rect r, int label, const TensorRow *row, int here);
#endif
