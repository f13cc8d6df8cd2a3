#include "tui/term_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "tui/term_keys.h"

/* One to four hexadecimal digits, as XParseColor reads them: "f" and "ffff" are both the whole. */
static bool channel(const char **text, unsigned *out)
{
    static const unsigned whole[] = {0, 0xf, 0xff, 0xfff, 0xffff};
    unsigned value = 0;
    int digits = 0;
    for (; **text && strchr("0123456789abcdefABCDEF", **text); (*text)++) {
        if (++digits > 4)
            return false;
        char c = **text;
        value = value << 4 | (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits)
        *out = (value * 255 + whole[digits] / 2) / whole[digits];
    return digits > 0;
}

/* "rgb:R/G/B" or "rgba:R/G/B/A", to its end. */
static bool colour(const char *text, Colour *out)
{
    unsigned part[4] = {0};
    int parts = strncmp(text, "rgba:", 5) == 0 ? 4 : 3;
    if (parts == 3 && strncmp(text, "rgb:", 4) != 0)
        return false;
    text += parts + 1;
    for (int i = 0; i < parts; i++)
        if ((i && *text++ != '/') || !channel(&text, &part[i]))
            return false;
    *out = part[0] << 16 | part[1] << 8 | part[2];
    return !*text;
}

bool reply_take(TermReply *r, const char *text)
{
    Colour c;
    int row, column, setting, high, wide, end = 0;
    if (strncmp(text, "]11;", 4) == 0 && colour(text + 4, &c))
        r->ground = c;
    else if (strncmp(text, "]4;255;", 7) == 0 && colour(text + 7, &c))
        r->has_256 = true;
    else if (sscanf(text, "[?2026;%1d$y%n", &setting, &end) == 1 && end && !text[end])
        r->has_frames = setting == 1 || setting == 2; /* set, or can be set */
    else if (sscanf(text, "[%4d;%4dR%n", &row, &column, &end) == 2 && end && !text[end])
        r->column = column;
    else if (strcmp(text, "_Gi=31;OK") == 0)
        r->has_graphics = true;
    else if (strncmp(text, "_Gi=31;", 7) == 0)
        r->has_graphics = false; /* it knows them, and takes none */
    else if (sscanf(text, "[6;%4d;%4dt%n", &high, &wide, &end) == 2 && end && !text[end] && high > 0 && wide > 0) {
        r->pixel_h = high;
        r->pixel_w = wide;
    } else if (strncmp(text, "P>|", 3) == 0)
        utf8_take(r->who, sizeof r->who, text + 3, strlen(text + 3));
    else if (strncmp(text, "[?", 2) == 0 && text[strspn(text + 2, "0123456789;") + 2] == 'c')
        r->all = true;
    else
        return false;
    return true;
}

typedef struct Listening {
    int fd;
    int64_t until;
} Listening;

/* One byte in time, whatever signals come meanwhile. */
static bool next_byte(void *context, uint32_t *c)
{
    const Listening *l = context;
    for (;;) {
        unsigned char byte = 0;
        int64_t left = (l->until - clock_ns()) / 1000000;
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        ssize_t got = ready > 0 ? read(l->fd, &byte, 1) : -1;
        *c = byte;
        if (got == 1)
            return true;
        if (ready == 0 || got == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
    }
}

static bool writes(int fd, const char *bytes)
{
    size_t n = strlen(bytes);
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return false;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* The bytes of a sequence that somebody typed, as they came. */
static void put_typed(Buf *typed, const char *sequence)
{
    buf_putc(typed, 27);
    while (*sequence)
        buf_putc(typed, (char)utf8_next(&sequence));
}

void term_ask(int fd, bool utf8, const char *more, TermReply *r, Buf *typed)
{
    enum { SEQUENCE_MS = 20 }; /* for the rest of a reply that has begun */
    Listening from = {.fd = fd};
    struct termios raw;
    uint32_t c;
    *r = (TermReply){.ground = COLOUR_DEFAULT};
    if (tcgetattr(fd, &raw))
        return;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(fd, TCSANOW, &raw) || (utf8 && !writes(fd, "\r\xe2\x94\x80\033[6n")) ||
        !writes(fd, "\033]11;?\033\\\033]4;255;?\033\\\033[?2026$p") || !writes(fd, more) || !writes(fd, "\033[c"))
        return;
    const int64_t whole = clock_ns() + ASK_MS * 1000000ll;
    from.until = whole - SEQUENCE_MS * 1000000ll;
    while (!r->all && typed->len < ASK_TYPED / 2 && next_byte(&from, &c)) {
        char text[ASK_TYPED / 2];
        while (c == 27) { /* Esc, and behind it at once a reply */
            Listening rest = {.fd = fd, .until = whole};
            key_sequence(text, sizeof text, next_byte, &rest);
            if (text[0] != 27)
                break;
            buf_putc(typed, 27);
        }
        if (c != 27)
            buf_putc(typed, (char)c);
        else if (!reply_take(r, text) && text[0] != ']')
            put_typed(typed, text);
    }
    writes(fd, "\r\033[K"); /* whatever a terminal made of what it did not know */
}
