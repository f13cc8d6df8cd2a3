/* Inside core/session only: what the functions share that turn command lines into graph edits. Each kind of line has
 * one function; lines were printed by its verb's row (verbs.h) in one spelling, but a hostile script may hold anything,
 * so everything is checked there. */
#ifndef VITRINE_SESSION_EDIT_EDITS_PARTS_H
#define VITRINE_SESSION_EDIT_EDITS_PARTS_H
#include "core/graph/anatomy.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"

typedef struct EditParse {
    const Session *s;
    const Graph *g; /* the base graph: edits name its nodes */
    Arena *arena;
    Edit *edits;
    size_t cap;
    int count;
    float *picture; /* the input's values as changed so far */
    int *hidden;    /* of every patch, 1 where it is hidden: that of edit number `hiding` */
    int hiding;
    const char *origin;  /* the line */
    EditValues **values; /* of the line: where patch keeps what it read */
} EditParse;

Edit *parse_add(EditParse *p, EditKind kind, const char *path); /* valid until the next one is added */
/* A number, as kernels would store it. */
bool parse_number(const char *text, float *out);
/* The node an address names; the scope of a part stands for what the part gives, if `parts`. */
bool parse_target(EditParse *p, const char *text, bool parts, Address *a, Err *err);
int parse_token_axis(const Graph *g, Dims d); /* the axis of tokens or patches, or AXIS_NONE */

/* Zeros on the chosen cells of a mask must leave every row somewhere to look: a softmax over nothing is NaN. */
bool parse_leaves_keys(const EditParse *p, const Address *to, Err *err);

/* The picture as changed so far, to be changed further. */
float *parse_picture(EditParse *p);
bool parse_on_picture(const EditParse *p, const char *path);
void parse_fill_picture(EditParse *p, const Selection *cells, float value);
#endif
