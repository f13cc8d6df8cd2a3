/* Where everything stands on the screen of what tokens are like: maps of patches, or lines of words. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_ALIKE_ROOM_H
#define VITRINE_TUI_VIEWS_LEARNED_ALIKE_ROOM_H
#include "tui/views/heat.h"
#include "tui/views/lattice.h"
#include "tui/views/shown.h"

/* Cells of a word at a place: its number, its colour, its length; of a place that is colours alone. */
enum { ALIKE_NUMBER = 6, ALIKE_SWATCH = 3, ALIKE_LENGTH = 6, ALIKE_THIN = 2 };
enum { ALIKE_LEAST = ALIKE_NUMBER + 1 + ALIKE_SWATCH, ALIKE_ALL = ALIKE_LEAST + 1 + ALIKE_LENGTH };

typedef enum Band { COSINE, COLOURS, NORMS, BANDS } Band;

typedef struct Alike {
    const Session *s;
    Side side;
    const Axis *p, *of_a; /* the tokens; in A − B those of A, else NULL */
    Lattice l;
    int at, row, col; /* the picked one */
    int places, here; /* how many, and that in focus */
    bool pixels;      /* 0 is the patches' pixels, and 1 before the first block; else 0 is that */
    bool more;        /* pixels come before what is shown */
    bool words;
    bool coloured; /* are there components? Of A − B those of what changed, where the tokens can be subtracted */
    int pin;       /* the first word that A and B don't share, which is shown though others are in focus; −1: none */
    Rect r;
    Band band[BANDS]; /* of maps: what stands below what */
    bool down;        /* places below each other, those side by side: where more places have room so */
    int bands, first, shown, wide, gap;
    int thin;      /* of words: how wide the places are that are not in focus */
    int left;      /* columns in front of the first place: the picture and its gap, or the words */
    int head;      /* lines above the first word: the place, and where there is room what its columns are */
    int pitch;     /* lines of a word */
    int top, rows; /* of patches, that are shown: those around the picked one where not all have room */
    float end;     /* of the cosines' colours, one scale for all places */
    HeatSize size; /* of a map */
} Alike;

/* Of a place, as alike_path wants it. */
static inline int alike_row_of(const Alike *a, int place)
{
    return place - 1 - a->pixels;
}
/* False where that side has no tokens to compare. */
bool alike_open(const Paint *p, Side side, Rect r, Alike *out);
/* Columns from where, and how many, a place takes; those of maps are as wide as a map. */
int alike_place_x(const Alike *a, int place);
int alike_place_wide(const Alike *a, int place);
Rect alike_map(const Paint *p, const Alike *a, int band, int place);
/* How many words are shown, the i-th of them, and its lines at a place. */
int alike_words(const Alike *a);
int alike_token(const Alike *a, int i);
Rect alike_word(const Alike *a, int i, int place);
#endif
