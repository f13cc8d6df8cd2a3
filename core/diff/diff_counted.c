/* Recordings whose program counts its blocks from 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/diff/diff_reference.h"

enum { LINES_MOST = 6 };

/* The name with another number from `at` on, where so many digits stand; false when it is too long. */
static bool renumbered(const char *name, size_t at, size_t digits, const char *number, char out[DIFF_PATH])
{
    int n = snprintf(out, DIFF_PATH, "%.*s%s%s", (int)at, name, number, name + at + digits);
    return n > 0 && n < DIFF_PATH;
}

/* A number in the name, with one less than which the name means something here and as it stands nothing: where it
 * stands, how many digits it has. */
static bool one_too_many(const Graph *g, const char *name, size_t *at, size_t *digits, DiffTarget to[DIFF_PARTS],
                         int *parts)
{
    char less[DIFF_PATH], number[24];
    if (diff_name_targets(NULL, g, name, to) != 0)
        return false;
    for (*at = 0; name[ *at += strcspn(name + *at, "0123456789")]; *at += *digits) {
        *digits = strspn(name + *at, "0123456789");
        long n = *digits < 6 ? atol(name + *at) : 0;
        snprintf(number, sizeof number, "%ld", n - 1);
        if (n > 0 && renumbered(name, *at, *digits, number, less) &&
            (*parts = diff_name_targets(NULL, g, less, to)) > 0)
            return true;
    }
    return false;
}

static bool has_first(const TensorFile *f, const char *name, size_t at)
{
    for (size_t i = 0; i < f->count; i++) {
        const char *other = f->tensors[i].name;
        if (strlen(other) > at && strncmp(other, name, at) == 0 && other[at] == '0' &&
            (other[at + 1] < '0' || other[at + 1] > '9'))
            return true;
    }
    return false;
}

/* `encoder.layer.*.q = blocks.<.attn.q` */
static bool put_line(const Graph *g, const char *pattern, const DiffTarget *to, int parts, Buf *out)
{
    buf_printf(out, "`%s = ", pattern);
    for (int i = 0; i < parts; i++) {
        const char *path = graph_node(g, to[i].node)->path, *blocks = strstr(path, "blocks.");
        if (!blocks)
            return false;
        const char *rest = blocks + 7 + strspn(blocks + 7, "0123456789");
        buf_printf(out, "%s%.*s<%s", i ? " + " : "", (int)(blocks + 7 - path), path, rest);
        if (*to[i].axes)
            buf_printf(out, "[%s]", to[i].axes);
    }
    buf_putc(out, '`');
    return true;
}

bool diff_counted_from_one(const TensorFile *f, const DiffMap *map, const Graph *g, const char *name, Err *err)
{
    Buf lines = {0};
    char first[DIFF_PATH] = "";
    int count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const char *tensor = f->tensors[i].name;
        char pattern[DIFF_PATH];
        DiffTarget to[DIFF_PARTS], told[DIFF_PARTS];
        size_t at, digits;
        int parts;
        if ((map && diff_name_targets(map, g, tensor, told) != 0) ||
            !one_too_many(g, tensor, &at, &digits, to, &parts) || has_first(f, tensor, at) ||
            !renumbered(tensor, at, digits, "*", pattern))
            continue;
        Buf line = {0};
        bool blocks = put_line(g, pattern, to, parts, &line);
        if (blocks && !*first)
            snprintf(first, sizeof first, "%s", tensor);
        if (blocks && ++count <= LINES_MOST)
            buf_printf(&lines, "%s%s", count > 1 ? ", " : "", buf_str(&line));
        buf_free(&line);
    }
    if (count > LINES_MOST)
        buf_printf(&lines, " and %d more", count - LINES_MOST);
    if (count)
        err_set(err, "%s: its blocks are counted from 1 ('%.60s', and none is 0): write into a file for --map %s", name,
                first, buf_str(&lines));
    buf_free(&lines);
    return count > 0;
}
