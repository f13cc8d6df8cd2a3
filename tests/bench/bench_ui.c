/* How long the screen keeps a person waiting: start to first frame, key to frame, what-if to frame, idle CPU, of the
 * picture model and of the translator; and how long a long sentence takes to be translated. Drives the real program on
 * a pseudo-terminal. Usage: bench_ui PROGRAM [-o FILE.json] */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"

enum { QUIET_MS = 40, ROUNDS = 15 };

static double ms_since(int64_t from)
{
    return (double)(clock_ns() - from) / 1e6;
}

static pid_t start(const char *program, const char *model, int h, int w, const char *colour, int *fd)
{
    struct winsize size = {.ws_row = (unsigned short)h, .ws_col = (unsigned short)w};
    pid_t pid = forkpty(fd, NULL, NULL, &size);
    if (pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        execl(program, program, "--fresh", "--colour", colour, model ? "-m" : (char *)NULL, model, (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Reads until the program has been quiet; returns when its last byte came, in ms after `from`. */
static double settle(int fd, int64_t from, size_t *bytes)
{
    char buf[65536];
    double last = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int wait = 3000; poll(&p, 1, wait) > 0; wait = QUIET_MS) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n <= 0)
            break;
        *bytes += (size_t)n;
        last = ms_since(from);
    }
    return last;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

static double press(int fd, const char *keys, size_t *bytes)
{
    int64_t t = clock_ns();
    if (write(fd, keys, strlen(keys)) < 0)
        return -1;
    return settle(fd, t, bytes);
}

static void stop(pid_t pid, int fd)
{
    size_t none = 0;
    press(fd, "q", &none);
    close(fd);
    if (pid > 1)
        waitpid(pid, NULL, 0);
}

static double cpu_seconds(pid_t pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, sys = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f) {
        const char *p = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
        if (!p || sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
            user = sys = 0;
        fclose(f);
    }
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static void bench(const char *program, const char *model, int h, int w, const char *colour, FILE *json, int first)
{
    double begin[ROUNDS], step[ROUNDS], move[ROUNDS], edit[ROUNDS], undo[ROUNDS];
    size_t frame_bytes = 0, bytes = 0;
    int fd = -1;
    pid_t pid = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t = clock_ns();
        frame_bytes = 0;
        pid = start(program, model, h, w, colour, &fd);
        begin[i] = settle(fd, t, &frame_bytes);
        if (i + 1 < ROUNDS)
            stop(pid, fd);
    }
    press(fd, "10G", &bytes); /* a step in block 0 */
    for (int i = 0; i < ROUNDS; i++) {
        step[i] = press(fd, i % 2 ? "p" : " ", &bytes);
        move[i] = press(fd, i % 2 ? "h" : "l", &bytes);
        edit[i] = press(fd, "s", &bytes);
        undo[i] = press(fd, "u", &bytes);
    }
    double idle = cpu_seconds(pid);
    usleep(1500000);
    idle = cpu_seconds(pid) - idle;
    stop(pid, fd);
    double v[] = {median(begin, ROUNDS), median(step, ROUNDS), median(move, ROUNDS), median(edit, ROUNDS),
                  median(undo, ROUNDS)};
    printf("%-8s %4d×%-4d %-5s  %8.1f  %8.1f  %8.1f  %8.1f  %8.1f  %7.0f kB  %6.1f %%\n", model ? "words" : "picture",
           w, h, colour, v[0], v[1], v[2], v[3], v[4], (double)frame_bytes / 1e3, idle / 1.5 * 100);
    if (json)
        fprintf(json,
                "%s{\"model\":\"%s\",\"columns\":%d,\"rows\":%d,\"colour\":\"%s\",\"start_ms\":%.2f,\"step_ms\":%.2f,"
                "\"move_ms\":%.2f,"
                "\"edit_ms\":%.2f,\"undo_ms\":%.2f,"
                "\"first_frame_bytes\":%zu,\"idle_cpu\":%.4f}",
                first ? "" : ",\n", model ? "words" : "picture", w, h, colour, v[0], v[1], v[2], v[3], v[4],
                frame_bytes, idle / 1.5);
}

/* The whole program, from its start to the end of what it writes, greedily. */
static void bench_translate(const char *program, FILE *json)
{
    static const char SENTENCE[] =
        "the big black cat did not cross the small red street in the old garden because it was too tired";
    double ms[ROUNDS];
    char text[1024] = "";
    for (int i = 0; i < ROUNDS; i++) {
        int out[2];
        int64_t t = clock_ns();
        pid_t pid = pipe(out) == 0 ? fork() : -1;
        if (pid == 0) {
            dup2(out[1], STDOUT_FILENO);
            execl(program, program, "translate", SENTENCE, (char *)NULL);
            _exit(127);
        }
        close(out[1]);
        size_t used = 0;
        for (ssize_t n; (n = read(out[0], text + used, sizeof text - 1 - used)) > 0;)
            used += (size_t)n;
        text[used] = 0;
        close(out[0]);
        if (pid > 1)
            waitpid(pid, NULL, 0);
        ms[i] = ms_since(t);
    }
    text[strcspn(text, "\n")] = 0;
    printf("translating: %.1f ms from the start of the program to its end, for\n  %s\n  %s\n", median(ms, ROUNDS),
           SENTENCE, text);
    if (json)
        fprintf(json, ",\n{\"translate_ms\":%.2f}", median(ms, ROUNDS));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: bench_ui PROGRAM [-o FILE.json]\n", stderr);
        return 2;
    }
    FILE *json = argc > 3 && strcmp(argv[2], "-o") == 0 ? fopen(argv[3], "w") : NULL;
    if (json)
        fputs("[", json);
    printf("medians of %d, in ms until the last byte of the frame arrived\n%-24s %9s %9s %9s %9s %9s %11s %9s\n",
           ROUNDS, "screen", "start", "step", "move", "what-if", "undo", "1st frame", "idle CPU");
    static const struct {
        int h, w;
        const char *colour;
    } CASES[] = {{24, 80, "256"},  {40, 120, "256"},  {60, 200, "256"},
                 {24, 80, "true"}, {40, 120, "true"}, {60, 200, "true"}};
    static const char *const MODELS[] = {NULL, "translator"};
    for (size_t m = 0; m < sizeof MODELS / sizeof *MODELS; m++)
        for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
            bench(argv[1], MODELS[m], CASES[i].h, CASES[i].w, CASES[i].colour, json, m == 0 && i == 0);
    bench_translate(argv[1], json);
    if (json) {
        fputs("]\n", json);
        fclose(json);
    }
    return 0;
}
