#include "tui/aside.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/state.h"

char *aside_lines(const Session *s)
{
    Buf text = {0};
    session_write(s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &text);
    char *lines = xstrdup(buf_str(&text));
    buf_free(&text);
    return lines;
}

void aside_put(Aside *a, Session *s)
{
    a->lines = aside_lines(s);
    a->edits = s->edits.count;
    a->history = edits_history_take(s);
    memcpy(a->back, s->back, sizeof a->back);
    a->back_count = s->back_count;
}

bool aside_return(Aside *a, Session *s, Err *err)
{
    Commands commands = session_command_set();
    bool ok = !a->lines || session_read(s, &commands, a->lines, LINE_REPLAY, err);
    if (ok && a->lines) {
        memcpy(s->back, a->back, sizeof s->back);
        s->back_count = a->back_count;
    }
    commands_free(&commands);
    aside_drop(a, s);
    return ok;
}

bool aside_back(Aside *a, Session *s)
{
    Err err;
    bool ok = aside_return(a, s, &err);
    if (!ok)
        session_say(s, "%s", err.text);
    return ok;
}

void aside_drop(Aside *a, Session *s)
{
    edits_history_put(s, &a->history);
    aside_free(a);
}

void aside_free(Aside *a)
{
    free(a->lines);
    edits_history_free(&a->history);
    *a = (Aside){.lines = NULL};
}
