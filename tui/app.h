/* The loop: events become commands, the session is stepped, the frame is drawn. The only place where time matters. */
#ifndef VITRINE_TUI_APP_H
#define VITRINE_TUI_APP_H
#include "core/session/command.h"
#include "tui/overlay.h"
#include "tui/term.h"

typedef struct AppOptions {
    const char *model, *input; /* NULL: the bundled ones */
    const char *commands;      /* run first (-c), or NULL */
    const struct Link *link;   /* run first of all, or NULL */
    const char *at;            /* a place to start at (--at), or NULL */
    const char *lesson;        /* number or name of one to open, or NULL */
    const char *demo;          /* a ready-made script to play, or NULL */
    const char *present;       /* a lesson, script or demonstration to present, or NULL */
    const char *share, *group; /* to be shared under that name ("": the user's own), with that group alone; or NULL */
    const char *join;          /* whom to follow, or NULL */
    bool timed;                /* what is presented goes on by itself, with its pauses */
    bool rehearse;             /* print the time per step at the end */
    int threads;
    const char *resolution, *texts; /* ModelWish */
    bool assume;                    /* an architecture that is not known by name is taken for a plain ViT */
    size_t memory;                  /* bytes of values to keep at most; 0: as session_init chose */
    bool fresh;
    TermOptions terminal;
} AppOptions;

struct App;

/* Exit status of the program. */
int app_main(const AppOptions *o);

/* What the screen's own commands act on: the context of their table. */
typedef enum UiAct {
    UI_PROMPT,
    UI_OFFER, /* the prompt with a line that Enter confirms; false, err untouched, where there is no prompt */
    UI_MOUSE,
    UI_TERM,
    UI_REDRAW,
    UI_CLOSE,
    UI_EXPORT,
    UI_LESSON,
    UI_ANSWER,
    UI_HINT,
    UI_DEMO,
    UI_PRESENT,
    UI_BLANK,
    UI_SHARE,
    UI_JOIN,
    UI_ASK,
    UI_VOTES,
    UI_RECORD,
    UI_REVEAL,
    UI_MESSAGES,
    UI_WORDS /* the list of words, those on the screen first */
} UiAct;
typedef struct Ui {
    Overlay *overlay; /* where help and lists open */
    const Commands *commands;
    /* What only a terminal can: the prompt with that text, the mouse on, off or the other ("") … What there is to say
     * goes to said. NULL: there is no terminal. */
    bool (*act)(struct App *app, UiAct what, const char *text, Err *err);
    const Args *args; /* of the command that acts */
    struct App *app;
    Task task; /* the one that is on; task_free */
} Ui;

/* The screen's own commands: pane zoom help prompt menu mouse term redraw restart close quit export (screens). ui must
 * outlive the table; NULL where its commands are only listed and refused. */
CommandTable app_commands(Ui *ui);
/* Where the place is remembered: text of commands, or NULL. Both are quiet on failure: nothing is lost but a
 * convenience. */
char *state_load(void);
void state_save(const Session *s);
/* Another small file beside it. */
char *state_load_file(const char *name);
void state_save_file(const char *name, const char *text);
/* To the place that was remembered, where it was of the same model and picture; all of it or nothing. */
bool state_resume(Session *s, const Commands *c);
#endif
