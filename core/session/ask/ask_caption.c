/* Captions: text in which every number is an expression over the trace, evaluated where it is shown. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/ask/number.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"

enum { EXPRESSION = 300 };

/* Takes the first word off, where it is that one. */
static bool take_word(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n) != 0 || (*text)[n] != ' ')
        return false;
    *text += n + strspn(*text + n, " ");
    return true;
}

/* The last axis' label of the largest cell. */
static bool put_label(Session *s, Side side, const char *address, Buf *out, Err *err)
{
    Cells c;
    int index[DIMS_MAX];
    char label[64];
    if (!cells_read(s, side, address, &c, err))
        return false;
    Dims d = graph_node(c.g, c.node)->dims;
    if (!d.n) {
        ask_put_short(out, *c.x);
        return true;
    }
    dims_unravel(c.g->axes, d, cells_index(&c, (size_t)cells_argmax(&c)), index);
    buf_puts(out, axis_label(&c.g->axes[d.axis[d.n - 1]], index[d.n - 1], label, sizeof label));
    return true;
}

/* Whole numbers are counts: "1,048,576". */
static void put_value(double x, bool percent, Buf *out)
{
    if (percent)
        buf_printf(out, "%.1f %%", 100 * x);
    else if (x >= 0 && x < 1e15 && x == dm_floor(x))
        ask_put_count(out, (size_t)x);
    else
        ask_put_short(out, (float)x);
}

/* What the training, or the twin's, came to: "99.1 % (98.8–99.4) of 5,000 held-out pictures". */
static bool put_learned(Session *s, bool twin, Buf *out, Err *err)
{
    char share[48];
    measures_read_history(s);
    const History *h = twin ? session_history_twin(s) : session_history(s);
    int row = h ? h->row_count - 1 : -1;
    while (row >= 0 && history_at(h, row, HISTORY_CHECK) < 0)
        row--;
    size_t n = session_history_checked(s, twin);
    if (row < 0 || !n)
        return err_set(err, "no record of how this model%s was trained is known", twin ? "'s twin" : "");
    measure_share_text((size_t)((double)history_at(h, row, HISTORY_CHECK) * (double)n + 0.5), n, share, sizeof share);
    buf_printf(out, "%s of ", share);
    ask_put_count(out, n);
    buf_puts(out, !h->text.heads ? " held-out pictures" : h->text.source ? " unseen sentences" : " held-out tokens");
    return true;
}

static bool put_expression(Session *s, const char *text, Buf *out, Err *err)
{
    static const char LABEL[] = "label(";
    char copy[EXPRESSION];
    size_t n = strlen(text);
    Side side = ask_side(session_side(s));
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
    if (strcmp(rest, "learned") == 0 || strcmp(rest, "learned twin") == 0)
        return put_learned(s, rest[strlen("learned")] != 0, out, err);
    if (strcmp(rest, "answer") == 0) {
        const char *path = site_path_any(session_graph(s, side), SITE_PROBS);
        return path ? put_label(s, side, path, out, err) : err_set(err, "this model names no answer");
    }
    n = strlen(rest);
    if (strncmp(rest, LABEL, strlen(LABEL)) == 0 && rest[n - 1] == ')') {
        copy[(size_t)(rest - copy) + n - 1] = 0;
        return put_label(s, side, rest + strlen(LABEL), out, err);
    }
    double x;
    if (!number_value(s, side, rest, &x, err))
        return false;
    put_value(x, percent, out);
    return true;
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
        utf8_print(expression, sizeof expression, "%.*s", (int)inside, p);
        if (!put_expression(s, expression, out, err))
            return false;
        p += inside + 1;
    }
    return true;
}
