/* What one does, written as a lesson: a card for every step, with the commands that lead to it from a model just opened
 * and the sentence of `say` as a draft of its text. */
#ifndef VITRINE_TUI_RECORD_H
#define VITRINE_TUI_RECORD_H
#include "core/session/session.h"

typedef struct Record {
    char *path; /* NULL: nothing is recorded */
    Buf cards;
    int count;
    bool due; /* something changed since the last card */
} Record;

/* Begins; FILE.md is written at every step. */
bool record_open(Record *r, Session *s, const char *path, Err *err);
/* The screen as it is now becomes a card. */
bool record_step(Record *r, Session *s, Err *err);
void record_close(Record *r);
#endif
