/* What the line that is being run may do. A lesson, a link or a follower is somebody else's text: it opens no file,
 * reads none and writes none, whichever command or argument would. Every word of a command that becomes a file passes
 * here, and nowhere else. */
#ifndef VITRINE_SESSION_PERMIT_H
#define VITRINE_SESSION_PERMIT_H
#include "core/session/command.h"

/* The file that this word of a command names, or NULL where files are not permitted. word "-" (standard input or
 * output) counts as one. */
const char *permit_file(const Session *s, const char *word, Err *err);
#endif
