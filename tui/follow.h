/* Following a presenter: what stands in the class (classroom.h) is run as lines of somebody else's, which touch session
 * and screen alone; pictures come as data, by digest, and are lent to the session under that word (permit.h). Nothing
 * of somebody unknown runs before the reader has said so. A reader may leave to look on their own, and come back. */
#ifndef VITRINE_TUI_FOLLOW_H
#define VITRINE_TUI_FOLLOW_H
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "lessons/play.h"
#include "tui/classroom.h"
#include "tui/rollcall.h"

typedef struct Follow {
    bool joined;    /* there is somebody to follow */
    bool following; /* … and it is done; else one looks on one's own */
    bool applying;  /* a step is being run: what it logs is not the reader's */
    bool other;     /* what stands there is another version's */
    bool asks;      /* whoever presents is unknown: nothing is read before the answer */
    char name[48], who[80];
    uid_t known; /* whose lines may run, while room.folder is open */
    ClassReader room;
    Commands commands; /* the session's own: a follower runs nothing of the screen */
    char *caption;
    Player player; /* of the lesson that is presented, while `playing`: worked examples are on show by it */
    bool playing;
    EditHistory history; /* of the reader's own changes, meanwhile */
    char *lesson;        /* as it came: "FILE" SEED [DIGEST]; NULL: none */
    Rollcall question;
    char news[200];   /* to be said once; "" = none */
    bool goes_on;     /* this round took what the one before had left: its news stay */
    char receipt[64]; /* of the last answer; "" = none */
    char trouble[300];
    char lacks[300]; /* a model or picture that did not come, and what to do; "" = none */
    int lent[16];    /* pictures that came, in memory: descriptors, 0: none; the next takes the place of the oldest */
    char *word[16];  /* … and what they are called */
    int pictures;
    int64_t again;     /* 1 + the whole state that was read once more, because a step behind it failed */
    int digested;      /* Session.models of the model whose digest is known, … */
    uint64_t digest;   /* … and it */
    const char *model; /* what -m named, or NULL, … */
    uint64_t own;      /* … and the digest of that one */
    bool aside;        /* it was said that another model took its place */
} Follow;

/* model: what -m named, or NULL. Nothing is read yet. */
bool follow_open(Follow *f, const char *name, const char *model, Err *err);
void follow_close(Follow *f, Session *s);
int follow_poll(const Follow *f, struct pollfd *out, int most);
/* Once a round. True when the frame changed. Takes lines for a twentieth of a second at most: */
bool follow_step(Follow *f, Session *s, int64_t now);
bool follow_behind(const Follow *f); /* … others wait for the next round, which should come at once */
/* Back to where the presenter is; or on one's own. */
void follow_rejoin(Follow *f);
void follow_leave(Follow *f);
/* Is anybody there? */
bool follow_live(const Follow *f);
/* The reader's answer while `asks`. */
void follow_accept(Follow *f);
/* The presenter's lesson is closed here, until the next card comes. */
void follow_close_lesson(Follow *f);
/* Answers the open question by that digit. */
bool follow_answer(Follow *f, Session *s, int digit, Err *err);
/* One line: who is followed, or why not. */
void follow_line(const Follow *f, Buf *out);
#endif
