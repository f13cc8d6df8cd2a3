/* Which answer of a question asked on the spot is right, by an expression over the trace (number.h):
 *   right=EXPRESSION   its value is the digit in front of the right answer
 *   most=EXPRESSION    $ in it stands for each answer in turn; the one with the largest value is right
 *   least=EXPRESSION   … with the smallest */
#ifndef VITRINE_SESSION_ASK_SETTLE_H
#define VITRINE_SESSION_ASK_SETTLE_H
#include "core/session/ask/quiz.h"

typedef enum SettleBy { SETTLE_NOT, SETTLE_RIGHT, SETTLE_MOST, SETTLE_LEAST } SettleBy;

/* "right", "most", "least"; SETTLE_NOT for another word. */
SettleBy settle_word(const char *word);
/* Computes what is missing. right=: *right is that digit, whatever the answers are. most=, least=: the answer's index,
 * −1 where two share the largest (smallest) value, and value[of->count]. False, with both as they were, where an
 * expression cannot be had. */
bool settle(Session *s, SettleBy by, const char *expression, const Quiz *of, int *right, double *value, Err *err);
#endif
