#ifndef VITRINE_TUI_VIEWS_ATTENTION_MATRIX_BAND_H
#define VITRINE_TUI_VIEWS_ATTENTION_MATRIX_BAND_H
#include <stdbool.h>

/* One direction of the matrix: the strip of prefix tiles, a gap, then `count` of the lattice's tiles from `first`.
 * Lengths in cells. */
typedef struct Band {
    int start;    /* canvas row or column of the first tile */
    int per_cell; /* tiles per cell: 2 with half blocks, downwards */
    int wide;     /* columns or lines per tile where there is room; 1 where two share a cell */
    int prefix, gap, first, count;
} Band;

int band_cells(int tiles, int per_cell);
int band_length(const Band *b); /* in cells */
/* Of so many tiles; where room is short, the part around tile `here`. */
Band band_make(int start, int room, int per_cell, int prefix, int tiles, int here);
/* Cell and half (−1: the whole cell) of a shown tile; i counts the shown tiles: strip first. */
int band_cell(const Band *b, int i, int *half);
int band_tile(const Band *b, int prefix, int i);
int band_shown(const Band *b, int prefix, int tile); /* shown index of a tile, −1 outside the window */
#endif
