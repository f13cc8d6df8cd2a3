/* The demonstration that is played on the screen: which script, and how far. */
#ifndef VITRINE_TUI_STAGE_H
#define VITRINE_TUI_STAGE_H
#include "core/session/edit/edits.h"
#include "tui/cli/script.h"
#include "tui/overlay.h"

typedef struct Stage {
    bool open;
    Script script;
    int at;    /* the step that is shown; -1 before the first */
    bool due;  /* its commands are still to be run */
    bool kept; /* are these what that step led to? */
    EditState edits;
    EditHistory history;
    char *input;
} Stage;

/* A word of `demo`: a number or name opens one, next goes on, close ends it, notes is what the speaker says, "" lists
 * them. Text for the reader is appended to said. */
bool stage_do(Stage *t, Overlay *o, const char *word, Buf *said, Err *err);
/* Runs what is due and puts the step's caption into s->said. */
bool stage_run(Stage *t, Session *s, const Commands *c, Err *err);
void stage_close(Stage *t);
#endif
