#define _GNU_SOURCE 1
#include "tui/term_keys.h"

#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"

const KeySequence key_sequences[KEY_SEQUENCES] = {
    {"\033[A", "Up"},        {"\033[B", "Down"},      {"\033[C", "Right"},      {"\033[D", "Left"},
    {"\033[H", "Home"},      {"\033[F", "End"},       {"\033[1~", "Home"},      {"\033[4~", "End"},
    {"\033[7~", "Home"},     {"\033[8~", "End"},      {"\033[Z", "S-Tab"},      {"\033OM", "Enter"},
    {"\033[1;2A", "S-Up"},   {"\033[1;2B", "S-Down"}, {"\033[1;2C", "S-Right"}, {"\033[1;2D", "S-Left"},
    {"\033[1;5A", "C-Up"},   {"\033[1;5B", "C-Down"}, {"\033[1;5C", "C-Right"}, {"\033[1;5D", "C-Left"},
    {"\033[1;3A", "M-Up"},   {"\033[1;3B", "M-Down"}, {"\033[1;3C", "M-Right"}, {"\033[1;3D", "M-Left"},
    {"\033[1;2H", "S-Home"}, {"\033[1;2F", "S-End"},  {"\033[1;5H", "C-Home"},  {"\033[1;5F", "C-End"},
};

static bool key(TermEvent *e, const char *name, uint32_t ch)
{
    e->kind = TERM_KEY;
    e->ch = ch;
    snprintf(e->key, sizeof e->key, "%s", name);
    return true;
}

bool key_named(TermEvent *e, const char *name)
{
    return key(e, name, 0);
}

bool key_character(TermEvent *e, uint32_t c)
{
    char name[8] = "";
    if (c == ' ')
        return key(e, "Space", ' ');
    if (c == '\r' || c == '\n')
        return key(e, "Enter", 0);
    if (c == '\t')
        return key(e, "Tab", 0);
    if (c == 8 || c == 0x7f)
        return key(e, "Backspace", 0);
    if (c < ' ') {
        snprintf(name, sizeof name, "^%c", (char)(c + '@'));
        return key(e, name, 0);
    }
    if (!utf8_printable(c))
        return false;
    name[utf8_put(name, c)] = '\0';
    return key(e, name, c);
}

/* Of what begins a string: DCS, OSC, APC, PM, SOS. */
static bool opens_string(uint32_t c)
{
    return c == 'P' || c == ']' || c == '_' || c == '^' || c == 'X';
}

void key_sequence(char *out, size_t n, KeyReader next, void *context)
{
    enum { MOST = 4096 };
    uint32_t c = 0;
    size_t len = 0;
    bool string = false;
    for (int i = 0; i < MOST && next(context, &c); i++) {
        if (i && string && (c == 7 || c == '\\'))
            break;
        if (c && len + 4 < n && !(string && c == 27))
            len += utf8_put(out + len, c);
        if (i == 0) {
            string = opens_string(c);
            if (!string && c != '[' && c != 'O')
                break;
        } else if (!string && c >= 0x40 && c <= 0x7e)
            break;
    }
    out[len] = '\0';
}

bool key_escape(TermEvent *e, const char *sequence)
{
    char name[8] = "M-";
    const char *at = sequence;
    uint32_t c = *sequence ? utf8_next(&at) : 0;
    if (c == '[' || c == 'O' || opens_string(c))
        return false;
    if (c <= ' ' || !utf8_printable(c))
        return key(e, "Esc", 0);
    name[2 + utf8_put(name + 2, c)] = '\0';
    return key(e, name, 0);
}

bool keys_wait_also(int fd, int ms, const struct pollfd *others, int count, bool *other)
{
    enum { MOST = 400 };
    struct pollfd p[1 + MOST] = {{.fd = fd, .events = POLLIN}};
    int bytes = 0;
    *other = false;
    REQUIRE(count <= MOST);
    for (int i = 0; i < count; i++)
        p[i + 1] = others[i];
    if (poll(p, (nfds_t)count + 1, ms) <= 0)
        return false;
    for (int i = 0; i < count; i++)
        *other = *other || p[i + 1].revents;
    if (!p[0].revents)
        return false;
    if (p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        return true;
    return ioctl(fd, FIONREAD, &bytes) || bytes == 0; /* readable, and nothing to read: the end */
}

bool keys_wait(int fd, int ms)
{
    bool other;
    return keys_wait_also(fd, ms, NULL, 0, &other);
}

void key_paste(Buf *text, uint32_t c)
{
    enum { MOST = 1 << 16 };
    if (text->len >= MOST)
        return;
    if (c < ' ' || c == 0x7f)
        buf_putc(text, ' ');
    else
        put_char(text, c);
}
