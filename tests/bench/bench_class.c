/* What a class costs the presenter: key to frame alone, with 60 followers (real ones, each on a terminal of its own),
 * and with 200 that only read; what a step costs in bytes; and when it is on the followers' screens, of one follower
 * and of 60, where inotify is to be had and where it is not (all instances of it taken before they start).
 * A step that is later than 100 ms on the last follower's screen (600 where inotify is not to be had), in the median,
 * is a failure. Usage: bench_class PROGRAM [FOLLOWERS [READERS]] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tui/classroom.h"

enum { MOST = 512, ROUNDS = 20, QUIET_MS = 60 };

static struct pollfd fds[MOST]; /* the presenter's terminal first */
static int lines_of[MOST];
static double first[MOST]; /* ms until a terminal said something, 0: not yet */
static pid_t pids[MOST];
static int count;
static size_t read_bytes; /* by readers */
static int readers_from = MOST;

static double ms_since(int64_t from)
{
    return (double)(clock_ns() - from) / 1e6;
}

static void start(const char *program, const char *verb, const char *what, int h, int w)
{
    struct winsize size = {.ws_row = (unsigned short)h, .ws_col = (unsigned short)w};
    int fd;
    pid_t pid = forkpty(&fd, NULL, NULL, &size);
    if (pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        if (strcmp(verb, "share") == 0)
            execl(program, program, verb, what, "--name", "bench", "--threads", "1", (char *)NULL);
        else
            execl(program, program, verb, what, "--threads", "1", (char *)NULL);
        _exit(127);
    }
    fds[count] = (struct pollfd){.fd = fd, .events = POLLIN};
    pids[count++] = pid;
}

/* Reads everything that comes until the presenter's terminal was quiet (answer: after it has said something); when its
 * last byte came, in ms after `from`. */
static double settle(int64_t from, int quiet_ms, bool answer)
{
    static char bytes[65536];
    double last = 0;
    int64_t heard = clock_ns();
    memset(first, 0, sizeof first);
    while (ms_since(heard) < (answer && last == 0 ? 3000 : quiet_ms)) {
        if (poll(fds, (nfds_t)count, 10) <= 0)
            continue;
        for (int i = 0; i < count; i++) {
            if (!fds[i].revents)
                continue;
            ssize_t n = read(fds[i].fd, bytes, sizeof bytes);
            if (n <= 0) {
                fds[i].fd = -fds[i].fd - 1; /* poll passes it over */
                continue;
            }
            first[i] = first[i] > 0 ? first[i] : ms_since(from);
            if (i == 0) {
                last = ms_since(from);
                heard = clock_ns();
            }
        }
    }
    ssize_t n;
    for (int i = readers_from; i < count; i++)
        while ((n = read(lines_of[i], bytes, sizeof bytes)) > 0)
            read_bytes += (size_t)n;
    return last;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median until a step is on the last follower's screen, in ms. */
static double measure(const char *what, int quiet_ms)
{
    double ms[ROUNDS], begun[ROUNDS], at[ROUNDS] = {0}, typical[ROUNDS] = {0};
    size_t before = read_bytes;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t = clock_ns();
        if (write(fds[0].fd, i % 2 ? "p" : " ", 1) != 1)
            exit(1);
        ms[i] = settle(t, quiet_ms, true);
        begun[i] = first[0];
        qsort(first + 1, (size_t)count - 1, sizeof *first, by_value);
        at[i] = count > 1 && first[1] > 0 ? first[count - 1] : 9999; /* of the last follower; somebody said nothing */
        typical[i] = first[count / 2];
    }
    qsort(begun, ROUNDS, sizeof *begun, by_value);
    qsort(at, ROUNDS, sizeof *at, by_value);
    qsort(typical, ROUNDS, sizeof *typical, by_value);
    qsort(ms, ROUNDS, sizeof *ms, by_value);
    printf("%-24s frame begun %5.1f, longest %5.1f; all of it %5.1f, longest %5.1f ms", what, begun[ROUNDS / 2],
           begun[ROUNDS - 1], ms[ROUNDS / 2], ms[ROUNDS - 1]);
    if (readers_from < count)
        printf("   %.0f bytes a step and reader", (double)(read_bytes - before) / (count - readers_from) / ROUNDS);
    else if (count > 1)
        printf("   on a follower's %.1f, on the last one's %.1f, longest %.1f ms", typical[ROUNDS / 2], at[ROUNDS / 2],
               at[ROUNDS - 1]);
    putchar('\n');
    fflush(stdout);
    return at[ROUNDS / 2];
}

/* A reader is woken by the directory, where there are watches enough, and reads what is new, as a follower does. */
static void reader(const char *folder, const char *lines)
{
    int fd = inotify_init1(IN_NONBLOCK);
    lines_of[count] = open(lines, O_RDONLY);
    if ((fd >= 0 && inotify_add_watch(fd, folder, IN_MODIFY) < 0) || lines_of[count] < 0) {
        perror(lines);
        exit(1);
    }
    lseek(lines_of[count], 0, SEEK_END);
    fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* So many follow, are measured, and leave. False: a step came later than that. */
static bool class(const char *program, int followers, const char *what, int quiet_ms, double most_ms)
{
    for (int i = 0; i < followers; i++) {
        start(program, "join", "bench", 24 + i % 3 * 8, 80 + i % 4 * 20);
        settle(clock_ns(), 20, false);
    }
    settle(clock_ns(), 3000, false);
    bool soon = measure(what, quiet_ms) <= most_ms;
    if (!soon)
        printf("%s: a step takes longer than %g ms\n", what, most_ms);
    for (int i = 1; i < count; i++) {
        if (pids[i] > 1)
            kill(pids[i], SIGTERM);
        close(fds[i].fd < 0 ? -fds[i].fd - 1 : fds[i].fd);
    }
    for (int i = 1; i < count; i++)
        if (pids[i] > 1)
            waitpid(pids[i], NULL, 0);
    count = 1;
    settle(clock_ns(), 500, false);
    return soon;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/vitrine-bench-XXXXXX", path[100], lines[120], line[160];
    int followers = argc > 2 ? atoi(argv[2]) : 60, readers = argc > 3 ? atoi(argv[3]) : 200;
    if (argc < 2 || followers + readers + 1 > MOST || !mkdtemp(folder)) {
        fputs("usage: bench_class PROGRAM [FOLLOWERS [READERS]]\n", stderr);
        return 2;
    }
    setenv("XDG_RUNTIME_DIR", folder, 1);
    setenv("VITRINE_SHARE", folder, 1);
    setenv("HOME", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    signal(SIGPIPE, SIG_IGN);
    start(argv[1], "share", "heads", 40, 120);
    settle(clock_ns(), 1500, false);
    for (int i = 0; i < 3; i++) { /* away with how to join, and to the first step with attention */
        if (write(fds[0].fd, " ", 1) != 1)
            return 1;
        settle(clock_ns(), 500, false);
    }
    measure("alone", QUIET_MS);
    bool soon = class(argv[1], 1, "with 1 follower", 200, 100);
    snprintf(line, sizeof line, "with %d followers", followers);
    soon &= class(argv[1], followers, line, 400, 100);
    int taken[MOST * 16], take = 0;
    while (take < MOST * 16 && (taken[take] = inotify_init1(0)) >= 0)
        take++;
    soon &= class(argv[1], 1, "with 1 without inotify", 800, 600);
    while (take > 0)
        close(taken[--take]);
    snprintf(path, sizeof path, "%s/vitrine-class-bench", folder);
    snprintf(lines, sizeof lines, "%s/" CLASS_LINES, path);
    readers_from = 1;
    for (int i = 0; i < readers; i++) {
        reader(path, lines);
        settle(clock_ns(), 10, false);
    }
    settle(clock_ns(), 1000, false);
    snprintf(line, sizeof line, "with %d that only read", readers);
    measure(line, QUIET_MS);
    if (write(fds[0].fd, "qq", 2) != 2)
        return 1;
    waitpid(pids[0], NULL, 0);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line) != 0 || !soon;
}
