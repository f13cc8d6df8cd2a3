#include "core/base/tell.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"

enum { LINE = 2048, SLICE_MS = 50, PATIENCE_NS = 200000000 };

/* All of it, whatever signals come meanwhile; but who is asked to end does not wait for a reader that does not read.
 * (That a terminal says it takes bytes is no promise: a line end may need two.) */
static void put(const char *bytes, size_t n)
{
    int64_t stuck = 0; /* since when nothing went out although somebody asked to end */
    while (n) {
        ssize_t done = write(STDERR_FILENO, bytes, n);
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
            stuck = 0;
            continue;
        }
        if (done == 0 || (errno != EINTR && errno != EAGAIN))
            return;
        if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, SLICE_MS);
        int64_t now = clock_ns();
        stuck = stop_came() && !stuck ? now : stuck;
        if (stuck && now - stuck > PATIENCE_NS)
            return;
    }
}

static void put_line(const char *before, const char *text, const char *after)
{
    char clean[LINE], line[LINE + 32];
    utf8_clean(clean, sizeof clean, text);
    int n = utf8_print(line, sizeof line, "%s%s%s", before, clean, after);
    put(line, (size_t)n);
}

void tell(const char *text)
{
    put_line("vitrine: ", text, "\n");
}

void tell_line(const char *text)
{
    put_line("", text, "\n");
}

void tell_over(const char *text, int cells)
{
    enum { CELLS_MOST = 400 };
    char clean[LINE], line[LINE + CELLS_MOST + 8];
    int pad = cells - utf8_cells(utf8_clean(clean, sizeof clean, text));
    pad = pad < 0 ? 0 : pad > CELLS_MOST ? CELLS_MOST : pad;
    int n = snprintf(line, sizeof line, "\r%s%*s%s", clean, pad, "", *clean ? "" : "\r");
    put(line, (size_t)n);
}

/* True when every byte is plain text, as almost always. */
static bool is_plain(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)s[i] < 0x20 && s[i] != '\n' && s[i] != '\t') || (unsigned char)s[i] >= 0x7f)
            return false;
    return true;
}

void tell_clean(Buf *text)
{
    if (is_plain(buf_str(text), text->len))
        return;
    Buf out = {0};
    const char *from = text->data, *end = from + text->len;
    while (from < end) {
        const char *at = from;
        uint32_t c = utf8_next(&from);
        char bytes[4];
        if (!c) /* a NUL: utf8_next stands still there */
            from++;
        bool invalid = c == 0xfffd && from - at == 1, kept = c == '\n' || c == '\t';
        buf_add(&out, bytes, utf8_put(bytes, invalid || (!kept && !utf8_printable(c)) ? '?' : c));
    }
    buf_free(text);
    *text = out;
}
