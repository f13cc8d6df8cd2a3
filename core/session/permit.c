#include "core/session/permit.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

struct Loan {
    struct Loan *next;
    char *word, *file;
};

static struct Loan *loan_of(const Session *s, const char *word)
{
    struct Loan *l = s->loans;
    while (l && strcmp(l->word, word) != 0)
        l = l->next;
    return l;
}

static const char *permit(const Session *s, const char *word, unsigned touch, Err *err)
{
    if (s->permit & touch)
        return word;
    err_set(err, "'%.200s' is a file: files are neither read nor written here (the line is not your own)", word);
    return NULL;
}

const char *permit_read(const Session *s, const char *word, Err *err)
{
    const struct Loan *l = loan_of(s, word);
    if (strncmp(word, PERMIT_CLASS, strlen(PERMIT_CLASS)) != 0)
        return permit(s, word, COMMAND_READ, err);
    if (l && l->file)
        return l->file;
    err_set(err, "'%.200s' is of a class, and has not come from there", word);
    return NULL;
}

const char *permit_write(const Session *s, const char *word, Err *err)
{
    return permit(s, word, COMMAND_WRITE, err);
}

void permit_lend(Session *s, const char *word, const char *file)
{
    REQUIRE(strncmp(word, PERMIT_CLASS, strlen(PERMIT_CLASS)) == 0);
    struct Loan *l = loan_of(s, word);
    if (!l) {
        l = xcalloc(1, sizeof *l);
        *l = (struct Loan){s->loans, xstrdup(word), NULL};
        s->loans = l;
    }
    free(l->file);
    l->file = file ? xstrdup(file) : NULL;
}

void permit_free(Session *s)
{
    while (s->loans) {
        struct Loan *l = s->loans;
        s->loans = l->next;
        free(l->word);
        free(l->file);
        free(l);
    }
}
