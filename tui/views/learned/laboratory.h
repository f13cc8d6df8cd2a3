/* The scale laboratory in its parts: the slider over measured accuracy, the figures of the head in focus before and
 * after, the answer, and the factor that every head has. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_LABORATORY_H
#define VITRINE_TUI_VIEWS_LEARNED_LABORATORY_H
#include "core/session/learned/measures.h"
#include "core/session/screens/laboratory.h"
#include "tui/views/shown.h"

typedef struct Laboratory {
    const Measure *measure; /* NULL while there is none */
    const char *why;        /* NULL, or why there will be none */
    int block, head, layers, heads;
    int notch;       /* nearest to where the slider stands */
    bool compares;   /* are A and B two? */
    bool everywhere; /* the slider moves every block */
} Laboratory;

Laboratory laboratory_open(const Session *s);

/* The slider with the accuracy at each of its notches above it: one line shows the notches, two their accuracies, more
 * a plot of them. */
void laboratory_curve(const Paint *p, Rect r, const Laboratory *l, bool focus);
int laboratory_notch(const Session *s, Rect r, int x); /* around that column, or -1 */

/* Figures of the row in focus and of all rows of its head. */
int laboratory_figure_lines(const Laboratory *l);
void laboratory_figures(const Paint *p, Rect r, const Laboratory *l);
void laboratory_figure_needs(const Session *s, Needs *out);
/* The node of the figure at (y, x); false where there is none. */
bool laboratory_figure_at(const Session *s, Rect r, const Laboratory *l, int y, int x, char path[SESSION_PATH]);

/* The best classes, a line for each side. */
int laboratory_answer_lines(const Laboratory *l);
void laboratory_answers(const Paint *p, Rect r, const Laboratory *l);

/* attn.scale of every head as it is now, blocks × heads under a header line. */
void laboratory_scales(const Paint *p, Rect r, const Laboratory *l);
bool laboratory_scale_at(Rect r, const Laboratory *l, int y, int x, int *block, int *head);
/* Where nothing is there to be counted: the row in focus and the answer, token by token, before and after. */
void laboratory_live(const Paint *p, Rect r, const Laboratory *l);
#endif
