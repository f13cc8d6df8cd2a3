/* Where the errors of a tensor are, when they are in one place. */
#include <math.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/diff/diff.h"

/* The weight of the step where it is linear: x · W, perhaps + b. */
static NodeId weight_of(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    while (node->op == OP_VIEW || node->op == OP_ADD) { /* of a sum with the residual stream what is added */
        bool bias = node->op == OP_ADD && graph_node(g, node->in[1])->op == OP_LEAF;
        node = graph_node(g, node->in[node->op == OP_ADD && !bias ? 1 : 0]);
    }
    if (node->op != OP_CONTRACT || graph_node(g, node->in[1])->op != OP_LEAF)
        return NO_NODE;
    return graph_node(g, node->in[1])->leaf.kind == LEAF_TENSOR ? node->in[1] : NO_NODE;
}

/* Errors beyond what is allowed: how many, and the index they all have along each axis, −1 where they differ. */
static size_t common_index(const Graph *g, const DiffTensor *t, const float *ours, double allowed, int common[DIMS_MAX])
{
    Dims d = graph_node(g, t->node)->dims;
    size_t cells = graph_cells(g, t->node), bad = 0;
    double largest = 0;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(t->values[i]) && fabs((double)t->values[i]) > largest)
            largest = fabs((double)t->values[i]);
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX];
        if (fabs((double)t->values[i] - (double)ours[i]) <= allowed * largest)
            continue;
        dims_unravel(g->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            common[k] = !bad || common[k] == index[k] ? index[k] : -1;
        bad++;
    }
    return bad;
}

void diff_where(const Graph *g, const DiffTensor *t, const float *ours, double allowed, char out[200])
{
    Dims d = graph_node(g, t->node)->dims;
    int common[DIMS_MAX];
    size_t bad = common_index(g, t, ours, allowed, common), place = 0;
    bool told = false, tokens = false;
    Buf text = {0};
    out[0] = '\0';
    for (int k = 0; bad && k < d.n; k++) {
        const Axis *a = &g->axes[d.axis[k]];
        char label[64];
        if (a->n < 3 || common[k] < 0)
            continue;
        tokens = tokens || a->kind == AXIS_TOKEN || a->kind == AXIS_PATCH;
        buf_printf(&text, "%s%s=%s", told ? "," : "", a->sym, axis_label(a, common[k], label, sizeof label));
        told = true;
    }
    NodeId w = weight_of(g, t->node);
    Dims columns = w == NO_NODE ? DIMS_SCALAR : dims_minus(d, dims_minus(d, graph_node(g, w)->dims));
    bool row = columns.n > 0; /* all output axes of the weight are the same: one of its rows */
    for (int k = 0; k < columns.n; k++) {
        int at = common[dims_find(d, columns.axis[k])];
        row = row && at >= 0;
        place = place * (size_t)g->axes[columns.axis[k]].n + (size_t)(at < 0 ? 0 : at);
    }
    if (told && bad == 1 && !row)
        snprintf(out, 200, "only the cell %s is wrong", buf_str(&text));
    else if (told && row && !tokens)
        snprintf(out, 200, "all errors are in column %zu (%s): row %zu of %s, or its bias, is different", place,
                 buf_str(&text), place, graph_node(g, w)->path);
    else if (told)
        snprintf(out, 200, "all errors are in %s", buf_str(&text));
    buf_free(&text);
}
