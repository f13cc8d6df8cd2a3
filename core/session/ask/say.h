/* How `say` is put together: a teller stands on a node of one side and writes one or two sentences (say …), or figures
 * as lines (tell …). Every number in them is in the trace or counted from it; none claims a cause. Inside core/session
 * only. */
#ifndef VITRINE_SESSION_ASK_SAY_H
#define VITRINE_SESSION_ASK_SAY_H
#include "core/graph/anatomy.h"
#include "core/session/ask/ask_parts.h"

typedef struct Teller {
    Session *s;
    Side side; /* A or B */
    const Graph *g;
    NodeId n;
    size_t cell;    /* the focused one */
    const float *x; /* the node's values */
    Buf *out;
    Err *err;
} Teller;

typedef bool SayFn(const Teller *t);

/* On a node of that side; false when its values are absent or were cancelled. */
bool teller_at(Session *s, Side side, const char *path, Buf *out, Err *err, Teller *t);
/* Another node of that side by its path: values (NULL and err when cancelled or absent) and its focused cell. */
const float *teller_values(const Teller *t, const char *path, NodeId *n);
bool teller_value(const Teller *t, const char *path, float *value);
/* The same; false without an error where path is NULL or that side has no such node. */
bool teller_there(const Teller *t, const char *path, float *value);
/* Path of a site of the attention that the teller's node belongs to, else of its block's, else of the first block's;
 * "" where there is none. */
const char *teller_site(const Teller *t, Site site);
/* Path of a site that one part of the model has; "" where none has. */
const char *teller_model(const Teller *t, Site site);
/* The axis of that role: the node's own, else the graph's first. */
int teller_on(const Teller *t, int axis);         /* index of the data cursor on that axis of the teller's side */
int teller_index(const Teller *t, AxisRole role); /* the same by role */
int teller_length(const Teller *t, AxisRole role);
const char *teller_label(const Teller *t, AxisRole role, int index, char out[64]);
const Axis *teller_last_axis(const Teller *t); /* of the node; NULL of a single number */
/* "patch r3c4" or "token cls": the token of that axis at the cursor. */
void teller_put_token(const Teller *t, AxisRole role);
void teller_put_token_of(const Teller *t, int axis);
/* The focused row: all of it where it is short, else its largest numbers. */
void teller_put_row(const Teller *t, const char *what);
/* A number for every patch, a line for every row of patches. */
void teller_put_patches(const Teller *t, const float *x, int rows, int cols);

/* Cells of the row of n that holds `cell`, along its last axis. */
const float *teller_row(const Teller *t, const float *values, NodeId n, size_t cell, size_t *count);
size_t largest_of(const float *x, size_t n);        /* index; the first of equals; NaN never wins */
size_t rank_of(const float *x, size_t n, size_t i); /* 1 + how many are larger */
/* Indices of x[count], the largest first, at most `most`; the first of equals first. Returns how many. */
size_t largest_first(const float *x, size_t count, size_t *index, size_t most);
double length_of_vector(const float *x, size_t n);

/* Of nodes, whatever screen is on. */
SayFn say_head_vector, say_token, say_residual, say_hidden, say_experts, say_angle, say_bias, say_pixel, say_embedding,
    say_anything; /* say_node.c */
SayFn say_weight, say_score, say_answer, say_positions, say_gradient;
/* What screens have in common. */
SayFn say_head_over_pictures, tell_tensor, tell_heads, tell_matrix, tell_answer;
/* Where 1/√d_k alone was taken away: what that shows, and what it does not; else nothing. */
void say_without_scale(const Teller *t);
/* What is counted as right, behind a number: "held-out pictures are named right". Of a model that is measured. */
const char *say_right_of(const Session *s);
#endif
