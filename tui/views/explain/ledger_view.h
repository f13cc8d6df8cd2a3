/* A ledger as it is drawn: the river, the table, and which patches (or words) spoke, painted in votes. */
#ifndef VITRINE_TUI_VIEWS_EXPLAIN_LEDGER_VIEW_H
#define VITRINE_TUI_VIEWS_EXPLAIN_LEDGER_VIEW_H
#include "core/session/ask/ledgers.h"
#include "tui/views/shown.h"

enum { ROWS_MOST = 128, LEDGER_WIDE = 8, WORDS_WIDE = 22, WORDS_GAP = 2 };

typedef struct LedgerView {
    const Session *s;
    Side side;
    const Graph *g;
    const Ledger *l;
    const Ledger *less; /* of A − B: A's, of the same heads and MLPs; what stands is A's number less B's. Else NULL */
    bool measured;      /* is what taking a part out does measured of this side? */
    bool several;       /* rows are attentions of a stack among others */
    bool twins;         /* A and B are compared, of the same heads and MLPs */
    bool words;         /* tokens are words, not patches */
    bool elsewhere;     /* of A − B: votes that neither A nor B has room for are looked at elsewhere */
    int attention;      /* part of g in focus */
    int row, rows;      /* of attentions in the order of the model: in focus, how many */
    int part[ROWS_MOST];
    int head, heads;
    const LedgerEntry *mlp; /* in focus instead of a head; or NULL */
} LedgerView;

LedgerView ledger_view(const Session *s, Side side);
/* Path of a node of the ledger; NULL for NO_NODE. */
const char *ledger_view_path(const LedgerView *v, NodeId n);
/* A value of such a node, of A − B A's less B's: false while it is not computed. */
bool ledger_view_value(const LedgerView *v, NodeId n, size_t cell, float *x);
/* Of A − B, where one side wrote nothing at all: ", 0 in B: out". Else "". */
const char *ledger_view_out(const LedgerView *v, NodeId n, size_t cell);
/* A cell of such a node, right-aligned; "…" while it is not computed. */
void ledger_put_number(const Paint *p, const LedgerView *v, NodeId n, size_t cell, int y, int x, int width,
                       Style style);
/* What the number loses without that line; nothing on a side where it is not measured. */
void ledger_put_effect(const Paint *p, const LedgerView *v, const LedgerEntry *e, int head, int y, int x, int width);
/* The largest that a head or MLP wrote, of A and B that are compared in either; 0 while that is not computed. */
float ledger_most(const LedgerView *v);
/* How many rows or columns the grid of patches has; 0: there is none. */
int ledger_places(const LedgerView *v, AxisRole role);

/* The votes of all heads, or of the one in focus: on the patches, where the largest is marked, or word by word. */
void ledger_draw_votes(const Paint *p, const LedgerView *v, Rect r);
void ledger_draw_words(const Paint *p, const LedgerView *v, Rect r);
int ledger_words_lines(const LedgerView *v); /* with which no word is left out, where there is room for two columns */
/* The table of heads and MLPs, and below it what is neither; with the words, and the largest, where there is room. */
void ledger_draw_table(const Paint *p, const LedgerView *v, Rect r, bool words, bool focus);
int ledger_table_wide(const LedgerView *v, bool narrow);      /* columns with which no head is left out */
bool ledger_table_alone(const LedgerView *v, int w, int all); /* twice as many heads in `all` columns as in w? */
/* The entry of a head drawn at (y, x): its row of v->part. False where none is. */
bool ledger_table_at(const LedgerView *v, Rect r, int y, int x, int *row, int *head);

/* The river: from left to right what stands so far as its height, what each head and MLP adds above it, what it takes
 * below. Of more heads than have room the largest are drawn one by one, the others of a block together. False, with
 * nothing drawn, while values are missing or there is no room. */
bool ledger_draw_river(const Paint *p, const LedgerView *v, Rect r, bool focus);
/* The tributary whose columns x is in (ledger_tributary); −1: none. */
int ledger_river_at(const LedgerView *v, Rect r, int x);
/* The largest of them as a list. */
void ledger_draw_largest(const Paint *p, const LedgerView *v, Rect r);
#endif
