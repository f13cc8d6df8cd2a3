/* Texts about the program itself, made from the tables of verbs, options, commands and keys. */
#ifndef VITRINE_TUI_CLI_HELP_H
#define VITRINE_TUI_CLI_HELP_H
#include "tui/cli/verbs.h"

#define VITRINE_VERSION "0.1.0"
enum { PAGE_HEADING = 120 };

void help_text(const Verb *v, Buf *out); /* of the whole program where v is NULL; at most 100 columns */
/* By an option's help: is it of every verb, or does the verb stand in front of a colon in it ("train, evaluate: …"), in
 * one of the parts between semicolons? */
bool option_is_common(const OptionSpec *o);
bool option_is_of(const OptionSpec *o, const Verb *v);
bool option_is_refused(const OptionSpec *o, const Verb *v); /* common, and of no use to this verb */
/* Text filled into lines of 79 columns, each after `indent` blanks; the first goes on at `column`. */
enum { HELP_COLUMNS = 79 };
void help_fill(Buf *out, const char *text, int indent, int column);
void help_fill_in(Buf *out, const char *text, int indent, int column, int width); /* … or into as many as that */
/* A name, and what it is from the column `indent` on. */
void help_entry(Buf *out, const char *name, const char *text, int indent);
void pages_list(Buf *out);  /* "models, porting …": the pages of docs/ */
void page_lesson(Buf *out); /* the first lesson that the page `lessons` shows, as it stands there */
/* The page of that name, filled for a terminal of so many columns; from the heading on that is called so, where one is
 * named. False, and nothing, where there is none. */
bool page_text(const char *name, const char *heading, int width, Buf *out);
/* The i-th heading of all pages, its page, NULL past the last one, and its text. */
const char *page_heading(int i, char text[PAGE_HEADING]);
void version_text(Buf *out, const char *source);   /* source: commit and date, or "" */
void man_text(Buf *out);                           /* vitrine(1) in roff */
void completion_text(const char *shell, Buf *out); /* bash, zsh or fish */
#endif
