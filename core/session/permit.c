#include "core/session/permit.h"

#include <string.h>

static const char *permit(const Session *s, const char *word, unsigned touch, Err *err)
{
    if (s->permit & touch)
        return word;
    err_set(err, "'%.200s' is a file: files are neither read nor written here (the line is not your own)", word);
    return NULL;
}

const char *permit_read(const Session *s, const char *word, Err *err)
{
    if (strncmp(word, PERMIT_CLASS, strlen(PERMIT_CLASS)) != 0)
        return permit(s, word, COMMAND_READ, err);
    if (s->lend)
        return s->lend(s->lend_context, word, err);
    err_set(err, "'%.200s' is of a class, and nobody is followed", word);
    return NULL;
}

const char *permit_write(const Session *s, const char *word, Err *err)
{
    return permit(s, word, COMMAND_WRITE, err);
}

void permit_class(Session *s, const char *(*fn)(void *context, const char *word, Err *err), void *context)
{
    s->lend = fn;
    s->lend_context = context;
}
