/* A card's sentences against what is stated on it, without playing it: statements name numbers in the order of the
 * text, those said more than once by their first places too, so that two numbers exchanged are found out, and cells
 * in the order of their names; "rises from 0.2 to 0.1" and "mean 1" are not let pass; a word that compares (rises,
 * less than, most …) has an expectation with < or >, or of a largest or smallest, on its card. */
#ifndef VITRINE_LESSONS_SENTENCES_H
#define VITRINE_LESSONS_SENTENCES_H
#include "core/base/buf.h"
#include "lessons/lesson.h"

/* Every fault becomes a line "FILE:LINE: what; remedy". Returns how many. */
int sentences_check(const Lesson *l, Buf *faults);
/* The next name of a cell that an expression has from *p on, as prose has it: "animal", "head 2", "block 0"; names of
 * one kind could be taken for each other. */
bool sentences_name(const char **p, char text[40], char kind[8]);
/* The words of a text that compare, each behind a blank, as `given` takes them. */
void sentences_comparing(const char *text, Buf *out);
#endif
