/* What every verb has in common: a session opened as the options say, progress on a terminal, Ctrl-C, and where the
 * result goes. */
#ifndef VITRINE_TUI_CLI_WORK_H
#define VITRINE_TUI_CLI_WORK_H
#include <stdint.h>

#include "core/base/clock.h"
#include "core/session/command.h"
#include "tui/app.h"
#include "tui/cli/link.h"
#include "tui/cli/options.h"

/* A line on standard error while something takes longer than half a second. From work_begin to work_close a request to
 * end makes the work stop (stop.h); the program then ends as the signal does. */
typedef struct Progress {
    int64_t began, drawn; /* clock_ns; drawn 0: nothing is on the line */
    Pace pace;
    bool terminal; /* standard error is one */
    char what[61]; /* is being done */
} Progress;

typedef struct Work {
    const Options *options;
    Link link;           /* the words after the verb */
    const char *address; /* what is asked about: the address among the words, else --at, else "" (the focus) */
    Commands commands;
    Overlay overlay; /* what commands of the screen opened */
    Ui ui;
    Session session;
    Progress progress;
    Buf out;      /* the answer in text or JSON; made harmless and written by work_deliver */
    Buf drawn;    /* cells of a canvas as a terminal or a file wants them; written after it as it is */
    bool written; /* the result went to where -o says: out, if anything, is a report on it */
} Work;

/* Opens model and input, goes to --at, else to the address (where it exists before the edits do), runs the link's edits
 * and -c. allowed: flags of the commands that may be used. False: work_close all the same. */
bool work_open(Work *w, unsigned allowed, Err *err);
/* The part of work_open that a verb without a session needs: signals are held back, and the time of the progress line
 * begins. */
void work_begin(Work *w);
/* Draws the progress line if it is time; share 0 … 1. False: a signal waits, so stop. */
bool work_progress(Work *w, const char *what, double share);
/* Completes the forward pass of what is on show and of what it is compared with. */
bool work_complete(Work *w, Err *err);
/* out to -o, else (and if it is a report) to standard output, whole or with an error. */
bool work_deliver(Work *w, Err *err);
/* Writes what out holds to standard output at once and empties it: of a verb that answers as it goes. False: it was
 * stopped, or nobody reads there (*err stays empty), or with err. */
bool work_print(Work *w, Err *err);
/* done: what was asked for is there, so a request to end that came has come too late. */
void work_close(Work *w, bool done);
/* Takes the progress line away and says it at once: what must be said before work_close lets a signal end the
 * program. */
void work_complain(Work *w, const char *text);

/* The changes in force: "with LINE", a line each, or nothing; as JSON a list under "changes". */
void work_put_changes(const Work *w, Buf *out);
void work_json_changes(const Work *w, Buf *out);
/* "nan": where NaN begins in the pass on show; nothing where all are numbers. */
void work_json_nan(const Session *s, Buf *out);
/* Says that --memory was too little and how much is enough, where `needed` bytes were held at once; 0: it was not. */
void work_say_memory(Work *w, size_t needed);
/* How many bytes of values may be kept (--memory). */
size_t work_memory(const Work *w);
/* Is the result to go to standard output? */
bool work_to_stdout(const Work *w);
/* The cell that is asked about: the address; without one the place that -c led to, else the logit of the class that
 * comes first. A group of nodes is an error. */
bool work_cell(Work *w, char path[SESSION_PATH], size_t *cell, Err *err);
#endif
