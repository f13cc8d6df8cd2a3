/* A library to preload: while the program works, signals come all the time, and none of their handlers asks for calls
 * to be restarted: whatever blocks returns with EINTR again and again. STORM_COUNT=FILE gets a line that says
 * how many came. Children
 * have no storm: timers are not inherited. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long came;
static pid_t home; /* children are other programs */

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&came, 1);
}

__attribute__((constructor)) static void begin(void)
{
    /* every so many microseconds; the program puts handlers of its own in the place of some */
    static const struct {
        int sig;
        long every_us;
    } STORM[] = {{SIGWINCH, 1700}, {SIGALRM, 700}, {SIGUSR2, 300}};
    unsetenv("LD_PRELOAD");
    home = getpid();
    for (size_t i = 0; i < sizeof STORM / sizeof *STORM; i++) {
        struct sigaction a = {.sa_handler = on_signal}; /* without SA_RESTART */
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = STORM[i].sig};
        struct itimerspec every = {{0, STORM[i].every_us * 1000}, {0, STORM[i].every_us * 1000}};
        timer_t timer;
        if (STORM[i].sig != SIGWINCH || !isatty(STDOUT_FILENO)) /* a screen has its own handler for that one */
            sigaction(STORM[i].sig, &a, NULL);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
            timer_settime(timer, 0, &every, NULL);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("STORM_COUNT");
    if (!path || getpid() != home)
        return;
    char line[32];
    int n = snprintf(line, sizeof line, "%ld\n", atomic_load(&came));
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        syscall(SYS_write, fd, line, n);
        syscall(SYS_close, fd);
    }
}
