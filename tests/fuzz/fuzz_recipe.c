/* libFuzzer: any text as a recipe. What is accepted can be written and reads the same again. */
#include <stdlib.h>
#include <string.h>

#include "core/models/model.h"
#include "core/train/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static bool take(const char *text, size_t n, Recipe *r, VitConfig *c, Err *err)
{
    Json *j = json_parse("fuzz", text, n, err);
    *r = PICTURES_TASK.recipe(0);
    *c = model_bundled_config();
    bool ok = j && recipe_read(r, j, err) && recipe_model(r, c, j, err) && recipe_check(r, err) && vit_check(c, err);
    json_free(j);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    Recipe r, again;
    VitConfig c, same;
    Err err = {{0}};
    if (!take((const char *)bytes, n, &r, &c, &err)) {
        if (!*err.text)
            abort();
        return 0;
    }
    Buf written = {0}, twice = {0};
    recipe_write(&r, &c, &written);
    if (!take(buf_str(&written), written.len, &again, &same, &err))
        abort();
    recipe_write(&again, &same, &twice);
    if (strcmp(buf_str(&written), buf_str(&twice)) != 0)
        abort();
    buf_free(&written);
    buf_free(&twice);
    return 0;
}
