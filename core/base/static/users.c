/* Names of users and groups for a program in one file: from /etc/passwd and /etc/group. The C library's own ask
 * whatever /etc/nsswitch.conf names, by shared libraries that such a program has not. Whom these files don't list is
 * called by number (machine_user), and a group of a directory service is not found. */
#define _DEFAULT_SOURCE
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

struct passwd *getpwuid(uid_t uid)
{
    FILE *f = fopen("/etc/passwd", "r");
    struct passwd *p = f ? fgetpwent(f) : NULL;
    while (p && p->pw_uid != uid)
        p = fgetpwent(f);
    if (f)
        fclose(f);
    return p;
}

struct group *getgrnam(const char *name)
{
    FILE *f = fopen("/etc/group", "r");
    struct group *g = f ? fgetgrent(f) : NULL;
    while (g && strcmp(g->gr_name, name) != 0)
        g = fgetgrent(f);
    if (f)
        fclose(f);
    return g;
}
