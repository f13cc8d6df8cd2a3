#include "core/session/ask/leak.h"

#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/address.h"
#include "core/session/difference.h"
#include "core/session/exhibit.h"

static bool same_source(const Text *a, const Text *b)
{
    return a->count == b->count && (!a->count || memcmp(a->word, b->word, (size_t)a->count * sizeof *a->word) == 0);
}

static bool find_words(const Session *s, Leak *l, Err *err)
{
    const Input *a = session_input(s, SIDE_A), *b = session_input(s, SIDE_B);
    const Text *x = &a->text[TEXT_TARGET], *y = &b->text[TEXT_TARGET];
    if (!y->count && b->text[TEXT_SOURCE].count)
        return err_set(err, "an encoder has no target: each of its words may depend on every other, so nothing leaks");
    if (!session_pinned(s) || !y->count)
        return err_set(err,
                       "nothing to compare: `word target WORD WORD` changes a word of the target, beside what it was");
    if (!same_source(&a->text[TEXT_SOURCE], &b->text[TEXT_SOURCE]))
        return err_set(
            err,
            "A and B read different sources, on which every word of the target may depend: give both the same one");
    if (x->count != y->count)
        return err_set(err, "A and B differ in length: the target has %d words in A, %d in B", x->count, y->count);
    l->first = y->count;
    for (int i = y->count - 1; i >= 0; i--)
        if (x->word[i] != y->word[i]) {
            l->first = i;
            l->changed++;
        }
    return true;
}

static bool of_target(const Axis *a)
{
    return a->sequence == SEQUENCE_TARGET && (a->role == ROLE_QUERY || a->role == ROLE_KEY);
}

/* Cells all of whose words stand before the first that differs must be the same: also where a row looks at a later
 * word, as raw scores do, nothing is said of it. */
static void compare(const Session *s, const char *path, NodeId n, NodeId m, Leak *l)
{
    const Graph *a = session_graph(s, SIDE_A), *b = session_graph(s, SIDE_B);
    const float *x = run_peek(session_run(s, SIDE_A), n), *y = run_peek(session_run(s, SIDE_B), m);
    Dims d = graph_node(b, m)->dims;
    size_t cells = graph_cells(b, m);
    bool rows = false;
    for (int i = 0; i < d.n; i++)
        rows = rows || of_target(&b->axes[d.axis[i]]);
    if (!rows || !x || !y || graph_cells(a, n) != cells)
        return;
    l->nodes++;
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX];
        bool before = true, same = memcmp(&x[i], &y[i], sizeof *x) == 0;
        dims_unravel(b->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            before = before && (!of_target(&b->axes[d.axis[k]]) || index[k] < l->first);
        l->cells += before;
        l->after += !before && !same;
        if (!before || same)
            continue;
        if (!l->differ++) {
            snprintf(l->path, sizeof l->path, "%s", path);
            l->cell = i;
        }
    }
}

bool leak_find(Session *s, Leak *out, Err *err)
{
    enum { SLICE = 100000000 };
    *out = (Leak){.first = 0};
    if (!find_words(s, out, err))
        return false;
    while (!session_step_pass(s, NULL, 0, clock_ns() + SLICE))
        if (s->progress && !s->progress(s->progress_context, "both passes", session_progress_share(s)))
            return err_set(err, "cancelled");
    const Graph *b = session_graph(s, SIDE_B);
    for (NodeId m = 0; m < b->count; m++) {
        const Node *node = graph_node(b, m);
        NodeId n = graph_find(session_graph(s, SIDE_A), node->path);
        if (node->flags & NODE_PROBE || graph_find(b, node->path) != m || n == NO_NODE ||
            !difference_same_shape(session_graph(s, SIDE_A), n, b, m))
            continue;
        compare(s, node->path, n, m, out);
    }
    return true;
}

void leak_put(const Session *s, const Leak *l, Buf *out)
{
    if (!l->changed) {
        buf_puts(out, "The target is the same in A and B: change a later word first.");
        return;
    }
    buf_printf(out, "%d of the target's words differ%s, the first at place %d. Before it: %zu numbers in %d tensors, ",
               l->changed, l->changed == 1 ? "s" : "", l->first, l->cells, l->nodes);
    if (!l->differ) {
        buf_printf(out, "all of them the same bits in A and B. From it on %zu differ.", l->after);
        return;
    }
    buf_printf(out, "%zu of them differ: something leaks, first in ", l->differ);
    address_put(session_graph(s, SIDE_B), graph_find(session_graph(s, SIDE_B), l->path), l->cell, out);
    buf_putc(out, '.');
}
