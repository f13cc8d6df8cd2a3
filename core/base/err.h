/* Three kinds of error, never mixed.
 *  - The world (files, user text): functions return bool and fill an Err; the caller's state is unchanged.
 *  - Our own bug: REQUIRE, on in release builds too; restores the terminal through the hook, then aborts.
 *  - Out of memory: die(), through the same hook (see mem.h). */
#ifndef VITRINE_BASE_ERR_H
#define VITRINE_BASE_ERR_H
#include <stdbool.h>

typedef struct Err {
    char text[512]; /* one line: what, where, expected and got, what to do; UTF-8, no newline */
} Err;

/* Formats the message (cut at the buffer's end) and returns false, so that `return err_set(…)` reads well. err may be
 * NULL. */
bool err_set(Err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the message that is already there; returns false. */
bool err_prefix(Err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Called once before the process ends on a bug or on lack of memory: the terminal backend registers its restore here.
 */
void fatal_set_hook(void (*restore_terminal)(void));

/* Prints "vitrine: out of …" style text to standard error after the hook and exits with status 1. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

_Noreturn void require_failed(const char *condition, const char *file, int line);
#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))
/* A place the program's own logic can't reach. */
#define UNREACHABLE(what) require_failed(what, __FILE__, __LINE__)
#endif
