/* Presenting to other terminals, by the directory of the class (classroom.h). What is written are resolved commands
 * (log_follow), a line each step, never cells; the whole state where a file of lines begins, for whoever comes.
 * Pictures lie beside it by digest, a model is its digest. What comes are votes. */
#ifndef VITRINE_TUI_SHARE_H
#define VITRINE_TUI_SHARE_H
#include "tui/classroom.h"
#include "tui/presenter.h"
#include "tui/rollcall.h"

#define SHARE_MODEL "model-" /* before a model's digest, in a word of the class: PERMIT_CLASS DIGEST/NAME */

/* One counts of each owner and terminal of theirs, the last one; of an owner without a terminal one. */
typedef struct Vote {
    uid_t owner;
    int terminal; /* number of the pseudo-terminal and 1; 0: none of the owner's */
    int64_t when;
    int choice;
} Vote;

typedef struct Share {
    Classroom room;
    char name[48];
    const Session *s;
    const Presenter *presenter;
    Rollcall *question;
    const Player *player; /* of the open lesson, or NULL; set before share_step. Its cards go out by number, … */
    uint64_t lesson_seed; /* … since a follower has their worked examples only by playing them */
    Vote *vote;
    size_t votes, vote_cap;
    uint32_t seed;     /* of the question that the votes are about */
    char stranger[80]; /* who put something else there; "" = nobody */
    int64_t counted;   /* clock_ns of the last look at the votes */
    Buf said;          /* caption and question as they were written last */
    int film;          /* the box of the map whose result comes, as it was said last; NO_BOX: none does */
    int moves_said;    /* Player.moves of the card that was said last; 0: no card is on show there */
    Buf entries;       /* what commands came to since the last round: while it is shared, to be added to */
    size_t since;      /* bytes in this file of lines */
    int64_t tried;     /* clock_ns when a new one could not be written; 0: it is written */
    char news[300];    /* to be said once; "" = none */
} Share;

/* name: "" for the user's own; group: only its members may come in; or NULL. */
bool share_open(Share *h, const char *name, const char *group, Err *err);
void share_close(Share *h);
/* Once a round: writes what happened, takes in what came. True where something on the presenter's screen changed. */
bool share_step(Share *h, int64_t now);
/* Before the result: takes in the votes that lie there, and notes what has to be known beside it. */
void share_count(Share *h);
#endif
