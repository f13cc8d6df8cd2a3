#include "core/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

static char *reserve(Buf *b, size_t n)
{
    size_t need = size_add(size_add(b->len, n), 1);
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
            cap = size_mul(cap, 2);
        b->data = xrealloc(b->data, cap);
        b->cap = cap;
    }
    return b->data + b->len;
}

void buf_add(Buf *b, const void *data, size_t n)
{
    char *to = reserve(b, n);
    if (n)
        memcpy(to, data, n);
    b->len += n;
    b->data[b->len] = 0;
}

void buf_puts(Buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_putc(Buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(Buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_vprintf(Buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char none[1];
    int n = utf8_vprint(none, 0, fmt, ap);
    REQUIRE(n >= 0);
    char *to = reserve(b, (size_t)n);
    utf8_vprint(to, (size_t)n + 1, fmt, again);
    va_end(again);
    b->len += (size_t)n;
}

void buf_fixed(Buf *b, int width, double x, int decimals)
{
    char text[48];
    utf8_print(text, sizeof text, "%.*f", decimals, x);
    if ((x < 0 || x > 0) && !strpbrk(text, "123456789n"))
        snprintf(text, sizeof text, "%.1e", x);
    buf_printf(b, "%*s", width, text);
}

void buf_json(Buf *b, const char *s)
{
    buf_putc(b, '"');
    for (uint32_t c; (c = utf8_next(&s)) != 0;) {
        char bytes[4];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (char)c);
        else if (c <= 0xffff && !utf8_printable(c)) /* a terminal that is shown the JSON obeys none of it */
            buf_printf(b, "\\u%04x", (unsigned)c);
        else
            buf_add(b, bytes, utf8_put(bytes, c));
    }
    buf_putc(b, '"');
}

void buf_csv(Buf *b, const char *s)
{
    buf_putc(b, '"');
    for (; *s; s++)
        buf_printf(b, *s == '"' ? "\"\"" : "%c", *s);
    buf_putc(b, '"');
}

/* One character from *s on, which moves behind it: may a line that is read have it as it is? */
static bool shown(const char **s)
{
    const char *from = *s;
    uint32_t c = utf8_next(s);
    return utf8_printable(c) && (c != 0xfffd || *s - from > 1);
}

void buf_shell(Buf *b, const char *s)
{
    bool plain = true;
    for (const char *p = s; plain && *p;)
        plain = shown(&p);
    buf_puts(b, plain ? "'" : "$'");
    for (const char *p = s, *from; *p;) {
        from = p;
        if (!shown(&p))
            for (; from < p; from++)
                buf_printf(b, "\\%03o", (unsigned char)*from);
        else if (*from == '\'')
            buf_puts(b, plain ? "'\\''" : "\\'");
        else if (*from == '\\' && !plain)
            buf_puts(b, "\\\\");
        else
            buf_add(b, from, (size_t)(p - from));
    }
    buf_putc(b, '\'');
}

const char *buf_str(const Buf *b)
{
    return b->data ? b->data : "";
}

void buf_clear(Buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = 0;
}

void buf_free(Buf *b)
{
    free(b->data);
    *b = (Buf){0};
}

bool buf_renew(Buf *b, Buf *now)
{
    bool other = strcmp(buf_str(b), buf_str(now)) != 0;
    buf_free(b);
    *b = *now;
    *now = (Buf){0};
    return other;
}
