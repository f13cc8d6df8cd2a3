#define _GNU_SOURCE /* madvise */
#include "core/base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/base/err.h"
#include "core/base/utf8.h"

bool size_mul_ok(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

bool size_add_ok(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

size_t size_mul(size_t a, size_t b)
{
    size_t r = 0;
    REQUIRE(size_mul_ok(a, b, &r));
    return r;
}

size_t size_add(size_t a, size_t b)
{
    size_t r = 0;
    REQUIRE(size_add_ok(a, b, &r));
    return r;
}

static void *checked(void *p, size_t n)
{
    if (!p)
        die("out of memory (%zu bytes were asked for). Close other programs, or take a smaller model.", n);
    return p;
}

void *xmalloc(size_t n)
{
    return checked(malloc(n ? n : 1), n);
}

void *xcalloc(size_t count, size_t size)
{
    size_t n = size_mul(count, size);
    return checked(calloc(n ? n : 1, 1), n);
}

void *xrealloc(void *p, size_t n)
{
    return checked(realloc(p, n ? n : 1), n);
}

char *xstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(xmalloc(n), s, n);
}

float *xfloats(size_t count)
{
    size_t n = size_add(size_mul(count ? count : 1, sizeof(float)), 63) & ~(size_t)63;
    return checked(aligned_alloc(64, n), n);
}

float *xfloats_large(size_t count)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    enum { HUGE = 2 << 20 };
    if (count >= HUGE) {
        const size_t n = size_add(size_mul(count, sizeof(float)), HUGE - 1) & ~(size_t)(HUGE - 1);
        void *p = checked(aligned_alloc(HUGE, n), n);
        madvise(p, n, MADV_HUGEPAGE); /* refused: small pages */
        return p;
    }
#endif
    return xfloats(count);
}

void *grow(void *items, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? size_mul(*cap, 2) : 16;
    return xrealloc(items, size_mul(*cap, size));
}

typedef struct ArenaBlock {
    struct ArenaBlock *next;
    size_t used, size;
    max_align_t data[];
} ArenaBlock;

void *arena_alloc(Arena *a, size_t n)
{
    n = size_add(n, sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    ArenaBlock *b = a->blocks;
    if (!b || b->size - b->used < n) {
        size_t size = n > 16384 ? n : 16384;
        b = xcalloc(1, size_add(sizeof *b, size));
        b->size = size;
        b->next = a->blocks;
        a->blocks = b;
    }
    void *p = (char *)b->data + b->used;
    b->used += n;
    return p;
}

char *arena_strdup(Arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(arena_alloc(a, n), s, n);
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = utf8_vprint(NULL, 0, fmt, ap);
    va_end(ap);
    REQUIRE(n >= 0);
    char *s = arena_alloc(a, (size_t)n + 1);
    utf8_vprint(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

ArenaMark arena_mark(const Arena *a)
{
    return (ArenaMark){a->blocks, a->blocks ? a->blocks->used : 0};
}

void arena_rewind(Arena *a, ArenaMark mark)
{
    while (a->blocks != mark.block) {
        ArenaBlock *b = a->blocks;
        REQUIRE(b);
        a->blocks = b->next;
        free(b);
    }
    if (mark.block) {
        memset((char *)mark.block->data + mark.used, 0, mark.block->used - mark.used); /* as arena_alloc promises */
        mark.block->used = mark.used;
    }
}

void arena_free(Arena *a)
{
    while (a->blocks) {
        ArenaBlock *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
}
