/* Which classes or words an answer's lines are, from the first line down. */
#ifndef VITRINE_TUI_VIEWS_ANSWER_LIST_H
#define VITRINE_TUI_VIEWS_ANSWER_LIST_H
#include "tui/views/answer_table.h"

enum { LISTING_GAP_LEAST = 6 }; /* lines from which on one of them says how many are left out above it */

/* The classes drawn in `room` lines, one after the other: from the best down, where A and B are compared from what
 * changed most. Where the marked class would not be seen, the first ones, a line that says how many are left out, and
 * those that end with it; without that line where there is hardly any room. Where nothing is marked, what A and B
 * answer takes the last lines if it did not change enough to be among the first. */
typedef struct Listing {
    Ranking order;
    size_t now;            /* class of this line; the count of all: no more */
    int line, top, gap;    /* lines from the first; of the first ones; of what is left out: 0 or 1 */
    size_t resume, hidden; /* the class after the gap; classes left out */
    size_t last[2];        /* of the last `lasts` lines */
    int lasts;
} Listing;

Listing listing_open(const AnswerTable *t, int room, bool marked);
/* Is this the line of those left out? */
bool listing_gap(const Listing *l);
void listing_next(Listing *l);
/* Of many words, those that there have to be lines for: a few, those that moved by a share of what moved most that is
 * printed, what A and B answer, and the marked one. */
int listing_least(const AnswerTable *t, Ranking order, int room, bool marked);
/* … and those that there may be: what moved by less than the last digit of a percentage is not seen to. */
int listing_most(const AnswerTable *t, Ranking order);
/* Below the list: how many more there are, and a figure that none of them moved by as much as. Returns out. */
const char *listing_more(const AnswerTable *t, const Listing *l, int listed, int width, char *out, size_t n);
#endif
