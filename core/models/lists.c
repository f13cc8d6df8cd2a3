/* Lists of names, as texts. */
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

bool list_next(const char **list, const char **word, size_t *n)
{
    const char *at = *list ? *list + strspn(*list, " ,") : "";
    *word = at;
    *n = strcspn(at, " ,");
    *list = at + *n;
    return *n > 0;
}

/* Does text fit a pattern in which * stands for anything? */
static bool fits(const char *pattern, size_t n, const char *text)
{
    if (n == 0)
        return !*text;
    if (*pattern != '*')
        return *text == *pattern && fits(pattern + 1, n - 1, text + 1);
    do
        if (fits(pattern + 1, n - 1, text))
            return true;
    while (*text++);
    return false;
}

bool list_has(const char *list, const char *name)
{
    const char *word;
    for (size_t n; list_next(&list, &word, &n);)
        if (fits(word, n, name))
            return true;
    return false;
}

const char *list_meant(const char *list, const char *typed, Arena *arena)
{
    const char *best = NULL, *word;
    size_t n = strlen(typed);
    int least = n < 8 ? 2 : 3; /* fewer edits than that */
    for (size_t length; list_next(&list, &word, &length);) {
        char name[64];
        int edits = utf8_edits(typed, n, utf8_take(name, sizeof name, word, length), least);
        if (edits < least) {
            best = arena_strdup(arena, name);
            least = edits;
        }
    }
    return best;
}
