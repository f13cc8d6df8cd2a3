/* Memory that does not fail silently: checked sizes, allocators that die through one hook, and arenas for things that
 * die together. */
#ifndef VITRINE_BASE_MEM_H
#define VITRINE_BASE_MEM_H
#include <stdbool.h>
#include <stddef.h>

/* a·b and a+b; an overflow is our own bug (sizes from files are checked with the *_ok forms before). */
size_t size_mul(size_t a, size_t b);
size_t size_add(size_t a, size_t b);
bool size_mul_ok(size_t a, size_t b, size_t *product);
bool size_add_ok(size_t a, size_t b, size_t *sum);

/* Never return NULL (n = 0 gives a unique pointer); the caller frees. xcalloc is zeroed; count·size is checked. */
void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
/* 64-byte aligned floats, uninitialised; free() releases them. */
float *xfloats(size_t count);
/* The same for what is read from one end to the other again and again: in large pages, where the system has them. */
float *xfloats_large(size_t count);

/* Makes room for one more element in a growing array: `items = grow(items, &cap, n, sizeof *items)`. */
void *grow(void *items, size_t *cap, size_t n, size_t size);

/* An arena frees everything at once; a zeroed Arena is empty and valid. Pointers stay valid until arena_free. */
typedef struct Arena {
    struct ArenaBlock *blocks;
} Arena;
void *arena_alloc(Arena *a, size_t n); /* zeroed, aligned for any scalar */
char *arena_strdup(Arena *a, const char *s);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What is allocated after a mark is released by arena_rewind; everything before stays. */
typedef struct ArenaMark {
    struct ArenaBlock *block;
    size_t used;
} ArenaMark;
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark mark);
void arena_free(Arena *a);
#endif
