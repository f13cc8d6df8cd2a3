#include "core/graph/axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

int dims_find(Dims d, int axis)
{
    for (int i = 0; i < d.n; i++)
        if (d.axis[i] == axis)
            return i;
    return -1;
}

bool dims_equal(Dims a, Dims b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (a.axis[i] != b.axis[i])
            return false;
    return true;
}

Dims dims_union(Dims a, Dims b)
{
    for (int i = 0; i < b.n; i++)
        if (dims_find(a, b.axis[i]) < 0) {
            REQUIRE(a.n < DIMS_MAX);
            a.axis[a.n++] = b.axis[i];
        }
    return a;
}

Dims dims_minus(Dims a, Dims b)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < a.n; i++)
        if (dims_find(b, a.axis[i]) < 0)
            r.axis[r.n++] = a.axis[i];
    return r;
}

Dims dims_replace(Dims d, int axis, int by)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < d.n; i++) {
        int x = d.axis[i] == axis ? by : d.axis[i];
        if (x != AXIS_NONE)
            r.axis[r.n++] = x;
    }
    return r;
}

size_t dims_cells(const Axis *axes, Dims d)
{
    size_t n = 1;
    for (int i = 0; i < d.n; i++)
        n = size_mul(n, (size_t)axes[d.axis[i]].n);
    return n;
}

size_t dims_stride(const Axis *axes, Dims d, int axis)
{
    int at = dims_find(d, axis);
    if (at < 0)
        return 0;
    size_t s = 1;
    for (int i = at + 1; i < d.n; i++)
        s *= (size_t)axes[d.axis[i]].n;
    return s;
}

void dims_unravel(const Axis *axes, Dims d, size_t cell, int index[DIMS_MAX])
{
    for (int i = d.n - 1; i >= 0; i--) {
        size_t n = (size_t)axes[d.axis[i]].n;
        index[i] = (int)(cell % n);
        cell /= n;
    }
}

size_t dims_ravel(const Axis *axes, Dims d, const int index[DIMS_MAX])
{
    size_t cell = 0;
    for (int i = 0; i < d.n; i++)
        cell = cell * (size_t)axes[d.axis[i]].n + (size_t)index[i];
    return cell;
}

bool axis_patch(const Axis *a, int i, int *row, int *col)
{
    int first = a->kind == AXIS_TOKEN ? a->prefix : 0;
    if ((a->kind != AXIS_TOKEN && a->kind != AXIS_PATCH) || a->cols <= 0 || i < first || i >= a->n)
        return false;
    *row = (i - first) / a->cols;
    *col = (i - first) % a->cols;
    return true;
}

const char *axis_label(const Axis *a, int i, char *out, size_t n)
{
    int row, col;
    if (a->kind == AXIS_COLOUR && (a->n == 1 || a->n == 3)) /* what other numbers of channels mean, no file says */
        snprintf(out, n, "%s", a->n == 1 ? "grey" : i == 0 ? "R" : i == 1 ? "G" : "B");
    else if (axis_patch(a, i, &row, &col))
        snprintf(out, n, "r%dc%d", row, col);
    else if (a->labels && a->labels[i] && (a->kind == AXIS_CLASS || i < a->prefix))
        utf8_fit(out, n, a->labels[i], -1);
    else
        snprintf(out, n, "%d", i);
    return out;
}

/* Digits at the start of text as a number below n; returns what follows them, or NULL. */
static const char *parse_digits(const char *text, int n, int *i)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    long v = strtol(text, &end, 10);
    if (v < 0 || v >= n)
        return NULL;
    *i = (int)v;
    return end;
}

static bool parse_number(const char *text, int n, int *i)
{
    const char *end = parse_digits(text, n, i);
    return end && !*end;
}

/* "r3c4" on an axis of patches. */
static bool parse_patch(const Axis *a, const char *text, int *i)
{
    int row, col, first = a->kind == AXIS_TOKEN ? a->prefix : 0;
    if (a->cols <= 0 || *text != 'r')
        return false;
    text = parse_digits(text + 1, (a->n - first) / a->cols, &row);
    if (!text || *text != 'c' || !parse_number(text + 1, a->cols, &col))
        return false;
    *i = first + row * a->cols + col;
    return true;
}

bool axis_plain(const char *label, const char *word)
{
    static const char *const BLANK[] = {"Ġ", "▁", " "};
    for (size_t k = 0; k < sizeof BLANK / sizeof *BLANK; k++)
        if (*word && strncmp(label, BLANK[k], strlen(BLANK[k])) == 0 && strcmp(label + strlen(BLANK[k]), word) == 0)
            return true;
    return false;
}

/* Of a vocabulary the piece with the mark is meant, as a text goes on with it; of the tokens of a text the one that is
 * spelt so. */
static bool parse_name(const Axis *a, const char *text, int *i)
{
    int plain = -1, spelt = -1;
    if (parse_patch(a, text, i) || parse_number(text, a->n, i))
        return true;
    const bool nameless = a->kind == AXIS_CLASS && !a->labels && a->sym[0] == 'v'; /* words: w1 is one, as a token is */
    if (nameless && *text == 'w' && parse_number(text + 1, a->n, i))
        return true;
    for (int k = 0; k < a->n; k++) {
        char label[128];
        bool whole = a->labels && a->kind == AXIS_CLASS && a->labels[k] && strcmp(a->labels[k], text) == 0;
        if (spelt < 0 && (whole || strcmp(axis_label(a, k, label, sizeof label), text) == 0))
            spelt = k;
        else if (axis_plain(axis_label(a, k, label, sizeof label), text))
            plain = plain == -1 ? k : -2;
    }
    *i = plain >= 0 && (spelt < 0 || a->kind == AXIS_CLASS) ? plain : spelt >= 0 ? spelt : *i;
    return plain >= 0 || spelt >= 0;
}

bool axis_parse(const Axis *a, const char *text, int *i)
{
    if (parse_name(a, text, i))
        return true;
    Buf as = {0};
    const bool is = a->bytes && byte_text(text, &as) && parse_name(a, buf_str(&as), i);
    buf_free(&as);
    return is;
}
