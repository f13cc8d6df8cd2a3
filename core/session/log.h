/* What was done, as it can be done again: every command is kept with the lines it comes to. Those are absolute: not
 * "the next head" but which, not "the other way round" but how; they are found by comparing the state before with the
 * state after, so that a replay, a link or a follower that runs them stands where the reader stood, whatever the
 * command was. A command that changed nothing comes to no lines; one that failed is kept only if it changed something.
 */
#ifndef VITRINE_SESSION_LOG_H
#define VITRINE_SESSION_LOG_H
#include "core/session/command.h"

typedef struct LogEntry {
    char *typed;    /* "set scale toggle" */
    char *resolved; /* "set scale off\ncompare sides\n"; "" */
} LogEntry;

enum { LOG_MOST = 4096 }; /* entries kept; older ones go */
typedef struct CommandLog CommandLog;

/* Entries that are kept, oldest first. */
int log_count(const Session *s);
const LogEntry *log_at(const Session *s, int i);
/* Called with every entry as it is made; fn NULL: no more. */
void log_follow(Session *s, void (*fn)(void *context, const LogEntry *entry), void *context);
void log_free(Session *s);

/* --- for command.c and state.c --- */
typedef struct StateShot *LogMark;
LogMark log_mark(const Session *s); /* the state now */
/* Makes the entry of what was typed since, and releases the mark. */
void log_changes(Session *s, LogMark *mark, const char *typed, bool ok);
/* While held, nothing is logged: what several lines come to is one entry, of whoever holds. */
void log_hold(Session *s, bool hold);
#endif
