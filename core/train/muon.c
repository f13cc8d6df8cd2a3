#include "core/train/muon.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/kernels/kernels.h"
#include "core/train/descent.h"

/* A matrix as it lies: its cell r, k at data[r·row + k·step]. */
typedef struct Laid {
    const float *data;
    size_t row, step;
} Laid;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* to[r,j] = Σ_k a[r,k] · b[j,k], b taken by its rows, in the kernels' order. panel: room for KERNEL_K · KERNEL_COLS. */
static void multiply(float *to, Laid a, Laid b, size_t rows, size_t depth, size_t columns, float *panel)
{
    const Kernels *k = kernels();
    for (size_t j = 0; j < columns; j += KERNEL_COLS) {
        size_t wide = least(columns - j, KERNEL_COLS);
        for (size_t d = 0; d < depth; d += KERNEL_K) {
            size_t deep = least(depth - d, KERNEL_K);
            k->pack(panel, b.data + j * b.row + d * b.step, b.row, b.step, (int)wide, deep);
            for (size_t r = 0; r < rows; r += KERNEL_ROWS) {
                float *cell = to + r * columns + j;
                ContractTile t = {.a = a.data + r * a.row + d * a.step,
                                  .b = panel,
                                  .from = d ? cell : kernel_zeros,
                                  .bias = d + deep == depth ? kernel_no_bias : NULL,
                                  .to = cell,
                                  .a_row = a.row,
                                  .a_k = a.step,
                                  .from_row = d ? columns : 0,
                                  .to_row = columns,
                                  .rows = (int)least(rows - r, KERNEL_ROWS),
                                  .columns = (int)wide,
                                  .depth = (int)deep};
                k->contract(&t);
            }
        }
    }
}

/* One round on x[n,c], n ≤ c: a·x + (b·xxᵀ + c·(xxᵀ)²)·x with the coefficients of the source. */
static void round_of(float *x, size_t n, size_t columns, float *square, float *fourth, float *next, float *panel)
{
    const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    multiply(square, (Laid){x, columns, 1}, (Laid){x, columns, 1}, n, columns, n, panel);
    multiply(fourth, (Laid){square, n, 1}, (Laid){square, n, 1}, n, n, n, panel); /* xxᵀ is its own transpose */
    for (size_t i = 0; i < n * n; i++)
        square[i] = b * square[i] + c * fourth[i];
    multiply(next, (Laid){square, n, 1}, (Laid){x, 1, columns}, n, n, columns, panel);
    for (size_t i = 0; i < n * columns; i++)
        x[i] = a * x[i] + next[i];
}

static void transpose(float *to, const float *from, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

void muon_polar(float *x, size_t rows, size_t columns)
{
    enum { ROUNDS = 5 };
    size_t n = least(rows, columns), wide = rows + columns - n, cells = size_mul(rows, columns), small = size_mul(n, n);
    double norm = dm_sqrt(adamw_square_sum(x, cells));
    if (!(norm > 0))
        return;
    float *work = xfloats(size_add(size_mul(2, size_add(cells, small)), (size_t)KERNEL_K * KERNEL_COLS));
    float *flat = work, *next = flat + cells, *square = next + cells, *fourth = square + small, *panel = fourth + small;
    if (rows > columns)
        transpose(flat, x, rows, columns);
    else
        memcpy(flat, x, cells * sizeof *x);
    for (size_t i = 0; i < cells; i++)
        flat[i] = (float)((double)flat[i] / norm);
    for (int i = 0; i < ROUNDS; i++)
        round_of(flat, n, wide, square, fourth, next, panel);
    if (rows > columns)
        transpose(x, flat, columns, rows);
    else
        memcpy(x, flat, cells * sizeof *x);
    free(work);
}

void muon_update(float *w, const float *gradient, float gradient_scale, float *momentum, size_t rows, size_t columns,
                 double mu, double rate, double decay)
{
    size_t cells = size_mul(rows, columns);
    const float keep = (float)mu, take = (float)(1 - mu), shrink = (float)(rate * decay),
                length = (float)(rate * 0.2 * dm_sqrt((double)(rows > columns ? rows : columns)));
    float *step = xfloats(cells);
    for (size_t i = 0; i < cells; i++) {
        float g = take * (gradient[i] * gradient_scale);
        momentum[i] = keep * momentum[i] + g;
        step[i] = keep * momentum[i] + g;
    }
    muon_polar(step, rows, columns);
    for (size_t i = 0; i < cells; i++)
        w[i] -= length * step[i] + shrink * w[i];
    free(step);
}
