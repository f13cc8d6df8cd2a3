/* A − B of the two runs on show, node by node: session.h's SIDE_DIFF. */
#ifndef VITRINE_SESSION_DIFFERENCE_H
#define VITRINE_SESSION_DIFFERENCE_H
#include "core/session/session.h"

/* Computes A − B of the node of that path, which session_node(SIDE_DIFF) has. True when it is there. */
bool difference_step(Session *s, const char *path, int64_t deadline_ns);
/* What each token of that side carries of the cosine: x·u / (N |y|), u the other side's direction; they add up to it.
 * out[count] on the heap, as many as the side's text has words; NULL: the text's vector is not the mean of its tokens,
 * or there is nothing to compare it with. */
float *difference_carried(Session *s, Side side, size_t *count);
/* How alike A and B are to a model that ends with an embedding: the cosine of theirs, −1 to 1, a node of the pair's
 * graph. False where there is no A, or none with such an embedding. Computes both embeddings where they are not there
 * yet. */
bool difference_likeness(Session *s, float *out);
const float *difference_likeness_peek(
    const Session *s); /* computed with the difference of the embeddings' directions; NULL while not */
/* How far each token of that node has moved from A to B, as a share of its length in A: [tokens], a node of the pair's
 * graph (probes_apart). True when it is there, or the node has no tokens. */
bool difference_moved_step(Session *s, const char *path, int64_t deadline_ns);
const float *difference_moved(const Session *s, const char *path); /* NULL while not computed, or forgotten */
/* Along what the tokens of that node changed in different ways from A to B, nodes of the pair's graph
 * (probes_changed_add): by site ALIKE_NORM[t], ALIKE_COMPONENT…[p] and ALIKE_SHARE…. True when all are there. */
bool difference_changed_step(Session *s, const char *path, int64_t deadline_ns);
const float *difference_changed(const Session *s, const char *path,
                                Site what);                       /* NULL while not computed, or not asked */
const float *difference_peek(const Session *s, const char *path); /* NULL while not computed, or forgotten */
void difference_trim(Session *s);                                 /* what nothing asked for since the last call */
size_t difference_bytes(const Session *s);
/* Forgets all of it: before A or B becomes another run, or its graph another. */
void difference_drop(Session *s);
/* Have two nodes the same axes, letter by letter and length by length? */
bool difference_same_shape(const Graph *a, NodeId n, const Graph *b, NodeId m);

/* The test for leaks by hand: two passes over texts that are the same up to a word. Nothing that is computed for the
 * words before it may know of it. */

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
