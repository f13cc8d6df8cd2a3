/* What the speaker sees and the hall does not, on another terminal, which can drive: `vitrine notes` and what serves
 * it. A page is the file of lines (classroom.h) of a directory of the user's own; keys come by a pipe beside it. */
#ifndef VITRINE_TUI_NOTES_H
#define VITRINE_TUI_NOTES_H
#include "tui/classroom.h"
#include "tui/cli/options.h"
#include "tui/presenter.h"
#include "tui/rollcall.h"

typedef struct Prompter {
    bool wanted;    /* notes are served as soon as no other presentation of this user has them */
    int64_t tried;  /* clock_ns of the last attempt */
    char news[300]; /* why they are not, to be said once; "" = none */
    Classroom room;
    int keys;
    Buf page; /* that was written last */
} Prompter;
enum { PROMPTER_KEY = 16 }; /* bytes of a key's name in the pipe */

void prompter_close(Prompter *p);
/* Once a round: writes the page where it is another one. */
void prompter_step(Prompter *p, const Session *s, const Presenter *of, const Rollcall *question);
/* The next key that was typed there; false: none. */
bool prompter_key(Prompter *p, char key[PROMPTER_KEY]);

/* On a terminal a screen; else lines, read and written. Waits for a presentation, and for the next one. The exit
 * status of the program. */
int notes_main(const Options *o);
#endif
