/* Following a presenter: what comes over the wire is run as commands that may touch no file; pictures that came with
 * them are lent to the session under their names (permit.h). A reader may leave to look on their own, and come back. */
#ifndef VITRINE_TUI_FOLLOW_H
#define VITRINE_TUI_FOLLOW_H
#include <poll.h>

#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/wire/caller.h"
#include "lessons/play.h"
#include "tui/rollcall.h"

typedef struct Follow {
    bool joined;    /* there is somebody to follow */
    bool following; /* … and it is done; else one looks on one's own */
    bool applying;  /* a step is being run: what it logs is not the reader's */
    char name[48], who[48];
    Caller caller;
    Commands commands; /* the session's own: a follower runs nothing of the screen */
    char *caption;
    Player player; /* of the lesson that is presented, while `playing`: worked examples are on show by it */
    bool playing;
    EditHistory history; /* of the reader's own changes, meanwhile */
    Buf lesson;          /* as it came: name, seed, line end, text */
    Rollcall question;
    char news[200];   /* to be said once; "" = none */
    char receipt[64]; /* of the last answer; "" = none */
    char trouble[300];
    char lacks[300];         /* a model or picture that did not come, and what to do; "" = none */
    char folder[PLACE_PATH]; /* pictures that came; "" while there are none */
    char *file[16];          /* their names; the file is called by its number */
    int files;               /* that came: the next one takes the place of the oldest */
    int digested;            /* Session.models of the model whose digest is known, … */
    uint64_t digest;         /* … and it */
    const char *model;       /* what -m named, or NULL, … */
    uint64_t own;            /* … and the digest of that one */
    bool aside;              /* it was said that another model took its place */
} Follow;

/* model: what -m named, or NULL. Nothing is connected yet. */
bool follow_open(Follow *f, const char *name, const char *model, Err *err);
void follow_close(Follow *f);
int follow_poll(const Follow *f, struct pollfd *out, int most);
/* Once a round. True when the frame changed. */
bool follow_step(Follow *f, Session *s, int64_t now);
/* Back to where the presenter is; or on one's own. */
void follow_rejoin(Follow *f);
void follow_leave(Follow *f);
/* The presenter's lesson is closed here, until the next card comes. */
void follow_close_lesson(Follow *f);
/* Answer number 1 … to the open question. */
bool follow_answer(Follow *f, Session *s, int choice, Err *err);
/* One line: who is followed, or why not. */
void follow_line(const Follow *f, Buf *out);
#endif
