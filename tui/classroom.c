#define _GNU_SOURCE /* locks of an open file */
#include "tui/classroom.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/digest.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

#define LOOK_NS INT64_C(500000000)
enum { READ_AT_ONCE = 1024 * 1024, LATE_MOST = 1024 * 1024 };

/* ---- where ---- */

bool classroom_path(const char *name, char path[CLASS_PATH], Err *err)
{
    const char *base = getenv("VITRINE_SHARE");
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (!*name || *name == '.' || strspn(name, GOOD) != strlen(name) || strlen(name) > 40)
        return err_set(err, "'%.60s' is no name for a class: letters, digits, - and _, at most 40", name);
    base = base && *base == '/' ? base : "/tmp";
    return snprintf(path, CLASS_PATH, "%s/vitrine-class-%s", base, name) < CLASS_PATH ||
           err_set(err, "VITRINE_SHARE is longer than %d characters", CLASS_PATH - 60);
}

static bool is_private(const char *path, Err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return err_set(err, "%s is not a directory of yours alone (chmod 700): nothing is opened there", path);
    return true;
}

bool classroom_notes(char path[CLASS_PATH], Err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char own[40];
    if (runtime && *runtime == '/' && strlen(runtime) < CLASS_PATH - 24 && is_private(runtime, NULL))
        return snprintf(path, CLASS_PATH, "%s/vitrine-notes", runtime) > 0;
    snprintf(own, sizeof own, "/tmp/vitrine-%lu", (unsigned long)geteuid());
    if (mkdir(own, 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", own, strerror(errno));
    return is_private(own, err) && snprintf(path, CLASS_PATH, "%s/vitrine-notes", own) > 0;
}

const char *classroom_user(uid_t uid, char out[80])
{
    const struct passwd *p = getpwuid(uid);
    utf8_print(out, 80, p && p->pw_name && *p->pw_name ? "%.60s (%lu)" : "user%.0s %lu", p ? p->pw_name : "",
               (unsigned long)uid);
    return out;
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

/* A directory that only its owner writes to; whose it is. −1 with an error. */
static int open_folder(int at, const char *path, uid_t *owner, Err *err)
{
    struct stat st;
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        err_set(err,
                errno == ENOENT   ? "nobody shares under that name (%s is not there)"
                : errno == EACCES ? "%s: it is shared with a group that you are not in; `groups` lists yours, and who "
                                    "presents chose it"
                                  : "%s is not a directory that only its owner writes to: not used",
                path);
        return -1;
    }
    if (fstat(fd, &st) == 0 && !(st.st_mode & 022)) {
        *owner = st.st_uid;
        return fd;
    }
    err_set(err, "%s is not a directory that only its owner writes to: not used", path);
    close(fd);
    return -1;
}

/* A regular file in it, of that owner, that nobody else writes; −1 where it is not. */
static int open_file(int folder, const char *name, uid_t owner, size_t most, struct stat *st)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == owner && !(st->st_mode & 022) &&
        st->st_size >= 0 && (uint64_t)st->st_size <= most)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Does its writer live? Only who can write it can hold that lock. */
static bool is_held(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_WRLCK;
}

int classroom_poll(int watch, struct pollfd *out, int most)
{
    if (watch < 0 || most < 1)
        return 0;
    out[0] = (struct pollfd){.fd = watch, .events = POLLIN};
    return 1;
}

bool classroom_woken(int watch)
{
    char events[4096];
    bool any = false;
    while (watch >= 0 && read(watch, events, sizeof events) > 0)
        any = true;
    return any;
}

static int watch_folder(const char *path, const char *inside)
{
    char full[CLASS_PATH + 16];
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    snprintf(full, sizeof full, "%s%s", path, inside);
    if (fd >= 0 && inotify_add_watch(fd, full, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- who presents ---- */

bool classroom_anew(Classroom *c, Err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    static const char NEW[] = "new-lines";
    unlinkat(c->folder, NEW, 0);
    int fd = openat(c->folder, NEW, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat st;
    bool ok = fd >= 0 && fstat(c->folder, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0 &&
              fchmod(fd, c->mode & 0666) == 0;
    if (ok)
        fcntl(fd, F_OFD_SETLK, &lock); /* where locks are not to be had nobody is told that we are gone */
    ok = ok && renameat(c->folder, NEW, c->folder, "lines") == 0;
    if (!ok) {
        err_set(err, "%s: %s", c->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (c->lines >= 0)
        close(c->lines);
    c->lines = fd;
    c->written = 0;
    buf_clear(&c->late);
    return true;
}

static bool somebody_presents(int folder)
{
    struct stat st;
    int fd = open_file(folder, "lines", geteuid(), SIZE_MAX, &st);
    bool held = fd >= 0 && is_held(fd);
    if (fd >= 0)
        close(fd);
    return held;
}

/* Owner, group and mode of the directory, and votes/ in it. */
static bool dress(Classroom *c, const struct group *g, bool private, Err *err)
{
    uid_t owner;
    c->mode = private ? 0700 : g ? 0750 : 0755;
    if (g && fchown(c->folder, (uid_t)-1, g->gr_gid) != 0)
        return err_set(err, "you are not in the group '%.60s', so nothing can be shared with it: `groups` lists yours",
                       g->gr_name);
    if (fchmod(c->folder, c->mode) != 0)
        return err_set(err, "%s: %s", c->path, strerror(errno));
    if (private)
        return true;
    if (mkdirat(c->folder, "votes", 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", c->path, strerror(errno));
    /* others may put files there, can't list them, and take away none but their own */
    c->votes = openat(c->folder, "votes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    owner = c->votes >= 0 && fstat(c->votes, &st) == 0 ? st.st_uid : (uid_t)-1;
    if (owner != geteuid() || (g && fchown(c->votes, (uid_t)-1, g->gr_gid) != 0) ||
        fchmod(c->votes, g ? 01730 : 01733) != 0)
        return err_set(err, "%s/votes is not yours: choose another name", c->path);
    return true;
}

bool classroom_make(Classroom *c, const char *path, const char *group, bool private, Err *err)
{
    const struct group *g = group ? getgrnam(group) : NULL;
    uid_t owner;
    *c = (Classroom){.folder = -1, .lines = -1, .watch = -1, .votes = -1};
    if (group && !g)
        return err_set(err,
                       "there is no group '%.60s' on this machine: `groups` lists yours; without a group everybody may "
                       "follow",
                       group);
    if (!is_safe_base(path, err))
        return false;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", path, strerror(errno));
    int folder = open_folder(AT_FDCWD, path, &owner, err);
    if (folder < 0)
        return false;
    c->folder = folder;
    snprintf(c->path, sizeof c->path, "%s", path);
    bool ok = owner == geteuid() || err_set(err, "%s belongs to another user: choose another name", path);
    ok = ok && (!somebody_presents(folder) || err_set(err, "a presentation is running there already (%s)", path));
    bool made = ok;
    ok = ok && dress(c, g, private, err) && classroom_anew(c, err);
    if (ok) {
        c->watch = watch_folder(path, private ? "" : "/votes");
        return true;
    }
    if (!made) { /* somebody else's stays as it is */
        close(c->folder);
        c->folder = -1;
    }
    classroom_close(c);
    return false;
}

/* Every file of a folder. */
static void empty(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        unlinkat(folder, e->d_name, 0);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

void classroom_close(Classroom *c)
{
    if (!*c->path)
        return;
    if (c->votes >= 0)
        empty(c->votes);
    if (c->folder >= 0) {
        unlinkat(c->folder, "votes", AT_REMOVEDIR);
        empty(c->folder);
        rmdir(c->path);
    }
    const int fds[] = {c->folder, c->lines, c->watch, c->votes};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_free(&c->late);
    *c = (Classroom){.folder = -1, .lines = -1, .watch = -1, .votes = -1};
}

void classroom_say(Classroom *c, const char *line)
{
    if (!*c->path)
        return;
    buf_puts(&c->late, line);
    buf_putc(&c->late, '\n');
}

bool classroom_flush(Classroom *c)
{
    if (!*c->path)
        return true;
    size_t done = 0;
    c->trouble = 0;
    while (done < c->late.len) {
        ssize_t n = write(c->lines, c->late.data + done, c->late.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            c->trouble = n < 0 ? errno : ENOSPC;
            break;
        }
        done += (size_t)n;
    }
    c->written += done;
    c->late.len -= done;
    memmove(c->late.data ? c->late.data : (char[1]){0}, c->late.data ? c->late.data + done : "", c->late.len);
    if (c->late.len > LATE_MOST)
        c->written = CLASS_FILE; /* it begins anew */
    return !c->late.len;
}

void classroom_digest(const Buf *bytes, char digest[17])
{
    uint64_t hash = digest_mix(DIGEST_START, bytes->len);
    for (size_t i = 0; i < bytes->len; i++)
        hash = digest_mix(hash, (unsigned char)bytes->data[i]);
    snprintf(digest, 17, "%016llx", (unsigned long long)hash);
}

bool classroom_put(Classroom *c, const char *digest, const Buf *bytes, Err *err)
{
    static const char NEW[] = "new-data";
    struct stat st;
    size_t done = 0;
    if (fstatat(c->folder, digest, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    unlinkat(c->folder, NEW, 0);
    int fd = openat(c->folder, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && fstat(c->folder, &st) == 0 && fchown(fd, (uid_t)-1, st.st_gid) == 0 &&
              fchmod(fd, c->mode & 0666) == 0;
    while (ok && done < bytes->len) {
        ssize_t n = write(fd, bytes->data + done, bytes->len - done);
        ok = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    int why = errno;
    ok = (fd < 0 || close(fd) == 0) && ok && renameat(c->folder, NEW, c->folder, digest) == 0;
    if (!ok)
        unlinkat(c->folder, NEW, 0);
    return ok || err_set(err, "%s: %s", c->path, strerror(why));
}

/* ---- who reads ---- */

void reader_init(ClassReader *r, const char *path)
{
    *r = (ClassReader){.folder = -1, .lines = -1, .watch = -1};
    snprintf(r->path, sizeof r->path, "%s", path);
}

static void leave(ClassReader *r, const char *why)
{
    const int fds[] = {r->folder, r->lines, r->watch};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    r->folder = r->lines = r->watch = -1;
    r->live = false;
    buf_free(&r->in);
    r->used = 0;
    snprintf(r->why, sizeof r->why, "%s", why);
}

void reader_close(ClassReader *r)
{
    if (*r->path)
        leave(r, "");
    r->path[0] = 0;
}

void reader_again(ClassReader *r)
{
    r->at = r->whole;
    r->used = r->in.len = 0;
    r->skips = false;
}

/* Another file of lines took the place of the one that is read, or there is one now. */
static void look(ClassReader *r)
{
    struct stat st, now;
    Err err = {{0}};
    if (r->folder >= 0 && (fstat(r->folder, &st) != 0 || !st.st_nlink || (st.st_mode & 022)))
        leave(r, "who presented has left");
    if (r->folder < 0) {
        r->folder = open_folder(AT_FDCWD, r->path, &r->owner, &err);
        if (r->folder < 0) {
            snprintf(r->why, sizeof r->why, "%s", err.text);
            return;
        }
        r->watch = watch_folder(r->path, "");
    }
    int fd = open_file(r->folder, "lines", r->owner, CLASS_MOST, &now);
    bool same = fd >= 0 && r->lines >= 0 && fstat(r->lines, &st) == 0 && st.st_ino == now.st_ino &&
                st.st_dev == now.st_dev;
    if (fd < 0 || same) {
        if (fd >= 0)
            close(fd);
        r->live = same && is_held(r->lines);
        snprintf(r->why, sizeof r->why, "%s",
                 fd < 0    ? "there are no lines that are its owner's alone"
                 : r->live ? ""
                           : "who presented has left");
        return;
    }
    if (r->lines >= 0)
        close(r->lines);
    r->lines = fd;
    r->whole = 0;
    reader_again(r);
    r->live = is_held(fd);
    snprintf(r->why, sizeof r->why, "%s", r->live ? "" : "who presented has left");
}

bool reader_step(ClassReader *r, int64_t now)
{
    char why[sizeof r->why];
    if (!*r->path)
        return false;
    bool woken = classroom_woken(r->watch);
    memcpy(why, r->why, sizeof why);
    if (woken || !r->looked || now - r->looked >= LOOK_NS) {
        r->looked = now;
        look(r);
    }
    size_t before = r->in.len - r->used;
    if (r->used) {
        memmove(r->in.data, r->in.data + r->used, before);
        r->in.len = before;
        r->used = 0;
    }
    static const size_t CHUNK = 65536;
    for (size_t got = 0; r->lines >= 0 && r->at < CLASS_MOST && got < READ_AT_ONCE && r->in.len < 2 * CLASS_LINE;) {
        char bytes[65536];
        ssize_t n = pread(r->lines, bytes, CHUNK, (off_t)r->at);
        if (n <= 0)
            break;
        buf_add(&r->in, bytes, (size_t)n);
        r->at += n;
        got += (size_t)n;
    }
    return r->in.len > before || strcmp(why, r->why) != 0;
}

/* Where the last whole state begins among the whole lines that were read, or what is next. */
static void pass_over(ClassReader *r)
{
    static const char WHOLE[] = "@whole ";
    const char *text = r->in.data + r->used;
    size_t n = r->in.len - r->used;
    for (size_t at = n; at-- > 0;)
        if (text[at] == '@' && n - at >= sizeof WHOLE - 1 && memcmp(text + at, WHOLE, sizeof WHOLE - 1) == 0 &&
            (at ? text[at - 1] == '\n' : !r->skips) && memchr(text + at, '\n', n - at)) {
            r->used += at;
            r->skips = false;
            r->whole = r->at - (int64_t)(r->in.len - r->used);
            return;
        }
}

const char *reader_line(ClassReader *r, Err *err)
{
    err->text[0] = 0;
    if (!r->used && r->in.len)
        pass_over(r);
    size_t n = r->in.len - r->used;
    char *text = r->in.data ? r->in.data + r->used : NULL, *end = n ? memchr(text, '\n', n) : NULL;
    bool skipped = r->skips;
    if (!end && n > CLASS_LINE) {
        r->skips = true;
        r->used += n;
    }
    if (!end)
        return NULL;
    size_t length = (size_t)(end - text);
    r->used += length + 1;
    r->skips = false;
    *end = 0;
    if (skipped || length > CLASS_LINE)
        err_set(err, "a line of the class is longer than %d bytes", CLASS_LINE);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            err_set(err, "a line of the class is no text");
    return *err->text ? "" : text;
}

bool reader_data(const ClassReader *r, const char *digest, Buf *out, Err *err)
{
    struct stat st;
    char is[17];
    bool ok = strlen(digest) == 16 && strspn(digest, "0123456789abcdef") == 16;
    int fd = ok ? open_file(r->folder, digest, r->owner, CLASS_DATA, &st) : -1;
    char bytes[65536];
    for (ssize_t n; fd >= 0 && out->len <= CLASS_DATA && (n = read(fd, bytes, sizeof bytes)) > 0;)
        buf_add(out, bytes, (size_t)n);
    if (fd >= 0)
        close(fd);
    classroom_digest(out, is);
    return (fd >= 0 && strcmp(is, digest) == 0) || err_set(err, "what was opened there has not come (%.16s)", digest);
}

bool reader_vote(const ClassReader *r, const char *name, Err *err)
{
    uid_t owner;
    struct stat st;
    int votes = r->folder < 0 ? -1 : openat(r->folder, "votes", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = votes < 0 ? -1
                       : openat(votes, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    int why = errno;
    bool ok = fd >= 0;
    owner = votes >= 0 && fstat(votes, &st) == 0 ? st.st_uid : (uid_t)-1;
    if (fd >= 0)
        close(fd);
    if (votes >= 0)
        close(votes);
    return ok || err_set(err, "your answer could not be given: %s",
                         owner != r->owner ? "the class has no votes of its owner's" : strerror(why));
}

bool reader_append(const ClassReader *r, const char *name, const char *text)
{
    int fd = r->folder < 0
                 ? -1
                 : openat(r->folder, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)strlen(text);
}
