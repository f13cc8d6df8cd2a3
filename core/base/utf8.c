#include "core/base/utf8.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

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

char *utf8_take(char *out, size_t n, const char *s, size_t bytes)
{
    size_t taken = bytes < n ? bytes : n - 1;
    memcpy(out, s, taken);
    out[taken] = 0;
    utf8_mend(out);
    return out;
}

/* Bytes at the end of s[0 … n−1] that begin a character and do not end it; reads nothing behind them. */
static size_t unfinished(const char *s, size_t n)
{
    size_t back = 0;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xc0) == 0x80)
        back++;
    unsigned lead = back < n ? (unsigned char)s[n - 1 - back] : 0;
    size_t whole = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return back + 1 < whole ? back + 1 : 0;
}

void utf8_mend(char *s)
{
    size_t n = strlen(s);
    s[n - unfinished(s, n)] = 0;
}

/* One conversion of a format: its flags, numbers ('*' read already, −1: none) and length. */
typedef struct Conversion {
    char flags[8], length[4], as;
    int width, precision;
} Conversion;

static int number_of(const char **p, va_list *ap)
{
    if (**p == '*')
        return (*p)++, va_arg(*ap, int);
    return (int)strtol(*p, (char **)p, 10);
}

static Conversion conversion(const char **p, va_list *ap)
{
    Conversion c = {.width = -1, .precision = -1};
    size_t n = strspn(*p, "-+ #0");
    snprintf(c.flags, sizeof c.flags, "%.*s", (int)n, *p);
    *p += n;
    if (**p == '*' || (**p >= '1' && **p <= '9'))
        c.width = number_of(p, ap);
    if (**p == '.')
        ++*p, c.precision = number_of(p, ap);
    n = strspn(*p, "hlz");
    snprintf(c.length, sizeof c.length, "%.*s", (int)n, *p);
    *p += n;
    c.as = *(*p)++;
    return c;
}

/* Would it be printed as -0.00? */
static bool rounds_to_nothing(double x, int decimals)
{
    char digits[64];
    if (!(x <= 0 && x > -1))
        return false;
    snprintf(digits, sizeof digits, "%.*f", decimals < 0 ? 6 : decimals > 40 ? 40 : decimals, x);
    return !digits[strcspn(digits, "123456789")];
}

/* A number with decimals that would be a row of digits of which float32 holds seven is written with an exponent, at the
 * same place of its column: 2.99e+37. */
static bool is_large(const Conversion *c, double x)
{
    return c->as == 'f' && c->precision != 0 && (x >= 1e9 || x <= -1e9) && x - x == 0;
}

/* One value as the C library prints it, but for a string's precision, which stops before a character that it cuts, the
 * minus of a fixed-point zero, and what is large. */
static int put_value(char *out, size_t n, const Conversion *c, va_list *ap)
{
    char spec[64], width[16] = "", precision[16] = "";
    if (c->width != -1)
        snprintf(width, sizeof width, "%d", c->width);
    if (c->precision >= 0 && c->as != 's')
        snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(spec, sizeof spec, "%%%s%s%s%s%c", c->flags, width, c->as == 's' ? ".*" : precision, c->length, c->as);
    if (c->as == 's') {
        const char *s = va_arg(*ap, const char *);
        size_t most = c->precision < 0 ? INT_MAX : (size_t)c->precision, taken = strnlen(s, most);
        return snprintf(out, n, spec, (int)(taken - (taken == most ? unfinished(s, taken) : 0)), s);
    }
    if (strchr("fFeEgGaA", c->as)) {
        double x = va_arg(*ap, double);
        if (is_large(c, x)) {
            snprintf(spec, sizeof spec, "%%%s%s.2e", c->flags, width);
            return snprintf(out, n, spec, x);
        }
        return snprintf(out, n, spec, c->as == 'f' && rounds_to_nothing(x, c->precision) ? 0.0 : x);
    }
    if (c->as == 'p')
        return snprintf(out, n, spec, va_arg(*ap, void *));
    if (strcmp(c->length, "ll") == 0)
        return snprintf(out, n, spec, va_arg(*ap, long long));
    if (*c->length == 'l')
        return snprintf(out, n, spec, va_arg(*ap, long));
    if (*c->length == 'z')
        return snprintf(out, n, spec, va_arg(*ap, size_t));
    REQUIRE(strchr("diouxXc", c->as));
    return snprintf(out, n, spec, va_arg(*ap, int));
}

/* True where a string has a precision or a number a fixed point: only these formats are walked here. */
static bool walked(const char *fmt)
{
    while ((fmt = strchr(fmt, '%')) != NULL) {
        const char *flags = fmt + 1 + strspn(fmt + 1, "-+ #0123456789*"), *at = flags;
        at += *at == '.' ? 1 + strspn(at + 1, "0123456789*") : 0;
        if (*at == 'f' || (*at == 's' && at > flags))
            return true;
        fmt = *at ? at + 1 : at;
    }
    return false;
}

int utf8_vprint(char *out, size_t n, const char *fmt, va_list ap)
{
    size_t all = 0;
    if (walked(fmt)) {
        va_list values;
        va_copy(values, ap);
        for (const char *p = fmt; *p;) {
            char *to = all < n ? out + all : NULL;
            size_t room = all < n ? n - all : 0, plain = strcspn(p, "%") + (*p == '%' && p[1] == '%');
            Conversion c = {0};
            if (plain)
                all += (size_t)snprintf(to, room, "%.*s", (int)plain, p), p += plain + (*p == '%');
            else
                p++, c = conversion(&p, &values), all += (size_t)put_value(to, room, &c, &values);
        }
        va_end(values);
    } else
        all = (size_t)vsnprintf(out, n, fmt, ap);
    if (n && all >= n)
        utf8_mend(out);
    return (int)all;
}

int utf8_print(char *out, size_t n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int all = utf8_vprint(out, n, fmt, ap);
    va_end(ap);
    return all;
}

/* How many cells a code point takes. Ranges after the Unicode 14 character database: general categories Mn, Me and Cf
 * (and the Hangul vowels and finals that join the syllable before them) take none, East Asian Width W and F take two.
 * Unassigned gaps are merged. */

typedef struct Range {
    uint32_t first, last;
} Range;

static const Range zero[] = {
    {0x300, 0x36f},     {0x483, 0x489},     {0x591, 0x5bd},     {0x5bf, 0x5bf},     {0x5c1, 0x5c2},
    {0x5c4, 0x5c5},     {0x5c7, 0x5c7},     {0x610, 0x61a},     {0x61c, 0x61c},     {0x64b, 0x65f},
    {0x670, 0x670},     {0x6d6, 0x6dc},     {0x6df, 0x6e4},     {0x6e7, 0x6e8},     {0x6ea, 0x6ed},
    {0x711, 0x711},     {0x730, 0x74a},     {0x7a6, 0x7b0},     {0x7eb, 0x7f3},     {0x7fd, 0x7fd},
    {0x816, 0x819},     {0x81b, 0x823},     {0x825, 0x827},     {0x829, 0x82d},     {0x859, 0x85b},
    {0x890, 0x89f},     {0x8ca, 0x8e1},     {0x8e3, 0x902},     {0x93a, 0x93a},     {0x93c, 0x93c},
    {0x941, 0x948},     {0x94d, 0x94d},     {0x951, 0x957},     {0x962, 0x963},     {0x981, 0x981},
    {0x9bc, 0x9bc},     {0x9c1, 0x9c4},     {0x9cd, 0x9cd},     {0x9e2, 0x9e3},     {0x9fe, 0xa02},
    {0xa3c, 0xa3c},     {0xa41, 0xa51},     {0xa70, 0xa71},     {0xa75, 0xa75},     {0xa81, 0xa82},
    {0xabc, 0xabc},     {0xac1, 0xac8},     {0xacd, 0xacd},     {0xae2, 0xae3},     {0xafa, 0xb01},
    {0xb3c, 0xb3c},     {0xb3f, 0xb3f},     {0xb41, 0xb44},     {0xb4d, 0xb56},     {0xb62, 0xb63},
    {0xb82, 0xb82},     {0xbc0, 0xbc0},     {0xbcd, 0xbcd},     {0xc00, 0xc00},     {0xc04, 0xc04},
    {0xc3c, 0xc3c},     {0xc3e, 0xc40},     {0xc46, 0xc56},     {0xc62, 0xc63},     {0xc81, 0xc81},
    {0xcbc, 0xcbc},     {0xcbf, 0xcbf},     {0xcc6, 0xcc6},     {0xccc, 0xccd},     {0xce2, 0xce3},
    {0xd00, 0xd01},     {0xd3b, 0xd3c},     {0xd41, 0xd44},     {0xd4d, 0xd4d},     {0xd62, 0xd63},
    {0xd81, 0xd81},     {0xdca, 0xdca},     {0xdd2, 0xdd6},     {0xe31, 0xe31},     {0xe34, 0xe3a},
    {0xe47, 0xe4e},     {0xeb1, 0xeb1},     {0xeb4, 0xebc},     {0xec8, 0xecd},     {0xf18, 0xf19},
    {0xf35, 0xf35},     {0xf37, 0xf37},     {0xf39, 0xf39},     {0xf71, 0xf7e},     {0xf80, 0xf84},
    {0xf86, 0xf87},     {0xf8d, 0xfbc},     {0xfc6, 0xfc6},     {0x102d, 0x1030},   {0x1032, 0x1037},
    {0x1039, 0x103a},   {0x103d, 0x103e},   {0x1058, 0x1059},   {0x105e, 0x1060},   {0x1071, 0x1074},
    {0x1082, 0x1082},   {0x1085, 0x1086},   {0x108d, 0x108d},   {0x109d, 0x109d},   {0x1160, 0x11ff},
    {0x135d, 0x135f},   {0x1712, 0x1714},   {0x1732, 0x1733},   {0x1752, 0x1753},   {0x1772, 0x1773},
    {0x17b4, 0x17b5},   {0x17b7, 0x17bd},   {0x17c6, 0x17c6},   {0x17c9, 0x17d3},   {0x17dd, 0x17dd},
    {0x180b, 0x180f},   {0x1885, 0x1886},   {0x18a9, 0x18a9},   {0x1920, 0x1922},   {0x1927, 0x1928},
    {0x1932, 0x1932},   {0x1939, 0x193b},   {0x1a17, 0x1a18},   {0x1a1b, 0x1a1b},   {0x1a56, 0x1a56},
    {0x1a58, 0x1a60},   {0x1a62, 0x1a62},   {0x1a65, 0x1a6c},   {0x1a73, 0x1a7f},   {0x1ab0, 0x1b03},
    {0x1b34, 0x1b34},   {0x1b36, 0x1b3a},   {0x1b3c, 0x1b3c},   {0x1b42, 0x1b42},   {0x1b6b, 0x1b73},
    {0x1b80, 0x1b81},   {0x1ba2, 0x1ba5},   {0x1ba8, 0x1ba9},   {0x1bab, 0x1bad},   {0x1be6, 0x1be6},
    {0x1be8, 0x1be9},   {0x1bed, 0x1bed},   {0x1bef, 0x1bf1},   {0x1c2c, 0x1c33},   {0x1c36, 0x1c37},
    {0x1cd0, 0x1cd2},   {0x1cd4, 0x1ce0},   {0x1ce2, 0x1ce8},   {0x1ced, 0x1ced},   {0x1cf4, 0x1cf4},
    {0x1cf8, 0x1cf9},   {0x1dc0, 0x1dff},   {0x200b, 0x200f},   {0x202a, 0x202e},   {0x2060, 0x206f},
    {0x20d0, 0x20f0},   {0x2cef, 0x2cf1},   {0x2d7f, 0x2d7f},   {0x2de0, 0x2dff},   {0x302a, 0x302d},
    {0x3099, 0x309a},   {0xa66f, 0xa672},   {0xa674, 0xa67d},   {0xa69e, 0xa69f},   {0xa6f0, 0xa6f1},
    {0xa802, 0xa802},   {0xa806, 0xa806},   {0xa80b, 0xa80b},   {0xa825, 0xa826},   {0xa82c, 0xa82c},
    {0xa8c4, 0xa8c5},   {0xa8e0, 0xa8f1},   {0xa8ff, 0xa8ff},   {0xa926, 0xa92d},   {0xa947, 0xa951},
    {0xa980, 0xa982},   {0xa9b3, 0xa9b3},   {0xa9b6, 0xa9b9},   {0xa9bc, 0xa9bd},   {0xa9e5, 0xa9e5},
    {0xaa29, 0xaa2e},   {0xaa31, 0xaa32},   {0xaa35, 0xaa36},   {0xaa43, 0xaa43},   {0xaa4c, 0xaa4c},
    {0xaa7c, 0xaa7c},   {0xaab0, 0xaab0},   {0xaab2, 0xaab4},   {0xaab7, 0xaab8},   {0xaabe, 0xaabf},
    {0xaac1, 0xaac1},   {0xaaec, 0xaaed},   {0xaaf6, 0xaaf6},   {0xabe5, 0xabe5},   {0xabe8, 0xabe8},
    {0xabed, 0xabed},   {0xd7b0, 0xd7c6},   {0xd7cb, 0xd7fb},   {0xfb1e, 0xfb1e},   {0xfe00, 0xfe0f},
    {0xfe20, 0xfe2f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x101fd, 0x101fd}, {0x102e0, 0x102e0},
    {0x10376, 0x1037a}, {0x10a01, 0x10a0f}, {0x10a38, 0x10a3f}, {0x10ae5, 0x10ae6}, {0x10d24, 0x10d27},
    {0x10eab, 0x10eac}, {0x10f46, 0x10f50}, {0x10f82, 0x10f85}, {0x11001, 0x11001}, {0x11038, 0x11046},
    {0x11070, 0x11070}, {0x11073, 0x11074}, {0x1107f, 0x11081}, {0x110b3, 0x110b6}, {0x110b9, 0x110ba},
    {0x110c2, 0x110c2}, {0x11100, 0x11102}, {0x11127, 0x1112b}, {0x1112d, 0x11134}, {0x11173, 0x11173},
    {0x11180, 0x11181}, {0x111b6, 0x111be}, {0x111c9, 0x111cc}, {0x111cf, 0x111cf}, {0x1122f, 0x11231},
    {0x11234, 0x11234}, {0x11236, 0x11237}, {0x1123e, 0x1123e}, {0x112df, 0x112df}, {0x112e3, 0x112ea},
    {0x11300, 0x11301}, {0x1133b, 0x1133c}, {0x11340, 0x11340}, {0x11366, 0x11374}, {0x11438, 0x1143f},
    {0x11442, 0x11444}, {0x11446, 0x11446}, {0x1145e, 0x1145e}, {0x114b3, 0x114b8}, {0x114ba, 0x114ba},
    {0x114bf, 0x114c0}, {0x114c2, 0x114c3}, {0x115b2, 0x115b5}, {0x115bc, 0x115bd}, {0x115bf, 0x115c0},
    {0x115dc, 0x115dd}, {0x11633, 0x1163a}, {0x1163d, 0x1163d}, {0x1163f, 0x11640}, {0x116ab, 0x116ab},
    {0x116ad, 0x116ad}, {0x116b0, 0x116b5}, {0x116b7, 0x116b7}, {0x1171d, 0x1171f}, {0x11722, 0x11725},
    {0x11727, 0x1172b}, {0x1182f, 0x11837}, {0x11839, 0x1183a}, {0x1193b, 0x1193c}, {0x1193e, 0x1193e},
    {0x11943, 0x11943}, {0x119d4, 0x119db}, {0x119e0, 0x119e0}, {0x11a01, 0x11a0a}, {0x11a33, 0x11a38},
    {0x11a3b, 0x11a3e}, {0x11a47, 0x11a47}, {0x11a51, 0x11a56}, {0x11a59, 0x11a5b}, {0x11a8a, 0x11a96},
    {0x11a98, 0x11a99}, {0x11c30, 0x11c3d}, {0x11c3f, 0x11c3f}, {0x11c92, 0x11ca7}, {0x11caa, 0x11cb0},
    {0x11cb2, 0x11cb3}, {0x11cb5, 0x11cb6}, {0x11d31, 0x11d45}, {0x11d47, 0x11d47}, {0x11d90, 0x11d91},
    {0x11d95, 0x11d95}, {0x11d97, 0x11d97}, {0x11ef3, 0x11ef4}, {0x13430, 0x13438}, {0x16af0, 0x16af4},
    {0x16b30, 0x16b36}, {0x16f4f, 0x16f4f}, {0x16f8f, 0x16f92}, {0x16fe4, 0x16fe4}, {0x1bc9d, 0x1bc9e},
    {0x1bca0, 0x1cf46}, {0x1d167, 0x1d169}, {0x1d173, 0x1d182}, {0x1d185, 0x1d18b}, {0x1d1aa, 0x1d1ad},
    {0x1d242, 0x1d244}, {0x1da00, 0x1da36}, {0x1da3b, 0x1da6c}, {0x1da75, 0x1da75}, {0x1da84, 0x1da84},
    {0x1da9b, 0x1daaf}, {0x1e000, 0x1e02a}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef},
    {0x1e8d0, 0x1e8d6}, {0x1e944, 0x1e94a}, {0xe0001, 0xe01ef},
};

static const Range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
    {0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},
    {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},
    {0x26fa, 0x26fa},   {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
    {0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},
    {0x2e80, 0x3029},   {0x302e, 0x303e},   {0x3041, 0x3096},   {0x309b, 0x3247},   {0x3250, 0x4dbf},
    {0x4e00, 0xa4c6},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfad9},   {0xfe10, 0xfe19},
    {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x16fe3}, {0x16ff0, 0x1b2fb},
    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320},
    {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3},
    {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc},
    {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
    {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2},
    {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f93a},
    {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faf6}, {0x20000, 0x3fffd},
};

static bool inside(const Range *ranges, size_t n, uint32_t c)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c > ranges[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && c >= ranges[low].first;
}

int utf8_width(uint32_t c)
{
    if (c < zero[0].first)
        return 1;
    if (inside(zero, sizeof zero / sizeof *zero, c))
        return 0;
    return inside(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

int utf8_cells(const char *s)
{
    int n = 0;
    for (uint32_t c; (c = utf8_next(&s)) != 0;)
        n += utf8_width(c);
    return n;
}

bool utf8_listed(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += *p == ' ')
        if (strcspn(p, " ") == n && strncmp(p, word, n) == 0)
            return true;
    return false;
}

int utf8_edits(const char *a, size_t n, const char *b, int limit)
{
    size_t m = strlen(b);
    int row[64];
    if (n >= 60 || m >= 60)
        return strcmp(a, b) ? limit : 0;
    if ((n > m ? n - m : m - n) >= (size_t)limit)
        return limit;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0], least = row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int best = change < row[j] + 1 ? change : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least >= limit) /* rows never fall below the least of the one before */
            return limit;
    }
    return row[m];
}
