/* Lines in and out. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "tui/canvas/canvas.h"
#include "tui/cli/plain_parts.h"

/* text, appended to out, without anything that a terminal would obey; line ends stay. ascii: typographic characters in
 * their plain form. */
static void plain_text(const char *text, bool ascii, Buf *out)
{
    char bytes[4];
    for (const char *p = text; *p;) {
        uint32_t c = utf8_next(&p);
        if (c == '\n')
            buf_putc(out, '\n');
        else if (!utf8_printable(c))
            buf_putc(out, '?');
        else if (c < 0x80 || !ascii)
            buf_add(out, bytes, utf8_put(bytes, c));
        else
            buf_puts(out, ascii_text(c));
    }
}

void plain_put(Plain *p, const char *text)
{
    Buf b = {0};
    plain_text(text, p->ascii, &b);
    if (b.len && !p->lost && !file_write("-", buf_str(&b), b.len, &p->why)) {
        p->lost = true;
        p->left = errno == EPIPE;
    }
    buf_free(&b);
}

void plain_put_line(Plain *p, const char *text)
{
    size_t n = strlen(text);
    plain_put(p, text);
    if (n && text[n - 1] != '\n')
        plain_put(p, "\n");
}

void plain_prompt(Plain *p)
{
    if (p->terminal)
        plain_put(p, "> ");
}

/* Waits for a line; whoever is followed is heard meanwhile. False: somebody asked to stop. */
static bool wait_line(Plain *p)
{
    struct pollfd at[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    while (p->follow.joined) {
        Buf b = {0};
        bool moved = follow_say(&p->follow, &p->work->session, &b);
        plain_put(p, buf_str(&b));
        buf_free(&b);
        if (moved) {
            plain_put_where(p);
            plain_put_say(p);
            session_trim(&p->work->session);
        }
        at[0].revents = 0;
        int others = p->follow.joined ? reader_poll(&p->follow.room, at + 1, 1) : 0;
        /* where nobody presents yet it is looked again half a second later */
        if (!stop_wait_any(at, 1 + others, follow_behind(&p->follow) ? 0 : 500))
            return false;
        if (at[0].revents)
            return true;
    }
    return stop_wait(STDIN_FILENO, POLLIN);
}

/* Reads more; false at the end, or where somebody asked the program to end. */
static bool read_more(Plain *p)
{
    char block[4096];
    for (;;) {
        if (!wait_line(p)) {
            if (!p->terminal || !stop_interrupted())
                return false;
            plain_put_line(p, "\nNothing is being computed. quit leaves.");
            plain_prompt(p);
            continue;
        }
        ssize_t n = read(STDIN_FILENO, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buf_add(&p->in, block, (size_t)n);
        return true;
    }
}

bool plain_next_line(Plain *p, char line[LINE_MOST + 1])
{
    const char *end;
    while (!(end = p->in.len ? memchr(p->in.data, '\n', p->in.len) : NULL) && !p->ended)
        p->ended = !read_more(p);
    if (!end && !p->in.len)
        return false;
    size_t n = end ? (size_t)(end - p->in.data) : p->in.len, used = end ? n + 1 : n;
    size_t kept = n > LINE_MOST ? LINE_MOST : n;
    memcpy(line, p->in.data, kept);
    line[kept] = 0;
    for (size_t i = 0; i < kept; i++)
        if (line[i] == '\r' || line[i] == '\t' || !line[i])
            line[i] = ' ';
    while (kept && line[kept - 1] == ' ')
        line[--kept] = 0;
    if (n > LINE_MOST)
        snprintf(line, LINE_MOST, "that-line-is-too-long");
    memmove(p->in.data, p->in.data + used, p->in.len - used);
    p->in.len -= used;
    return true;
}
