/* What tokens are like at one place of the model, and what is said of it in words. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_ALIKE_SPOT_H
#define VITRINE_TUI_VIEWS_LEARNED_ALIKE_SPOT_H
#include "tui/views/learned/alike_room.h"

enum { COMPONENTS = 3 };

/* What is drawn of one place. */
typedef struct Spot {
    const Alike *a;
    Shown value[BANDS], component[COMPONENTS], share[COMPONENTS]; /* value[COLOURS] is the last of the components */
    const float *change;    /* of A − B: how far the tokens went, those in front of the patches too; else NULL */
    float most[COMPONENTS]; /* the largest component by size; 0: nothing to see */
    float rounding[BANDS];  /* of A − B: a smaller difference is that of rounding; else 0 */
    ColourScale scale[BANDS];
} Spot;

/* What is there of a place, 0 before the first block. */
Spot alike_spot(const Paint *p, const Alike *a, int place);
/* Of a token in value[band]: lengths of tokens in front of the patches come first. */
size_t alike_cell(const Spot *v, Band band, int token);
/* "longest r5c3, 8.1× the median", that none is, or nothing; appended within `width` cells. */
void alike_put_longest(const Spot *v, const char *before, int width, Buf *out);
/* What its colours are, and that they compare within one place alone, as `width` allows; "" where nothing does. */
const char *alike_own(const Alike *a, int width);
extern const char *const ALIKE_COLOUR[COMPONENTS]; /* of the components */
/* Of the components: how much of the variance each is, and that every place has its own. Returns the columns used. */
int alike_draw_components(const Paint *p, const Spot *v, Rect line, bool brief);
/* Does in a pane of A or B so narrow a scale stand beside its word? Its title names the token. */
bool alike_apart(const Alike *a, int width);
/* Between two maps, so that no map stands above or below its colours: "cosine -▒▒▒ 1". False where there is no room. */
bool alike_draw_between(const Paint *p, const Spot *v, Band band, Rect line);
/* There, and of A − B in a narrow pane: a word and the scale, of lengths its end where there is no room. Returns the
 * columns used, 0 where nothing is drawn. */
int alike_draw_apart(const Paint *p, const Spot *v, Band band, Rect line);
/* Of A − B: is it known that no token changed here? That one did not? */
bool alike_unchanged(const Spot *v);
bool alike_kept(const Spot *v, int token);
/* In a map of A − B where nothing changed that is said, beside the line of the picked one's mark. */
void alike_draw_same(const Paint *p, const Spot *v, Band band, Rect map, int marked);
/* A number of value[band] at the left of r, which returns the columns used, or at its right; a difference that is
 * rounding alone is "≈0". */
int alike_put_number(const Paint *p, const Spot *v, Band band, size_t cell, Rect r, Style style);
void alike_right_number(const Paint *p, const Spot *v, Band band, size_t cell, Rect r, Style style);
/* ": red 40 %, green 9 %" of what varies at the place in focus, red or r; nothing while it is not there. */
void alike_put_shares(const Spot *v, bool brief, Buf *out);
/* Is a word's colour shown beside its number? */
bool alike_coloured(const Spot *v);
/* Above the legend of words, where none of them stands: whose lengths they are, and what the colours are. */
void alike_draw_note(const Paint *p, const Spot *v, Rect line);
void alike_draw_longest(const Paint *p, const Spot *v, Rect line);
/* Which others are most and least like the picked one, and how long it is; below the picture. */
void alike_draw_numbers(const Paint *p, const Spot *v, Rect r);
/* The tokens most like the picked one, in lines of r from the second on at x; of A − B those whose likeness changed
 * most, and none that did not. */
void alike_draw_nearest(const Paint *p, const Spot *v, Rect r, int x);
/* A scale as wide as the maps above it: its ends and what is between them; up to `more` wider where an end would touch
 * its colours. */
enum { ALIKE_END = 4 };    /* cells of an end at most */
enum { ALIKE_SHORT = 14 }; /* of a short scale */
void alike_draw_bar(const Paint *p, const ColourScale *s, Rect line, int more);
/* A line below the maps: the cosine's scale where no title has it, and in focus which rows of maps `v` leads to that
 * have no room. */
void alike_draw_spare(const Paint *p, const Spot *v, Rect line, bool scaled, bool focus);
#endif
