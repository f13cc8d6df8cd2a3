/* UTF-8: strict decoding, display width, and the one sanitiser through which foreign text reaches a screen or a
 * message. */
#ifndef VITRINE_BASE_UTF8_H
#define VITRINE_BASE_UTF8_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one code point at *s (NUL-terminated), advances *s. Invalid bytes give U+FFFD and advance by one. 0 at the
 * end. */
uint32_t utf8_next(const char **s);
/* Writes 1–4 bytes (no NUL), returns how many. */
size_t utf8_put(char out[4], uint32_t c);
/* Cells a code point takes: 0 (combining), 1 or 2 (wide). Own table, independent of the locale. */
int utf8_width(uint32_t c);
/* Cells of a whole string. */
int utf8_cells(const char *s);
/* True for what may enter a cell: not C0, DEL, C1, bidi controls (061C, 200E-F, 202A-E, 2066-9), zero-width 200B-D,
 * 2028-9, 2060-4, FEFF, surrogates. */
bool utf8_printable(uint32_t c);
/* Copies s into out (n bytes, always ended), cut between two characters so that it takes no more than `cells` cells
 * (−1: any number); where something is left away it ends in "…". Returns out. */
char *utf8_fit(char *out, size_t n, const char *s, int cells);
/* The first `bytes` of s into out (n bytes, always ended), as many whole characters of them as fit. Returns out. */
char *utf8_take(char *out, size_t n, const char *s, size_t bytes);
/* Takes the beginning of a character off the end of s, where a cut has left one. */
void utf8_mend(char *s);
/* As snprintf and vsnprintf, but a string's precision (%.60s, %.*s) and the buffer's end cut between two characters,
 * a number that rounds to zero in fixed point has no minus (0.00), and one with decimals from 1e9 on has an exponent
 * (2.99e+37): for all text that somebody reads. */
int utf8_print(char *out, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int utf8_vprint(char *out, size_t n, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
/* Copies s into out (n bytes, always ended) with every unprintable or invalid code point as `?`. Returns out. For
 * one-line messages. */
char *utf8_clean(char *out, size_t n, const char *s);
/* Is word one of those words, between which blanks stand? */
bool utf8_listed(const char *words, const char *word);
/* Bytes of a (its first n) to be changed, put in or taken out to make b of it (Levenshtein's distance), or `limit` if
 * that is not below it: then no more is computed than shows so. */
int utf8_edits(const char *a, size_t n, const char *b, int limit);
#endif
