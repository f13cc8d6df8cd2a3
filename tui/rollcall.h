/* A question to everybody: predict first, then see. Answers are counted as they come; how they are spread is shown only
 * when the question is closed, and only then which one is right, where that is known. */
#ifndef VITRINE_TUI_ROLLCALL_H
#define VITRINE_TUI_ROLLCALL_H
#include <stdbool.h>

#include "core/base/buf.h"
#include "core/session/ask/quiz.h"
#include "tui/canvas/canvas.h"

enum { ROLLCALL_VOTES = 100000 };

typedef struct Rollcall {
    bool open, closed; /* closed: the answers are shown */
    Quiz quiz;
    int votes[QUIZ_ANSWERS];  /* that followers gave, and … */
    int raised[QUIZ_ANSWERS]; /* … hands that somebody counted */
    int mine;                 /* −1: none given */
    char note[160];           /* beside the result: who has many of the votes; "" = none */
} Rollcall;

/* All answers, both kinds. */
int rollcall_total(const Rollcall *r);

/* As one line of the class, with its counts; reading checks everything and leaves r as it was where something is wrong.
 */
void rollcall_put(const Rollcall *r, Buf *out);
bool rollcall_read(Rollcall *r, const char *text);

/* Rows of its box, 0: there is none. below: one more text in it, or "". */
int rollcall_rows(const Rollcall *r, const Canvas *c, const char *below);
/* Draws it, so many rows above the lower border of the screen. */
void rollcall_draw(const Rollcall *r, Canvas *c, const char *below, int above);
#endif
