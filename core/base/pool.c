#define _GNU_SOURCE
#include "core/base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

/* How often a worker looks for more work before it sleeps: tens of microseconds, about what waking it would cost. */
enum { LOOKS = 20000 };

/* Memory given back, oldest first. */
typedef struct Kept {
    float *block;
    size_t count;
} Kept;

typedef struct Worker {
    Pool *pool;
    int index;
    pthread_t thread;
} Worker;

struct Pool {
    int threads;
    Worker *workers; /* threads-1 of them: the caller is worker 0 */
    pthread_mutex_t lock;
    pthread_cond_t wake, finished;
    atomic_uint generation; /* changed under the lock */
    atomic_int active;
    bool open, quit;
    /* the job, written under the lock before the generation changes */
    PoolFn fn;
    void *context;
    size_t count;
    int64_t deadline;
    atomic_size_t next;
    Kept *kept;
    size_t kept_count, kept_cap;
};

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void work(Pool *p, int worker)
{
    bool first = worker == 0; /* the caller makes progress whatever the clock says */
    while (first || clock_ns() < p->deadline) {
        size_t item = atomic_fetch_add(&p->next, 1);
        if (item >= p->count)
            return;
        p->fn(p->context, item, worker);
        first = false;
    }
}

static void *worker_main(void *arg)
{
    Worker *w = arg;
    Pool *p = w->pool;
    unsigned seen = 0;
    for (;;) {
        for (int i = 0; i < LOOKS && atomic_load(&p->generation) == seen; i++)
            pause_a_little();
        pthread_mutex_lock(&p->lock);
        while (atomic_load(&p->generation) == seen && !p->quit)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->quit)
            break;
        seen = atomic_load(&p->generation);
        bool open = p->open; /* false: woke too late, the job is over */
        if (open)
            atomic_fetch_add(&p->active, 1);
        pthread_mutex_unlock(&p->lock);
        if (!open)
            continue;
        work(p, w->index);
        pthread_mutex_lock(&p->lock);
        if (atomic_fetch_sub(&p->active, 1) == 1)
            pthread_cond_signal(&p->finished);
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int usable_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > 64 ? 64 : n;
}

Pool *pool_new(int threads)
{
    if (threads <= 0)
        threads = usable_cores();
    Pool *p = xcalloc(1, sizeof *p);
    p->threads = 1;
    p->workers = xcalloc((size_t)threads, sizeof *p->workers);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->finished, NULL);
    sigset_t before, others; /* signals are the first thread's, which can act on them; a fault stays the thread's own */
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT, SIGTRAP};
    sigfillset(&others);
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
        sigdelset(&others, FAULTS[i]);
    pthread_sigmask(SIG_BLOCK, &others, &before);
    for (int i = 1; i < threads; i++) {
        Worker *w = &p->workers[i - 1];
        *w = (Worker){.pool = p, .index = i};
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        p->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p;
}

void pool_free(Pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i + 1 < p->threads; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->finished);
    pthread_mutex_destroy(&p->lock);
    pool_forget(p);
    free(p->kept);
    free(p->workers);
    free(p);
}

int pool_threads(const Pool *p)
{
    return p ? p->threads : 1;
}

static size_t run_alone(size_t first, size_t count, PoolFn fn, void *context, int64_t deadline)
{
    for (size_t i = first; i < count; i++) {
        if (i > first && deadline != CLOCK_NEVER && clock_ns() >= deadline)
            return i;
        fn(context, i, 0);
    }
    return count;
}

size_t pool_run(Pool *p, size_t first, size_t count, PoolFn fn, void *context, int64_t deadline_ns)
{
    if (first >= count)
        return count;
    if (!p || p->threads == 1 || count - first == 1)
        return run_alone(first, count, fn, context, deadline_ns);
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->context = context;
    p->count = count;
    p->deadline = deadline_ns;
    atomic_store(&p->next, first);
    p->open = true;
    atomic_fetch_add(&p->generation, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    work(p, 0);
    for (int i = 0; i < LOOKS && atomic_load(&p->active) > 0; i++)
        pause_a_little();
    pthread_mutex_lock(&p->lock);
    p->open = false;
    while (atomic_load(&p->active) > 0)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
    size_t done = atomic_load(&p->next);
    return done < count ? done : count;
}

float *pool_take(Pool *p, size_t count)
{
    if (!p)
        return xfloats(count);
    for (size_t i = p->kept_count; i-- > 0;) {
        if (p->kept[i].count != count)
            continue;
        float *block = p->kept[i].block;
        memmove(&p->kept[i], &p->kept[i + 1], (--p->kept_count - i) * sizeof *p->kept);
        return block;
    }
    size_t drop = 0, floats = 0; /* a new block takes the place of as much that nobody wants */
    for (; drop < p->kept_count && floats < count; drop++) {
        floats += p->kept[drop].count;
        free(p->kept[drop].block);
    }
    p->kept_count -= drop;
    if (drop)
        memmove(p->kept, p->kept + drop, p->kept_count * sizeof *p->kept);
    return xfloats(count);
}

void pool_give(Pool *p, float *block, size_t count)
{
    if (!p || !block) {
        free(block);
        return;
    }
    p->kept = grow(p->kept, &p->kept_cap, p->kept_count, sizeof *p->kept);
    p->kept[p->kept_count++] = (Kept){block, count};
}

void pool_forget(Pool *p)
{
    for (size_t i = 0; p && i < p->kept_count; i++)
        free(p->kept[i].block);
    if (p)
        p->kept_count = 0;
}
