/* Parts of `vitrine plain`: what it holds, lines in and out, lessons. */
#ifndef VITRINE_TUI_CLI_PLAIN_PARTS_H
#define VITRINE_TUI_CLI_PLAIN_PARTS_H
#include "core/base/buf.h"
#include "tui/cli/verbs.h"
#include "tui/desk.h"
#include "tui/follow.h"
#include "tui/stage.h"

enum { LINE_MOST = 1000 };

/* What the screen's own commands act on here (Ui.act). */
struct App {
    Work *work;
    Buf in;        /* read and not yet a line */
    bool ended;    /* end of input */
    bool terminal; /* somebody types: a prompt, and Ctrl-C means the work only */
    bool ascii;
    Stage stage;
    Desk desk;
    Follow follow;
    bool turned; /* another card, or something was said to an answer */
    bool lost;   /* standard output takes no more: why */
    bool left;   /* for nobody reads it any longer (head), which is no fault */
    Err why;
    bool failed; /* a line was refused */
    char **list; /* commands of the list that is open; [count] */
    size_t list_cap;
    int list_count;
};
typedef struct App Plain;

/* Writes; what standard output does not take is kept in p->lost. The line: with an end, if it has none. */
void plain_put(Plain *p, const char *text);
void plain_put_line(Plain *p, const char *text);
void plain_prompt(Plain *p); /* for somebody who types */
/* The next line without its end, cleaned of what could not be typed. False at the end of input. Whoever is followed is
 * heard while it is waited for. */
bool plain_next_line(Plain *p, char line[LINE_MOST + 1]);

void plain_put_where(Plain *p); /* the place */
void plain_put_say(Plain *p);   /* what `say` says there */

/* Opens a lesson, or what `lesson close` and `lesson help` do. */
bool plain_lesson(Plain *p, const char *which, Err *err);
/* The next card or the one before, if a lesson is open and the line asks for it; what the card's commands moved to is
 * said after it. */
bool plain_turn_card(Plain *p, const char *line);
/* What was said to an answer or an act. */
void plain_put_verdict(Plain *p);
#endif
