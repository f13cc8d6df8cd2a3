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

static bool state_path(char *out, size_t n, bool make)
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
    int len = snprintf(out, n, "%s/vitrine/last", folder);
    return len > 0 && (size_t)len < n;
}

char *state_load(void)
{
    char path[900];
    Buf b = {0};
    if (!state_path(path, sizeof path, false) || !file_exists(path) || !file_read(path, 8192, &b, NULL))
        return NULL;
    char *text = xstrdup(buf_str(&b));
    buf_free(&b);
    return text;
}

/* First line: what was open; second line: commands that lead back. */
void state_save(const Session *s)
{
    char path[900];
    if (!state_path(path, sizeof path, true))
        return;
    Buf b = {0}, focus = {0}, gradient = {0};
    address_put_focus(s, &focus);
    buf_printf(&b, "%s\t%s\n", s->model_path, s->now.input.path);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(&b, "%s; ", s->edits.line[i]);
    gradient_text(s, &gradient);
    if (gradient.len)
        buf_printf(&b, "gradient %s; ", buf_str(&gradient));
    buf_printf(&b, "goto %s; view %s", buf_str(&focus), view_name(s->look.view));
    const ScreenSpec *screen = screen_now(s);
    if (screen->come && session_screen_for(s, s->place.path) != s->place.screen)
        buf_printf(&b, "; %s", screen->command);
    buf_puts(&b, "\n");
    file_write(path, b.data, b.len, NULL);
    buf_free(&b);
    buf_free(&focus);
    buf_free(&gradient);
}
