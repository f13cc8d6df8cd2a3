/* A growing byte string, always ended by NUL. A zeroed Buf is empty and valid; buf_free returns it to that state. */
#ifndef VITRINE_BASE_BUF_H
#define VITRINE_BASE_BUF_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Buf {
    char *data; /* NULL while nothing was ever added; use buf_str */
    size_t len, cap;
} Buf;

void buf_add(Buf *b, const void *data, size_t n);
void buf_puts(Buf *b, const char *s);
void buf_putc(Buf *b, char c);
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* x in fixed point, at the right of `width` columns; what would read as zero and is not has an exponent: 4.8e-07. */
void buf_fixed(Buf *b, int width, double x, int decimals);
/* s with JSON escapes between quotes; invalid UTF-8 becomes U+FFFD. */
void buf_json(Buf *b, const char *s);
/* s as a cell of a CSV file: in quotes, those in it doubled. */
void buf_csv(Buf *b, const char *s);
/* s as one word of a shell (POSIX 2024, bash, zsh, ksh), whatever is in it: in single quotes, or, where it has bytes
 * that a terminal would not show as they are, as $'…' with their octal numbers. */
void buf_shell(Buf *b, const char *s);
const char *buf_str(const Buf *b); /* never NULL; valid until the next change */
void buf_clear(Buf *b);            /* keeps the memory */
void buf_free(Buf *b);
/* *b becomes `now`, which it takes over; true where that is another text than it was: for what is written or said once.
 */
bool buf_renew(Buf *b, Buf *now);
#endif
