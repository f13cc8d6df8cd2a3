#define _GNU_SOURCE 1 /* ppoll */
#include "core/base/stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static const int REQUESTS[] = {SIGINT, SIGTERM, SIGHUP};
enum { REQUEST_COUNT = sizeof REQUESTS / sizeof *REQUESTS, TICK_NS = 100000000 };

/* What the handlers touch, and what was there before them. */
static struct {
    volatile sig_atomic_t came, taken, again;
    bool held, ticks;
    timer_t clock;
    struct sigaction before[REQUEST_COUNT], alarm_before;
    bool (*asked)(void *context);
    void *context;
} stopping;

/* A request that came just before a call began to block would be slept over; the next tick wakes it. */
static void on_request(int sig)
{
    const struct itimerspec every = {{0, TICK_NS}, {0, TICK_NS}};
    int saved = errno;
    if (stopping.taken)
        stopping.again = 1;
    if (!stopping.came)
        stopping.came = sig;
    if (stopping.ticks)
        timer_settime(stopping.clock, 0, &every, NULL);
    errno = saved;
}

static void on_tick(int sig)
{
    (void)sig;
}

static void take_clock(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction tick = {.sa_handler = on_tick};
    stopping.ticks = timer_create(CLOCK_MONOTONIC, &event, &stopping.clock) == 0;
    if (stopping.ticks)
        sigaction(SIGALRM, &tick, &stopping.alarm_before);
}

void stop_hold(void)
{
    if (stopping.held)
        return;
    stopping.held = true;
    stopping.came = stopping.taken = stopping.again = 0;
    take_clock();
    for (int i = 0; i < REQUEST_COUNT; i++) {
        struct sigaction request = {.sa_handler = on_request}; /* without SA_RESTART */
        sigaction(REQUESTS[i], NULL, &stopping.before[i]);
        bool ignored = !(stopping.before[i].sa_flags & SA_SIGINFO) && stopping.before[i].sa_handler == SIG_IGN;
        if (!ignored)
            sigaction(REQUESTS[i], &request, NULL);
    }
}

bool stop_asked(void)
{
    return (stopping.came && !stopping.taken) || (stopping.asked && stopping.asked(stopping.context));
}

bool stop_came(void)
{
    return stopping.came != 0;
}

void stop_take(void)
{
    stopping.taken = 1;
}

bool stop_interrupted(void)
{
    const struct itimerspec never = {{0, 0}, {0, 0}};
    if (stopping.came != SIGINT || stopping.taken)
        return false;
    stopping.came = 0;
    if (stopping.ticks)
        timer_settime(stopping.clock, 0, &never, NULL);
    return true;
}

void stop_release(bool done)
{
    if (!stopping.held)
        return;
    for (int i = 0; i < REQUEST_COUNT; i++)
        sigaction(REQUESTS[i], &stopping.before[i], NULL);
    if (stopping.ticks) {
        timer_delete(stopping.clock);
        sigaction(SIGALRM, &stopping.alarm_before, NULL);
    }
    stopping.held = stopping.ticks = false;
    if (stopping.came && !done)
        raise(stopping.came);
}

void stop_listen(bool (*asked)(void *context), void *context)
{
    stopping.asked = asked;
    stopping.context = context;
}

bool stop_wait_any(struct pollfd *p, int count, int ms)
{
    const struct timespec tick = {0, TICK_NS}, most = {ms / 1000, ms % 1000 * 1000000L};
    sigset_t requests, before;
    sigemptyset(&requests);
    for (int i = 0; i < REQUEST_COUNT; i++)
        sigaddset(&requests, REQUESTS[i]);
    /* held back between the question and ppoll, which lets them through while it waits */
    pthread_sigmask(SIG_BLOCK, &requests, &before);
    bool asked = false;
    for (int ready = 0; !asked && ready == 0;) {
        asked = stop_asked() || stopping.again;
        if (asked)
            break;
        ready = ppoll(p, (nfds_t)count, ms >= 0 ? &most : stopping.asked ? &tick : NULL, &before);
        if (ready < 0)
            ready = errno == EINTR || errno == EAGAIN ? 0 : 1;
        else if (ms >= 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !asked;
}

bool stop_wait(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    return stop_wait_any(&p, 1, -1);
}

bool stop_refuse(Err *err)
{
    return err_set(err, "cancelled");
}
