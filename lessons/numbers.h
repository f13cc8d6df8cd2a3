/* The numbers of a lesson's texts, without playing it: every one, in digits or as a word, stands in an expectation of
 * its card, is quoted with its source, or given by the text itself; and nothing is expected, quoted or given that
 * stands nowhere. Together with expectations that hold it follows that a number changed anywhere is found out. */
#ifndef VITRINE_LESSONS_NUMBERS_H
#define VITRINE_LESSONS_NUMBERS_H
#include "core/base/buf.h"
#include "lessons/lesson.h"

/* Every fault becomes a line "FILE:LINE: what; remedy". Returns how many. */
int numbers_check(const Lesson *l, Buf *faults);
/* The numbers of a card's texts as they stand, each behind a blank: " 3 0.14 four"; of card −1 those of what is said of
 * the lesson as a whole. */
void numbers_of(const Lesson *l, int card, Buf *out);
/* Is all of the text one number as it is printed? */
bool number_literal(const char *text, double *x, double *half);
#endif
