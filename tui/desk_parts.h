/* Inside the desk only (desk*.c). */
#ifndef VITRINE_TUI_DESK_PARTS_H
#define VITRINE_TUI_DESK_PARTS_H
#include "tui/desk.h"

bool desk_go(Desk *d, int card); /* false: the card's own commands failed, and what is said says why */
/* From a question that came back, or from the end of a lesson, on to that one. */
void desk_open_next(Desk *d, const char *which);
bool desk_next_lesson(const Desk *d, LessonFile *out); /* the next number; of a short one that it came from */
void desk_clear_said(Desk *d);
/* What the card itself has put under the cursor, or changed, is no try of the reader's. */
void desk_untried(Desk *d);
void desk_keep_progress(const Desk *d);
/* Is there no room for both, so that card and screen take turns? */
bool desk_takes_turns(int h, int w);
/* The line of the card at which its next page begins; −1: all of it has been read, or it is not on show. */
int desk_next_page(const Desk *d, int h, int w);
/* Is the card to be answered, or n pressed, before Space goes on? */
bool desk_awaits(const Desk *d);
/* Is an answer to be typed still wanted? */
bool desk_stands(const Desk *d);
/* Has the reader gone into something from what the card shows? */
bool desk_is_away(const Desk *d);
/* Has the card something to show: a command, an example, a picture? */
bool desk_has_screen(const Desk *d);
#endif
