/* The picture, lit by a number of each of its patches: what a row looks at, or which patches spoke for an answer. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_LIT_H
#define VITRINE_TUI_VIEWS_ATTENTION_LIT_H
#include "tui/views/lattice.h"

typedef struct Lit {
    const Paint *p;
    const LatticeMap *m;
    const Image *im; /* lit_picture, not NULL */
    HeatFn value;    /* of each patch */
    const void *context;
    float most;  /* fully lit */
    float least; /* and not at all: 0 but for numbers whose zero means nothing, such as scores */
    bool signs;  /* numbers below 0 are lit by their size, their outline has another colour; else they are dim */
    const ColourScale *scale; /* the numbers' colours over a dim grey picture, which tell signs; NULL: its own, as
                                 bright as they are */
} Lit;
/* The picture as that side's model gets it, or NULL. */
const Image *lit_picture(const Session *s, Side side);
/* Each patch as bright as its number, or in its colour; where lit_lined, a line around those with at least a quarter of
 * the most. */
void lit_draw(const Lit *lit);
/* Are there lines? Where colours are too few for light, and squares of m have 3 points a side or more. And what they
 * mean, where signs count. */
bool lit_lined(const Paint *p, const LatticeMap *m);
void lit_legend(const Lit *lit, Rect line);
#endif
