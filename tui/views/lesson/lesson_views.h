/* What a lesson draws: its card. What stands beside it are the screens of the session. */
#ifndef VITRINE_TUI_VIEWS_LESSON_LESSON_VIEWS_H
#define VITRINE_TUI_VIEWS_LESSON_LESSON_VIEWS_H
#include "lessons/play.h"
#include "tui/canvas/canvas.h"

/* What is said about the card, from the desk. */
typedef struct CardSaid {
    const char *text; /* feedback, a hint; "" = none */
    bool right, wrong;
    bool again;       /* the card comes back from an earlier lesson */
    const char *keys; /* the line at the bottom */
    int term;         /* of its words in the glossary (laid_terms), the one under the cursor; -1: none */
    int first;        /* the line at which the page on show begins */
} CardSaid;
/* Into r, with a border where there is room, a page of it where it is longer. Once something was said, its end. */
void card_draw(Canvas *c, Rect r, const Player *p, const CardSaid *said);
/* The line at which the page behind said->first begins; −1: that is the last. */
int card_next_page(Rect r, const Player *p, const CardSaid *said);
/* What a click at (y, x) of the card means: "answer N" or "glossary WORD"; false for nothing. */
bool card_click(Rect r, const Player *p, const CardSaid *said, int y, int x, Buf *command);
#endif
