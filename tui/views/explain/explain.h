/* Parts of the view that shows the arithmetic of one cell. */
#ifndef VITRINE_TUI_VIEWS_EXPLAIN_EXPLAIN_H
#define VITRINE_TUI_VIEWS_EXPLAIN_EXPLAIN_H
#include "core/session/ask/closeup.h"
#include "core/session/screens.h"
#include "tui/views/shown.h"

/* Names of cells, short enough for a column. Both return out. */
/* "scores_raw[r3c4,2,r4c3]"; axes of `letters` stay letters: "q[r3c4,2,e]". */
const char *cell_brief(const Graph *g, NodeId n, size_t cell, Dims letters, char *out, size_t size);
/* "attn.scale[h=2]": the path without the block that `from` is in too, then the address' axes. */
const char *cell_name(const Graph *g, NodeId from, NodeId n, size_t cell, char *out, size_t size);
int ref_number_cells(float value); /* with all its digits */
/* Any number with its Ref, right-aligned in [x, x + width); never cut. */
void ref_number(const Paint *p, float value, Ref ref, int y, int x, int width, Style style);

/* Does the operation add up (or compare) many cells? Then it is a table, else a list of one to three operands. */
bool explain_is_table(Op op);
/* The cursor, inside what there is. */
size_t explain_term_here(const Session *s, size_t terms);
int explain_operand_here(const Session *s, int operands);
/* Most lines that any part of the table in `height` lines can ask for. */
size_t explain_most(const Session *s, size_t terms, int height);
void explain_table(const Paint *p, const Explanation *e, Rect r, bool focus);
void explain_operands(const Paint *p, const Explanation *e, Rect r, bool focus);
/* What is at (y, x). */
bool explain_table_hit(const Paint *p, const Explanation *e, Rect r, int y, int x, size_t *term, int *operand);
bool explain_operands_hit(const Paint *p, const Explanation *e, Rect r, int y, int x, int *operand);
/* A tensor that an operation reads, and which cell of it the cursor is on. */
typedef struct LitOperand {
    NodeId node;
    size_t cell;
} LitOperand;
/* Each of them small: the rows and columns that are read for the number in focus lit (all of `along`, of any other axis
 * the cell's own), those of the cursor's cell marked. Nothing where there is no room. */
/* Returns what the last of them left free below it. */
Rect explain_lit(const Paint *p, Rect r, Side side, Dims along, const LitOperand *of, int count);
/* To the cell at (y, x) of such a map. */
bool explain_lit_click(const Paint *p, Rect r, Side side, Dims along, const LitOperand *of, int count, int y, int x,
                       Buf *command);
/* A, B and A − B of the cell in focus: the arithmetic is of one side. */
void explain_difference(const Paint *p, Rect r);
/* Title of a pane: what, and the address of the cell in focus. */
void explain_title(const char *what, const Session *s, Side side, Buf *out);
/* What all of these read: the node in focus, of a difference both sides', and the places that led to it. */
void explain_needs(const Session *s, Side side, Needs *out);
/* One line each. */
void explain_path(const Paint *p, Side side, Rect r);
void explain_sum(const Paint *p, const Explanation *e, Rect r);
void explain_stored(const Paint *p, const Explanation *e, Rect r);
void explain_double(const Paint *p, const Explanation *e, Rect r);
void explain_next(const Paint *p, const Shown *v, Rect r);
/* The node that reads this one, of the forward pass if there is any; NO_NODE: nothing does. */
NodeId explain_reader(const Graph *g, NodeId n);
/* Where the arithmetic begins: a weight, a pixel, a constant. */
void explain_leaf(const Paint *p, const Shown *v, Rect r);
/* What `worked` shows of the node in focus, as text, appended: which it is, its formula, the table, the arithmetic of
 * its cell; no frames. p->c: a canvas to lay it out on. */
void worked_text(const Paint *p, Buf *out);
/* --- of a worked example (worked.c) --- */
void worked_table(const Paint *p, const Shown *v, Rect r, bool focus); /* the tensor, a number in each cell */
const ExplainLine *worked_line(const Explanation *e, size_t term);
const char *worked_sign(Op op); /* what stands between its operands */
/* The same for a hall, in large digits; false: it doesn't fit, and nothing is drawn. */
bool worked_hall(const Paint *p, const Shown *v, Rect r);
/* --- of a close-up --- */
/* What its rows mean, below that line they, one below the other, and what they read: of the cell in focus on that side
 * (A or B). */
void closeup_rows(const Paint *p, const Closeup *c, Rect r);
void closeup_needs(const Session *s, Side side, Needs *out);
/* (closeup_term.c) */
/* Cell i of a line; of products and running sums, which are no node's, none. */
Ref closeup_ref(const Closeup *c, const CloseupLine *l, size_t i);
/* "q·k  e=5: 0.911 · 1.260 = 1.148", in numbers what the cursor is on; nothing while the step has not come so far. */
void closeup_term(const Paint *p, const Closeup *c, int y, int x, int width, bool colours); /* colours: the row's */
/* The line over the rows' columns `at`: what the cursor is on beside them, in label_w columns; above them its name,
 * that of the largest of what comes out, and as many others as have room. */
void closeup_ruler(const Paint *p, const Closeup *c, Rect at, int label_w);
/* From the lowest to the highest of a row, zero always between them; and as a text, "-1.98…1.835". */
enum { CLOSEUP_RANGE = 40 };
void closeup_range(const CloseupLine *l, double *low, double *high);
ColourScale closeup_scale(const Paint *p, const Closeup *c, const CloseupLine *l);
const char *closeup_range_text(const CloseupLine *l, char out[CLOSEUP_RANGE]);
/* Cells of a number that stands before the row's range in so many; 0: there is no room for both. */
int closeup_beside_range(const Paint *p, const CloseupLine *l, size_t index, int width);
/* Cells beside the rows with which each has its number and its range in one line, where they are not very many. */
int closeup_label_ranged(const Paint *p, const Closeup *c, int least);
/* "= a − b" as "= a−b": closer, before it is cut. */
void closeup_tighten(Buf *text);
/* Which of the values that share a bar has it: in all rows of a softmax the largest, so that a row's largest score
 * stands over its largest weight; elsewhere, where both signs count, the one farthest from 0. */
bool closeup_by_largest(const Closeup *c);
/* "1 bar = 2–3 tokens, the largest": of rows so wide; nothing where each value has its bar. */
void closeup_shared(const Closeup *c, int width, Buf *out);
/* What rows of `bars` columns mean, of which some are colours, on a line. */
void closeup_legend(const Paint *p, const Closeup *c, Rect line, int bars, bool colours);
/* What a row was made of, "= exp / row_sum", without blanks where it is not narrower than `width`. */
void closeup_formula(const Graph *g, NodeId n, int width, Buf *out);
#endif
