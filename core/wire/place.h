/* Where sockets lie, and who may come near. A private one lies in the runtime directory of its owner, mode 0600. An
 * open one, for other users of the machine, lies in a directory of its own: whoever made it owns it, nobody else may
 * write there; both sides look before they use it, and the kernel says who is at the other end. */
#ifndef VITRINE_WIRE_PLACE_H
#define VITRINE_WIRE_PLACE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/err.h"

enum { PLACE_PATH = 100 }; /* the address of a UNIX socket has 108 bytes */

/* The runtime directory: $XDG_RUNTIME_DIR where it is the user's own and private, else /tmp/vitrine-UID, made where it
 * is not there. Checked: a directory, owned by the user, closed to everybody else. */
bool place_runtime(char out[PLACE_PATH], Err *err);
/* Socket of the notes terminal. */
bool place_notes(char out[PLACE_PATH], Err *err);
/* Directory and socket that a class is shared by. name: letters, digits, - _ . and no leading point. Below
 * $VITRINE_SHARE, else /tmp; that must be root's or the user's own, and where others may write there, sticky. */
bool place_share(const char *name, char directory[PLACE_PATH], char path[PLACE_PATH], Err *err);

/* Listens (non-blocking) at path. A socket that nobody listens to any more is taken away first; one that somebody does
 * is an error, and stays. mode of the socket: 0600, 0660, 0666. −1 on error. */
int place_listen(const char *path, mode_t mode, Err *err);
/* The same in a directory made for it: mode 0711, or 0710 for the users of one group (group may be NULL). */
int place_listen_shared(const char *directory, const char *path, const char *group, Err *err);
/* Takes socket and, where given, its directory away, if they are still ours. */
void place_remove(const char *directory, const char *path);

/* Connects (non-blocking afterwards) to somebody's socket: checks directory and socket before, and that who listens
 * owns the directory. directory NULL: a private one, whose owner must be this user. owner gets the user number. */
int place_connect(const char *directory, const char *path, uid_t *owner, Err *err);
/* Non-blocking, and not handed on to other programs. */
bool place_ready(int fd);
/* User at the other end, as the kernel says. */
bool place_peer(int fd, uid_t *uid);
/* Who sits there, as the kernel says: one number for everything that one user runs on one terminal, whenever it
 * connects (the login session of the other end). 0 where the kernel doesn't say. */
uint64_t place_person(int fd);
/* Name of a user, or "user 1000". */
void place_user(uid_t uid, char *out, size_t n);
#endif
