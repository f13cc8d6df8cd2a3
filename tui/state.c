/* The reader's place between two sessions: a small file of commands below $XDG_STATE_HOME, readable only by its owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/session/state.h"
#include "tui/app.h"

static bool state_path(char *out, size_t n, const char *name, bool make)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[800];
    if (state && *state == '/')
        snprintf(folder, sizeof folder, "%s", state);
    else if (home && *home == '/')
        snprintf(folder, sizeof folder, "%s/.local/state", home);
    else
        return false;
    if (make) { /* every missing folder of the path, private */
        char part[820];
        snprintf(part, sizeof part, "%s/vitrine", folder);
        for (char *p = part + 1; *p; p++)
            if (*p == '/') {
                *p = 0;
                if (mkdir(part, 0700) != 0 && errno != EEXIST)
                    return false;
                *p = '/';
            }
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
    }
    int len = snprintf(out, n, "%s/vitrine/%s", folder, name);
    return len > 0 && (size_t)len < n;
}

enum { STATE_MOST = 1 << 20, ABANDONED_S = 60 };

char *state_load_file(const char *name)
{
    char path[900];
    Buf b = {0};
    if (!state_path(path, sizeof path, name, false) || !file_exists(path) || !file_read(path, STATE_MOST, &b, NULL)) {
        buf_free(&b);
        return NULL;
    }
    char *text = xstrdup(buf_str(&b));
    buf_free(&b);
    return text;
}

void state_save_file(const char *name, const char *text)
{
    char path[900];
    if (!state_path(path, sizeof path, name, true))
        return;
    file_write(path, text, strlen(text), NULL);
    *strrchr(path, '/') = 0;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file_tidy(folder, ABANDONED_S); /* of one that was killed while it wrote; another may be writing now */
    if (folder >= 0)
        close(folder);
}

char *state_load(void)
{
    return state_load_file("last");
}

/* First line: what was open; then the lines that lead back. */
static void put_subject(const Session *s, Buf *out)
{
    buf_printf(out, "%s\t%s\n", s->model_path, session_input(s, SIDE_B)->path);
}

void state_save(const Session *s)
{
    Buf b = {0};
    put_subject(s, &b);
    session_write(s, 0, &b);
    state_save_file("last", buf_str(&b));
    buf_free(&b);
}

bool state_resume(Session *s, const Commands *c)
{
    char *text = state_load();
    Buf here = {0};
    Err err;
    put_subject(s, &here);
    bool ok = text && strncmp(text, buf_str(&here), here.len) == 0 &&
              session_read(s, c, text + here.len, LINE_REPLAY, &err);
    buf_free(&here);
    free(text);
    return ok;
}
