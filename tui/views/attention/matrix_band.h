#ifndef VITRINE_TUI_VIEWS_ATTENTION_MATRIX_BAND_H
#define VITRINE_TUI_VIEWS_ATTENTION_MATRIX_BAND_H
#include "tui/views/lattice.h"

/* One direction of the matrix: the strip of prefix tiles, a gap, then `count` of the lattice's tiles from `first`.
 * Lengths in pixels: half lines with half blocks, else lines; columns. */
typedef struct Band {
    int start;    /* canvas row or column of the first tile */
    int per_cell; /* pixels per cell: 2 with half blocks, downwards */
    int wide;     /* of a tile of the strip; the others have at least as many */
    int pixels;   /* which the `count` tiles share as heat_first says */
    int prefix, gap, first, count;
} Band;

int band_cells(int pixels, int per_cell);
int band_length(const Band *b); /* in cells */
/* Of so many tiles in so many cells, a pixel each; where room is short, the part around tile `here`. */
Band band_make(int start, int room, int per_cell, int prefix, int tiles, int here);
/* So many pixels for each; and for all tiles together, no more than there is room for. */
void band_widen(Band *b, int wide);
void band_fill(Band *b, int room, int pixels);
/* The pixels of a shown tile, [*from, *end) from the band's start; i counts the shown tiles: strip first. */
void band_span(const Band *b, int i, int *from, int *end);
/* Its first cell; and the one to mark it in, a whole one of it where it has one. *half: −1 or the half that is its. */
int band_cell(const Band *b, int i, int *half);
int band_mark(const Band *b, int i, int *half);
int band_tile(const Band *b, int prefix, int i);
int band_shown(const Band *b, int prefix, int tile); /* shown index of a tile, −1 outside the window */
/* The finest tiling that fits into so many cells; and the finest whose tiles are all of one size. */
Tiling band_tiling(Lattice lattice, int room, int per_cell);
Tiling band_tiling_even(Lattice lattice, int room, int per_cell);
/* `fine` pixels of the canvas in each of the band's: has every token one, in `pixels` for all tiles? And for `fine` in
 * a cell which token each of them is of, −1: none; the caller frees it. */
bool band_is_fine(const Band *b, Lattice lattice, Tiling t, int pixels, int fine);
int *band_tokens(const Band *b, Lattice lattice, Tiling t, int cells, int fine);
/* The cell to tell shown tile i in: in fine pixels that of the middle of token `here`, or, below 0, the first that the
 * row of patches has which begins in the tile; fine 0: as band_cell. */
int band_told(const Band *b, Lattice lattice, Tiling t, int fine, int i, int here);
#endif
