/* A card's sentences against what is expected on it, without playing it: expectations stand in the order of the numbers
 * in the text, so that two numbers exchanged are found out; "rises from 0.2 to 0.1" and "mean 1" are not let pass; a
 * word that compares (rises, less than, most …) has an expectation with < or >, or of a largest or smallest, on its
 * card. */
#ifndef VITRINE_LESSONS_SENTENCES_H
#define VITRINE_LESSONS_SENTENCES_H
#include "core/base/buf.h"
#include "lessons/lesson.h"

/* Every fault becomes a line "FILE:LINE: what; remedy". Returns how many. */
int sentences_check(const Lesson *l, Buf *faults);
/* The words of a text that compare, each behind a blank, as `given` takes them. */
void sentences_comparing(const char *text, Buf *out);
#endif
