/* A terminal's description where the machine has none: what xterm and nearly every terminal since understand. The
 * program made by `make static` is carried to such machines. No curses here. */
#ifndef VITRINE_TUI_TERM_OWN_H
#define VITRINE_TUI_TERM_OWN_H
/* The colours, 8 or 256, of a terminal that TERM names and that understands it; 0: none does. */
int own_describes(const char *term);
/* As EntrySource asks: terminfo's short names. */
int own_flag(const char *name);
int own_number(const char *name);
const char *own_string(const char *name);
#endif
