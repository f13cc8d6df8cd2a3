#include "core/base/machine.h"

#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { UNKNOWN = 1 << 30 };

static size_t lower(size_t a, unsigned long long b)
{
    return b > 0 && b < a ? (size_t)b : a;
}

void machine_spare_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* A container's limit: one number, or "max". */
static unsigned long long number_in(const char *path)
{
    enum { MOST = 4096 };
    unsigned long long n = 0;
    Buf text = {0};
    if (!file_read(path, MOST, &text, NULL) || sscanf(buf_str(&text), "%19llu", &n) != 1)
        n = 0;
    buf_free(&text);
    return n;
}

size_t machine_memory(void)
{
    static const char *const LIMITS[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"}; /* cgroups 2 and 1 */
    size_t bytes = SIZE_MAX;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        bytes = lower(bytes, (unsigned long long)pages * (unsigned long long)page);
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++)
        bytes = lower(bytes, number_in(LIMITS[i]));
    struct rlimit address_space;
    if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
        bytes = lower(bytes, address_space.rlim_cur);
    return bytes == SIZE_MAX ? (size_t)UNKNOWN : bytes;
}

bool machine_holds(double bytes, const char *what, const char *remedy, Err *err)
{
    double memory = (double)machine_memory();
    return bytes < memory ||
           err_set(err, "%s needs %.1f GB or more, and there are %.1f GB: %s", what, bytes / 1e9, memory / 1e9, remedy);
}

const char *machine_user(uid_t uid, char out[80])
{
    const struct passwd *p = getpwuid(uid);
    utf8_print(out, 80, p && p->pw_name && *p->pw_name ? "%.60s (%lu)" : "user%.0s %lu", p ? p->pw_name : "",
               (unsigned long)uid);
    return out;
}

int machine_terminal(void)
{
    struct stat st;
    int n = -1;
    for (int fd = 0; fd < 3 && n < 0; fd++) {
        const char *name = ttyname(fd);
        if (name && fstat(fd, &st) == 0 && st.st_uid == geteuid())
            sscanf(name, "/dev/pts/%6d", &n);
    }
    return n + 1;
}
