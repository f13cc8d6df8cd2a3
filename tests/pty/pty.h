/* A program behind a pseudo-terminal of its own, driven and listened to. Shared by the tests of tests/pty. */
#ifndef VITRINE_TESTS_PTY_PTY_H
#define VITRINE_TESTS_PTY_PTY_H
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Pty {
    int fd;
    pid_t pid;
    int status; /* wait status, once ended */
    bool ended;
    FILE *log; /* gets every byte; may be NULL */
} Pty;

static inline int64_t pty_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline bool pty_start(Pty *p, char *const argv[], unsigned short width, unsigned short height, FILE *log)
{
    struct winsize size = {.ws_row = height, .ws_col = width};
    *p = (Pty){.log = log};
    fflush(NULL);
    p->pid = forkpty(&p->fd, NULL, NULL, &size);
    if (p->pid == 0) {
        /* whoever started the tests in the background may have had these ignored, and ignored stays ignored */
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        execvp(argv[0], argv);
        _exit(127);
    }
    return p->pid > 0;
}

static inline void pty_size(const Pty *p, unsigned short width, unsigned short height)
{
    struct winsize size = {.ws_row = height, .ws_col = width};
    ioctl(p->fd, TIOCSWINSZ, &size);
}

/* Never a group, never everybody. */
static inline void pty_signal(const Pty *p, int sig)
{
    if (p->pid > 1 && !p->ended)
        kill(p->pid, sig);
}

static inline bool pty_alive(Pty *p)
{
    if (!p->ended && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
        p->ended = true;
    return !p->ended;
}

/* Reads what comes until nothing came for quiet_ms, or for most_ms in all. Bytes read; −1 when the other end is shut.
 */
static inline long pty_listen(Pty *p, int quiet_ms, int most_ms)
{
    char chunk[1 << 16];
    long all = 0;
    for (int64_t until = pty_now_ms() + most_ms; pty_now_ms() < until;) {
        struct pollfd f = {.fd = p->fd, .events = POLLIN};
        if (poll(&f, 1, quiet_ms) <= 0)
            return all;
        ssize_t n = read(p->fd, chunk, sizeof chunk);
        if (n <= 0)
            return n < 0 && errno == EINTR ? all : -1;
        if (p->log)
            fwrite(chunk, 1, (size_t)n, p->log);
        all += n;
    }
    return all;
}

static inline void pty_send(const Pty *p, const char *bytes, size_t n)
{
    while (n) {
        ssize_t put = write(p->fd, bytes, n);
        if (put <= 0)
            return;
        bytes += put;
        n -= (size_t)put;
    }
}

/* Sends while listening, as a terminal does: a program that is busy writing reads no keys until its bytes are taken. */
static inline void pty_type(Pty *p, const char *bytes, size_t n)
{
    int flags = fcntl(p->fd, F_GETFL);
    fcntl(p->fd, F_SETFL, flags | O_NONBLOCK);
    while (n) {
        struct pollfd f = {.fd = p->fd, .events = POLLIN | POLLOUT};
        if (poll(&f, 1, 10000) <= 0 || (f.revents & (POLLERR | POLLHUP | POLLNVAL)))
            break;
        if (f.revents & POLLIN)
            pty_listen(p, 0, 1);
        ssize_t put = write(p->fd, bytes, n);
        if (put < 0 && errno != EAGAIN && errno != EINTR)
            break;
        bytes += put > 0 ? put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    fcntl(p->fd, F_SETFL, flags);
}

/* Waits for its end while listening; false when it did not come. */
static inline bool pty_end(Pty *p, int most_ms)
{
    for (int64_t until = pty_now_ms() + most_ms; pty_alive(p) && pty_now_ms() < until;)
        if (pty_listen(p, 20, 100) < 0)
            usleep(5000);
    return !pty_alive(p);
}
#endif
