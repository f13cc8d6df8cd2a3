/* Models are made here, never read: what the table of families reads files with is not linked, nor the libraries behind
 * it. Included once by each program. */
#ifndef VITRINE_TESTS_PORTABLE_NO_FILES_H
#define VITRINE_TESTS_PORTABLE_NO_FILES_H
#include "core/models/model.h"
#include "core/models/text_model.h"

bool model_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    (void)m;
    (void)progress;
    (void)context;
    return err_set(err, "%s: no files are read here", path);
}

bool model_load_assuming(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    return model_load(m, path, progress, context, err);
}

bool text_model_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    (void)m;
    (void)progress;
    (void)context;
    return err_set(err, "%s: no files are read here", path);
}

bool text_model_is(const char *path)
{
    (void)path;
    return false;
}

bool model_save(const Model *m, const char *folder, Err *err)
{
    (void)m;
    (void)folder;
    (void)err;
    return false;
}

bool text_model_save(const Model *m, const char *folder, Err *err)
{
    (void)m;
    (void)folder;
    (void)err;
    return false;
}
#endif
