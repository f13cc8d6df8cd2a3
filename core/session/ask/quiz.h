/* A question that is made from the trace, and the answer that the trace gives: nothing is stored, the same seed and the
 * same run make the same question. */
#ifndef VITRINE_SESSION_ASK_QUIZ_H
#define VITRINE_SESSION_ASK_QUIZ_H
#include "core/session/session.h"

enum { QUIZ_ANSWERS = 8, QUIZ_TEXT = 240, QUIZ_ANSWER = 64 };

typedef struct Quiz {
    char text[QUIZ_TEXT];
    char answer[QUIZ_ANSWERS][QUIZ_ANSWER];
    int count, right; /* right: from 0 */
} Quiz;

/* Of the attention of the run on show (B as it is edited). False where the model has none with 2 to 8 heads. */
bool quiz_make(Session *s, uint32_t seed, Quiz *out, Err *err);
#endif
