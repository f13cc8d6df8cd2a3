#define _GNU_SOURCE 1
#include "tui/term_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Everything a handler may touch. Written before the handlers are installed. */
static struct {
    int fd;
    struct termios modes;
    char undo[UNDO_BYTES];
    size_t undo_len;
    volatile sig_atomic_t taken, ending, resumed, resized;
    bool watches;
    timer_t watch;
} tty;

static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS};
static const int ending[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
enum { FATALS = sizeof fatal / sizeof *fatal, ENDINGS = sizeof ending / sizeof *ending };
static struct sigaction old_fatal[FATALS], old_ending[ENDINGS], old_stop, old_continue, old_pipe, old_alarm, old_resize;
enum { READY_MS = 100, TRIES = 1000, WATCH_NS = 200000000 };

/* A terminal whose other end is not read takes nothing; who waits for it waits for ever. */
static bool takes_bytes(int wait_ms)
{
    struct pollfd p = {.fd = tty.fd, .events = POLLOUT};
    int ready, tries = 0;
    do /* other signals may come in a storm; a terminal that takes nothing must not be waited for without end */
        ready = poll(&p, 1, wait_ms);
    while (ready < 0 && errno == EINTR && ++tries < TRIES);
    return ready > 0 && (p.revents & POLLOUT);
}

void signals_restore(void)
{
    if (!tty.taken)
        return;
    tty.taken = 0;
    int saved = errno;
    sigset_t output, before; /* from the background tcsetattr would stop us before the modes are set */
    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, &before);
    size_t done = 0;
    while (done < tty.undo_len && takes_bytes(READY_MS)) {
        ssize_t n = write(tty.fd, tty.undo + done, tty.undo_len - done);
        if (n <= 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    tcflush(tty.fd, TCIFLUSH); /* mouse reports under way are not for the shell */
    tcsetattr(tty.fd, TCSANOW, &tty.modes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}

static void raise_default(int sig)
{
    struct sigaction fall = {.sa_handler = SIG_DFL};
    sigaction(sig, &fall, NULL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, sig);
    raise(sig);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void on_fatal(int sig)
{
    signals_restore();
    raise_default(sig);
}

static void on_ending(int sig)
{
    if (tty.ending) {
        signals_restore();
        raise_default(sig);
    }
    tty.ending = sig;
    if (tty.watches) {
        const struct itimerspec every = {{0, WATCH_NS}, {0, WATCH_NS}};
        timer_settime(tty.watch, 0, &every, NULL);
    }
}

/* Asked to end some time ago and still here: perhaps at work, perhaps in a write that nobody will ever read. */
static void on_watch(int sig)
{
    (void)sig;
    int saved = errno;
    if (tty.taken && tty.ending && !takes_bytes(0)) {
        signals_restore();
        raise_default(tty.ending);
    }
    errno = saved;
}

static bool is_ignored(int sig)
{
    struct sigaction now;
    return sigaction(sig, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN;
}

/* Sets a handler and notes what was there; a signal that is ignored (nohup) stays ignored. */
static void handle(int sig, const struct sigaction *with, struct sigaction *old)
{
    sigaction(sig, NULL, old);
    if (!is_ignored(sig))
        sigaction(sig, with, NULL);
}

static void arm_watch(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction a = {.sa_handler = on_watch, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, &old_alarm);
    if (!tty.watches)
        tty.watches = timer_create(CLOCK_MONOTONIC, &event, &tty.watch) == 0;
}

static void on_stop(int sig)
{
    int saved = errno;
    struct sigaction again;
    sigaction(sig, NULL, &again);
    signals_restore();
    raise_default(sig); /* stops here; a group that nobody could continue is not stopped by the kernel */
    sigaction(sig, &again, NULL);
    tty.resumed = 1;
    errno = saved;
}

/* Stopped by SIGSTOP, which nobody can catch: the shell has put its own modes in place of ours. */
static void on_continue(int sig)
{
    (void)sig;
    if (tty.taken)
        tty.resumed = 1;
}

static void on_resize(int sig)
{
    (void)sig;
    tty.resized = 1;
}

static void restore_at_exit(void)
{
    signals_restore();
}

void signals_undo(const char *undo)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* no handler reads half of it */
    tty.undo_len = strlen(undo) < UNDO_BYTES ? strlen(undo) : UNDO_BYTES;
    memcpy(tty.undo, undo, tty.undo_len);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void signals_arm(int fd, const struct termios *modes, const char *undo)
{
    static char stack[65536]; /* a stack overflow is handled on this one */
    static bool registered;
    tty.fd = fd;
    tty.modes = *modes;
    signals_undo(undo);
    tty.taken = 1;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction a = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    sigfillset(&a.sa_mask);
    for (int i = 0; i < FATALS; i++)
        sigaction(fatal[i], &a, &old_fatal[i]);
    struct sigaction b = {.sa_handler = on_ending};
    for (int i = 0; i < ENDINGS; i++)
        handle(ending[i], &b, &old_ending[i]);
    arm_watch();
    struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    handle(SIGTSTP, &stop, &old_stop);
    struct sigaction go_on = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &go_on, &old_continue);
    struct sigaction resize = {.sa_handler = on_resize, .sa_flags = SA_RESTART};
    sigaction(SIGWINCH, &resize, &old_resize);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &old_pipe);
    if (!registered)
        registered = atexit(restore_at_exit) == 0;
}

void signals_disarm(void)
{
    for (int i = 0; i < FATALS; i++)
        sigaction(fatal[i], &old_fatal[i], NULL);
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ending[i], &old_ending[i], NULL);
    sigaction(SIGTSTP, &old_stop, NULL);
    sigaction(SIGCONT, &old_continue, NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
    sigaction(SIGWINCH, &old_resize, NULL);
    if (tty.watches)
        timer_delete(tty.watch);
    tty.watches = false;
    sigaction(SIGALRM, &old_alarm, NULL);
    tty.taken = 0;
}

int signals_ending(void)
{
    return tty.ending;
}

void signals_reraise(void)
{
    if (tty.ending)
        raise_default(tty.ending);
}

bool signals_resumed(void)
{
    bool was = tty.resumed;
    tty.resumed = 0;
    return was;
}

bool signals_resized(void)
{
    bool was = tty.resized;
    tty.resized = 0;
    return was;
}

void signals_taken(void)
{
    tty.taken = 1;
}
