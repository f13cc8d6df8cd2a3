/* A table of measurements, a line for every block or attention and a column for every head, MLP or token, each number
 * on the colour of its value. What stands there was measured and is in no trace: no cell carries a Ref. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_BLOCK_SHEET_H
#define VITRINE_TUI_VIEWS_ATTENTION_BLOCK_SHEET_H
#include "tui/views/view.h"

enum { SHEET_TEXT = 16, SHEET_NAME = 32 };

/* Of a cell: its number and its value on the scale, NaN where it has none. */
typedef struct SheetCell {
    char text[SHEET_TEXT];
    float value;
    bool strong, faint;
} SheetCell;

typedef struct BlockSheet {
    int rows, cols, row, col; /* row, col: in focus */
    int again;                /* the row above which the columns are named anew, for they mean others there; 0: none */
    int label, least, widest; /* columns of the names of rows; of a cell, at least and at most */
    int tallest;              /* lines of a cell at most; 0: three */
    ColourScale scale;
    const void *context;
    void (*cell)(const void *context, int row, int col, int wide, SheetCell *out); /* its text in so many columns */
    void (*row_name)(const void *context, int row, char out[SHEET_NAME]);
    /* for so many columns; of the rows from `row` on */
    void (*col_name)(const void *context, int row, int col, int wide, char out[SHEET_NAME]);
} BlockSheet;

/* With its line of column names into r, from its top left on; what does not fit scrolls with the cursor. Returns the
 * lines used. */
int block_sheet_draw(const Paint *p, const BlockSheet *b, Rect r, bool focus);
/* The cell at (y, x); false where none is. */
bool block_sheet_hit(const BlockSheet *b, Rect r, int y, int x, int *row, int *col);
/* Places `count` such tables, each with a line for its title, in r: side by side where cells of `comfort` columns fit,
 * else below each other where all their rows do; returns how many are placed: all of them or one, and at[] where. */
int block_sheet_place(const BlockSheet *b, Rect r, int comfort, int count, Rect *at);
/* Columns that all of it takes with cells of `wide`. */
int block_sheet_width(const BlockSheet *b, int wide);
#endif
