/* A head in one sentence over many pictures: how far it looks, at what, and what is lost without it; each with how many
 * pictures it is over, its interval, and what would be there by itself. What is not measured is said to be so, and how
 * to have it measured. */
#ifndef VITRINE_SESSION_SCREENS_HEADS_H
#define VITRINE_SESSION_SCREENS_HEADS_H
#include "core/session/learned/measures.h"

/* How far it looks and at what, alone: "looks 7.8 ±0.1 px away …"; appended, without a line end. */
void head_words_looks(const Session *s, int row, int head, Buf *out);
/* What this input's answer loses without that head, of the row'th attention (the ledger's number less what it is then);
 * NaN while it is not measured, or cannot be. For models that no labelled inputs are known for. */
float census_here(const Session *s, int row, int head);
/* Do the heads of that row write into the stream that the answer is read from? Those of an encoder before a decoder are
 * in no ledger of it. */
bool census_in_ledger(const Session *s, int row);
/* All of it: "Block 0, head 1: looks …". */
void head_words_put(const Session *s, int row, int head, Buf *out);
/* Of a text model: the kind on show where not all have room, as the reader chose or the one that most heads are of. */
HeadKind heads_kind(const Session *s);
/* Rows of the tables over all heads: the blocks; of a text model the attentions. How many, and which is in focus. */
int head_words_rows(const Session *s);
int head_words_row(const Session *s);
/* All heads, a line each; measures what is missing first. False when cancelled or impossible. */
bool head_words_all(Session *s, Buf *out, Err *err);
#endif
