/* The desk: the lesson that is open on the screen. It has the card, what was said to an answer, the worked example in
 * sight, and what the reader had before, which comes back when the lesson is closed. Holds no terminal. */
#ifndef VITRINE_TUI_DESK_H
#define VITRINE_TUI_DESK_H
#include "tui/aside.h"
#include "tui/overlay.h"
#include "tui/views/lesson/lesson_views.h"

typedef struct Desk {
    bool open;
    Player player;
    bool bundled; /* its progress is kept; of a file of the reader's none is */
    uint64_t seed;
    char then[64];  /* while a question of an earlier lesson comes back: the lesson that was asked for, else empty */
    int again;      /* its card */
    char from[64];  /* of a short lesson: the one that it was opened from */
    Buf said;       /* feedback or a hint */
    size_t hint;    /* bytes of it that are a hint, which stays while the reader tries */
    char typed[64]; /* the number that was not right, or none at all: Backspace takes it up again */
    Buf tried;      /* of a place or a change: the cell or the edits that were judged last */
    bool right, wrong;
    bool leaving; /* q was pressed before what was typed is right: once more leaves */
    bool ended;   /* behind the last card: what is said is how it went */
    bool front;   /* on a small screen: the card, not the screen behind it */
    int first;    /* the line of the card at which its page begins */
    int term;     /* of the card's words in the glossary, the one under the cursor; -1: none */
    Aside own;    /* what was there before */
} Desk;

/* Opens a lesson by number or name ("5", "dot-product"), at the card where it was left; or a file of the reader's, at
 * its first card. Before a first time the question comes back that the lesson two before it marks `again`, where it was
 * answered wrong: once, and no progress is kept of it. On failure the lesson that was open stays, unless its own model
 * or pictures can't be opened. */
bool desk_open(Desk *d, Session *s, const char *which, Err *err);
/* To its first card, unless a question of an earlier lesson stands before it; the answers stay. */
bool desk_restart(Desk *d);
/* Closes it, keeps progress, and brings back what was there before. */
void desk_close(Desk *d, Session *s);
/* A key that means something to the lesson; false: it goes on to the screen. *command gets what is to be run instead
 * ("prompt answer 3"), if anything. */
bool desk_key(Desk *d, const char *key, int width, int height, Buf *command);
/* The same for a click. */
bool desk_click(const Desk *d, int h, int w, int y, int x, Buf *command);
bool desk_answer(Desk *d, const char *typed, Err *err);
bool desk_hint(Desk *d, Err *err);
/* Something was done on the screen: is that what the card asks for? If not, what was found instead. Says whether the
 * card has something new to say. */
bool desk_done(Desk *d);

/* Where the card goes, and what is left of the screen: beside it, below it, or, on a small screen, one of them. */
void desk_layout(const Desk *d, int h, int w, Rect *card, Rect *screen);
void desk_draw(const Desk *d, Canvas *c, Rect card);

bool desk_shows_worked(const Desk *d); /* is the card about a worked example? */

/* The list: the lesson that explains what is in focus, then all, with minutes and progress. */
void desk_menu(Overlay *o, const Session *s);
void desk_add_lessons(Overlay *o); /* all of them, behind what the list has */
/* The words of the card and what they mean, and the lesson's keys. */
void desk_help(const Desk *d, Overlay *o);
/* Where each number of the card comes from: what it is the value of, to go there, or who printed it. */
void desk_numbers(const Desk *d, Overlay *o);
/* For who teaches: the card's notes, what the lesson is to contradict, the card that comes. */
void desk_notes(const Desk *d, Overlay *o);
/* "Lesson 5, Query, key, value, explains this: t." of the screen and node in focus; false where none does. */
bool desk_offer(const Session *s, Buf *out);
/* Text of the list for a shell. */
void lessons_text(Buf *out);
#endif
