/* The arithmetic of the cell in focus term by term, on the screen `worked`: `play` starts and stops it, `play step` is
 * one term, `play all` shows them all. Whoever has a clock calls playing_tick. */
#ifndef VITRINE_SESSION_PLAYING_H
#define VITRINE_SESSION_PLAYING_H
#include "core/session/command.h"

static const int64_t PLAYING_NS = 700000000; /* a term: time enough to read two numbers */

/* Terms of the cell in focus: 0 for a leaf. */
int playing_terms(const Session *s);
/* One term more; behind the last one it stops, and all are shown. */
void playing_tick(Session *s);
/* All terms are shown, nothing plays: when the cursor goes elsewhere. */
void playing_end(Session *s);
CommandTable session_commands_playing(void);
#endif
