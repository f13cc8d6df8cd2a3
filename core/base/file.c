#define _GNU_SOURCE /* mkostemp */
#include "core/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"

/* A pipe with room for anything takes PIECE bytes (PIPE_BUF) without blocking. */
#define TEMPORARY ".vitrine-"
enum {
    NAME_SHOWN = 240,
    CHUNK = 1 << 16,
    LINKS_MAX = 40,
    PIECE = 4096,
    REGULAR_PIECE = 1 << 20,
    TEMPORARY_LENGTH = sizeof TEMPORARY - 1 + 6
};

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

bool file_there(const char *path, Err *err)
{
    char name[NAME_SHOWN];
    utf8_clean(name, sizeof name, path);
    return file_exists(path) || can_not_open(name, errno, err);
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

bool file_is(const char *path, const char *kinds)
{
    char suffix[16];
    int n = snprintf(suffix, sizeof suffix, "%s", file_suffix(path));
    for (char *p = suffix; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return n < (int)sizeof suffix && utf8_listed(kinds, suffix);
}

/* --- writing --- */

/* Of the files being written: who runs out of memory in the middle (die) takes them along. */
static char *unfinished[8];

static void remove_unfinished(void)
{
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
}

static void note_unfinished(char *was, char *is)
{
    static bool registered;
    registered = registered || atexit(remove_unfinished) == 0;
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (unfinished[i] == was) {
            unfinished[i] = is;
            return;
        }
}

static const char *shown(char out[NAME_SHOWN], const char *path)
{
    return utf8_clean(out, NAME_SHOWN, strcmp(path, "-") == 0 ? "standard output" : path);
}

static const char *remedy(int code)
{
    static const struct {
        int code;
        const char *text;
    } table[] = {
        {ENOSPC, "Free some space, or write to another disk."},
        {EDQUOT, "Your quota is used up: delete something, or write elsewhere."},
        {EFBIG, "The file-size limit is too small for it: see ulimit -f, or write less."},
        {EACCES, "You may not write in that folder: name another one."},
        {EPERM, "You may not write in that folder: name another one."},
        {EROFS, "That disk is read-only: name another folder."},
        {ENOENT, "That folder does not exist: make it with mkdir -p, or name another one."},
        {ENOTDIR, "A part of the path is not a folder: check the spelling."},
        {ENAMETOOLONG, "Take a shorter name."},
        {EPIPE, "The program that reads the output has ended."},
        {EBADF, "Standard output is closed: name a file."},
        {ELOOP, "Links point to each other: name the file itself."},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code)
            return table[i].text;
    return "Try another folder or disk.";
}

static bool fails(const char *path, int code, Err *err)
{
    char name[NAME_SHOWN];
    return err_set(err, "%s: can't be written (%s). %s", shown(name, path), strerror(code), remedy(code));
}

/* A write past RLIMIT_FSIZE must come back as EFBIG, not end the program. A handler that somebody installed is left
 * alone. */
static void ignore_file_size_signal(void)
{
    struct sigaction now;
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        sigaction(SIGXFSZ, &now, NULL);
    }
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The file that path means once links are followed, whether it exists or not. The caller frees; NULL with errno set. */
static char *follow_links(const char *path)
{
    char *at = xstrdup(path);
    for (int hops = 0; hops < LINKS_MAX; hops++) {
        struct stat st;
        if (lstat(at, &st) != 0 && errno == ENOENT)
            return at;
        char to[4096];
        ssize_t n = 0;
        errno = 0;
        if (lstat(at, &st) == 0 && !S_ISLNK(st.st_mode))
            return at;
        if (errno || (n = readlink(at, to, sizeof to)) <= 0 || (size_t)n >= sizeof to)
            break;
        size_t keep = to[0] == '/' ? 0 : folder_length(at);
        char *next = xmalloc(keep + (size_t)n + 1);
        memcpy(next, at, keep);
        memcpy(next + keep, to, (size_t)n);
        next[keep + (size_t)n] = 0;
        free(at);
        at = next;
    }
    int code = errno ? errno : ELOOP;
    free(at);
    errno = code;
    return NULL;
}

/* Whether the file at target may be replaced; *mode becomes the mode of its successor. */
static bool may_replace(const char *path, const char *target, mode_t *mode, Err *err)
{
    char name[NAME_SHOWN];
    struct stat st;
    mode_t mask = umask(077); /* can only be read by setting it; 077 in between errs on the private side */
    umask(mask);
    *mode = 0666 & ~mask;
    if (stat(target, &st) != 0)
        return errno == ENOENT ? true : fails(path, errno, err);
    if (S_ISDIR(st.st_mode))
        return err_set(err, "%s: is a folder. Name a file in it.", shown(name, path));
    if (!S_ISREG(st.st_mode))
        return err_set(err, "%s: is a device or a pipe, not a file. Name a file, or - for standard output.",
                       shown(name, path));
    if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0)
        return err_set(err, "%s: is write-protected (%s). Name another file, or allow it with chmod u+w.",
                       shown(name, path), strerror(errno));
    *mode = st.st_mode & 0777;
    return true;
}

static bool create_standard(FileOut *f, Err *err)
{
    fflush(stdout); /* what was printed before comes first */
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return fails("-", errno, err);
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *f = (FileOut){.fd = fd, .path = xstrdup("-"), .waits = !regular};
    return true;
}

bool file_create(FileOut *f, const char *path, Err *err)
{
    *f = (FileOut){.fd = -1};
    ignore_file_size_signal();
    if (strcmp(path, "-") == 0)
        return create_standard(f, err);
    size_t length = strlen(path);
    if (!length || path[length - 1] == '/') {
        char name[NAME_SHOWN];
        return err_set(err, "'%s': names no file. Put a file name at its end.", shown(name, path));
    }
    char *target = follow_links(path);
    if (!target)
        return fails(path, errno, err);
    mode_t mode = 0;
    if (!may_replace(path, target, &mode, err)) {
        free(target);
        return false;
    }
    /* Beside the target, so that rename stays on one disk; the name is short, so that a long target's is no obstacle.
     */
    static const char pattern[] = TEMPORARY "XXXXXX";
    size_t folder = folder_length(target);
    char *temporary = xmalloc(folder + sizeof pattern);
    int fd;
    memcpy(temporary, target, folder);
    do {
        memcpy(temporary + folder, pattern, sizeof pattern);
        fd = mkostemp(temporary, O_CLOEXEC);
    } while (fd < 0 && errno == EINTR && !stop_asked());
    if (fd < 0) {
        fails(path, errno, err);
        free(target);
        free(temporary);
        return false;
    }
    (void)!fchmod(fd, mode); /* disks without modes refuse; the file then stays private */
    *f = (FileOut){.fd = fd, .path = target, .temporary = temporary};
    note_unfinished(NULL, temporary);
    return true;
}

void file_abandon(FileOut *f)
{
    if (!f->path)
        return;
    if (f->fd >= 0)
        close(f->fd);
    if (f->temporary) {
        unlink(f->temporary);
        note_unfinished(f->temporary, NULL);
    }
    free(f->path);
    free(f->temporary);
    *f = (FileOut){.fd = -1};
}

static bool give_up(FileOut *f, int code, Err *err)
{
    fails(f->path, code, err);
    file_abandon(f);
    return false;
}

bool file_append(FileOut *f, const void *data, size_t n, Err *err)
{
    REQUIRE(f->path);
    const size_t most = f->waits ? PIECE : REGULAR_PIECE;
    for (const char *at = data; n;) {
        if (f->waits ? !stop_wait(f->fd, POLLOUT) : stop_asked()) {
            file_abandon(f);
            return stop_refuse(err);
        }
        ssize_t put = write(f->fd, at, n < most ? n : most);
        if (put < 0 && (errno == EINTR || (errno == EAGAIN && f->waits)))
            continue;
        if (put <= 0)
            return give_up(f, put ? errno : ENOSPC, err);
        at += put;
        n -= (size_t)put;
        f->written += (uint64_t)put;
    }
    return true;
}

bool file_commit(FileOut *f, Err *err)
{
    REQUIRE(f->path);
    int bad = 0;
    if (f->temporary)
        do
            bad = fsync(f->fd);
        while (bad && errno == EINTR);
    if (bad && errno != EINVAL) /* EINVAL: a disk that can't sync */
        return give_up(f, errno, err);
    /* After EINTR the descriptor is closed on Linux and the data are already on the disk. A network disk reports its
     * quota here, for standard output too, where it is the duplicate that is closed. */
    bad = close(f->fd);
    f->fd = -1;
    if (bad && errno != EINTR)
        return give_up(f, errno, err);
    if (f->temporary && rename(f->temporary, f->path) != 0)
        return give_up(f, errno, err);
    if (f->temporary)
        note_unfinished(f->temporary, NULL);
    free(f->temporary);
    f->temporary = NULL;
    file_abandon(f);
    return true;
}

bool file_write(const char *path, const void *data, size_t n, Err *err)
{
    FileOut f;
    return file_create(&f, path, err) && file_append(&f, data, n, err) && file_commit(&f, err);
}

void file_tidy(int folder, int64_t seconds)
{
    int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a place of its own in it */
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const time_t now = time(NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)) == 0 && strlen(e->d_name) == TEMPORARY_LENGTH &&
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            now - st.st_mtime >= seconds)
            unlinkat(fd, e->d_name, 0);
    }
    closedir(d);
}
