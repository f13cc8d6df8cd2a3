/* What the line that is being run may do. A lesson, a link or a follower is somebody else's text: it opens no file,
 * reads none and writes none, whichever command or argument would. Every word of a command that becomes a file passes
 * here, and nowhere else. */
#ifndef VITRINE_SESSION_PERMIT_H
#define VITRINE_SESSION_PERMIT_H
#include "core/session/command.h"

/* The file that this word of a command names, or NULL where files are not permitted. word "-" (standard input or
 * output) counts as one. */
const char *permit_file(const Session *s, const char *word, Err *err);
/* Lends a file under the name of another: a word that names it means `file`, and is permitted whoever says it. A
 * follower is lent the pictures that came over the wire in this way. file NULL takes the loan back. */
void permit_lend(Session *s, const char *word, const char *file);
void permit_free(Session *s);
#endif
