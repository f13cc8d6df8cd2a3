#include "tui/views/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

#include "tui/views/view.h"

enum { DIGITS = 6, DIGITS_PLAIN = 3, DECIMALS = 3 };

/* Below the first three decimals would be one digit or none; below the other numbers have an exponent, whatever the
 * room: on one screen 0.0035 is not 3.5e-3 beside it. The third is that of six
 * digits, which do not round to 0.001. */
static const double LEAST = 0.00995, LEAST_PLAIN = 0.0009995, LEAST_FULL = 0.0009999995;

/* Drops the plus and leading zeros of the exponent. */
static void squeeze_exponent(char *s)
{
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

/* Drops what a number can lose without changing it: that, and the zero before the point. */
static void squeeze(char *s)
{
    char *digits = s + (*s == '-');
    if (digits[0] == '0' && digits[1] == '.')
        memmove(digits, digits + 1, strlen(digits));
    squeeze_exponent(s);
}

/* Fewer and fewer digits until the text fits; without the zero before the point where asked for. */
static bool fit(char out[32], double x, size_t width, int fewest, bool squeezed)
{
    for (int digits = DIGITS; digits >= fewest; digits--) {
        snprintf(out, 32, "%.*g", digits, x);
        (squeezed ? squeeze : squeeze_exponent)(out);
        if (strlen(out) <= width)
            return true;
    }
    return false;
}

/* Three decimals, so that points stand below each other, or as many as there is room for; whole numbers have none. */
static bool fit_decimals(char out[32], double x, size_t width)
{
    double size = fabs(x);
    bool whole = size < 1e6 && floor(size) == size;
    if (!whole && (size < LEAST || size >= 1e6))
        return false;
    for (int decimals = whole ? 0 : DECIMALS; decimals >= (whole || size >= 100 ? 0 : size >= 10 ? 1 : 2); decimals--) {
        utf8_print(out, 32, "%.*f", decimals, x);
        if (strlen(out) > width)
            squeeze(out);
        if (strlen(out) <= width)
            return true;
    }
    return false;
}

/* Of what is below that three significant digits, or two, or one; a digit goes before the zero does. */
static bool fit_small(char out[32], double x, size_t width)
{
    for (int decimals = DECIMALS + 2; decimals >= DECIMALS; decimals--) {
        utf8_print(out, 32, "%.*f", decimals, x);
        if (decimals < DECIMALS + 2 && strlen(out) > width)
            squeeze(out);
        if (strlen(out) <= width)
            return true;
    }
    return false;
}

/* With an exponent: fewer and fewer digits; of many no zeros at their end. */
static bool fit_exponent(char out[32], double x, size_t width, int digits)
{
    for (const int most = digits; digits > 0; digits--) {
        snprintf(out, 32, "%.*e", digits - 1, x);
        squeeze(out);
        if (most > DIGITS_PLAIN) {
            char *e = strchr(out, 'e'), *end = e;
            while (end[-1] == '0' || end[-1] == '.')
                end--;
            memmove(end, e, strlen(e) + 1);
        }
        if (strlen(out) <= width)
            return true;
    }
    return false;
}

/* Returns whether there is nothing more to do: it is no finite number. */
static bool put_special(char out[32], float x)
{
    if (isnan(x))
        snprintf(out, 32, "NaN");
    else if (isinf(x))
        snprintf(out, 32, "%sinf", x < 0 ? "-" : "");
    return !isfinite(x);
}

static void put_fitting(char *out, size_t n, char text[32], size_t room)
{
    if (strlen(text) > room) { /* a shortened number would be another number */
        size_t marks = room < 31 ? room : 31;
        memset(text, '#', marks);
        text[marks] = '\0';
    }
    snprintf(out, n, "%s", text);
}

void number_text(char *out, size_t n, float x, int width)
{
    char text[32];
    size_t room = width > 0 ? (size_t)width : 0;
    x = x == 0 ? 0 : x; /* no -0 */
    const double size = fabs((double)x);
    if (!put_special(text, x) && !fit_decimals(text, (double)x, room)) {
        if (size < LEAST_PLAIN)
            fit_exponent(text, (double)x, room, DIGITS_PLAIN);
        else if (size < LEAST)
            fit_small(text, (double)x, room);
        else {
            snprintf(text, sizeof text, "%.2e", (double)x);
            squeeze(text);
            if (strlen(text) > room)
                fit(text, (double)x, room, 1, true);
        }
    }
    put_fitting(out, n, text, room);
}

void number_full_text(char *out, size_t n, float x, int width)
{
    char text[32];
    size_t room = width > 0 ? (size_t)width : 0;
    x = x == 0 ? 0 : x; /* no -0 */
    if (put_special(text, x))
        ;
    else if (x != 0 && fabs((double)x) < LEAST_FULL)
        fit_exponent(text, (double)x, room, DIGITS);
    else if (!fit(text, (double)x, room, DIGITS_PLAIN, false))
        fit(text, (double)x, room, 1, true);
    put_fitting(out, n, text, room);
}

void points_text(char *out, size_t n, float difference)
{
    points_text_to(out, n, difference, 1);
}

void points_text_to(char *out, size_t n, float difference, int decimals)
{
    const double size = fabs((double)difference), least = share_unit(decimals);
    if (isnan(difference))
        snprintf(out, n, "NaN");
    else if (size > 0 && size < 0.0501 * least) /* a digit of it would be 0 */
        snprintf(out, n, "≈0");
    else if (size > 0 && size < least / 2)
        utf8_print(out, n, "%.*f", decimals + 1, 100 * (double)difference);
    else
        utf8_print(out, n, "%.*f", size > 0 ? decimals : 0, 100 * (double)difference);
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
