/* What a lesson draws: its card, and a worked example with the arithmetic of one of its cells. */
#ifndef VITRINE_TUI_LESSON_VIEWS_H
#define VITRINE_TUI_LESSON_VIEWS_H
#include "lessons/play.h"
#include "tui/canvas/canvas.h"

/* What is said about the card, from the desk. */
typedef struct CardSaid {
    const char *text; /* feedback, a hint; "" = none */
    bool right, wrong;
    const char *keys; /* the line at the bottom */
} CardSaid;
/* Into r with a border. Where the card is longer than r, what was said last stays in sight. */
void card_draw(Canvas *c, Rect r, const Player *p, const CardSaid *said);

/* Where the reader stands in a worked example. */
typedef struct WorkedPlace {
    NodeId node;
    size_t cell;
    int operand; /* of the arithmetic's term in focus */
    int terms;   /* how many terms are shown: −1 all (played term by term otherwise) */
} WorkedPlace;
/* At the cell that an address names, all terms shown. */
WorkedPlace worked_place(const Example *e, const Address *to);
/* Computes nothing that is not there: run_step was asked for by worked_needs. */
void worked_draw(Canvas *c, Rect r, const Example *e, const WorkedPlace *at);
/* The same as text, appended: what is shown, its formula, the table, the arithmetic of its cell; no frames. c: a canvas
 * to lay it out on. */
void worked_text(const Example *e, const WorkedPlace *at, Canvas *c, Buf *out);
/* Everything the drawing reads. */
void worked_needs(const Example *e, const WorkedPlace *at);
/* Cursor by one row or column; false at the edge. */
bool worked_move(const Example *e, WorkedPlace *at, int rows, int columns);
/* To the operand of the largest term, or another node of the example. */
bool worked_in(const Example *e, WorkedPlace *at);
void worked_node(const Example *e, WorkedPlace *at, int by);
/* Terms of the cell's arithmetic. */
int worked_terms(const Example *e, const WorkedPlace *at);
#endif
