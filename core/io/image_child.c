#define _GNU_SOURCE /* syscall, close_range, MAP_NORESERVE */
/* A decoder in a child process that can compute and exit, nothing else: after the strict mode of seccomp (prctl(2)) any
 * system call but read, write and exit kills it, and every file is closed. The result comes back through shared memory.
 * Where that mode is refused, because a filter is in force already, a filter of our own does the same. Where there is
 * neither (an emulator, a sanitizer that needs system calls of its own) resource limits and the closed files remain. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/stop.h"
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

/* Processor time, which does not depend on what else the machine does: honest pictures of a size need a small part of
 * it. Wall time is only there so that nothing waits for ever. */
enum {
    SECONDS = SANITIZED ? 20 : 2, /* for any picture; more for a large one: */
    PIXELS_PER_SECOND = SANITIZED ? 1 << 18 : 4 << 20,
    JPEG_BYTES_PER_SECOND = PIXELS_PER_SECOND / 16, /* a JPEG can ask for work on pixels that it has no data for */
    WALL_SECONDS = 300,
    LOOK_MS = 100
};
#define ARENA_MAX ((size_t)3 << 30) /* above what any picture within the limits of image.h needs */

typedef enum Confinement { CONFINED_BY_LIMITS, CONFINED_BY_FILTER, CONFINED_STRICTLY } Confinement;

/* At the start of the shared mapping; the pixels follow. What stands in it was written by the child: it is checked. */
typedef struct Shared {
    Confinement confined;
    bool no_memory;
    int done; /* items */
    DecodeOut out[];
} Shared;
enum { ALIGNED = 64 }; /* bytes */

typedef enum ChildEnd {
    CHILD_ENDED,
    CHILD_SPENT, /* its processor time */
    CHILD_LATE,
    CHILD_STOPPED, /* somebody asked to */
    CHILD_KILLED,  /* from outside: by whoever shares out memory, most likely */
    CHILD_DIED
} ChildEnd;
static void limit_resources(unsigned seconds)
{
    const struct rlimit none = {0, 0}, time = {seconds, seconds};
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

#if defined __x86_64__
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCH AUDIT_ARCH_AARCH64
#elif defined __i386__
#define THIS_ARCH AUDIT_ARCH_I386
#elif defined __arm__
#define THIS_ARCH AUDIT_ARCH_ARM
#elif defined __riscv && __riscv_xlen == 64
#define THIS_ARCH AUDIT_ARCH_RISCV64
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__
#define THIS_ARCH AUDIT_ARCH_PPC64LE
#elif defined __s390x__
#define THIS_ARCH AUDIT_ARCH_S390X
#else
#define THIS_ARCH 0
#endif

/* Where a filter is in force already (containers, services) the strict mode is refused, but another filter may be laid
 * over it: the three calls of the strict mode, death for all others. */
static bool confine_by_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return THIS_ARCH != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static Confinement confine(void)
{
    if (SANITIZED)
        return CONFINED_BY_LIMITS;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
        return CONFINED_STRICTLY;
    return confine_by_filter() ? CONFINED_BY_FILTER : CONFINED_BY_LIMITS;
}

int image_confine(void)
{
    return (int)confine();
}

static void decode_all(const ImageChild *d, uint8_t *arena)
{
    for (int i = 0; i < d->count; i++) {
        const ImageItem *item = &d->item[i];
        ImagePlan plan = item->plan;
        plan.memory = plan.memory < d->memory ? plan.memory : d->memory;
        size_t used = image_decode_plan(&d->shared->out[i], (uint8_t *)d->shared + d->at[i], &plan, item->bytes,
                                        item->n, arena);
        d->shared->done = i + 1;
        if (i + 1 < d->count)
            memset(arena, 0, used);
    }
}

/* In the child, from the fork to its end. Signals stay blocked, so that no handler of the program runs here; a fault
 * kills anyway. */
static _Noreturn void child(const ImageChild *d, int pipe_end, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint8_t *arena = NULL;
    if (d->count) { /* none: only the sandbox is tried */
        arena = mmap(NULL, d->memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        d->shared->no_memory = arena == MAP_FAILED;
        if (arena == MAP_FAILED || getppid() != parent)
            goto end;
    }
    close_all_but(pipe_end);
    limit_resources(d->seconds);
    d->shared->confined = confine();
    decode_all(d, arena);
end:
    for (;;) /* not _exit: that calls exit_group, which strict mode forbids */
        syscall(SYS_exit, 0);
}

static void kill_child(pid_t pid)
{
    REQUIRE(pid > 1);
    kill(pid, SIGKILL);
}

/* Waits until the child's end of the pipe is closed, by its end: CHILD_ENDED, or why it was not waited for longer. */
static ChildEnd await_end(int fd)
{
    int64_t until = clock_ns() + (int64_t)WALL_SECONDS * 1000000000;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int r = poll(&p, 1, LOOK_MS);
        if (r > 0)
            return CHILD_ENDED;
        if (stop_asked())
            return CHILD_STOPPED;
        if (clock_ns() > until || (r < 0 && errno != EINTR && errno != EAGAIN))
            return CHILD_LATE;
    }
}

/* How it ended, from what the system says of it. */
static ChildEnd end_of(int status, const struct rusage *used, unsigned seconds)
{
    double spent = (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
                   (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e6;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CHILD_ENDED;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
        return spent > (double)seconds - 0.5 ? CHILD_SPENT : CHILD_KILLED;
    return CHILD_DIED;
}

static ChildEnd child_end(ImageChild *d)
{
    int status = 0;
    struct rusage used = {.ru_maxrss = 0};
    const pid_t pid = d->pid;
    ChildEnd waited = await_end(d->fd);
    close(d->fd);
    d->fd = -1;
    pid_t got = wait4(pid, &status, WNOHANG, &used);
    if (waited != CHILD_ENDED && got == 0)
        kill_child(pid);
    while (got == 0 || (got < 0 && errno == EINTR))
        got = wait4(pid, &status, 0, &used);
    /* ECHILD: somebody ignores SIGCHLD; then only what was written counts */
    ChildEnd end = waited != CHILD_ENDED ? waited : got != pid ? CHILD_ENDED : end_of(status, &used, d->seconds);
    REQUIRE(!SANITIZED || end != CHILD_DIED); /* a report must not pass for a bad picture */
    return end;
}

/* False, errno set, when no child could be started. */
static bool child_start(ImageChild *d)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    d->pid = fork();
    if (d->pid == 0)
        child(d, ends[1], parent);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (d->pid < 0)
        close(ends[0]);
    else
        d->fd = ends[0];
    errno = why;
    return d->pid > 0;
}

bool image_child_take(const ImageChild *d, int i, Image *out, Err *err)
{
    static const char *const names[] = {[IMAGE_PNG] = "PNG", [IMAGE_JPEG] = "JPEG", [IMAGE_BMP] = "BMP"};
    const ImagePlan *plan = &d->item[i].plan;
    DecodeOut got = d->shared->out[i];
    got.reason[sizeof got.reason - 1] = 0;
    for (char *c = got.reason; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (d->shared->no_memory)
        return err_set(err,
                       "no memory to decode %d x %d pixels (%zu MB may be needed). Close something or scale the "
                       "picture down",
                       plan->width, plan->height, plan->memory >> 20);
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
    memcpy(out->data, (const uint8_t *)d->shared + d->at[i], image_bytes(out));
    return true;
}

/* Beyond those for any picture. */
static unsigned seconds_for(const ImagePlan *plan, size_t bytes)
{
    size_t more = (size_t)plan->width * (size_t)plan->height / PIXELS_PER_SECOND;
    if (plan->format == IMAGE_JPEG && more > bytes / JPEG_BYTES_PER_SECOND)
        more = bytes / JPEG_BYTES_PER_SECOND;
    return (unsigned)more;
}

/* Where everything lies in the shared mapping, and how much of everything is allowed. */
static void lay_out(ImageChild *d)
{
    d->size = sizeof(Shared) + size_mul((size_t)d->count, sizeof(DecodeOut));
    for (int i = 0; i < d->count; i++) {
        const ImagePlan *plan = &d->item[i].plan;
        d->at[i] = d->size = (d->size + ALIGNED - 1) / ALIGNED * ALIGNED;
        d->size += size_mul(size_mul((size_t)plan->width, (size_t)plan->height), 3);
        d->memory = plan->memory > d->memory ? plan->memory : d->memory;
        d->seconds += seconds_for(plan, d->item[i].n);
    }
    d->memory = d->memory < ARENA_MAX ? d->memory : ARENA_MAX;
}

static bool map_shared(ImageChild *d)
{
    void *shared = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    d->shared = shared == MAP_FAILED ? NULL : shared;
    return d->shared != NULL;
}

bool image_child_start(ImageChild *d, const ImageItem *item, int count, Err *err)
{
    *d = (ImageChild){.item = item, .count = count, .seconds = SECONDS, .fd = -1};
    d->at = xcalloc((size_t)count, sizeof *d->at);
    lay_out(d);
    if (!map_shared(d))
        return err_set(err, "no memory for %d x %d pixels (%s). Close something or scale the picture down",
                       item->plan.width, item->plan.height, strerror(errno));
    return child_start(d) ||
           err_set(err, "can't start the decoder process (%s). Close other programs and try again", strerror(errno));
}

bool image_child_end(ImageChild *d, int *done, Err *err)
{
    ChildEnd end = child_end(d);
    *done = d->shared->done < 0 || d->shared->done > d->count ? 0 : d->shared->done;
    const ImagePlan *plan = &d->item[*done < d->count ? *done : d->count - 1].plan;
    switch (end) {
    case CHILD_ENDED: return true;
    case CHILD_SPENT:
        return err_set(err,
                       "decoding %d x %d pixels takes more than %u s of processor time, which was stopped. Scale it "
                       "down or save it anew",
                       plan->width, plan->height, d->seconds);
    case CHILD_LATE:
        return err_set(err, "decoding was not done after %d s: this machine is too busy. Try again when it is not",
                       WALL_SECONDS);
    case CHILD_STOPPED: return stop_refuse(err);
    case CHILD_KILLED:
        return err_set(err,
                       "the decoder was ended from outside, probably for lack of memory (%d x %d pixels may need %zu "
                       "MB). Close something or scale the picture down",
                       plan->width, plan->height, d->memory >> 20);
    case CHILD_DIED: break;
    }
    return err_set(err, "the decoder crashed on this picture, in its own process: the file is damaged or hostile. Save "
                        "it anew elsewhere");
}

void image_child_free(ImageChild *d)
{
    if (d->fd >= 0) {
        kill_child(d->pid);
        child_end(d);
    }
    if (d->shared)
        munmap(d->shared, d->size);
    free(d->at);
    *d = (ImageChild){.fd = -1};
}

bool image_decode_confined(Image *out, const ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err)
{
    const ImageItem item = {*plan, bytes, n};
    ImageChild d;
    int done;
    bool ok = image_child_start(&d, &item, 1, err) && image_child_end(&d, &done, err) &&
              image_child_take(&d, 0, out, err);
    image_child_free(&d);
    return ok;
}

const char *image_sandbox(void)
{
    if (SANITIZED)
        return "limits only: built with a sanitizer, which needs system calls";
    ImageChild d = {.seconds = SECONDS, .size = sizeof(Shared), .fd = -1};
    if (!map_shared(&d))
        return "none: no memory";
    bool started = child_start(&d), ended = started && child_end(&d) == CHILD_ENDED;
    Confinement confined = d.shared->confined;
    image_child_free(&d);
    if (!started)
        return "no decoder: a child process can't be started";
    if (!ended)
        return "limits only: the decoder process did not come back";
    return confined == CONFINED_STRICTLY    ? "seccomp"
           : confined == CONFINED_BY_FILTER ? "seccomp: a filter beside the one in force here"
                                            : "limits only: this system allows no seccomp";
}
