/* Texts about the program itself, made from the tables of verbs, options, commands and keys. */
#ifndef VITRINE_TUI_CLI_HELP_H
#define VITRINE_TUI_CLI_HELP_H
#include "tui/cli/verbs.h"

#define VITRINE_VERSION "0.1.0"

void help_text(const Verb *v, Buf *out); /* of the whole program where v is NULL; at most 100 columns */
void version_text(Buf *out);
void man_text(Buf *out);                           /* vitrine(1) in roff */
void completion_text(const char *shell, Buf *out); /* bash, zsh or fish */
#endif
