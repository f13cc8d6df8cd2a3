/* Numbers of drawn pictures as they are typed: 17, #17, 0-99. */
#ifndef VITRINE_TUI_CLI_NUMBERS_H
#define VITRINE_TUI_CLI_NUMBERS_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "tui/cli/options.h"

typedef struct Numbers {
    struct {
        uint64_t first, last;
    } range[OPTION_WORDS];
    int ranges;
    uint64_t count; /* of all: 1 … NUMBERS_MAX */
} Numbers;

enum { NUMBERS_MAX = 1000000 };

/* One or more words. False when one is neither a number nor a range, or they are too many. */
bool numbers_parse(Numbers *out, const char *const *word, int count, Err *err);
/* A whole number from 0 of digits only, up to 2⁶⁴ − 1; *end (may be NULL: the text ends there) is what follows it. */
bool number_parse(const char *text, uint64_t *out, const char **end);
uint64_t numbers_at(const Numbers *n, uint64_t i);
#endif
