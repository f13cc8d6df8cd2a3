#include "tui/aside.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/state.h"

void aside_put(Aside *a, Session *s)
{
    Buf text = {0};
    session_write(s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &text);
    a->lines = xstrdup(buf_str(&text));
    a->history = edits_history_take(s);
    buf_free(&text);
}

bool aside_back(Aside *a, Session *s)
{
    Commands commands = session_command_set();
    Err err;
    bool ok = !a->lines || session_read(s, &commands, a->lines, LINE_REPLAY, &err);
    if (!ok)
        session_say(s, "%s", err.text);
    commands_free(&commands);
    aside_drop(a, s);
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
