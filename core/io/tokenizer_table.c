/* Strings by number, numbers by string: the pieces that a tokeniser knows. */
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/io/tokenizer_parts.h"

static size_t hash_of(const char *s, size_t n)
{
    return (size_t)digest_bytes(digest_mix(DIGEST_START, n), s, n);
}

bool table_room(PieceTable *t, size_t count, int largest)
{
    enum { HOLES = 1 << 20 };
    if (largest < 0 || (size_t)largest > 4 * count + HOLES)
        return false;
    t->n = largest + 1;
    t->name = xcalloc((size_t)t->n, sizeof *t->name);
    t->length = xcalloc((size_t)t->n, sizeof *t->length);
    for (t->slots = 64; t->slots < 2 * (size_t)t->n + 2 * count;)
        t->slots *= 2;
    t->slot = xcalloc(t->slots, sizeof *t->slot);
    return true;
}

static size_t slot_of(const PieceTable *t, const char *name, size_t length)
{
    size_t i = hash_of(name, length) & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
        int id = t->slot[i] - 1;
        if (t->length[id] == length && memcmp(t->name[id], name, length) == 0)
            break;
    }
    return i;
}

bool table_add(PieceTable *t, const char *name, size_t length, int id)
{
    size_t i = slot_of(t, name, length);
    if (t->slot[i] || t->name[id])
        return false;
    char *own = arena_alloc(&t->arena, length + 1);
    memcpy(own, name, length);
    t->name[id] = own;
    t->length[id] = (uint32_t)length;
    t->slot[i] = id + 1;
    t->longest = length > t->longest ? length : t->longest;
    return true;
}

int table_find(const PieceTable *t, const char *name, size_t length)
{
    return t->slots && length <= t->longest ? t->slot[slot_of(t, name, length)] - 1 : -1;
}

void table_free(PieceTable *t)
{
    arena_free(&t->arena);
    free(t->name);
    free(t->length);
    free(t->slot);
    *t = (PieceTable){.n = 0};
}
