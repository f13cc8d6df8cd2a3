/* Values of a run as files and as text: one node, a part of one, or all nodes that a pattern names. */
#ifndef VITRINE_SESSION_ASK_EXPORT_H
#define VITRINE_SESSION_ASK_EXPORT_H
#include "core/io/tensors.h"
#include "core/session/session.h"

/* Writes nodes of one side (SIDE_DIFF: A − B) to a file; path "-" is standard output.
 * pattern: an address ("blocks.1.attn.q[h=2]": a single index drops its axis, a range keeps it), a scope ("blocks.1"),
 * or a pattern
 * ("blocks.5.*", "**" for the whole run), or several of them with blanks between ("** grad.**"). Scopes and patterns
 * leave weights and analyses out unless they match nothing else; "probe" in them asks for analyses. axes ("h,t,e", or
 * NULL) reorders the axes of a single tensor. .safetensors and .json carry metadata: model, input, edits, side, and the
 * trace hash once the pass is complete. What is missing is computed, with progress. report (may be NULL) gets "float32
 * [t=197,h=12,e=64]\n" for one tensor, "412 tensors, 48.2 MB\n" for several. */
bool export_nodes(Session *s, Side side, const char *pattern, const char *axes, const char *path, TensorFormat format,
                  Buf *report, Err *err);

/* May the command's file be written? Not where something is there already, unless the line says over=yes. */
bool export_free(const char *path, const char *over, Err *err);

/* The same for reading: numbers with the labels of rows and columns, the middle of large tensors left out, then lowest,
 * mean and highest. The address must name one node. */
bool export_print(Session *s, Side side, const char *address, const char *axes, Buf *out, Err *err);

/* A part of a node's cells in an order of axes: what an address with [ ] and `axes=` choose. Inside core/session only.
 */

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
