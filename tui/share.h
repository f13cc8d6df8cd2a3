/* Presenting to other terminals, by the directory of the class (classroom.h). What is written are resolved commands
 * (log.h), a line each step, never cells; the whole state now and then, for whoever comes. Pictures lie beside it by
 * digest, a model is its digest. What comes are votes, and from the notes terminal words of `present`. */
#ifndef VITRINE_TUI_SHARE_H
#define VITRINE_TUI_SHARE_H
#include "tui/classroom.h"
#include "tui/presenter.h"
#include "tui/rollcall.h"

enum { SHARE_VOTERS = 1024 };

/* Who answered the open question, and what: an owner, and a terminal of theirs as the kernel knows it (0: none). */
typedef struct Vote {
    uid_t owner;
    uint64_t terminal;
    int64_t when;
    int choice;
} Vote;

/* The lesson that is open: its cards go out by number, since a follower has their worked examples only by playing them.
 */
typedef struct ShareLesson {
    const Player *player; /* NULL: none */
    uint64_t seed;
    int card; /* −1: none of them is on show */
} ShareLesson;

typedef struct Share {
    Classroom room, stage; /* the class; what the notes terminal reads, which is private */
    char name[48];
    int keys; /* what the notes terminal typed, −1: none, … */
    int64_t keys_at;
    Buf drive; /* … as commands, a line each, to be run */
    Vote voted[SHARE_VOTERS];
    int votes;
    uint32_t seed;         /* of the question that they are about */
    int64_t counted;       /* clock_ns of the last look at the votes */
    char *caption, *noted; /* what was said last */
    const Session *s;
    const Presenter *presenter;
    Rollcall *question;
    ShareLesson lesson; /* set before share_step */
    int moves_said;     /* Player.moves of the card that was said last; 0: no card is on show there */
    char *lesson_said;
    Buf entries;      /* what commands came to since the last round */
    size_t since;     /* bytes since the last whole state */
    bool whole;       /* it is due */
    int digested;     /* Session.models of the model whose digest is known, … */
    uint64_t digest;  /* … and it */
    bool changed;     /* something on the presenter's screen */
    char *picture;    /* the one that was put last: its name, time and size, … */
    char put[17];     /* … and its digest */
    char news[300];   /* to be said once; "" = none */
    int told_trouble; /* errno that was said */
    bool told_junk;
} Share;

/* Opens the private one; where another presentation of this user has it, that is an error. */
bool share_notes(Share *h, Err *err);
/* Opens the class. name: "" for the user's own; group: only its members may come in; or NULL. */
bool share_open(Share *h, const char *name, const char *group, Err *err);
/* Closes everything. */
void share_close(Share *h);
int share_poll(const Share *h, struct pollfd *out, int most);
/* Once a round: writes what happened, takes in what came. */
void share_step(Share *h, int64_t now);
/* What a command came to goes to everybody, with the next share_step. */
void share_entry(Share *h, const char *resolved);
/* The question was asked, answered by hands, closed or taken away. */
void share_question(Share *h);
/* Takes in the votes that lie there, all of them. */
void share_count(Share *h);
bool share_is_open(const Share *h);
#endif
