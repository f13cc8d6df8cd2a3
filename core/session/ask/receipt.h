/* What an answer leaves behind: the question's seed, the number of the answer and the trace hash of the run that it was
 * given about, with a check against slips of the pen. It proves nothing about who wrote it: it is no signature. */
#ifndef VITRINE_SESSION_ASK_RECEIPT_H
#define VITRINE_SESSION_ASK_RECEIPT_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"

typedef struct Receipt {
    uint32_t seed;
    int answer; /* from 1 */
    uint64_t hash;
} Receipt;
enum { RECEIPT_TEXT = 64 }; /* it takes 38 characters */

/* "v1-0a1b2c3d-2-1cc1e37e9104eb92-5f0a" */
void receipt_put(const Receipt *r, char out[RECEIPT_TEXT]);
/* False with the first thing that is wrong. */
bool receipt_read(Receipt *r, const char *text, Err *err);
#endif
