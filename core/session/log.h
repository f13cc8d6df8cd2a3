/* What was done, as it can be done again: whoever follows is told the lines that every command comes to. Those are
 * absolute: not "the next head" but which, not "the other way round" but how; they are found by comparing the state
 * before with the state after, so that a replay, a link or a follower that runs them stands where the reader stood,
 * whatever the command was. A command that changed nothing comes to no lines; one that failed is told only if it
 * changed something. */
#ifndef VITRINE_SESSION_LOG_H
#define VITRINE_SESSION_LOG_H
#include "core/session/command.h"

/* fn is called with the lines of every command ("set scale off\ncompare sides\n"; "" where nothing changed); NULL: no
 * more. */
void log_follow(Session *s, void (*fn)(void *context, const char *lines), void *context);

/* --- for command.c and state.c --- */
typedef struct StateShot *LogMark;
LogMark log_mark(const Session *s); /* the state now; NULL while held */
/* Tells what was typed since, and releases the mark. */
void log_changes(Session *s, LogMark *mark, const char *typed, bool ok);
/* While held, nothing is told: what several lines come to is one entry, of whoever holds. */
void log_hold(Session *s, bool hold);
#endif
