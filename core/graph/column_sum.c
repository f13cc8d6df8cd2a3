#include "core/graph/column_sum.h"

#include <string.h>

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The sum's sixteen lanes, each a row of n columns, from +0; then its tree. The additions are those of the kernel
 * `sum`, made for all columns side by side. NaN is canonical earlier here, which a sum of it does not show. */
static void some_columns(const Kernels *k, float *y, const float *x, const Walk *rows, size_t n, float *lanes)
{
    ZipKernel *add = k->zip[ZIP_ADD];
    const float zero = 0.0f;
    WalkPlace place = walk_place(rows, 0);
    const size_t used = min_size(rows->count, COLUMN_LANES);
    for (size_t i = 0; i < used; i++, walk_next_cell(rows, &place))
        add(lanes + i * n, &zero, 0, x + place.offset[0], 1, n);
    memset(lanes + used * n, 0, (COLUMN_LANES - used) * n * sizeof *lanes);
    for (size_t i = used; i < rows->count; i++, walk_next_cell(rows, &place)) {
        float *lane = lanes + i % COLUMN_LANES * n;
        add(lane, lane, 1, x + place.offset[0], 1, n);
    }
    for (size_t half = COLUMN_LANES / 2; half > 1; half /= 2)
        add(lanes, lanes, 1, lanes + half * n, 1, half * n);
    add(y, lanes, 1, lanes + n, 1, n);
}

void column_sum(const Kernels *k, float *y, const float *x, const Walk *rows, size_t columns, float *lanes)
{
    for (size_t first = 0, n; first < columns; first += n) {
        n = min_size(columns - first, COLUMN_WIDTH);
        some_columns(k, y + first, x + first, rows, n, lanes);
    }
}
