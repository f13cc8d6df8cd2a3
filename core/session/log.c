#include "core/session/log.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/state.h"

struct CommandLog {
    LogEntry entry[LOG_MOST]; /* a ring */
    int first, count, held;
    void (*follow)(void *context, const LogEntry *entry);
    void *context;
};

static CommandLog *log_of(Session *s)
{
    if (!s->log)
        s->log = xcalloc(1, sizeof *s->log);
    return s->log;
}

int log_count(const Session *s)
{
    return s->log ? s->log->count : 0;
}

const LogEntry *log_at(const Session *s, int i)
{
    return &s->log->entry[(s->log->first + i) % LOG_MOST];
}

void log_follow(Session *s, void (*fn)(void *context, const LogEntry *entry), void *context)
{
    log_of(s)->follow = fn;
    log_of(s)->context = context;
}

static void entry_free(LogEntry *e)
{
    free(e->typed);
    free(e->resolved);
    *e = (LogEntry){0};
}

void log_free(Session *s)
{
    for (int i = 0; s->log && i < LOG_MOST; i++)
        entry_free(&s->log->entry[i]);
    free(s->log);
    s->log = NULL;
}

void log_hold(Session *s, bool hold)
{
    log_of(s)->held += hold ? 1 : -1;
}

LogMark log_mark(const Session *s)
{
    return s->log && s->log->held ? NULL : state_shot(s);
}

static void add(CommandLog *log, const char *typed, const char *resolved)
{
    int at = (log->first + log->count) % LOG_MOST;
    if (log->count == LOG_MOST)
        log->first = (log->first + 1) % LOG_MOST;
    else
        log->count++;
    LogEntry *e = &log->entry[at];
    entry_free(e);
    *e = (LogEntry){xstrdup(typed), xstrdup(resolved)};
    if (log->follow)
        log->follow(log->context, e);
}

void log_changes(Session *s, LogMark *mark, const char *typed, bool ok)
{
    if (!*mark)
        return;
    StateShot *now = state_shot(s);
    Buf lines = {0};
    state_between(s, *mark, now, &lines);
    typed += strspn(typed, " \t");
    if (lines.len || (ok && *typed))
        add(log_of(s), typed, buf_str(&lines));
    buf_free(&lines);
    state_shot_free(now);
    state_shot_free(*mark);
    *mark = NULL;
}
