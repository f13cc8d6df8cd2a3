/* Is a lesson true, and can it be played? Every card is entered, every number of its prose evaluated, every question
 * answered by its own solution and by each of its wrong answers. */
#ifndef VITRINE_LESSONS_CHECK_H
#define VITRINE_LESSONS_CHECK_H
#include "lessons/play.h"

typedef struct CheckCount {
    int cards, numbers, questions, answers, words_most;
    int lines_most; /* of a card at CHECK_COLUMNS */
    int faults;
} CheckCount;

enum {
    CHECK_COLUMNS = 76,
    CHECK_LINES = 19,
    CARD_WORDS = 60,
    CARDS_MOST = 12
}; /* lines and columns: a card alone on 80 × 24 */

/* Plays it; every fault becomes a line "FILE:LINE: what; remedy" of `faults`. False when there are any. */
bool lesson_check(Player *p, CheckCount *count, Buf *faults);
/* Does left relate to right as stated? *shown gets the values found. */
bool expectation_holds(const Player *p, const Expectation *e, bool *holds, Buf *shown, Err *err);
#endif
