/* Inside lessons only: the sentences of a card while they are held against its statements. sentences.c binds numbers,
 * sentence_names.c the names of what they are numbers of. */
#ifndef VITRINE_LESSONS_SENTENCE_PARTS_H
#define VITRINE_LESSONS_SENTENCE_PARTS_H
#include "core/base/buf.h"
#include "lessons/lesson.h"

enum { NUMBERS_MOST = 128 };

typedef struct Said {
    size_t at;
    double x, half;
    bool stated;
} Said;

typedef struct Reading {
    const Lesson *l;
    const Card *card;
    const char *text;  /* the card's prose and its question, code and live values blanked */
    const char *named; /* the same, byte for byte, with its code */
    size_t prose;      /* bytes of it before the question, which asks and claims nothing */
    Said said[NUMBERS_MOST];
    int count;
    int *bound; /* [expect_count] which of them an expectation is about; −1: none */
    Buf *faults;
    int found;
} Reading;

void sentence_fault(Reading *r, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool part_of_word(const char *text, size_t at);
/* The number of an expectation `0.35 = EXPRESSION`, and the expression; NULL where it has none or both are. */
const char *literal_of(const Expectation *e, const char **expression);
/* Names stand where the numbers stand that are expected of them, and in their order. */
void sentence_names(Reading *r);
#endif
