/* Texts about the program itself, made from the tables of verbs, options, commands and keys. */
#ifndef VITRINE_TUI_CLI_HELP_H
#define VITRINE_TUI_CLI_HELP_H
#include "tui/cli/verbs.h"

#define VITRINE_VERSION "0.1.0"

void help_text(const Verb *v, Buf *out); /* of the whole program where v is NULL; at most 100 columns */
/* Text filled into lines of 79 columns, each after `indent` blanks; the first goes on at `column`. */
void help_fill(Buf *out, const char *text, int indent, int column);
/* A name, and what it is from the column `indent` on. */
void help_entry(Buf *out, const char *name, const char *text, int indent);
void pages_list(Buf *out); /* "models, porting …": the pages of docs/ */
/* The page of that name, filled for a terminal. False, and nothing, where there is none. */
void page_lesson(Buf *out); /* the first lesson that the page `lessons` shows, as it stands there */
bool page_text(const char *name, Buf *out);
void version_text(Buf *out, const char *source);   /* source: commit and date, or "" */
void man_text(Buf *out);                           /* vitrine(1) in roff */
void completion_text(const char *shell, Buf *out); /* bash, zsh or fish */
#endif
