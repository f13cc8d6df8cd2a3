/* A session and all commands there are, as the program has them. */
#ifndef VITRINE_TESTS_TUI_OPENED_H
#define VITRINE_TESTS_TUI_OPENED_H
#include "core/session/command.h"
#include "core/session/learned/measures.h"
#include "tui/app.h"

/* The screen's own commands in front of the session's; what was in all before is freed. ui must outlive it. */
static inline void opened_commands(Commands *all, Ui *ui)
{
    Commands own = session_command_set();
    commands_free(all);
    commands_add(all, app_commands(ui));
    commands_add_all(all, &own);
    commands_free(&own);
}

/* NULL: the bundled model, its first picture. */
static inline void opened_session(Session *s, const char *model, const char *input)
{
    Err err = {{0}};
    if (!session_init(s, model, input, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

/* The same; what it measures it measures over few pictures or sentences, and draws all the same. */
static inline void opened_quick(Session *s, const char *model, const char *input)
{
    opened_session(s, model, input);
    s->look.pictures = MEASURES_ROUND;
}
#endif
