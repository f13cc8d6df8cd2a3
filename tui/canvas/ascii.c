/* Plain forms for terminals without UTF-8. Box drawing and blocks are mapped by range, the rest by one sorted table. */
#include "tui/canvas/canvas.h"

#include <stddef.h>

typedef struct Plain {
    uint32_t c;
    char one;         /* where there is a single cell */
    const char *text; /* in running text */
} Plain;

static const Plain table[] = {
    {0xa0, ' ', " "},      {0xa7, 'S', "S"},      {0xab, '<', "<<"},     {0xac, '!', "not"},     {0xb0, 'o', "deg"},
    {0xb1, '+', "+-"},     {0xb2, '2', "^2"},     {0xb3, '3', "^3"},     {0xb5, 'u', "u"},       {0xb7, '.', "."},
    {0xb9, '1', "^1"},     {0xbb, '>', ">>"},     {0xbd, '/', "1/2"},    {0xd7, 'x', "x"},       {0xdf, 's', "ss"},
    {0xf7, '/', "/"},      {0x152, 'O', "OE"},    {0x153, 'o', "oe"},    {0x393, 'G', "Gamma"},  {0x394, 'D', "D"},
    {0x398, 'O', "Theta"}, {0x39b, 'L', "L"},     {0x3a0, 'P', "prod"},  {0x3a3, 'S', "sum"},    {0x3a6, 'F', "Phi"},
    {0x3a9, 'O', "Omega"}, {0x3b1, 'a', "alpha"}, {0x3b2, 'b', "beta"},  {0x3b3, 'g', "gamma"},  {0x3b4, 'd', "delta"},
    {0x3b5, 'e', "eps"},   {0x3b7, 'n', "eta"},   {0x3b8, 'o', "theta"}, {0x3bb, 'l', "lambda"}, {0x3bc, 'u', "mu"},
    {0x3c0, 'p', "pi"},    {0x3c1, 'r', "rho"},   {0x3c3, 's', "sigma"}, {0x3c4, 't', "tau"},    {0x3c6, 'f', "phi"},
    {0x3c9, 'w', "omega"}, {0x1d40, 'T', "^T"},   {0x2010, '-', "-"},    {0x2011, '-', "-"},     {0x2012, '-', "-"},
    {0x2013, '-', "-"},    {0x2014, '-', "-"},    {0x2016, '|', "||"},   {0x2018, '\'', "'"},    {0x2019, '\'', "'"},
    {0x201c, '"', "\""},   {0x201d, '"', "\""},   {0x2022, '*', "*"},    {0x2026, '~', "..."},   {0x202f, ' ', " "},
    {0x2030, '%', "o/oo"}, {0x2032, '\'', "'"},   {0x2039, '<', "<"},    {0x203a, '>', ">"},     {0x207b, '-', "^-"},
    {0x207f, 'n', "^n"},   {0x2080, '0', "_0"},   {0x2081, '1', "_1"},   {0x2082, '2', "_2"},    {0x2083, '3', "_3"},
    {0x2084, '4', "_4"},   {0x2085, '5', "_5"},   {0x2086, '6', "_6"},   {0x2087, '7', "_7"},    {0x2088, '8', "_8"},
    {0x2089, '9', "_9"},   {0x2096, 'k', "_k"},   {0x2099, 'n', "_n"},   {0x211d, 'R', "R"},     {0x2190, '<', "<"},
    {0x2191, '^', "^"},    {0x2192, '>', ">"},    {0x2193, 'v', "v"},    {0x2194, '-', "<->"},   {0x2195, '|', "^v"},
    {0x21b5, '<', "<"},    {0x21c4, '=', "<>"},   {0x21d0, '<', "<="},   {0x21d2, '>', "=>"},    {0x21d4, '=', "<=>"},
    {0x2202, 'd', "d"},    {0x2207, 'V', "grad"}, {0x2208, 'e', "in"},   {0x220f, 'P', "prod"},  {0x2211, 'S', "sum"},
    {0x2212, '-', "-"},    {0x2217, '*', "*"},    {0x2218, 'o', "o"},    {0x221a, 'v', "sqrt"},  {0x221e, '8', "inf"},
    {0x2225, '|', "||"},   {0x223c, '~', "~"},    {0x2248, '~', "~"},    {0x2260, '#', "!="},    {0x2261, '=', "=="},
    {0x2264, '<', "<="},   {0x2265, '>', ">="},   {0x226a, '<', "<<"},   {0x226b, '>', ">>"},    {0x2295, '+', "(+)"},
    {0x2299, '*', "*"},    {0x22c5, '.', "."},    {0x22ef, '~', "..."},  {0x232b, '<', "BS"},    {0x23ce, '<', "<"},
    {0x25a0, '#', "#"},    {0x25a1, '.', "."},    {0x25b2, '^', "^"},    {0x25b4, '^', "^"},     {0x25b6, '>', ">"},
    {0x25b8, '>', ">"},    {0x25bc, 'v', "v"},    {0x25be, 'v', "v"},    {0x25c0, '<', "<"},     {0x25c2, '<', "<"},
    {0x25c6, '*', "*"},    {0x25c7, 'o', "o"},    {0x25c9, '@', "@"},    {0x25cb, 'o', "o"},     {0x25cf, '*', "*"},
    {0x2605, '*', "*"},    {0x2606, '*', "*"},    {0x2713, 'v', "ok"},   {0x2714, 'v', "ok"},    {0x2717, 'x', "no"},
    {0x2718, 'x', "no"},   {0x276f, '>', ">"},    {0x27e8, '<', "<"},    {0x27e9, '>', ">"},     {0xfffd, '?', "?"},
};

/* U+00C0 … U+017F without their accents. */
static const char latin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty"
                            "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL"
                            "lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
_Static_assert(sizeof latin == 0x180 - 0xc0 + 1, "one letter for each code point of the two Latin blocks");

static char box_char(uint32_t c)
{
    static const char across[] = "\x00\x01\x04\x05\x08\x09\x4c\x4d\x50\x74\x76\x78\x7a\x7c\x7e";
    static const char down[] = "\x02\x03\x06\x07\x0a\x0b\x4e\x4f\x51\x75\x77\x79\x7b\x7d\x7f";
    uint32_t low = c - 0x2500;
    for (size_t i = 0; i + 1 < sizeof across; i++) {
        if (low == (uint32_t)across[i])
            return '-';
        if (low == (uint32_t)down[i])
            return '|';
    }
    return low == 0x71 ? '/' : low == 0x72 ? '\\' : low == 0x73 ? 'X' : '+';
}

static char block_char(uint32_t c)
{
    if (c == 0x2591)
        return '.';
    if (c == 0x2592)
        return ':';
    if (c == 0x2593)
        return '%';
    if (c == 0x258f || c == 0x2581)
        return c == 0x2581 ? '_' : '|'; /* the thinnest of the lower and of the left blocks */
    if (c == 0x2594 || c == 0x2595)
        return c == 0x2594 ? '-' : '|';
    return '#';
}

static const Plain *plain_find(uint32_t c)
{
    size_t low = 0, high = sizeof table / sizeof *table;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (table[mid].c == c)
            return &table[mid];
        if (table[mid].c < c)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

char ascii_char(uint32_t c)
{
    if (c >= ' ' && c < 0x7f)
        return (char)c;
    if (c >= 0x2500 && c < 0x2580)
        return box_char(c);
    if (c >= 0x2580 && c < 0x25a0)
        return block_char(c);
    if (c >= 0x2800 && c < 0x2900)
        return c == 0x2800 ? ' ' : '.';
    if (c >= 0x1fb00 && c < 0x1fb3c)
        return '.';
    const Plain *p = plain_find(c);
    if (p)
        return p->one;
    return c >= 0xc0 && c < 0x180 ? latin[c - 0xc0] : '?';
}

const char *ascii_text(uint32_t c)
{
    /* every printable ASCII character as a string of its own, so that nothing has to be written to memory */
    static const char one[95][2] = {
        " ", "!", "\"", "#",  "$", "%", "&", "'", "(", ")", "*", "+", ",", "-", ".", "/", "0", "1", "2",
        "3", "4", "5",  "6",  "7", "8", "9", ":", ";", "<", "=", ">", "?", "@", "A", "B", "C", "D", "E",
        "F", "G", "H",  "I",  "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X",
        "Y", "Z", "[",  "\\", "]", "^", "_", "`", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
        "l", "m", "n",  "o",  "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "{", "|", "}", "~",
    };
    const Plain *p = plain_find(c);
    return p ? p->text : one[ascii_char(c) - ' '];
}
