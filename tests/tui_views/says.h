/* Reading back what a screen says. */
#ifndef VITRINE_TESTS_TUI_VIEWS_SAYS_H
#define VITRINE_TESTS_TUI_VIEWS_SAYS_H
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Half a unit of the last digit that a text shows. */
static inline double half_unit(const char *text)
{
    const char *e = strchr(text, 'e'), *point = strchr(text, '.');
    const char *end = e ? e : text + strlen(text);
    double unit = 1;
    for (const char *c = point ? point + 1 : end; c < end; c++)
        unit /= 10;
    for (int k = e ? atoi(e + 1) : 0; k; k += k < 0 ? 1 : -1)
        unit = k < 0 ? unit / 10 : unit * 10;
    return unit * 0.5000001;
}

static inline bool is_number_text(const char *t)
{
    if (!strcmp(t, "NaN") || !strcmp(t, "inf") || !strcmp(t, "-inf"))
        return true;
    char *end;
    strtod(t, &end);
    return *t && *end == '\0' && strpbrk(t, "0123456789");
}

/* Is the text x, to within half a unit of its last digit? */
static inline bool says(const char *text, float x)
{
    if (isnan(x))
        return strcmp(text, "NaN") == 0;
    if (isinf(x))
        return strcmp(text, x > 0 ? "inf" : "-inf") == 0;
    return is_number_text(text) && fabs(strtod(text, NULL) - (double)x) <= half_unit(text);
}
#endif
