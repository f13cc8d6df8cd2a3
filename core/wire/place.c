#define _GNU_SOURCE /* struct ucred */
#include "core/wire/place.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool join(char out[PLACE_PATH], const char *directory, const char *name, Err *err)
{
    return snprintf(out, PLACE_PATH, "%s/%s", directory, name) < PLACE_PATH ||
           err_set(err, "%.200s: the name is too long for a socket (99 characters at most)", directory);
}

/* ---- directories ---- */

static bool is_private(const char *path, Err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
        return err_set(err, "%s is not a directory of yours alone (chmod 700): nothing is opened there", path);
    return true;
}

bool place_runtime(char out[PLACE_PATH], Err *err)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && *runtime == '/' && strlen(runtime) < PLACE_PATH - 24 && is_private(runtime, NULL)) {
        snprintf(out, PLACE_PATH, "%s", runtime);
        return true;
    }
    snprintf(out, PLACE_PATH, "/tmp/vitrine-%lu", (unsigned long)geteuid());
    if (mkdir(out, 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", out, strerror(errno));
    return is_private(out, err);
}

bool place_notes(char out[PLACE_PATH], Err *err)
{
    char directory[PLACE_PATH];
    return place_runtime(directory, err) && join(out, directory, "vitrine-notes", err);
}

/* Names can't be taken away there by others: root's or one's own, and sticky where others write. */
static bool is_safe_base(const char *path, Err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    bool open = (st.st_mode & 022) && !(st.st_mode & S_ISVTX);
    if (!S_ISDIR(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) || open)
        return err_set(err, "%s: others could take its files away; name another directory in VITRINE_SHARE", path);
    return true;
}

bool place_share(const char *name, char directory[PLACE_PATH], char path[PLACE_PATH], Err *err)
{
    const char *base = getenv("VITRINE_SHARE");
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char own[64];
    if (!*name || *name == '.' || strspn(name, GOOD) != strlen(name) || strlen(name) > 40)
        return err_set(err, "'%.60s' is no name for a class: letters, digits, - and _, at most 40", name);
    base = base && *base == '/' ? base : "/tmp";
    snprintf(own, sizeof own, "vitrine-class-%s", name);
    return join(directory, base, own, err) && join(path, directory, "socket", err);
}

/* Ours and closed to others' writing; what it says of the socket's owner is what both sides go by. */
static bool is_shared(const char *directory, uid_t *owner, Err *err)
{
    struct stat st;
    if (lstat(directory, &st) != 0)
        return errno == ENOENT ? err_set(err, "nobody shares under that name (%s is not there)", directory)
                               : err_set(err, "%s: %s", directory, strerror(errno));
    if (!S_ISDIR(st.st_mode) || (st.st_mode & 022))
        return err_set(err, "%s is not a directory that only its owner writes to: not used", directory);
    *owner = st.st_uid;
    return true;
}

static bool make_shared(const char *directory, const char *group, Err *err)
{
    char base[PLACE_PATH];
    uid_t owner;
    const struct group *g = NULL;
    snprintf(base, sizeof base, "%.*s", (int)(strrchr(directory, '/') - directory), directory);
    if (!is_safe_base(base, err))
        return false;
    if (group && !(g = getgrnam(group)))
        return err_set(err,
                       "there is no group '%.60s' on this machine: `groups` lists yours; without a group everybody may "
                       "follow",
                       group);
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return err_set(err, "%s: %s", directory, strerror(errno));
    if (!is_shared(directory, &owner, err))
        return false;
    if (owner != geteuid())
        return err_set(err, "%s belongs to another user: choose another name", directory);
    if (g && chown(directory, (uid_t)-1, g->gr_gid) != 0) {
        rmdir(directory); /* it is empty, or somebody's */
        return err_set(err, "you are not in the group '%.60s', so nothing can be shared with it: `groups` lists yours",
                       group);
    }
    return chmod(directory, g ? 0710 : 0711) == 0 || err_set(err, "%s: %s", directory, strerror(errno));
}

/* ---- sockets ---- */

static int new_socket(Err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        err_set(err, "no socket: %s", strerror(errno));
    return fd;
}

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path));
    return a;
}

/* Nobody listens there any more: what is left of it goes. False: somebody does, or it is no socket. */
static bool clear_stale(const char *path, Err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT || err_set(err, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
        return err_set(err, "%s is there and is no socket of yours: take it away", path);
    int fd = new_socket(err);
    if (fd < 0)
        return false;
    struct sockaddr_un a = address_of(path);
    bool live = connect(fd, (struct sockaddr *)&a, sizeof a) == 0 || errno == EAGAIN || errno == EINPROGRESS;
    close(fd);
    if (live)
        return err_set(err, "a presentation is running there already (%s)", path);
    return unlink(path) == 0 || err_set(err, "%s: %s", path, strerror(errno));
}

int place_listen(const char *path, mode_t mode, Err *err)
{
    if (!clear_stale(path, err))
        return -1;
    int fd = new_socket(err);
    if (fd < 0)
        return -1;
    struct sockaddr_un a = address_of(path);
    mode_t before = umask(0177);
    int bound = bind(fd, (struct sockaddr *)&a, sizeof a);
    int why = errno;
    umask(before);
    if (bound == 0 && chmod(path, mode) == 0 && listen(fd, 64) == 0)
        return fd;
    err_set(err, "%s: %s", path, strerror(bound == 0 ? errno : why));
    close(fd);
    if (bound == 0)
        unlink(path);
    return -1;
}

int place_listen_shared(const char *directory, const char *path, const char *group, Err *err)
{
    const struct group *g = group ? getgrnam(group) : NULL;
    if (!make_shared(directory, group, err))
        return -1;
    int fd = place_listen(path, group ? 0660 : 0666, err);
    if (fd >= 0 && g && chown(path, (uid_t)-1, g->gr_gid) != 0) {
        err_set(err, "%s: %s", path, strerror(errno));
        close(fd);
        place_remove(directory, path);
        return -1;
    }
    return fd;
}

void place_remove(const char *directory, const char *path)
{
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
        unlink(path);
    if (directory)
        rmdir(directory);
}

bool place_ready(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

bool place_peer(int fd, uid_t *uid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer)
        return false;
    *uid = peer.uid;
    return true;
}

uint64_t place_person(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer || peer.pid <= 0)
        return 0;
    pid_t session = getsid(peer.pid);
    return session > 0 ? (uint64_t)peer.uid << 32 | (uint32_t)session : 0;
}

int place_connect(const char *directory, const char *path, uid_t *owner, Err *err)
{
    struct stat st;
    uid_t peer;
    *owner = geteuid();
    if (directory && !is_shared(directory, owner, err))
        return -1;
    if (lstat(path, &st) != 0) {
        err_set(err,
                errno == ENOENT   ? "nobody presents there (%s)"
                : errno == EACCES ? "%s: it is shared with a group that you are not in; `groups` lists yours, and who "
                                    "presents chose it"
                                  : "%s can't be reached",
                path);
        return -1;
    }
    if (!S_ISSOCK(st.st_mode) || st.st_uid != *owner || (!directory && (st.st_mode & 077))) {
        err_set(err, "%s is not what its place says it is (owner or mode): not used", path);
        return -1;
    }
    int fd = new_socket(err);
    if (fd < 0)
        return -1;
    struct sockaddr_un a = address_of(path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        err_set(err,
                errno == ECONNREFUSED || errno == ENOENT ? "nobody presents there any more (%s)"
                : errno == EAGAIN                        ? "%s: too many want to come in at once"
                                                         : "%s: you may not",
                path);
    else if (!place_peer(fd, &peer) || peer != *owner)
        err_set(err, "who listens at %s is not who owns it: not used", path);
    else
        return fd;
    close(fd);
    return -1;
}

void place_user(uid_t uid, char *out, size_t n)
{
    const struct passwd *p = getpwuid(uid);
    if (p && p->pw_name && *p->pw_name)
        snprintf(out, n, "%s", p->pw_name);
    else
        snprintf(out, n, "user %lu", (unsigned long)uid);
}
