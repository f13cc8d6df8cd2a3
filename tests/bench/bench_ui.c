/* How long the screen keeps a person waiting: start to first frame, key to frame, what-if to frame, idle CPU. Drives
 * the real program on a pseudo-terminal. With a second program (an older build, say) the two take turns, round by
 * round, and their ratio is printed. With a large model, key to frame on the screens that show most of it. Usage:
 * bench_ui PROGRAM [-o FILE.json] [--against PROGRAM] [--large MODEL] */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
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

typedef struct {
    int h, w;
    const char *colour, *text; /* the sentence that opens the translator, or NULL for the picture */
} Case;

static const char SENTENCE[] = "the animal did not cross the street because it was too tired";
static const Case CASES[] = {{24, 80, "256", NULL},     {40, 120, "256", NULL},     {60, 200, "256", NULL},
                             {24, 80, "true", NULL},    {40, 120, "true", NULL},    {60, 200, "true", NULL},
                             {24, 80, "256", SENTENCE}, {40, 120, "256", SENTENCE}, {60, 200, "256", SENTENCE}};

enum { START, STEP, MOVE, WHAT_IF, UNDO, FIGURES };
static const char *const NAMES[FIGURES] = {"start", "step", "move", "what-if", "undo"};

/* One program under one case: its process and what was measured of it. */
typedef struct {
    const char *program;
    pid_t pid;
    int fd;
    size_t frame_bytes;
    bool gone; /* it ended by itself: this build does not open the case */
    double idle, ms[FIGURES][ROUNDS], median[FIGURES];
} Side;

static void start(Side *s, const Case *c)
{
    struct winsize size = {.ws_row = (unsigned short)c->h, .ws_col = (unsigned short)c->w};
    s->pid = forkpty(&s->fd, NULL, NULL, &size);
    if (s->pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        execl(s->program, s->program, "--fresh", "--colour", c->colour, c->text, (char *)NULL);
        _exit(127);
    }
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

static void stop(Side *s)
{
    size_t none = 0;
    press(s->fd, "q", &none);
    close(s->fd);
    if (s->pid > 1)
        waitpid(s->pid, NULL, 0);
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

/* The softmax of the first block by its name: which number it has on the tour differs between versions. */
static void open_pattern(Side *s, const Case *c)
{
    size_t bytes = 0;
    press(s->fd, c->text ? ":goto encoder.blocks.0.self_attn.pattern\r" : ":goto blocks.0.attn.pattern\r", &bytes);
}

static void measure_start(Side *s, const Case *c, int round)
{
    int64_t t = clock_ns();
    s->frame_bytes = 0;
    start(s, c);
    s->ms[START][round] = settle(s->fd, t, &s->frame_bytes);
}

static void measure_keys(Side *s, int round)
{
    size_t bytes = 0;
    s->ms[STEP][round] = press(s->fd, round % 2 ? "p" : " ", &bytes);
    s->ms[MOVE][round] = press(s->fd, round % 2 ? "h" : "l", &bytes);
    s->ms[WHAT_IF][round] = press(s->fd, "s", &bytes);
    s->ms[UNDO][round] = press(s->fd, "u", &bytes);
}

static void bench(Side *sides, int n, const Case *c)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < n; k++) {
            measure_start(&sides[k], c, i);
            if (i + 1 < ROUNDS)
                stop(&sides[k]);
        }
    for (int k = 0; k < n; k++) {
        sides[k].gone = sides[k].pid > 1 && waitpid(sides[k].pid, NULL, WNOHANG) != 0;
        if (!sides[k].gone)
            open_pattern(&sides[k], c);
    }
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < n; k++)
            if (!sides[k].gone)
                measure_keys(&sides[k], i);
    for (int k = 0; k < n; k++) {
        if (sides[k].gone) {
            close(sides[k].fd);
            continue;
        }
        double before = cpu_seconds(sides[k].pid);
        usleep(1500000);
        sides[k].idle = (cpu_seconds(sides[k].pid) - before) / 1.5;
        stop(&sides[k]);
        for (int f = 0; f < FIGURES; f++)
            sides[k].median[f] = median(sides[k].ms[f], ROUNDS);
    }
}

static void print_side(const Side *s, const Case *c, const char *name)
{
    printf("%4d×%-4d %-5s %-8s", c->w, c->h, c->colour, name);
    for (int f = 0; f < FIGURES; f++)
        printf(" %8.1f", s->median[f]);
    printf("  %7.0f kB  %6.1f %%\n", (double)s->frame_bytes / 1e3, s->idle * 100);
}

static void print_ratio(const Side *now, const Side *then)
{
    printf("%-24s", "    ratio, first/second");
    for (int f = 0; f < FIGURES; f++)
        printf(" %8.2f", then->median[f] > 0 ? now->median[f] / then->median[f] : 0);
    printf("\n");
}

static void write_json(FILE *f, const Side *s, const Case *c, bool first)
{
    fprintf(f, "%s{\"columns\":%d,\"rows\":%d,\"colour\":\"%s\",\"model\":\"%s\"", first ? "" : ",\n", c->w, c->h,
            c->colour, c->text ? "translator" : "picture");
    static const char *const KEYS[FIGURES] = {"start_ms", "step_ms", "move_ms", "edit_ms", "undo_ms"};
    for (int k = 0; k < FIGURES; k++)
        fprintf(f, ",\"%s\":%.2f", KEYS[k], s->median[k]);
    fprintf(f, ",\"first_frame_bytes\":%zu,\"idle_cpu\":%.4f}", s->frame_bytes, s->idle);
}

/* The cursor's move on a large model's screens, with the map's strips beside them: what they show was computed before,
 * in the steps between frames. */
static void bench_large(const char *program, const char *model, FILE *json)
{
    static const struct {
        const char *name, *line;
    } SCREENS[] = {{"picture", ":goto image\r"},
                   {"alike", ":alike\r"},
                   {"heat", ":goto blocks.5.mlp.post; view heat\r"},
                   {"sheet", ":goto blocks.5.attn.pattern; view sheet\r"},
                   {"row", ":goto blocks.5.attn.pattern; view row\r"},
                   {"matrix", ":goto blocks.5.attn.pattern; view matrix\r"},
                   {"lens", ":lens\r"},
                   {"measuring", ":where\r"}}; /* while occlusion runs: a slice of it may stand before the frame */
    static const int SIZES[][2] = {{24, 80}, {40, 120}, {60, 200}};
    enum { PATIENCE_MS = 2500 };
    printf("%s, key to frame: least and median of %d, in ms\n%-10s", model, ROUNDS, "");
    for (int i = 0; i < 3; i++)
        printf("     %4d×%-4d   ", SIZES[i][1], SIZES[i][0]);
    double ms[sizeof SCREENS / sizeof *SCREENS][3][ROUNDS];
    for (int i = 0; i < 3; i++) {
        struct winsize size = {.ws_row = (unsigned short)SIZES[i][0], .ws_col = (unsigned short)SIZES[i][1]};
        int fd;
        pid_t pid = forkpty(&fd, NULL, NULL, &size);
        if (pid == 0) {
            setenv("TERM", "xterm-256color", 1);
            setenv("LC_ALL", "C.UTF-8", 1);
            execl(program, program, "--fresh", "-m", model, "-i", "#66", (char *)NULL);
            _exit(127);
        }
        Side s = {.pid = pid, .fd = fd};
        struct pollfd p = {.fd = fd, .events = POLLIN};
        size_t bytes = 0;
        for (size_t k = 0; k < sizeof SCREENS / sizeof *SCREENS; k++) {
            press(fd, SCREENS[k].line, &bytes);
            while (poll(&p, 1, PATIENCE_MS) > 0 && settle(fd, clock_ns(), &bytes) > 0) /* until all is computed */
                continue;
            for (int round = 0; round < ROUNDS; round++)
                ms[k][i][round] = press(fd, round % 2 ? "h" : "l", &bytes);
        }
        stop(&s);
    }
    for (size_t k = 0; k < sizeof SCREENS / sizeof *SCREENS; k++) {
        printf("\n%-10s", SCREENS[k].name);
        for (int i = 0; i < 3; i++) {
            double middle = median(ms[k][i], ROUNDS); /* which sorts them */
            printf(" %8.1f %6.1f", ms[k][i][0], middle);
            if (json)
                fprintf(json, ",\n{\"screen\":\"%s\",\"columns\":%d,\"least_ms\":%.2f,\"median_ms\":%.2f}",
                        SCREENS[k].name, SIZES[i][1], ms[k][i][0], middle);
        }
    }
    printf("\n");
}

/* The whole program, from its start to the end of what it writes, greedily: a sentence of 23 words. */
static void bench_translate(const char *program, FILE *json)
{
    static const char LONG[] =
        "the small black animal did not take the big red apple in the old park because it was too heavy";
    double ms[ROUNDS];
    char text[4096] = "";
    for (int i = 0; i < ROUNDS; i++) {
        int out[2];
        int64_t t = clock_ns();
        if (pipe(out) != 0)
            return;
        pid_t pid = fork();
        if (pid == 0) {
            dup2(out[1], STDOUT_FILENO);
            execl(program, program, "translate", LONG, (char *)NULL);
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
    printf("translating: %.1f ms from the start of the program to its end, for\n  %s\n  %s\n", median(ms, ROUNDS), LONG,
           text);
    if (json)
        fprintf(json, ",\n{\"translate_ms\":%.2f}", median(ms, ROUNDS));
}

int main(int argc, char **argv)
{
    const char *out = NULL, *other = NULL, *large = NULL;
    bool usage = argc < 2;
    for (int i = 2; i < argc; i += 2) {
        const char **value = strcmp(argv[i], "-o") == 0          ? &out
                             : strcmp(argv[i], "--against") == 0 ? &other
                             : strcmp(argv[i], "--large") == 0   ? &large
                                                                 : NULL;
        if (value && i + 1 < argc)
            *value = argv[i + 1];
        else
            usage = true;
    }
    if (usage) {
        fputs("usage: bench_ui PROGRAM [-o FILE.json] [--against PROGRAM] [--large MODEL]\n", stderr);
        return 2;
    }
    FILE *json = out ? fopen(out, "w") : NULL;
    if (json)
        fputs("[", json);
    printf("medians of %d, in ms until the last byte of the frame arrived\n%-24s", ROUNDS, "screen");
    for (int f = 0; f < FIGURES; f++)
        printf(" %8s", NAMES[f]);
    printf("  %10s  %8s\n", "1st frame", "idle CPU");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const Case *c = &CASES[i];
        Side sides[2] = {{.program = argv[1]}, {.program = other}};
        bench(sides, other ? 2 : 1, c);
        print_side(&sides[0], c, c->text ? "text" : "picture");
        if (other && sides[1].gone)
            printf("    the second does not open this\n");
        else if (other) {
            print_side(&sides[1], c, "second");
            print_ratio(&sides[0], &sides[1]);
        }
        fflush(stdout);
        if (json)
            write_json(json, &sides[0], c, i == 0);
    }
    bench_translate(argv[1], json);
    if (large)
        bench_large(argv[1], large, json);
    if (json) {
        fputs("]\n", json);
        fclose(json);
    }
    return 0;
}
