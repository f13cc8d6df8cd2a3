#include "core/models/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const NodeText ROWS[] = {
#define NODE(pattern_, label_, symbol_, sentence_) {pattern_, label_, symbol_, sentence_},
#include "core/models/names.def"
#undef NODE
};

/* Scopes that are LayerNorms. */
static const char *const NORMS[] = {"ln1", "ln2", "ln_final", "norm_pre", "fc_norm"};

static size_t component(const char *path)
{
    return strcspn(path, ".");
}

static bool is_norm(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof NORMS / sizeof *NORMS; i++)
        if (strlen(NORMS[i]) == n && memcmp(NORMS[i], s, n) == 0)
            return true;
    return false;
}

/* One component: the same text, `*`, `<ln>`, or text that ends in `*`. */
static bool component_fits(const char *pattern, size_t np, const char *s, size_t n)
{
    if (np == 4 && memcmp(pattern, "<ln>", 4) == 0)
        return is_norm(s, n);
    if (np && pattern[np - 1] == '*')
        return n >= np - 1 && memcmp(pattern, s, np - 1) == 0;
    return n == np && memcmp(pattern, s, n) == 0;
}

static bool fits(const char *pattern, const char *path)
{
    for (;;) {
        size_t np = component(pattern), n = component(path);
        if (!component_fits(pattern, np, path, n))
            return false;
        pattern += np;
        path += n;
        if (!*pattern || !*path)
            return *pattern == *path;
        pattern++;
        path++;
    }
}

/* "**.rest": the rest fits at some component, the first one included. */
static bool row_fits(const char *pattern, const char *path)
{
    if (strncmp(pattern, "**.", 3) != 0)
        return fits(pattern, path);
    for (;;) {
        if (fits(pattern + 3, path))
            return true;
        path += component(path);
        if (!*path++)
            return false;
    }
}

const NodeText *node_text(const char *path)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (row_fits(ROWS[i].pattern, path))
            return &ROWS[i];
    return NULL;
}
