#include "tui/messages.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

static const SaidLine *at(const Messages *m, int i)
{
    return &m->line[(m->first + i) % MESSAGES_MOST];
}

void messages_add(Messages *m, bool error, const char *text, int64_t now)
{
    if (!*text)
        return;
    SaidLine *last = m->count ? &m->line[(m->first + m->count - 1) % MESSAGES_MOST] : NULL;
    if (last && last->error == error && strcmp(last->text, text) == 0) {
        last->times++;
        return;
    }
    if (!m->count)
        m->began = now;
    SaidLine *to = &m->line[(m->first + m->count) % MESSAGES_MOST];
    if (m->count == MESSAGES_MOST) {
        free(to->text);
        m->first = (m->first + 1) % MESSAGES_MOST;
    } else
        m->count++;
    *to = (SaidLine){xstrdup(text), error, now, 1};
}

void messages_put(const Messages *m, Buf *out)
{
    for (int i = 0; i < m->count; i++) {
        const SaidLine *l = at(m, i);
        int seconds = (int)((l->at - m->began) / 1000000000);
        buf_printf(out, "%3d:%02d  %s", seconds / 60, seconds % 60, l->error ? "refused: " : "");
        for (const char *p = l->text; *p; p++) /* a page stays one entry */
            buf_putc(out, *p == '\n' ? ' ' : *p);
        if (l->times > 1)
            buf_printf(out, " (%d times)", l->times);
        buf_putc(out, '\n');
    }
}

void messages_free(Messages *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->line[(m->first + i) % MESSAGES_MOST].text);
    *m = (Messages){.count = 0};
}
