/* sweep LIBRARY PROGRAM POINTS: runs the program again and again, and each time another call of the system fails. Every
 * point must end in one of two ways: done, with the output that a run without faults gives; or status 1 or 2 with one
 * line that says why, no output file or the old one, and no temporary file. POINTS: at most so many of each kind and
 * command, evenly spread (0: all). Where the system lets it, in a process namespace of its own. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 16, KINDS = 9, CODES = 3, LATE_S = 30, OUT_MAX = 1 << 20 };

static const char *const KIND[KINDS] = {"alloc", "read", "write", "open", "fork", "mmap", "poll", "sync", "rename"};
/* How each kind fails; 0: less is read or written than was asked for. */
static const struct {
    int code[CODES], count;
} HOW[KINDS] = {{{ENOMEM}, 1},        {{EIO, EINTR, 0}, 3}, {{ENOSPC, EINTR, 0}, 3},
                {{EMFILE, EINTR}, 2}, {{EAGAIN}, 1},        {{ENOMEM}, 1},
                {{EINTR, ENOMEM}, 2}, {{EIO, EINTR}, 2},    {{EIO}, 1}};

/* Each writes to `out`, or to standard output. */
static const char *const COMMANDS[][WORDS] = {
    {"run", "#17"},
    {"run", "-i", "picture.png", "--json"},
    {"show", "blocks.1.attn.pattern", "-o", "out.npy"},
    {"show", "blocks.1", "-o", "out.npz"},
    {"screen", "logits", "-o", "out.svg"},
    {"data", "17", "-o", "out.png"},
    {"info"},
    {"diff", "trace.npz", "-i", "#17"},
    {"train", "--config", "recipe.json", "-o", "new", "--threads", "1"},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

typedef struct Result {
    int status; /* of wait */
    bool late;
    char out[OUT_MAX], err[4096], files[OUT_MAX];
    size_t out_n, err_n, files_n;
} Result;

static const char *library, *program;
static char *words[WORDS + 2];

static size_t slurp(const char *path, char *to, size_t n)
{
    int fd = open(path, O_RDONLY);
    ssize_t got, all = 0;
    while (fd >= 0 && (size_t)all < n - 1 && (got = read(fd, to + all, n - 1 - (size_t)all)) > 0)
        all += got;
    if (fd >= 0)
        close(fd);
    to[all] = 0;
    return (size_t)all;
}

static void clear_outputs(void)
{
    for (int i = 0; i < 2; i++) {
        DIR *d = opendir(i ? "." : "new");
        for (struct dirent *e; d && (e = readdir(d));)
            if ((i == 0 && *e->d_name != '.') || strncmp(e->d_name, ".vitrine-", 9) == 0)
                unlinkat(dirfd(d), e->d_name, 0);
        if (d)
            closedir(d);
    }
    rmdir("new");
    static const char *const OUTS[] = {"out.npy", "out.npz", "out.svg", "out.png", "killed"};
    for (size_t i = 0; i < sizeof OUTS / sizeof *OUTS; i++)
        unlink(OUTS[i]);
}

/* The output files' bytes, one after the other; a temporary file is written as such. */
static void read_outputs(Result *r, bool *left)
{
    static const char *const OUTS[] = {"out.npy", "out.npz", "out.svg", "out.png", "new/model.safetensors"};
    r->files_n = 0;
    for (size_t i = 0; i < sizeof OUTS / sizeof *OUTS; i++)
        r->files_n += slurp(OUTS[i], r->files + r->files_n, sizeof r->files - r->files_n);
    *left = false;
    static const char *const FOLDERS[] = {".", "new"};
    for (int i = 0; i < 2; i++) {
        DIR *d = opendir(FOLDERS[i]);
        for (struct dirent *e; d && (e = readdir(d));)
            *left = *left || strncmp(e->d_name, ".vitrine-", 9) == 0;
        if (d)
            closedir(d);
    }
}

static void run(const char *kind, long at, int code, Result *r)
{
    char number[24], how[12];
    snprintf(number, sizeof number, "%ld", at);
    snprintf(how, sizeof how, "%d", code);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int out = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600),
            err = open("complained", O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
        dup2(in, 0);
        dup2(out, 1);
        dup2(err, 2);
        setenv("LD_PRELOAD", library, 1);
        setenv("FAULT_KILL", "killed", 1);
        if (kind) {
            setenv("FAULT_KIND", kind, 1);
            setenv("FAULT_AT", number, 1);
            setenv("FAULT_CODE", how, 1);
        } else
            setenv("FAULT_COUNT", "counts", 1);
        execv(program, words);
        _exit(127);
    }
    r->late = false;
    for (int waited = 0; pid > 1 && waitpid(pid, &r->status, WNOHANG) == 0; waited++) {
        struct timespec t = {0, 1000000};
        nanosleep(&t, NULL);
        if (waited > LATE_S * 1000) {
            r->late = true;
            kill(pid, SIGKILL);
            waitpid(pid, &r->status, 0);
            break;
        }
    }
    r->out_n = slurp("said", r->out, sizeof r->out);
    r->err_n = slurp("complained", r->err, sizeof r->err);
}

/* What is wrong with how it ended, or NULL. */
static const char *judge(bool reports, const Result *r, const Result *good, const Result *files, bool left)
{
    int status = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1;
    if (r->late)
        return "hangs";
    if (access("killed", F_OK) == 0)
        return "would have killed everybody";
    if (status < 0)
        return "crashes";
    if (left)
        return "leaves a temporary file";
    if (files->files_n && (files->files_n != good->files_n || memcmp(files->files, good->files, good->files_n) != 0))
        return "leaves another file than a whole one";
    if (status == WEXITSTATUS(good->status))
        return files->files_n != good->files_n       ? "says done and left no file"
               : r->out_n != good->out_n && !reports ? "says done with less output"
                                                     : NULL;
    if (status != 1 && status != 2)
        return "ends with a strange status";
    return !r->err_n ? "says nothing" : NULL;
}

static long count_of(const char *kind)
{
    char text[512], *at;
    slurp("counts", text, sizeof text);
    char key[16];
    snprintf(key, sizeof key, "%s ", kind);
    at = strstr(text, key);
    return at ? atol(at + strlen(key)) : 0;
}

static void sweep(const char *const *command, long most, long *points, long *failures)
{
    static Result good, r;
    bool left;
    int n = 0;
    bool reports = strcmp(command[0], "info") == 0; /* it says that no process can be started: other words are right */
    char name[200] = "";
    words[n++] = (char *)program;
    for (int i = 0; i < WORDS && command[i]; i++) {
        words[n++] = (char *)command[i];
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s ", command[i]);
    }
    words[n] = NULL;
    clear_outputs();
    unlink("counts");
    run(NULL, 0, 0, &good);
    read_outputs(&good, &left);
    if (!WIFEXITED(good.status) || (WEXITSTATUS(good.status) != 0 && WEXITSTATUS(good.status) != 3)) {
        printf("  FAILED  %s does not run without faults: %s\n", name, good.err);
        ++*failures;
        return;
    }
    for (int k = 0; k < KINDS; k++) {
        long all = count_of(KIND[k]), step = most && all > most ? (all + most - 1) / most : 1;
        for (int h = 0; h < HOW[k].count; h++)
            for (long at = 1 + (step > 1 ? h % step : 0); at <= all; at += step) {
                clear_outputs();
                run(KIND[k], at, HOW[k].code[h], &r);
                read_outputs(&r, &left);
                ++*points;
                const char *wrong = judge(reports, &r, &good, &r, left);
                if (wrong) {
                    ++*failures;
                    printf("  FAILED  %s: %s %ld of %ld (%s): %s; status %x: %.160s\n", name, KIND[k], at, all,
                           HOW[k].code[h] ? strerror(HOW[k].code[h]) : "short", wrong, (unsigned)r.status, r.err);
                }
            }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 98;
    library = argv[1];
    program = argv[2];
    long most = atol(argv[3]), points = 0, failures = 0;
    bool apart = unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
    pid_t inside = apart ? fork() : 0;
    if (inside > 0) { /* the first process of the namespace does the work; with it all of it ends */
        int status = 1;
        waitpid(inside, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        sweep(COMMANDS[i], most, &points, &failures);
    printf("  %ld points in %d commands, %ld failures%s\n", points, (int)COMMAND_COUNT, failures,
           apart ? "" : " (without a process namespace: the system allows none)");
    printf("faults: %ld passed, %ld failed, 0 skipped\n", points - failures, failures);
    return failures ? 1 : 0;
}
