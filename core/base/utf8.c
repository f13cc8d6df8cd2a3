#include "core/base/utf8.h"

#include <string.h>

enum { REPLACEMENT = 0xfffd };

/* One well-formed sequence (Unicode 15, table 3-7): 0 when it is not one. The end of the string is never a continuation
 * byte. */
static size_t sequence(const unsigned char *s, uint32_t *c)
{
    unsigned b = s[0];
    size_t n = b < 0x80 ? 1 : b >= 0xc2 && b < 0xe0 ? 2 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xf0 && b < 0xf5 ? 4 : 0;
    if (n < 2) {
        *c = b;
        return n;
    }
    uint32_t v = b & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t shortest[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
    if (v < shortest[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    *c = v;
    return n;
}

uint32_t utf8_next(const char **s)
{
    const unsigned char *at = (const unsigned char *)*s;
    if (!*at)
        return 0;
    uint32_t c = 0;
    size_t n = sequence(at, &c);
    *s += n ? n : 1;
    return n ? c : REPLACEMENT;
}

size_t utf8_put(char out[4], uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = REPLACEMENT;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint32_t lead[] = {[2] = 0xc0, [3] = 0xe0, [4] = 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(unsigned char)(0x80u | (c & 0x3fu));
    out[0] = (char)(unsigned char)(lead[n] | c);
    return n;
}

bool utf8_printable(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } refused[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x2064}, {0x2066, 0x2069}, {0xd800, 0xdfff}, {0xfeff, 0xfeff}, {0x110000, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (c >= refused[i].first && c <= refused[i].last)
            return false;
    return true;
}

char *utf8_clean(char *out, size_t n, const char *s)
{
    size_t used = 0;
    for (uint32_t c; n && *s;) {
        const char *from = s;
        c = utf8_next(&s);
        bool invalid = c == REPLACEMENT && s - from == 1;
        char bytes[4];
        size_t k = utf8_put(bytes, invalid || !utf8_printable(c) ? '?' : c);
        if (k >= n - used)
            break;
        memcpy(out + used, bytes, k);
        used += k;
    }
    if (n)
        out[used] = 0;
    return out;
}

/* Bytes of s that fit into n − 1 bytes and so many cells; whole characters. */
static size_t fitting(const char *s, size_t n, int cells)
{
    const char *at = s;
    for (int used = 0; *at;) {
        const char *from = at;
        used += utf8_width(utf8_next(&at));
        if ((cells >= 0 && used > cells) || (size_t)(at - s) >= n)
            return (size_t)(from - s);
    }
    return (size_t)(at - s);
}

char *utf8_fit(char *out, size_t n, const char *s, int cells)
{
    static const char MORE[] = "…";
    size_t all = strlen(s), taken = n ? fitting(s, n, cells) : 0;
    if (!n)
        return out;
    bool cut = taken < all, room = cut && n >= sizeof MORE && cells != 0;
    if (room)
        taken = fitting(s, n - (sizeof MORE - 1), cells < 0 ? cells : cells - 1);
    memcpy(out, s, taken);
    memcpy(out + taken, room ? MORE : "", room ? sizeof MORE : 1);
    return out;
}

void utf8_mend(char *s)
{
    size_t n = strlen(s), back = 0;
    uint32_t c;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back < n && (unsigned char)s[n - 1 - back] >= 0xc2 && !sequence((const unsigned char *)s + n - 1 - back, &c))
        s[n - 1 - back] = 0;
}
