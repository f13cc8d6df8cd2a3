/* Patches as they lie in the picture. Two uses: tokens pooled so that what is drawn stays a small picture of the whole
 * (a row of 14 patches cut into pieces of 4 would show a chequerboard that is not there), and a map that has one
 * coloured square per patch. */
#ifndef VITRINE_TUI_VIEWS_LATTICE_H
#define VITRINE_TUI_VIEWS_LATTICE_H
#include "tui/views/view.h"

/* Tokens: `prefix` of them without a place (cls, registers), then rows × cols patches, row by row. */
typedef struct Lattice {
    int prefix, rows, cols;
} Lattice;
/* Of a token or patch axis; any other axis is one row. */
Lattice lattice_of(const Axis *a);

/* gy × gx patches count as one tile; gy divides rows, gx divides cols. A prefix token is a tile of its own. Or as many
 * tiles as there are bins, of at most gy × gx patches in their order: pieces of a row, each row cut alike, or whole
 * rows. None has the end of one row and the start of the next, as what is in every row would come and go then. */
typedef struct Tiling {
    int gy, gx, bins; /* 0: no bins */
} Tiling;
enum { TILINGS = 48 };
/* Every tiling that keeps the picture: pieces of a row, whole rows, and squares; finest first, from 1 × 1. Returns how
 * many. */
int lattice_tilings(Lattice l, Tiling out[TILINGS]);
/* The tiling of `size` patches (a square before a piece of a row), or the coarsest below. */
Tiling tiling_of_size(Lattice l, int size);
/* The finest with at most so many tiles, prefix left out: one patch each, where there are no more patches than that. */
Tiling tiling_of_bins(Lattice l, int bins);
int tiling_count(Lattice l, Tiling t); /* tiles, prefix included */
int tiling_of_token(Lattice l, Tiling t, int token);
int tiling_size(Lattice l, Tiling t, int tile);         /* its tokens */
int tiling_token(Lattice l, Tiling t, int tile, int i); /* its i-th token */

/* One square of k columns × k half lines per patch (whole lines where half blocks cannot be used); patches from (row,
 * col), rows × cols of them, drawn from the top left of r. */
typedef struct LatticeMap {
    Rect r;
    int k, row, col, rows, cols;
    bool halves;
} LatticeMap;
/* The largest squares that fit into room, k ≤ most; when not even k = 1 fits, the part around (here_row, here_col). */
LatticeMap lattice_map(const Paint *p, Rect room, int rows, int cols, int most, int here_row, int here_col);
/* value(context, row, col, &ref) of each patch. */
void lattice_map_draw(const Paint *p, const LatticeMap *m, const ColourScale *s, HeatFn value, const void *context);
/* The canvas cells of a patch; an empty Rect when it is not shown. */
Rect lattice_map_patch(const LatticeMap *m, int row, int col);
bool lattice_map_hit(const LatticeMap *m, int y, int x, int *row, int *col);
/* Puts two marks around a patch's middle line, one glyph where it is narrow. */
void lattice_map_mark(const Paint *p, const LatticeMap *m, int row, int col, const char marks[3], Style style, Ref ref);
/* "rows 1–6 of 8" at the end of a line, which is shorter then, in short where else fewer than `keep` columns are left;
 * nothing where all rows are shown. */
void lattice_rows_part(const Paint *p, int first, int shown, int rows, Rect *line, int keep);
#endif
