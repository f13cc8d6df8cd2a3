/* Keys by name, from characters and escape sequences. No curses here. */
#ifndef VITRINE_TUI_TERM_KEYS_H
#define VITRINE_TUI_TERM_KEYS_H
#include <poll.h>

#include "core/base/buf.h"
#include "tui/term.h"

/* Keys that terminfo does not promise, as xterm and its relatives send them. */
typedef struct KeySequence {
    const char *bytes, *name;
} KeySequence;
enum { KEY_SEQUENCES = 28 };
extern const KeySequence key_sequences[KEY_SEQUENCES];

/* Fill *e and return true; a character that may not be shown gives false. */
bool key_named(TermEvent *e, const char *name);
bool key_character(TermEvent *e, uint32_t c);

/* The next character that is already there; false when there is none. */
typedef bool (*KeyReader)(void *context, uint32_t *c);
/* Reads what follows an Esc: nothing, a character, or a sequence to its end (of a string the text alone). What does not
 * fit n bytes is read and left out. */
void key_sequence(char *out, size_t n, KeyReader next, void *context);
/* What that is where it begins no key known: nothing = the key Esc, a character = "M-x"; an unknown sequence (a late
 * answer of the terminal, a key from far away) is never run, and gives false. */
bool key_escape(TermEvent *e, const char *sequence);
/* Waits up to ms for input on fd; true when the terminal behind it is gone. */
bool keys_wait(int fd, int ms);
/* The same, or until one of the others is ready (*other). */
bool keys_wait_also(int fd, int ms, const struct pollfd *others, int count, bool *other);
/* One character of pasted text. */
void key_paste(Buf *text, uint32_t c);
#endif
