/* Numbers in rows and columns for a terminal of 80 columns. Inside core/session only. */
#ifndef VITRINE_SESSION_EXPORT_TABLE_H
#define VITRINE_SESSION_EXPORT_TABLE_H
#include "core/session/cut.h"

void export_table(const Cut *c, const float *x, Buf *out); /* x[c->cells], appended */
#endif
