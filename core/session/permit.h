/* Files that a line names. A lesson, a link or a presenter's line is somebody else's text: it reads no file and writes
 * none, whichever command or argument would (command.h says which line may what). Every word of a command that becomes
 * a file passes here, and nowhere else; what is opened is the path that is given back, never the word. */
#ifndef VITRINE_SESSION_PERMIT_H
#define VITRINE_SESSION_PERMIT_H
#include "core/session/command.h"

/* The file to read that this word of a command names, or NULL where the line or the command may read none. word "-"
 * (standard input) counts as one. */
const char *permit_read(const Session *s, const char *word, Err *err);
/* The same of a file to write; a word of a class is none. */
const char *permit_write(const Session *s, const char *word, Err *err);
/* What comes with a class is called by words that begin so, by digest, and never names a file of the reader's. */
#define PERMIT_CLASS "class:"
/* Who brings them: fn says which file such a word means, until its next call, or why none (NULL). fn NULL: nobody. */
void permit_class(Session *s, const char *(*fn)(void *context, const char *word, Err *err), void *context);
#endif
