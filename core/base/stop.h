/* Requests to end the program, and how whatever waits hears of them. SIGINT, SIGTERM and SIGHUP are noted from
 * stop_hold to stop_release, so that no half-written file and no half-drawn line is left; one that was ignored when the
 * program began (nohup, trap '' INT) stays ignored. Calls that block return with EINTR when one comes and again every
 * 0.1 s after, so that none is missed. The first of them counts. One per process; for its main thread. */
#ifndef VITRINE_BASE_STOP_H
#define VITRINE_BASE_STOP_H
#include <stdbool.h>

#include "core/base/err.h"

/* Further calls before stop_release change nothing. */
void stop_hold(void);
/* Has somebody asked? Cheap enough for every chunk that is read. */
bool stop_asked(void);
/* Did a signal ask, whether that is dealt with or not? Asks nobody else. */
bool stop_came(void);
/* The request is dealt with by saving what there is: stop_asked is false from now on, so that the saving is done. Only
 * what waits for somebody else hears of another request: a pipe that nobody reads would hold the program for ever. */
void stop_take(void);
/* Where a reader types commands, SIGINT means what is being computed and not the program: true where one came, which is
 * then forgotten. */
bool stop_interrupted(void);
/* Signals act as before. done: what was asked for is there, so nothing more happens; else a request that came ends the
 * program as that signal does. */
void stop_release(bool done);

/* Where requests come another way, as keys do while the screen is open: asked(context) is called by stop_asked and
 * while stop_wait waits. NULL takes it away. */
void stop_listen(bool (*asked)(void *context), void *context);

/* Waits until fd is ready for events (of poll), or in an error that reading or writing will tell. False: somebody asked
 * to stop. */
bool stop_wait(int fd, short events);
/* The same for several, at most so long; ms −1: as long as it takes. Their revents say which are ready. */
struct pollfd;
bool stop_wait_any(struct pollfd *p, int count, int ms);
/* The message of what was stopped; returns false. */
bool stop_refuse(Err *err);
#endif
