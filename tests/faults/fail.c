/* A library to preload: the call number FAULT_AT of kind FAULT_KIND fails (as a full disk, a lack of memory, an
 * interrupted call …), or with FAULT_SIGNAL=N does what it should
 * when that signal has come; with FAULT_COUNT=FILE the calls are counted and nothing fails. kill() of anything but one
 * other process is refused and noted in FAULT_KILL: a fork that failed must not become kill(-1). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum Kind { ALLOC, READ, WRITE, OPEN, FORK, MMAP, POLL, SYNC, RENAME, KINDS } Kind;
static const char *const NAMES[KINDS] = {"alloc", "read", "write", "open", "fork", "mmap", "poll", "sync", "rename"};

static atomic_long count[KINDS];
static long fail_at;
static int fail_kind = -1, brings, code; /* errno of the failure; EINTR and 0 (a short count) where the kind has them */
static pid_t home;                       /* children are other programs: only the first process fails */

__attribute__((constructor)) static void begin(void)
{
    const char *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"), *how = getenv("FAULT_CODE"),
               *sig = getenv("FAULT_SIGNAL");
    for (int i = 0; kind && i < KINDS; i++)
        if (strcmp(kind, NAMES[i]) == 0)
            fail_kind = i;
    fail_at = at ? atol(at) : 0;
    code = how ? atoi(how) : 0;
    brings = sig ? atoi(sig) : 0;
    home = getpid();
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    if (!path || getpid() != home)
        return;
    char line[256];
    int n = 0, fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < KINDS; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s %ld\n", NAMES[i], atomic_load(&count[i]));
    if (fd >= 0) {
        syscall(SYS_write, fd, line, n);
        syscall(SYS_close, fd);
    }
}

/* Is this call the one? */
static int fails(Kind k)
{
    if (atomic_fetch_add(&count[k], 1) + 1 != fail_at || (int)k != fail_kind || getpid() != home)
        return 0;
    if (brings)
        raise(brings);
    return !brings;
}

#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real)                                                                                                         \
    real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define FAIL(k, result)                                                                                                \
    if (fails(k)) {                                                                                                    \
        errno = code;                                                                                                  \
        return result;                                                                                                 \
    }

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);

void *malloc(size_t n)
{
    FAIL(ALLOC, NULL)
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    FAIL(ALLOC, NULL)
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    FAIL(ALLOC, NULL)
    return __libc_realloc(p, n);
}
void *aligned_alloc(size_t align, size_t n)
{
    FAIL(ALLOC, NULL)
    return __libc_memalign(align, n);
}
ssize_t read(int fd, void *to, size_t n)
{
    REAL(ssize_t, "read", int, void *, size_t);
    if (fails(READ)) {
        if (!code && n > 1)
            return real(fd, to, n / 2); /* less than was asked for */
        errno = code;
        return -1;
    }
    return real(fd, to, n);
}
ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    REAL(ssize_t, "pread", int, void *, size_t, off_t);
    if (fails(READ)) {
        if (!code && n > 1)
            return real(fd, to, n / 2, at);
        errno = code;
        return -1;
    }
    return real(fd, to, n, at);
}
ssize_t write(int fd, const void *from, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    if (fails(WRITE)) {
        if (!code && n > 1)
            return real(fd, from, n / 2);
        errno = code;
        return -1;
    }
    return real(fd, from, n);
}
int open(const char *path, int flags, ...)
{
    REAL(int, "open", const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    FAIL(OPEN, -1)
    return real(path, flags, mode);
}
int mkostemp(char *pattern, int flags)
{
    REAL(int, "mkostemp", char *, int);
    FAIL(OPEN, -1)
    return real(pattern, flags);
}
pid_t fork(void)
{
    REAL(pid_t, "fork", void);
    FAIL(FORK, -1)
    return real();
}
void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    FAIL(MMAP, MAP_FAILED)
    return real(at, n, protection, flags, fd, from);
}
int poll(struct pollfd *fds, nfds_t n, int ms)
{
    REAL(int, "poll", struct pollfd *, nfds_t, int);
    FAIL(POLL, -1)
    return real(fds, n, ms);
}
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
    REAL(int, "ppoll", struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    FAIL(POLL, -1)
    return real(fds, n, time, mask);
}
int fsync(int fd)
{
    REAL(int, "fsync", int);
    FAIL(SYNC, -1)
    return real(fd);
}
int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    FAIL(RENAME, -1)
    return real(from, to);
}
int kill(pid_t pid, int sig)
{
    const char *note = getenv("FAULT_KILL");
    if (pid > 1)
        return (int)syscall(SYS_kill, pid, sig);
    if (note)
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, note, O_WRONLY | O_CREAT, 0600));
    errno = EPERM;
    return -1;
}
