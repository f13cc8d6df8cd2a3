#include "tui/cli/numbers.h"

#include <errno.h>
#include <stdlib.h>

bool number_parse(const char *text, uint64_t *out, const char **end)
{
    char *after;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &after, 10);
    if (errno == ERANGE || (!end && *after))
        return false;
    *out = v;
    if (end)
        *end = after;
    return true;
}

bool numbers_parse(Numbers *out, const char *const *word, int count, Err *err)
{
    Numbers n = {.ranges = 0};
    for (int i = 0; i < count; i++) {
        const char *text = word[i][0] == '#' ? word[i] + 1 : word[i], *end;
        uint64_t first, last;
        if (!number_parse(text, &first, &end))
            return err_set(err, "'%.60s' is no picture: expected a number from 0 such as 17, or a range such as 0-99",
                           word[i]);
        last = first;
        if (*end && (*end != '-' || !number_parse(end + 1, &last, NULL)))
            return err_set(err, "'%.60s' is no picture: expected a number from 0 such as 17, or a range such as 0-99",
                           word[i]);
        if (last < first)
            return err_set(err, "'%.60s' runs backwards: put the smaller number first", word[i]);
        if (last - first >= NUMBERS_MAX || n.count + (last - first + 1) > NUMBERS_MAX)
            return err_set(err, "more than %d pictures: ask for fewer at a time", (int)NUMBERS_MAX);
        n.range[n.ranges].first = first;
        n.range[n.ranges++].last = last;
        n.count += last - first + 1;
    }
    if (!n.count)
        return err_set(err, "which pictures? Name numbers such as 17 or 0-99");
    *out = n;
    return true;
}

uint64_t numbers_at(const Numbers *n, uint64_t i)
{
    for (int k = 0; k < n->ranges; k++) {
        uint64_t length = n->range[k].last - n->range[k].first + 1;
        if (i < length)
            return n->range[k].first + i;
        i -= length;
    }
    UNREACHABLE("a number past the last");
}
