/* Plays a script on a session: every step's commands are run, its caption is evaluated, its screen is drawn. */
#ifndef VITRINE_TUI_CLI_PLAY_H
#define VITRINE_TUI_CLI_PLAY_H
#include "tui/cli/script.h"
#include "tui/cli/work.h"

/* Rows below the screen that a cast keeps for captions. */
enum { CAST_CAPTION_ROWS = 4 };

/* The command line that the program was given, word by word. */
void play_given(const Work *w, Buf *out);

/* `screen --script`: every step as a file NAME-01.SUFFIX …, with its caption and the command that makes it below, or
 * all of them on standard output; or, where the suffix is cast, one asciicast (v2) of all. */
bool play_export(Work *w, const Script *s, unsigned allowed, Err *err);
/* The cast alone: the file's bytes into out. The clock is virtual, so that they are the same each time. */
bool play_cast(Work *w, const Script *s, unsigned allowed, Buf *out, Err *err);
/* Text for a reader who takes lines: captions, notes, the commands. */
bool play_plain(Work *w, const Script *s, unsigned allowed, Err *err);

#endif
