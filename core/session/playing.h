/* The arithmetic of the cell in focus term by term, on the screen `worked`: `play` starts and stops it, `play next` is
 * one term. */
#ifndef VITRINE_SESSION_PLAYING_H
#define VITRINE_SESSION_PLAYING_H
#include "core/session/session.h"

/* Terms of the cell in focus: 0 for a leaf. */
int playing_terms(const Session *s);
/* All terms are shown, nothing plays: when the cursor goes elsewhere. */
void playing_end(Session *s);
#endif
