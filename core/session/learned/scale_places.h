/* Why 1/√d_k is there, in two pictures that measuring found: one where a row of attention collapses without it and the
 * answer changes, one where hardly anything does; and how many held-out pictures are named right with and without it.
 * Of the bundled model. */
#ifndef VITRINE_SESSION_LEARNED_SCALE_PLACES_H
#define VITRINE_SESSION_LEARNED_SCALE_PLACES_H
#include "core/session/session.h"

typedef struct ScalePlace {
    unsigned picture; /* drawn picture #… */
    int block, head;
    const char *query; /* token that asks */
} ScalePlace;
enum { SCALE_PLACES = 2, SCALE_SEARCHED = 200 }; /* among so many pictures, from #0 on */
extern const ScalePlace TELLING[SCALE_PLACES];

typedef struct ScaleAccuracy {
    int pictures, right, without;
} ScaleAccuracy;
extern const ScaleAccuracy SCALE_ACCURACY;

/* To place `which` with the scale taken away and nothing else changed, A beside B. Only the bundled model has such
 * places: another one goes to the first block's pattern of the picture that is open. */
bool scale_places_go(Session *s, int which, Err *err);
/* Somebody who stands at one of the places took the scale away: says what that shows. False elsewhere. */
bool scale_places_tell(Session *s);
/* Where somebody new begins: the picture of the first place ("#134"), and its row of attention as trained, so that
 * taking the scale away is one key. */
const char *scale_places_input(char *out, size_t n);
void scale_places_begin(Session *s);
#endif
