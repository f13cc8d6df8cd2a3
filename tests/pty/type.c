/* type SECONDS [-k KEY] COMMAND ARGUMENT…: runs a command on a terminal of 80 × 24 and writes all that it sent to
 * standard output. With -k: once it has drawn a screen of its own (the alternate one), that key, once a second, until
 * it ends. Exit status: its own, 97 when no such screen came, 99 when it was killed after so many seconds. */
#include "tests/pty/pty.h"

int main(int argc, char **argv)
{
    char seen[1 << 16];
    size_t n = 0;
    int at = 2;
    const char *key = NULL;
    if (at + 1 < argc && strcmp(argv[at], "-k") == 0) {
        key = argv[at + 1];
        at += 2;
    }
    Pty p;
    if (at >= argc || !pty_start(&p, argv + at, 80, 24, NULL))
        return 98;
    bool screen = false;
    int64_t until = pty_now_ms() + 1000 * atoll(argv[1]), last = pty_now_ms();
    while (pty_now_ms() < until) {
        struct pollfd f = {.fd = p.fd, .events = POLLIN};
        if (poll(&f, 1, 200) > 0) {
            ssize_t got = read(p.fd, seen + n, sizeof seen - 1 - n);
            if (got <= 0 && errno != EINTR)
                break;
            fwrite(seen + n, 1, (size_t)got, stdout);
            fflush(stdout);
            n += (size_t)got;
            seen[n] = 0;
            screen = screen || strstr(seen, "\033[?1049h");
            if (n > sizeof seen / 2) { /* what may be half of a sequence stays */
                memmove(seen, seen + n - 16, 17);
                n = 16;
            }
        }
        if (key && screen && pty_now_ms() - last > 1000) {
            pty_send(&p, key, strlen(key));
            last = pty_now_ms();
        }
    }
    if (!pty_end(&p, 3000)) {
        pty_signal(&p, SIGKILL);
        pty_end(&p, 3000);
        return 99;
    }
    if (key && !screen)
        return 97;
    return WIFEXITED(p.status) ? WEXITSTATUS(p.status) : 128 + WTERMSIG(p.status);
}
