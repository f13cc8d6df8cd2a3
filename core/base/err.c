#include "core/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/tell.h"
#include "core/base/utf8.h"

static void (*fatal_hook)(void); /* part of the terminal's state: set once by its backend */

bool err_set(Err *err, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        utf8_vprint(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
    }
    return false;
}

bool err_prefix(Err *err, const char *fmt, ...)
{
    if (err) {
        char old[sizeof err->text], front[sizeof err->text];
        memcpy(old, err->text, sizeof old);
        va_list ap;
        va_start(ap, fmt);
        utf8_vprint(front, sizeof front, fmt, ap);
        va_end(ap);
        size_t n = strlen(front);
        memcpy(err->text, front, n + 1);
        utf8_print(err->text + n, sizeof err->text - n, ": %s", old);
    }
    return false;
}

void fatal_set_hook(void (*restore_terminal)(void))
{
    fatal_hook = restore_terminal;
}

static void run_hook(void)
{
    void (*hook)(void) = fatal_hook;
    fatal_hook = NULL;
    if (hook)
        hook();
}

void die(const char *fmt, ...)
{
    run_hook();
    char text[1024]; /* no allocation: there may be no memory */
    va_list ap;
    va_start(ap, fmt);
    utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    tell(text);
    exit(1);
}

void require_failed(const char *condition, const char *file, int line)
{
    run_hook();
    char text[1024];
    snprintf(text, sizeof text, "internal error at %s:%d: %s does not hold. Please report this line.", file, line,
             condition);
    tell(text);
    abort();
}
