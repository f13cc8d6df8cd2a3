#include "core/base/tell.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum { LINE = 2048 };

static void put_line(const char *before, const char *text, const char *after)
{
    char clean[LINE];
    utf8_clean(clean, sizeof clean, text);
    fprintf(stderr, "%s%s%s", before, clean, after);
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
    char clean[LINE];
    int pad = cells - utf8_cells(utf8_clean(clean, sizeof clean, text));
    fprintf(stderr, "\r%s%*s%s", clean, pad > 0 ? pad : 0, "", *clean ? "" : "\r");
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
