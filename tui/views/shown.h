/* What a view looks at: a node of one side, its values and the data cursor in it; and the small things that every view
 * writes. */
#ifndef VITRINE_TUI_VIEWS_SHOWN_H
#define VITRINE_TUI_VIEWS_SHOWN_H
#include "tui/views/view.h"

typedef struct Shown {
    Side side;
    const Graph *graph;
    NodeId node;
    const float *values; /* NULL while not computed */
    size_t count;
    size_t cell;          /* the focused cell */
    size_t first;         /* of the node: the cell that values[0] is; 0 but for shown_answer */
    int at[SESSION_AXES]; /* the data cursor, inside every axis of this graph */
} Shown;

/* The graph whose node ids a side's Refs carry: B's for a difference. */
const Graph *shown_graph(const Session *s, Side side);
/* The picture that a side looks at: A may be a pinned one; for a difference B's. */
const Input *shown_input(const Session *s, Side side);
/* Path of a site on that side, NULL where its model has none: the first such part's, or that of the attention in block
 * `block` (session_attention). */
const char *shown_site(const Session *s, Side side, Site site);
const char *shown_attention(const Session *s, Side side, int block, Site site);
/* Is that head switched off on side B, all of what it gathers? */
bool shown_head_off(const Session *s, int block, int head);
bool shown_attention_off(const Session *s, int part, int head); /* of that attention of its graph as trained */
/* False when that side has no such node; path may be NULL. */
bool shown_open(const Session *s, Side side, const char *path, Shown *out);
/* The same tensor of the other side, where A and B stand side by side on one scale and it is computed: false of a
 * difference, and where the reader asked for own scales. */
bool shown_beside(const Session *s, const Shown *v, Shown *out);
/* Do A and B carry on texts of two lengths, and is the cursor at the end of B's? */
bool shown_ends_apart(const Session *s);
/* shown_open of the answer: where it has a row per token, the row of the token that the data cursor is at; of A the
 * last one too, where shown_ends_apart. */
bool shown_answer(const Session *s, Side side, const char *path, Shown *out);
Ref shown_ref(const Shown *v, size_t cell);

/* The vocabulary where the values are numbers of words, else NULL: what is drawn is the word, if it has a name. */
const Axis *shown_vocabulary(const Shown *v);

/* Value of a cell from x on, tagged; returns the cells used. */
int shown_number(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style);
/* With all digits that the cursor has: number_full_text. */
int shown_full(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style);
int shown_full_cells(const Shown *v, size_t cell, int width); /* of a word all of it */
/* Are the values shares, so that A − B of them is said in points? */
bool shown_is_share(const Shown *v);
/* The same right-aligned in [x, x + width); as a share in percent where there is room for that, A − B in points. */
void shown_share_right(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style);
void shown_share_to(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style, int decimals);
void shown_number_right(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style);
/* Label of the joint index of merged axes: "r3c4", or "h2e11" for several. Returns out. */
const char *shown_label(const Graph *g, Dims d, size_t joint, char *out, size_t n);
/* Cells of the widest of these labels; of a long axis only its first and last ones are looked at (named tokens are
 * there, and the largest numbers). */
int shown_widest(const Graph *g, Dims d);
/* Cells of the widest label of an axis, at least 1 and at most `most`. */
int shown_axis_widest(const Axis *a, int most);
/* Of A − B the axis of A that is dimension k of a node; NULL where that is none, or v is no difference. */
const Axis *shown_axis_of_a(const Session *s, const Shown *v, int k);
/* A label, or where A's (of_a, NULL: none) is another one both, "picture/text", in at most `width` cells: "pi…/text".
 * Returns out. */
const char *shown_pair(const Axis *of_a, const Axis *axis, int i, int width, char *out, size_t n);
/* shown_axis_widest with a few cells more for a pair that is longer. */
int shown_pairs_widest(const Axis *of_a, const Axis *a, int most);
/* "t" or "h,e" appended. */
void shown_axes(const Graph *g, Dims d, Buf *out);
/* "65×4×16". Returns out. */
const char *shown_lengths(const Graph *g, Dims d, char *out, size_t n);
/* One line for a pane that has nothing to draw yet. */
void shown_computing(const Paint *p, Rect r);
/* As canvas_text, without the clauses at its end (behind a comma or semicolon) that have no room. */
int shown_clauses(const Paint *p, int y, int x, int width, Style style, const char *text);
/* First of `total` lines to draw in `room` lines so that line `here` is seen, as near the middle as can be. */
size_t scroll_first(size_t total, size_t here, size_t room);
/* So that `also` is in sight, too, where there is room for both. */
size_t scroll_both(size_t total, size_t here, size_t also, size_t room);
/* Puts the hardware cursor at (y, x) when the pane has the focus and the place can be seen. */
void focus_cursor(const Paint *p, bool focus, int y, int x);
/* "goto ADDRESS" of a cell, or "in" when the cursor is there already. */
void click_cell(const Paint *p, const Shown *v, size_t cell, Buf *command);
#endif
