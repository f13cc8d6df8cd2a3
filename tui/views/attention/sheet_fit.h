/* How large the thumbnails of a sheet of blocks × heads are, and where they stand: all of them where that can be. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_SHEET_FIT_H
#define VITRINE_TUI_VIEWS_ATTENTION_SHEET_FIT_H
#include "tui/views/attention/attend.h"
#include "tui/views/heat.h"

enum { SHEET_LABEL = 3, SHEET_NUMBER = 4, SHEET_BLOCKS_MOST = 40 }; /* columns of a block's number; of a line's most */

typedef struct Sheet {
    bool matrix;          /* a thumbnail is the matrix, else one row over the patches */
    bool listed;          /* a line of cells for each head, below each other, under one line of words */
    int wide, tall;       /* of words: columns and half lines (lines, without half blocks) each */
    int of_rows, of_cols; /* of how many values a thumbnail is made; and its drawn cells */
    int rows, cols;
    HeatSize size;      /* its size in pixels */
    int lines, columns; /* and in cells */
    bool slim;          /* without half blocks: a drawn cell is one character, higher than wide */
    bool flat;          /* … and a map its left half and its right one, in one line */
    bool nameless;      /* no number beside a block */
    int margin;         /* columns for it */
    bool touching;      /* no blank half line below one */
    int gap, apart;     /* lines and columns between thumbnails; apart 0: there is no room for any */
    int blocks, heads;
    int first_block, first_head, down, across; /* shown */
    int folds;             /* columns of blocks, side by side: more than one where all of them are shown */
    Rect r, beside, under; /* where the thumbnails go; of words that ask, and those looked at, or empty */
    int head_y, caption_y;
} Sheet;

/* The sheet of the attention that is open, in r; the focus is in that block. */
Sheet sheet_fit(const Paint *p, Rect r, const Attend *a, int block);
/* Where a shown one stands. */
Rect sheet_thumb(const Sheet *s, int block, int head);
/* Blocks below each other. */
int sheet_stacked(int blocks, int folds);
/* The first token looked at that has no place on a map of the patches, or −1. */
int sheet_placeless(const Attend *a);
/* Points of accuracy that the head is worth that is worth most; 0 where that was not measured. */
float sheet_most_lost(const Session *s);
/* One scale for all heads where the reader chose that, and one side is shown; of A − B of words one for those that are
 * shown: no number beside each says how much its colours are. False: each has its own. */
bool sheet_scale_of_heads(const Session *s);
bool sheet_scale(const Paint *p, const Attend *a, const Sheet *s, ColourScale *out);
/* Drawn cells of a head in h × w; 0 where not all heads fit. */
int sheet_detail(const Session *s, const Attend *a, int h, int w);
#endif
