/* run [-k KEYS]… PROGRAM ARGUMENT…: runs a program on a terminal of 100 × 30, sends it each KEYS once it is quiet, and
 * writes all that it sent to standard output. Ends it with q twice, then with SIGTERM. Exit status: its own, 99 when it
 * had to be killed. */
#include "tests/pty/pty.h"

enum { KEYS = 64, QUIET_MS = 60, MOST_MS = 20000 };

int main(int argc, char **argv)
{
    const char *keys[KEYS];
    int count = 0, at = 1;
    for (; at + 1 < argc && strcmp(argv[at], "-k") == 0 && count < KEYS; at += 2)
        keys[count++] = argv[at + 1];
    Pty p;
    if (at >= argc || !pty_start(&p, argv + at, 100, 30, stdout))
        return 98;
    for (int i = 0; count && i < 200 && pty_alive(&p) && pty_listen(&p, 50, 50) == 0; i++)
        continue; /* until the first bytes */
    for (int i = 0; i < count && pty_alive(&p); i++) {
        pty_listen(&p, QUIET_MS, MOST_MS);
        pty_type(&p, keys[i], strlen(keys[i]));
    }
    pty_listen(&p, QUIET_MS, MOST_MS);
    for (int i = 0; i < 8 && count && !pty_end(&p, i && i % 2 == 0 ? 800 : 100);
         i++) /* after q it may be saving: ^C would end that */
        pty_type(&p, i % 2 ? "qq" : "\003\033", 2);
    if (!pty_end(&p, count ? 2000 : MOST_MS))
        pty_signal(&p, SIGTERM);
    if (!pty_end(&p, 3000)) {
        pty_signal(&p, SIGKILL);
        pty_end(&p, 3000);
        return 99;
    }
    return WIFEXITED(p.status) ? WEXITSTATUS(p.status) : 128 + WTERMSIG(p.status);
}
