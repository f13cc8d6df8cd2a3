/* libFuzzer: any bytes as JSON. What parses can be walked and looked up by key; what does not gives one clean line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const Json *v)
{
    size_t n = 1, count = json_count(v);
    int64_t whole;
    double real;
    if (json_int(v, &whole) && !json_number(v, &real))
        abort();
    const char *key = NULL;
    for (size_t i = 0; i < count; i++) {
        const Json *member = json_next(v, &key);
        if (json_kind(v) == JK_OBJECT && json_get(v, key) != member)
            abort();
        if ((member != NULL) == (json_at(v, i) != NULL))
            abort();
        n += walk(member ? member : json_at(v, i));
    }
    return n + strlen(json_text(v, ""));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Err e = {{0}};
    Json *v = json_parse("fuzz", (const char *)data, size, &e);
    if (v)
        walk(v);
    else if (!e.text[0] || strchr(e.text, '\n') || strchr(e.text, '\x1b'))
        abort();
    json_free(v);
    return 0;
}
