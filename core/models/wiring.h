/* The three forms of the Transformer beside one another, read off graphs that are built for it: what each attention
 * looks at and through which mask, and in which operations a block of one form differs from a block of another. */
#ifndef VITRINE_MODELS_WIRING_H
#define VITRINE_MODELS_WIRING_H
#include "core/base/buf.h"
#include "core/models/seq2seq.h"

/* Lines of at most 78 cells, appended. c: a model's configuration, of any form; the others are built at its sizes with
 * weights from a seed, for the wiring does not depend on them. */
void wiring_put(const Seq2seqConfig *c, Buf *out);
#endif
