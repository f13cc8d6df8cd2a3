/* The test for leaks by hand: two passes over texts that are the same up to a word. Nothing that is computed for the
 * words before it may know of it. */
#ifndef VITRINE_SESSION_ASK_LEAK_H
#define VITRINE_SESSION_ASK_LEAK_H
#include "core/session/session.h"

typedef struct Leak {
    int first;               /* the first word of the target that differs between A and B; the length where none does */
    int changed;             /* how many differ */
    int nodes;               /* nodes of the pass that have a row for every word of the target … */
    size_t cells;            /* …their cells whose words all stand before the first that differs … */
    size_t differ;           /* …and how many of those are not the same bits */
    size_t after;            /* cells at or behind that word which differ */
    char path[SESSION_PATH]; /* the first node with a cell that knows of it; "" where none does */
    size_t cell;
} Leak;
/* Computes what is missing of A and B. False with err: nothing to compare, other lengths or sources, or cancelled. */
bool leak_find(Session *s, Leak *out, Err *err);
/* "The 9 words before it: 21,600 numbers in 118 nodes, all the same bits in A and B …"; appended. */
void leak_put(const Session *s, const Leak *l, Buf *out);
#endif
