/* The routes of `verify` beside the one over terms. Inside core/session/ask only. */
#ifndef VITRINE_SESSION_VERIFY_PARTS_H
#define VITRINE_SESSION_VERIFY_PARTS_H
#include "core/session/ask/ask_parts.h"

/* Maps of node n (a MAP), whose input and cells are there, against map_exact, at cells chosen[count] or (NULL) 0 …
 * count-1; in all threads. */
void verify_map(Session *s, Side side, NodeId n, const size_t *chosen, size_t count, VerdictRoute *r);
/* Every gradient of the graph against the chain rule over its readers. False when cancelled. */
bool verify_gradients(Session *s, Side side, VerdictRoute *r, Err *err);
/* Embedding, every block and the answer against vit_direct, sample tokens of each block (0: all). False when cancelled.
 * r->why says why nothing was compared. */
bool verify_model(Session *s, Side side, size_t sample, VerdictRoute *r, Err *err);
/* Notes a comparison: error in units of what is allowed, beyond 1 is wrong. */
void verify_note(VerdictRoute *r, Side side, NodeId n, size_t cell, double error);
#endif
