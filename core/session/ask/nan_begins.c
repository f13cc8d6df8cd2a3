/* Where a pass stops being numbers: the first value in the order of computation that is NaN. Everything behind it is
 * of no use, so it is the one place worth looking at. */
#include "core/session/ask/ask.h"

#include "core/base/buf.h"
#include "core/graph/run.h"

static void put_place(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(g, n);
    size_t index[sizeof node->dims.axis / sizeof *node->dims.axis];
    for (int i = node->dims.n - 1; i >= 0; i--) {
        size_t length = (size_t)g->axes[node->dims.axis[i]].n;
        index[i] = cell % length;
        cell /= length;
    }
    buf_puts(out, node->path);
    for (int i = 0; i < node->dims.n; i++)
        buf_printf(out, "%s%s=%zu", i ? "," : "[", g->axes[node->dims.axis[i]].sym, index[i]);
    buf_puts(out, node->dims.n ? "]" : "");
}

bool ask_nan_begins(const Session *s, Side side, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const Run *r = session_run(s, side);
    for (NodeId n = 0; r && n < g->count; n++) {
        const float *x = graph_node(g, n)->flags & NODE_PROBE ? NULL : run_peek(r, n);
        size_t cells = x ? graph_cells(g, n) : 0, first = 0, count = 0;
        for (size_t i = cells; i > 0; i--)
            if (x[i - 1] != x[i - 1]) {
                first = i - 1;
                count++;
            }
        if (!count)
            continue;
        buf_puts(out, "NaN begins at ");
        put_place(g, n, first, out);
        buf_printf(out, ": %zu of its %zu values%s", count, cells,
                   graph_node(g, n)->op == OP_LEAF ? ", as the file has them" : "");
        return true;
    }
    return false;
}
