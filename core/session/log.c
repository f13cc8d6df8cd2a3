#include "core/session/log.h"

#include <string.h>

#include "core/session/state.h"

void log_follow(Session *s, void (*fn)(void *context, const char *lines), void *context)
{
    s->log.follow = fn;
    s->log.context = context;
}

void log_hold(Session *s, bool hold)
{
    s->log.held += hold ? 1 : -1;
}

LogMark log_mark(const Session *s)
{
    return s->log.held ? NULL : state_shot(s);
}

void log_changes(Session *s, LogMark *mark, const char *typed, bool ok)
{
    if (!*mark)
        return;
    StateShot *now = state_shot(s);
    Buf lines = {0};
    state_between(s, *mark, now, &lines);
    typed += strspn(typed, " \t");
    if (s->log.follow && (lines.len || (ok && *typed)))
        s->log.follow(s->log.context, buf_str(&lines));
    buf_free(&lines);
    state_shot_free(now);
    state_shot_free(*mark);
    *mark = NULL;
}
