/* Presenting to other terminals: the notes terminal by a private socket, everybody else by one that is shared. What
 * goes out are resolved commands (log.h), never cells; who comes late is sent the whole state by the one that writes it
 * (state.h). Pictures travel with them, a model as its digest. What comes in are answers, and from the notes terminal
 * a word of `present`. */
#ifndef VITRINE_TUI_SHARE_H
#define VITRINE_TUI_SHARE_H
#include "core/wire/hub.h"
#include "core/wire/place.h"
#include "tui/presenter.h"
#include "tui/rollcall.h"

typedef struct Shared { /* a file that the state speaks of */
    char *word;
    Buf bytes;    /* word, line end, contents */
    bool refused; /* too large, or not there: said once */
} Shared;

enum { SHARE_VOTERS = 1024 };

/* The lesson that is open: its cards go out by number, since a follower has their worked examples only by playing them.
 */
typedef struct ShareLesson {
    const Player *player; /* NULL: none */
    uint64_t seed;
    int card; /* −1: none of them is on show */
} ShareLesson;

typedef struct Share {
    Hub *hub; /* NULL: nothing is shared */
    char notes[PLACE_PATH], directory[PLACE_PATH], path[PLACE_PATH], name[48];
    Shared *files;
    int file_count;
    size_t file_cap;
    struct {
        uint64_t person;
        int choice;
    } voted[SHARE_VOTERS]; /* who answered the open question, and what; who comes back is the same one */
    int votes;
    char *caption, *noted, *stood; /* what was sent last */
    Buf drive;                     /* commands that the notes terminal sent, a line each, to be run */
    const Session *s;
    const Presenter *presenter;
    Rollcall *question;
    ShareLesson lesson; /* set before share_step */
    char *lesson_sent;  /* which one everybody has: its name and seed; NULL: none */
    int moves_sent;     /* Player.moves of the card that was sent last; 0: no card is on show there */
    Buf entries;        /* what commands came to since the last round */
    int digested;       /* Session.models of the model whose digest is known, … */
    uint64_t digest;    /* … and it */
    bool changed;       /* something on the presenter's screen */
    int strangers;      /* hub_strangers that were said */
    char news[160];     /* to be said once; "" = none */
} Share;

/* Opens the private socket; where another presentation of this user has it, that is an error. */
bool share_notes(Share *h, Err *err);
/* Opens the shared one. name: "" for the user's own; group: only its members may come in; or NULL. */
bool share_open(Share *h, const char *name, const char *group, Err *err);
/* Closes the shared one, or everything. */
void share_close(Share *h);
int share_poll(const Share *h, struct pollfd *out, int most);
/* Once a round: takes in, reads, writes; sends caption and notes where they are others. */
void share_step(Share *h, int64_t now);
/* What a command came to goes to everybody, with the next share_step. */
void share_entry(Share *h, const char *resolved);
/* The question was asked, answered by hands, closed or taken away. */
void share_question(Share *h);
bool share_is_open(const Share *h);
/* Commands whose words name files that must travel first: appended to nothing, only for tests: is it one? */
bool share_names_file(const char *line, char word[1024]);
#endif
