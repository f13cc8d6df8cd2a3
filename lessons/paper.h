/* A lesson's worked example on one page of 80 columns, for pencil and paper. */
#ifndef VITRINE_LESSONS_PAPER_H
#define VITRINE_LESSONS_PAPER_H
#include "lessons/play.h"

enum { PAPER_LINES = 64 };

/* What is given with its numbers, what is to be computed with its formula and room to write, and the answers at the
 * foot. False where the lesson has no example that fits on a page. */
bool paper_put(const Player *p, Buf *out, Err *err);
#endif
