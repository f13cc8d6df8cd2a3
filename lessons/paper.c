#include "lessons/play.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum { CELLS_MOST = 24, COLUMNS = 80, CELL = 11, NODES = 512 };

/* Cells laid out as a table that a person can fill in: rows of the last axis. */
static size_t columns_of(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    return d.n ? (size_t)g->axes[d.axis[d.n - 1]].n : 1;
}

static bool fits(const Graph *g, NodeId n)
{
    size_t cells = graph_cells(g, n);
    return cells <= 4 * CELLS_MOST && columns_of(g, n) * CELL + 16 <= COLUMNS;
}

static void put_row_label(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    char text[64] = "";
    dims_unravel(g->axes, d, cell, index);
    for (int i = 0; i + 1 < d.n; i++) {
        char label[32];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s=%s", i ? "," : "", g->axes[d.axis[i]].sym,
                 axis_label(&g->axes[d.axis[i]], index[i], label, sizeof label));
    }
    buf_printf(out, "    %s%*s", text, utf8_cells(text) < 12 ? 12 - utf8_cells(text) : 1, "");
}

/* x NULL: room to write. */
static int put_table(const Graph *g, NodeId n, const float *x, Buf *out)
{
    size_t cells = graph_cells(g, n), columns = columns_of(g, n);
    int lines = 0;
    for (size_t i = 0; i < cells; i += columns) {
        put_row_label(g, n, i, out);
        for (size_t j = 0; j < columns; j++) {
            char number[32];
            double value = !x || (x[i + j] < 5e-5f && x[i + j] > -5e-5f) ? 0 : (double)x[i + j]; /* 0, not −0.0000 */
            bool plain = value < 1e5 && value > -1e5;
            utf8_print(number, sizeof number, plain && value != (double)(int)value ? "%.4f" : "%.6g", value);
            buf_printf(out, "%*s", CELL, x ? number : "________");
        }
        buf_putc(out, '\n');
        lines++;
    }
    return lines;
}

static void put_name(const Graph *g, NodeId n, Buf *out)
{
    const Node *node = graph_node(g, n);
    buf_printf(out, "  %s", node->path);
    if (node->op != OP_LEAF) {
        buf_puts(out, ":  ");
        graph_formula(g, n, out);
    }
    buf_putc(out, '\n');
}

static int lines_of(const Graph *g, NodeId n)
{
    size_t rows = graph_cells(g, n) / columns_of(g, n);
    return (int)rows + 2;
}

/* The node that a view shows under other letters; the node itself where it is none. */
static NodeId behind(const Graph *g, NodeId n)
{
    while (graph_node(g, n)->op == OP_VIEW)
        n = graph_node(g, n)->in[0];
    return n;
}

/* Is a value needed for what is to be computed? A view: by its own name. */
static bool needed(const Graph *g, const bool *put, NodeId value)
{
    bool view = graph_node(g, value)->op == OP_VIEW;
    for (NodeId n = 0; n < g->count && n < NODES; n++)
        for (int k = 0; put[n] && graph_node(g, n)->op != OP_LEAF && k < NODE_INPUTS; k++) {
            NodeId in = graph_node(g, n)->in[k];
            if (in != NO_NODE && (view ? in : behind(g, in)) == value)
                return true;
        }
    return false;
}

/* Are the values there that it is computed from? Those inside a softmax or a norm have no place on a page. */
static bool can_be_had(const Graph *g, const bool *put, NodeId n)
{
    for (int k = 0; k < NODE_INPUTS && graph_node(g, n)->in[k] != NO_NODE; k++) {
        NodeId in = behind(g, graph_node(g, n)->in[k]);
        if (in < NODES && !put[in] && !strchr(graph_node(g, in)->path, '.'))
            return false;
    }
    return true;
}

/* The given values with their numbers, or what is computed from them with room to write. A view has none of its own. */
static void put_part(const Graph *g, const bool *put, bool given, Run *run, Buf *out)
{
    for (NodeId n = 0; n < g->count && n < NODES; n++) {
        bool view = graph_node(g, n)->op == OP_VIEW, leaf = graph_node(g, behind(g, n))->op == OP_LEAF;
        if (leaf != given || !(view || put[n]) || ((view || given) && !needed(g, put, n)))
            continue;
        put_name(g, n, out);
        if (!view)
            put_table(g, n, given ? run_need(run, n) : NULL, out);
    }
}

/* The first example whose leaves and first steps fit. */
static bool page(const Player *p, const Example *e, Buf *out)
{
    const Graph *g = e->graph;
    int lines = 8, given = 0, asked = 0;
    bool put[NODES] = {false};
    for (NodeId n = 0; n < g->count && n < NODES; n++) {
        const Node *node = graph_node(g, n);
        bool leaf = node->op == OP_LEAF && (node->leaf.kind == LEAF_INPUT || graph_cells(g, n) == 1);
        if (node->flags & (NODE_PROBE | NODE_DERIVED) || (node->op == OP_LEAF && !leaf) || node->op == OP_VIEW)
            continue;
        if (!leaf && strchr(node->path, '.')) /* inside a softmax or a norm */
            continue;
        int cost = leaf ? lines_of(g, n) : 2 * lines_of(g, n);
        if (!fits(g, n) || (!leaf && (!can_be_had(g, put, n) || graph_cells(g, n) > CELLS_MOST)) ||
            lines + cost > PAPER_LINES)
            continue;
        put[n] = true;
        lines += cost;
        given += leaf;
        asked += !leaf;
    }
    if (!given || !asked)
        return false;
    buf_printf(out, "Lesson %d. %s\n\nGiven\n", p->lesson.number, p->lesson.title);
    put_part(g, put, true, e->exhibit->pass.base_run, out);
    buf_puts(out, "\nCompute\n");
    put_part(g, put, false, NULL, out);
    buf_puts(out, "\nAnswers (fold here)\n");
    for (NodeId n = 0; n < g->count && n < NODES; n++)
        if (put[n] && graph_node(g, n)->op != OP_LEAF) {
            buf_printf(out, "  %s\n", graph_node(g, n)->path);
            put_table(g, n, run_need(e->exhibit->pass.base_run, n), out);
        }
    return true;
}

bool paper_put(const Player *p, Buf *out, Err *err)
{
    for (int i = 0; i < p->lesson.example_count; i++)
        if (!p->examples[i].pixels && page(p, &p->examples[i], out))
            return true;
    return err_set(err, "%s has no worked example that fits on a page; `vitrine lesson 5 --paper` has one",
                   p->lesson.file);
}
