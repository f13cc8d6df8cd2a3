#include "core/session/text.h"

#include <string.h>

#include "assets/assets.h"
#include "core/base/file.h"

static const char BUNDLED[] = "translator";

static bool bundled(const char *model)
{
    return !model || (strcmp(model, BUNDLED) == 0 && !file_exists(model));
}

bool text_asked(const char *model)
{
    return model && (bundled(model) || (file_is_dir(model) && text_model_is(model)));
}

bool text_open(Model *m, const char *model, Err *err)
{
    const Asset *a = asset_find("translator.f32");
    if (bundled(model))
        return text_model_bundled(m, a ? a->data : NULL, a ? a->size : 0, err);
    if (!text_asked(model))
        return err_set(err, "%.300s: is not the folder of a text model; without -m the bundled translator is taken",
                       model);
    return text_model_load(m, model, err);
}
