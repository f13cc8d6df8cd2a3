#include "core/session/permit.h"

const char *permit_file(const Session *s, const char *word, Err *err)
{
    if (s->permit & COMMAND_FILE)
        return word;
    err_set(err, "'%.200s' is a file: files are neither read nor written here (a link or a lesson may not)", word);
    return NULL;
}
