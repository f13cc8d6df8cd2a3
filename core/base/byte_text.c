#include "core/base/byte_text.h"

#include "core/base/utf8.h"

static bool is_plain_byte(unsigned b)
{
    return (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
}

uint32_t byte_char(unsigned char byte)
{
    uint32_t others = 0;
    for (unsigned b = 0; b < byte; b++)
        others += !is_plain_byte(b);
    return is_plain_byte(byte) ? byte : 0x100 + others;
}

int char_byte(uint32_t c)
{
    if (c < 0x100)
        return is_plain_byte(c) ? (int)c : -1;
    const int others = c < 0x200 ? (int)c - 0x100 : 0x100; /* in their order: 0 to ' ', 0x7f to 0xa0, 0xad */
    return others <= ' ' ? others : others < 67 ? others - 33 + 0x7f : others == 67 ? 0xad : -1;
}

enum { BLANK_SIGN = 0x120, LINE_SIGN = 0x10a }; /* Ġ and Ċ: as letters of a text they would be taken for these */

/* Can it stand in a name as it is? after: a character that a combining mark stands on. */
static bool is_shown(uint32_t c, bool after)
{
    static const uint32_t UNSEEN[] = {BLANK_SIGN, LINE_SIGN, 0xa0,   0xad,   0x115f, 0x1160, 0x1680,
                                      0x202f,     0x205f,    0x2800, 0x3000, 0x3164, 0xffa0};
    for (size_t i = 0; i < sizeof UNSEEN / sizeof *UNSEEN; i++)
        if (c == UNSEEN[i])
            return false;
    return utf8_printable(c) && (c < 0x2000 || c > 0x200a) && (after || utf8_width(c) > 0);
}

/* The bytes behind the piece; false where a character stands for none, or all of them are ASCII's printable ones,
 * blanks and ends of lines, which a piece says as it is stored. A control byte is stored as a letter: CR as č. */
static bool bytes_of(const char *piece, Buf *out)
{
    bool said = true;
    while (*piece) {
        const int byte = char_byte(utf8_next(&piece));
        if (byte < 0)
            return false;
        said = said && ((byte >= ' ' && byte < 0x7f) || byte == '\n');
        buf_putc(out, (char)byte);
    }
    return !said;
}

static void put_numbers(Buf *out, const char *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        buf_printf(out, "<0x%02X>", (unsigned)(unsigned char)at[k]);
}

bool byte_text(const char *piece, Buf *out)
{
    Buf bytes = {0};
    const bool other = bytes_of(piece, &bytes) && !strstr(piece, "<0x"); /* which the name would take for a byte */
    bool after = false;
    for (size_t i = 0, n; other && i < bytes.len; i += n) {
        const char *at = bytes.data + i, *end = at;
        const uint32_t c = utf8_next(&end);
        const bool sign = c == ' ' || c == '\n';
        n = c ? (size_t)(end - at) : 1;
        if (sign || (c < 0x80 ? c > ' ' && c < 0x7f : n > 1 && is_shown(c, after))) {
            char as[4];
            buf_add(out, as, utf8_put(as, sign ? byte_char((unsigned char)c) : c));
            after = !sign;
        } else {
            put_numbers(out, at, n);
            after = false;
        }
    }
    buf_free(&bytes);
    return other;
}

void byte_text_shown(const char *text, bool one_line, Buf *out)
{
    for (const char *at = text, *end = at; *at; at = end) {
        const uint32_t c = utf8_next(&end);
        const size_t n = (size_t)(end - at);
        if (one_line && c == '\n')
            buf_puts(out, "↵");
        else if ((!one_line && (c == '\n' || c == '\t')) ||
                 (utf8_printable(c) && (c < 0x80 || n > 1))) /* an invalid byte is read as U+FFFD */
            buf_add(out, at, n);
        else
            put_numbers(out, at, n);
    }
}

const char *byte_text_signs(const char *names, bool brief)
{
    const bool there = strstr(names, "Ġ") || strstr(names, "Ċ");
    return !there ? "" : brief ? "Ġ: a blank, Ċ: a line's end" : "Ġ is a blank before the word, Ċ a line's end";
}
