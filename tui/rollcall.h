/* A question to everybody: predict first, then see. Answers are counted as they come; how they are spread is shown only
 * when the question is closed, and only then which one is right, where that is known. */
#ifndef VITRINE_TUI_ROLLCALL_H
#define VITRINE_TUI_ROLLCALL_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/session/ask/quiz.h"
#include "tui/canvas/canvas.h"

/* What is settled by: of #17 head 1 looks 7.7 pixels away on the average, the others 11.6 and more. */
#define ROLLCALL_EXAMPLE "ask \"Which head looks least far?\" 0 1 2 3 least=blocks.0.attn.probe.distance[h=$]"

enum {
    ROLLCALL_VOTES = 100000,
    ROLLCALL_MADE = 0x7fffffff /* the largest seed of a question made from a trace; that of words is larger */
};

typedef struct Rollcall {
    bool open, closed;        /* closed: the answers are shown */
    uint32_t seed;            /* of the question: what it was made from, or of its words */
    Quiz quiz;                /* right: −1: not known */
    int votes[QUIZ_ANSWERS];  /* that followers gave */
    int raised[QUIZ_ANSWERS]; /* hands that somebody counted */
    int mine;                 /* −1: none given */
    SettleBy by;              /* what settles it when it is closed, at the presenter's … */
    char key[QUIZ_TEXT];      /* … and the expression */
    bool valued;              /* it was settled by a value of each answer: */
    double value[QUIZ_ANSWERS];
    char note[160]; /* beside the result: who has many of the votes; "" = none */
} Rollcall;

/* seed 0: that of its words. False: what is wrong with them. */
bool rollcall_ask(Rollcall *r, const char *text, const char *const *answer, int count, uint32_t seed, Err *err);
uint32_t rollcall_seed(const char *text, const char *const *answer, int count);
/* Computes which answer is right, where it has a key. False, and not settled, where that cannot be had. */
bool rollcall_settle(Rollcall *r, Session *s, Err *err);
/* All answers, both kinds. */
int rollcall_total(const Rollcall *r);

/* The answer that a digit stands for, or −1: answers that are digits themselves, such as heads, are called so, others
 * are counted from 1. */
int rollcall_choice(const Rollcall *r, int digit);
/* "3", "2. yes": the answer as it is called. */
const char *rollcall_name(const Rollcall *r, int i, char out[QUIZ_ANSWER + 16]);

/* As one line of the class, with its counts; reading checks everything and leaves r as it was where something is wrong.
 */
void rollcall_put(const Rollcall *r, Buf *out);
bool rollcall_read(Rollcall *r, const char *text);

/* A box over the lower part of the screen. below: one more text in it, or "". */
void rollcall_draw(const Rollcall *r, Canvas *c, const char *below);
#endif
