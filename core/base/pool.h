/* A small thread pool. Items are claimed from an atomic counter; a worker without work looks for more for some
 * microseconds, then sleeps. The same items run in any number of threads, so whatever writes disjoint memory per item
 * gives the same bits for any thread count. The pool also keeps blocks of memory that were given back: their pages are
 * there already. */
#ifndef VITRINE_BASE_POOL_H
#define VITRINE_BASE_POOL_H
#include <stddef.h>
#include <stdint.h>

typedef struct Pool Pool;
typedef void (*PoolFn)(void *context, size_t item, int worker); /* worker: 0 … pool_threads-1, for scratch memory */

/* threads ≥ 1 counts the caller; 0 means the cores this process may use. If a thread can't be started, fewer are used.
 */
Pool *pool_new(int threads);
void pool_free(Pool *p);         /* NULL is allowed */
int pool_threads(const Pool *p); /* NULL counts as 1 */

/* Runs items first … count-1 until all are done or the deadline (clock_ns) has passed; at least one item runs.
 * Every claimed item is finished on return. Returns the first item not run (= count when done). p may be NULL: one
 * thread. */
size_t pool_run(Pool *p, size_t first, size_t count, PoolFn fn, void *context, int64_t deadline_ns);

/* 64-byte aligned floats, uninitialised: a block of just this size that was given back, or a new one. p may be NULL.
 * Like pool_run, for one thread at a time. What is kept is bounded by what was in use at once. */
float *pool_take(Pool *p, size_t count);
void pool_give(Pool *p, float *block, size_t count); /* block from pool_take of this pool and count; NULL is allowed */
void pool_forget(Pool *p);                           /* releases the memory kept */
#endif
