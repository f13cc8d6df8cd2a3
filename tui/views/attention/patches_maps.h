/* Token by token over a picture: a map of its patches for each block, those that have no place below it. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_PATCHES_MAPS_H
#define VITRINE_TUI_VIEWS_ATTENTION_PATCHES_MAPS_H
#include "tui/views/lattice.h"

typedef struct PatchesMaps {
    Lattice l;
    int blocks, across, square, lines; /* maps, side by side, columns of a patch, lines of a map */
    int row, col;                      /* in focus: block and token */
    const void *context;
    float (*value)(const void *context, int block, int token); /* NaN: none */
    void (*name)(const void *context, int block, char out[32]);
    void (*token)(const void *context, int block, int token, char out[32]);
} PatchesMaps;

/* Places `count` such sheets, each with a line for its title, below each other in r, or one, as large as fits; returns
 * how many are placed, 0 where the tokens are no picture's or not one has room. */
int patches_maps_place(const Paint *p, PatchesMaps *m, Rect r, int count, Rect *at);
/* Without the title, into r. */
void patches_maps_draw(const Paint *p, const PatchesMaps *m, const ColourScale *scale, Rect r, bool focus);
bool patches_maps_hit(const Paint *p, const PatchesMaps *m, Rect r, int y, int x, int *block, int *token);
#endif
