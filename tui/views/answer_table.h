/* What an answer's lines are made of: the classes' probabilities and logits, of one side or of A and B, the widths of
 * the columns that a pane of so many cells has room for, and the scales of the bars. */
#ifndef VITRINE_TUI_VIEWS_ANSWER_TABLE_H
#define VITRINE_TUI_VIEWS_ANSWER_TABLE_H
#include "tui/views/classes.h"

enum { FULL_CELLS = 8, NUMBER_SMALL = 7 }; /* of what a full bar stands for; of a number where the way needs the room */

typedef struct AnswerColumns {
    int name, bar, p, logit_bar, logit, a, b, change; /* widths; 0 = not shown */
} AnswerColumns;

typedef struct AnswerTable {
    Shown shown, logits, a, b, diff, of_a, of_b, of_diff; /* of_: their logits */
    bool compares, has_logits, both_logits;
    AnswerColumns columns;
    float full;           /* what a bar of full length stands for */
    int decimals;         /* of a probability in percent: among a thousand small ones more, so that they differ */
    float lowest, widest; /* the least logit or 0, and how far the largest or 0 is above it */
    bool told_below; /* is there room for what ≈ says below the classes or beside the model's note, and none in the
                           * header? */
    int pitch;       /* lines of a class: two or three where all have room for as many */
} AnswerTable;

/* Lends from the session until its next step; false: the trace has no probabilities of that side. */
bool answer_table_open(const Session *s, Side side, int width, AnswerTable *t);
/* Where a logit stands between the ends of their range, 0 … 1. */
float answer_logit_share(const AnswerTable *t, float logit);
/* Cells before the zero line of bars of so many; 0: no logit is below 0, and there is no line. */
int answer_logit_zero(const AnswerTable *t, int width);
/* Class i's bar, of `thick` lines of r, the zero line in the others. */
void answer_logit_bar(const Paint *p, const AnswerTable *t, size_t i, Rect r, int thick);
/* Above the bars: 0 at its line, and how far they go, at the end of the longest. */
void answer_logit_range(const Paint *p, const AnswerTable *t, Rect r);

/* --- of texts, below the words (answer_moved.c) --- */
enum { ANSWER_MOVED_LEAST = 3 }; /* lines: fewer draw nothing */
/* Behind which tokens A and B differ most, and what each names there: how many lines that fills, its header among them;
 * 0 where they have no rows for tokens, or are too narrow. */
int answer_moved_lines(const AnswerTable *t, int width);
void answer_moved_draw(const Paint *p, const AnswerTable *t, Rect r);
/* The command of a click on such a row. */
bool answer_moved_click(const Paint *p, const AnswerTable *t, Rect r, int y, Buf *command);
#endif
