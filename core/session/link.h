/* A link: a command line that comes back to this very place, and nothing else. Of a drawn picture and the program's own
 * model it is one word, at most 60 characters with its command for a view with one change:
 *   vitrine '#17 1.pattern[2,r3c4,r4c3] :matrix scale=off @1cc1'
 * that is input, address in short, screen (where the address alone leads to another one), changes, and the first digits
 * of the trace hash. Other inputs and models are named by -i and -m, and their digests go with it, so that a file that
 * is another one is told from a run that is. What no word can carry (files in a change) stands behind -c. */
#ifndef VITRINE_SESSION_LINK_H
#define VITRINE_SESSION_LINK_H
#include "core/session/session.h"

/* Appends it; computes nothing: without a complete pass there is no trace hash in it. */
void link_put(const Session *s, Buf *out);

/* So many hexadecimal digits of a hash stand in a link; of the trace hash fewer where nothing comes from a file. */
enum { LINK_DIGITS = 8, LINK_SHORT = 4 };
/* Of the picture as it was decoded, or of ready values: what it shows, not how it is stored. */
uint64_t link_input_digest(const Input *in);
uint64_t link_model_digest(const Session *s);
#endif
