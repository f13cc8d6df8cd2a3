/* How far the reader is in each lesson: a small file below $XDG_STATE_HOME, a line for each. */
#ifndef VITRINE_TUI_PROGRESS_H
#define VITRINE_TUI_PROGRESS_H
#include "lessons/play.h"

typedef struct LessonProgress {
    char name[64];
    int card, cards; /* the card it was left at; cards 0: never opened */
    uint64_t seed;
    char answers[LESSON_CARDS + 1]; /* a card each: '-' none, 's' skipped, '1' … '8' a choice, 'a' … 'h' one too, where
                                       a wrong one was given at any time; others: 'r', 'R' the same, 'w' wrong */
} LessonProgress;

/* All zero where the lesson was never opened. */
LessonProgress progress_load(const char *name);
/* Quiet on failure: nothing is lost but a convenience. */
void progress_save(const LessonProgress *p);
void progress_of(const Player *p, const char *name, uint64_t seed, LessonProgress *out);
void progress_put(const LessonProgress *from, Player *p);
/* Was a wrong answer given on that card? The record forgets it, so that one asks once. */
bool progress_take_missed(LessonProgress *p, int card);
#endif
