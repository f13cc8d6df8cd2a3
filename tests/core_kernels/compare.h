/* Every kernel of one table against another's, bit for bit, on random and nasty shapes and values. No test framework here: the
 * same comparisons run where there is none. Buffers end at a page that may not be touched, so that a kernel which reads or
 * writes past the end stops the program; what lies before and between is compared too. */
#ifndef VITRINE_TESTS_COMPARE_H
#define VITRINE_TESTS_COMPARE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "core/kernels/kernels.h"

enum { GUARDED_FLOATS = 1 << 16, KINDS = 4 };

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
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                       0x7f800001, 0xffbfffff, 0x7fffffff, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                                       0x80800000, 0x7f7fffff, 0xff7fffff, 0x42b17218, 0xc2b17218, 0xc2cff1b5, 0x00400000, 0x4b400000};
    switch (kind) {
    case 0:
        return rng_range(r, -2, 2);
    case 1:
        return float_of((rng_u32(r) & 0x807fffff) | (1 + rng_below(r, 253)) << 23);
    case 2:
        return float_of(rng_u32(r));
    default:
        return rng_below(r, 4) ? float_of(special[rng_below(r, sizeof special / sizeof special[0])]) : rng_range(r, -90, 90);
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
    return (Comparison){.reference = reference, .tested = tested, .rng = rng_seed(7, 11), .a = guarded_new(), .b = guarded_new(),
                        .y = guarded_new(), .z = guarded_new()};
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
    snprintf(c->what, sizeof c->what, "%s: %s of %zu values, kind %d, %zu before the end", c->tested->isa, map_name(f), n, kind, back);
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
    snprintf(c->what, sizeof c->what, "%s: zip %d of %zu values, steps %zu and %zu, kind %d, place %d", c->tested->isa, (int)f, n,
             a_step, b_step, kind, place);
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
                float y[] = {c->reference->sum(x, n), c->reference->max(x, n)}, z[] = {c->tested->sum(x, n), c->tested->max(x, n)};
                snprintf(c->what, sizeof c->what, "%s: %s of %zu values, kind %d", c->tested->isa, same(y, z, 1) ? "max" : "sum", n, kind);
                if (!same(y, z, 2))
                    return false;
            }
    return true;
}

/* NaN in a contraction is not yet canonical. */
static inline void canonical(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = kernel_canonical(x[i]);
}

static inline bool compare_contract(Comparison *c, int rows, int depth, size_t gap, int kind)
{
    const size_t stride = (size_t)depth + gap, a_size = (size_t)(rows - 1) * stride + (size_t)depth;
    const size_t b_size = (size_t)depth * KERNEL_COLS, cells = (size_t)rows * KERNEL_COLS;
    float *a = c->a.end - a_size, *b = c->b.end - b_size, *y = c->y.end - cells, *z = c->z.end - cells;
    fill(&c->rng, a, a_size, kind);
    fill(&c->rng, b, b_size, kind == 3 ? 0 : kind);
    fill(&c->rng, y - MARGIN, MARGIN + cells, kind);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + cells) * sizeof *z);
    c->reference->contract(y, a, stride, b, rows, depth);
    c->tested->contract(z, a, stride, b, rows, depth);
    canonical(y, cells);
    canonical(z, cells);
    snprintf(c->what, sizeof c->what, "%s: contract %d rows, depth %d, stride %zu, kind %d", c->tested->isa, rows, depth, stride, kind);
    return same(y - MARGIN, z - MARGIN, MARGIN + cells);
}

static inline bool compare_contractions(Comparison *c)
{
    static const int depths[] = {0, 1, 2, 7, 16, 31, 64, 255, 256};
    for (int rows = 1; rows <= KERNEL_ROWS; rows++)
        for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++)
            for (int kind = 0; kind < KINDS; kind++)
                for (size_t gap = 0; gap < 20; gap += 13)
                    if (!compare_contract(c, rows, depths[d], gap, kind))
                        return false;
    return true;
}

static inline bool compare_pack(Comparison *c, int columns, size_t depth, size_t column_step, size_t k_step)
{
    const size_t last = (size_t)(columns - 1) * column_step + (depth ? depth - 1 : 0) * k_step, cells = depth * KERNEL_COLS;
    float *from = c->a.end - last - 1, *y = c->y.end - cells, *z = c->z.end - cells;
    fill(&c->rng, from, last + 1, 2);
    fill(&c->rng, y - MARGIN, MARGIN + cells, 2);
    memcpy(z - MARGIN, y - MARGIN, (MARGIN + cells) * sizeof *z);
    c->reference->pack(y, from, column_step, k_step, columns, depth);
    c->tested->pack(z, from, column_step, k_step, columns, depth);
    snprintf(c->what, sizeof c->what, "%s: pack %d columns, depth %zu, steps %zu and %zu", c->tested->isa, columns, depth, column_step, k_step);
    return same(y - MARGIN, z - MARGIN, MARGIN + cells);
}

static inline bool compare_packs(Comparison *c)
{
    for (int columns = 1; columns <= KERNEL_COLS; columns++)
        for (size_t depth = 0; depth <= 40; depth++) {
            const size_t steps[][2] = {{depth + 3, 1}, {1, 32}, {1, (size_t)columns + 2}, {1, 1}, {5, 7}, {depth, 1}, {0, 1}, {2, 0}};
            for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++)
                if (!compare_pack(c, columns, depth, steps[s][0], steps[s][1]))
                    return false;
        }
    return true;
}

/* NULL when all is equal, else the first case that differs, valid until the next call. */
static inline bool compare_hashes(Comparison *c)
{
    for (size_t groups = 0; groups < 40; groups++) {
        const size_t cells = groups * KERNEL_HASH;
        float *x = c->a.end - cells;
        fill(&c->rng, x, cells, 2);
        uint64_t a[KERNEL_HASH], b[KERNEL_HASH];
        for (int l = 0; l < KERNEL_HASH; l++)
            a[l] = b[l] = (uint64_t)rng_u32(&c->rng) << 32 | rng_u32(&c->rng);
        c->reference->hash(a, x, groups);
        c->tested->hash(b, x, groups);
        snprintf(c->what, sizeof c->what, "%s: hash of %zu groups", c->tested->isa, groups);
        if (memcmp(a, b, sizeof a) != 0)
            return false;
    }
    return true;
}

static inline const char *compare_tables(const Kernels *reference, const Kernels *tested)
{
    static char what[160];
    Comparison c = comparison_new(reference, tested);
    bool equal = compare_maps(&c) && compare_zips(&c) && compare_reductions(&c) && compare_contractions(&c) && compare_packs(&c) &&
                 compare_hashes(&c);
    memcpy(what, c.what, sizeof what);
    comparison_free(&c);
    return equal ? NULL : what;
}
#endif
