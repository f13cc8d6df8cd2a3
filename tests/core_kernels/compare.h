/* Every kernel of one table against another's, bit for bit, on random and nasty shapes and values. No test framework
 * here: the same comparisons run where there is none. Buffers end at a page that may not be touched, so that a kernel
 * which reads or writes past the end stops the program; what lies before and between is compared too. */
#ifndef VITRINE_TESTS_CORE_KERNELS_COMPARE_H
#define VITRINE_TESTS_CORE_KERNELS_COMPARE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "core/kernels/kernels.h"

enum { GUARDED_FLOATS = 1 << 17, KINDS = 4 };

typedef struct Guarded {
    float *start, *end; /* GUARDED_FLOATS before end; *end faults */
} Guarded;

static inline Guarded guarded_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = GUARDED_FLOATS * sizeof(float);
    char *p = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + bytes, page, PROT_NONE) != 0) {
        perror("guarded buffer");
        exit(1);
    }
    return (Guarded){(float *)(void *)p, (float *)(void *)(p + bytes)};
}

static inline float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* 0: around one; 1: every exponent; 2: any bits at all; 3: mostly the values that break kernels */
static inline float nasty(Rng *r, int kind)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                       0x7fc00000, 0xffc00000, 0x7f800001, 0xffbfffff, 0x7fffffff, 1,
                                       0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff,
                                       0xff7fffff, 0x42b17218, 0xc2b17218, 0xc2cff1b5, 0x00400000, 0x4b400000};
    switch (kind) {
    case 0: return rng_range(r, -2, 2);
    case 1: return float_of((rng_u32(r) & 0x807fffff) | (1 + rng_below(r, 253)) << 23);
    case 2: return float_of(rng_u32(r));
    default:
        return rng_below(r, 4) ? float_of(special[rng_below(r, sizeof special / sizeof special[0])])
                               : rng_range(r, -90, 90);
    }
}

static inline void fill(Rng *r, float *x, size_t n, int kind)
{
    for (size_t i = 0; i < n; i++)
        x[i] = nasty(r, kind);
}

static inline bool same(const float *a, const float *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

typedef struct Comparison {
    const Kernels *reference, *tested;
    Rng rng;
    Guarded a, b, y, z;
    char what[160]; /* the case that differs */
} Comparison;

static inline Comparison comparison_new(const Kernels *reference, const Kernels *tested)
{
    return (Comparison){.reference = reference,
                        .tested = tested,
                        .rng = rng_seed(7, 11),
                        .a = guarded_new(),
                        .b = guarded_new(),
                        .y = guarded_new(),
                        .z = guarded_new()};
}

static inline void comparison_free(Comparison *c)
{
    size_t bytes = GUARDED_FLOATS * sizeof(float) + (size_t)sysconf(_SC_PAGESIZE);
    munmap(c->a.start, bytes);
    munmap(c->b.start, bytes);
    munmap(c->y.start, bytes);
    munmap(c->z.start, bytes);
}

enum { MARGIN = 40 }; /* floats around an output that must stay as they are */

static inline bool compare_map(Comparison *c, MapFn f, size_t n, size_t back, int kind, bool in_place)
{
    const float *x = c->a.end - n - back;
    float *y = c->y.end - n - back, *z = c->z.end - n - back;
    fill(&c->rng, c->a.end - n - back, n + back, kind);
    fill(&c->rng, y - MARGIN, MARGIN + n + back, 2);
    if (in_place)
        memcpy(y, x, n * sizeof *y);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + n + back) * sizeof *z);
    c->reference->map[f](y, in_place ? y : x, n);
    c->tested->map[f](z, in_place ? z : x, n);
    snprintf(c->what, sizeof c->what, "%s: %s of %zu values, kind %d, %zu before the end", c->tested->isa, map_name(f),
             n, kind, back);
    return same(y - MARGIN, z - MARGIN, MARGIN + n + back);
}

static inline bool compare_maps(Comparison *c)
{
    for (MapFn f = 0; f < MAP_COUNT; f++)
        for (int kind = 0; kind < KINDS; kind++) {
            for (size_t n = 0; n <= 100; n++)
                if (!compare_map(c, f, n, n % 7, kind, n % 3 == 0))
                    return false;
            if (!compare_map(c, f, kind < 2 ? 1001 : 20011, 3, kind, false))
                return false;
        }
    return true;
}

static inline bool compare_zip(Comparison *c, ZipFn f, size_t n, int steps, int kind, int place)
{
    const size_t a_step = (size_t)steps & 1, b_step = (size_t)steps >> 1, back = n % 5;
    float *a = c->a.end - (a_step ? n : n > 0) - back, *b = c->b.end - (b_step ? n : n > 0);
    float *y = c->y.end - n - back, *z = c->z.end - n - back;
    fill(&c->rng, a, (size_t)(c->a.end - a), kind);
    fill(&c->rng, b, (size_t)(c->b.end - b), kind);
    fill(&c->rng, y - MARGIN, MARGIN + n + back, 2);
    const bool in_a = place == 1 && a_step, in_b = place == 2 && b_step;
    if (in_a || in_b)
        memcpy(y, in_a ? a : b, n * sizeof *y);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + n + back) * sizeof *z);
    c->reference->zip[f](y, in_a ? y : a, a_step, in_b ? y : b, b_step, n);
    c->tested->zip[f](z, in_a ? z : a, a_step, in_b ? z : b, b_step, n);
    snprintf(c->what, sizeof c->what, "%s: zip %d of %zu values, steps %zu and %zu, kind %d, place %d", c->tested->isa,
             (int)f, n, a_step, b_step, kind, place);
    return same(y - MARGIN, z - MARGIN, MARGIN + n + back);
}

static inline bool compare_zips(Comparison *c)
{
    for (ZipFn f = 0; f < ZIP_COUNT; f++)
        for (int steps = 0; steps < 4; steps++)
            for (int kind = 0; kind < KINDS; kind++)
                for (size_t n = 0; n <= 100; n++)
                    if (!compare_zip(c, f, n, steps, kind, (int)(n % 3)))
                        return false;
    return true;
}

static inline bool compare_reductions(Comparison *c)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n <= 300; n++)
            for (size_t back = 0; back < 3; back++) {
                float *x = c->a.end - n - back;
                fill(&c->rng, x, n + back, kind);
                if (kind == 3 && back == 1) /* without NaN, so that both zeros and infinities decide */
                    for (size_t i = 0; i < n; i++)
                        x[i] = x[i] != x[i] ? -0.0f : x[i];
                float y[] = {c->reference->sum(x, n), c->reference->max(x, n)},
                      z[] = {c->tested->sum(x, n), c->tested->max(x, n)};
                snprintf(c->what, sizeof c->what, "%s: %s of %zu values, kind %d", c->tested->isa,
                         same(y, z, 1) ? "max" : "sum", n, kind);
                if (!same(y, z, 2))
                    return false;
            }
    return true;
}

/* One tile as it may be asked for. */
typedef struct TileCase {
    int rows, columns, depth, kind;
    size_t gap;      /* between rows of a and of the output */
    bool transposed; /* a's rows are neighbours, its k cells far apart */
    bool first, bias;
} TileCase;

/* NaN is canonical only where there is a bias. */
static inline void canonical(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = kernel_canonical(x[i]);
}

static inline bool compare_tile(Comparison *c, const TileCase *i)
{
    const size_t rows = (size_t)i->rows, depth = (size_t)i->depth, columns = (size_t)i->columns,
                 to_row = columns + i->gap;
    ContractTile t = {
        .rows = i->rows, .columns = i->columns, .depth = i->depth, .to_row = to_row, .from_row = i->first ? 0 : to_row};
    t.a_row = i->transposed ? 1 : depth + i->gap;
    t.a_k = i->transposed ? rows + i->gap : 1;
    const size_t a_size = depth ? (rows - 1) * t.a_row + (depth - 1) * t.a_k + 1 : 0,
                 cells = (rows - 1) * to_row + columns;
    float *a = c->a.end - a_size, *b = c->b.end - depth * KERNEL_COLS, *y = c->y.end - cells, *z = c->z.end - cells;
    float *bias = c->b.start + KERNEL_COLS - columns, sums[2][KERNEL_ROWS * (KERNEL_COLS + 20)];
    fill(&c->rng, a, a_size, i->kind);
    fill(&c->rng, b, depth * KERNEL_COLS, i->kind == 3 ? 0 : i->kind);
    fill(&c->rng, bias, columns, i->kind);
    fill(&c->rng, y - MARGIN, MARGIN + cells, i->kind);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + cells) * sizeof *z);
    t.a = a;
    t.b = b;
    t.bias = i->bias ? bias : NULL;
    t.to = y;
    t.from = i->first ? kernel_zeros : y;
    c->reference->contract(&t);
    t.to = z;
    t.from = i->first ? kernel_zeros : z;
    c->tested->contract(&t);
    snprintf(c->what, sizeof c->what, "%s: contract %d × %d, depth %d, gap %zu, kind %d%s%s%s", c->tested->isa, i->rows,
             i->columns, i->depth, i->gap, i->kind, i->transposed ? ", transposed" : "", i->first ? ", first" : "",
             i->bias ? ", bias" : "");
    if (i->bias)
        return same(y - MARGIN, z - MARGIN, MARGIN + cells);
    memcpy(sums[0], y, cells * sizeof *y);
    memcpy(sums[1], z, cells * sizeof *z);
    canonical(sums[0], cells);
    canonical(sums[1], cells);
    return same(y - MARGIN, z - MARGIN, MARGIN) && same(sums[0], sums[1], cells);
}

static inline bool compare_contractions(Comparison *c)
{
    static const int depths[] = {0, 1, 2, 7, 16, 31, 64, 255, 256};
    for (int rows = 1; rows <= KERNEL_ROWS; rows++)
        for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int way = 0; way < 8; way++) {
                    TileCase i = {.rows = rows,
                                  .depth = depths[d],
                                  .kind = kind,
                                  .gap = (size_t)(way & 1) * 13,
                                  .transposed = way & 2,
                                  .first = way & 4,
                                  .bias = rng_below(&c->rng, 2) != 0};
                    i.columns = way % 3 ? 1 + (int)rng_below(&c->rng, KERNEL_COLS) : KERNEL_COLS;
                    if (!compare_tile(c, &i))
                        return false;
                }
    for (int columns = 1; columns <= KERNEL_COLS; columns++)
        for (int way = 0; way < 4; way++) {
            TileCase i = {.rows = KERNEL_ROWS - columns % 3,
                          .columns = columns,
                          .depth = 33,
                          .kind = columns % KINDS,
                          .first = way & 1,
                          .bias = way & 2};
            if (!compare_tile(c, &i))
                return false;
        }
    return true;
}

static inline bool compare_pack(Comparison *c, int columns, size_t depth, size_t column_step, size_t k_step)
{
    const size_t last = (size_t)(columns - 1) * column_step + (depth ? depth - 1 : 0) * k_step,
                 cells = depth * KERNEL_COLS;
    float *from = c->a.end - last - 1, *y = c->y.end - cells, *z = c->z.end - cells;
    fill(&c->rng, from, last + 1, 2);
    fill(&c->rng, y - MARGIN, MARGIN + cells, 2);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + cells) * sizeof *z);
    c->reference->pack(y, from, column_step, k_step, columns, depth);
    c->tested->pack(z, from, column_step, k_step, columns, depth);
    snprintf(c->what, sizeof c->what, "%s: pack %d columns, depth %zu, steps %zu and %zu", c->tested->isa, columns,
             depth, column_step, k_step);
    return same(y - MARGIN, z - MARGIN, MARGIN + cells);
}

static inline bool compare_packs(Comparison *c)
{
    for (int columns = 1; columns <= KERNEL_COLS; columns++)
        for (size_t depth = 0; depth <= 40; depth++) {
            const size_t steps[][2] = {{depth + 3, 1}, {1, 32}, {1, (size_t)columns + 2}, {1, 1}, {5, 7}, {depth, 1},
                                       {0, 1},         {2, 0}};
            for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
                if (!compare_pack(c, columns, depth, steps[s][0], steps[s][1]))
                    return false;
        }
    return true;
}

/* Columns that lie along k, by the row kernel of a form, against the reference's tiles of one row. */
static inline bool compare_row(Comparison *c, int form, int columns, size_t depth, size_t gap, int kind)
{
    const size_t step = depth + gap, numbers = (size_t)columns * step - gap,
                 size = form ? sizeof(uint16_t) : sizeof(float);
    const HalfFn half = (HalfFn)(form - 1);
    char *b = (char *)c->b.end - numbers * size;
    float *a = c->a.end - depth, *y = c->y.end - columns, *z = c->z.end - columns, bias[KERNEL_COLS];
    float wide[KERNEL_COLS * KERNEL_K], packed[KERNEL_COLS * KERNEL_K];
    fill(&c->rng, a, depth, kind);
    fill(&c->rng, bias, KERNEL_COLS, kind);
    for (size_t i = 0; i < numbers; i++) { /* a number of 16 bits: the upper ones, as BF16 has them */
        const float x = nasty(&c->rng, kind);
        memcpy(b + i * size, (const char *)&x + sizeof x - size, size);
    }
    fill(&c->rng, y - MARGIN, MARGIN + (size_t)columns, 2);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + (size_t)columns) * sizeof *z);
    for (size_t k = 0; k < depth; k += KERNEL_K) {
        const size_t some = depth - k < KERNEL_K ? depth - k : KERNEL_K;
        for (size_t j = 0; j < (size_t)columns; j++)
            if (form)
                c->reference->widen[half](wide + j * some, (const uint16_t *)(const void *)b + j * step + k, some);
            else
                memcpy(wide + j * some, b + (j * step + k) * size, some * size);
        c->reference->pack(packed, wide, some, 1, columns, some);
        c->reference->contract(&(ContractTile){.a = a + k,
                                               .b = packed,
                                               .from = k ? y : kernel_zeros,
                                               .to = y,
                                               .bias = k + some == depth ? bias : NULL,
                                               .a_k = 1,
                                               .rows = 1,
                                               .columns = columns,
                                               .depth = (int)some});
    }
    c->tested->row[form](
        &(ContractRow){.a = a, .bias = bias, .b = b, .to = z, .column_step = step, .depth = depth, .columns = columns});
    snprintf(c->what, sizeof c->what, "%s: row of form %d, %d columns, depth %zu, gap %zu, kind %d", c->tested->isa,
             form, columns, depth, gap, kind);
    return same(y - MARGIN, z - MARGIN, MARGIN + (size_t)columns);
}

static inline bool compare_rows(Comparison *c)
{
    static const size_t depth[] = {1, 7, 64, 255, 256, 300, 512, 777, 1024, 1792, 2048, 2055, 2304};
    for (int form = 0; c->tested->row && form < ROW_FORMS; form++)
        for (size_t i = 0; i < sizeof depth / sizeof depth[0]; i++)
            for (int columns = KERNEL_COLS; columns > 0; columns -= 9)
                for (int way = 0; way < 2 * KINDS; way++)
                    if (!compare_row(c, form, columns, depth[i], (size_t)(way / KINDS) * 5, way % KINDS))
                        return false;
    return true;
}

static inline bool compare_hashes(Comparison *c)
{
    enum { LANES_IN_ALL = KERNEL_HASH * KERNEL_HASH_ARRAYS };
    for (size_t groups = 0; groups < 40; groups++) {
        const int arrays = 1 + (int)groups % KERNEL_HASH_ARRAYS;
        const float *x[KERNEL_HASH_ARRAYS];
        const size_t cells = groups * KERNEL_HASH;
        uint64_t a[LANES_IN_ALL], b[LANES_IN_ALL];
        for (int i = 0; i < arrays; i++)
            x[i] = c->a.end - (size_t)(i + 1) * cells - (size_t)i;
        fill(&c->rng, c->a.end - (size_t)arrays * cells - (size_t)arrays, (size_t)arrays * cells + (size_t)arrays, 2);
        for (int l = 0; l < LANES_IN_ALL; l++)
            a[l] = b[l] = (uint64_t)rng_u32(&c->rng) << 32 | rng_u32(&c->rng);
        c->reference->hash(a, x, arrays, groups);
        c->tested->hash(b, x, arrays, groups);
        snprintf(c->what, sizeof c->what, "%s: hash of %d arrays of %zu groups", c->tested->isa, arrays, groups);
        if (memcmp(a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

/* NULL when all is equal, else the first case that differs, valid until the next call. */
static inline const char *compare_tables(const Kernels *reference, const Kernels *tested)
{
    static char what[160];
    Comparison c = comparison_new(reference, tested);
    bool equal = compare_maps(&c) && compare_zips(&c) && compare_reductions(&c) && compare_contractions(&c) &&
                 compare_packs(&c) && compare_rows(&c) && compare_hashes(&c);
    memcpy(what, c.what, sizeof what);
    comparison_free(&c);
    return equal ? NULL : what;
}
#endif
