#include "core/session/ask/printed.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"

size_t printed_minus(const char *p)
{
    return *p == '-' ? 1 : strncmp(p, "\xE2\x88\x92", 3) == 0 ? 3 : 0;
}

/* "⁻¹⁴": bytes of it, 0 for none. */
static size_t raised(const char *p, int *power)
{
    static const char *const DIGITS[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    static const char MINUS[] = "⁻";
    size_t n = strncmp(p, MINUS, strlen(MINUS)) == 0 ? strlen(MINUS) : 0, start = n;
    *power = 0;
    for (int d = 0; d < 10 && n - start < 9; d++)
        if (strncmp(p + n, DIGITS[d], strlen(DIGITS[d])) == 0) {
            *power = *power * 10 + d;
            n += strlen(DIGITS[d]);
            d = -1;
        }
    if (start && n > start)
        *power = -*power;
    return n > start ? n : 0;
}

size_t number_printed(const char *text, double *out, double *half)
{
    char digits[64];
    size_t n = printed_minus(text), k = 0;
    bool negative = n > 0;
    int places = 0;
    long exponent = 0;
    if (!isdigit((unsigned char)text[n]))
        return 0;
    while (k < 40) {
        bool comma = text[n] == ',' && isdigit((unsigned char)text[n + 1]) && isdigit((unsigned char)text[n + 2]) &&
                     isdigit((unsigned char)text[n + 3]) && !isdigit((unsigned char)text[n + 4]);
        if (isdigit((unsigned char)text[n]))
            digits[k++] = text[n];
        else if (!comma || places)
            break;
        n++;
    }
    if (text[n] == '.' && isdigit((unsigned char)text[n + 1])) {
        digits[k++] = '.';
        for (n++; isdigit((unsigned char)text[n]) && k < 60; n++, places++)
            digits[k++] = text[n];
    }
    digits[k] = 0;
    if (text[n] == 'e') {
        size_t m = text[n + 1] == '+' ? 1 : printed_minus(text + n + 1);
        bool below = printed_minus(text + n + 1) > 0;
        if (isdigit((unsigned char)text[n + 1 + m])) {
            char *end;
            exponent = strtol(text + n + 1 + m, &end, 10); /* the largest long where it is larger */
            n = (size_t)(end - text);
            if (exponent > 300)
                return 0;
            exponent = below ? -exponent : exponent;
        }
    }
    *out = strtod(digits, NULL) * (negative ? -1 : 1) * dm_pow(10, (double)exponent);
    if (exponent) { /* as it is written, not as a product rounded twice */
        char whole[80];
        snprintf(whole, sizeof whole, "%s%se%ld", negative ? "-" : "", digits, exponent);
        *out = strtod(whole, NULL);
    }
    *half = 0.5 * dm_pow(10, (double)(exponent - places));
    int power;
    size_t high = *out == 10 && !places && !exponent ? raised(text + n, &power) : 0;
    if (high) { /* 10⁻⁷ */
        char whole[16];
        snprintf(whole, sizeof whole, "1e%d", power);
        *out = strtod(whole, NULL);
        *half = 0.5 * *out;
    }
    return n + high;
}

void number_put(double x, int decimals, Buf *out)
{
    char text[64];
    if (x != x) {
        buf_puts(out, "NaN");
        return;
    }
    if (decimals < 0 && x == dm_floor(x) && dm_abs(x) < 1e15) {
        char digits[32];
        int n = snprintf(digits, sizeof digits, "%.0f", dm_abs(x));
        buf_puts(out, x < 0 ? "−" : "");
        for (int i = 0; i < n; i++) {
            buf_putc(out, digits[i]);
            if ((n - 1 - i) % 3 == 0 && i < n - 1 && n > 4)
                buf_putc(out, ',');
        }
        return;
    }
    if (decimals < 0)
        snprintf(text, sizeof text, "%.4g", x);
    else
        snprintf(text, sizeof text, "%.*f", decimals > 9 ? 9 : decimals, x);
    buf_printf(out, "%s%s", *text == '-' ? "−" : "", text + (*text == '-'));
}
