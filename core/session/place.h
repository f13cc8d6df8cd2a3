/* The reader's place: used by the commands that move it. */
#ifndef VITRINE_SESSION_PLACE_H
#define VITRINE_SESSION_PLACE_H
#include "core/session/session.h"

/* After graph or stages changed: keeps path, indices and box within what exists. */
void place_mend(Session *s);
/* Sets the box from the path: the innermost visible box that holds the node. */
void place_find_box(Session *s);
void place_push(Session *s); /* the place, onto the history */
bool place_back(Session *s); /* false when the history is empty */
/* Stands on a box: its node and the screen that suits it; no history. */
void place_on_box(Session *s, int box);
/* Sets the place at which a model is begun: its input, the cursor on the middle patch. Changes nothing else. */
void session_start_place(Session *s);
/* The box that is open when a model is begun: the first block, or NO_BOX. */
int session_opens(const Session *s);
/* Rebuilds what hangs on the shown graph after it changed (session.c). */
void session_changed(Session *s);
#endif
