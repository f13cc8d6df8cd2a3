/* A terminal description of our own, made from the one in use: ncurses 6 can show 24-bit colours only through an entry
 * that says RGB, and the entries that do are often not installed. Written in the compiled form with 32-bit numbers that
 * term(5) describes. */
#ifndef VITRINE_TUI_TERM_ENTRY_H
#define VITRINE_TUI_TERM_ENTRY_H
#include <stdbool.h>

#include "core/base/buf.h"

/* The description in use: lists of short names (ended by NULL) and how to ask for each. */
typedef struct EntrySource {
    const char *const *flag_names, *const *number_names, *const *string_names;
    int (*flag)(const char *name);           /* > 0 = set */
    int (*number)(const char *name);         /* < 0 = absent */
    const char *(*string)(const char *name); /* NULL = absent */
} EntrySource;

enum { ENTRY_256 = 256, ENTRY_TRUE = 1 << 24 };
typedef struct EntryWish {
    const char *name;
    int colours;    /* 0 = as they are, ENTRY_256, ENTRY_TRUE */
    bool sgr_mouse; /* for tmux, whose own descriptions know only the old mouse reports, which end at column 223 */
    bool no_altscreen;
} EntryWish;

/* Appends the changed description, as the environment variable TERMINFO takes it ("b64:…"). False when it does not fit
 * the format. */
bool entry_private(const EntrySource *source, const EntryWish *wish, Buf *out);
/* Appends n bytes as base64. */
void entry_base64(const void *data, size_t n, Buf *out);
/* Appends a capability (NULL: nothing) to a string of size n, without the padding $<5> in it; cut at the end. */
void entry_unpadded(char *out, size_t n, const char *capability);

/* Where the machine has none: what xterm and nearly every terminal since understand. The program made by
 * `make static` is carried to such machines. */
/* The colours, 8 or 256, of a terminal that TERM names and that understands it; 0: none does. */
int own_describes(const char *term);
/* As EntrySource asks: terminfo's short names. */
int own_flag(const char *name);
int own_number(const char *name);
const char *own_string(const char *name);
#endif
