/* The thread pool: every item once whatever the number of threads, deadlines that stop and resume, workers told apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/pool.h"

enum { ITEMS = 5000, MOST_THREADS = 8 };

typedef struct Job {
    atomic_int done[ITEMS];
    atomic_int busy[MOST_THREADS]; /* a worker runs one item at a time: scratch memory per worker is safe */
    atomic_int clashes, strangers;
    int threads;
    int64_t pause; /* ns per item */
} Job;

static void count_item(void *context, size_t item, int worker)
{
    Job *job = context;
    if (worker < 0 || worker >= job->threads) {
        atomic_fetch_add(&job->strangers, 1);
        return;
    }
    if (atomic_fetch_add(&job->busy[worker], 1) != 0)
        atomic_fetch_add(&job->clashes, 1);
    for (int64_t end = clock_ns() + job->pause; job->pause && clock_ns() < end;)
        ;
    atomic_fetch_add(&job->done[item], 1);
    atomic_fetch_sub(&job->busy[worker], 1);
}

static Job job; /* 20 kB */

static void start(int threads, int64_t pause)
{
    memset(&job, 0, sizeof job);
    job.threads = threads;
    job.pause = pause;
}

static void assert_done(size_t first, size_t end, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(atomic_load(&job.done[i]), i >= first && i < end);
    assert_int_equal(atomic_load(&job.clashes), 0);
    assert_int_equal(atomic_load(&job.strangers), 0);
}

static void every_item_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        Pool *p = pool_new(threads);
        assert_int_equal(pool_threads(p), threads);
        static const size_t counts[] = {0, 1, 2, 3, 7, 64, ITEMS};
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
            for (size_t first = 0; first <= counts[c]; first += counts[c] / 2 + 1) {
                start(threads, 0);
                assert_int_equal(pool_run(p, first, counts[c], count_item, &job, CLOCK_NEVER), counts[c]);
                assert_done(first, counts[c], ITEMS);
            }
        for (int again = 0; again < 300; again++) { /* many short jobs: late wakers must not run in the next one */
            start(threads, 0);
            pool_run(p, 0, 5, count_item, &job, CLOCK_NEVER);
            assert_done(0, 5, 20);
        }
        pool_free(p);
    }
}

/* Items long enough that the other threads are still at theirs when the caller has nothing left to claim. */
static void returns_when_all_is_finished(void **state)
{
    (void)state;
    Pool *p = pool_new(3);
    for (int again = 0; again < 20; again++) {
        start(3, 1000000 + 300000 * (again % 3));
        assert_int_equal(pool_run(p, 0, 4, count_item, &job, CLOCK_NEVER), 4);
        assert_done(0, 4, 10);
    }
    pool_free(p);
}

/* A deadline in the past still runs something; repeated calls finish the job, each item once. */
static void deadlines_stop_and_resume(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        Pool *p = threads == 1 ? NULL : pool_new(threads);
        start(threads, 0);
        size_t next = 0;
        int calls = 0;
        while (next < 50) {
            size_t before = next;
            next = pool_run(p, before, 50, count_item, &job, clock_ns() - 1);
            assert_in_range(next, before + 1, 50);
            assert_done(0, next, 50);
            calls++;
        }
        assert_true(calls > 50 / (2 * threads));
        pool_free(p);
    }
}

static void a_deadline_is_kept(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        Pool *p = pool_new(threads);
        start(threads, 1000000); /* 5000 items of 1 ms against 20 ms */
        int64_t begin = clock_ns();
        size_t next = pool_run(p, 0, ITEMS, count_item, &job, begin + 20000000);
        int64_t taken = clock_ns() - begin;
        assert_in_range(next, 1, 20 * (size_t)threads + 2);
        assert_true(taken < 1500000000); /* far below the 5 s of the whole, generous to a busy machine */
        assert_done(0, next, ITEMS);
        pool_free(p);
    }
}

static void no_pool_is_one_thread(void **state)
{
    (void)state;
    assert_int_equal(pool_threads(NULL), 1);
    start(1, 0);
    assert_int_equal(pool_run(NULL, 3, 10, count_item, &job, CLOCK_NEVER), 10);
    assert_done(3, 10, ITEMS);
    assert_int_equal(pool_run(NULL, 10, 10, count_item, &job, CLOCK_NEVER), 10);
    pool_free(NULL);
    Pool *p = pool_new(0);
    assert_true(pool_threads(p) >= 1);
    pool_free(p);
}

/* What was given back comes back for the same size, and a new block takes the place of old ones. */
static void memory_comes_back(void **state)
{
    (void)state;
    Pool *p = pool_new(1);
    float *a = pool_take(p, 100), *b = pool_take(p, 200);
    assert_true(a && b && a != b && (uintptr_t)a % 64 == 0);
    memset(a, 0, 100 * sizeof *a);
    pool_give(p, a, 100);
    pool_give(p, b, 200);
    pool_give(p, NULL, 100);
    assert_ptr_equal(pool_take(p, 200), b);
    assert_ptr_equal(pool_take(p, 100), a);
    pool_give(p, b, 200);
    pool_give(p, a, 100);
    float *c = pool_take(p, 150); /* releases b, which is oldest and large enough; a stays */
    assert_ptr_equal(pool_take(p, 100), a);
    pool_give(p, a, 100);
    pool_give(p, c, 150);
    pool_forget(p);
    pool_forget(NULL);
    float *none = pool_take(NULL, 10);
    none[9] = 1;
    pool_give(NULL, none, 10);
    pool_give(p, pool_take(p, 5), 5); /* pool_free releases what is kept */
    pool_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once),           cmocka_unit_test(returns_when_all_is_finished),
        cmocka_unit_test(deadlines_stop_and_resume), cmocka_unit_test(a_deadline_is_kept),
        cmocka_unit_test(no_pool_is_one_thread),     cmocka_unit_test(memory_comes_back),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
