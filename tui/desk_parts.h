/* Inside the desk only (desk*.c). */
#ifndef VITRINE_TUI_DESK_PARTS_H
#define VITRINE_TUI_DESK_PARTS_H
#include "tui/desk.h"

bool desk_go(Desk *d, int card); /* false: the card's own commands failed, and what is said says why */
/* From a question that came back on to the lesson that was asked for. */
void desk_open_then(Desk *d);
void desk_clear_said(Desk *d);
void desk_keep_progress(const Desk *d);
/* Is there no room for both, so that card and screen take turns? */
bool desk_takes_turns(int h, int w);
/* The line of the card at which its next page begins; −1: all of it has been read, or it is not on show. */
int desk_next_page(const Desk *d, int h, int w);
/* Has the card something to show: a command, an example, a picture? */
bool desk_has_screen(const Desk *d);
#endif
