/* The reader's place: used by the commands that move it. */
#ifndef VITRINE_SESSION_PLACE_H
#define VITRINE_SESSION_PLACE_H
#include "core/session/session.h"

/* After graph or stages changed: keeps path, indices and box within what exists. */
void place_mend(Session *s);
/* The row of the map that the place belongs to: the one it has where that shows its node, else the innermost that can
 * be seen once the block around it is open. */
int place_box(const Session *s);
/* The row that stands for a box: the outermost closed one around it. Blocks open themselves for who stands in them. */
int place_row(const Session *s, int box);
void place_open(Session *s);     /* opens what is around the place's row, so that it can be seen */
void place_find_box(Session *s); /* both: the map shows the step that one is on */
void place_push(Session *s);     /* the place, onto the history */
bool place_back(Session *s);     /* false when the history is empty */
bool place_leave(Session *s);    /* back out of arithmetic, out of all that was learned; false: it is neither */
bool place_forward(Session *s);  /* to where the last place_back came from; false when there is none */
/* The focus goes to the same node of another block; from a block's row to a block's row. */
void place_carry(Session *s, const char *path);
/* Puts the cursor on the largest value of the row in focus; any_row: of the head's row furthest above uniform, by its
 * largest value times the tokens that it can see at all. False: the node in focus is no attention. value: that one;
 * seen: the tokens that its row can see. */
bool place_on_largest(Session *s, bool any_row, float *value, int *seen);
/* Stands on a box, which can be seen then: its node and the screen that suits it; no history. */
void place_on_box(Session *s, int box);
/* Who comes to the answer stands on it, not on class 0: `why` there means why this. Of a text on that of the token
 * under the cursor; as soon as it is computed (place_arrive, between frames), unless the cursor was moved before. */
void place_on_answer(Session *s);
void place_arrive(Session *s);
bool place_at_answer(const Session *s);
/* Puts the cursor on the last token of a text that is gone on from: its row is what the model writes next. */
void place_last_token(Session *s);
/* Sets the place at which a model is begun: its input, the cursor on the middle patch or, where a text is gone on from,
 * on its last token. Changes nothing else. */
void session_start_place(Session *s);
/* The box that is open when a model is begun: the first block, or NO_BOX. */
int session_opens(const Session *s);
/* Rebuilds what hangs on the shown graph after it changed (session.c). */
void session_changed(Session *s);
#endif
