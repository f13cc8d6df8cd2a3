/* Text for a reader that takes lines. */
#ifndef VITRINE_TUI_CLI_PLAIN_H
#define VITRINE_TUI_CLI_PLAIN_H
#include <stdbool.h>

#include "core/base/buf.h"

/* text, appended to out, without anything that a terminal would obey; line ends stay. ascii: typographic characters in
 * their plain form. */
void plain_text(const char *text, bool ascii, Buf *out);
#endif
