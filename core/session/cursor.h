/* What the arrow keys do on each screen. */
#ifndef VITRINE_SESSION_CURSOR_H
#define VITRINE_SESSION_CURSOR_H
#include "core/session/session.h"

/* Moves the data cursor (or the chosen term, class, block, head) by so many rows and columns, stopping at the borders.
 */
void move_cursor(Session *s, int dy, int dx);
#endif
