/* Colour pairs by their colours. ncurses numbers pairs, compares cells by the number, and its own alloc_pair recycles
 * numbers that are still on the screen; so numbers are given out here, and all are taken back at once between two
 * frames when they run out. */
#ifndef VITRINE_TUI_TERM_PAIRS_H
#define VITRINE_TUI_TERM_PAIRS_H
#include <stdbool.h>
#include <stdint.h>

#include "tui/canvas/colour.h"

typedef struct Pairs {
    struct PairSlot {
        int fg, bg, pair; /* pair 0 = empty */
    } * slots;
    int mask;  /* slots − 1, a power of two minus 1 */
    int limit; /* pairs the terminal has, pair 0 included */
    int used;  /* numbers given out, 0 included */
} Pairs;

void pairs_init(Pairs *p, int limit);
void pairs_free(Pairs *p);
void pairs_reset(Pairs *p);
/* Number for colours fg, bg (−1 = default); *fresh: it is new and curses has to be told. (−1, −1) is 0, and so is
 * everything when full. */
int pairs_find(Pairs *p, int fg, int bg, bool *fresh);
/* What curses calls a colour in a mode: palette index, 0xRRGGBB, −1 = default. */
int pairs_colour(ColourMode mode, Colour c);
#endif
