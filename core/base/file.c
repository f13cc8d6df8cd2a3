/* Reading; the writing half is in file_out.c. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/stop.h"
#include "core/base/utf8.h"

enum { CHUNK = 1 << 16, NAME_SHOWN = 240 };

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

static bool can_not_open(const char *name, int code, Err *err)
{
    switch (code) {
    case ENOENT: return err_set(err, "%s: there is no such file. Check the spelling and the folder you are in.", name);
    case ENOTDIR: return err_set(err, "%s: a part of the path is not a folder. Check the spelling.", name);
    case EACCES:
        return err_set(err, "%s: this file may not be read. Ask its owner, or change its rights with chmod u+r.", name);
    case ELOOP: return err_set(err, "%s: too many links that point to each other. Name the file itself.", name);
    case ENAMETOOLONG: return err_set(err, "%s: this name is too long for the system. Take a shorter one.", name);
    case EMFILE:
    case ENFILE: return err_set(err, "%s: too many files are open. Close other programs.", name);
    default: return err_set(err, "%s: can't be opened (%s). Check the disk it lies on.", name, strerror(code));
    }
}

int file_open(const char *path, uint64_t *size, Err *err)
{
    char name[NAME_SHOWN];
    utf8_clean(name, sizeof name, path);
    int fd;
    /* O_NONBLOCK: a pipe without a writer must not hold the program before fstat can refuse it. */
    do
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR && !stop_asked());
    struct stat st;
    if (fd < 0 && errno == ENXIO) {
        err_set(err, "%s: is a socket or a device without a driver, not a file. Name a file.", name);
        return -1;
    }
    if (fd < 0 && errno == EINTR) {
        stop_refuse(err);
        return -1;
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        can_not_open(name, errno, err);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    if (!S_ISREG(st.st_mode)) {
        err_set(err, "%s: is %s, not a file. Name a file%s.", name, kind_of(st.st_mode),
                S_ISDIR(st.st_mode) ? " in it" : "");
        close(fd);
        return -1;
    }
    *size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return fd;
}

bool file_read_at(int fd, const char *path, void *out, size_t n, uint64_t offset, Err *err)
{
    char name[NAME_SHOWN];
    size_t done = 0;
    if (offset > (uint64_t)INT64_MAX - n)
        return err_set(err, "%s: names a position that no file can have. The file is damaged: fetch it again.",
                       utf8_clean(name, sizeof name, path));
    while (done < n) {
        ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR && !stop_asked())
            continue;
        if (got < 0 && errno == EINTR)
            return stop_refuse(err);
        if (got < 0)
            return err_set(err, "%s: reading failed (%s). Check the disk, or copy the file elsewhere.",
                           utf8_clean(name, sizeof name, path), strerror(errno));
        if (got == 0)
            return err_set(err, "%s: ends before byte %llu. The file is cut short: fetch it again.",
                           utf8_clean(name, sizeof name, path), (unsigned long long)(offset + n));
        done += (size_t)got;
    }
    return true;
}

/* Waits for a pipe that is not written yet, also where another program left it in non-blocking mode. EINTR: somebody
 * asked to stop. */
static ssize_t read_some(int fd, char *chunk, size_t n)
{
    while (stop_wait(fd, POLLIN)) {
        ssize_t got = read(fd, chunk, n);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
    }
    errno = EINTR;
    return -1;
}

static bool read_all(int fd, const char *name, size_t limit, Buf *out, Err *err)
{
    char chunk[CHUNK];
    size_t total = 0;
    for (ssize_t got; (got = read_some(fd, chunk, sizeof chunk)) != 0; total += (size_t)got) {
        if (got < 0 && errno == EINTR)
            return stop_refuse(err);
        if (got < 0)
            return err_set(err, "%s: reading failed (%s). Check that it can be read.", name, strerror(errno));
        if ((size_t)got > limit - total)
            return err_set(err,
                           "%s: is larger than the %zu bytes that are read here. Check that it is the file you meant.",
                           name, limit);
        buf_add(out, chunk, (size_t)got);
    }
    return total ? true : err_set(err, "%s: is empty. Check that it was saved or copied completely.", name);
}

bool file_read(const char *path, size_t limit, Buf *out, Err *err)
{
    char name[NAME_SHOWN];
    bool standard = strcmp(path, "-") == 0;
    utf8_clean(name, sizeof name, standard ? "standard input" : path);
    uint64_t size = 0;
    int fd = standard ? STDIN_FILENO : file_open(path, &size, err);
    if (fd < 0)
        return false;
    size_t before = out->len;
    bool ok;
    if (size > limit) /* refused before a byte is read */
        ok = err_set(err, "%s: is larger than the %zu bytes that are read here. Check that it is the file you meant.",
                     name, limit);
    else
        ok = read_all(fd, name, limit, out, err);
    if (!standard)
        close(fd);
    if (!ok && out->data) {
        out->len = before;
        out->data[before] = 0;
    }
    return ok;
}

DIR *file_folder(const char *path)
{
    DIR *d;
    do
        d = opendir(path);
    while (!d && errno == EINTR && !stop_asked());
    return d;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

const char *file_suffix(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? dot + 1 : "";
}
