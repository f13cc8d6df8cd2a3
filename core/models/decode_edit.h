/* Inside core/models only: changes made for one pass (core/graph/edit.h), in a step of writing. */
#ifndef VITRINE_MODELS_DECODE_EDIT_H
#define VITRINE_MODELS_DECODE_EDIT_H
#include "core/models/decode.h"

/* Does every change fit a step that computes the newest token alone: is its node there, and is what it does to a row of
 * tokens the same however long the text is? Otherwise keys and values must not be kept. */
bool decode_edits_fit(const DecodeEdits *e, const Graph *step);
/* The step under the changes; out must be zeroed. first: the token that its first row is (0: it has all rows). Those of
 * another stack are left out. False with err: a change can't be made in a text that grows. */
bool decode_edits_make(const DecodeEdits *e, const Graph *step, int first, Graph *out, Err *err);
#endif
