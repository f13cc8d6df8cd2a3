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

/* Of every input its own, the last one first: a line that says what was open, the lines that lead back, a form feed. */
static const char BETWEEN[] = "\f\n";
enum { INPUTS_KEPT = 50 };

static void put_subject(const Session *s, Buf *out)
{
    buf_printf(out, "%s\t%s\n", s->model_path, session_input(s, SIDE_B)->path);
}

/* The entry of that subject in the file, or NULL; *end: behind it, where the next one begins. */
static const char *entry_of(const char *text, const Buf *subject, const char **end)
{
    for (const char *p = text; *p; p = *end) {
        const char *stop = strstr(p, BETWEEN);
        *end = stop ? stop + strlen(BETWEEN) : p + strlen(p);
        if (strncmp(p, buf_str(subject), subject->len) == 0)
            return p;
    }
    return NULL;
}

void state_save(const Session *s)
{
    Buf b = {0}, here = {0};
    char *old = state_load();
    put_subject(s, &here);
    buf_add(&b, here.data, here.len);
    session_write(s, 0, &b);
    const char *end, *own = old ? entry_of(old, &here, &end) : NULL, *p = old ? old : "";
    for (int i = 1; i < INPUTS_KEPT && *p; i++) {
        const char *stop = strstr(p, BETWEEN);
        size_t n = stop ? (size_t)(stop - p) : strlen(p);
        if (p != own && b.len + n < STATE_MOST / 2) {
            buf_puts(&b, BETWEEN);
            buf_add(&b, p, n);
        }
        p += n + (stop ? strlen(BETWEEN) : 0);
    }
    state_save_file("last", buf_str(&b));
    free(old);
    buf_free(&b);
    buf_free(&here);
}

bool state_resume(Session *s, const Commands *c)
{
    char *text = state_load();
    Buf here = {0}, lines = {0};
    Err err;
    put_subject(s, &here);
    const char *end, *own = text ? entry_of(text, &here, &end) : NULL;
    if (own) {
        const char *stop = strstr(own, BETWEEN);
        buf_add(&lines, own + here.len, (stop ? (size_t)(stop - own) : strlen(own)) - here.len);
    }
    bool ok = own && session_read(s, c, buf_str(&lines), LINE_REPLAY, &err);
    buf_free(&here);
    buf_free(&lines);
    free(text);
    return ok;
}
