/* The film of the forward pass: every step's result comes row by row, the step goes on as `next` does, or back. A
 * screen that shows an operation in steps (ScreenSpec.play) shows those first. It stands still at the end, at the step
 * that play_to named, or where somebody stops it (a presented step: with its pause). */
#ifndef VITRINE_SESSION_PLAY_H
#define VITRINE_SESSION_PLAY_H
#include "core/session/session.h"

/* Frames of a step, and in how many of them its result fills; the rest it is looked at. Paces: 0 is half a second a
 * step; each more is twice as fast, each less takes twice as long. */
enum { PLAY_FRAMES = 8, PLAY_FILLS = 5, PLAY_SLOWEST = -4, PLAY_FASTEST = 2 };

/* Where it begins: here; from the first step again where this is the last, and backwards the other way round. A worked
 * example and a close-up play their terms, and stop; screens of what was learned their own films, or the step that was
 * left for them. */
void play_begin(Session *s, bool backwards);
/* The rows of the attention in focus one after the other, a step each. False where it has none. */
bool play_rows(Session *s, Err *err);
/* The pass from here to the end of that box of the map, its result whole. False where it lies behind. */
bool play_to(Session *s, int box, Err *err);
/* For ScreenSpec.play: the next index of `count`, backwards the one before; false: there are no more, and from there it
 * begins at the other end. */
bool play_index(const Session *s, int *at, int count);
/* One frame; false at the end: all is there. */
bool play_frame(Session *s);
void play_stop(Session *s);
/* Stops with all of it there: at the step that play_to named, else here. */
void play_end(Session *s);
/* Does a frame of the film stand on the screen, playing or not? */
bool play_shows(const Session *s);
/* How much of the step's result is there: 0 … 1. */
double play_share(const Session *s);
/* Until the next frame, and of a whole step: milliseconds. */
int play_wait(const Session *s);
int play_step_ms(const Session *s);
#endif
