/* Following a presenter line by line: what comes is said when it comes. */
#ifndef VITRINE_TUI_CLI_PLAIN_CLASS_H
#define VITRINE_TUI_CLI_PLAIN_CLASS_H
#include "core/session/command.h"
#include "tui/follow.h"

typedef struct PlainClass {
    Follow follow;
    char *caption, *line; /* what was said last: the caption; who is followed, or why not */
    Rollcall question;    /* as it was said */
} PlainClass;

/* Nothing is connected yet. model: what -m named, or NULL. */
bool plain_class_join(PlainClass *c, const char *name, const char *model, Err *err);
void plain_class_close(PlainClass *c, Session *s);
/* Once in a while: takes in what came. Appends what is to be said; true where the place is another one too. */
bool plain_class_step(PlainClass *c, Session *s, Buf *out);
/* Was what was typed the answer whether a stranger is to be followed? */
bool plain_class_said(PlainClass *c, Session *s, const char *typed);
/* Is a question open that a number answers? */
bool plain_class_asks(const PlainClass *c);
/* Answers it; says the receipt. The pass on show is complete. */
bool plain_class_answer(PlainClass *c, Session *s, int digit, Buf *out, Err *err);
#endif
