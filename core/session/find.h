/* `find`: steps, nodes and classes by a part of their name, one hit after the other; or cells by their value. */
#ifndef VITRINE_SESSION_FIND_H
#define VITRINE_SESSION_FIND_H
#include "core/session/command.h"

bool find_command(Session *s, const Args *a, Err *err);
void find_complete(const Session *s, int index, Buf *out);
/* Goes to what the screen calls so, a step by its label on the map, its symbol or its node, or a class: in the reader's
 * own block first, then onwards; whole names before words of them, capitals or not. label: by its label alone. False:
 * nothing is called so. */
bool find_named(Session *s, const char *text, bool label, Err *err);
/* From here on `find next` and `find prev` look for that text: it was chosen from a list. "": nothing is looked for. */
void find_begin(Session *s, const char *text);
/* How a name has that in it, capitals or not: best as a word of its own, or as the beginning of one. "": as a word. */
enum { FIND_NOT, FIND_INSIDE, FIND_START, FIND_WORD };
int find_match(const char *name, const char *text);
#endif
