/* Captions: text in which every number is an expression over the trace, evaluated where it is shown. */
#include <stdio.h>
#include <string.h>

#include "core/session/address.h"
#include "core/session/ask/say.h"

enum { EXPRESSION = 300 };

/* What is to be made of the cells of an address. */
typedef enum Fold { FOLD_ONE, FOLD_SUM, FOLD_MEAN, FOLD_MAX, FOLD_MIN, FOLD_COUNT, FOLD_LABEL } Fold;

static const struct {
    const char *word;
    Fold fold;
} FOLDS[] = {{"sum", FOLD_SUM}, {"mean", FOLD_MEAN},   {"max", FOLD_MAX},
             {"min", FOLD_MIN}, {"count", FOLD_COUNT}, {"label", FOLD_LABEL}};

/* Takes the first word off, where it is that one. */
static bool take_word(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || (*text)[n] != ' ')
        return false;
    *text += n + strspn(*text + n, " ");
    return true;
}

/* The axes that the address says nothing of are taken whole; one that names no cell at all of a tensor is an error only
 * where one number is asked for. */
static bool fold_cells(const Graph *g, NodeId n, const Selection *cells, const float *x, Fold fold, double *value,
                       size_t *best, size_t *count)
{
    Dims d = graph_node(g, n)->dims;
    size_t all = graph_cells(g, n);
    int index[DIMS_MAX];
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        dims_unravel(g->axes, d, i, index);
        if (!selection_has(cells, d, index))
            continue;
        bool better = !*count || (fold == FOLD_MIN ? x[i] < x[*best] : x[i] > x[*best]);
        *best = better ? i : *best;
        sum += (double)x[i];
        ++*count;
    }
    *value = fold == FOLD_SUM     ? sum
             : fold == FOLD_MEAN  ? sum / (double)*count
             : fold == FOLD_COUNT ? (double)*count
             : *count             ? (double)x[*best]
                                  : 0;
    return *count > 0;
}

static bool put_cells(Session *s, Side side, const char *address, Fold fold, bool percent, Buf *out, Err *err)
{
    const Graph *g = session_graph(s, side);
    Address to;
    double value;
    size_t best = 0, count;
    char label[64];
    if (!address_parse(s, g, address, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes", to.path);
    NodeId n = ask_node(s, side, to.path, err);
    const float *x = n == NO_NODE ? NULL : ask_need(s, side, n, err);
    if (!x)
        return false;
    if (!fold_cells(g, n, &to.cells, x, fold, &value, &best, &count))
        return err_set(err, "'%s' has no cell", address);
    if (fold == FOLD_ONE && count != 1)
        return err_set(err,
                       "'%s' is %zu numbers: name every axis, or put sum, mean, max, min, count or label before it",
                       address, count);
    Dims d = graph_node(g, n)->dims;
    if (fold == FOLD_LABEL && d.n) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, d, best, index);
        buf_puts(out, axis_label(&g->axes[d.axis[d.n - 1]], index[d.n - 1], label, sizeof label));
    } else if (fold == FOLD_COUNT)
        ask_put_count(out, count);
    else if (percent)
        buf_printf(out, "%.1f %%", 100 * value);
    else
        ask_put_short(out, (float)value);
    return true;
}

static bool put_expression(Session *s, const char *text, Buf *out, Err *err)
{
    char copy[EXPRESSION];
    size_t n = strlen(text);
    Side side = ask_side(session_side(s));
    Fold fold = FOLD_ONE;
    snprintf(copy, sizeof copy, "%s", text);
    bool percent = n > 2 && strcmp(copy + n - 2, " %") == 0;
    if (percent)
        copy[n - 2] = 0;
    const char *rest = copy;
    if (take_word(&rest, "A"))
        side = SIDE_A;
    else if (take_word(&rest, "B"))
        side = SIDE_B;
    if (strcmp(rest, "say") == 0)
        return ask_say(s, side, out, err);
    if (strcmp(rest, "answer") == 0) {
        const char *path = site_path_any(session_graph(s, side), SITE_PROBS);
        return path ? put_cells(s, side, path, FOLD_LABEL, false, out, err)
                    : err_set(err, "this model names no answer");
    }
    for (size_t i = 0; i < sizeof FOLDS / sizeof *FOLDS; i++)
        if (take_word(&rest, FOLDS[i].word)) {
            fold = FOLDS[i].fold;
            break;
        }
    return put_cells(s, side, rest, fold, percent, out, err);
}

bool ask_caption(Session *s, const char *text, Buf *out, Err *err)
{
    char expression[EXPRESSION];
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "{");
        buf_add(out, p, n);
        p += n;
        if (!*p)
            break;
        size_t inside = strcspn(++p, "}");
        if (!p[inside] || inside >= sizeof expression)
            return err_set(err, "{ without its }, or more than %d characters between them", EXPRESSION - 1);
        snprintf(expression, sizeof expression, "%.*s", (int)inside, p);
        if (!put_expression(s, expression, out, err))
            return false;
        p += inside + 1;
    }
    return true;
}
