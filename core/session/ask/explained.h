/* What a screen wants worked out about numbers on show: the arithmetic of a cell, or its close-up. Made between frames
 * by session_step from the needs that say so, so that drawing and clicks read only; the last of each side is kept. */
#ifndef VITRINE_SESSION_ASK_EXPLAINED_H
#define VITRINE_SESSION_ASK_EXPLAINED_H
#include "core/session/ask/ask.h"
#include "core/session/ask/closeup.h"

/* What that need asks for, from values that are there already; nothing happens while they are not. */
void explained_make(Session *s, const Need *need);
/* The arithmetic of that cell with at least `most` of its lines (all, where it has fewer), or NULL: nobody asked for
 * it, or its values are not there. The session's, until the next step. */
const Explanation *explained_cell(const Session *s, Side side, NodeId n, size_t cell, size_t most);
/* The close-up of that cell with its values: true when it is known, *out NULL where there is none. */
bool explained_closeup(const Session *s, Side side, NodeId n, size_t cell, const Closeup **out);
/* Forgets all of it: before a run or a graph becomes another. */
void explained_drop(Session *s);
#endif
