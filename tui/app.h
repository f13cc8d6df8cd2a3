/* The loop: events become commands, the session is stepped, the frame is drawn. The only place where time matters. */
#ifndef VITRINE_TUI_APP_H
#define VITRINE_TUI_APP_H
#include "core/session/command.h"

typedef struct AppOptions {
    const char *model, *input; /* NULL: the bundled ones */
    const char *commands;      /* run first (-c), or NULL */
    const char *link;   /* commands that lead to the place to start at (goto, edits), run first of all; or NULL */
    const char *hash;   /* first digits of the trace hash that a link promises (link_hash_agrees), or NULL */
    const char *lesson; /* number or name of one to open, or NULL */
    int threads;
    size_t memory;      /* bytes of values to keep at most; 0: as session_init chose */
    const char *colour; /* auto, true, 256, 8, mono; NULL = auto */
    bool ascii, no_mouse, light, fresh;
} AppOptions;

/* Exit status of the program. */
int app_main(const AppOptions *o);

/* The screen's own commands: pane zoom help prompt menu mouse term redraw restart close quit export (screens). */
CommandTable app_commands(void);
/* Where the place is remembered: text of commands, or NULL. Both are quiet on failure: nothing is lost but a
 * convenience. */
char *state_load(void);
void state_save(const Session *s);
/* First line: what was open; second line: commands that lead back. */
void state_text(const Session *s, Buf *out);
/* Another small file beside it. */
char *state_load_file(const char *name);
void state_save_file(const char *name, const char *text);
#endif
