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
    uint32_t seed; /* what it was made from, or that of its words */
    char text[QUIZ_TEXT];
    char answer[QUIZ_ANSWERS][QUIZ_ANSWER];
    int count, right;           /* right: from 0; −1: not known, or none of them */
    char key[QUIZ_TEXT + 8];    /* what settles it, or "": */
    double value[QUIZ_ANSWERS]; /* of each answer, where … */
    bool valued;                /* … it was settled so */
} Quiz;

/* Of the attention of the run on show (B as it is edited). False where the model has none with 2 to 8 heads. */
bool quiz_make(Session *s, uint32_t seed, Quiz *out, Err *err);

/* --- a question asked on the spot, settled by an expression over the trace (number.h), its key:
 *   right=EXPRESSION   its value is the digit in front of the right answer
 *   most=EXPRESSION    $ in it stands for each answer in turn; the one with the largest value is right, …
 *   least=EXPRESSION   … with the smallest; none is where two share it
 * --- */

/* An example: of #17 head 1 looks 7.7 pixels away on the average, the others 11.6 and more. */
#define QUIZ_EXAMPLE "ask \"Which head looks least far?\" 0 1 2 3 least=blocks.0.attn.probe.distance[h=$]"
enum { QUIZ_MADE = 0x7fffffff /* the largest seed of a question made from a trace; that of words is larger */ };

bool quiz_is_key(const char *word);
/* key: "" where there is none. False, q as it was: what is wrong with the words. */
bool quiz_ask(Quiz *q, const char *text, const char *const *answer, int count, const char *key, Err *err);
uint32_t quiz_seed(const char *text, const char *const *answer, int count);
/* Computes which answer is right, where it has a key. False, q as it was, where an expression cannot be had. */
bool quiz_settle(Quiz *q, Session *s, Err *err);

/* What `ask` says: seed=N, or a question and its answers, with a key or without. The key is tried at once. */
struct Args;
bool quiz_words(Quiz *q, Session *s, const struct Args *words, Err *err);

/* The answer that a digit stands for, or −1: answers that are digits themselves, such as heads, are called so, others
 * are counted from 1. */
int quiz_choice(const Quiz *q, int digit);
/* "3", "2. yes": the answer as it is called. */
const char *quiz_name(const Quiz *q, int i, char out[QUIZ_ANSWER + 16]);

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
