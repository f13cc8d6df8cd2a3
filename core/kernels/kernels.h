/* The kernel table: the only code that does arithmetic on arrays. The reference (portable C) fills the table first, the
 * variants for this CPU overwrite it upward; every variant gives the same bits as the reference, for every input.
 *
 * Determinism contract (the definition of every value in a trace):
 *  - float32; built with -ffp-contract=off; no flush-to-zero, round to nearest even.
 *  - Every kernel stores NaN as 7fc00000.
 *  - contract: k is cut into blocks of KERNEL_K; inside a block one chain from +0, acc = fmaf(a[k], b[k], acc), k
 *    ascending; block sums are added in order, starting at +0.
 *  - sum: 16 lanes, lane = index mod 16, each starting at +0, then the tree 8-4-2-1 (lane[l] += lane[l+8] for l<8, …);
 *    trailing zeros never change a bit. More than KERNEL_SUM cells (kernel_sum): blocks of KERNEL_SUM_BLOCK, each
 *    summed so, and the block sums added in order. A chain of thousands of additions loses digits that two short ones
 *    keep; no pass and no training of the bundled models has a sum that long: their bits are those of one chain a lane.
 *  - max: NaN if any, +0 above −0; −∞ for no elements.
 *  - widen: exact; a NaN keeps its bits, which are the upper ones of the float's.
 *  - maps: the project's own sequences of correctly rounded operations; rsqrt is 1/sqrt, both correctly rounded. */
#ifndef VITRINE_KERNELS_KERNELS_H
#define VITRINE_KERNELS_KERNELS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

enum {
    KERNEL_K = 256,
    KERNEL_SUM = 32768,
    KERNEL_SUM_BLOCK = 1024,
    KERNEL_COLS = 32,
    KERNEL_ROWS = 14,
    KERNEL_HASH = 4,
    KERNEL_HASH_ARRAYS = 4
};

/* symbol, name in formulas and commands, largest error in ulp over the whole float range (tested); of the derivatives
 * in ulp of the larger of the two parts Φ(x) + x·φ(x) that they are the sum of, which cancel where a derivative passes
 * through 0; cos and sin of what is larger than MAP_ANGLE, or of infinity, are NaN */
#define MAP_ANGLE 0x1p+17f
#define MAP_FUNCTIONS(X)                                                                                               \
    X(EXP, "exp", 1.0)                                                                                                 \
    X(LOG, "log", 1.0)                                                                                                 \
    X(SQRT, "sqrt", 0.5)                                                                                               \
    X(RSQRT, "rsqrt", 1.5)                                                                                             \
    X(SIGMOID, "sigmoid", 3.0)                                                                                         \
    X(TANH, "tanh", 2.0)                                                                                               \
    X(RELU, "relu", 0.0)                                                                                               \
    X(GELU, "gelu", 6.0)                                                                                               \
    X(GELU_TANH, "gelu_tanh", 3.5)                                                                                     \
    X(QUICK_GELU, "quick_gelu", 3.5)                                                                                   \
    X(SILU, "silu", 3.5)                                                                                               \
    X(XLOGX, "xlogx", 2.0)                                                                                             \
    X(GELU_GRAD, "gelu_grad", 5.5)                                                                                     \
    X(GELU_TANH_GRAD, "gelu_tanh_grad", 6.0)                                                                           \
    X(QUICK_GELU_GRAD, "quick_gelu_grad", 5.5)                                                                         \
    X(SILU_GRAD, "silu_grad", 5.0)                                                                                     \
    X(RELU_GRAD, "relu_grad", 0.0)                                                                                     \
    X(ROUND_BF16, "bf16", 0.0)                                                                                         \
    X(ROUND_F16, "f16", 0.0)                                                                                           \
    X(COS, "cos", 2.0)                                                                                                 \
    X(SIN, "sin", 2.0)

typedef enum MapFn {
#define X(symbol, name, ulp) MAP_##symbol,
    MAP_FUNCTIONS(X)
#undef X
        MAP_COUNT
} MapFn;

typedef enum ZipFn { ZIP_ADD, ZIP_SUB, ZIP_MUL, ZIP_DIV, ZIP_COUNT } ZipFn;

/* One k block of a tile of an output: with chain[r,j] = Σ a[r·a_row + k·a_k]·b[k·KERNEL_COLS + j] over k < depth, from
 * +0, k ascending,
 *   to[r·to_row + j] = from[r·from_row + j] + chain[r,j]                          where bias is NULL (NaN as it comes),
 *   to[r·to_row + j] = canonical((from[r·from_row + j] + chain[r,j]) + bias[j])   in the last block,
 * for r < rows ≤ KERNEL_ROWS and j < columns ≤ KERNEL_COLS; depth ≤ KERNEL_K. `from` of the first block is +0
 * (kernel_zeros with from_row 0), afterwards what the block before stored; it may be `to` with the same rows. No bias:
 * kernel_no_bias. */
typedef struct ContractTile {
    const float *a, *b, *from, *bias;
    float *to;
    size_t a_row, a_k, from_row, to_row;
    int rows, columns, depth;
} ContractTile;
typedef void ContractKernel(const ContractTile *t);
extern const float kernel_zeros[KERNEL_COLS], kernel_no_bias[KERNEL_COLS]; /* all +0; all −0, which changes no sum */
/* y[i] = f(x[i]); y may be x. */
typedef void MapKernel(float *y, const float *x, size_t n);
/* y[i] = a[i·a_step] ∘ b[i·b_step]; steps are 0 or 1; y may be a or b where its step is 1. */
typedef void ZipKernel(float *y, const float *a, size_t a_step, const float *b, size_t b_step, size_t n);
/* y[i] = x[i], numbers of 16 bits as floats. */
typedef enum HalfFn { HALF_BF16, HALF_F16, HALF_COUNT } HalfFn;
typedef void WidenKernel(float *y, const uint16_t *x, size_t n);
/* A row times columns that lie along k: to[j] = Σ_k a[k]·b[j·column_step + k] + bias[j] for j < columns ≤ KERNEL_COLS,
 * in the order of `contract`, all its blocks at once. b: floats, or numbers of 16 bits. */
typedef struct ContractRow {
    const float *a, *bias;
    const void *b;
    float *to;
    size_t column_step, depth; /* in numbers */
    int columns;
} ContractRow;
typedef void RowKernel(const ContractRow *r);
enum { ROW_FORMS = 1 + HALF_COUNT }; /* floats, then HalfFn */
typedef float ReduceKernel(const float *x, size_t n);
/* to[k·KERNEL_COLS + j] = from[j·column_step + k·k_step] for j < columns, +0 for the other columns; k < depth. */
typedef void PackKernel(float *to, const float *from, size_t column_step, size_t k_step, int columns, size_t depth);

/* Goes on with the hashes of several arrays, at most KERNEL_HASH_ARRAYS, side by side: for every group of KERNEL_HASH
 * floats, lane[array·KERNEL_HASH + l] takes in the bits of x[array][group·KERNEL_HASH + l]. One array alone waits for
 * its multiplications. */
typedef void HashKernel(uint64_t *lane, const float *const *x, int arrays, size_t groups);

typedef struct Kernels {
    const char *isa; /* "scalar", "avx2", "avx512", "neon" */
    ContractKernel *contract;
    PackKernel *pack;
    HashKernel *hash;
    MapKernel *map[MAP_COUNT];
    ZipKernel *zip[ZIP_COUNT];
    WidenKernel *widen[HALF_COUNT];
    RowKernel *const *row;   /* [ROW_FORMS], or NULL: a tile of one row does it */
    ReduceKernel *sum, *max; /* sum: of one block; kernel_sum is that of any number of cells */
} Kernels;

const Kernels *kernels(void);           /* the table in use; the best this CPU has until kernels_select */
const Kernels *kernels_reference(void); /* portable C */
/* "auto", "scalar", "avx2", "avx512", "neon". False and a message that lists what this CPU has; the table stays.
 * The environment variable VITRINE_ISA does the same at start. */
bool kernels_select(const char *isa, Err *err);
/* The i-th table that this CPU can run, reference first; NULL past the end. For tests and `info`. */
const Kernels *kernels_variant(int i);

/* FNV-1a's multiply with a rotation: one step of a hash of 32-bit words. Not cryptographic. */
static inline uint64_t kernel_hash_step(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x100000001b3u;
    return h ^ (h >> 29);
}

const char *map_name(MapFn f);
/* One value by the reference sequences: what `explain` folds with. */
float map_apply(MapFn f, float x);
float zip_apply(ZipFn f, float a, float b);
float kernel_fma(float a, float b, float c);                  /* correctly rounded on every CPU */
float kernel_sum(const Kernels *k, const float *x, size_t n); /* x[0] + … + x[n−1] in the order above */
float kernel_canonical(float x);                              /* NaN → 7fc00000 */
#endif
