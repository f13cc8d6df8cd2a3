/* blocked PROGRAM ARGUMENT…: nobody reads the terminal any more, and the program hangs in a write to it; SIGTERM must
 * end it all the same. Prints how long that took; status 0 when it was no more than LATE_MS. */
#include "tests/pty/pty.h"

enum { LATE_MS = 1500 }; /* half a second, and a busy machine */

int main(int argc, char **argv)
{
    Pty p;
    if (argc < 2 || !pty_start(&p, argv + 1, 200, 60, NULL))
        return 98;
    for (int i = 0; i < 200 && pty_listen(&p, 50, 50) == 0; i++)
        continue;
    pty_listen(&p, 200, 20000);
    for (int i = 0; i < 60; i++) { /* whole frames, until no more goes in */
        struct pollfd f = {.fd = p.fd, .events = POLLOUT};
        if (poll(&f, 1, 100) == 1)
            pty_send(&p, i % 2 ? "\033" : "?", 1);
        usleep(20000);
    }
    if (!pty_alive(&p)) {
        puts("it ended by itself");
        return 1;
    }
    int64_t asked = pty_now_ms();
    pty_signal(&p, SIGTERM);
    while (pty_alive(&p) && pty_now_ms() - asked < 10000)
        usleep(10000);
    int took = (int)(pty_now_ms() - asked);
    bool ended = !pty_alive(&p), as_asked = ended && WIFSIGNALED(p.status) && WTERMSIG(p.status) == SIGTERM;
    pty_signal(&p, SIGKILL);
    printf("%d ms, %s\n", took, !ended ? "and it still hangs" : as_asked ? "by the signal" : "another way");
    return ended && as_asked && took <= LATE_MS ? 0 : 1;
}
