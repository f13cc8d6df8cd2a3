/* The slider of the scale laboratory: the factor on attn.scale of every block, of the block in focus, or of its head in
 * focus (look.laboratory.reach). It moves by edits as they are typed: `set scale x2 at=blocks.1`. */
#ifndef VITRINE_SESSION_SCREENS_LABORATORY_H
#define VITRINE_SESSION_SCREENS_LABORATORY_H
#include "core/session/session.h"

typedef enum Reach { REACH_ALL, REACH_BLOCK, REACH_HEAD, REACH_COUNT } Reach;
/* "every block", "block 1", "block 1, head 2"; returns out. */
const char *slider_text(const Session *s, char *out, size_t n);
/* The factor that the line in force for just this reach gives; 1 where there is none. */
float slider_factor(const Session *s);
/* The number of measures_factor nearest to it. */
int slider_notch(const Session *s);

/* ---- What taking 1/√d_k away does to a model that was trained with it, in three pictures that measuring found: the
 * one where a row of attention collapses furthest and the answer changes, the typical one, and one where hardly
 * anything happens. Of the bundled model. Chosen pictures: how often answers change is another figure, and what the
 * factor is for (the spread of scores before training) another question. */
typedef struct ScalePlace {
    unsigned picture; /* drawn picture #… */
    int block, head;
    const char *query; /* token that asks */
} ScalePlace;
enum { SCALE_PLACES = 3 };
extern const ScalePlace TELLING[SCALE_PLACES];

/* Among how many pictures, from #0 on, they were found, and how many answers change there without the scale. */
typedef struct ScaleSearched {
    int pictures, changed;
} ScaleSearched;
extern const ScaleSearched SCALE_SEARCHED;

/* Somebody who stands at one of the places took the scale away: says what that shows. False elsewhere. */
bool scale_places_tell(Session *s);
/* The picture of the first place ("#134"), with which somebody new begins. */
const char *scale_places_input(char *out, size_t n);
/* At the first step of that picture, nothing changed: from here taking the scale away leads to the first place. */
bool scale_places_door(const Session *s);
#endif
