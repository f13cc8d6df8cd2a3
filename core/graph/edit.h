/* What-if = nodes appended to an overlay. An edit never overwrites a value: the edited graph is the base graph with
 * nodes put in behind the edited ones; the new node takes the name, the old one becomes NAME.unedited, consumers are
 * redirected. Whatever does not depend on an edit shares the base run's values (Node.origin). */
#ifndef VITRINE_GRAPH_EDIT_H
#define VITRINE_GRAPH_EDIT_H
#include "core/graph/graph.h"

typedef enum EditKind {
    EDIT_SCALE, /* the leaf is multiplied by factor (√d_k off: factor = √d_k) on the chosen cells */
    EDIT_ZERO,  /* the chosen cells become 0 */
    EDIT_MEAN,  /* the chosen cells become their mean over `axis`, of the same edited run */
    EDIT_SET,   /* the chosen cells become `value` */
    EDIT_MASK,  /* attention scores: the chosen cells become −∞ before the softmax; a row all masked gives zeros */
    EDIT_REDIRECT, /* the node becomes a view of node `other` (skip) */
    EDIT_GATHER,   /* the node's cells in another order along `axis` (shuffle) */
    EDIT_OTHER, /* the cells at chosen places of `axis` become node `other`'s, the same at every place (a mask token) */
    EDIT_VALUES, /* the chosen cells become those of `data`, which has all of the node's (patch) */
    EDIT_MAP     /* the whole node goes through `map` (rounding to bf16) */
} EditKind;

/* Which cells: for each axis of the node a half-open range; an axis not listed is taken whole. */
typedef struct Selection {
    int n;
    struct {
        int axis, from, to;
    } range[DIMS_MAX];
} Selection;

typedef struct Edit {
    EditKind kind;
    const char *path; /* node of the base graph */
    Selection cells;
    float factor, value;
    int axis;           /* EDIT_MEAN, EDIT_GATHER, EDIT_OTHER */
    const char *other;  /* EDIT_REDIRECT, EDIT_OTHER: path of the node to see instead, which stands before this one */
    const int *index;   /* EDIT_GATHER: new order; EDIT_OTHER: for each place of axis, 1 where it is chosen, else 0 */
    const float *data;  /* EDIT_VALUES: cells of the node */
    MapFn map;          /* EDIT_MAP */
    const char *origin; /* what made it, for the leaf: "set scale off" */
    bool (*choose)(const void *context,
                   const int index[DIMS_MAX]); /* EDIT_MASK: replaces cells where not NULL (causal); EDIT_SCALE:
                                                  of `cells` those for which it is true, by their axes' indices */
    const void *context;
} Edit;

/* Builds the edited graph (out must be zeroed; graph_free later). Edits on one node apply in order. Strings, index and
 * data are copied into out's arena. False, with out empty, when an edit names a node or axis that base lacks. */
bool graph_edit(Graph *out, const Graph *base, const Edit *edits, int count, Err *err);
bool selection_has(const Selection *s, Dims d, const int index[DIMS_MAX]);
#endif
