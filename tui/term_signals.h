/* Leaving the terminal as it was, whatever ends or stops the process. Handlers only write a prepared string, set the
 * saved modes and raise again: nothing of curses runs in them. */
#ifndef VITRINE_TUI_TERM_SIGNALS_H
#define VITRINE_TUI_TERM_SIGNALS_H
#include <stdbool.h>
#include <termios.h>

enum { UNDO_BYTES = 4096 };
/* Installs the handlers. modes: the terminal's before anything was changed; undo: the bytes that take the screen back.
 */
void signals_arm(int fd, const struct termios *modes, const char *undo);
/* Other bytes from now on. */
void signals_undo(const char *undo);
/* Takes the screen back and restores the modes, once after each arm or resume; usable in a handler and as the fatal
 * hook. */
void signals_restore(void);
/* Handlers as they were before; nothing is written. */
void signals_disarm(void);
/* The signal that asks to end (SIGTERM, SIGINT, SIGQUIT, SIGHUP), 0 when none came. A second one ends at once. */
int signals_ending(void);
/* Ends the process by that signal's default action. Returns when none came. */
void signals_reraise(void);
/* True once after the process was stopped and continued: the terminal must be taken again, then signals_taken tells so.
 */
bool signals_resumed(void);
bool signals_resized(void); /* true once after SIGWINCH */
void signals_taken(void);
#endif
