/* The slider of the scale laboratory: the factor on attn.scale of every block, of the block in focus, or of its head in
 * focus (look.laboratory.reach). It moves by edits as they are typed: `set scale x2 at=blocks.1`. */
#ifndef VITRINE_SESSION_EDIT_SLIDER_H
#define VITRINE_SESSION_EDIT_SLIDER_H
#include "core/session/session.h"

typedef enum Reach { REACH_ALL, REACH_BLOCK, REACH_HEAD, REACH_COUNT } Reach;
/* "every block", "block 1", "block 1, head 2"; returns out. */
const char *slider_text(const Session *s, char *out, size_t n);
/* The factor that the line in force for just this reach gives; 1 where there is none. */
float slider_factor(const Session *s);
/* The number of measures_factor nearest to it. */
int slider_notch(const Session *s);
/* To notch number `notch` (clamped). A factor of 1 takes the line away. */
bool slider_set(Session *s, int notch, Err *err);
#endif
