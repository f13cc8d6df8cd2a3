/* A part of a node's cells in an order of axes: what an address with [ ] and `axes=` choose. Inside core/session only.
 */
#ifndef VITRINE_SESSION_ASK_EXCERPT_H
#define VITRINE_SESSION_ASK_EXCERPT_H
#include "core/session/ask/excerpt.h"
#include "core/session/session.h"

typedef struct Excerpt {
    const Graph *graph;
    NodeId node;
    Dims dims;          /* axes that are left, in the order wanted */
    int from[DIMS_MAX]; /* first index on each of them */
    int count[DIMS_MAX];
    size_t first; /* the node's cell that the cut begins with */
    size_t cells;
    bool whole; /* all cells in the node's own order */
} Excerpt;

/* cells: ranges; a range of one index drops its axis. axes: letters with commas, every axis that is left once; NULL:
 * the node's order. */
bool excerpt_make(Excerpt *c, const Graph *g, NodeId n, const Selection *cells, const char *axes, Err *err);
void excerpt_copy(const Excerpt *c, const float *values, float *out); /* out[cells] */
void excerpt_shape_text(const Excerpt *c, Buf *out);                  /* "[t=197,h=12,e=64]" */

/* Its numbers in rows and columns for a terminal of 80 columns: x[c->cells], appended. */
void export_table(const Excerpt *c, const float *x, Buf *out);
#endif
