/* The whole state as text, and back: one writer and one reader, for the state file, the link, -c, and whoever follows.
 * It is a list of commands, one per line: pictures, edits, gradients, what is compared, every option, open boxes, and
 * the place. */
#ifndef VITRINE_SESSION_STATE_H
#define VITRINE_SESSION_STATE_H
#include "core/session/command.h"
#include "core/session/session.h"

enum {
    STATE_MODEL = 1, /* begins with the model … */
    STATE_INPUT = 2, /* …and the input; without them it is for a session that has just opened the same ones */
    STATE_TRAIL = 8, /* with the cells from which the reader came down to this one: the close-ups show them */
    STATE_WHOLE = 4  /* for a session in any state: takes away what is there, says every option and every box */
};

/* Appended to out. Without STATE_WHOLE only what differs from a session just opened, place apart. */
void session_write(const Session *s, unsigned what, Buf *out);
/* The state of a link: the address of the place, and what that alone does not say, without line ends (both appended;
 * rest may get nothing). */
void session_write_link(const Session *s, Buf *address, Buf *rest);
/* Is there such a trail? */
bool session_has_trail(const Session *s);
/* The same in parts: what `place` needs beside the address ("", " screen=row at=h:2"), and a line each of all else. */
void session_write_words(const Session *s, Buf *place, Buf *lines);
/* Runs lines (; or line ends between them) all or not at all: on failure the session is as it was. allowed as for
 * command_do. A model that a line opened is opened again from its file. */
bool session_read(Session *s, const Commands *c, const char *text, unsigned allowed, Err *err);

typedef struct StateShot StateShot;
StateShot *state_shot(const Session *s);
void state_shot_free(StateShot *shot);
/* Lines that lead from one state to the other; appended. s is in the state `to`. */
void state_between(const Session *s, const StateShot *from, const StateShot *to, Buf *out);

/* place, option */
CommandTable session_commands_state(void);

/* --- the log: what was done, as it can be done again. Whoever follows is told the lines that every command
 * comes to. Those are absolute: not "the next head" but which, not "the other way round" but how; they are found by
 * comparing the state before with the state after, so that a replay, a link or a follower that runs them stands where
 * the reader stood, whatever the command was. A command that changed nothing comes to no lines; one that failed is told
 * only if it changed something --- */

/* fn is called with the lines of every command ("set scale off\ncompare sides\n"; "" where nothing changed); NULL: no
 * more. */
void log_follow(Session *s, void (*fn)(void *context, const char *lines), void *context);

typedef StateShot *LogMark;
LogMark log_mark(const Session *s); /* the state now; NULL while held */
/* Tells what was typed since, and releases the mark. */
void log_changes(Session *s, LogMark *mark, const char *typed, bool ok);
/* While held, nothing is told: what several lines come to is one entry, of whoever holds. */
void log_hold(Session *s, bool hold);

/* A link: a command line that comes back to this very place, and nothing else. Of a drawn picture and the program's own
 * model it is one word, at most 60 characters with its command for a view with one change:
 *   vitrine '#17 1.pattern[2,r3c4,r4c3] :matrix scale=off @1cc1'
 * that is input, address in short, screen (where the address alone leads to another one), changes, and the first digits
 * of the trace hash. Other inputs and models are named by -i and -m, and their digests go with it, so that a file that
 * is another one is told from a run that is. What no word can carry (files in a change) stands behind -c. */

/* Appends it; computes nothing: without a complete pass there is no trace hash in it. */
void link_put(const Session *s, Buf *out);

/* So many hexadecimal digits of a hash stand in a link; of the trace hash fewer where nothing comes from a file. */
enum { LINK_DIGITS = 8, LINK_SHORT = 4 };
/* Of the picture as it was decoded, or of ready values: what it shows, not how it is stored. */
uint64_t link_input_digest(const Input *in);
uint64_t link_model_digest(const Session *s);
#endif
