/* Byte-pair encoding, learned from a text (Sennrich et al. 2016, section 3.2), over bytes as GPT-2 has it. */
#ifndef VITRINE_IO_TOKENIZER_LEARN_H
#define VITRINE_IO_TOKENIZER_LEARN_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum { LEARN_BYTES = 256, LEARN_MOST = 4096 }; /* pieces of a table: every byte, at the most */

/* The text of a tokenizer.json, appended to json: the bytes are pieces 0 to 255, behind them one piece for each merge,
 * in their order, until there are `words` (LEARN_BYTES … LEARN_MOST) or no two neighbours come twice. GPT-2's pattern
 * cuts the text first, and no merge goes across. Each merge joins the pair that comes most often, of equal ones that
 * with the lower numbers. Returns how many pieces there are; 0 and err where the text can't be cut, or where progress
 * (which may be NULL) returned false. */
int tokenizer_learn(const char *text, size_t n, int words, Buf *json,
                    bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
#endif
