/* libFuzzer: any text as a recipe of any kind. What is accepted can be written and reads the same again. */
#include <stdlib.h>
#include <string.h>

#include "core/train/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What the text says, written; false with err where it is no recipe. */
static bool rewrite(const char *text, size_t n, Buf *written, Err *err)
{
    Json *j = json_parse("fuzz", text, n, err);
    if (!j)
        return false;
    const TaskKind *k = task_of(j);
    Recipe r = k->recipe(0);
    void *config = xmalloc(k->config_bytes);
    k->bundled(config);
    bool ok = recipe_read(&r, j, err) && recipe_model(&r, config, j, err);
    if (ok)
        recipe_write(&r, config, written);
    free(config);
    json_free(j);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Err err = {{0}};
    Buf written = {0}, twice = {0};
    if (!rewrite((const char *)bytes, n, &written, &err)) {
        if (!*err.text)
            abort();
        return 0;
    }
    if (!rewrite(buf_str(&written), written.len, &twice, &err))
        abort();
    if (strcmp(buf_str(&written), buf_str(&twice)) != 0)
        abort();
    buf_free(&written);
    buf_free(&twice);
    return 0;
}
