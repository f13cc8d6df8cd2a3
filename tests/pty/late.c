/* late SIGNAL DELAY_MS PROGRAM ARGUMENT…: runs it, sends it the signal after the delay, and writes to descriptor 3 how
 * it ended and the milliseconds from the signal to its end: by the clock, and of processor time, which does not depend
 * on what else the machine does. "INT 12 4": ended by SIGINT; "0 0 0": status 0 before the signal came. Standard input,
 * output and error are the program's. Status 1 when it had to be killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LATE_MS = 20000 };

static const struct {
    const char *name;
    int number;
} SIGNALS[] = {{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* What wait4 would count now: the process and the children it has waited for, who decode its pictures. */
static double cpu_ms(pid_t pid)
{
    char name[64], line[1024] = "";
    unsigned long own[2] = {0}, children[2] = {0};
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(name, "r");
    if (f) {
        const char *after = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL; /* a name may hold anything */
        if (after)
            sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &own[0], &own[1],
                   &children[0], &children[1]);
        fclose(f);
    }
    return (double)(own[0] + own[1] + children[0] + children[1]) * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

int main(int argc, char **argv)
{
    int number = 0, status = 0;
    for (int i = 0; argc > 3 && i < SIGNAL_COUNT; i++)
        if (strcmp(argv[1], SIGNALS[i].name) == 0)
            number = SIGNALS[i].number;
    if (!number)
        return 98;
    fcntl(3, F_SETFD, FD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < SIGNAL_COUNT; i++) /* a shell ignores SIGINT for what runs in its background */
            signal(SIGNALS[i].number, SIG_DFL);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    if (pid <= 1)
        return 98;
    sleep_ms(atol(argv[2]));
    struct rusage used;
    bool over = wait4(pid, &status, WNOHANG, &used) == pid, killed = false;
    double asked = now_ms(), spent = over ? 0 : cpu_ms(pid), wall = 0, cpu = 0;
    if (!over) {
        kill(pid, number);
        while (wait4(pid, &status, WNOHANG, &used) == 0) {
            if (now_ms() - asked > LATE_MS && !killed) {
                killed = true;
                kill(pid, SIGKILL);
            }
            sleep_ms(1);
        }
        wall = now_ms() - asked;
        cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3 - spent;
    }
    const char *end = NULL;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGNALS[i].number)
            end = SIGNALS[i].name;
    if (end)
        dprintf(3, "%s %.0f %.0f\n", end, wall, cpu > 0 ? cpu : 0);
    else
        dprintf(3, "%d %.0f %.0f\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
                cpu > 0 ? cpu : 0);
    return killed ? 1 : 0;
}
