/* libFuzzer: any bytes as a tokenizer.json, and what follows its end as a text. Whatever opens must encode any text,
 * and every token's bytes lie in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char TEXT[] = "The cat\xc3\xa9 doesn't  <s>sleep\n\xf0\x9f\x98\x80 12,345 \xff";
    const uint8_t *cut = memchr(data, 0, size);
    size_t n = cut ? (size_t)(cut - data) : size, rest = cut ? size - n - 1 : 0;
    Err err;
    Tokens k;
    Tokenizer *t = tokenizer_parse("fuzz", (const char *)data, n, &err);
    const char *text = rest ? (const char *)cut + 1 : TEXT;
    size_t length = rest ? rest : sizeof TEXT - 1;
    if (t && tokenizer_encode(t, text, length, true, true, &k, &err)) {
        Buf out = {0};
        int *id = xmalloc((k.n + 1) * sizeof *id);
        for (size_t i = 0; i < k.n; i++) {
            id[i] = k.at[i].id;
            if (!tokenizer_piece(t, id[i]) || k.at[i].from > k.at[i].to || k.at[i].to > length)
                abort();
        }
        tokenizer_decode(t, id, k.n, true, &out);
        free(id);
        buf_free(&out);
        tokens_free(&k);
    }
    tokenizer_free(t);
    return 0;
}
