#define _GNU_SOURCE /* syscall, close_range, MAP_NORESERVE */
/* A decoder in a child process that can compute and exit, nothing else: after the strict mode of seccomp (prctl(2)) any
 * system call but read, write and exit kills it, and every file is closed. The result comes back through shared memory.
 * Where there is no such mode (an emulator, a sanitizer that needs system calls of its own) resource limits and the
 * closed files remain. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/io/image_parts.h"

#if defined __has_feature
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || HAS_FEATURE(address_sanitizer) ||                   \
    HAS_FEATURE(memory_sanitizer) || HAS_FEATURE(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { SECONDS = SANITIZED ? 20 : 2, ARENA_MAX = 1 << 30 };

/* At the start of the shared mapping; the pixels follow. */
typedef struct Shared {
    int confined; /* 1: in strict mode */
    DecodeOut out;
} Shared;
enum { PIXELS_AT = 256 };
_Static_assert(sizeof(Shared) <= PIXELS_AT, "pixels follow the header");

typedef enum ChildEnd { CHILD_ENDED, CHILD_LATE, CHILD_DIED, CHILD_NOT_STARTED } ChildEnd;
typedef struct Job {
    Shared *shared;
    const ImagePlan *plan; /* NULL: only try the sandbox */
    const uint8_t *bytes;
    size_t n;
} Job;

static void limit_resources(void)
{
    const struct rlimit none = {0, 0}, time = {SECONDS + 1, SECONDS + 1};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_CPU, &time);
}

static void close_all_but(int keep)
{
    if (SANITIZED) /* reports go to standard error */
        return;
#ifdef SYS_close_range
    unsigned fd = (unsigned)keep;
    bool below = fd == 0 || syscall(SYS_close_range, 0u, fd - 1, 0u) == 0;
    if (below && syscall(SYS_close_range, fd + 1, ~0u, 0u) == 0)
        return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    if (most < 0 || most > 65536)
        most = 65536;
    for (int i = 0; i < most; i++)
        if (i != keep)
            close(i);
}

/* In the child, from the fork to its end. Signals stay blocked, so that no handler of the program runs here; a fault
 * kills anyway. */
static _Noreturn void child(const Job *job, int pipe_end, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint8_t *arena = NULL;
    if (job->plan) {
        arena = mmap(NULL, job->plan->memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0);
        if (arena == MAP_FAILED || getppid() != parent)
            goto end;
    }
    close_all_but(pipe_end);
    limit_resources();
    job->shared->confined = !SANITIZED && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
    if (job->plan)
        image_decode_plan(&job->shared->out, (uint8_t *)job->shared + PIXELS_AT, job->plan, job->bytes, job->n, arena);
end:
    for (;;) /* not _exit: that calls exit_group, which strict mode forbids */
        syscall(SYS_exit, 0);
}

static void kill_child(pid_t pid)
{
    REQUIRE(pid > 1);
    kill(pid, SIGKILL);
}

/* Waits until the child's end of the pipe is closed, by its end, or the time is over. */
static bool ended_in_time(int fd)
{
    int64_t until = clock_ns() + (int64_t)SECONDS * 1000000000;
    for (;;) {
        int64_t left = (until - clock_ns()) / 1000000;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int r = poll(&p, 1, left > 0 ? (int)left + 1 : 0);
        if (r > 0 || (r < 0 && errno != EINTR))
            return r > 0;
        if (r == 0 && left <= 0)
            return false;
    }
}

static ChildEnd child_run(const Job *job)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return CHILD_NOT_STARTED;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        child(job, ends[1], parent);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    ChildEnd end = CHILD_NOT_STARTED;
    if (pid > 0) {
        int status = 0;
        pid_t got = 0;
        bool late = !ended_in_time(ends[0]);
        if (late && (got = waitpid(pid, &status, WNOHANG)) == 0)
            kill_child(pid);
        else
            late = false;
        while (got == 0 || (got < 0 && errno == EINTR))
            got = waitpid(pid, &status, 0);
        /* ECHILD: somebody ignores SIGCHLD; then only what was written counts */
        bool clean = got != pid || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
        end = late ? CHILD_LATE : clean ? CHILD_ENDED : CHILD_DIED;
        REQUIRE(!SANITIZED || end != CHILD_DIED); /* a report must not pass for a bad picture */
    }
    close(ends[0]);
    errno = why;
    return end;
}

static bool take(Image *out, const Shared *shared, const ImagePlan *plan, Err *err)
{
    static const char *const names[] = {[IMAGE_PNG] = "PNG", [IMAGE_JPEG] = "JPEG", [IMAGE_BMP] = "BMP"};
    DecodeOut got = shared->out;
    got.reason[sizeof got.reason - 1] = 0;
    for (char *c = got.reason; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (!got.done && !strcmp(got.reason, "outofmem"))
        return err_set(err, "a damaged %s: it unpacks to more than its %d x %d pixels can need. Get it again",
                       names[plan->format], plan->width, plan->height);
    if (!got.done)
        return err_set(err, "a damaged %s (%s). Get it again or export it again", names[plan->format], got.reason);
    if (got.width != plan->width || got.height != plan->height || (got.channels != 1 && got.channels != 3))
        return err_set(err, "a damaged %s: its decoder was confused by it. Get it again", names[plan->format]);
    image_init(out, got.width, got.height, got.channels);
    out->had_alpha = got.had_alpha;
    out->was_16_bit = plan->was_16_bit;
    memcpy(out->data, (const uint8_t *)shared + PIXELS_AT,
           (size_t)got.width * (size_t)got.height * (size_t)got.channels);
    return true;
}

bool image_decode_confined(Image *out, const ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err)
{
    ImagePlan bounded = *plan;
    if (bounded.memory > ARENA_MAX)
        bounded.memory = ARENA_MAX;
    size_t size = PIXELS_AT + size_mul(size_mul((size_t)plan->width, (size_t)plan->height), 3);
    Shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return err_set(err, "no memory for %d x %d pixels (%s). Close something or scale the picture down", plan->width,
                       plan->height, strerror(errno));
    Job job = {shared, &bounded, bytes, n};
    bool ok = false;
    switch (child_run(&job)) {
    case CHILD_ENDED: ok = take(out, shared, plan, err); break;
    case CHILD_LATE:
        err_set(err, "decoding %d x %d pixels takes more than %d s, which was stopped. Scale it down or save it anew",
                plan->width, plan->height, SECONDS);
        break;
    case CHILD_DIED:
        err_set(err, "the decoder crashed on this picture, in its own process: the file is damaged or hostile. Save it "
                     "anew elsewhere");
        break;
    case CHILD_NOT_STARTED:
        err_set(err, "can't start the decoder process (%s). Close other programs and try again", strerror(errno));
        break;
    }
    munmap(shared, size);
    return ok;
}

const char *image_sandbox(void)
{
    if (SANITIZED)
        return "limits only: built with a sanitizer, which needs system calls";
    Shared *shared = mmap(NULL, PIXELS_AT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return "none: no memory";
    Job job = {shared, NULL, NULL, 0};
    ChildEnd end = child_run(&job);
    bool confined = shared->confined;
    munmap(shared, PIXELS_AT);
    if (end == CHILD_NOT_STARTED)
        return "no decoder: a child process can't be started";
    return confined && end == CHILD_ENDED ? "seccomp" : "limits only: this system has no strict mode of seccomp";
}
