/* The presentation itself: what `present …` and `blank` do to the deck and to what is shown of it. */
#ifndef VITRINE_TUI_PRESENTER_H
#define VITRINE_TUI_PRESENTER_H
#include "tui/aside.h"
#include "tui/present.h"

typedef struct Presenter {
    Present view;
    Deck deck;
    bool timed;  /* a script's steps follow one another with its pauses */
    bool film;   /* the step began with `play`, which ends with its pause */
    int64_t due; /* when the pause on show ends; 0: not known yet */
    bool alone;  /* the program was opened to present: leaving ends it */
    Aside own;   /* what was on show before; nothing where nothing was presented yet */
} Presenter;

/* "" the other mode; off; light, dark; next, prev, go N, go last; play; leave; anything else opens it and shows its
 * first step. open: what is open on the ordinary screen, a lesson's or demonstration's name, or NULL; it is presented
 * where nothing else is. Text for the reader is appended to said. */
bool presenter_do(Presenter *p, Session *s, const Commands *c, const char *word, const char *open, Buf *said, Err *err);
/* Does the word open a script or a lesson: is it none of the others? */
bool presenter_opens(const char *word);
void presenter_blank(Presenter *p, const char *word);
/* After a command: colours stay locked while the node in focus stays, and are locked anew where another one comes. */
void presenter_lock(Presenter *p, Session *s, const Commands *c);
/* Nanoseconds until the pause of the step on show ends, 0: now; −1: nobody waits for it. It begins when the step is
 * there (done), of a `play to` when that has arrived. Steps that follow one another last no longer than in a cast.
 */
int64_t presenter_left(Presenter *p, const Session *s, bool done, int64_t now);
/* Then: the film stands still. True where the next step is due. */
bool presenter_ended(Presenter *p, Session *s);
/* While the film plays every step has its own colours. */
void presenter_free_colours(Presenter *p, Session *s);
/* While "leave?" is open: true where the key answers it. Who leaves has back what was on show before, with all that
 * could be undone then. */
bool presenter_answers(Presenter *p, Session *s, const char *key);
/* What the speaker sees: where and when, and which talk it is, in the first line; the step and the next one. */
void presenter_page(const Presenter *p, const Session *s, Buf *out);
void presenter_close(Presenter *p);
#endif
