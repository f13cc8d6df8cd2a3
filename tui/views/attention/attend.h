/* What the attention views read: one head of a node that has a token that asks (t) and a token looked at (u): raw,
 * scaled and masked scores, the steps of softmax, the pattern; or the mean pattern of a block's heads. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_ATTEND_H
#define VITRINE_TUI_VIEWS_ATTENTION_ATTEND_H
#include "tui/views/lattice.h"
#include "tui/views/shown.h"

typedef struct Attend {
    Shown v;
    char path[SESSION_PATH];
    const Axis *t_axis, *u_axis;
    const Axis *t_of_a, *u_of_a; /* of A − B: A's, whose words may be others; else NULL */
    Lattice t, u;
    int heads, head; /* 1 and 0 where the node has no heads */
    int at_t, at_u;  /* the data cursor */
    size_t base;     /* cell of head 0, t = 0, u = 0 */
    size_t h_step, t_step, u_step;
    bool pattern;  /* a pattern of one head: a row's probes say its sum, entropy and largest weight */
    bool in_share; /* its numbers are written as shares; A − B of them, of sums of heads too, in points */
    float whole;   /* what the shares of a row come to: 1, of the sum of heads how many they are; 0: no shares */
    Shown masked;  /* of shares: scores before the softmax, −∞ where a token may not be looked at; or none */
    bool placed;   /* colours of its row are for those tokens that have a place on the map alone */
    int seen;      /* how many the row in focus may look at: of those it has its rank, uniform share, highest entropy */
} Attend;

/* The node on show in a block (−1: the focused one, or block 0): the focus where it has t and u, else the pattern.
 * False, out empty, where the model has no attention. */
bool attend_path(const Session *s, Side side, int block, char out[SESSION_PATH]);
/* Of the mean or the sum over the heads, where that is on show; NULL: the focus. */
const char *attend_cursor(const Session *s, Side side);
/* Path of what the focused attention says about itself, or NULL. */
const char *attend_probe(const Session *s, Side side, Site site);
/* False when that side has no such node, or it is no attention. Values may be missing still. */
bool attend_open(const Session *s, Side side, int block, Attend *out);
/* Is that head switched off on this side? Its pattern stays, only what it gathered counts as 0: so a view must say it.
 */
bool attend_off(const Session *s, const Attend *a, int head);
/* What draw needs of the focused block. probes: the row's figures too. */
void attend_needs(const Session *s, Side side, bool probes, Needs *out);
/* The same for drawing into r; says there what is absent or not computed yet and returns false. */
bool attend_ready(const Paint *p, Rect r, Side side, Attend *out);
/* A mask says who is looked at at all: 1 and 0, given before any score. */
bool attend_is_mask(const Attend *a);
size_t attend_cell(const Attend *a, int head, int t, int u);
/* The token of the row in focus whose weight, or change, is the largest by size; −1: there are no values. */
int attend_largest(const Attend *a, int head);
/* May the row in focus not look at token u? Of scores themselves, and of a difference, nobody is masked. */
bool attend_masked(const Attend *a, int u);
bool attend_masked_at(const Attend *a, int t, int u); /* … row t? */
/* A tile of the matrix; ref is the cell whose value it is, or none for a mean over several. */
float attend_tile(const Attend *a, int head, Tiling tiling, int tile_t, int tile_u, PoolKind kind, Ref *ref);
/* The same with tiles of their own for those that ask and those that are looked at. */
float attend_tiles(const Attend *a, int head, Tiling rows, Tiling cols, int tile_t, int tile_u, PoolKind kind,
                   Ref *ref);
/* Of the row of the token in focus, looking at the patches of rows [row, row_end), columns [col, col_end). */
float attend_row_patches(const Attend *a, int head, int row, int row_end, int col, int col_end, PoolKind kind,
                         Ref *ref);
/* A weight of row t, for drawing it over the lattice. */
typedef struct AttendRow {
    const Attend *a;
    int head;
} AttendRow;
float attend_row_value(const void *attend_row, int row, int col, Ref *ref); /* a HeatFn */
/* Colours for one row of the head (rows = false: for its whole matrix). Side by side A and B have one scale each, or
 * share one: LookAt.range. */
ColourScale attend_scale(const Paint *p, const Attend *a, bool one_row);
/* One for the row in focus in all heads, wherever they stand beside or below each other. */
ColourScale attend_heads_scale(const Paint *p, const Attend *a);
/* Is token u of those that are looked at the one that asks? */
bool attend_asks(const Attend *a, int u);
/* Where token u stands on a map of what is looked at: its patch, or its place in the one row of what has no picture.
 * False for a token without a place (cls, registers). */
bool attend_place(const Attend *a, int u, int *row, int *col);
/* Are those looked at in one row, without a picture, as words are? */
bool attend_listed(const Attend *a);
/* "pattern[h=2,t=r3c4,u=r4c3] = 0.212   rank 3 of 65   row sum 1": words go before digits do. */
void attend_value_line(const Paint *p, const Attend *a, int y, int x, int width);
/* The number alone, "1.73 points" of a difference of shares; returns the columns used. */
int attend_value(const Paint *p, const Attend *a, int y, int x, int width);
/* shown_number of a row's sum: "1.000" whether it is 1 or rounded to it. */
int attend_sum(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style);
/* "looked r4c3", or "in" when the cursor is there already; true. */
bool attend_click(const Attend *a, int u, Buf *command);
/* "pattern[h=2,t=r3c4,u]": which of h and t are fixed depends on what is drawn. */
void attend_title(const Session *s, Side side, bool one_head, bool one_row, const char *what, Buf *out);
#endif
