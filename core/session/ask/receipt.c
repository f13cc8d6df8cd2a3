#include "core/session/ask/receipt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static unsigned check_of(const char *text, size_t n)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return (hash ^ hash >> 16) & 0xffff;
}

void receipt_put(const Receipt *r, char out[RECEIPT_TEXT])
{
    int n = snprintf(out, RECEIPT_TEXT, "v1-%08x-%d-%016llx-", r->seed, r->answer, (unsigned long long)r->hash);
    snprintf(out + n, RECEIPT_TEXT - (size_t)n, "%04x", check_of(out, (size_t)n));
}

/* So many hexadecimal digits at *p, and what must stand behind them. */
static bool digits(const char **p, int n, char behind, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (!isxdigit((unsigned char)**p))
            return false;
        *value = *value << 4 | (uint64_t)(**p <= '9' ? **p - '0' : **p - 'a' + 10);
    }
    return *(*p)++ == behind;
}

bool receipt_read(Receipt *r, const char *text, Err *err)
{
    char low[RECEIPT_TEXT];
    uint64_t seed, answer, hash, check;
    size_t n = strlen(text);
    if (n >= sizeof low)
        return err_set(err, "a receipt has 35 characters, this has %zu", n);
    for (size_t i = 0; i <= n; i++)
        low[i] = (char)tolower((unsigned char)text[i]);
    const char *p = low + 3;
    if (strncmp(low, "v1-", 3) != 0 || !digits(&p, 8, '-', &seed) || !digits(&p, 1, '-', &answer) ||
        !digits(&p, 16, '-', &hash) || !digits(&p, 4, '\0', &check))
        return err_set(err, "'%.63s' is no receipt: v1-, 8 digits, the answer, 16 digits and 4, with - between them",
                       text);
    if (check != check_of(low, n - 4))
        return err_set(err, "the receipt has a typing error: its last four digits do not fit the others");
    *r = (Receipt){(uint32_t)seed, (int)answer, hash};
    return true;
}
