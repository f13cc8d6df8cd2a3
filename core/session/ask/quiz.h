/* Questions about the trace: made from it by a seed (nothing is stored, the same seed and the same run make the same
 * question), settled by it where somebody asks one on the spot, and what an answer leaves behind. */
#ifndef VITRINE_SESSION_ASK_QUIZ_H
#define VITRINE_SESSION_ASK_QUIZ_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/session/session.h"

enum { QUIZ_ANSWERS = 8, QUIZ_TEXT = 240, QUIZ_ANSWER = 64 };

typedef struct Quiz {
    char text[QUIZ_TEXT];
    char answer[QUIZ_ANSWERS][QUIZ_ANSWER];
    int count, right; /* right: from 0 */
} Quiz;

/* Of the attention of the run on show (B as it is edited). False where the model has none with 2 to 8 heads. */
bool quiz_make(Session *s, uint32_t seed, Quiz *out, Err *err);

/* --- which answer of a question asked on the spot is right, by an expression over the trace (number.h):
 *   right=EXPRESSION   its value is the digit in front of the right answer
 *   most=EXPRESSION    $ in it stands for each answer in turn; the one with the largest value is right
 *   least=EXPRESSION   … with the smallest
 * --- */

typedef enum SettleBy { SETTLE_NOT, SETTLE_RIGHT, SETTLE_MOST, SETTLE_LEAST } SettleBy;

/* "right", "most", "least"; SETTLE_NOT for another word. */
SettleBy settle_word(const char *word);
/* Computes what is missing. right=: *right is that digit, whatever the answers are. most=, least=: the answer's index,
 * −1 where two share the largest (smallest) value, and value[of->count]. False, with both as they were, where an
 * expression cannot be had. */
bool settle(Session *s, SettleBy by, const char *expression, const Quiz *of, int *right, double *value, Err *err);

/* --- the receipt: the question's seed, the number of the answer and the trace hash of the run that it was
 * given about, with a check against slips of the pen. It proves nothing about who wrote it: it is no signature --- */

typedef struct Receipt {
    uint32_t seed;
    int answer; /* from 1 */
    uint64_t hash;
} Receipt;
enum { RECEIPT_TEXT = 64 }; /* it takes 38 characters */

/* "v1-0a1b2c3d-2-1cc1e37e9104eb92-5f0a" */
void receipt_put(const Receipt *r, char out[RECEIPT_TEXT]);
/* False with the first thing that is wrong. */
bool receipt_read(Receipt *r, const char *text, Err *err);
#endif
