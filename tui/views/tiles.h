/* Small pictures on a grid: one tile for every index of an axis, each c × i × j values around zero. Filters and their
 * components. */
#ifndef VITRINE_TUI_VIEWS_TILES_H
#define VITRINE_TUI_VIEWS_TILES_H
#include "tui/views/heat.h"
#include "tui/views/shown.h"

typedef struct Tiles {
    Shown v;
    int axis;           /* of which every index has a tile */
    int count, here;    /* tiles; the one in focus */
    int channels, h, w; /* of one tile */
    size_t stride[4];   /* of the tile, its channel, row and column */
} Tiles;

/* False where that node is none of tiles: [axis,c,i,j]. */
bool tiles_open(const Session *s, Side side, const char *path, Tiles *out);
/* Smallest and largest finite value of a tile, as cells; false where none is finite. */
bool tiles_range(const Tiles *t, int tile, size_t *low, size_t *high);

/* A tile in cells: rows × cols drawn pixels, those of the tile or, where there is no room for one each, of several the
 * largest by size. */
typedef struct TileFit {
    HeatSize size;
    int rows, cols, lines, columns;
} TileFit;
/* The largest square pixels that fit into h × w; where not all of the tile's do, as many as do. */
TileFit tiles_fit(const Paint *p, const Tiles *t, int h, int w);
/* Every tile has its own scale: 0 is grey, its largest value of either sign fully coloured. */
void tiles_draw(const Paint *p, const Tiles *t, int tile, const TileFit *f, int y, int x);
#endif
