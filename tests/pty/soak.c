/* soak KEYS SEED PROGRAM ARGUMENT…: so many random keys, with resizes, pastes, mouse clicks and torn sequences among
 * them; the program must be alive after each, must not grow without bound, and must leave as asked. Built with a
 * sanitizer it is the program that complains: its last words are printed. */
#include <ctype.h>

#include "tests/pty/pty.h"

enum { BATCH = 128, QUIET_MS = 15, STUCK_MS = 60000, GROWTH_KB = 400 << 10, TAIL = 4000 };

static uint64_t state;
static unsigned below(unsigned n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static long resident_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

/* One key, or what looks like one. Never q, quit or what writes files: those end the soak. */
static size_t key(char *out, size_t n)
{
    static const char *const NAMED[] = {"\033[A",
                                        "\033[B",
                                        "\033[C",
                                        "\033[D",
                                        "\033[H",
                                        "\033[F",
                                        "\033[5~",
                                        "\033[6~",
                                        "\t",
                                        "\033[Z",
                                        "\r",
                                        "\033",
                                        " ",
                                        "\177",
                                        "\014",
                                        "\033OP",
                                        "\033[3~",
                                        "\003",
                                        "\033[1;5C",
                                        "\033[200~goto logits\033[201~",
                                        "\033[<0;10;5M",
                                        "\033[<64;40;9M",
                                        "\033[<65;3;3M",
                                        "\033[",
                                        "\033]0;x\a",
                                        "\xc3",
                                        "\xe2\x80\xae",
                                        "\033[12;40R"};
    static const char *const LINES[] = {":goto blocks.1.attn.pattern\r",
                                        ":view matrix\r",
                                        ":set scale off\r",
                                        ":compare sides\r",
                                        ":gradient logits[o=1]\r",
                                        ":gradient off\r",
                                        ":reset edits\r",
                                        ":open #5\r",
                                        ":lens\r",
                                        ":training\r",
                                        ":where\r",
                                        ":census\r",
                                        ":pin\r",
                                        ":grey r1c1\r",
                                        ":ablate blocks.0.attn.z[h=1]\r",
                                        ":explain\r",
                                        ":nonsense\r",
                                        ":goto probs[o=2]; view formula\r",
                                        ":undo\r",
                                        ":restart\r"};
    unsigned kind = below(20);
    if (kind < 8) {
        char c = (char)(33 + below(94));
        out[0] = c == 'q' || c == 'Q' || c == 'Z' ? ' ' : c;
        return 1;
    }
    const char *text = kind < 17 ? NAMED[below(sizeof NAMED / sizeof *NAMED)]
                                 : LINES[below(sizeof LINES / sizeof *LINES)];
    return (size_t)snprintf(out, n, "%s", text);
}

static int complain(const char *what, long done)
{
    printf("%s after %ld keys\n", what, done);
    return 1;
}

/* The end of what it sent, which is a sanitizer's report if there is one. */
static void last_words(FILE *log)
{
    long all = ftell(log);
    fseek(log, all > TAIL ? all - TAIL : 0, SEEK_SET);
    for (long i = 0; i < TAIL; i++) {
        int c = fgetc(log);
        if (c == EOF)
            break;
        putchar(isprint(c) || c == '\n' ? c : '.');
    }
}

int main(int argc, char **argv)
{
    Pty p;
    if (argc < 4)
        return 98;
    long keys = atol(argv[1]), first = 0;
    state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    FILE *log = tmpfile();
    if (!log || !pty_start(&p, argv + 3, 120, 40, log))
        return 98;
    for (int i = 0; i < 400 && pty_listen(&p, 50, 50) == 0; i++)
        continue;
    for (long done = 0; done < keys;) {
        char bytes[BATCH * 64];
        size_t n = 0;
        /* held keys come faster than frames: both what is drawn after every few and what is not must hold */
        static const int BATCHES[] = {4, 16, 64, BATCH};
        for (int i = BATCHES[below(4)]; i > 0 && done < keys; i--, done++)
            n += key(bytes + n, sizeof bytes - n);
        pty_type(&p, bytes, n);
        if (below(12) == 0)
            pty_size(&p, (unsigned short)(1 + below(220)), (unsigned short)(1 + below(70)));
        if (pty_listen(&p, QUIET_MS, STUCK_MS) < 0 || !pty_alive(&p)) {
            last_words(log);
            return complain("\nit ended", done);
        }
        if (ftell(log) > 1 << 22)
            rewind(log);
        if (done >= 2000 && !first)
            first = resident_kb(p.pid);
        if (first && done % 4096 < BATCH && resident_kb(p.pid) > first + GROWTH_KB) {
            pty_signal(&p, SIGKILL);
            return complain("it grew beyond bounds", done);
        }
    }
    long last = resident_kb(p.pid);
    pty_size(&p, 120, 40);
    for (int i = 0; i < 60 && !pty_end(&p, 100); i++)
        pty_type(&p, i % 3 == 0 ? "\003" : i % 3 == 1 ? "\033" : "qq", i % 3 == 2 ? 2 : 1);
    pty_signal(&p, SIGTERM);
    if (!pty_end(&p, 5000)) {
        pty_signal(&p, SIGKILL);
        return complain("it did not end", keys);
    }
    bool clean = WIFEXITED(p.status) ? WEXITSTATUS(p.status) == 0 : WTERMSIG(p.status) == SIGTERM;
    printf("%ld keys, %ld MB at first, %ld MB at last, %s\n", keys, first >> 10, last >> 10,
           clean ? "left as asked" : "BADLY ENDED");
    return clean ? 0 : 1;
}
