/* The presentation itself: what `present …` and `blank` do to the deck and to what is shown of it. */
#ifndef VITRINE_TUI_PRESENTER_H
#define VITRINE_TUI_PRESENTER_H
#include "tui/present.h"

typedef struct Presenter {
    Present view;
    Deck deck;
    bool alone; /* the program was opened to present: leaving ends it */
} Presenter;

/* "" the other mode; off; light, dark; next, prev, go N, go last; leave; anything else opens it and shows its first
 * step. open: what is open on the ordinary screen, a lesson's or demonstration's name, or NULL; it is presented where
 * nothing else is. Text for the reader is appended to said. */
bool presenter_do(Presenter *p, Session *s, const Commands *c, const char *word, const char *open, Buf *said, Err *err);
void presenter_blank(Presenter *p, const char *word);
/* After a command: colours stay locked while the node in focus stays, and are locked anew where another one comes. */
void presenter_lock(Presenter *p, Session *s, const Commands *c);
/* While "leave?" is open: true where the key answers it. */
bool presenter_answers(Presenter *p, Session *s, const char *key);
void presenter_close(Presenter *p);
#endif
