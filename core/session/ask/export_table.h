/* Numbers in rows and columns for a terminal of 80 columns. Inside core/session only. */
#ifndef VITRINE_SESSION_ASK_EXPORT_TABLE_H
#define VITRINE_SESSION_ASK_EXPORT_TABLE_H
#include "core/session/ask/excerpt.h"

void export_table(const Excerpt *c, const float *x, Buf *out); /* x[c->cells], appended */
#endif
