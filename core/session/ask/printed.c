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

size_t number_printed(const char *text, double *out, double *half)
{
    char digits[64];
    size_t n = printed_minus(text), k = 0;
    bool negative = n > 0;
    int places = 0, exponent = 0;
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
            exponent = (int)strtol(text + n + 1 + m, &end, 10) * (below ? -1 : 1);
            n = (size_t)(end - text);
        }
    }
    if (exponent > 300 || exponent < -300)
        return 0;
    *out = strtod(digits, NULL) * (negative ? -1 : 1) * dm_pow(10, exponent);
    if (exponent) { /* as it is written, not as a product rounded twice */
        char whole[80];
        snprintf(whole, sizeof whole, "%s%se%d", negative ? "-" : "", digits, exponent);
        *out = strtod(whole, NULL);
    }
    *half = 0.5 * dm_pow(10, exponent - places);
    return n;
}

void number_put(double x, int decimals, Buf *out)
{
    char text[64];
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
