/* The routes of `verify` beside the one over terms. Inside core/session/ask only. */
#ifndef VITRINE_SESSION_ASK_VERIFY_PARTS_H
#define VITRINE_SESSION_ASK_VERIFY_PARTS_H
#include "core/session/ask/ask_parts.h"

/* Maps of node n (a MAP), whose input and cells are there, against map_exact, at cells chosen[count] or (NULL) 0 …
 * count-1; in all threads. */
void verify_map(Session *s, Side side, NodeId n, const size_t *chosen, size_t count, VerdictRoute *r);
/* Every gradient of the graph against the chain rule over its readers. False when cancelled. */
bool verify_gradients(Session *s, Side side, VerdictRoute *r, Err *err);
/* Embedding, every block and the answer against the equations (vit_direct, verify_text_model), sample tokens of each
 * block (0: all). False when cancelled. r->why says why nothing was compared. */
bool verify_model(Session *s, Side side, size_t sample, VerdictRoute *r, Err *err);
/* The same of a text model , whose graph is the unedited one: seq2seq_direct. */
bool verify_text_model(Session *s, Side side, const Model *m, VerdictRoute *r, Err *err);
/* All cells of node n, which are there, with out[cells], to 2e-5 of its largest value. */
void verify_compare(Session *s, Side side, NodeId n, const double *out, VerdictRoute *r);
#endif
