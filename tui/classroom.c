#define _GNU_SOURCE /* locks of an open file */
#include "tui/classroom.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/utf8.h"

#define LOOK_NS INT64_C(500000000)

/* ---- where ---- */

#define PREFIX "vitrine-class-"

static bool path_of(const char *name, char path[CLASS_PATH], Err *err)
{
    const char *variable = name ? "VITRINE_SHARE" : "XDG_RUNTIME_DIR", *base = getenv(variable);
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (name && (!*name || *name == '.' || strspn(name, GOOD) != strlen(name) || strlen(name) > 40))
        return err_set(err, "'%.60s' is no name for a class: letters, digits, - and _, at most 40", name);
    base = base && *base == '/' && (name || access(base, W_OK) == 0) ? base : "/tmp";
    int n = name ? snprintf(path, CLASS_PATH, "%s/" PREFIX "%s", base, name)
                 : snprintf(path, CLASS_PATH, "%s/vitrine-notes-%lu", base, (unsigned long)geteuid());
    return n < CLASS_PATH || err_set(err, "%s is longer than %d characters", variable, CLASS_PATH - 60);
}

/* Names can't be taken away there by others: root's or one's own, and sticky where others write. */
static bool is_safe_base(const char *path, Err *err)
{
    char base[CLASS_PATH];
    struct stat st;
    utf8_print(base, sizeof base, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (stat(base, &st) != 0)
        return err_set(err, "%s: %s", base, strerror(errno));
    bool open = (st.st_mode & 022) && !(st.st_mode & S_ISVTX);
    return (S_ISDIR(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && !open) ||
           err_set(err, "%s: others could take its files away; name another directory in VITRINE_SHARE", base);
}

/* ---- opening what may be anybody's ---- */

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A directory that only its owner writes to; whose it is. −1 with an error. */
static int open_folder(const char *path, uid_t *owner, Err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const char *why = fd < 0 && errno == ENOENT   ? "nobody shares under that name (%s is not there)"
                      : fd < 0 && errno == EACCES ? "%s: for a group that you are not in; `groups` lists yours"
                                                  : "%s is not a directory that only its owner writes to: not used";
    if (fd >= 0 && fstat(fd, &st) == 0 && !(st.st_mode & 022)) {
        *owner = st.st_uid;
        return fd;
    }
    err_set(err, why, path);
    shut(&fd);
    return -1;
}

/* A regular file in it, of that owner, that nobody else writes; −1 where it is not. */
static int open_file(int folder, const char *name, uid_t owner, size_t most, struct stat *st)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == owner && !(st->st_mode & 022) &&
        st->st_size >= 0 && (uint64_t)st->st_size <= most)
        return fd;
    shut(&fd);
    return -1;
}

/* Does its writer live? Only who can write it can hold that lock. */
static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_WRLCK;
}

/* ---- who presents ---- */

/* Half of it may be there where that fails: whoever calls begins anew. */
static bool write_all(int fd, const Buf *bytes)
{
    errno = ENOSPC; /* which is why less than all is written */
    return write(fd, bytes->data, bytes->len) == (ssize_t)bytes->len;
}

/* A file in the place of one of that name, whole or not at all: its descriptor, or −1 with an error. */
static int write_file(const Classroom *c, const char *name, const Buf *bytes, Err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    static const char NEW[] = "new";
    struct stat st;
    unlinkat(c->folder, NEW, 0);
    int fd = openat(c->folder, NEW, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        fcntl(fd, F_OFD_SETLK, &lock); /* where locks are not to be had nobody is told that we are gone */
    if (fd >= 0 && fstat(c->folder, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0 &&
        fchmod(fd, c->mode & 0666) == 0 && write_all(fd, bytes) && renameat(c->folder, NEW, c->folder, name) == 0)
        return fd;
    err_set(err, "%s: %s", c->path, strerror(errno));
    shut(&fd);
    unlinkat(c->folder, NEW, 0);
    return -1;
}

bool classroom_write(Classroom *c, const Buf *lines, bool anew, Err *err)
{
    int fd = anew ? write_file(c, CLASS_LINES, lines, err) : -1;
    if (fd >= 0) {
        shut(&c->lines);
        c->lines = fd;
    }
    return anew ? fd >= 0 : write_all(c->lines, lines) || err_set(err, "%s: %s", c->path, strerror(errno));
}

static void digest_of(const Buf *bytes, char digest[17])
{
    uint64_t hash = digest_bytes(digest_mix(DIGEST_START, bytes->len), bytes->data, bytes->len);
    snprintf(digest, 17, "%016llx", (unsigned long long)hash);
}

bool classroom_put(Classroom *c, const Buf *bytes, char digest[17], Err *err)
{
    digest_of(bytes, digest);
    bool there = faccessat(c->folder, digest, F_OK, 0) == 0;
    int fd = there ? -1 : write_file(c, digest, bytes, err);
    bool ok = fd >= 0;
    shut(&fd);
    return ok;
}

/* Group and mode of the directory, and votes/ in it: others may put files there, can't list them, and take away none
 * but their own. */
static bool dress(Classroom *c, const char *group, bool alone, Err *err)
{
    const struct group *g = group ? getgrnam(group) : NULL;
    gid_t gid = g ? g->gr_gid : (gid_t)-1;
    c->mode = alone ? 0700 : g ? 0750 : 0755;
    if ((group && !g) || fchown(c->folder, (uid_t)-1, gid) != 0)
        return err_set(err, "there is no group '%.60s' that you are in: `groups` lists yours", group ? group : "");
    bool ok = fchmod(c->folder, c->mode) == 0;
    if (ok && !alone) {
        ok = mkdirat(c->folder, "votes", 0700) == 0 || errno == EEXIST;
        c->votes = fdopendir(openat(c->folder, "votes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        ok = ok && c->votes && fchown(dirfd(c->votes), (uid_t)-1, gid) == 0 &&
             fchmod(dirfd(c->votes), g ? 01730 : 01733) == 0;
    }
    return ok || err_set(err, "%s: %s", c->path, strerror(errno));
}

bool classroom_make(Classroom *c, const char *name, const char *group, Err *err)
{
    struct stat st;
    uid_t owner = geteuid();
    char who[80], path[CLASS_PATH];
    *c = (Classroom){.folder = -1, .lines = -1};
    if (!path_of(name, path, err) || !is_safe_base(path, err))
        return false;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (lstat(path, &st) == 0 && st.st_uid != owner)
        return err_set(err,
                       "%s belongs to %s: choose another name (--name NAME, :share NAME; of notes XDG_RUNTIME_DIR)",
                       path, machine_user(st.st_uid, who));
    c->folder = open_folder(path, &owner, err);
    if (c->folder < 0)
        return false;
    int lines = open_file(c->folder, CLASS_LINES, owner, SIZE_MAX, &st);
    bool runs = owner != geteuid() || (lines >= 0 && is_held(lines));
    shut(&lines);
    if (runs) { /* it stays as it is */
        shut(&c->folder);
        return err_set(err, "a presentation is running there already (%s)", path);
    }
    snprintf(c->path, sizeof c->path, "%s", path);
    if (dress(c, group, !name, err) && classroom_write(c, &(Buf){0}, true, err))
        return true;
    classroom_close(c);
    return false;
}

/* Every file of a folder in it, and the folder. */
static void take_away(int at, const char *folder)
{
    int fd = openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (unlinkat(fd, e->d_name, 0) != 0 && *e->d_name != '.')
            unlinkat(fd, e->d_name, AT_REMOVEDIR);
    if (d)
        closedir(d);
    unlinkat(at, folder, AT_REMOVEDIR);
}

void classroom_close(Classroom *c)
{
    if (!*c->path)
        return;
    take_away(c->folder, "votes");
    take_away(AT_FDCWD, c->path);
    shut(&c->folder);
    shut(&c->lines);
    if (c->votes)
        closedir(c->votes);
    *c = (Classroom){.folder = -1, .lines = -1};
}

/* ---- who reads ---- */

bool reader_init(ClassReader *r, const char *name, Err *err)
{
    *r = (ClassReader){.folder = -1, .lines = -1, .watch = -1};
    return path_of(name, r->path, err);
}

void reader_close(ClassReader *r)
{
    if (!*r->path)
        return;
    shut(&r->folder);
    shut(&r->lines);
    shut(&r->watch);
    buf_free(&r->in);
}

/* Another file of lines took the place of the one that is read, or there is one now. */
static void look(ClassReader *r)
{
    struct stat st, now;
    Err err = {{0}};
    shut(&r->folder);
    r->folder = open_folder(r->path, &r->owner, &err);
    int fd = r->folder < 0 ? -1 : open_file(r->folder, CLASS_LINES, r->owner, CLASS_MOST, &now);
    if (fd < 0 || r->lines < 0 || fstat(r->lines, &st) != 0 || st.st_ino != now.st_ino || st.st_dev != now.st_dev) {
        shut(&r->lines);
        shut(&r->watch);
        r->lines = fd;
        r->watch = fd < 0 ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (r->watch >= 0 && inotify_add_watch(r->watch, r->path, IN_MODIFY | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) < 0)
            shut(&r->watch);
        r->in.len = r->used = 0;
    } else
        shut(&fd);
    r->live = r->lines >= 0 && is_held(r->lines);
    snprintf(r->why, sizeof r->why, "%s",
             r->folder < 0  ? err.text
             : r->lines < 0 ? "nobody presents there now"
             : r->live      ? ""
                            : "who presented has left");
}

bool reader_step(ClassReader *r, int64_t now)
{
    char why[sizeof r->why], bytes[65536];
    bool woken = false;
    if (!*r->path)
        return false;
    while (r->watch >= 0 && read(r->watch, bytes, sizeof bytes) > 0)
        woken = true;
    memcpy(why, r->why, sizeof why);
    size_t before = r->in.len;
    int file = r->lines;
    if (woken || !r->looked || now - r->looked >= LOOK_NS) {
        r->looked = now;
        look(r);
    }
    for (ssize_t n;
         r->lines >= 0 && r->in.len < CLASS_MOST && (n = pread(r->lines, bytes, sizeof bytes, (off_t)r->in.len)) > 0;)
        buf_add(&r->in, bytes, (size_t)n);
    return file != r->lines || r->in.len != before || strcmp(why, r->why) != 0;
}

int reader_classes(Buf *out)
{
    enum { TOLD = 8, LOOKED_AT = 10000 };
    const size_t prefix = strlen(PREFIX);
    char base[CLASS_PATH], who[80];
    int found = 0;
    DIR *d = path_of("x", base, NULL) ? (*strrchr(base, '/') = 0, file_folder(base)) : NULL;
    const struct dirent *e;
    for (int i = 0; d && i < LOOKED_AT && found < TOLD && (e = readdir(d)) != NULL; i++) {
        ClassReader r;
        if (strncmp(e->d_name, PREFIX, prefix) != 0 || !reader_init(&r, e->d_name + prefix, NULL))
            continue;
        reader_step(&r, clock_ns());
        if (r.live)
            buf_printf(out, "%s%s, by %s", found++ ? "; " : "", e->d_name + prefix, machine_user(r.owner, who));
        reader_close(&r);
    }
    if (d)
        closedir(d);
    return found;
}

bool reader_behind(const ClassReader *r)
{
    return r->in.len > r->used && memchr(r->in.data + r->used, '\n', r->in.len - r->used);
}

const char *reader_line(ClassReader *r, Err *err)
{
    err->text[0] = 0;
    if (!reader_behind(r))
        return NULL;
    char *text = r->in.data + r->used;
    size_t n = (size_t)((char *)memchr(text, '\n', r->in.len - r->used) - text);
    r->used += n + 1;
    text[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (n > CLASS_LINE || (unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            err_set(err, "a line of the class is no text, or longer than %d bytes", CLASS_LINE);
            text[n = 0] = 0;
        }
    return text;
}

int reader_poll(void *context, struct pollfd *out, int most)
{
    const ClassReader *r = context;
    if (!*r->path || r->watch < 0 || most < 1)
        return 0;
    out[0] = (struct pollfd){.fd = r->watch, .events = POLLIN};
    return 1;
}

bool reader_data(const ClassReader *r, const char *digest, Buf *out, Err *err)
{
    struct stat st;
    char is[17], bytes[65536];
    bool named = strlen(digest) == 16 && strspn(digest, "0123456789abcdef") == 16;
    int fd = named ? open_file(r->folder, digest, r->owner, CLASS_DATA, &st) : -1;
    for (ssize_t n; fd >= 0 && out->len <= CLASS_DATA && (n = read(fd, bytes, sizeof bytes)) > 0;)
        buf_add(out, bytes, (size_t)n);
    digest_of(out, is);
    bool ok = (fd >= 0 && strcmp(is, digest) == 0) ||
              err_set(err, "what was opened there has not come (%.16s)", digest);
    shut(&fd);
    return ok;
}

bool reader_vote(const ClassReader *r, const char *name, Err *err)
{
    int votes = r->folder < 0 ? -1 : openat(r->folder, "votes", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = votes < 0 ? -1
                       : openat(votes, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || err_set(err, "your answer could not be given: %s", strerror(errno));
    shut(&fd);
    shut(&votes);
    return ok;
}
