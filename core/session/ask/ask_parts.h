/* What the answers share: values whatever they cost, and how prose and JSON write numbers. Inside core/session only. */
#ifndef VITRINE_SESSION_ASK_ASK_PARTS_H
#define VITRINE_SESSION_ASK_ASK_PARTS_H
#include "core/graph/explain.h"
#include "core/io/json.h"
#include "core/session/ask/ask.h"

/* A or B: where one side's graph is asked for, a difference stands on B. */
Side ask_side(Side side);
/* Computes a node of that side, whatever it takes, with progress; NULL and err when cancelled. Valid until
 * session_trim. */
const float *ask_need(Session *s, Side side, NodeId n, Err *err);
bool ask_need_inputs(Session *s, Side side, NodeId n, Err *err); /* the node and all it reads */
/* Node of a path, or NO_NODE and an error that names it. */
NodeId ask_node(const Session *s, Side side, const char *path, Err *err);
/* A ValuesFn; context is a Run. */
const float *ask_values(const void *run, NodeId n);
/* Is all there that explaining a cell of n reads? */
bool ask_inputs_there(const Run *r, NodeId n);
/* One cell of a node that is there, or of a leaf that is read as it is stored. */
float ask_cell(const Run *r, NodeId n, size_t cell);

void ask_put_number(Buf *out, float x); /* six digits: "1.82345", "NaN", "−∞" as "-inf" */
void ask_put_short(Buf *out, float x);  /* three digits: "0.212", "-1.82", "4.1e-07"; to six below 1 */
void ask_put_count(Buf *out, size_t n); /* "1,048,576" */
void ask_json_address(Buf *out, const char *key, const Graph *g, Ref r); /* as a text */
/* Where the arithmetic begins, in words: which weight, which constant, which pixel of which picture; appended. */
void ask_put_leaf(const Session *s, Side side, NodeId n, size_t cell, Buf *out);

/* The routes of `verify` beside the one over terms. Inside core/session/ask only. */

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
