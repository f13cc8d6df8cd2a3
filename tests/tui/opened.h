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
    s->look.pictures = MEASURES_ROUND; /* what is measured is drawn all the same */
}
#endif
