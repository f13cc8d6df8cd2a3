/* Following a presenter: what stands in the class (classroom.h) is run as lines of somebody else's, which touch session
 * and screen alone; pictures come as data, by digest, and are lent to the session under that word (command.h). Nothing
 * of somebody unknown runs before the reader has said so. A reader may leave to look on their own, and come back. */
#ifndef VITRINE_TUI_FOLLOW_H
#define VITRINE_TUI_FOLLOW_H
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "lessons/play.h"
#include "tui/classroom.h"
#include "tui/desk.h"
#include "tui/rollcall.h"

typedef struct Follow {
    bool joined;    /* there is somebody to follow */
    bool following; /* … and it is done; else one looks on one's own */
    bool asks;      /* whoever presents is unknown: nothing is read before the answer */
    bool moved;     /* a step was run; for the caller to take back */
    char name[48], who[80];
    uid_t owner; /* whose lines were asked about, or had no need of it */
    ClassReader room;
    Commands commands; /* the session's own: a follower runs nothing of the screen */
    char caption[1200];
    Player player; /* of the lesson that is presented, while `playing`: worked examples are on show by it */
    bool playing;
    EditHistory history; /* of the reader's own changes, meanwhile */
    Buf lesson;          /* "FILE SEED DIGEST" of it */
    Rollcall question;
    char receipt[64];  /* of the last answer; "" = none */
    bool terminal;     /* … which was this terminal's, not the account's */
    char trouble[300]; /* why what is on show is not the presenter's; "" = it is */
    bool lacks;        /* … a model or picture that did not come */
    int lent;          /* the picture that came last, in memory; 0: none */
    char file[40];     /* … as a file */
    const char *model; /* what -m named, or NULL, … */
    uint64_t own;      /* … and its digest */
    Buf said, asked;   /* what follow_say said last of the place and of the question */
} Follow;

/* model: what -m named, or NULL. Nothing is read yet. */
bool follow_open(Follow *f, const char *name, const char *model, Err *err);
void follow_close(Follow *f, Session *s);
/* Once a round. True when the frame changed. Takes lines for a twentieth of a second at most: */
bool follow_step(Follow *f, Session *s, int64_t now);
bool follow_behind(const Follow *f); /* … others wait for the next round, which should come at once */
/* `join NAME`; off: leaves; "": on one's own, and back to where the presenter is, which closes the reader's own lesson.
 */
bool follow_join(Follow *f, Session *s, Desk *own, const char *name, const char *model, Err *err);
/* The reader's answer while `asks`: true where the word is one. */
bool follow_answers(Follow *f, Session *s, const char *word);
/* The reader opens a lesson: on one's own, the presenter's is closed here until the next card comes. */
void follow_leave(Follow *f);
/* A vote for the open question, and what is said of it: whose vote it was, the receipt. */
bool follow_vote(Follow *f, Session *s, int digit, Err *err);
void follow_receipt(const Follow *f, Buf *out);
/* For as long as it lasts: whether somebody is followed, and how to leave and come back, in a header of that width. */
void follow_header(const Follow *f, int width, Buf *out);
/* One line: who is followed, or why not. */
void follow_line(const Follow *f, Buf *out);
/* follow_step line by line: appends what is to be said; true where the place is another one too. */
bool follow_say(Follow *f, Session *s, Buf *out);
#endif
