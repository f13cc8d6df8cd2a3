#include "tui/views/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/view.h"

enum { DIGITS = 6, DIGITS_PLAIN = 3 };

/* Drops what a number can lose without changing it: the zero before the point, the plus and leading zeros of the
 * exponent. */
static void squeeze(char *s)
{
    char *digits = s + (*s == '-');
    if (digits[0] == '0' && digits[1] == '.')
        memmove(digits, digits + 1, strlen(digits));
    char *e = strchr(s, 'e');
    if (!e)
        return;
    char *from = e + 1, *to = e + 1;
    if (*from == '-')
        to++;
    from++;
    while (*from == '0' && from[1])
        from++;
    memmove(to, from, strlen(from) + 1);
}

/* Fewer and fewer digits until the text fits; squeezed where asked for. */
static bool fit(char out[32], double x, size_t width, int fewest, bool squeezed)
{
    for (int digits = DIGITS; digits >= fewest; digits--) {
        snprintf(out, 32, "%.*g", digits, x);
        if (squeezed)
            squeeze(out);
        if (strlen(out) <= width)
            return true;
    }
    return false;
}

void number_text(char *out, size_t n, float x, int width)
{
    char text[32];
    size_t room = width > 0 ? (size_t)width : 0;
    if (isnan(x))
        snprintf(text, sizeof text, "NaN");
    else if (isinf(x))
        snprintf(text, sizeof text, "%sinf", x < 0 ? "-" : "");
    else if (!fit(text, (double)x, room, DIGITS_PLAIN, false))
        fit(text, (double)x, room, 1, true);
    if (strlen(text) > room) { /* a shortened number would be another number */
        size_t marks = room < sizeof text - 1 ? room : sizeof text - 1;
        memset(text, '#', marks);
        text[marks] = '\0';
    }
    snprintf(out, n, "%s", text);
}

void probability_text(char *out, size_t n, float p)
{
    char text[32];
    if (isnan(p))
        snprintf(text, sizeof text, "NaN");
    else if (p > 0 && p < 0.005F)
        snprintf(text, sizeof text, "<.01");
    else {
        utf8_print(text, sizeof text, "%.2f", (double)p);
        squeeze(text);
    }
    snprintf(out, n, "%s", text);
}

const char *count_text(char *out, size_t n, size_t count)
{
    char plain[32], grouped[48];
    int length = snprintf(plain, sizeof plain, "%zu", count), to = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            grouped[to++] = ',';
        grouped[to++] = plain[i];
    }
    grouped[to] = '\0';
    snprintf(out, n, "%s", grouped);
    return out;
}

const char *amount_text(char *out, size_t n, double x, const char *unit)
{
    static const char *const PREFIX[] = {"", "k", "M", "G", "T", "P"};
    size_t i = 0;
    while (x >= 999.5 && i + 1 < sizeof PREFIX / sizeof *PREFIX) {
        x /= 1000;
        i++;
    }
    utf8_print(out, n, "%.*f %s%s", i == 0 || x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, x, PREFIX[i], unit);
    return out;
}
