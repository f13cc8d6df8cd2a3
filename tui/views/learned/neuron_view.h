/* A hidden unit on show, and what is drawn of it where no others are known than the text on show. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_NEURON_VIEW_H
#define VITRINE_TUI_VIEWS_LEARNED_NEURON_VIEW_H
#include "core/session/learned/neurons.h"
#include "tui/views/lattice.h"
#include "tui/views/shown.h"

enum { NEURON_NUMBER = 8, NEURON_BAR_LEAST = 6 }; /* columns of an activation; of a bar, fewer than which are none */
enum { NEURON_THUMB = 6 };                        /* pixels of a picture, at least */
enum { NEURON_LINES = 256 };                      /* of tokens, at most */

typedef struct Unit {
    Shown post, writes;
    int unit, units; /* the one in focus */
    NeuronAxes axes;
    const Axis *tokens; /* of post; of `words` none is a patch */
    Lattice l;
    bool words, has_writes;
} Unit;

/* The name of a token or word without the tokeniser's mark of a blank before it; has it one? */
const char *neuron_label(const Axis *axis, int i, char out[64]);
bool neuron_begins(const Axis *axis, int i);
size_t neuron_cell(const Unit *u, int token); /* of post */
int neuron_token(const Unit *u);              /* the one in focus */
/* The `lines` tokens with the largest activations by size, in the order of the text, at most NEURON_LINES: that in
 * focus and the one that excites the unit most are always of them. Returns how many. */
int neuron_largest(const Unit *u, int lines, int token[NEURON_LINES]);
/* Into what it writes, per what the numbers are, and how many answers have no line: shorter where both have no room. */
void neuron_draw_writes_head(const Paint *p, Rect line, size_t hidden, bool words);
/* Over what excites it (NULL: not known yet); beside A − B that these numbers are no difference. */
enum { NEURON_BOTH_SAID = 19 }; /* columns; below it "A and B" alone, under "excites" */
const char *neuron_excites_says(const Unit *u, const NeuronShown *n, int width);
/* The units that the token in focus excites most, of experts those of the one in focus: number, activation, a bar. */
void neuron_draw_units(const Paint *p, const Unit *u, Rect r);
/* Pictures with how much each excites it, the patch marked; returns how many of them have room. */
int neuron_draw_pictures(const Paint *p, const Unit *u, const NeuronShown *n, Rect r);
/* The tokens of the text on show that excite it most, each between its neighbours; returns the lines that it took. */
int neuron_draw_own_text(const Paint *p, const Unit *u, Rect r);
/* Windows of a decoder's texts: a line for each around the token that excites the unit, which stands in the middle. */
void neuron_draw_windows(const Paint *p, const NeuronShown *n, Rect r);
#endif
