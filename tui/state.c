/* The reader's place between two sessions: a small file of commands below $XDG_STATE_HOME, readable only by its owner.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/session/address.h"
#include "core/session/learned/gradient.h"
#include "core/session/screens.h"
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

char *state_load_file(const char *name)
{
    char path[900];
    Buf b = {0};
    if (!state_path(path, sizeof path, name, false) || !file_exists(path) || !file_read(path, 8192, &b, NULL)) {
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
    if (state_path(path, sizeof path, name, true))
        file_write(path, text, strlen(text), NULL);
}

char *state_load(void)
{
    return state_load_file("last");
}

/* First line: what was open; second line: commands that lead back. */
void state_text(const Session *s, Buf *out)
{
    Buf focus = {0}, gradient = {0};
    address_put_focus(s, &focus);
    buf_printf(out, "%s\t%s\n", s->model_path, s->now.input.path);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s; ", s->edits.line[i]);
    gradient_text(s, &gradient);
    if (gradient.len)
        buf_printf(out, "gradient %s; ", buf_str(&gradient));
    buf_printf(out, "goto %s; view %s", buf_str(&focus), view_name(s->look.view));
    const ScreenSpec *screen = screen_now(s);
    if (screen->come && session_screen_for(s, s->place.path) != s->place.screen)
        buf_printf(out, "; %s", screen->command);
    buf_puts(out, "\n");
    buf_free(&focus);
    buf_free(&gradient);
}

void state_save(const Session *s)
{
    Buf text = {0};
    state_text(s, &text);
    state_save_file("last", buf_str(&text));
    buf_free(&text);
}
