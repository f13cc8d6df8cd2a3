/* A small thread pool. Items are claimed from an atomic counter; no spinning: idle workers sleep. The same items run in any
 * number of threads, so whatever writes disjoint memory per item gives the same bits for any thread count. */
#ifndef VITRINE_BASE_POOL_H
#define VITRINE_BASE_POOL_H
#include <stddef.h>
#include <stdint.h>

typedef struct Pool Pool;
typedef void (*PoolFn)(void *context, size_t item, int worker); /* worker: 0 … pool_threads-1, for scratch memory */

/* threads ≥ 1 counts the caller; 0 means the cores this process may use. If a thread can't be started, fewer are used. */
Pool *pool_new(int threads);
void pool_free(Pool *p); /* NULL is allowed */
int pool_threads(const Pool *p); /* NULL counts as 1 */

/* Runs items first … count-1 until all are done or the deadline (clock_ns) has passed; at least one item runs.
 * Every claimed item is finished on return. Returns the first item not run (= count when done). p may be NULL: one thread. */
size_t pool_run(Pool *p, size_t first, size_t count, PoolFn fn, void *context, int64_t deadline_ns);
#endif
